"""The workers of ``weboid serve``: processes that accept connections from one socket, of one parent that answers none.

The parent holds the socket, so that connections wait in it while a worker is away; it starts a worker that has died
again, after growing pauses. What a worker does is in ``cli/serve``.
One law: no worker outlives its parent by more than `LAST_S`, however the parent ends. Each has a line to it (a socket):
the parent tells over it what nobody else may read, and when the line is closed the worker ends in order.
"""

import asyncio
import json
import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from weboid.cli.stopping import stop_signals
from weboid.errors import WeboidError
from weboid.mechanism.pauses import GrowingPause
from weboid.web.health.worker_share import WorkerShare

log = logging.getLogger(__name__)

LAST_S: Final = 15.0
"""Seconds that a worker may take to end; longer than the answers that are under way get."""
_STEADY_S: Final = 60.0
"""After a worker has run for so long, the pause before it is started again begins anew."""
_PAUSE_S: Final = 0.5
_PAUSE_LIMIT_S: Final = 30.0
_READY: Final = b"ready\n"


@dataclass(frozen=True, slots=True)
class Inherited:
    """What a worker gets from its parent: its number, and the descriptors of its line and of the listening sockets."""

    number: int
    line: int
    listeners: tuple[int, ...]

    @classmethod
    def parsed(cls, text: str) -> "Inherited":
        """From the option ``--worker``; raises ValueError."""
        number, line, *listeners = (int(part) for part in text.split(","))
        return cls(number, line, tuple(listeners))

    def __str__(self) -> str:
        return ",".join(map(str, (self.number, self.line, *self.listeners)))

    def sockets(self) -> list[socket.socket]:
        """The listening sockets, from now on this process's own."""
        return [_own(each) for each in self.listeners]


class ParentLine:
    """A worker's end of the line. `told` is what the parent said; raises WeboidError if it has gone already."""

    def __init__(self, descriptor: int) -> None:
        try:
            self._socket = _own(descriptor)
            with self._socket.makefile("rb") as said:
                self.told: dict[str, Any] = json.loads(said.readline())
        except (OSError, ValueError):
            raise WeboidError("workers are started by weboid serve only: use --workers") from None

    @property
    def has_parent(self) -> bool:
        """Whether the parent still runs."""
        return os.getppid() == int(self.told["parent"])

    def tell_ready(self) -> None:
        """Says that this worker accepts connections."""
        with suppress(OSError):
            self._socket.sendall(_READY)

    def watch(self, stop: Callable[[], None]) -> None:
        """Calls `stop` in the running loop when the line is closed; `LAST_S` later nothing of this process is left."""
        loop = asyncio.get_running_loop()

        def wait() -> None:
            with suppress(OSError):
                while self._socket.recv(1):
                    pass
            with suppress(RuntimeError):  # the loop has ended already
                loop.call_soon_threadsafe(stop)
            time.sleep(LAST_S)
            os._exit(1)

        # A thread, since it must come to its end also while the loop is held up.
        threading.Thread(target=wait, daemon=True, name="line to the parent").start()


def _own(descriptor: int) -> socket.socket:
    os.set_inheritable(descriptor, False)
    return socket.socket(fileno=descriptor)


@dataclass(frozen=True, slots=True)
class _Worker:
    """A worker that has been started, as its parent sees it."""

    process: asyncio.subprocess.Process
    line: asyncio.StreamWriter
    ready: "asyncio.Task[bool]"
    """Whether it has come to accept connections; if not, it has ended."""
    ended: "asyncio.Task[int]"

    @property
    def end(self) -> str:
        """How it ended, in words."""
        status = self.process.returncode or 0
        with suppress(ValueError):
            return f"was ended by {signal.Signals(-status).name}"
        return f"ended with status {status}"


