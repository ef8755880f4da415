"""Expiry: the expired rows, the limits of their deletion, and deleting them batch by batch (U-8, C-6, C-11, H-1, O-6).

The deletion itself belongs to ``store/upkeep/expiry``. In doubt nothing is deleted: a URL kept too long costs a row,
one deleted too early costs its history.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from weboid.config import CrawlConfig
from weboid.core.url.display import many
from weboid.core.url.keys import BUCKETS, UrlKey
from weboid.maintain.transaction import in_transaction
from weboid.mechanism.patience import Again, at_once
from weboid.remote.crawl.alone import KEPT_DAYS
from weboid.store.db.pool import Connection, Pool
from weboid.store.people.audit import expire_audit
from weboid.store.people.ended_session import delete_past_sessions
from weboid.store.people.report import expire_reports
from weboid.store.people.throttle import delete_past as delete_past_limits
from weboid.store.schedule.lease import delete_past_wishes
from weboid.store.schedule.second_look import delete_past_looks
from weboid.store.site.ordered import expire_places
from weboid.store.site.task import expire_entries
from weboid.store.upkeep import expiry
from weboid.store.upkeep.alarm import AlarmKind, lower_before, record_alarms
from weboid.store.upkeep.big_death import delete_past_words
from weboid.store.urls.card import delete_past_cards
from weboid.store.urls.repaired import record_unknown

ORPHANED_DAYS: Final = 100
"""The days after its last use on which a URL is deleted (U-8)."""
SHARE: Final = 100
"""At most one in so many of a wiki's URLs may be deleted in one run (U-8)."""
FEW: Final = 100
"""So many may, whatever the share: a small wiki would stop for ever."""
BATCH: Final = 1_000
"""URLs deleted in one transaction."""
_LOG_SHARE: Final = 128
"""Buckets of which old lines of the log of verdicts are deleted in one run: in a month those of all."""
_LOG_STEP: Final = 4
"""Buckets in one transaction."""
_NO_DAY: Final = -1
_MOST_LIMITS: Final = 100_000
"""The most throttle rows, ended sessions and link cards to delete. Web processes delete the first as well; this is for
when none runs."""


@dataclass(frozen=True, slots=True)
class ExpiryPlan:
    """The plan of a run. `wikis` have the URLs that are without use since day `until` or longer.

    Of `many` it would delete more than one in `SHARE`, and more than `FEW`.
    """

    until: int
    wikis: tuple[expiry.Orphans, ...]
    many: tuple[expiry.Orphans, ...] = ()

    def urls(self, *, allow_many: bool = True) -> int:
        """The number of URLs that it deletes."""
        return sum(each.free for each in self.wikis if allow_many or each not in self.many)

    @property
    def holding(self) -> tuple[expiry.Orphans, ...]:
        """The wikis of which some URLs wait for the end of a pass."""
        return tuple(each for each in self.wikis if each.free < each.urls)

    def held(self, *, allow_many: bool) -> dict[int, int]:
        """By wiki, the newest day of orphaning that may expire, where that is not `until`."""
        held = {each.wiki: _NO_DAY if each.passed is None else each.passed - 1 for each in self.holding}
        return held if allow_many else held | dict.fromkeys((each.wiki for each in self.many), _NO_DAY)


@dataclass(slots=True)
class Expiry:
    """The progress of a run."""

    urls: int = 0
    hosts: int = 0
    used: int = 0
    specials: int = 0
    reports: int = 0


async def planned(conn: Connection, day: int) -> ExpiryPlan:
    """Plans a run on `day`; nothing is written.

    Each wiki is guarded by itself: of its URLs those go that were orphaned before its last completed pass, as until
    then a page of it may still use them (U-8, D-495).
    """
    wikis = await expiry.list_over(conn, day - ORPHANED_DAYS)
    many = [each for each in wikis if each.guarded and each.free > FEW and await _is_too_many(conn, each)]
    return ExpiryPlan(day - ORPHANED_DAYS, tuple(wikis), tuple(many))


