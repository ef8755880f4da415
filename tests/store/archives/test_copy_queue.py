"""The queue of look-ups: it follows the log and misses nothing, serves the newest first, and survives its workers."""

import asyncio
import random

import pytest
from support.stored import WikiInStore, key, open_wiki

from weboid.core.record.reasons import Reason
from weboid.core.url.keys import UrlKey
from weboid.core.verdict.verdict import Change, Verdict
from weboid.errors import StoreError
from weboid.store.archives.copy_queue import (
    SQL,
    QueueLength,
    Rank,
    WantedCopy,
    count_queue,
    follow_changes,
    lease_wanted,
    record_done,
    record_due_again,
    record_released,
    record_wanted,
)
from weboid.store.db.pool import Connection
from weboid.store.urls.check import find_settled, record_changes

URLS = [f"http://host{number}.demo/a" for number in range(12)]
A, B, C, D = URLS[:4]
COPY = f"https://web.archive.org/web/20160102030405/{A}"
IN_STORE = {1: URLS}


async def log(conn: Connection, url: str, after: Verdict, day: int = 100, before: Verdict = Verdict.WORKING) -> None:
    await record_changes(conn, [Change(key(url), day, before, after, Reason.NOT_FOUND, day)])


async def logged(stored: WikiInStore, *changes: tuple[str, Verdict, int]) -> None:
    async with stored.pool.connection() as conn:
        for url, after, day in changes:
            await log(conn, url, after, day)


async def follow(stored: WikiInStore, limit: int = 5_000) -> int:
    return await stored.do(follow_changes, limit=limit)


async def leased(stored: WikiInStore, limit: int = 99, *, day: int = 200, lease_s: float = 60) -> list[WantedCopy]:
    return await stored.do(lease_wanted, day, limit=limit, lease_s=lease_s)


async def queued(stored: WikiInStore) -> set[object]:
    rows = await stored.rows("SELECT bucket, host_key, url_key FROM copy_queue")
    return {url for url in URLS if key(url) in rows}


async def test_dead_comes_first_then_doubtful_and_of_each_the_newest(database: str) -> None:
    async with open_wiki(database, {1: [*URLS, COPY]}) as stored:
        await logged(
            stored,
            (D, Verdict.DOUBTFUL, 140),
            (A, Verdict.DEAD, 100),
            (B, Verdict.DEAD, 120),
            (C, Verdict.DOUBTFUL, 150),
        )
        assert await follow(stored) == 4
        assert await follow(stored) == 0
        found = await leased(stored)
        assert [(str(each.url), each.rank, each.day) for each in found] == [
            (B, Rank.DEAD, 120),
            (A, Rank.DEAD, 100),
            (C, Rank.DOUBTFUL, 150),
            (D, Rank.DOUBTFUL, 140),
        ]
        assert [[str(url) for _, url in each.cited] for each in found] == [[], [COPY], [], []]
        assert found[0].key == key(B)
        assert (found[0].last_alive, found[0].first_checked, found[0].finding.verdict) == (None, None, Verdict.UNKNOWN)


async def test_what_works_again_leaves_the_queue_and_what_dies_then_comes_again(stored: WikiInStore) -> None:
    await logged(stored, (A, Verdict.DEAD, 100), (B, Verdict.DEAD, 100), (A, Verdict.WORKING, 103))
    await follow(stored, limit=2)
    # Its newest change counts, whichever was read.
    assert await queued(stored) == {B}
    await follow(stored)
    assert await queued(stored) == {B}
    await logged(stored, (A, Verdict.DEAD, 110), (B, Verdict.UNKNOWN, 111))
    await follow(stored)
    assert await queued(stored) == {A}
    await logged(stored, *((url, Verdict.DEAD, 120 + number) for number, url in enumerate(URLS)))
    counts = []
    while count := await follow(stored, limit=5):
        counts.append(count)
    assert counts == [5, 5, 2], "the whole log is followed in bounded batches"
    assert await queued(stored) == set(URLS)


async def test_a_change_that_was_rolled_back_holds_nobody_up(stored: WikiInStore) -> None:
    async with stored.pool.connection() as rolled_back:
        await log(rolled_back, C, Verdict.DEAD)
        await rolled_back.rollback()
    await logged(stored, (D, Verdict.DEAD, 100))
    assert await follow(stored) == 1
    assert await queued(stored) == {D}


