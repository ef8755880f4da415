"""What contradicts itself in a store: each invariant is broken by hand, found, repaired, and silent afterwards."""

import asyncio
import random
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.commands import Place
from support.database_copy import copy_of
from support.databases import set_read_only
from support.observations import FINE, LOST, SILENT
from support.records import random_host_record, random_record
from support.store_reads import list_changes
from support.stored import WikiInStore, key, open_wiki

from weboid.assets import toml_next_to
from weboid.core.observe.observation import Observation
from weboid.core.record.policy import DEFAULT, Policy
from weboid.core.verdict.verdict import Verdict, finding_of
from weboid.maintain.consistency import WHOLE, Consistency, check_store, record_outcome, watch_store
from weboid.mechanism.loop_lag import LoopLag
from weboid.store.archives.copy_queue import follow_changes
from weboid.store.lists.health import find_status
from weboid.store.upkeep.alarm import AlarmKind
from weboid.store.upkeep.invariant import Share
from weboid.store.urls.check import CheckedUrl, record_checks, record_hosts
from weboid.store.urls.lock import hosts_of
from weboid.store.urls.url import find_urls
from weboid.web.health.metrics import Metrics

LIVES, DEAD, DOWN, NEIGHBOUR = (
    "https://lives.demo/",
    "https://lives.demo/dead",
    "https://down.demo/",
    "https://lives.demo/b",
)
DAYS = range(100, 100 + DEFAULT.dead_span + 2, 3)
PAGES = {1: [LIVES, DEAD, DOWN], 2: [DEAD, NEIGHBOUR], 3: [f"https://other{number}.demo/" for number in range(12)]}


COPY = "https://web.archive.org/web/20160102030405/http://lives.demo/"
ARCHIVE = "https://web.archive.org/about"


def answers(url: str, day: int) -> Observation:
    return LOST if url == DEAD else SILENT if "down" in url else FINE


def where(url: str) -> str:
    bucket, host_key, url_key = key(url)
    return f"WHERE bucket = {bucket} AND host_key = {host_key} AND url_key = {url_key}"


def of_host(url: str) -> str:
    bucket, host_key, _ = key(url)
    return f"WHERE bucket = {bucket} AND host_key = {host_key}"


PLACES = {
    "LIVES": where(LIVES),
    "DEAD": where(DEAD),
    "DOWN": where(DOWN),
    "NEIGHBOUR": where(NEIGHBOUR),
    "OTHER": where(PAGES[3][4]),
    "COPY": where(COPY),
    "ARCHIVE": where(ARCHIVE),
    "HOST": of_host(LIVES),
    "ANY_HOST": of_host(PAGES[3][0]),
}


async def broken(stored: WikiInStore, query: str) -> None:
    async with stored.pool.connection() as conn:
        assert (await conn.execute(query.format(**PLACES).encode())).rowcount == 1


async def looked(
    stored: WikiInStore, *, repairs: bool = False, batch: int = 1_000, share: Share = WHOLE
) -> Consistency:
    return await check_store(stored.pool, 137, repairs=repairs, batch=batch, share=share)


@pytest.fixture(scope="module")
def filled_once(module_database: str) -> str:
    async def filling() -> None:
        async with open_wiki(module_database, PAGES) as stored:
            await fill(stored)

    with ThreadPoolExecutor(1) as thread:  # asyncio.run would take the tests' loop away.
        thread.submit(asyncio.run, filling()).result()
    return module_database


@pytest.fixture
def copy(filled_once: str) -> Iterator[str]:
    with copy_of(filled_once) as dsn:
        yield dsn


@pytest.fixture
async def filled(copy: str) -> AsyncIterator[WikiInStore]:
    async with open_wiki(copy, {}) as opened:
        yield opened


IN_STORE = PAGES


async def fill(stored: WikiInStore) -> None:
    for day in DAYS:
        await stored.round(day, answers)
    assert await stored.dead() == {(1, key(DEAD)), (2, key(DEAD)), (1, key(DOWN))}


