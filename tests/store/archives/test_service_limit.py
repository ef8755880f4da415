"""Limits of services: one place after another for all workers, rests that hold for everybody, and what ends them."""

import asyncio
from itertools import pairwise

from support.stored import WikiInStore

from weboid.store.archives.service_limit import (
    SQL,
    RequestKind,
    RequestPlace,
    lease_request,
    list_services,
    record_answered,
    record_rest,
)

WAYBACK, ARQUIVO = 1, 6
INDEX, REPLAY = RequestKind.INDEX, RequestKind.REPLAY


async def taken(
    stored: WikiInStore, gap_s: float = 100, *, archive: int = WAYBACK, kind: RequestKind = INDEX, day: int = 100
) -> RequestPlace:
    async with stored.pool.reading() as conn:
        return await lease_request(conn, archive, kind, gap_s, day)


async def test_places_are_apart_by_service_and_kind(stored: WikiInStore) -> None:
    assert (await taken(stored)).wait_s == 0
    wait_s, rest_s = await taken(stored)
    assert 50 < wait_s <= 100
    assert rest_s == 0
    assert (await taken(stored, kind=REPLAY)).wait_s == 0
    assert (await taken(stored, archive=ARQUIVO)).wait_s == 0
    async with stored.pool.connection() as conn:
        assert [(each.archive, each.kind, each.requests) for each in await list_services(conn)] == [
            (WAYBACK, INDEX, 1),
            (WAYBACK, REPLAY, 1),
            (ARQUIVO, INDEX, 1),
        ]
    # Without a limit they are counted by day all the same.
    assert [(await taken(stored, 0, archive=ARQUIVO, kind=REPLAY)).wait_s for _ in range(5)] == [0.0] * 5
    assert (await taken(stored, 0, archive=ARQUIVO, kind=REPLAY, day=101)).wait_s == 0
    state = (await stored.do(list_services))[-1]
    assert (state.kind, state.day, state.requests, state.resting_s, state.why) == (REPLAY, 101, 1, 0, "")


async def test_of_many_workers_at_once_one_gets_the_place(stored: WikiInStore) -> None:
    for _ in range(3):
        places = await asyncio.gather(*(taken(stored) for _ in range(12)))
        assert sum(place.wait_s == 0 for place in places) <= 1
    (state,) = await stored.do(list_services)
    assert state.requests == 1


async def test_a_gap_is_kept_across_workers_by_the_clock_of_the_database(stored: WikiInStore) -> None:
    sent: list[float] = []

    async def work() -> None:
        for _ in range(4):
            while (place := await taken(stored, 0.05)).wait_s:
                await asyncio.sleep(place.wait_s)
            async with stored.pool.reading() as conn:
                row = await (
                    await conn.execute(b"SELECT extract(epoch FROM free)::float8 FROM archive_service")
                ).fetchone()
            assert row
            sent.append(row[0])

    await asyncio.gather(work(), work())
    places = sorted(set(sent))
    assert len(sent) == 8
    assert all(later - earlier >= 0.0499 for earlier, later in pairwise(places))


async def test_a_rest_holds_for_all_kinds_and_workers_and_a_longer_one_stays(stored: WikiInStore) -> None:
    await taken(stored, 0)
    async with stored.pool.connection() as conn:
        await record_rest(conn, WAYBACK, 600, "rate-limited")
        await record_rest(conn, WAYBACK, 60.5, "refused")
    for kind in RequestKind:
        place = await taken(stored, 0, kind=kind)
        assert 500 < place.wait_s <= 600
        # By it the next rest grows, not by the shorter one of a reply that was on its way.
        assert place.rest_s == 600
    assert (await taken(stored, 0, archive=ARQUIVO)).wait_s == 0
    async with stored.pool.connection() as conn:
        states = [each for each in await list_services(conn) if each.archive == WAYBACK]
    assert [each.kind for each in states] == list(RequestKind)
    assert all(500 < each.resting_s <= 600 and each.why == "rate-limited" for each in states)


async def test_only_a_request_that_was_sent_after_the_rest_makes_the_next_one_short_again(stored: WikiInStore) -> None:
    async with stored.pool.connection() as conn:
        await record_rest(conn, WAYBACK, 0.2, "refused")
        # Sent before the rest, answered during it, and after it.
        await record_answered(conn, WAYBACK, took_s=0.1)
    await asyncio.sleep(0.3)
    await stored.do(record_answered, WAYBACK, took_s=30)
    assert await taken(stored, 0) == RequestPlace(0.0, 1)
    await stored.do(record_answered, WAYBACK, took_s=0)
    assert await taken(stored, 0) == RequestPlace(0.0, 0)
    async with stored.pool.connection() as conn:
        assert {each.why for each in await list_services(conn)} == {""}


def test_no_moment_that_may_be_infinite_is_subtracted() -> None:
    # PostgreSQL 17 has infinite intervals; before, every reader of limits failed once a service had been asked.
    lines = [line for text in SQL.values() for line in str(text).splitlines() if "- clock_timestamp()" in line]
    assert len(lines) == 2
    assert all("'epoch')" in line for line in lines)
