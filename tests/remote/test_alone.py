"""Deaths of hosts on which much hangs, and those that one remote crawler alone reports (C-5, C-14)."""

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

import pytest
from support.observations import FINE, LOST, SILENT
from support.remote import CRAWLERS, crawler_client, open_server, server_config
from support.stored import WikiInStore, open_wiki

from weboid.core.observe.observation import Observation
from weboid.core.record.moment import Moment
from weboid.core.record.policy import DEFAULT
from weboid.core.record.reasons import Outcome
from weboid.core.record.record import UNTRIED, HostEffect
from weboid.core.url.keys import key_of
from weboid.core.url.urls import parse
from weboid.core.verdict.verdict import Verdict
from weboid.maintain.expiry import _delete_past
from weboid.remote.crawl import alone
from weboid.remote.crawl.calls import CrawlStore, remote_crawl_store
from weboid.store.db.rows import HostKey, StoredHost, StoredUrl
from weboid.store.results.record import Checked
from weboid.store.upkeep import big_death
from weboid.store.upkeep.alarm import AlarmKind, list_alarms
from weboid.store.upkeep.big_death import record_word

URLS: Final = [f"http://big.demo/{number}" for number in range(5)]
SMALL: Final = [f"http://small.demo/{number}" for number in range(5)]
OTHER: Final = "token-of-another-place"
OF_PAGES: Final = (100, 103, 106, 109, 112, 113)
"""Days on which a page that is missing is checked, before the one on which that is proven."""
DEAD: Final = 100 + DEFAULT.dead_span
"""The day on which a host is proven dead that is silent from day 100 on."""
DEAD_BIG: Final = 100 + DEFAULT.server_span
"""The same of one on which much hangs."""
OF_HOSTS: Final = (*range(100, DEAD, 3),)


@dataclass
class Scene:
    """A store with a big and a small host, and the crawlers of two tokens."""

    wiki: WikiInStore
    far: CrawlStore
    other: CrawlStore
    held: dict[int, int]
    day: int = 100

    async def report(self, day: int, seen: Observation, urls: Iterable[str] = (*URLS, *SMALL)) -> None:
        """A batch of the crawler `far`: all of these URLs are seen so, at an hour that changes."""
        self.day = day
        checks = []
        for text in urls:
            known = await self.wiki.known(text)
            url, host = StoredUrl(known.key, known.url, UNTRIED), StoredHost(HostKey(*known.key[:2]), "", known.host)
            more: dict[str, Any] = {"effect": HostEffect.SEEN}
            checks.append(Checked(url, host, day, seen, UNTRIED, day, known.host, known.host, **more))
        assert (await self.far.work.record(checks, self.held)).written == len(checks)

    async def dead(self) -> set[str]:
        verdicts = {url: (await self.wiki.finding(url)).verdict for url in (*URLS, *SMALL)}
        return {url for url, verdict in verdicts.items() if verdict is Verdict.DEAD}

    async def answer(self, outcomes: dict[str, Outcome]) -> set[str]:
        """The crawler `other` makes the looks that are wanted; returns at which URLs."""
        looks = await self.other.second_looks.take(99)
        for each in looks:
            await self.other.second_looks.answer(each.look, outcomes.get(each.url, Outcome.FAILING))
        return {each.url for each in looks}

    async def alarms(self) -> list[tuple[str, str, int]]:
        return [(each.kind, each.subject, each.since) for each in await self.wiki.do(list_alarms)]


@pytest.fixture
async def scene(database: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Scene]:
    for module in (alone, big_death):
        monkeypatch.setattr(module, "MANY_USES", 6)
    monkeypatch.setattr(alone, "MANY_DEAD", 2)
    tokens = f"{CRAWLERS},other:{sha256(OTHER.encode()).hexdigest()}"
    async with (
        open_wiki(database, {1: [*URLS, *SMALL], 2: URLS}) as wiki,
        open_server(wiki.pool, server_config(WEBOID_WEB_CRAWLERS=tokens), today=lambda: made.day) as url,
        crawler_client(url) as far,
        crawler_client(url, token=OTHER) as other,
    ):
        made = Scene(wiki, remote_crawl_store(far), remote_crawl_store(other), {})
        made.held = dict(await made.far.work.lease(Moment(100)))
        yield made


