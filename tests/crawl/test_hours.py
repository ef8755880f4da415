"""Hours of the day: which hosts a crawler visits when it waits for their hour, and when it does not. The leases of a
round: nothing is written without them, and a bucket that is given back was not taken over. The order in which due
hosts are visited (C-3): oldest first, at random only among those due since the same day.
"""

import asyncio
import random
from datetime import timedelta

import pytest
from support.observations import FINE, LOST, SILENT
from support.stored import WikiInStore, key, open_wiki
from support.waiting import until

from weboid.config import CrawlConfig
from weboid.core.observe.check_request import CheckRequest
from weboid.core.observe.observation import Observation
from weboid.core.record.moment import HOURS, Moment, planned_hour
from weboid.core.record.pace import FEW_URLS
from weboid.core.record.policy import DEFAULT
from weboid.core.url.keys import BUCKETS
from weboid.crawl import leases
from weboid.crawl.leases import Leases
from weboid.crawl.portion import portioned
from weboid.crawl.visit import Visit, postponed
from weboid.remote.crawl import work
from weboid.remote.crawl.work import Work
from weboid.store.db.pool import Connection
from weboid.store.db.rows import HostKey, StoredUrl
from weboid.store.results.record import Checked
from weboid.store.schedule.lease import Held, count_due_buckets, find_free_day, is_due, lease_buckets, record_release
from weboid.store.urls.url import list_due_hosts

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


CONFIG = CrawlConfig(delay=0.0, lease_s=60)


class _RenewedMeanwhile(Work):
    """The store as it is; leases are renewed between the end of each and the moment at which that is known."""

    renewals = 0

    async def renew(self, held: Held) -> set[int]:
        ours = await super().renew(held)
        self.renewals += 1
        return ours

    async def release(self, held: Held) -> None:
        await super().release(held)
        before = self.renewals
        await until(lambda: self.renewals >= before + 2)


async def test_a_check_is_not_written_without_the_lease_of_its_bucket(database: str) -> None:
    async with open_wiki(database, {1: ["http://a.demo/"]}) as wiki:
        work = Work(wiki.pool, "test", CONFIG, DEFAULT)
        held = await work.lease(Moment(100))
        [host] = await work.list_hosts(held, until=Moment(100), but=[], limit=10)
        checks = postponed(host, (await work.list_urls([host.key], 100))[host.key], 100)
        earlier = {bucket: epoch - 1 for bucket, epoch in held.items()}
        for worker, wrong in (("test", {}), ("test", earlier), ("other", held)):
            tally = await Work(wiki.pool, worker, CONFIG, DEFAULT).record(checks, wrong)
            assert (tally.lost, tally.postponed) == (1, 0), (worker, wrong)
        tally = await work.record(checks, held)
        assert (tally.lost, tally.postponed) == (0, 1)


async def test_no_call_of_another_worker_next_to_the_database_reaches_a_lease(database: str) -> None:
    async with open_wiki(database, {1: ["http://a.demo/"]}) as wiki:
        work, other = (Work(wiki.pool, name, CONFIG, DEFAULT) for name in ("test", "other"))
        held, until = await work.lease(Moment(100)), Moment(100)
        [host] = await work.list_hosts(held, until=until, but=[], limit=10)
        assert await other.list_hosts(held, until=until, but=[], limit=10) == []
        assert await other.list_urls([host.key], 100) == {host.key: []}
        assert await other.renew(held) == set()
        await other.release(held)
        [url] = (await work.list_urls([host.key], 100))[host.key]
        assert (await other.record(postponed(host, [url], 100), held)).lost == 1
        assert await work.renew(held) == held.keys()


@pytest.mark.parametrize(("first", "checked"), [(FINE, 1), (LOST, 9)])
async def test_a_visit_yields_to_another_worker_unless_it_has_seen_a_failure(
    database: str, first: Observation, checked: int
) -> None:
    """The URLs of a host that fail are compared with its others: whether it refuses us is seen from all of them."""
    async with open_wiki(database, {1: [f"http://a.demo/{n}" for n in range(9)]}) as wiki:
        work, done = Work(wiki.pool, "test", CONFIG, DEFAULT), list[Checked]()
        [host] = await work.list_hosts(await work.lease(Moment(100)), until=Moment(100), but=[], limit=10)

        async def check(_: CheckRequest) -> Observation:
            return FINE if done else first

        async def report(one: Checked) -> None:
            done.append(one)

        visit = Visit(
            host,
            (await work.list_urls([host.key], 100))[host.key],
            check=check,
            second_opinion=None,
            report=report,
            now=lambda: Moment(100),
            policy=DEFAULT,
            stopping=lambda: False,
            leaving=lambda: bool(done),
        )
        await visit.run()
        assert len({each.url.key for each in done}) == checked


