"""Applies the rules of wikis that have some of their own (U-11): what is dead for them, and their own logs.

A check or an intake is followed at once for all wikis (``store/urls/wiki_dead``). When the settings of a wiki have
changed all its links are judged anew that fail, are marked, or are dead by its log; every day those that differ.
"""

import logging
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Mapping
from functools import partial
from typing import Final, NamedTuple

from weboid.core.record.policy import DEFAULT, Policy
from weboid.core.url.keys import UrlKey
from weboid.core.verdict.wiki_rules import WikiRules, rules_of
from weboid.errors import StoreError
from weboid.maintain.transaction import in_transaction
from weboid.mechanism.patience import Again, at_once
from weboid.mechanism.slices import batches
from weboid.store.archives.cited_copy import list_originals
from weboid.store.archives.wiki_settings import find_settings
from weboid.store.db.key_scheme import require_scheme
from weboid.store.db.pool import Pool
from weboid.store.lists.links import list_stretch
from weboid.store.pages.wiki import list_wikis
from weboid.store.urls import wiki_dead
from weboid.store.urls.lock import lock_urls_and_hosts
from weboid.store.urls.repaired import record_repaired

log = logging.getLogger(__name__)

_PAGES: Final = 50
"""Of which the links are looked through at a time."""

_Shown = Mapping[UrlKey, set[bool]]
"""URLs with whether their links are shown as dead: some, or all, or both."""


class Difference(NamedTuple):
    """A URL that is, by its wiki's rules, other than by the wiki's log or on its list of dead links."""

    judged: wiki_dead.Judged
    detail: str


async def apply_rules(pool: Pool, day: int, *, policy: Policy = DEFAULT, again: Again = at_once) -> Mapping[int, int]:
    """Records the rules of all wikis and judges by them what may have changed; returns by wiki how many URLs did."""
    own = await again(partial(_record_all, pool, policy))
    changed: Counter[int] = Counter()
    for each in await again(in_transaction(pool, wiki_dead.list_with_rules)):
        try:
            found = await judge_wiki(pool, each.wiki, day, every=not each.applied, again=again)
        except StoreError:
            raise
        except Exception:
            log.exception("the rules of wiki %d are not applied today", each.wiki)
            continue
        changed[each.wiki] += sum(each.judged.is_dead is not each.judged.was_dead for each in found)
        await again(in_transaction(pool, wiki_dead.record_applied, each.wiki, ends=each.wiki not in own))
    return +changed


async def judge_wiki(
    pool: Pool, wiki: int, day: int, *, every: bool, writes: bool = True, again: Again = at_once
) -> list[Difference]:
    """Judges links of a wiki by its rules: `every` one that is not known to work, or those that differ from the rule of
    all; also those that it calls dead itself. Returns what differed from its log and marks; `writes`: they are made to
    agree."""
    found: list[Difference] = []
    async for shown in _stretches(pool, wiki, every, again):
        found += await again(partial(_judge, pool, wiki, shown, day, writes))
    return found


async def _record_all(pool: Pool, policy: Policy) -> set[int]:
    """Records the rules of wikis; returns the wikis that have some of their own."""
    own: set[int] = set()
    async with pool.connection() as conn:
        had = {each.wiki for each in await wiki_dead.list_with_rules(conn)}
        for wiki in await list_wikis(conn):
            rules = rules_of(await find_settings(conn, wiki.wiki), policy)
            if rules != WikiRules(policy):
                own.add(wiki.wiki)
            if wiki.wiki in own | had:
                await wiki_dead.record_rules(conn, wiki.wiki, rules)
    return own


async def _judge(pool: Pool, wiki: int, shown: _Shown, day: int, writes: bool) -> list[Difference]:
    async with pool.connection() if writes else pool.reading() as conn:
        if writes:
            await require_scheme(conn)
            originals = await list_originals(conn, shown)
            await lock_urls_and_hosts(conn, originals.union(shown))
            judged = await wiki_dead.record_for_wikis(conn, shown, day, wiki)
            await record_repaired(conn, originals)
        else:
            judged = await wiki_dead.judge_uses(conn, shown, wiki)
    return [
        Difference(each, f"by the wiki's rules {each.after.word}, by its log {'dead' if each.was_dead else 'not dead'}")
        for each in judged
        if each.was_dead is not each.is_dead or (not each.is_dead) in shown[each.key]
    ]


async def _stretches(pool: Pool, wiki: int, every: bool, again: Again) -> AsyncIterator[_Shown]:
    """The URLs that are to be judged, stretch by stretch."""
    if every:
        begin = 0
        while pages := await again(in_transaction(pool, partial(list_stretch, limit=_PAGES), wiki, begin)):
            uses = [(page, key) for page, keys in pages for key in keys]
            found = list((await again(in_transaction(pool, wiki_dead.list_shown, wiki, uses))).items())
            for some in batches(found, wiki_dead.STRETCH):
                yield dict(some)
            begin = pages[-1][0] + 1
    spot: wiki_dead.OwnSpot | None = wiki_dead.OwnSpot(0, UrlKey(0, wiki_dead.LEAST, wiki_dead.LEAST))
    while spot is not None and not every:
        links = await again(in_transaction(pool, wiki_dead.list_own, wiki, spot))
        shown: defaultdict[UrlKey, set[bool]] = defaultdict(set)
        for link, is_shown in links:
            shown[link.key].add(is_shown)
        if shown:
            yield shown
        spot = links[-1][0] if links else None
    for first in await again(in_transaction(pool, wiki_dead.list_permadead_hosts, wiki)):
        place: wiki_dead.HostSpot | None = wiki_dead.HostSpot(first, wiki_dead.LEAST)
        while place is not None:
            urls = await again(in_transaction(pool, wiki_dead.list_of_hosts, wiki, first, place))
            if urls:
                yield {key: {is_shown} for _, key, is_shown in urls}
            place = urls[-1][0] if urls else None
