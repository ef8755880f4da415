"""What SQL says of dead links, on stores by chance, equals the pure finding for each wiki (U-11, D-477).

No statement concludes a finding: SQL reads marks and log lines that were made by the same function at a check, an
intake, a change of rules or a step of `maintain`. So what may go wrong is that one of these leaves some out.
"""

import json
import random
from collections import Counter
from typing import Any

import pytest
from support.observations import BROKEN, FINE, GONE, LOST, NO_NAME, SILENT, UNAVAILABLE, WALL
from support.repeats import IS_THOROUGH, TIMES
from support.stored import WikiInStore, key

from weboid.core.observe.observation import Observation
from weboid.core.record.policy import DEFAULT
from weboid.core.url.classify import UrlClass
from weboid.core.url.keys import UrlKey
from weboid.core.url.urls import parse
from weboid.core.verdict.verdict import Verdict
from weboid.core.verdict.wiki_rules import WikiRules, rules_of, wiki_finding
from weboid.maintain.consistency import check_store
from weboid.maintain.wiki_rules import apply_rules
from weboid.store.archives.wiki_settings import StoredSettings, find_settings, record_settings
from weboid.store.lists.changes import list_newest_of, list_news
from weboid.store.lists.dataset import STRETCH, HostStatus, list_statuses
from weboid.store.lists.links import DeadFilter, list_dead_links, list_first_pages, list_newest_dead
from weboid.store.urls.url import find_urls

HOSTS = ("a.demo", "b.demo", "sub.b.demo", "c.demo", "d.demo")
URLS = tuple(f"https://{host}/{path}" for host in HOSTS for path in ("1", "1/2", "3"))
IN_STORE = {1: URLS}
SEEN = (FINE, FINE, LOST, LOST, LOST, GONE, WALL, BROKEN, UNAVAILABLE)
OF_HOSTS = (SILENT, NO_NAME)
PAGES = range(1, 5)
LAST = 260
END = 190 if IS_THOROUGH else 160
LINKS = "SELECT wiki, page, bucket, host_key, url_key FROM link"
SHOWN = "SELECT wiki, page, bucket, host_key, url_key FROM dead WHERE rule <> 1"


class World:
    """Four wikis on one store, one of which has no rules, and what each URL answers on each day; all by chance."""

    def __init__(self, stored: WikiInStore, others: list[WikiInStore], chance: random.Random) -> None:
        self.wikis = [stored, *others]
        self.pool = stored.pool
        self.chance = chance
        self.day = 100
        self._phases = {url: self._drawn(SEEN) for url in URLS} | {
            host: self._drawn((None, None, None, *OF_HOSTS)) for host in HOSTS
        }

    def _drawn(self, seen: tuple[Any, ...]) -> list[tuple[int, Any]]:
        """What is seen up to which day: phases of some days to many weeks."""
        phases, day = [], 100
        while day <= LAST:
            day += self.chance.choice((5, 12, 20, 40, 70))
            phases.append((day, self.chance.choice(seen)))
        return phases

    def answer(self, url: str, day: int) -> Observation:
        phases = (self._phases.get(name, ()) for name in (parse(url).host, url))
        of_host, of_url = (next((seen for end, seen in found if day < end), None) for found in phases)
        return of_host or of_url or FINE

    async def step(self) -> str:
        """Some days go by, with rounds and the daily step; then a page or the rules of a wiki change."""
        until = self.day + self.chance.choice((1, 3, 9))
        while self.day < until:
            self.day += 1
            await self.wikis[0].rounds(self.answer, [self.day])
            await apply_rules(self.pool, self.day)
        wiki = self.chance.choice(self.wikis)
        what = self.chance.choice(("links", "links", "links", "rules", "nothing"))
        if what == "links":
            urls = self.chance.sample(URLS, self.chance.randrange(7))
            await wiki.take_in({self.chance.choice(PAGES): urls}, self.day, self.day)
        elif what == "rules" and wiki is not self.wikis[0]:
            await wiki.do(record_settings, StoredSettings(wiki.wiki.wiki, self.day, self._rules()))
            await apply_rules(self.pool, self.day)
        return f"day {self.day}: {what} of {wiki.wiki.dbname}"

    def _rules(self) -> str | None:
        if self.chance.random() < 0.2:
            return None
        own = {"strikes": (3, 4, 6), "missing": (9, 14, 28), "unreachable": (35, 50), "server_error": (42, 60)}
        after = {name: self.chance.choice(values) for name, values in own.items() if self.chance.random() < 0.6}
        entries = [*HOSTS, *URLS]
        self.chance.shuffle(entries)
        links = {
            name: [entries.pop() for _ in range(self.chance.randrange(3))]
            for name in ("permalive", "permadead", "subscription")
        }
        return json.dumps({"dead_after": after, "links": links})