async def test_what_is_given_back_was_not_taken_over(database: str) -> None:
    async with open_wiki(database, {1: [f"http://h{host}.demo/" for host in range(5)]}) as wiki:
        lost: list[int] = []
        leases = Leases(_RenewedMeanwhile(wiki.pool, "test", CONFIG, DEFAULT), lease_s=0.06, lost=lost.append)
        assert await leases.add(Moment(100))
        keeping = asyncio.create_task(leases.keep())
        busy = next(iter(leases.held))
        await leases.release_all_but([busy])
        assert leases.held.keys() == {busy}
        await leases.release_all_but()
        assert (dict(leases.held), lost) == ({}, [])
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)


async def put_hosts(conn: Connection, days: dict[HostKey, int]) -> None:
    """Hosts by their keys, each with the day since when it has been due."""
    await conn.execute(b"DELETE FROM host")
    await conn.execute(
        b"INSERT INTO host (bucket, host_key, host, reversed, next_day)"
        b" SELECT bucket, host_key, 'h' || host_key || '.demo', 'demo.h' || host_key || '.', next_day"
        b" FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(day)s::smallint[])"
        b" AS given (bucket, host_key, next_day)",
        {
            "bucket": [each.bucket for each in days],
            "host_key": [each.host_key for each in days],
            "day": list(days.values()),
        },
    )


@pytest.mark.parametrize("limit", [1, 7, 60, 500])
async def test_the_hosts_due_for_longest_are_read_first_however_they_are_spread(database: str, limit: int) -> None:
    chance = random.Random(limit)
    # Most lie in one bucket, and these are the oldest: no bucket's share may hide them.
    days = {HostKey(7, number): 50 + number % 3 for number in range(300)}
    days |= {HostKey(chance.randrange(20), number): 51 + chance.randrange(40) for number in range(300, 500)}
    async with open_wiki(database, {}) as wiki, wiki.pool.connection() as conn:
        await put_hosts(conn, days)
        read: list[HostKey] = []
        while len(read) < len(days):
            hosts = await list_due_hosts(conn, range(20), until=Moment(100), without=read, limit=limit)
            assert 0 < len(hosts) <= limit
            read += [host.key for host in hosts]
        assert [days[key] for key in read] == sorted(days.values())
        assert await list_due_hosts(conn, range(20), until=Moment(100), without=read, limit=limit) == []


async def test_hosts_due_since_the_same_day_come_in_random_order(database: str) -> None:
    days = {HostKey(number % 5, number): 90 for number in range(100)}
    async with open_wiki(database, {}) as wiki, wiki.pool.connection() as conn:
        await put_hosts(conn, days)
        orders = {
            tuple(host.key for host in await list_due_hosts(conn, range(5), until=Moment(100), without=[], limit=200))
            for _ in range(3)
        }
        assert len(orders) == 3
        assert {frozenset(order) for order in orders} == {frozenset(days)}


async def test_the_buckets_with_the_oldest_hosts_are_leased_first(database: str) -> None:
    days = {
        HostKey(bucket, 1000 * bucket + number): 60 + bucket + number for bucket in range(30) for number in range(3)
    }
    async with open_wiki(database, {}) as wiki, wiki.pool.connection() as conn:
        await put_hosts(conn, days)
        until = Moment(100)
        assert await find_free_day(conn, until, rest_s=0) == 60
        held = await lease_buckets(conn, "one", until=until, limit=10, lease_s=60, rest_s=0)
        assert set(held) == set(range(10))
        assert await find_free_day(conn, until, rest_s=0) == 70
        assert set(await lease_buckets(conn, "two", until=until, limit=5, lease_s=60, rest_s=0)) == set(range(10, 15))
        await record_release(conn, "one", held)
        assert await find_free_day(conn, Moment(59), rest_s=-1) is None


async def test_a_round_visits_old_hosts_of_all_buckets_first(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "_LEASED_AT_ONCE", 16)
    urls = [f"http://h{number}.demo/" for number in range(240)]
    since = {url: 60 + number % 6 * 5 for number, url in enumerate(urls)}
    order: list[int] = []

    async def timed(url: str) -> Observation:
        await asyncio.sleep(0.001)
        order.append(since[url])
        return FINE

    async with open_wiki(database, {}) as wiki:
        await _take_in(wiki, since)
        tally = await wiki.round(100, lambda url, day: timed(url))
    assert tally.written == len(urls)
    # What is open at the same time may end in any order, and the pause before a bucket is leased again is none here.
    at_once = 64
    assert all(day <= later for place, day in enumerate(order) for later in order[place + at_once :])


async def _take_in(wiki: WikiInStore, since: dict[str, int]) -> None:
    for page, day in enumerate(sorted(set(since.values())), start=1):
        await wiki.take_in({page: [url for url, first in since.items() if first == day]}, day)
    assert len({key(url).bucket for url in since}) > 200 or BUCKETS < 1000
