"""Writes checks in batches during a round (O-7): all queued checks are written as soon as the last batch is.

``store/results/record`` writes a batch. A check is either written completely or made again. To write one a second time
changes nothing, so that a batch is written again when it is unknown whether it was.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Final, NamedTuple

from weboid.crawl.own_faults import is_own_fault
from weboid.errors import StoreAway
from weboid.mechanism.patience import is_stopped_within
from weboid.mechanism.pauses import GrowingPause
from weboid.remote.crawl.work import Work
from weboid.store.results.record import Checked, Tally
from weboid.store.schedule.lease import Held

log = logging.getLogger(__name__)

_RETRY_S: Final = 1.0
_RETRY_LIMIT_S: Final = 15.0
_LAST_S: Final = 2.0
"""Seconds after the end of a round in which a batch may be tried again; what is not written then is checked again."""
_LAST_PAUSE_S: Final = 0.2
_GATHER_S: Final = 0.02
"""Seconds in which a batch gathers checks, so that a slow round does not write each by itself."""


class _Queued(NamedTuple):
    checked: Checked
    written: asyncio.Future[None]


class Recorder:
    """Takes checks and writes them until it is closed; `count` is called with each batch."""

    def __init__(
        self, work: Work, held: Held, *, batch: int, count: Callable[[Sequence[Checked]], None] = lambda written: None
    ) -> None:
        self.tally = Tally()
        self._work = work
        self._held = held
        self._batch = batch
        self._count = count
        self._queue: list[_Queued] = []
        self._changed = asyncio.Event()
        """Set while checks wait to be written, and from `close` on."""
        self._closing = asyncio.Event()
        self._last = float("inf")
        self.unwritten = 0
        """Checks that could not be written before the end: they stay due."""

    def record(self, checked: Checked) -> asyncio.Future[None]:
        """Done when the check is written, so that a caller that waits can lose no more than one.

        Fails with what the store raises for this check alone.
        """
        written = asyncio.get_running_loop().create_future()
        self._queue.append(_Queued(checked, written))
        self._changed.set()
        return written

    def close(self) -> None:
        """Ends `run` after everything queued before has been written, or could not be within `_LAST_S`."""
        self._last = monotonic() + _LAST_S
        self._closing.set()
        self._changed.set()

    async def run(self) -> None:
        """Writes until closed. While the database is away, writing is retried without limit until then."""
        while self._queue or not self._closing.is_set():
            if not self._queue:
                self._changed.clear()
                await self._changed.wait()
            if not self._closing.is_set() and len(self._queue) < self._batch:
                await asyncio.sleep(_GATHER_S)
            batch, self._queue = self._queue[: self._batch], self._queue[self._batch :]
            if batch:
                await self._write_or_split(batch)

    async def _write_or_split(self, batch: list[_Queued]) -> None:
        """Writes a batch; if that raises an error of ours, its halves, so that in the end one check has raised it."""
        refusal = None
        try:
            await self._write([queued.checked for queued in batch])
        except Exception as error:
            if not is_own_fault(error):
                raise
            if len(batch) > 1:
                half = len(batch) // 2
                await self._write_or_split(batch[:half])
                await self._write_or_split(batch[half:])
                return
            refusal = error
        for queued in batch:
            if queued.written.done():  # its visit may have been cancelled
                continue
            if refusal is None:
                queued.written.set_result(None)
            else:
                queued.written.set_exception(refusal)

    async def _write(self, batch: list[Checked]) -> None:
        pause = GrowingPause(_RETRY_S, _RETRY_LIMIT_S)
        while True:
            try:
                tally = await self._work.record(batch, self._held)
            except StoreAway as error:
                log.debug("checks wait to be written: %s", error)
                if monotonic() >= self._last:
                    self.unwritten += len(batch)
                    return
                if await is_stopped_within(self._closing, pause.grown_s()):
                    await asyncio.sleep(_LAST_PAUSE_S)
            else:
                for name in Tally.__slots__:
                    setattr(self.tally, name, getattr(self.tally, name) + getattr(tally, name))
                self._count(batch)
                return
