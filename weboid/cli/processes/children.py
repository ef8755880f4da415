"""Processes of Weboid that this one starts and keeps running: parts of ``weboid up``, workers of ``weboid serve``.

Each has a line to this process (``line``). One that dies, or whose event loop does not turn, is started again after
growing pauses. One law: at the end of `keep` the child has ended.
"""

import asyncio
import json
import logging
import os
import signal
import socket
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from weboid.cli.processes.line import BEAT_S, READY
from weboid.cli.processes.notify import VARIABLES
from weboid.cli.processes.process import environment_without
from weboid.cli.processes.stopping import GRACE_S
from weboid.mechanism.pauses import GrowingPause

log = logging.getLogger(__name__)

SILENCE_S: Final = 60.0
"""A child that has not told for so long that its event loop turns is killed."""
START_S: Final = 600.0
"""The same for one that has not told anything yet: on a machine that is overloaded the program takes long to load
(D-432)."""
_END_S: Final = GRACE_S + 3
"""Seconds that a child may take to end: by its line it ends itself before."""
_STEADY_S: Final = 60.0
"""After a child has run for so long, the pause before it is started again begins anew."""
_PAUSE_S: Final = 0.5
_PAUSE_LIMIT_S: Final = 30.0


@dataclass(slots=True)
class Child:
    """A process that has been started, as its parent sees it."""

    process: asyncio.subprocess.Process
    line: asyncio.StreamWriter
    ended: "asyncio.Task[int]"
    ready: "asyncio.Future[bool]"
    """Whether it has come to do its work; if not, it has ended."""
    ticks: int = 0
    """Looks at it since it last told anything. Ticks, not seconds: this process may have been stopped meanwhile
    (D-340)."""
    has_told: bool = False
    """Whether it has told anything."""
    reading: "asyncio.Task[None]" = field(init=False)

    @property
    def end(self) -> str:
        """How it ended, in words."""
        status = self.process.returncode or 0
        with suppress(ValueError):
            return f"was ended by {signal.Signals(-status).name}"
        return f"ended with status {status}"

    async def read(self, said: asyncio.StreamReader) -> None:
        """Hears what it tells until it has ended."""
        with suppress(OSError, ValueError):
            while word := await said.readline():
                self.ticks = 0
                self.has_told = True
                if word == READY and not self.ready.done():
                    self.ready.set_result(True)
        if not self.ready.done():
            self.ready.set_result(False)


async def start_child(
    program: Sequence[str], words: Sequence[str], told: Mapping[str, Any], descriptors: Sequence[int] = ()
) -> Child:
    """Starts `program` (with its group's options) with a line and the `words` of its command; raises OSError.

    `told` is what it is told over the line; it inherits the `descriptors`.
    """
    ours, theirs = socket.socketpair()
    try:
        process = await asyncio.create_subprocess_exec(
            *(*program, f"--line={theirs.fileno()}", *words),
            stdin=asyncio.subprocess.DEVNULL,
            pass_fds=(theirs.fileno(), *descriptors),
            # systemd hears of the state of the service from this process alone.
            env=environment_without(*VARIABLES),
        )
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    reader, line = await asyncio.open_connection(sock=ours)
    line.write(json.dumps({**told, "parent": os.getpid()}).encode() + b"\n")
    ready = asyncio.get_running_loop().create_future()
    child = Child(process, line, asyncio.create_task(process.wait()), ready)
    child.reading = asyncio.create_task(child.read(reader))
    return child


class Keeper:
    """Keeps one child running until `stopped` is set; `start` starts it and may raise OSError.

    `forget` is called when it has ended, `show` whenever `state` has changed.
    """

    def __init__(
        self,
        name: str,
        start: Callable[[], Awaitable[Child]],
        stopped: asyncio.Event,
        *,
        forget: Callable[[], None] = lambda: None,
        show: Callable[[], None] = lambda: None,
        beat_s: float = BEAT_S,
        silence_s: float = SILENCE_S,
        start_s: float = START_S,
    ) -> None:
        self.name = name
        self.state = "starts"
        """In a word or two: "starts", "runs", "starts again in 4 s"."""
        self._start = start
        self._stopped = stopped
        self._forget = forget
        self._show = show
        self._beat_s = beat_s
        self._most_ticks = silence_s / beat_s
        self._most_starting = start_s / beat_s

    async def keep(self, child: Child | None = None) -> None:
        """Runs it, again and again with growing pauses. `child`: it has been started already."""
        pause = GrowingPause(_PAUSE_S, _PAUSE_LIMIT_S)
        while child or not self._stopped.is_set():
            begun = time.monotonic()
            self._say("starts")
            try:
                child = child or await self._start()
            except OSError as error:
                end = f"could not be started ({error.strerror or error})"
            else:
                await self._run(child)
                end, child = child.end, None
            if self._stopped.is_set():
                break
            if time.monotonic() - begun > _STEADY_S:
                pause.reset()
            pause_s = pause.grown_s()
            log.warning("%s %s; it is started again in %g s", self.name, end, pause_s)
            self._say(f"starts again in {pause_s:g} s")
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopped.wait(), pause_s)

    async def _run(self, child: Child) -> None:
        """Waits until a child has ended; once it is to stop, ends it in order, and kills it if it does not end."""
        stopping = asyncio.create_task(self._stopped.wait())
        showing = asyncio.create_task(self._say_ready(child))
        try:
            while not child.ended.done() and not stopping.done():
                await asyncio.wait({child.ended, stopping}, timeout=self._beat_s, return_when="FIRST_COMPLETED")
                child.ticks += 1
                most = self._most_ticks if child.has_told else self._most_starting
                if child.ticks > most and not child.ended.done():
                    log.error("%s does not answer any more (process %d): it is killed", self.name, child.process.pid)
                    child.process.kill()
                    await child.ended
            child.line.close()
            await asyncio.wait({child.ended}, timeout=_END_S)
            if not child.ended.done():
                child.process.kill()
            await child.ended
        finally:
            for task in (stopping, showing, child.reading):
                task.cancel()
            if not child.ready.done():
                child.ready.set_result(False)
            child.line.close()
            self._forget()

    async def _say_ready(self, child: Child) -> None:
        if await asyncio.shield(child.ready):
            self._say("runs")

    def _say(self, state: str) -> None:
        self.state = state
        self._show()