async def _is_too_many(conn: Connection, orphans: expiry.Orphans) -> bool:
    # Counting stops at the limit: with so many URLs the share is small enough.
    if not orphans.wiki:
        return await expiry.count_urls(conn, limit=SHARE * orphans.free) < SHARE * orphans.free
    rest = (SHARE - 1) * orphans.free
    return await expiry.count_urls_of(conn, orphans.wiki, limit=rest) < rest


async def expire(
    pool: Pool,
    plan: ExpiryPlan,
    day: int,
    *,
    allow_many: bool = False,
    batch: int = BATCH,
    log_days: int = CrawlConfig().log_days,
    show: Callable[[Expiry], None] = lambda so_far: None,
    again: Again = at_once,
) -> Expiry:
    """Deletes what has expired, `batch` URLs per transaction; of wikis of which it would be too many nothing, unless
    `allow_many`, and an alarm is raised for each (U-8).

    Lines of the log of verdicts go after `log_days`. A run that was killed is continued by the next one: a row that is
    left is complete. `again` does a batch.
    """
    alarms = {} if allow_many else {each.name: _too_many(each) for each in plan.many}
    await again(in_transaction(pool, record_alarms, AlarmKind.EXPIRY_STOPPED, alarms, day))
    done, held = Expiry(), plan.held(allow_many=allow_many)
    after = expiry.BEFORE_ALL
    while last := await again(partial(_expire_urls, pool, after, plan.until, held, batch, done)):
        show(done)
        after = last
    share = _LOG_SHARE * (day % (BUCKETS // _LOG_SHARE))
    for first in range(share, share + _LOG_SHARE, _LOG_STEP):
        buckets = range(first, first + _LOG_STEP)
        await again(in_transaction(pool, expiry.expire_changes, day, buckets, kept_days=log_days))
    while gone := await again(in_transaction(pool, expiry.expire_specials, day, limit=batch)):
        done.specials += gone
        show(done)
    while await again(in_transaction(pool, expiry.expire_faces, day, limit=batch)):
        pass
    while gone := await again(in_transaction(pool, expire_reports, day, limit=batch)):
        done.reports += gone
        show(done)
    while await again(in_transaction(pool, expire_audit, day, limit=batch)):
        pass
    while await again(in_transaction(pool, expire_entries, day, limit=batch)):
        pass
    while await again(in_transaction(pool, expire_places, limit=batch)):
        pass
    while await again(in_transaction(pool, record_unknown, limit=batch)):
        pass
    await again(in_transaction(pool, _delete_past, day))
    return done


def _too_many(orphans: expiry.Orphans) -> str:
    return f"{many(orphans.free, 'URL')} would be deleted, over one in {SHARE}: find out why so many are without use"


async def _expire_urls(
    pool: Pool, after: UrlKey, until: int, held: Mapping[int, int], batch: int, done: Expiry
) -> UrlKey | None:
    """Deletes the expired URLs after a key, a batch of them; returns the last, None after all."""
    async with pool.connection() as conn:
        keys = await expiry.list_orphans(conn, after, until, limit=batch, held=held)
        if not keys:
            return None
        expired = await expiry.expire_urls(conn, keys, until, held)
    done.urls += expired.urls
    done.hosts += expired.hosts
    done.used += expired.used
    return keys[-1]


async def _delete_past(conn: Connection, day: int) -> None:
    await delete_past_looks(conn)
    await delete_past_wishes(conn)
    await lower_before(conn, AlarmKind.ONE_CRAWLER, day - KEPT_DAYS)
    await delete_past_words(conn, day)
    await delete_past_limits(conn, day, limit=_MOST_LIMITS)
    await delete_past_sessions(conn, limit=_MOST_LIMITS)
    await delete_past_cards(conn, day, limit=_MOST_LIMITS)
