"""Going through the store, or a share of it, in search of what contradicts itself, while everything else goes on.

What must hold is in ``store/upkeep/invariant``, how it is repaired in ``store/upkeep/repair``. Large
stores are checked by sevenths, by the day's number, so that no progress is stored.
One law: what was found and not repaired is an alarm until a check finds that share of the store in order.
"""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Protocol

from weboid.core.record.policy import DEFAULT, Policy
from weboid.core.url.keys import BUCKETS, UrlKey
from weboid.mechanism.patience import Again, at_once
from weboid.store.db.pool import Connection, Pool
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
_TOLD: Final = 20
"""The most breaches that are described; the others are counted."""

Show = Callable[[Walk, int, int | None], None]
"""Called with a walk, how many of its rows were looked at, and about how many there are (None = not known)."""


@dataclass(slots=True)
class Consistency:
    """What a check has found so far: breaches, how many of them were repaired, and the first of them in words."""

    rows: Counter[Walk] = field(default_factory=Counter)
    found: Counter[Invariant] = field(default_factory=Counter)
    repaired: Counter[Invariant] = field(default_factory=Counter)
    told: list[str] = field(default_factory=list)

    @property
    def wrong(self) -> int:
        """How many breaches are left."""
        return self.found.total() - self.repaired.total()

    @property
    def summary(self) -> str:
        """The numbers by invariant, as ``dead 3 (2 repaired), orphan 1``."""
        counts = [(invariant, self.found[invariant], self.repaired[invariant]) for invariant in Invariant]
        return ", ".join(
            f"{invariant} {found}{f' ({repaired} repaired)' if repaired else ''}"
            for invariant, found, repaired in counts
            if found
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
    """Looks at a share of the store; `repairs`: what is derived and wrong is derived anew on `day`.

    Links come first, as orphans, verdicts and dead links follow from them. Each batch is by itself: a check that is
    stopped has repaired what it has counted. Not `locks`: where nothing can be written nothing can be locked, and
    what seems wrong is looked at again at one moment instead. `again` does what belongs to a batch.
    """
    done = Consistency()
    about = await again(partial(_estimate, pool))
    for walk in (Walk.PAGES, Walk.LINKS, Walk.URLS, Walk.DEAD, Walk.COPIES, Walk.HOSTS):
        first, last_bucket = _ends(walk, share)
        rows = about.get(walk)
        while stretch := await again(partial(_next, pool, walk, first, last_bucket, batch)):
            look = _look_again if locks else _look_at_one_moment
            step = partial(_check_stretch, pool, stretch, day, done, look, policy=policy, repairs=repairs, share=share)
            await again(step)
            done.rows[walk] += stretch.rows
            show(walk, done.rows[walk], rows)
            first = place_after(walk, stretch.last)
    return done


async def watch_store(
    pool: Pool, day: int, *, policy: Policy = DEFAULT, show: Show = lambda *_: None, again: Again = at_once
) -> Consistency:
    """Checks and repairs the share of a day, or all of a small store; raises or lowers the alarm about it."""
    share = WHOLE if await again(partial(_is_small, pool)) else Share(day % PARTS, PARTS)
    done = await check_store(pool, day, policy=policy, repairs=True, share=share, show=show, again=again)
    await again(partial(record_outcome, pool, done, share, day))
    return done


async def record_outcome(pool: Pool, done: Consistency, share: Share, day: int) -> None:
    """Raises the alarm of a share of which something is, or was, wrong; lowers it if nothing is."""
    async with pool.connection() as conn:
        await _record_alarm(conn, done, share, day)


async def _record_alarm(conn: Connection, done: Consistency, share: Share, day: int) -> None:
    subject = "" if share == WHOLE else f"{share.part + 1}/{share.parts}"
    if share == WHOLE:
        # The whole includes all shares: their alarms are over.
        await record_alarms(conn, AlarmKind.STORE, {subject: done.summary} if done.found else {}, day)
    elif done.found:
        await raise_alarm(conn, AlarmKind.STORE, subject, day, done.summary)
    else:
        await lower_alarm(conn, AlarmKind.STORE, subject)


def _ends(walk: Walk, share: Share) -> tuple[tuple[int, ...], int]:
    """The first place of a share, and its last bucket; what goes by no bucket, each share has each so many of."""
    first, last = (BUCKETS * part // share.parts for part in (share.part, share.part + 1))
    place = first_place(walk)
    return (place if walk in (Walk.PAGES, Walk.DEAD, Walk.COPIES) else (first, *place[1:])), last - 1


async def _estimate(pool: Pool) -> Mapping[Walk, int | None]:
    async with pool.connection() as conn:
        return await estimate_rows(conn)


async def _is_small(pool: Pool) -> bool:
    async with pool.connection() as conn:
        return await count_urls(conn, limit=SMALL) < SMALL


async def _next(pool: Pool, walk: Walk, first: tuple[int, ...], last_bucket: int, batch: int) -> Stretch | None:
    async with pool.reading() as conn:
        return await find_stretch(conn, walk, first, last_bucket=last_bucket, limit=batch)


class _Look(Protocol):
    """Lends a connection at which suspects were looked at again, and those that are breaches nevertheless."""

    def __call__(
        self, pool: Pool, stretch: Stretch, suspects: Sequence[Breach], policy: Policy, share: Share
    ) -> AbstractAsyncContextManager[tuple[Connection, list[Breach]]]: ...


@asynccontextmanager
async def _look_again(
    pool: Pool, stretch: Stretch, suspects: Sequence[Breach], policy: Policy, share: Share
) -> AsyncIterator[tuple[Connection, list[Breach]]]:
    """Their rows are locked until the block ends."""
    async with pool.connection() as conn:
        yield conn, await confirm(conn, stretch.walk, suspects, policy, share)


@asynccontextmanager
async def _look_at_one_moment(
    pool: Pool, stretch: Stretch, suspects: Sequence[Breach], policy: Policy, share: Share
) -> AsyncIterator[tuple[Connection, list[Breach]]]:
    """Without a lock: whoever writes keeps the invariants in each transaction."""
    async with one_moment(pool) as conn:
        found = await list_breaches(conn, stretch, policy, share)
        yield conn, [each for each in found if each in suspects]


async def _check_stretch(
    pool: Pool,
    stretch: Stretch,
    day: int,
    done: Consistency,
    look: _Look,
    *,
    policy: Policy,
    repairs: bool,
    share: Share,
) -> None:
    """Looks at a stretch without a lock; only where something seems wrong its rows are looked at again."""
    async with pool.reading() as conn:
        suspects = await list_breaches(conn, stretch, policy, share)
    if not suspects:
        return
    repaired: list[Breach] = []
    async with look(pool, stretch, suspects, policy, share) as (conn, breaches):
        told = breaches[: _TOLD - len(done.told)]
        names = await list_names(conn, [each.key for each in told]) if told else {}
        if repairs and breaches:
            repaired = await repair(conn, stretch.walk, breaches, day, policy)
    done.found.update(each.invariant for each in breaches)
    done.repaired.update(each.invariant for each in repaired)
    done.told += [_words(each, names, is_repaired=each in repaired) for each in told]


def _words(breach: Breach, names: Mapping[UrlKey, str], *, is_repaired: bool) -> str:
    page = f" on page {breach.page} of wiki {breach.wiki}" if breach.wiki else ""
    about = names.get(breach.key, "") if any(breach.key) else ""
    return f"{breach.invariant}: {about}{page}: {breach.detail}{'; repaired' if is_repaired else ''}"
