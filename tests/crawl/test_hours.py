"""Hours of the day: which hosts a crawler visits when it waits for their hour, and when it does not."""

import asyncio
import random
from datetime import timedelta

import pytest
from support.observations import FINE, LOST, SILENT
from support.stored import WikiInStore, key, open_wiki

from weboid.core.observe.observation import Observation
from weboid.core.record.moment import HOURS, Moment, planned_hour
from weboid.core.record.pace import FEW_URLS
from weboid.core.record.policy import DEFAULT
from weboid.crawl import leases
from weboid.crawl.portion import portioned
from weboid.store.db.rows import HostKey, StoredUrl
from weboid.store.schedule.lease import count_due_buckets, is_due, lease_buckets
from weboid.store.urls.url import list_due_hosts

from .test_order import put_hosts

HOSTS = [f"http://h{number}.demo/" for number in range(40)]


def fine(url: str, day: int) -> Observation:
    return FINE


def planned(url: str, day: int) -> int:
    return planned_hour(key(url).host_key, day)


async def test_the_database_and_the_program_agree_on_the_hour_of_every_host(database: str) -> None:
    chance = random.Random(4)
    async with open_wiki(database, {}) as wiki, wiki.pool.connection() as conn:
        for day in (0, 1, 32_766, 32_767, *(chance.randrange(32_768) for _ in range(12))):
            keys = [-(2**63), -(2**63) + 1, -1, 0, 1, 2**63 - 1]
            keys += [chance.randrange(-(2**63), 2**63) for _ in range(60)]
            await put_hosts(conn, {HostKey(5, each): day for each in keys})
            for hour in chance.sample(range(HOURS), 6):
                due = await list_due_hosts(conn, [5], until=Moment(day, hour), without=[], limit=100)
                assert {host.key.host_key for host in due} == {each for each in keys if planned_hour(each, day) <= hour}
            everything = await list_due_hosts(conn, [5], until=Moment(day), without=[], limit=100)
            assert len(everything) == len(keys)
            # What was due on an earlier day waits for no hour.
            late = await list_due_hosts(conn, [5], until=Moment(day + 1, 0), without=[], limit=100)
            assert len(late) == len(keys)


async def test_a_bucket_is_leased_and_counted_only_when_the_hour_of_a_host_in_it_has_come(database: str) -> None:
    chance = random.Random(5)
    async with open_wiki(database, {}) as wiki, wiki.pool.connection() as conn:
        for _ in range(15):
            host_key, day, hour = chance.randrange(-(2**63), 2**63), chance.randrange(32_768), chance.randrange(HOURS)
            await put_hosts(conn, {HostKey(5, host_key): day})
            has_come = planned_hour(host_key, day) <= hour
            until = Moment(day, hour)
            assert await is_due(conn, until) == has_come
            leased = await lease_buckets(conn, "one", until=until, limit=10, lease_s=60, rest_s=0)
            assert set(leased) == ({5} if has_come else set())
            assert await count_due_buckets(conn, until) == int(has_come)
            await conn.execute(b"UPDATE lease SET until = '-infinity'")


async def first_round(wiki: WikiInStore) -> int:
    """Everything is checked once; returns a day on which many of the hosts are due."""
    await wiki.round(100, fine)
    wiki.asked.clear()
    return 106


async def due_on(wiki: WikiInStore, day: int) -> set[str]:
    return {url for url in HOSTS if (await wiki.known(url)).due == day}


async def test_a_crawler_that_waits_visits_each_host_in_its_hour(database: str) -> None:
    async with open_wiki(database, {1: HOSTS}) as wiki:
        day = await first_round(wiki)
        due = await due_on(wiki, day)
        assert len(due) >= 10
        hours: dict[str, int] = {}
        looked_at = (0, 1, 9, 10, 17, HOURS - 1)
        for hour in looked_at:
            await wiki.new_round(day, lambda url, day: LOST, hour=hour, waits=True).run()
            hours |= {url: hour for _, url in wiki.asked}
            wiki.asked.clear()
        assert hours == {url: min(hour for hour in looked_at if hour >= planned(url, day)) for url in due}


