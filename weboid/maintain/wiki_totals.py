"""Counts the links of every wiki once a day, for its page (W-6): dead, repaired, doubtful, died and came back.

All is read in stretches of bounded size, each in a transaction of its own: nothing is locked, and a count is as of the
moments at which its stretches were read. Of the dead hosts of one wiki the numbers are kept in memory meanwhile.
"""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from heapq import nlargest
from typing import Final

from weboid.core.record.policy import DEFAULT, Policy
from weboid.core.url.hosts import registrable_domain
from weboid.core.url.keys import UrlKey
from weboid.core.verdict.verdict import Verdict
from weboid.core.verdict.wiki_rules import rules_of
from weboid.errors import StoreError
from weboid.maintain.transaction import in_transaction
from weboid.mechanism.patience import Again, at_once
from weboid.mechanism.slices import batches
from weboid.store.archives.wiki_settings import find_settings
from weboid.store.db.pool import Pool
from weboid.store.db.rows import HostKey
from weboid.store.lists import wiki_totals
from weboid.store.lists.links import START, list_stretch, verdict_on
from weboid.store.pages.wiki import list_wikis
from weboid.store.urls.url import find_urls

log = logging.getLogger(__name__)

STRETCH: Final = 10_000
"""Dead links that are read at a time, and hosts."""
LINES: Final = 2_000
"""Lines of the log that are read at a time."""
SAMPLES: Final = 20
"""Places of a wiki, evenly spread over the ids of its pages, at which pages are looked at for doubtful links."""
SAMPLED: Final = 25
"""Pages that are looked at from each place on."""
_WORST: Final = 100
"""Domains, and namespaces, that are kept."""


async def count_wikis(pool: Pool, day: int, *, policy: Policy = DEFAULT, again: Again = at_once) -> int:
    """Records the totals of the day before `day` for every wiki; returns of how many. A second call replaces them."""
    changed = await _count_changed(pool, day - 1, again)
    done = 0
    for wiki in await again(in_transaction(pool, list_wikis)):
        try:
            places, dead, repaired = await _count_dead(pool, wiki.wiki, again)
            pages, looked, links, doubtful = await _sample(pool, wiki.wiki, policy, again)
            share = pages / looked if looked else 0
            about = (round(links * share), dead, repaired, round(doubtful * share))
            total = wiki_totals.WikiTotal(day - 1, pages, *about, *changed.get(wiki.wiki, (0, 0)), looked < pages)
            await again(in_transaction(pool, wiki_totals.record_totals, wiki.wiki, total, places))
        except StoreError:
            raise
        except Exception:
            log.exception("the links of wiki %d are not counted today", wiki.wiki)
            continue
        done += 1
    return done


async def _count_changed(pool: Pool, day: int, again: Again) -> Mapping[int, tuple[int, int]]:
    """By wiki, how many links died on a day, and how many came back."""
    died: Counter[int] = Counter()
    back: Counter[int] = Counter()
    after: int | None = 0
    while after is not None:
        after, found = await again(in_transaction(pool, partial(wiki_totals.count_changed, limit=LINES), day, after))
        died.update({wiki: each[0] for wiki, each in found.items()})
        back.update({wiki: each[1] for wiki, each in found.items()})
    return {wiki: (died[wiki], back[wiki]) for wiki in died}


async def _count_dead(pool: Pool, wiki: int, again: Again) -> tuple[list[wiki_totals.DeadPlace], int, int]:
    """The places of the dead links of a wiki, their number, and that of those that are repaired."""
    hosts: dict[bool, Counter[HostKey]] = {False: Counter(), True: Counter()}
    spaces: dict[bool, Counter[str]] = {False: Counter(), True: Counter()}
    page, key = START
    while links := await again(in_transaction(pool, partial(wiki_totals.list_dead, limit=STRETCH), wiki, page, key)):
        for link in links:
            hosts[link.repaired][HostKey(link.key.bucket, link.key.host_key)] += 1
            spaces[link.repaired][str(link.namespace)] += 1
        page, key = links[-1].page, links[-1].key
    domains: dict[bool, Counter[str]] = {False: Counter(), True: Counter()}
    for some in batches(list(hosts[False].keys() | hosts[True].keys()), STRETCH):
        for host, name in (await again(in_transaction(pool, wiki_totals.list_hosts, some))).items():
            domain = registrable_domain(name)
            for is_repaired, counted in domains.items():
                counted[domain] += hosts[is_repaired][host]
    places = [*_worst(wiki_totals.PlaceKind.DOMAIN, domains), *_worst(wiki_totals.PlaceKind.NAMESPACE, spaces)]
    return places, spaces[False].total() + spaces[True].total(), spaces[True].total()


def _worst(kind: wiki_totals.PlaceKind, counted: Mapping[bool, Counter[str]]) -> list[wiki_totals.DeadPlace]:
    dead = counted[False] + counted[True]
    worst = nlargest(_WORST, dead, key=lambda subject: (dead[subject], subject))
    return [wiki_totals.DeadPlace(kind, subject, dead[subject], counted[True][subject]) for subject in worst]


async def _sample(pool: Pool, wiki: int, policy: Policy, again: Again) -> tuple[int, int, int, int]:
    """The number of a wiki's pages, and of those that were looked at, of their links, and of the doubtful ones."""
    pages, first, last = await again(in_transaction(pool, wiki_totals.find_pages, wiki))
    step = (last - first + 1) / SAMPLES
    is_whole = pages <= SAMPLES * SAMPLED
    urls: list[list[UrlKey]] = []
    begin = first
    for place in range(SAMPLES):
        begin = max(begin, first if is_whole else first + round(place * step))
        found = await again(in_transaction(pool, partial(list_stretch, limit=SAMPLED), wiki, begin))
        urls += [keys for _, keys in found]
        if found:
            begin = found[-1][0] + 1
    doubtful = 0
    for some in batches(urls, SAMPLED):
        doubtful += await again(partial(_count_doubtful, pool, wiki, some, policy))
    return pages, len(urls), sum(map(len, urls)), doubtful


async def _count_doubtful(pool: Pool, wiki: int, pages: Sequence[list[UrlKey]], policy: Policy) -> int:
    """Counts the links of pages with these URLs that are doubtful by the wiki's rules."""
    async with pool.reading() as conn:
        rules = rules_of(await find_settings(conn, wiki), policy)
        known = await find_urls(conn, sorted({key for keys in pages for key in keys}), wiki)
    doubtful = {key for key, url in known.items() if verdict_on(url, rules) is Verdict.DOUBTFUL}
    return sum(key in doubtful for keys in pages for key in keys)
