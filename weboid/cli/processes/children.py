"""Processes of Weboid that this one starts and keeps running: those of ``weboid up``, workers of ``weboid serve``.

Each shares a socket with this process (``supervisor``). One that dies, or whose event loop does not turn, is started
again after growing pauses.
"""

import asyncio
import json
import logging
import signal
import socket
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from weboid.cli.processes.process import environment_without
from weboid.cli.processes.stopping import GRACE_S
from weboid.cli.processes.supervisor import BEAT_S, READY, SYSTEMD_VARIABLES
from weboid.mechanism.patience import is_stopped_within
from weboid.mechanism.pauses import GrowingPause

log = logging.getLogger(__name__)

SILENCE_S: Final = 60.0
"""A child that has not reported for so long that its event loop turns is killed."""
START_S: Final = 600.0
"""The same for one that has not reported yet: on an overloaded machine the program takes long to load (D-432)."""
_END_S: Final = GRACE_S + 3
"""Seconds that a child may take to end: when its socket is closed it ends itself before."""
_STEADY_S: Final = 60.0
"""After a child has run for so long, the pause before it is started again begins anew."""
_PAUSE_S: Final = 0.5
_PAUSE_LIMIT_S: Final = 30.0


@dataclass(slots=True)
class Child:
    """A process that has been started, as its parent sees it."""

    process: asyncio.subprocess.Process
    socket: asyncio.StreamWriter
    ended: "asyncio.Task[int]"
    ready: "asyncio.Future[bool]"
    """True once it does its work; False if it has ended before."""
    ticks: int = 0
    """Looks at it since it last reported. Ticks, not seconds: this process may have been stopped itself (D-340)."""
    has_reported: bool = False
    reading: "asyncio.Task[None]" = field(init=False)

    @property
    def end(self) -> str:
        """Its end in words."""
        status = self.process.returncode or 0
        with suppress(ValueError):
            return f"was ended by {signal.Signals(-status).name}"
        return f"ended with status {status}"

    async def read(self, reports: asyncio.StreamReader) -> None:
        """Reads its reports until it has ended."""
        with suppress(OSError, ValueError):
            while word := await reports.readline():
                self.ticks = 0
                self.has_reported = True
                if word == READY and not self.ready.done():
                    self.ready.set_result(True)
        if not self.ready.done():
            self.ready.set_result(False)


async def start_child(
    program: Sequence[str], words: Sequence[str], message: Mapping[str, Any], descriptors: Sequence[int] = ()
) -> Child:
    """Starts `program` (with its group's options) with the `words` of its command; raises OSError.

    It gets the `message` through its socket, and inherits the `descriptors`.
    """
    ours, theirs = socket.socketpair()
    try:
        process = await asyncio.create_subprocess_exec(
            *(*program, f"--line={theirs.fileno()}", *words),
            stdin=asyncio.subprocess.DEVNULL,
            pass_fds=(theirs.fileno(), *descriptors),
            # systemd gets the state of the service from this process alone.
            env=environment_without(*SYSTEMD_VARIABLES),
        )
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    reader, writer = await asyncio.open_connection(sock=ours)
    writer.write(json.dumps(message).encode() + b"\n")
    ready = asyncio.get_running_loop().create_future()
    child = Child(process, writer, asyncio.create_task(process.wait()), ready)
    child.reading = asyncio.create_task(child.read(reader))
    return child


@dataclass(slots=True)
class Keeper:
    """Keeps one child running until `stopped` is set; `start` starts it and may raise OSError.

    `forget` is called when it has ended, `show` whenever `state` has changed.
    """

    name: str
    start: Callable[[], Awaitable[Child]]
    stopped: asyncio.Event
    forget: Callable[[], None] = field(default=lambda: None, kw_only=True)
    show: Callable[[], None] = field(default=lambda: None, kw_only=True)
    beat_s: float = field(default=BEAT_S, kw_only=True)
    silence_s: float = field(default=SILENCE_S, kw_only=True)
    start_s: float = field(default=START_S, kw_only=True)
    state: str = field(default="starts", init=False)
    """In a word or two: "starts", "runs", "starts again in 4 s"."""

    async def keep(self, child: Child | None = None) -> None:
        """Runs it, again and again with growing pauses. `child`: it has been started already."""
        pause = GrowingPause(_PAUSE_S, _PAUSE_LIMIT_S)
        while child or not self.stopped.is_set():
            begun = time.monotonic()
            self._set_state("starts")
            try:
                child = child or await self.start()
            except OSError as error:
                end = f"could not be started ({error.strerror or error})"
            else:
                await self._run(child)
                end, child = child.end, None
            if self.stopped.is_set():
                break
            if time.monotonic() - begun > _STEADY_S:
                pause.reset()
            pause_s = pause.grown_s()
            log.warning("%s %s; it is started again in %g s", self.name, end, pause_s)
            self._set_state(f"starts again in {pause_s:g} s")
            await is_stopped_within(self.stopped, pause_s)

    async def _run(self, child: Child) -> None:
        """Waits until a child has ended; once it is to stop, ends it in order, and kills it if it does not end."""
        stopping = asyncio.create_task(self.stopped.wait())
        readiness = asyncio.create_task(self._await_ready(child))
        try:
            while not child.ended.done() and not stopping.done():
                await asyncio.wait({child.ended, stopping}, timeout=self.beat_s, return_when="FIRST_COMPLETED")
                child.ticks += 1
                most_s = self.silence_s if child.has_reported else self.start_s
                if child.ticks > most_s / self.beat_s and not child.ended.done():
                    log.error("%s does not answer any more (process %d): it is killed", self.name, child.process.pid)
                    child.process.kill()
                    await child.ended
            child.socket.close()
            await asyncio.wait({child.ended}, timeout=_END_S)
            if not child.ended.done():
                child.process.kill()
            await child.ended
        finally:
            for task in (stopping, readiness, child.reading):
                task.cancel()
            if not child.ready.done():
                child.ready.set_result(False)
            child.socket.close()
            self.forget()

    async def _await_ready(self, child: Child) -> None:
        if await asyncio.shield(child.ready):
            self._set_state("runs")

    def _set_state(self, state: str) -> None:
        self.state = state
        self.show()
