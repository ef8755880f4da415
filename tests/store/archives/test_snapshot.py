import pytest
from support.stored import WikiInStore, key, open_wiki

from weboid.core.archive.outcomes import LookupOutcome
from weboid.core.url.keys import UrlKey
from weboid.store.archives.changing_page import (
    ChangingPage,
    list_changing,
    list_newest_changing,
    record_changing,
    record_lifted,
)
from weboid.store.archives.lookup import StoredLookup, list_lookups, record_lookups
from weboid.store.archives.snapshot import (
    SQL,
    Origin,
    StoredSnapshot,
    count_snapshots,
    delete_snapshot,
    lease_snapshots,
    list_samples,
    list_snapshots,
    record_snapshots,
    record_visit,
)
from weboid.store.archives.with_url import delete_copies

A, B = "http://a.demo/1", "http://b.demo/2"
URLS = [A, B, *(f"http://many.demo/{number}" for number in range(40))]
NOWHERE = UrlKey(1, 2, 3)
STAMP = 20160102030405
IN_STORE = {1: URLS}


def snapshot(url: str, archive: int = 1, due: int = 150, stamp: int = STAMP) -> StoredSnapshot:
    return StoredSnapshot(key(url), archive, stamp, Origin.CHOSEN, due, 59, 0, 40, 2)


async def of(stored: WikiInStore, url: str) -> tuple[StoredSnapshot, ...]:
    return (await stored.do(list_snapshots, [key(url), NOWHERE])).get(key(url), ())


async def test_there_is_one_snapshot_at_each_archive_and_none_of_what_is_not_watched(stored: WikiInStore) -> None:
    perma = StoredSnapshot(key(A), 28, STAMP, Origin.CHOSEN, 150, address="https://perma.cc/AAAA-BBBB")
    stray = StoredSnapshot(NOWHERE, 1, STAMP, Origin.CHOSEN, 150)
    async with stored.pool.connection() as conn:
        assert await record_snapshots(conn, [perma, snapshot(B), snapshot(A), stray]) == 3
        assert await record_snapshots(conn, [snapshot(A, due=10), snapshot(A, due=99, stamp=STAMP + 1)]) == 1
        assert await record_snapshots(conn, []) == 0
    assert await of(stored, A) == (snapshot(A, due=99, stamp=STAMP + 1), perma)
    assert await of(stored, B) == (snapshot(B),)


async def test_a_visit_changes_only_the_copy_that_was_visited(stored: WikiInStore) -> None:
    old, new = snapshot(A), snapshot(A, stamp=STAMP + 100)
    async with stored.pool.connection() as conn:
        await record_snapshots(conn, [new])
        assert not await record_visit(conn, old, asked=150, due=241, strikes=0)
        assert not await delete_snapshot(conn, old)
        assert await record_visit(conn, new, asked=150, due=157, strikes=1)
        assert await record_visit(conn, new, asked=157, due=248, strikes=0, stamp=STAMP + 101)
    (moved,) = await of(stored, A)
    assert (moved.stamp, moved.asked, moved.due, moved.strikes, moved.wanted) == (STAMP + 101, 157, 248, 0, 40)
    assert await stored.do(delete_snapshot, moved)
    assert await of(stored, A) == ()


async def test_due_snapshots_are_leased_by_archive_oldest_first_by_one_worker(stored: WikiInStore) -> None:
    many = [snapshot(url, due=100 + number) for number, url in enumerate(URLS[2:])]
    await stored.do(record_snapshots, [*many, snapshot(A, 6, 90), snapshot(B, 9, 80)])
    async with stored.pool.connection() as conn, stored.pool.connection() as other:
        first = await lease_snapshots(conn, 120, [1, 6], limit=5)
        second = await lease_snapshots(other, 120, [1, 6], limit=50)
    assert {str(url) for _, url in first} == {A, *URLS[2:7]}
    assert {str(url) for _, url in second} == set(URLS[7:23])
    assert {each.due for each, _ in first} == {121}
    async with stored.pool.connection() as conn:
        assert await lease_snapshots(conn, 120, [1, 6], limit=50) == []
        assert len(await lease_snapshots(conn, 121, [1, 6], limit=50)) == 23