_CASES = toml_next_to(__file__)
BREAKS: dict[str, list[str]] = _CASES["breaks"]


async def test_a_store_that_was_filled_by_the_program_contradicts_itself_nowhere(filled: WikiInStore) -> None:
    await filled.take_in({1: [LIVES], 2: []}, 137, latest=2)
    for batch in (1, 7, 1_000):
        done = await looked(filled, batch=batch)
        assert (done.found, done.described, done.wrong) == ({}, [], 0)
        assert done.rows == {"url": 16, "host": 14, "link": 13, "page": 3}


async def test_each_breach_is_found_repaired_and_silent_afterwards(filled: WikiInStore) -> None:
    for name, (query, invariant) in BREAKS.items():
        await broken(filled, query)
        found = await looked(filled)
        assert invariant in found.found, name
        assert not found.repaired
        assert found.wrong == found.found.total() == len(found.described)
        assert (await looked(filled)).found == found.found, f"{name}: only looking changes nothing"
        repaired = await looked(filled, repairs=True)
        assert (repaired.repaired[invariant] > 0, repaired.wrong) == (True, 0), name
        assert (await looked(filled)).found == {}, name
        # Pages that were put right wait to be read again, as this does.
        await filled.take_in(PAGES, 137, latest=1)
        assert (await looked(filled)).found == {}, name
        assert len(await filled.rows("SELECT FROM link")) == sum(map(len, PAGES.values())), name


STRAYS: dict[str, str] = _CASES["strays"]
"""Rows of URLs that are not there, by table."""
BREAKS_OF_COPIES = {
    **{table: (f"INSERT INTO {table} (bucket, host_key, url_key, {rest}", "copy") for table, rest in STRAYS.items()},
    "a cited copy without its row": ("DELETE FROM cited_copy {COPY}", "cited"),
    "a cited copy that is due": ("UPDATE url SET due = 140 {COPY}", "cited"),
    "an ordinary link that is never due": ("UPDATE url SET due = 32767 {ARCHIVE}", "cited"),
    "an ordinary link that is a cited copy": (
        "INSERT INTO cited_copy (bucket, host_key, url_key, archive, due) "
        "SELECT bucket, host_key, url_key, 1, 9 FROM url {ARCHIVE}",
        "cited",
    ),
    "a dead link that is not queued": ("DELETE FROM copy_queue {DEAD}", "queue"),
    "a living link that is queued": (
        "INSERT INTO copy_queue (bucket, host_key, url_key, rank, day, due) "
        "SELECT bucket, host_key, url_key, 0, 120, 120 FROM url {LIVES}",
        "queue",
    ),
}


async def test_each_breach_about_copies_is_found_repaired_and_silent_afterwards(database: str) -> None:
    tables = (
        "SELECT bucket, host_key, url_key, archive, stamp FROM cited_copy",
        "SELECT bucket, host_key, url_key, rank FROM copy_queue",
        "SELECT bucket, host_key, url_key, archive, stamp FROM snapshot",
        "SELECT bucket, host_key, url_key FROM url WHERE due = 32767",
        "SELECT bucket, host_key, url_key FROM lookup",
    )
    async with open_wiki(database, {**PAGES, 4: [COPY, ARCHIVE]}) as stored:
        await fill(stored)
        assert not (await looked(stored)).found, "nothing is amiss before the queue has followed anything"
        await stored.do(follow_changes)
        before = [await stored.rows(table) for table in tables]
        assert [len(rows) for rows in before] == [1, 2, 1, 1, 0]
        for name, (query, invariant) in BREAKS_OF_COPIES.items():
            await broken(stored, query)
            for batch in (3, 1_000):
                found = await looked(stored, batch=batch)
                assert found.found[invariant] == 1, name
                assert not found.repaired
            repaired = await looked(stored, repairs=True)
            assert (repaired.repaired[invariant], repaired.wrong) == (1, 0), name
            assert (await looked(stored)).found == {}, name
            assert [await stored.rows(table) for table in tables] == before, name


