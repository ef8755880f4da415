"""The sign of life of a part, and the role that it has alone, wherever its row is (O-5).

The row is in the store, or in that of its core: ``part``, ``remote_part`` and ``feeder`` know how it is reached. One
law: of an exclusive role one process runs for good at a time, however far from the others.
"""

import asyncio
import logging
import os
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC
from time import monotonic
from typing import Final, Protocol

from weboid import __version__
from weboid.cli.processes.line import parent_line
from weboid.cli.processes.notify import notify
from weboid.cli.processes.process import host_name, is_running, machine
from weboid.errors import StoreAway, StoreError, WeboidError
from weboid.mechanism.disturbance import Disturbance
from weboid.mechanism.patience import FIRST_PAUSE_S, LONGEST_PAUSE_S, is_stopped_within
from weboid.mechanism.pauses import GrowingPause
from weboid.mechanism.tasks import in_background
from weboid.store.schedule.process import ProcessRole, RunningProcess, SeenProcess

log = logging.getLogger(__name__)

FAREWELL_S: Final = 3.0
_SEEN_S: Final = 15.0
"""The interval at which a part writes that it lives."""
_LOOK_S: Final = 2.0
"""The interval at which a role that another process has is asked for again."""
_ALIVE_S: Final = 2 * _SEEN_S + 5
"""A process on another machine that was seen since counts as one that runs; later it may have died a moment ago."""
_WRITING_S: Final = 30.0
"""How long the sign of life may take: longer than it takes to find the server silent, which would else be told by none
of a part that has nothing else to do; shorter than the time after which a part counts as gone."""
_STATUS_S: Final = 1.0
"""The shortest time between two words to systemd: bars tell up to 50 times a second, and it tells others each time."""

IsGone = Callable[[SeenProcess], bool]
"""Whether a part is known to have ended."""


def own_process(role: ProcessRole) -> RunningProcess:
    """This process in a role, under a name that no other has."""
    return RunningProcess(
        role, f"{os.getpid()}-{secrets.token_hex(4)}", host_name(), machine(), os.getpid(), __version__
    )


def tell_ready() -> None:
    """Says to who started this process that it does its work from now on. Once is enough."""
    if line := parent_line():
        line.tell_ready()
    else:
        notify(READY="1")


@dataclass(slots=True)
class LivingPart:
    """A part that runs: its role, the event that is set when it is to stop, what it is doing, figures of its own."""

    role: ProcessRole
    stopped: asyncio.Event
    figures: Callable[[], Mapping[str, float]] = field(default=dict, kw_only=True)
    """Reads the part's own figures, whenever its sign of life is written; must not raise."""
    doing: str = field(default="", kw_only=True)
    _shown: str = field(default="", kw_only=True)
    _shown_at: float = field(default=float("-inf"), kw_only=True)

    def tell(self, doing: str) -> None:
        """Says in a few words of plain text what it is doing, for the status page and systemd (O-5). Never raises."""
        self.doing = doing
        if monotonic() - self._shown_at > _STATUS_S:
            self.show()

    def show(self) -> None:
        """Lets systemd know what was told last, which `tell` does not always do at once."""
        if self.doing != self._shown and parent_line() is None:
            self._shown, self._shown_at = self.doing, monotonic()
            notify(STATUS=self.doing)

    def tell_ready(self) -> None:
        """Says that it does its work from now on; a web part itself, once it answers. Once is enough."""
        self.show()
        tell_ready()


class PartRow(Protocol):
    """The row of a part. All raise StoreError, StoreAway while it cannot be reached."""

    @property
    def process(self) -> RunningProcess:
        """Whose row it is."""
        ...

    @property
    def away(self) -> Disturbance:
        """Whether the row can be reached now."""
        ...

    async def take(self, is_gone: IsGone, *, was_away: bool) -> SeenProcess | None:
        """Writes the row; or, of an exclusive role, returns who else has it. `was_away`: also who was long silent."""
        ...

    async def write(self, doing: str, figures: Mapping[str, float], is_gone: IsGone) -> SeenProcess | None:
        """Notes that the part lives; returns who has taken its exclusive role, while it was silent for too long."""
        ...

    async def delete(self) -> None:
        """Takes the row away."""
        ...


