"""Expiry in a real store (U-8, C-6): what goes, what stays, and what holds it up."""

import asyncio
from collections.abc import Iterable
from typing import Any

import pytest
from support.intakes import release_pages
from support.killing import open_killer, twice
from support.observations import FINE, LOST
from support.stored import WikiInStore, do, key, open_wiki

from weboid.core.document.face import Answer, Face, Kind, Look, Role
from weboid.core.record.specials import Special
from weboid.core.url.keys import UrlKey
from weboid.core.url.urls import parse
from weboid.maintain.expiry import Expiry, expire, planned
from weboid.store.db.pool import Connection, open_pool
from weboid.store.db.rows import HostKey
from weboid.store.pages.page import PageChanges, record_intake
from weboid.store.pages.page_pass import record_end, record_start
from weboid.store.schedule.turn import WantedSlot, lease_slots
from weboid.store.upkeep.alarm import AlarmKind, list_alarms
from weboid.store.upkeep.expiry import Expired, Orphans, expire_urls
from weboid.store.urls.host_traits import HostSpecial, record_faces, record_specials

GONE, STAYS, NEIGHBOUR = "https://gone.demo/a", "https://stays.demo/a", "https://stays.demo/b"
IN_STORE = {1: [GONE], 2: [STAYS]}
MANY = [f"https://many{number}.demo/" for number in range(60)]
ROWS = {"url": 3, "change": 3, "host": 2, "special": 2, "face": 2, "slot": 2}
"""Tables, with how much of a URL's key they have."""


async def pass_over(stored: WikiInStore, day: int) -> None:
    """A whole pass on one day, as far as expiry looks at it."""
    number = stored.wiki.wiki
    async with stored.pool.connection() as conn:
        await record_start(conn, number, "", day)
        await record_end(conn, number, day, day)


async def run(stored: WikiInStore, day: int, *, allow_many: bool = True, batch: int = 1_000) -> Expiry:
    plan = await stored.do(planned, day)
    return await expire(stored.pool, plan, day, allow_many=allow_many, batch=batch, again=twice)


def face_of(day: int) -> Face:
    return Face((Answer(1, Role.NEAR, day, Look(Kind.HONEST)),))


async def left(stored: WikiInStore, *urls: str) -> list[set[str]]:
    """The tables that still know of each URL or of its host."""
    rows = {
        table: set(await stored.rows(f"SELECT {', '.join(UrlKey._fields[:width])} FROM {table}"))  # noqa: S608 (our own)
        for table, width in ROWS.items()
    }
    return [{table for table, width in ROWS.items() if key(url)[:width] in rows[table]} for url in urls]


async def depend(stored: WikiInStore, urls: Iterable[str], day: int) -> None:
    """All that may depend on URLs and their hosts."""
    keys = [key(url) for url in urls]
    hosts = sorted({HostKey(*each[:2]) for each in keys})
    async with stored.pool.connection() as conn:
        await record_specials(conn, {HostSpecial(host, Special.NEEDS_GET): day for host in hosts})
        await record_faces(conn, dict.fromkeys(hosts, face_of(day)))
        await lease_slots(conn, dict.fromkeys(hosts, WantedSlot(0.0, 1)))


async def test_a_url_without_use_goes_after_a_hundred_days_with_all_that_depends_on_it(database: str) -> None:
    async with open_wiki(database, {1: [GONE, NEIGHBOUR], 2: [STAYS]}) as stored:
        await stored.round(100, lambda url, day: FINE if url == STAYS else LOST)
        for day in (103, 107, 110, 114, 115, 116):
            await stored.round(day, lambda url, day: LOST)
        assert len(await stored.dead()) == 2
        await depend(stored, [GONE, STAYS, NEIGHBOUR], 190)
        await stored.take_in({1: []}, 130, latest=2)
        await pass_over(stored, 229)
        assert await run(stored, 229) == Expiry()
        assert await left(stored, GONE) == [set(ROWS)]
        await pass_over(stored, 230)
        assert await run(stored, 230) == Expiry(urls=2, hosts=1)
        assert await left(stored, GONE, NEIGHBOUR, STAYS) == [set(), {"host", "special", "face", "slot"}, set(ROWS)]
        assert await stored.dead() == set()
        assert len(await stored.rows("SELECT FROM url")) == 1


