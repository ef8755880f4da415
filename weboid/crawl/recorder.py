"""Writes checks in batches during a round (O-7): all waiting checks are written as soon as the last batch is.

``store/results/record`` writes a batch. One law: a check is either written completely or made again.
"""

import asyncio
import logging
from typing import Final, NamedTuple

from weboid.crawl.work import Work
from weboid.errors import StoreError
from weboid.mechanism.pauses import GrowingPause
from weboid.store.results.record import Checked, Tally
from weboid.store.schedule.lease import Held

log = logging.getLogger(__name__)

_RETRY_S: Final = 1.0
_RETRY_LIMIT_S: Final = 30.0


class _Waiting(NamedTuple):
    checked: Checked
    written: asyncio.Future[None]


class Recorder:
    """Takes checks from a bounded queue and writes them until it is closed."""

    def __init__(self, work: Work, held: Held, *, batch: int) -> None:
        self.tally = Tally()
        self._work = work
        self._held = held
        self._batch = batch
        self._queue: asyncio.Queue[_Waiting | None] = asyncio.Queue(maxsize=4 * batch)

    async def record(self, checked: Checked) -> None:
        """Returns when the check is written, so that a caller that waits can lose no more than one."""
        written = asyncio.get_running_loop().create_future()
        await self._queue.put(_Waiting(checked, written))
        await written

    async def close(self) -> None:
        """Ends `run` after everything queued before has been written."""
        await self._queue.put(None)

    async def run(self) -> None:
        """Writes until closed. If the database fails, writing is retried without limit."""
        closed = False
        while not closed and (first := await self._queue.get()) is not None:
            batch = [first]
            while len(batch) < self._batch and not self._queue.empty():
                item = self._queue.get_nowait()
                if closed := item is None:
                    break
                batch.append(item)
            await self._write([waiting.checked for waiting in batch])
            for waiting in batch:
                if not waiting.written.done():  # its visit may have been cancelled
                    waiting.written.set_result(None)

    async def _write(self, batch: list[Checked]) -> None:
        pause = GrowingPause(_RETRY_S, _RETRY_LIMIT_S)
        while True:
            try:
                tally = await self._work.record(batch, self._held)
            except StoreError as error:
                pause_s = pause.grown_s()
                log.warning("checks wait to be written: %s; next try in %.0f s", error, pause_s)
                await asyncio.sleep(pause_s)
            else:
                self._add(tally)
                return

    def _add(self, tally: Tally) -> None:
        for name in Tally.__slots__:
            setattr(self.tally, name, getattr(self.tally, name) + getattr(tally, name))
