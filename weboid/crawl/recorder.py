"""Writing checks in batches while a round goes on (O-7): all that waits is written as soon as the last batch is.

One law: a check is either written whole, with its host, its change and its dead links, or asked again.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from weboid.core.keys import UrlKey
from weboid.core.policy import Policy
from weboid.core.reasons import Outcome
from weboid.core.record import HostRecord, UrlRecord
from weboid.core.verdict import finding_of, proven
from weboid.crawl.visit import Checked
from weboid.errors import StoreError
from weboid.store.check import (
    Change,
    CheckedUrl,
    list_silent_urls,
    record_changes,
    record_checks,
    record_due,
    record_hosts,
)
from weboid.store.lease import Held, list_held
from weboid.store.pool import Connection, Pool
from weboid.store.portrait import DatedPortrait, record_portraits
from weboid.store.report import delete_reports
from weboid.store.rows import StoredUrl
from weboid.store.special import HostSpecial, delete_specials, record_specials

log = logging.getLogger(__name__)

_RETRY_S: Final = 1.0
_RETRY_LIMIT_S: Final = 30.0


@dataclass(slots=True)
class Tally:
    """What a round has done so far. `lost` checks belonged to buckets that another worker had taken over."""

    written: int = 0
    inferred: int = 0
    postponed: int = 0
    lost: int = 0
    changes: int = 0


class _Waiting(NamedTuple):
    checked: Checked
    written: asyncio.Future[None]


class Recorder:
    """Takes checks over a bounded queue and writes them until it is closed."""

    def __init__(self, pool: Pool, held: Held, *, policy: Policy, batch: int) -> None:
        self.tally = Tally()
        self._pool = pool
        self._held = held
        self._policy = policy
        self._batch = batch
        self._queue: asyncio.Queue[_Waiting | None] = asyncio.Queue(maxsize=4 * batch)

    async def record(self, checked: Checked) -> None:
        """Returns when the check is written: whoever waits for that never has more than one at stake."""
        written = asyncio.get_running_loop().create_future()
        await self._queue.put(_Waiting(checked, written))
        await written

    async def close(self) -> None:
        """Ends `run` after all that was handed over before."""
        await self._queue.put(None)

    async def run(self) -> None:
        """Writes until closed. A database that fails is tried again for as long as it takes."""
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
                if not waiting.written.done():  # its visit may have been given up
                    waiting.written.set_result(None)

    async def _write(self, batch: list[Checked]) -> None:
        pause_s = _RETRY_S
        while True:
            try:
                async with self._pool.connection() as conn:
                    tally = await record_batch(conn, batch, self._held, self._policy)
            except StoreError as error:
                log.warning("checks wait to be written: %s; next try in %.0f s", error, pause_s)
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, _RETRY_LIMIT_S)
            else:
                self._add(tally)
                return

    def _add(self, tally: Tally) -> None:
        for name in Tally.__slots__:
            setattr(self.tally, name, getattr(self.tally, name) + getattr(tally, name))


async def record_batch(conn: Connection, batch: Sequence[Checked], held: Held, policy: Policy) -> Tally:
    """Writes a batch in the caller's transaction; checks of buckets that are no longer ours are left out."""
    buckets = {checked.url.key.bucket for checked in batch}
    ours = await list_held(conn, {bucket: held[bucket] for bucket in buckets if bucket in held})
    mine = [checked for checked in batch if checked.url.key.bucket in ours]
    tally = Tally(lost=len(batch) - len(mine))
    # A host that dies or comes back changes the verdict on URLs outside the batch: it is written in the right order.
    start = 0
    for end, checked in enumerate(mine, start=1):
        if end == len(mine) or _turns(checked, policy):
            await _record_part(conn, mine[start:end], tally, policy)
            start = end
    # A regular answer is better than anybody's word (H-1).
    await delete_reports(conn, [checked.url.key for checked in mine if _works_again(checked)])
    return tally


async def _record_part(conn: Connection, part: Sequence[Checked], tally: Tally, policy: Policy) -> None:
    """Part of a batch in which at most the last check turns its host."""
    done = [checked for checked in part if checked.seen is not None]
    postponed = [checked for checked in part if checked.seen is None]
    if done:
        await record_checks(conn, [CheckedUrl(checked.url.key, checked.record, checked.due) for checked in done])
    if postponed:
        await record_due(conn, {checked.url.key: checked.due for checked in postponed})
    await record_hosts(conn, {checked.host.key: checked.host_after for checked in part})
    await _record_beside(conn, done)
    changes = [change for checked in done if (change := _change_of_check(checked, policy))]
    await record_changes(conn, changes)
    tally.changes += len(changes)
    if _turns(part[-1], policy):
        tally.changes += await _record_turn(conn, part[-1], policy)
    tally.written += len(done)
    tally.postponed += len(postponed)
    tally.inferred += sum(1 for checked in done if checked.seen and checked.seen.inferred)


async def _record_beside(conn: Connection, done: Sequence[Checked]) -> None:
    """What checks have shown beside the state of their URLs: what hosts need, what pages look like."""
    shown: dict[HostSpecial, int] = {}
    gone: set[HostSpecial] = set()
    portraits: dict[UrlKey, DatedPortrait] = {}
    for checked in done:
        if checked.seen:
            shown |= {HostSpecial(checked.host.key, kind): checked.day for kind in checked.seen.needs}
            gone |= {HostSpecial(checked.host.key, kind) for kind in checked.disproved}
            if checked.seen.portrait:
                portraits[checked.url.key] = DatedPortrait(checked.day, checked.seen.portrait)
    await delete_specials(conn, gone - shown.keys())
    await record_specials(conn, shown)
    await record_portraits(conn, portraits)


async def _record_turn(conn: Connection, checked: Checked, policy: Policy) -> int:
    """The host has just been proven dead, or is so no longer: what that means for its other silent URLs (C-5)."""
    count = 0
    async for urls in list_silent_urls(conn, checked.host.key):
        others = [url for url in urls if url.key != checked.url.key]
        found = (
            _change(url, url.record, checked.host_before, checked.host_after, checked.day, policy) for url in others
        )
        changes = [change for change in found if change]
        await record_changes(conn, changes)
        if not proven(checked.host_after.row, policy):
            await record_due(conn, {url.key: checked.day for url in others})
        count += len(changes)
    await record_hosts(conn, {checked.host.key: checked.host_after})
    return count


def _works_again(checked: Checked) -> bool:
    """Whether there may be a report that is over: there is none of what worked before, nor of what was never asked."""
    before = checked.url.record.reason
    is_regular = checked.seen is not None and checked.seen.outcome is Outcome.WORKING
    return is_regular and before is not None and before.outcome is not Outcome.WORKING


def _turns(checked: Checked, policy: Policy) -> bool:
    return proven(checked.host_before.row, policy) != proven(checked.host_after.row, policy)


def _change_of_check(checked: Checked, policy: Policy) -> Change | None:
    return _change(checked.url, checked.record, checked.host_before, checked.host_after, checked.day, policy)


def _change(
    url: StoredUrl, record: UrlRecord, host_before: HostRecord, host_after: HostRecord, day: int, policy: Policy
) -> Change | None:
    """The change of verdict that a new record of the URL, or a new one of its host, amounts to."""
    before = finding_of(url.record, host_before, policy)
    after = finding_of(record, host_after, policy)
    if before.verdict is after.verdict:
        return None
    return Change(url.key, day, before.verdict, after.verdict, after.reason, after.since)