async def test_only_the_wiki_that_had_the_last_use_holds_a_url_until_its_pass(stored: WikiInStore) -> None:
    closed = await stored.another("closedwiki")
    await closed.take_in({1: [NEIGHBOUR, GONE]}, 100)
    await closed.take_in({1: []}, 100, latest=2)
    await stored.take_in({1: []}, 101, latest=2)
    plan = await stored.do(planned, 300)
    assert plan.holding == (
        Orphans(stored.wiki.wiki, "testwiki@wmflabs", None, 1, 0),
        Orphans(closed.wiki.wiki, "closedwiki@wmflabs", None, 1, 0),
    )
    for day, expected in [(101, Expiry()), (102, Expiry(urls=1, hosts=1))]:
        await pass_over(stored, day)
        assert await run(stored, 300) == expected
    # Where it is not known which wiki it was, the pass of any will do; a forgotten one holds nothing.
    await stored.execute("UPDATE url SET orphaned_by = NULL, orphaned = 102 WHERE orphaned IS NOT NULL")
    assert await run(stored, 300) == Expiry()
    await stored.execute("UPDATE url SET orphaned_by = 999 WHERE orphaned IS NOT NULL")
    assert await run(stored, 201) == Expiry()
    assert await run(stored, 202) == Expiry(urls=1)


@pytest.mark.parametrize(("gone", "others", "stopped"), [(101, 9_000, True), (101, 9_999, False), (100, 1, False)])
async def test_of_a_wiki_over_one_percent_and_a_hundred_urls_stop_before_they_are_deleted_unless_that_is_allowed(
    database: str, gone: int, others: int, stopped: bool
) -> None:
    passing = [f"{GONE}/{number}" for number in range(gone)]
    staying = [f"{STAYS}/{number}" for number in range(others)]
    async with open_wiki(database, {1: passing, 2: staying, 3: staying[:200]}) as stored:
        small = await stored.another("smallwiki")
        await small.take_in({1: [NEIGHBOUR]}, 100)
        for wiki in (stored, small):
            await wiki.take_in({1: []}, 100, latest=2)
            await pass_over(wiki, 200)
        assert (await run(stored, 200, allow_many=False)).urls == (1 if stopped else gone + 1)
        async with stored.pool.connection() as conn:
            assert [(alarm.kind, alarm.subject, alarm.since) for alarm in await list_alarms(conn)] == (
                [(AlarmKind.EXPIRY_STOPPED, "testwiki@wmflabs", 200)] if stopped else []
            )
        assert (await run(stored, 200)).urls == stopped * gone
        assert await stored.do(list_alarms) == []


async def test_a_url_used_again_stays_with_its_memory_and_what_is_in_use_is_no_orphan(stored: WikiInStore) -> None:
    await stored.round(100, lambda url, day: LOST)
    await stored.take_in({1: []}, 101, latest=2)
    await stored.take_in({2: [STAYS, GONE]}, 190, latest=2)
    await pass_over(stored, 300)
    assert await run(stored, 300) == Expiry()
    assert (await stored.known(GONE)).record.checked == 100
    await stored.execute("UPDATE url SET orphaned = 300")
    assert await run(stored, 301) == Expiry(used=2)
    assert (await stored.known(GONE)).orphaned is None


async def test_a_use_that_comes_back_at_the_same_moment_saves_the_url(stored: WikiInStore) -> None:
    await stored.round(100, lambda url, day: LOST)
    await stored.take_in({1: []}, 101, latest=2)
    await pass_over(stored, 300)
    async with stored.pool.connection() as conn:
        expiring = expire_after_first_statement(conn, stored)
        await record_intake(conn, {stored.wiki.wiki: PageChanges(added={2: ({key(GONE): parse(GONE)}, {})})}, 300)
    assert await (await expiring) == Expiry()
    assert (await stored.known(GONE)).record.checked == 100
    assert (await stored.known(GONE)).orphaned is None


