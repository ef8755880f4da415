"""A process that runs in a role: its signals, its row in the store, and the role that it may have alone (O-5).

How the store is reached is given: by connections of its own (``store_process``), or through a server
(``remote_process``). From the first moment on a signal to stop sets `stopped`, also while the store is waited for, or
a role that another process has. Of an exclusive role one process runs permanently at a time, wherever it is.
"""

import asyncio
import logging
import os
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC
from time import monotonic
from typing import Final, Generic, Protocol, TypeVar

from click.exceptions import Exit

from weboid import __version__
from weboid.cli.processes.process import host_name, is_running, machine
from weboid.cli.processes.stopping import stop_signals
from weboid.cli.processes.supervisor import notify, own_parent, report_alive, report_ready
from weboid.cli.terminal.logs import name_process
from weboid.errors import StoreAway, StoreError, WeboidError
from weboid.mechanism.disturbance import Disturbance
from weboid.mechanism.patience import FIRST_PAUSE_S, LONGEST_PAUSE_S, is_stopped_within
from weboid.mechanism.pauses import GrowingPause
from weboid.mechanism.tasks import in_background
from weboid.store.schedule.process import ProcessRole, RunningProcess, SeenProcess

log = logging.getLogger(__name__)

FAREWELL_S: Final = 3.0
_SEEN_S: Final = 15.0
"""The interval at which a process writes its row."""
_ASK_S: Final = 2.0
"""The interval at which a role that another process has is asked for again."""
_ALIVE_S: Final = 2 * _SEEN_S + 5
"""A process on another machine that was seen since counts as one that runs; later it may have died a moment ago."""
_WRITING_S: Final = 30.0
"""The limit for writing the row: longer than it takes to find the server silent, which a process that has nothing else
to do would not notice otherwise; shorter than the time after which a process counts as gone."""
_STATUS_S: Final = 1.0
"""The shortest time between two messages to systemd: bars report up to 50 times a second."""

IsGone = Callable[[SeenProcess], bool]
"""True if a process is known to have ended."""
_Store = TypeVar("_Store")


class ProcessRow(Protocol):
    """The row of a process. All raise StoreError, StoreAway while it cannot be reached."""

    @property
    def process(self) -> RunningProcess:
        """The process of the row."""

    @property
    def away(self) -> Disturbance:
        """The disturbance of the way to the row."""

    async def take(self, is_gone: IsGone, *, was_away: bool) -> SeenProcess | None:
        """Writes the row; or, of an exclusive role, returns the process that has it.

        `was_away`: also one that was long silent.
        """

    async def write(self, activity: str, figures: Mapping[str, float], is_gone: IsGone) -> SeenProcess | None:
        """Writes that the process lives; returns the one that has taken its exclusive role while it was silent."""

    async def delete(self) -> None:
        """Deletes the row."""


Connect = Callable[[asyncio.Event], AbstractAsyncContextManager[tuple[ProcessRow, _Store]]]
"""Opens the way to the store, which ends soon after the event is set, and gives the row and the store.

Raises click's Exit(0) if the event is set while it waits."""