class SignOfLife:
    """The row of a part, kept. To write it disturbs nothing: when it cannot be reached nothing is said."""

    def __init__(self, part: LivingPart, row: PartRow) -> None:
        self._lost_to: SeenProcess | None = None
        self._part = part
        self._row = row

    def require_role(self) -> None:
        """Raises WeboidError if another process has taken the exclusive role, while this one could not be seen."""
        if self._lost_to:
            raise WeboidError(f"another {self._part.role.value} has taken over: {_named(self._lost_to)}")

    async def take(self) -> None:
        """Waits for the exclusive role, or a stop; for ``up`` raises WeboidError if another one runs."""
        told = ""
        while other := await self._other():
            is_here = other.machine == self._row.process.machine  # and has not ended, as was asked before
            if self._part.role is ProcessRole.UP and (other.silent_s < _ALIVE_S or is_here):
                raise WeboidError(f"weboid up runs already: {_named(other)}; stop it first, or use another database")
            if told != other.name:
                told = other.name
                log.warning("another %s runs: %s; waiting for it to end", self._part.role.value, _named(other))
                self._part.tell_ready()
            self._part.tell("waits for another one to end")
            await is_stopped_within(self._part.stopped, _LOOK_S)
        self._part.tell("")

    async def _other(self) -> SeenProcess | None:
        """Who has the role; None: this process has taken it, or is stopped."""
        stopped = self._part.stopped
        pause = GrowingPause(FIRST_PAUSE_S, LONGEST_PAUSE_S)
        was_away = self._row.away.times > 0
        while not stopped.is_set():
            try:
                other = await self._row.take(self._is_gone, was_away=was_away)
            except StoreAway as error:
                log.debug("the role cannot be taken yet: %s", error)
                was_away = True
                await is_stopped_within(stopped, pause.grown_s())
                continue
            if other is None or other.is_running:
                return other
            # Nobody could be seen: whoever has the role is given the time to write first.
            log.warning("while the database was away another %s may have run: %s", *(other.role, _named(other)))
            was_away = False
            await is_stopped_within(stopped, 2 * _SEEN_S)
        return None

    def _is_gone(self, other: SeenProcess) -> bool:
        """Whether it is known to have ended. A container that is started again may have the numbers it had before:
        whoever had this process's number has ended (D-412).
        """
        own = self._row.process
        return other.machine == own.machine and (other.pid == own.pid or not is_running(other.pid))

    @asynccontextmanager
    async def shown(self) -> AsyncIterator[None]:
        """The row is there, and written again and again, until the block ends."""
        try:
            async with in_background(self._beat()):
                yield
        finally:
            await self.leave()

    async def leave(self) -> None:
        """Takes the row away, if it can be reached; else it is silent from now on."""
        with suppress(StoreError, TimeoutError):
            async with asyncio.timeout(FAREWELL_S):
                await self._row.delete()

    async def _beat(self) -> None:
        failing = Disturbance(log, "the sign of life is not written")
        while True:
            self._part.show()
            try:
                async with asyncio.timeout(_WRITING_S):
                    self._lost_to = await self._row.write(self._part.doing, self._part.figures(), self._is_gone)
                failing.passed()
            except (StoreError, TimeoutError) as error:
                log.debug("the sign of life is not written: %s", error)
            except Exception as error:  # such as a missing table, until another part has made it again
                failing.met(error)
            if self._lost_to:
                log.error("another %s has taken over: %s", self._part.role.value, _named(self._lost_to))
                self._part.stopped.set()
                return
            await asyncio.sleep(_SEEN_S)


def _named(other: SeenProcess) -> str:
    """Who that is, in words."""
    return f"process {other.pid} on {other.host}, since {other.since.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