async def test_a_writer_that_does_not_end_stops_following_and_nothing_is_passed_over(
    stored: WikiInStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def impatient(conn: Connection) -> int:
        return await find_settled(conn, patience_s=0.05)

    monkeypatch.setattr("weboid.store.archives.copy_queue.find_settled", impatient)
    async with stored.pool.connection() as writing:
        await log(writing, A, Verdict.DEAD)
        await logged(stored, (B, Verdict.DEAD, 100))
        with pytest.raises(StoreError, match="unusually long"):
            await follow(stored)
        assert await queued(stored) == set()
    assert await follow(stored) == 2


async def test_followers_and_writers_at_once_lose_no_change(stored: WikiInStore) -> None:
    chance = random.Random(seed := random.randrange(10**6))
    print(f"seed {seed}")
    last = dict.fromkeys(URLS, Verdict.UNKNOWN)

    async def write(urls: list[str]) -> None:
        for number in range(15):
            url = chance.choice(urls)
            after = chance.choice([Verdict.DEAD, Verdict.DOUBTFUL, Verdict.WORKING])
            async with stored.pool.connection() as conn:
                await log(conn, url, after, 100 + number)
                await asyncio.sleep(chance.random() / 200)
            last[url] = after

    done = asyncio.Event()

    async def go_on() -> None:
        while not done.is_set():
            await follow(stored, limit=3)

    async with asyncio.TaskGroup() as followers:
        followers.create_task(go_on())
        followers.create_task(go_on())
        async with asyncio.TaskGroup() as writers:
            writers.create_task(write(URLS[:6]))
            writers.create_task(write(URLS[6:]))
        done.set()
    while await follow(stored):
        pass
    assert await queued(stored) == {url for url, verdict in last.items() if verdict.value in (2, 3)}


async def test_two_workers_take_different_urls_and_what_a_crashed_one_took_comes_again(stored: WikiInStore) -> None:
    await logged(stored, *((url, Verdict.DEAD, 100) for url in URLS[:4]))
    await follow(stored)
    async with stored.pool.connection() as conn, stored.pool.connection() as other:
        first = await lease_wanted(conn, 200, limit=3, lease_s=60)
        second = await lease_wanted(other, 200, limit=3, lease_s=0)
    assert (len(first), len(second)) == (3, 1)
    assert {each.key for each in (*first, *second)} == {key(url) for url in URLS[:4]}
    # The lease of the second is over: its worker may have crashed. Those of the first are given back, or done.
    assert [each.key for each in await leased(stored)] == [second[0].key]
    keys = [each.key for each in first]
    async with stored.pool.connection() as conn:
        await record_released(conn, keys[:1])
        await record_done(conn, {keys[1]: 210, keys[2]: 290, key(URLS[9]): 210})
    assert [each.key for each in await leased(stored)] == [keys[0]]
    async with stored.pool.connection() as conn:
        assert await count_queue(conn) == {
            Rank.DEAD: QueueLength(2, False, 100),
            Rank.DOUBTFUL: QueueLength(0, False, None),
            Rank.AGAIN: QueueLength(0, False, None),
        }
        assert (await count_queue(conn, limit=1))[Rank.DEAD] == QueueLength(1, True, 100)
        assert await record_due_again(conn, 209) == 0
        assert await record_due_again(conn, 210) == 1
    (again,) = await leased(stored)
    assert (again.key, again.rank, again.day) == (keys[1], Rank.AGAIN, 210)


async def test_a_change_keeps_what_was_looked_up_and_moves_what_waits(stored: WikiInStore) -> None:
    await logged(stored, (A, Verdict.DOUBTFUL, 100), (B, Verdict.DOUBTFUL, 100))
    await follow(stored)
    await stored.do(record_done, {key(A): 190})
    await logged(stored, (A, Verdict.DEAD, 130), (B, Verdict.DEAD, 130))
    await follow(stored)
    assert [(each.key, each.rank, each.day) for each in await leased(stored)] == [(key(B), Rank.DEAD, 130)]
    assert await stored.do(record_wanted, [key(A), key(C), UrlKey(1, 2, 3)], 140) == 1, "only what is dead or doubtful"
    assert [(each.key, each.day) for each in await leased(stored)] == [(key(A), 140)]


async def test_urls_that_no_page_uses_are_put_off(database: str) -> None:
    async with open_wiki(database, {1: URLS, 2: [B]}) as stored:
        await logged(stored, (A, Verdict.DEAD, 100), (B, Verdict.DEAD, 100))
        await follow(stored)
        await stored.take_in({1: []}, 120, latest=2)
        assert [each.key for each in await leased(stored, day=200)] == [key(B)]
        async with stored.pool.connection() as conn:
            assert await record_due_again(conn, 227) == 0
            assert await record_due_again(conn, 228) == 1


async def test_a_lease_from_a_long_queue_goes_by_index_and_reads_no_more_than_it_takes(stored: WikiInStore) -> None:
    async with stored.pool.connection() as conn:
        await conn.execute(
            b"INSERT INTO copy_queue (bucket, host_key, url_key, rank, day, due) "
            b"SELECT n % 4096, n, n, n % 3, 100 + n % 90, 100 FROM generate_series(1, 50000) AS n"
        )
        await conn.execute(b"ANALYZE copy_queue")
    row = {"limit": 50, "lease_s": 60.0}
    async with stored.pool.connection() as conn:
        explained = await conn.execute(f"EXPLAIN (ANALYZE) {SQL['lease_wanted']}".encode(), row)
        plan = "\n".join([line[0] async for line in explained])
    assert "Index Scan using copy_queue_next" in plan
    assert "Seq Scan" not in plan
    assert "Sort" not in plan