class Workers:
    """The workers 1 … `count`. `call` is the command line of one but for its option ``--worker``.

    `told` is what each is told over its line; `folder` is where they keep their figures for ``/metrics``.
    """

    def __init__(
        self, count: int, call: Sequence[str], listeners: Sequence[socket.socket], told: dict[str, Any], folder: Path
    ) -> None:
        self._count = count
        self._call = call
        self._listeners = listeners
        self._told = json.dumps(told | {"folder": str(folder), "parent": os.getpid()}).encode() + b"\n"
        self._folder = folder
        self._stopped = asyncio.Event()
        self._hurried = asyncio.Event()

    async def run(self, tell_ready: Callable[[], None]) -> int:
        """Keeps them running until SIGTERM or Ctrl-C, and returns 0; a second signal kills them.

        The first is started alone, and `tell_ready` is called when it answers. If it cannot, its status is returned:
        the others would fail in the same way.
        """
        with stop_signals(self._stopped.set, again=self._hurried.set):
            try:
                first = await self._start(1)
            except OSError as error:
                reason = error.strerror or error
                raise WeboidError(
                    f"no worker can be started ({reason}): allow more files and processes (ulimit)"
                ) from None
            stopping = asyncio.create_task(self._stopped.wait())
            await asyncio.wait({first.ready, stopping}, return_when="FIRST_COMPLETED")
            if not stopping.done():
                if not first.ready.result():
                    stopping.cancel()
                    return await self._failed(first)
                tell_ready()
            keeping = [self._keep(number, first if number == 1 else None) for number in range(1, self._count + 1)]
            await asyncio.gather(self._close_listeners(), *keeping)
        return 0

    async def _close_listeners(self) -> None:
        """Refuses connections once all are stopped, as the workers do: in this process they would wait for nobody."""
        await self._stopped.wait()
        for listener in self._listeners:
            listener.close()

    async def _failed(self, first: _Worker) -> int:
        status = await first.ended
        self._forget(1, first)
        if status != 2:  # else it has told its user what to do
            log.error("the first worker %s before it could answer", first.end)
        return status if status > 0 else 1

    async def _keep(self, number: int, worker: _Worker | None) -> None:
        """Runs one worker, again and again with growing pauses, until all are stopped."""
        pause = GrowingPause(_PAUSE_S, _PAUSE_LIMIT_S)
        while worker or not self._stopped.is_set():
            begun = time.monotonic()
            try:
                worker = worker or await self._start(number)
            except OSError as error:
                end = f"could not be started ({error.strerror or error})"
            else:
                await self._end_of(worker)
                self._forget(number, worker)
                end, worker = worker.end, None
            if self._stopped.is_set():
                break
            if time.monotonic() - begun > _STEADY_S:
                pause.reset()
            pause_s = pause.grown_s()
            log.warning("worker %d %s; it is started again in %g s", number, end, pause_s)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopped.wait(), pause_s)

    async def _start(self, number: int) -> _Worker:
        """Starts a worker; raises OSError."""
        ours, theirs = socket.socketpair()
        descriptors = [each.fileno() for each in self._listeners]
        try:
            process = await asyncio.create_subprocess_exec(
                *self._call,
                f"--worker={Inherited(number, theirs.fileno(), tuple(descriptors))}",
                stdin=asyncio.subprocess.DEVNULL,
                pass_fds=(theirs.fileno(), *descriptors),
            )
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        reader, line = await asyncio.open_connection(sock=ours)
        line.write(self._told)
        return _Worker(process, line, asyncio.create_task(_is_ready(reader)), asyncio.create_task(process.wait()))

    async def _end_of(self, worker: _Worker) -> None:
        """Waits until a worker has ended; once all are stopped, ends it in order, and kills it if it does not end."""
        await _until(worker.ended, self._stopped)
        worker.line.close()
        await _until(worker.ended, self._hurried, LAST_S)
        if not worker.ended.done():
            worker.process.kill()
        await worker.ended

    def _forget(self, number: int, worker: _Worker) -> None:
        worker.ready.cancel()
        worker.line.close()
        WorkerShare(self._folder, number).give_up()


async def _is_ready(said: asyncio.StreamReader) -> bool:
    with suppress(OSError):
        return await said.readline() == _READY
    return False


async def _until(ended: "asyncio.Task[int]", event: asyncio.Event, timeout_s: float | None = None) -> None:
    """Waits for one of the two, at most so long."""
    happening = asyncio.create_task(event.wait())
    await asyncio.wait({ended, happening}, timeout=timeout_s, return_when="FIRST_COMPLETED")
    happening.cancel()