async def test_of_a_host_with_many_uses_more_than_so_many_pages_die_only_by_another_crawlers_look(scene: Scene) -> None:
    for day in OF_PAGES:
        await scene.report(day, LOST)
        await scene.other.second_looks.take(0)  # it is there
    await scene.report(114, LOST)
    assert await scene.dead() == {*URLS[:2], *SMALL}
    assert await scene.alarms() == [("one-crawler", "big.demo", 114)]
    assert await scene.answer({URLS[4]: Outcome.WORKING}) == {*URLS[2:]}
    await scene.report(115, LOST)
    assert await scene.dead() == {*URLS[:4], *SMALL}
    # What another crawler has found working is not dead, nor when the alarm is two weeks old.
    await scene.wiki.rows("UPDATE alarm SET since = 101 RETURNING 1")
    for day in range(116, 121):
        await scene.report(day, LOST, [URLS[4]])
    assert URLS[4] not in await scene.dead()
    await scene.wiki.do(_delete_past, 122)
    assert await scene.alarms() == [("one-crawler", "big.demo", 101)]
    await scene.wiki.do(_delete_past, 123)
    assert await scene.alarms() == []


async def test_without_another_crawler_it_counts_fourteen_days_after_the_alarm(scene: Scene) -> None:
    for day in (*OF_PAGES, *range(114, 128)):
        await scene.report(day, LOST)
    assert await scene.dead() == {*URLS[:4], *SMALL}  # two more within the next week
    # An alarm of long ago says nothing: it begins anew.
    await scene.wiki.rows("UPDATE alarm SET since = 107 RETURNING 1")
    await scene.report(128, LOST)
    assert await scene.dead() == {*URLS[:4], *SMALL}
    assert await scene.alarms() == [("one-crawler", "big.demo", 128)]
    await scene.report(142, LOST)
    assert await scene.dead() == {*URLS, *SMALL}
    assert await scene.alarms() == []


async def test_a_host_with_many_uses_dies_after_the_longer_span_with_an_alarm_a_week_before(scene: Scene) -> None:
    for day in (*OF_HOSTS, *range(DEAD, DEAD_BIG)):
        await scene.report(day, SILENT)
        await scene.other.second_looks.take(0)
        assert await scene.dead() == ({*SMALL} if day >= DEAD else set())
    [(kind, subject, since)] = await scene.alarms()
    assert (kind, subject) == ("host-dying", "big.demo")
    assert since <= DEAD_BIG - 7
    # Crawlers of another place are asked to look at URLs that the store chooses.
    assert await scene.answer({}) == set(sorted(URLS, key=lambda url: key_of(parse(url)).url_key)[:3])
    await scene.report(DEAD_BIG, SILENT, [URLS[0]])
    assert await scene.dead() == {*URLS, *SMALL}
    assert await scene.alarms() == []
    await scene.report(DEAD_BIG + 3, FINE, [URLS[0]])
    assert URLS[0] not in await scene.dead()


async def test_a_host_with_many_uses_that_another_crawler_reaches_does_not_die(scene: Scene) -> None:
    for day in (*OF_HOSTS, *range(DEAD, DEAD_BIG + 2)):
        await scene.report(day, SILENT)
        await scene.other.second_looks.take(0)
        await scene.answer(dict.fromkeys(URLS, Outcome.WORKING))
    assert await scene.dead() == {*SMALL}


@pytest.mark.parametrize(("word", "dead"), [(AlarmKind.HOST_CONFIRMED, 138), (AlarmKind.HOST_HELD, 164), (None, 142)])
async def test_an_administrator_may_confirm_or_hold_the_death_of_such_a_host(
    scene: Scene, word: AlarmKind | None, dead: int
) -> None:
    for day in (*OF_HOSTS, *range(DEAD, 138)):
        await scene.report(day, SILENT)
    assert not await scene.wiki.do(record_word, "small.demo", AlarmKind.HOST_HELD, 137)
    assert await scene.wiki.do(record_word, "big.demo", word, 137) == (word is not AlarmKind.HOST_DYING)
    for day in range(138, dead):
        if day == 160:
            await scene.wiki.do(record_word, "big.demo", None, day)
        await scene.report(day, SILENT, URLS)
        assert await scene.dead() == {*SMALL}
    await scene.report(dead, SILENT, [URLS[0]])
    assert await scene.dead() == {*URLS, *SMALL}
    assert await scene.alarms() == []
