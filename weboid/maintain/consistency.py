"""A search for contradictions in the store, or a share of it, while everything else goes on.

The invariants and their repair are in ``store/upkeep/invariant``. Large stores are checked by sevenths, by the day's
number, so that no progress is stored. A breach that is left, or was repaired, is an alarm until a check finds that
share of the store in order.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from weboid.core.record.policy import DEFAULT, Policy
from weboid.maintain.transaction import in_transaction
from weboid.maintain.wiki_rules import judge_wiki
from weboid.mechanism.patience import Again, at_once
from weboid.mechanism.tasks import side_by_side
from weboid.store.db.pool import Pool
from weboid.store.db.transactions import one_moment
from weboid.store.upkeep import invariant
from weboid.store.upkeep.alarm import AlarmKind, lower_alarm, raise_alarm, record_alarms
from weboid.store.upkeep.expiry import count_urls
from weboid.store.upkeep.invariant import WALKS, Share, Stretch
from weboid.store.urls.wiki_dead import list_with_rules

AT_ONCE: Final = 2
"""Stretches that are looked at, each over a connection of its own; breaches are confirmed one after the other."""
BATCH: Final = 2_000
"""Rows that are looked at in one statement."""
WHOLE: Final = Share()
PARTS: Final = 7
"""A large store is checked within so many days, a share a day."""
SMALL: Final = 1_000_000
"""Up to so many URLs a store is checked as a whole every day: half a minute."""
_DESCRIBED: Final = 20
"""The most breaches that are described; the others are counted."""

_RULES: Final = "wiki-rules"

Show = Callable[[str, int, int | None], None]
"""Called with a walk, how many of its rows were looked at, and about how many there are (None = not known)."""


@dataclass(slots=True)
class Consistency:
    """The results of a check so far: breaches, how many of them were repaired, and the first of them in words."""

    rows: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    repaired: Counter[str] = field(default_factory=Counter)
    described: list[str] = field(default_factory=list)

    @property
    def wrong(self) -> int:
        """The number of breaches that are left."""
        return self.found.total() - self.repaired.total()

    @property
    def summary(self) -> str:
        """The numbers by invariant, as ``dead 3 (2 repaired), orphan 1``."""
        return ", ".join(
            f"{each} {found}" + (f" ({self.repaired[each]} repaired)" if self.repaired[each] else "")
            for each, found in self.found.most_common()
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

    Each batch is by itself: a check that is stopped has repaired what it has counted. Not `locks`: where nothing can be
    written nothing can be locked, and suspects are looked at again at one moment instead. `again` does the steps.
    """
    done, latest = Consistency(), dict[str, Stretch]()
    finding, repairing = asyncio.Lock(), asyncio.Lock()

    async def check(stretch: Stretch) -> None:
        """Checks a stretch without a lock; only the rows of suspects are looked at again."""
        async with pool.reading() as conn:
            suspects = await invariant.list_breaches(conn, stretch, policy)
        if not suspects:
            return
        async with repairing, pool.connection() if locks else one_moment(pool) as conn:
            breaches = await invariant.confirm(conn, stretch, suspects, policy, locks=locks)
            first = breaches[: _DESCRIBED - len(done.described)]
            names = await invariant.list_names(conn, [each.key for each in first if any(each.key)])
            repaired = await invariant.repair(conn, stretch.walk, breaches, day, policy) if repairs else []
        done.found.update(each.invariant for each in breaches)
        done.repaired.update(each.invariant for each in repaired)
        for each in first:
            page = f" on page {each.page} of wiki {each.wiki}" if each.wiki else ""
            end = "; repaired" if each in repaired else ""
            done.described.append(f"{each.invariant}: {names.get(each.key, '')}{page}: {each.detail}{end}")

    async def go_through(walk: str) -> None:
        """Checks those stretches of a walk that are left."""
        while True:
            async with finding:
                step = in_transaction(pool, invariant.find_stretch, walk, share, latest.get(walk), batch)
                if (stretch := await again(step)) is None:
                    return
                latest[walk] = stretch
            await again(partial(check, stretch))
            done.rows[walk] += stretch.rows
            show(walk, done.rows[walk], about.get(walk))

    about = await again(in_transaction(pool, invariant.estimate_rows))
    for walk in WALKS:
        await side_by_side([partial(go_through, walk)] * AT_ONCE, AT_ONCE)
    for own in await again(in_transaction(pool, list_with_rules)):
        if own.wiki % share.parts == share.part and own.applied:
            await _check_rules(pool, own.wiki, day, done, writes=repairs, again=again)
    return done


async def _check_rules(pool: Pool, wiki: int, day: int, done: Consistency, *, writes: bool, again: Again) -> None:
    """Judges the dead links of a wiki with rules of its own by these (U-11)."""
    found = await judge_wiki(pool, wiki, day, every=True, writes=writes, again=again)
    done.found.update({_RULES: len(found)} if found else {})
    done.repaired.update({_RULES: len(found)} if found and writes else {})
    first = found[: max(0, _DESCRIBED - len(done.described))]
    if first:
        names = await again(in_transaction(pool, invariant.list_names, [each.judged.key for each in first]))
        end = "; repaired" if writes else ""
        done.described += [
            f"{_RULES}: {names.get(each.judged.key, '')} on wiki {wiki}: {each.detail}{end}" for each in first
        ]


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
        if share == WHOLE:  # It includes all shares: their alarms are over.
            await record_alarms(conn, AlarmKind.STORE, {subject: done.summary} if done.found else {}, day)
        elif done.found:
            await raise_alarm(conn, AlarmKind.STORE, subject, day, done.summary)
        else:
            await lower_alarm(conn, AlarmKind.STORE, subject)