async def test_a_change_that_the_queue_has_not_followed_yet_is_no_breach(stored: WikiInStore) -> None:
    await stored.do(follow_changes)
    await fill(stored)
    assert not (await looked(stored)).found
    await stored.do(follow_changes)
    await stored.round(160, lambda url, day: FINE)
    found = await check_store(stored.pool, 160)
    assert (found.found, found.rows["copies"]) == ({}, 2)


async def test_what_a_repair_derives_is_what_the_program_would_have_written(filled: WikiInStore) -> None:
    hosts = await filled.rows("SELECT host, next_day FROM host")
    dead = await filled.rows("SELECT page, url_key, since FROM dead")
    async with filled.pool.connection() as conn:
        await conn.execute(b"UPDATE host SET next_day = NULL")
        await conn.execute(b"DELETE FROM dead")
    repaired = await looked(filled, repairs=True)
    assert repaired.found["next-day"] == 14
    assert repaired.described[-1].endswith("repaired")
    assert await filled.rows("SELECT host, next_day FROM host") == hosts
    assert await filled.rows("SELECT page, url_key, since FROM dead") == dead


async def test_the_log_is_continued_with_the_verdict_that_python_finds(database: str) -> None:
    """Records by chance: SQL, which looks for breaches, and Python, which repairs them, judge alike."""
    chance = random.Random(seed := random.randrange(10**6))
    print(f"seed {seed}")
    urls = [f"https://host{number % 20}.demo/{number}" for number in range(160)]
    async with open_wiki(database, {1: urls}) as stored:
        for policy in (DEFAULT, Policy(dead_strikes=4, dead_span=30), Policy(missing_span=20)):
            keys = sorted(map(key, urls))
            async with stored.pool.connection() as conn:
                await record_checks(conn, [CheckedUrl(each, random_record(chance), 150) for each in keys])
                await record_hosts(conn, {host: random_host_record(chance) for host in sorted(hosts_of(keys))})
            done = await check_store(stored.pool, 150, policy=policy, repairs=True)
            assert done.repaired["verdict"] > 20
            assert not (await check_store(stored.pool, 150, policy=policy)).found
            async with stored.pool.connection() as conn:
                for each in (await find_urls(conn, keys)).values():
                    newest = await list_changes(conn, each.key, limit=1)
                    logged = newest[0].after if newest else Verdict.UNKNOWN
                    found = finding_of(each.record, each.host, policy).verdict
                    assert logged is found or (logged, found) == (Verdict.UNKNOWN, Verdict.WORKING)


async def test_a_page_whose_links_were_put_right_is_read_again_by_the_next_pass(stored: WikiInStore) -> None:
    await broken(stored, "DELETE FROM link {NEIGHBOUR}")
    await looked(stored, repairs=True)
    assert await stored.rows("SELECT page, flagged, mark FROM page WHERE flagged") == [(2, True, None)]
    assert await stored.rows("SELECT orphaned FROM url WHERE orphaned IS NOT NULL") == [(137,)]


async def test_what_cannot_be_derived_is_reported_and_never_changed(filled: WikiInStore) -> None:
    for query, back, invariant in (
        ("UPDATE url SET status = 99 {LIVES}", "UPDATE url SET status = 1 {LIVES}", "record"),
        ("UPDATE url SET reason = 999 {LIVES}", "UPDATE url SET reason = 1 {LIVES}", "record"),
        ("UPDATE url SET since = NULL {LIVES}", "UPDATE url SET since = 100 {LIVES}", "record"),
        ("DELETE FROM host {ANY_HOST}", "", "no-host"),
    ):
        await broken(filled, query)
        before = await filled.rows("SELECT url_key, status, reason, since, due FROM url")
        for _ in range(2):
            done = await looked(filled, repairs=True)
            assert (done.found, done.repaired, done.wrong) == ({invariant: 1}, {}, 1), query
            assert len(done.described) == 1
        assert await filled.rows("SELECT url_key, status, reason, since, due FROM url") == before
        if back:
            await broken(filled, back)


