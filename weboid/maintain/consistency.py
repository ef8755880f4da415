"""A search for contradictions in the store, or a share of it, while everything else goes on.

The invariants are in ``store/upkeep/invariant``, their repair in ``store/upkeep/repair``. Large stores are checked by
sevenths, by the day's number, so that no progress is stored. A breach that is left, or was repaired, is an alarm until
a check finds that share of the store in order.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from weboid.core.record.policy import DEFAULT, Policy
from weboid.core.url.keys import BUCKETS, UrlKey
from weboid.maintain.transaction import in_transaction
from weboid.mechanism.patience import Again, at_once
from weboid.store.db.pool import Pool
from weboid.store.db.transactions import one_moment
from weboid.store.upkeep.alarm import AlarmKind, lower_alarm, raise_alarm, record_alarms
from weboid.store.upkeep.expiry import count_urls
from weboid.store.upkeep.invariant import (
    Breach,
    Invariant,
    Share,
    Stretch,
    Walk,
    estimate_rows,
    find_stretch,
    first_place,
    list_breaches,
    list_names,
    place_after,
)
from weboid.store.upkeep.repair import confirm, repair

BATCH: Final = 2_000
"""Rows that are looked at in one statement."""
WHOLE: Final = Share()
PARTS: Final = 7
"""A large store is checked within so many days, a share a day."""
SMALL: Final = 1_000_000
"""Up to so many URLs a store is checked as a whole every day: half a minute."""
_DESCRIBED: Final = 20
"""The most breaches that are described; the others are counted."""

Show = Callable[[Walk, int, int | None], None]
"""Called with a walk, how many of its rows were looked at, and about how many there are (None = not known)."""


@dataclass(slots=True)
class Consistency:
    """The results of a check so far: breaches, how many of them were repaired, and the first of them in words."""

    rows: Counter[Walk] = field(default_factory=Counter)
    found: Counter[Invariant] = field(default_factory=Counter)
    repaired: Counter[Invariant] = field(default_factory=Counter)
    described: list[str] = field(default_factory=list)

    @property
    def wrong(self) -> int:
        """The number of breaches that are left."""
        return self.found.total() - self.repaired.total()

    @property
    def summary(self) -> str:
        """The numbers by invariant, as ``dead 3 (2 repaired), orphan 1``."""
        return ", ".join(
            f"{each} {self.found[each]}" + (f" ({self.repaired[each]} repaired)" if self.repaired[each] else "")
            for each in Invariant
            if self.found[each]
        )


async def check_store(
    pool: Pool,
    day: int,
    *,
    policy: Policy = DEFAULT,
    repairs: bool = False,
    locks: bool = True,
    share: Share = WHOLE,
    batch: int = BATCH,
    show: Show = lambda walk, rows, about: None,
    again: Again = at_once,
) -> Consistency:
    """Checks a share of the store; `repairs`: wrong derived data are derived anew on `day`.

    Links come first, as orphans, verdicts and dead links follow from them. Each batch is by itself: a check that is
    stopped has repaired what it has counted. Not `locks`: where nothing can be written nothing can be locked, and
    suspects are looked at again at one moment instead. `again` does the steps.
    """
    done = Consistency()
    about = await again(in_transaction(pool, estimate_rows))
    for walk in (Walk.PAGES, Walk.LINKS, Walk.URLS, Walk.DEAD, Walk.COPIES, Walk.HOSTS):
        first, last_bucket = _ends(walk, share)
        while stretch := await again(partial(_next, pool, walk, first, last_bucket, batch)):
            step = partial(_check_stretch, pool, stretch, day, done, policy, share, repairs=repairs, locks=locks)
            await again(step)
            done.rows[walk] += stretch.rows
            show(walk, done.rows[walk], about.get(walk))
            first = place_after(walk, stretch.last)
    return done


async def watch_store(
    pool: Pool, day: int, *, policy: Policy = DEFAULT, show: Show = lambda *_: None, again: Again = at_once
) -> Consistency:
    """Checks and repairs the share of a day, or all of a small store; raises or lowers the alarm about it."""
    is_small = await again(in_transaction(pool, count_urls, limit=SMALL)) < SMALL
    share = WHOLE if is_small else Share(day % PARTS, PARTS)
    done = await check_store(pool, day, policy=policy, repairs=True, share=share, show=show, again=again)
    await again(partial(record_outcome, pool, done, share, day))
    return done


async def record_outcome(pool: Pool, done: Consistency, share: Share, day: int) -> None:
    """Raises the alarm of a share in which breaches were found; lowers it if none were."""
    subject = "" if share == WHOLE else f"{share.part + 1}/{share.parts}"
    async with pool.connection() as conn:
        if share == WHOLE:
            # The whole includes all shares: their alarms are over.
            await record_alarms(conn, AlarmKind.STORE, {subject: done.summary} if done.found else {}, day)
        elif done.found:
            await raise_alarm(conn, AlarmKind.STORE, subject, day, done.summary)
        else:
            await lower_alarm(conn, AlarmKind.STORE, subject)


def _ends(walk: Walk, share: Share) -> tuple[tuple[int, ...], int]:
    """The first place of a share, and its last bucket; a walk that goes by no bucket is shared out by its statement."""
    first, last = (BUCKETS * part // share.parts for part in (share.part, share.part + 1))
    place = first_place(walk)
    return (place if walk in (Walk.PAGES, Walk.DEAD, Walk.COPIES) else (first, *place[1:])), last - 1


async def _next(pool: Pool, walk: Walk, first: tuple[int, ...], last_bucket: int, batch: int) -> Stretch | None:
    async with pool.reading() as conn:
        return await find_stretch(conn, walk, first, last_bucket=last_bucket, limit=batch)


async def _check_stretch(
    pool: Pool,
    stretch: Stretch,
    day: int,
    done: Consistency,
    policy: Policy,
    share: Share,
    *,
    repairs: bool,
    locks: bool,
) -> None:
    """Checks a stretch without a lock; only the rows of suspects are looked at again."""
    async with pool.reading() as conn:
        suspects = await list_breaches(conn, stretch, policy, share)
    if not suspects:
        return
    repaired: list[Breach] = []
    async with pool.connection() if locks else one_moment(pool) as conn:
        if locks:
            breaches = await confirm(conn, stretch.walk, suspects, policy, share)
        else:  # Without a lock: each transaction of a writer keeps the invariants.
            breaches = [each for each in await list_breaches(conn, stretch, policy, share) if each in suspects]
        first = breaches[: _DESCRIBED - len(done.described)]
        names = await list_names(conn, [each.key for each in first]) if first else {}
        if repairs and breaches:
            repaired = await repair(conn, stretch.walk, breaches, day, policy)
    done.found.update(each.invariant for each in breaches)
    done.repaired.update(each.invariant for each in repaired)
    done.described += [_description(each, names, is_repaired=each in repaired) for each in first]


def _description(breach: Breach, names: Mapping[UrlKey, str], *, is_repaired: bool) -> str:
    page = f" on page {breach.page} of wiki {breach.wiki}" if breach.wiki else ""
    about = names.get(breach.key, "") if any(breach.key) else ""
    return f"{breach.invariant}: {about}{page}: {breach.detail}{'; repaired' if is_repaired else ''}"