@dataclass(slots=True)
class OwnProcess(Generic[_Store]):
    """A running process: its row, its store, and the event that is set when it is to stop."""

    role: ProcessRole
    stopped: asyncio.Event
    row: ProcessRow
    store: _Store
    figures: Callable[[], Mapping[str, float]] = field(default=dict)
    """Reads the process's own figures, whenever its row is written; must not raise."""
    activity: str = ""
    _shown: str = ""
    _shown_at: float = float("-inf")
    _lost_to: SeenProcess | None = None

    def report(self, activity: str) -> None:
        """Reports in a few words of plain text its activity, to the status page and systemd (O-5). Never raises."""
        self.activity = activity
        if monotonic() - self._shown_at > _STATUS_S:
            self._show()

    def report_ready(self) -> None:
        """Reports that it does its work from now on; a webservice itself, once it answers. Once is enough."""
        self._show()
        report_ready()

    def _show(self) -> None:
        """Sends systemd the last activity, which `report` does not always do at once."""
        if self.activity != self._shown:
            self._shown, self._shown_at = self.activity, monotonic()
            notify(STATUS=self.activity)

    async def take_role(self) -> None:
        """Waits for the exclusive role, or a stop; for ``up`` raises WeboidError if another one runs."""
        known = ""
        while other := await self._other():
            is_here = other.machine == self.row.process.machine  # and has not ended, as was asked before
            if self.role is ProcessRole.UP and (other.silent_s < _ALIVE_S or is_here):
                raise WeboidError(f"weboid up runs already: {_named(other)}; stop it first, or use another database")
            if known != other.name:
                known = other.name
                log.warning("another %s runs: %s; waiting for it to end", self.role.value, _named(other))
                self.report_ready()
            self.report("waits for another one to end")
            await is_stopped_within(self.stopped, _ASK_S)
        self.report("")

    async def _other(self) -> SeenProcess | None:
        """The process that has the role; None: this process has taken it, or is stopped."""
        pause = GrowingPause(FIRST_PAUSE_S, LONGEST_PAUSE_S)
        was_away = self.row.away.times > 0
        while not self.stopped.is_set():
            try:
                other = await self.row.take(self._is_gone, was_away=was_away)
            except StoreAway as error:
                log.debug("the role cannot be taken yet: %s", error)
                was_away = True
                await is_stopped_within(self.stopped, pause.grown_s())
                continue
            if other is None or other.is_running:
                return other
            # Nothing could be seen: the process that has the role is given the time to write first.
            log.warning("while the database was away another %s may have run: %s", *(other.role, _named(other)))
            was_away = False
            await is_stopped_within(self.stopped, 2 * _SEEN_S)
        return None

    def _is_gone(self, other: SeenProcess) -> bool:
        """True if it is known to have ended. A container that is started again may have the numbers it had before: a
        process that had this one's number has ended (D-412).
        """
        own = self.row.process
        return other.machine == own.machine and (other.pid == own.pid or not is_running(other.pid))

    @asynccontextmanager
    async def shown(self) -> AsyncIterator[None]:
        """Writes the row again and again until the block ends. When it cannot be reached that disturbs nothing."""
        try:
            async with in_background(self._write_row()):
                yield
        finally:
            await self.leave()

    async def leave(self) -> None:
        """Deletes the row, if it can be reached; else it is silent from now on."""
        with suppress(StoreError, TimeoutError):
            async with asyncio.timeout(FAREWELL_S):
                await self.row.delete()

    async def _write_row(self) -> None:
        failing = Disturbance(log, "the sign of life is not written")
        while True:
            self._show()
            try:
                async with asyncio.timeout(_WRITING_S):
                    self._lost_to = await self.row.write(self.activity, self.figures(), self._is_gone)
                failing.passed()
            except (StoreError, TimeoutError) as error:
                log.debug("the sign of life is not written: %s", error)
            except Exception as error:  # such as a missing table, until another process has made it again
                failing.met(error)
            if self._lost_to:
                log.error("another %s has taken over: %s", self.role.value, _named(self._lost_to))
                self.stopped.set()
                return
            await asyncio.sleep(_SEEN_S)

    def require_role(self) -> None:
        """Raises WeboidError if another process has taken the exclusive role, while this one could not be seen."""
        if self._lost_to:
            raise WeboidError(f"another {self.role.value} has taken over: {_named(self._lost_to)}")


@asynccontextmanager
async def run_process(
    role: ProcessRole, connect: Connect[_Store], *, lasting: bool
) -> AsyncIterator[OwnProcess[_Store]]:
    """A process in a role, with its store opened by `connect`.

    A `lasting` one runs until it is stopped, and has its role alone if that is exclusive: it waits for another one to
    end, or to have been silent for `EXPIRY_S`; ``up`` does not. Stopped before, it raises click's Exit(0), one that
    works once WeboidError. Raises StoreError, WeboidError.
    """
    name_process(role.value)
    stopped = asyncio.Event()
    # A lasting one looks at `stopped` itself: cancelled as well, it would leave what it has begun.
    opening = None if lasting else asyncio.current_task()

    def stop() -> None:
        stopped.set()
        notify(STOPPING="1")
        if opening:
            opening.cancel()

    async with AsyncExitStack() as stack:
        stack.enter_context(stop_signals(stop, answers=own_parent() is None))
        await stack.enter_async_context(in_background(report_alive()))
        try:
            process = OwnProcess(role, stopped, *await stack.enter_async_context(connect(stopped)))
            if lasting and role.is_exclusive:
                await process.take_role()
                if stopped.is_set():
                    await process.leave()
                    raise Exit(0)
        except asyncio.CancelledError:
            if opening is None or not stopped.is_set():
                raise
            opening.uncancel()
            raise WeboidError("stopped before it has begun; run it again") from None
        finally:
            opening = None
        # A second process of an exclusive role that works once, alongside the lasting one, has no row.
        if lasting or not role.is_exclusive:
            await stack.enter_async_context(process.shown())
        if role not in (ProcessRole.WEB, ProcessRole.UP):
            process.report_ready()
        yield process
    process.require_role()


def own_process(role: ProcessRole) -> RunningProcess:
    """This process in a role, under a name that no other has."""
    return RunningProcess(
        role, f"{os.getpid()}-{secrets.token_hex(4)}", host_name(), machine(), os.getpid(), __version__
    )


def _named(other: SeenProcess) -> str:
    return f"process {other.pid} on {other.host}, since {other.since.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