async def test_samples_are_snapshots_that_played_and_counts_are_by_archive(database: str) -> None:
    async with open_wiki(database, {1: URLS}) as stored, stored.pool.connection() as conn:
        rows = [snapshot(url, due=100 + 4 * number) for number, url in enumerate(URLS)]
        await record_snapshots(conn, [*rows, snapshot(A, 6)])
        await record_visit(conn, rows[0], asked=None, due=100, strikes=0)
        await record_visit(conn, rows[1], asked=99, due=104, strikes=2)
        for _ in range(20):
            found = await list_samples(conn, 1, 100, limit=8)
            assert len(found) == 8
            assert {str(url) for _, url in found} <= set(URLS[2:])
        assert await list_samples(conn, 9, 100, limit=8) == []
        assert await count_snapshots(conn) == {1: 42, 6: 1}


async def test_a_lease_among_many_snapshots_goes_by_index(stored: WikiInStore) -> None:
    async with stored.pool.connection() as conn:
        await conn.execute(
            b"INSERT INTO snapshot (bucket, host_key, url_key, archive, stamp, origin, due) "
            b"SELECT n % 4096, n, n, 1 + n % 2, 20160102030405, 0, 100 + n % 90 FROM generate_series(1, 50000) AS n"
        )
        await conn.execute(b"ANALYZE snapshot")
        row = {"archives": [1, 2], "day": 150, "until": 151, "limit": 20}
        explained = await conn.execute(f"EXPLAIN {SQL['lease_snapshots']}".encode(), row)
        plan = "\n".join([line[0] async for line in explained])
        assert sum((await count_snapshots(conn)).values()) == pytest.approx(50_000, rel=0.1)
    assert "using snapshot_due" in plan
    assert "using snapshot_pkey" in plan
    assert "Seq Scan" not in plan


async def test_a_look_up_is_replaced_by_the_next_one_and_goes_with_its_url(stored: WikiInStore) -> None:
    first = StoredLookup(key(A), 1, LookupOutcome.ERROR, 100, 101, 1)
    second = StoredLookup(key(A), 1, LookupOutcome.UNSUITABLE, 101, 191, 0, '[{"stamp": 20160102030405}]')
    other = StoredLookup(key(A), 6, LookupOutcome.NONE, 101, 191)
    async with stored.pool.connection() as conn:
        stray = StoredLookup(NOWHERE, 1, LookupOutcome.NONE, 1, 2)
        assert await record_lookups(conn, [first, stray]) == 1
        assert await record_lookups(conn, [other, second]) == 2
        assert await list_lookups(conn, [key(A), key(B)]) == {key(A): (second, other)}
        assert await list_lookups(conn, []) == {}
        await delete_copies(conn, [key(A)])
        assert await list_lookups(conn, [key(A)]) == {}


async def test_what_an_administrator_has_lifted_stays_lifted(database: str) -> None:
    async with open_wiki(database, {1: URLS}) as stored, stored.pool.connection() as conn:
        assert await record_changing(conn, [key(A), key(B), NOWHERE], 100) == 2
        assert await record_lifted(conn, key(A), is_lifted=True, subject="7", name="Ann")
        assert not await record_lifted(conn, key(A), is_lifted=True, subject="8", name="Ben")
        assert not await record_lifted(conn, key(URLS[9]), is_lifted=True, subject="7", name="Ann")
        assert await record_changing(conn, [key(A)], 120) == 0
        lifted = ChangingPage(key(A), 100, True, "7", "Ann")
        assert await list_changing(conn, [key(A), NOWHERE]) == {key(A): lifted}
        assert {str(url) for _, url in await list_newest_changing(conn)} == {A, B}
        assert await record_lifted(conn, key(A), is_lifted=False, subject="7", name="Ann")