@pytest.mark.parametrize("hour", [None, 0])
async def test_a_round_that_does_not_wait_asks_all_of_the_day(database: str, hour: int | None) -> None:
    async with open_wiki(database, {1: HOSTS}) as wiki:
        day = await first_round(wiki)
        due = await due_on(wiki, day)
        await wiki.new_round(day, fine, hour=hour).run()
        assert {url for _, url in wiki.asked} == due


async def test_what_an_intake_has_just_brought_in_is_asked_at_once(database: str) -> None:
    async with open_wiki(database, {1: HOSTS[:20]}) as wiki:
        await wiki.new_round(100, fine, hour=0, waits=True).run()
        assert {url for _, url in wiki.asked} == set(HOSTS[:20])
        # A URL that comes to a known host brings the visit of that host forward.
        wiki.asked.clear()
        news = [*HOSTS[20:], f"{HOSTS[0]}new"]
        await wiki.take_in({2: news}, 102)
        await wiki.new_round(102, fine, hour=0, waits=True).run()
        assert {url for _, url in wiki.asked} == set(news)


async def test_the_urls_of_a_host_that_comes_back_to_life_are_asked_on_the_same_day(database: str) -> None:
    urls = [f"http://a.demo/{number}" for number in range(6)]
    async with open_wiki(database, {1: urls}) as wiki:
        await wiki.rounds(lambda url, day: SILENT, range(100, 102 + DEFAULT.dead_span))
        assert len(await wiki.dead()) == len(urls)
        day = min([(await wiki.known(url)).due for url in urls])
        await wiki.new_round(day, fine, hour=planned(urls[0], day), waits=True).run()
        assert not await wiki.dead()


async def slowly(url: str) -> Observation:
    await asyncio.sleep(0.02)
    return FINE


async def test_the_due_urls_of_a_host_are_asked_in_portions_hours_apart(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    urls = [f"http://a.demo/{number}" for number in range(60)]
    async with open_wiki(database, {1: urls, 2: ["http://b.demo/"]}) as wiki:
        # That its host rests does not end the visit that has begun, when shares are looked at.
        monkeypatch.setattr(leases, "_SHARE_S", 0.0)
        monkeypatch.setattr(leases, "_GIVE_S", 0.01)
        await wiki.new_round(100, lambda url, day: slowly(url), hour=planned(urls[0], 100), waits=True).run()
        assert len(wiki.asked) == FEW_URLS + 1
        # Neither the same crawler comes back at once, nor another one.
        for worker in ("test", "other"):
            await wiki.new_round(100, fine, worker, hour=HOURS - 1, waits=True).run()
        assert len(wiki.asked) == FEW_URLS + 1
        [(rests,)] = await wiki.rows("SELECT rests_until - now() FROM host WHERE rests_until IS NOT NULL")
        assert timedelta(minutes=55) < rests <= timedelta(hours=3)  # type: ignore[operator]
        await wiki.execute("UPDATE host SET rests_until = now()")
        await wiki.new_round(100, fine, hour=HOURS - 1, waits=True).run()
        assert len(set(wiki.asked)) == len(wiki.asked) == 2 * FEW_URLS + 1
        # Without an hour all visits of the day follow each other.
        await wiki.round(100, fine)
        assert len(set(wiki.asked)) == len(wiki.asked) == 61


async def test_a_host_that_fails_has_no_other_visit_on_that_day(database: str) -> None:
    urls = [f"http://a.demo/{number}" for number in range(150)]
    async with open_wiki(database, {1: urls}) as wiki:
        tally = await wiki.new_round(100, lambda url, day: SILENT, hour=HOURS - 1, waits=True).run()
        assert (tally.written, tally.inferred, len(wiki.asked)) == (150, 147, 4)


async def test_the_first_of_a_portion_are_those_that_answered_and_the_others_come_by_chance(database: str) -> None:
    urls = [f"http://a.demo/{number}" for number in range(40)]
    async with open_wiki(database, {1: urls}) as wiki:
        await wiki.round(100, lambda url, day: FINE if url in ("http://a.demo/", *urls[:5]) else SILENT)
        stored = [StoredUrl(known.key, known.url, known.record) for known in [await wiki.known(url) for url in urls]]
        asked = [[str(url.url) for url in portioned(stored, day, 8)[:8]] for day in range(107, 207)]
    assert all(set(each[:3]) <= set(urls[:5]) for each in asked)
    assert {url for each in asked for url in each} == set(urls)