async def rules(wiki: WikiInStore) -> WikiRules:
    return rules_of(await wiki.do(find_settings, wiki.wiki.wiki), DEFAULT)


async def concluded(wiki: WikiInStore) -> set[tuple[int, str]]:
    """Page and URL of the links that are dead for the wiki: by the pure function, of each link."""
    uses = [row[1:] for row in await wiki.rows(LINKS) if row[0] == wiki.wiki.wiki]
    own, known = await rules(wiki), await wiki.do(find_urls, [key(url) for url in URLS])
    dead = set()
    for page, *of in uses:
        url = known[UrlKey(*of)]  # type: ignore[arg-type]
        found = wiki_finding(UrlClass.WATCHED, own, own.flags_of(url.url), url.record, url.host, url.claims)
        if found.verdict is Verdict.DEAD:
            assert isinstance(page, int)
            dead.add((page, str(url.url)))
    return dead


async def compare(wiki: WikiInStore, statuses: list[HostStatus], what: str) -> int:
    """Compares what each interface reads with SQL; returns how many links are dead."""
    dead, number = await concluded(wiki), wiki.wiki.wiki
    by_name = {key(url): url for url in URLS}
    rows = [row[1:] for row in await wiki.rows(SHOWN) if row[0] == number]
    assert {(page, by_name[UrlKey(*of)]) for page, *of in rows} == dead, what  # type: ignore[arg-type]
    listed = await wiki.do(list_dead_links, number, rules=await rules(wiki))
    assert {(each.page.page, str(each.known.url)) for each in listed.links} == dead, what
    first = (await wiki.do(list_first_pages, [number], limit=9))[number]
    assert {each.page: each.dead for each in first if each.dead} == Counter(page for page, _ in dead), what
    counted = Counter[str]()
    for row in statuses:
        counted[row.host] += row.dead * (row.dbname == wiki.wiki.dbname)
    assert +counted == Counter(parse(url).host for url in {url for _, url in dead}), what
    # The last change of each URL that the wiki uses says what it is; so does the feed, of those that are dead.
    news = await wiki.do(list_news, number, since=0, until=10**9, limit=5_000)
    last: dict[str, Verdict] = {}
    for item in news.items:
        url = str(item.known.url)
        assert (last.get(url) is Verdict.DEAD) is not (item.after is Verdict.DEAD), f"a line twice: {what}"
        last[url] = item.after
    assert {url for url, after in last.items() if after is Verdict.DEAD} == {url for _, url in dead}, what
    links = await wiki.do(list_newest_dead, number, DeadFilter(pages=tuple(PAGES)))
    feed = await wiki.do(list_newest_of, number, links, limit=500)
    assert {str(item.known.url) for item in feed} == {url for _, url in dead}, what
    return len(dead)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", TIMES)
async def test_lists_feeds_changes_and_data_set_say_what_the_pure_function_does_for_each_wiki(
    stored: WikiInStore, seed: int
) -> None:
    world = World(stored, [await stored.another(name) for name in ("wikia", "wikib", "wikic")], random.Random(seed))
    for wiki in world.wikis:
        await wiki.take_in({page: world.chance.sample(URLS, 8) for page in PAGES}, 100)
    found = [0] * len(world.wikis)
    while world.day < END:
        what = await world.step()
        parts = {key(url).bucket // STRETCH for url in URLS}
        statuses = [row for part in parts for row in await stored.do(list_statuses, part)]
        for number, wiki in enumerate(world.wikis):
            found[number] += await compare(wiki, statuses, f"{what}, seen by {wiki.wiki.dbname}")
    done = await check_store(world.pool, world.day, repairs=True)
    assert not done.found, done.described
    assert all(found), "each wiki has had dead links"
