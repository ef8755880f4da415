"""Expiry: the expired rows, the limits of their deletion, and deleting them batch by batch (U-8, C-6, C-11, H-1, O-6).

The deletion itself belongs to ``store/upkeep/expiry``. In doubt nothing is deleted: a URL kept too long costs a row,
one deleted too early costs its history.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from weboid.core.url.keys import UrlKey
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
from weboid.store.schedule.turn import delete_past
from weboid.store.site.task import expire_entries
from weboid.store.upkeep.alarm import AlarmKind, lower_alarm, lower_before, raise_alarm
from weboid.store.upkeep.big_death import delete_past_words
from weboid.store.upkeep.expiry import (
    BEFORE_ALL,
    WikiPass,
    count_expired,
    count_urls,
    expire_faces,
    expire_specials,
    expire_urls,
    list_orphans,
    list_passes,
)
from weboid.store.urls.repaired import record_unknown

ORPHANED_DAYS: Final = 100
"""The days after its last use on which a URL is deleted (U-8)."""
SHARE: Final = 100
"""At most one URL in so many may be deleted in one run (U-8)."""
BATCH: Final = 1_000
"""URLs deleted in one transaction."""
_NOTHING: Final = -1
_MOST_LIMITS: Final = 100_000
"""The most throttle rows, and ended sessions, to delete. Web processes delete them too; this is for when none runs."""


@dataclass(frozen=True, slots=True)
class ExpiryPlan:
    """The plan of a run. `urls` are without use since day `until` or longer.

    `held` more would be deleted if all wikis had completed a pass since; `holding` are the wikis that have not.
    """

    until: int
    urls: int
    held: int
    holding: tuple[WikiPass, ...]
    is_too_many: bool


@dataclass(slots=True)
class Expiry:
    """The progress of a run."""

    urls: int = 0
    hosts: int = 0
    used: int = 0
    specials: int = 0
    reports: int = 0


def guarded(passes: Sequence[WikiPass], day: int) -> tuple[int, tuple[WikiPass, ...]]:
    """The newest day of orphaning that may expire on `day`, and the wikis because of which it is over 100 days ago.

    Every wiki must have completed a pass after that day: until then a page of it may still use the URL (U-8).
    """
    wanted = day - ORPHANED_DAYS
    holding = tuple(each for each in passes if each.passed is None or each.passed <= wanted)
    last = min((_NOTHING if each.passed is None else each.passed - 1 for each in holding), default=wanted)
    return last, holding


async def planned(conn: Connection, day: int) -> ExpiryPlan:
    """Plans a run on `day`; nothing is written."""
    until, holding = guarded(await list_passes(conn), day)
    urls = await count_expired(conn, until) if until >= 0 else 0
    held = await count_expired(conn, day - ORPHANED_DAYS) - urls if holding else 0
    # Counting stops at the limit: with so many URLs the share is small enough.
    is_too_many = urls > 0 and await count_urls(conn, limit=SHARE * urls) < SHARE * urls
    return ExpiryPlan(until, urls, held, holding, is_too_many)


async def expire(
    pool: Pool,
    plan: ExpiryPlan,
    day: int,
    *,
    allow_many: bool = False,
    batch: int = BATCH,
    show: Callable[[Expiry], None] = lambda so_far: None,
    again: Again = at_once,
) -> Expiry | None:
    """Deletes what has expired, `batch` URLs per transaction; None = it would delete too many and was stopped (U-8).

    A run that was killed is continued by the next one: a row that is left is complete. `again` does
    a batch.
    """
    if not await again(in_transaction(pool, _is_allowed, plan, day, allow_many=allow_many)):
        return None
    done = Expiry()
    after = BEFORE_ALL
    while last := await again(partial(_expire_urls, pool, after, plan.until, batch, done)):
        show(done)
        after = last
    while gone := await again(in_transaction(pool, expire_specials, day, limit=batch)):
        done.specials += gone
        show(done)
    while await again(in_transaction(pool, expire_faces, day, limit=batch)):
        pass
    while gone := await again(in_transaction(pool, expire_reports, day, limit=batch)):
        done.reports += gone
        show(done)
    while await again(in_transaction(pool, expire_audit, day, limit=batch)):
        pass
    while await again(in_transaction(pool, expire_entries, day, limit=batch)):
        pass
    while await again(in_transaction(pool, record_unknown, limit=batch)):
        pass
    await again(in_transaction(pool, _delete_past, day))
    return done


async def _is_allowed(conn: Connection, plan: ExpiryPlan, day: int, *, allow_many: bool) -> bool:
    """Returns True if so many URLs may be deleted; if not, raises the alarm."""
    if plan.is_too_many and not allow_many:
        detail = f"{plan.urls} URLs would be deleted, over one in {SHARE}: find out why so many are without use"
        await raise_alarm(conn, AlarmKind.EXPIRY_STOPPED, "", day, detail)
        return False
    await lower_alarm(conn, AlarmKind.EXPIRY_STOPPED, "")
    return True


async def _expire_urls(pool: Pool, after: UrlKey, until: int, batch: int, done: Expiry) -> UrlKey | None:
    """Deletes the expired URLs after a key, a batch of them; returns the last, None after all."""
    async with pool.connection() as conn:
        keys = await list_orphans(conn, after, until, limit=batch)
        if not keys:
            return None
        expired = await expire_urls(conn, keys, until)
    done.urls += expired.urls
    done.hosts += expired.hosts
    done.used += expired.used
    return keys[-1]


async def _delete_past(conn: Connection, day: int) -> None:
    await delete_past(conn)
    await delete_past_looks(conn)
    await delete_past_wishes(conn)
    await lower_before(conn, AlarmKind.ONE_CRAWLER, day - KEPT_DAYS)
    await delete_past_words(conn, day)
    await delete_past_limits(conn, day, limit=_MOST_LIMITS)
    await delete_past_sessions(conn, limit=_MOST_LIMITS)
