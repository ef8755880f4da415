"""The workers of ``weboid serve``: processes that accept connections from one socket, of one parent that answers none.

The parent holds the socket, so that connections wait in it while a worker is away; ``children`` keeps workers running.
The work of one is in ``cli/serve`` (D-185).
"""

import asyncio
import logging
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from weboid.cli.processes.children import Child, Keeper, start_child
from weboid.cli.processes.supervisor import own_socket
from weboid.errors import WeboidError
from weboid.web.health.worker_share import WorkerShare

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Inherited:
    """The inheritance of a worker from its parent: its number, the descriptors of the listening sockets."""

    number: int
    listeners: tuple[int, ...]

    @classmethod
    def parsed(cls, text: str) -> "Inherited":
        """From the option ``--worker``; raises ValueError."""
        number, *listeners = (int(part) for part in text.split(","))
        return cls(number, tuple(listeners))

    def __str__(self) -> str:
        return ",".join(map(str, (self.number, *self.listeners)))

    def sockets(self) -> list[socket.socket]:
        """The listening sockets, from now on this process's own."""
        return [own_socket(each) for each in self.listeners]


@dataclass(slots=True)
class Workers:
    """The workers 1 … `count`. `program` and `words` are the command line of one, before and after its socket.

    Each gets the `message`; in `folder` they keep their figures for ``/metrics``. They run until `stopped` is set.
    """

    count: int
    program: Sequence[str]
    words: Sequence[str]
    listeners: Sequence[socket.socket]
    message: dict[str, Any]
    folder: Path
    stopped: asyncio.Event

    async def run(self, report_ready: Callable[[], None]) -> int:
        """Keeps them running until they are stopped, and returns 0.

        The first is started alone, and `report_ready` is called when it answers. If it cannot, its status is returned:
        the others would fail in the same way.
        """
        try:
            first = await self._start(1)
        except OSError as error:
            reason = error.strerror or error
            raise WeboidError(f"no worker can be started ({reason}): allow more files and processes (ulimit)") from None
        stopping = asyncio.create_task(self.stopped.wait())
        happening: list[asyncio.Future[Any]] = [first.ready, stopping]
        await asyncio.wait(happening, return_when="FIRST_COMPLETED")
        if not stopping.done():
            stopping.cancel()
            if not first.ready.result():
                return await self._failed(first)
            report_ready()
        keeping = [self._keeper(number).keep(first if number == 1 else None) for number in range(1, self.count + 1)]
        await asyncio.gather(self._close_listeners(), *keeping)
        return 0

    async def _close_listeners(self) -> None:
        """Refuses connections once all are stopped, as the workers do: in this process they would wait in vain."""
        await self.stopped.wait()
        for listener in self.listeners:
            listener.close()

    async def _failed(self, first: Child) -> int:
        status = await first.ended
        first.socket.close()
        self._forget(1)
        if status != 2:  # else it has printed what to do
            log.error("the first worker %s before it could answer", first.end)
        return status if status > 0 else 1

    def _keeper(self, number: int) -> Keeper:
        return Keeper(
            f"worker {number}", partial(self._start, number), self.stopped, forget=partial(self._forget, number)
        )

    async def _start(self, number: int) -> Child:
        """Starts a worker; raises OSError."""
        descriptors = tuple(each.fileno() for each in self.listeners)
        worker = f"--worker={Inherited(number, descriptors)}"
        return await start_child(
            self.program, [*self.words, worker], self.message | {"folder": str(self.folder)}, descriptors
        )

    def _forget(self, number: int) -> None:
        WorkerShare(self.folder, number).give_up()
