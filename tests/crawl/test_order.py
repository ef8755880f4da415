"""The order in which due hosts are visited (C-3): oldest first, at random only among those due since the same day."""

import asyncio
import random

import pytest
from support.observations import FINE
from support.stored import WikiInStore, key, open_wiki

from weboid.core.observe.observation import Observation
from weboid.core.record.moment import Moment
from weboid.core.url.keys import BUCKETS
from weboid.remote.crawl import work
from weboid.store.db.pool import Connection
from weboid.store.db.rows import HostKey
from weboid.store.schedule.lease import find_free_day, lease_buckets, record_release
from weboid.store.urls.url import list_due_hosts


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