def expire_after_first_statement(conn: Connection, stored: WikiInStore) -> "asyncio.Future[asyncio.Task[Expiry]]":
    """Between the first two statements on URLs of the connection, expiry begins and comes as far as it can."""
    begun: asyncio.Future[asyncio.Task[Expiry]] = asyncio.get_running_loop().create_future()
    execute = conn.execute

    async def slow(*args: Any, **kwargs: Any) -> Any:
        answer = await execute(*args, **kwargs)
        if not begun.done() and args[0].startswith(("UPDATE url", "INSERT INTO url")):
            expiring = asyncio.create_task(run(stored, 300))
            begun.set_result(expiring)
            await stored.until_locked_out()
        return answer

    conn.execute = slow  # type: ignore[method-assign]
    return begun


async def test_a_use_that_comes_while_a_url_is_being_deleted_brings_it_in_anew(stored: WikiInStore) -> None:
    await stored.round(100, lambda url, day: LOST)
    await stored.take_in({1: []}, 101, latest=2)
    async with stored.pool.connection() as conn:
        assert await expire_urls(conn, [key(GONE)], 200) == Expired(urls=1, hosts=1)
        coming = asyncio.create_task(stored.take_in({1: [GONE]}, 300, latest=3))
        await stored.until_locked_out()
    assert (await coming).urls_new == 1
    known = await stored.known(GONE)
    assert (known.record.checked, known.orphaned, known.due) == (None, None, 300)
    # Its host counts as due since the day before, so that no hour of this day is waited for.
    assert await stored.rows("SELECT next_day FROM host") == [(103,), (299,)]


async def test_two_intakes_at_once_do_not_make_an_orphan_of_what_is_in_use(stored: WikiInStore) -> None:
    # One removes the last use that it could see, while the other one has added a use that is not yet to be seen.
    async with stored.pool.connection() as conn:
        await record_intake(conn, {stored.wiki.wiki: PageChanges(added={2: ({key(GONE): parse(GONE)}, {})})}, 300)
        releasing = asyncio.create_task(stored.do(release_pages, stored.wiki.wiki, [1], 300))
        await stored.until_locked_out()
    await releasing
    assert (await stored.known(GONE)).orphaned is None


async def test_faces_go_when_nobody_believes_them_any_more(database: str) -> None:
    async with open_wiki(database, {1: [GONE, STAYS]}) as stored:
        await stored.do(record_faces, {HostKey(*key(GONE)[:2]): face_of(100), HostKey(*key(STAYS)[:2]): face_of(120)})
        for day, left in ((156, 2), (157, 1), (176, 1), (177, 0)):
            await run(stored, day, batch=1)
            assert len(await stored.rows("SELECT learned FROM face")) == left


async def test_specials_go_when_they_were_last_seen_over_a_hundred_days_ago(database: str) -> None:
    host = HostKey(*key(STAYS)[:2])
    async with open_wiki(database, {1: [STAYS]}) as stored:
        await stored.do(record_specials, {HostSpecial(host, kind): 100 for kind in Special})
        for day, kinds in [(200, list(Special)), (201, [Special.NEEDS_GET]), (300, [Special.NEEDS_GET]), (301, [])]:
            await run(stored, day)
            assert await stored.rows("SELECT kind FROM special") == [(kind.value,) for kind in kinds]


async def expire_all(dsn: str) -> None:
    async with open_pool(dsn, size=1, part="test") as pool:
        await expire(pool, await do(pool, planned, 300), 300, allow_many=True, batch=5)


async def test_a_run_killed_at_any_statement_leaves_nothing_half_deleted(database: str) -> None:
    async with open_wiki(database, {1: MANY[:40], 2: MANY[40:]}) as stored:
        await stored.round(99, lambda url, day: LOST)
        await stored.round(100, lambda url, day: FINE, per_host=1)
        await depend(stored, MANY, 300)
        await stored.take_in({1: []}, 100, latest=2)
        await pass_over(stored, 300)
        (whole,) = await left(stored, MANY[0])
        known = 60
        async with open_killer(expire_all, database) as is_done_before:
            for statement in (8, 14, 16, 17, 20, 40):
                assert not await is_done_before(statement)
                found = await left(stored, *MANY)
                assert all(tables in (set(), whole) for tables in found)
                assert found[40:] == [whole] * 20
                known = sum(tables == whole for tables in found)
        assert 20 < known < 60
        await expire_all(database)
        assert list(map(bool, await left(stored, *MANY))) == [False] * 40 + [True] * 20