@pytest.mark.parametrize("policy", [DEFAULT, Policy(missing_span=31, dead_span=60)])
async def test_a_page_that_begins_to_use_a_url_goes_by_the_logs_policy(filled: WikiInStore, policy: Policy) -> None:
    await check_store(filled.pool, 137, policy=policy, repairs=True)
    await filled.take_in({5: [DEAD, DOWN]}, 137)
    assert len(await filled.dead()) == (5 if policy == DEFAULT else 0)
    assert not (await check_store(filled.pool, 137, policy=policy)).found


async def test_the_shares_of_a_week_are_the_whole(filled: WikiInStore) -> None:
    async with filled.pool.connection() as conn:
        await conn.execute(b"UPDATE host SET next_day = 7")
        await conn.execute(b"DELETE FROM link WHERE page <> 1")
    whole = await looked(filled)
    parts = [await looked(filled, share=Share(part, 7)) for part in range(7)]
    assert sum((part.found for part in parts), start=type(whole.found)()) == whole.found
    assert max(part.found.total() for part in parts) < whole.found.total()


async def test_maintenance_repairs_raises_the_alarm_and_lowers_it(stored: WikiInStore) -> None:
    await watch_store(stored.pool, 137)
    assert await _alarms(stored) == []
    await broken(stored, BREAKS["no next day"][0])
    assert (await watch_store(stored.pool, 137)).wrong == 0
    assert await _alarms(stored) == [("store", "", 137, "next-day 1 (1 repaired)")]
    status = await stored.do(find_status, 137, patience_s=10)
    assert b'weboid_alarms{kind="store"} 1.0' in Metrics(LoopLag()).text(status)
    await watch_store(stored.pool, 138)
    assert await _alarms(stored) == []


async def test_the_alarm_of_a_share_is_lowered_by_that_share_or_by_the_whole(stored: WikiInStore) -> None:
    wrong, right = Consistency(), Consistency()
    wrong.found["dead"] = 2
    await record_outcome(stored.pool, wrong, Share(0, 7), 137)
    await record_outcome(stored.pool, wrong, Share(1, 7), 138)
    await record_outcome(stored.pool, right, Share(1, 7), 145)
    assert [row[1] for row in await _alarms(stored)] == ["1/7"]
    await record_outcome(stored.pool, right, WHOLE, 145)
    assert await _alarms(stored) == []


async def test_the_command_ends_with_status_one_until_everything_is_repaired_and_looks_through_what_is_read_only(
    database: str, tmp_path: Path
) -> None:
    here = Place(tmp_path, environ={"WEBOID_DATABASE": database})
    look = ("check-store", "--day", "137")
    async with open_wiki(database, PAGES) as stored:
        fine = await here.run(*look)
        assert (fine.status, fine.out[:19]) == (0, "nothing is wrong in")
        await broken(stored, BREAKS["no next day"][0])
        await set_read_only(database, is_on=True)
        wrong = await here.run(*look)
        assert wrong.status == 1, wrong.err
        assert "the database is read-only: nothing is written there" in wrong.err
        assert "next-day: lives.demo: next day none, but its first URL is due on 2017-04-11" in wrong.err
        assert "run it again with --repair" in wrong.err
        refused = await here.run(*look, "--repair")
        assert refused.status == 2
        assert "the database is read-only: --repair needs" in refused.err
        await set_read_only(database, is_on=False)
        repaired = await here.run(*look, "--repair")
        assert repaired.status == 0
        assert "1 breaches, 1 repaired: next-day 1 (1 repaired)" in repaired.out
        assert await _alarms(stored) == [("store", "", 137, "next-day 1 (1 repaired)")]
        assert (await here.run(*look)).status == 0
        assert await _alarms(stored) == []
        await broken(stored, "UPDATE url SET since = 1 {LIVES}")
        assert (await here.run(*look, "--repair")).status == 1


async def _alarms(stored: WikiInStore) -> list[tuple[object, ...]]:
    rows = await stored.rows("SELECT kind, subject, since, detail FROM alarm")
    return [row for row in rows if row[0] == AlarmKind.STORE]
