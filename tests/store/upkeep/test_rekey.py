"""Rekeying a real store (O-10): it ends as one that was filled with the new keys from the start, also when killed."""

import asyncio
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

import pytest
from msgspec.structs import replace
from psycopg.conninfo import make_conninfo
from support.database_copy import copy_of
from support.killing import open_killer, twice
from support.observations import FINE, LOST, SILENT
from support.store_reads import list_changes
from support.stored import WikiInStore, key, open_wiki

from weboid.assets import toml_next_to
from weboid.core.archive.outcomes import LookupOutcome
from weboid.core.document.face import Answer, Face, Kind, Look, Role
from weboid.core.document.portrait import Portrait
from weboid.core.observe.observation import Observation
from weboid.core.record.moment import Moment
from weboid.core.record.policy import DEFAULT
from weboid.core.record.specials import Special
from weboid.core.record.status import NO_CODE
from weboid.core.url import keys
from weboid.core.url.hosts import InvalidReason, InvalidUrl
from weboid.core.url.keys import UrlKey
from weboid.core.url.urls import Url, parse
from weboid.core.verdict import judge
from weboid.core.verdict.verdict import Verdict
from weboid.errors import StoreError
from weboid.maintain.consistency import check_store
from weboid.store.archives.changing_page import record_changing
from weboid.store.archives.copy_queue import follow_changes
from weboid.store.archives.lookup import StoredLookup, record_lookups
from weboid.store.archives.saving import record_savable
from weboid.store.archives.snapshot import Origin, StoredSnapshot, record_snapshots
from weboid.store.db.key_scheme import OURS, KeyScheme, find_stated, has_scheme, record_scheme, require_scheme
from weboid.store.db.pool import Connection, open_pool
from weboid.store.db.rows import HostKey
from weboid.store.pages.page import PageChanges, record_intake
from weboid.store.pages.spam import record_spam_added
from weboid.store.pages.use import unpacked_keys
from weboid.store.people import report
from weboid.store.people.report import find_locked_url, record_domain_report, record_report
from weboid.store.people.revert import RevertState, StatedRevert, record_revert, record_reviewed
from weboid.store.schedule.lease import lease_buckets, record_release
from weboid.store.schedule.second_look import record_look, take_looks
from weboid.store.upkeep.rekey import Rekeyed, rekey
from weboid.store.urls.host_traits import HostSpecial, record_specials

DAYS = (100, 103, 107, 110, 114, 115, 116)
MONTH = range(100, 102 + DEFAULT.dead_span)
"""The days until a silent host is dead."""
_CASES = toml_next_to(__file__)
TABLES: list[str] = _CASES["tables"]


def other_bucket(host: str) -> int:
    """As with a suffix list that knows no registrable domains."""
    return keys.url_key(f"another list {host}") % keys.BUCKETS


def other_key(url: Url) -> UrlKey:
    return UrlKey(other_bucket(url.host), keys.host_key(url.host), keys.url_key(str(url)))


def without_www(url: str) -> Url:
    form = parse(url)
    return form._replace(host=form.host.removeprefix("www."))


def without_ftp(url: str) -> Url:
    if url.startswith("ftp"):
        raise InvalidUrl(InvalidReason.PROTOCOL)
    return parse(url)


BUCKETS = KeyScheme(suffix_version="another", key=other_key)
NO_WWW = KeyScheme(form_version=2, form=without_www)
NO_FTP = KeyScheme(form_version=3, form=without_ftp)


@contextmanager
def other_buckets(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """A program with another suffix list."""
    keys._host_part.cache_clear()
    with patch.context() as inside:
        inside.setattr(keys, "bucket", other_bucket)
        inside.setattr(report, "bucket", other_bucket)
        yield
    keys._host_part.cache_clear()


def links(*hosts: str) -> dict[int, list[str]]:
    """Pages that use the URLs of so many sites."""
    urls = [f"https://{host}site{site}.demo/{path}" for site in range(6) for host in hosts for path in "ab"]
    choose = random.Random(1)
    return {page: choose.sample(urls, 6) for page in range(1, 9)}


def answer(url: str, day: int) -> Observation:
    site = int(url.split("site")[1].split(".")[0])
    seen = SILENT if site % 5 == 1 else LOST if site % 5 == 2 and url.endswith("/a") else FINE
    portrait = Portrait((1, site), 2, 3, 80) if seen is FINE else None
    face = Face((Answer(site, Role.NEAR, 100, Look(Kind.HONEST)),)) if seen is FINE else None
    return replace(seen, http=NO_CODE if seen is SILENT else 410 + site, portrait=portrait, face=face)


async def fill(stored: WikiInStore, *hosts: str) -> None:
    """Three weeks of rounds; then two pages lose their links, and a last round finds out what is not due any more."""
    pages = links(*hosts)
    for day in DAYS:
        await stored.round(day, answer)
    await stored.take_in({1: [], 2: []}, 117, latest=2)
    await stored.round(150, answer)
    known = sorted({url for urls in pages.values() for url in urls})
    async with stored.pool.connection() as conn:
        for number, url in enumerate(known):
            await record_specials(conn, {HostSpecial(HostKey(*key(url)[:2]), Special.NEEDS_GET): 100})
            await record_claims(conn, url, 100 + number)
            await record_revert(conn, StatedRevert(key(url), stored.wiki.wiki, 3, 9, "style", "Ann", "bot"), 100)
        await take_looks(conn, "there", 0)
        for number, url in enumerate(known):
            await record_look(conn, "here", UUID(int=number), key(url), wait_s=900)
        spam = sorted(known)[0]
        await record_spam_added(conn, stored.wiki.wiki, {99: {key(spam): spam}})


async def record_claims(conn: Connection, url: str, day: int) -> None:
    """What people may say of a URL: that it works, that its domain does, what stands in for it."""
    if stored := await find_locked_url(conn, key(url)):
        await record_report(conn, stored, day, "7", f"Name {day}")
        await record_domain_report(conn, stored.url.host.removeprefix("www."), 300, "8", "Name")
    row = {**key(url)._asdict(), "day": day, "target": "http://new.demo/"}
    await conn.execute(
        "INSERT INTO replacement (bucket, host_key, url_key, archive, day, due, target, subject, name) VALUES "
        "(%(bucket)s, %(host_key)s, %(url_key)s, 0, %(day)s, 400, %(target)s, '9', 'Name')",
        row,
    )


async def contents(stored: WikiInStore) -> list[set[tuple[object, ...]]]:
    return [set(await rows_of(stored, query)) for query in TABLES]


async def rows_of(stored: WikiInStore, query: str) -> list[tuple[object, ...]]:
    async with stored.pool.connection() as conn:
        return await (await conn.execute(query.encode())).fetchall()


async def fresh(dsn: str, *hosts: str) -> list[set[tuple[object, ...]]]:
    """What a store holds that was filled by the program as it is now."""
    async with open_wiki(dsn, links(*hosts)) as stored:
        await fill(stored, *hosts)
        return await contents(stored)


@dataclass(frozen=True)
class Filled:
    """A filled store to copy, and what it would hold had the program known another suffix list."""

    dsn: str
    wanted: list[set[tuple[object, ...]]]


@pytest.fixture(scope="module")
def filled(server_dsn: str, template: str) -> Iterator[Filled]:
    empty = make_conninfo(server_dsn, dbname=template)
    with copy_of(empty) as dsn, copy_of(empty) as other, ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, fresh(dsn, "www.", "")).result()
        with pytest.MonkeyPatch.context() as patch, other_buckets(patch):
            wanted = thread.submit(asyncio.run, fresh(other, "www.", "")).result()
        yield Filled(dsn, wanted)


@pytest.fixture
def copy(filled: Filled) -> Iterator[str]:
    with copy_of(filled.dsn) as dsn:
        yield dsn


def differing(found: list[set[tuple[object, ...]]], wanted: list[set[tuple[object, ...]]]) -> list[str]:
    """Queries whose rows differ."""
    return [query for query, one, other in zip(TABLES, found, wanted, strict=True) if one != other]


@pytest.mark.parametrize("batch", [7, 500])
async def test_with_another_suffix_list_a_store_ends_as_one_filled_anew(filled: Filled, copy: str, batch: int) -> None:
    async with open_wiki(copy, {}) as stored:
        before = await contents(stored)
        assert all(before)
        assert len(differing(before, filled.wanted)) == len(TABLES)
        tried = await rekey(stored.pool, 200, BUCKETS, batch=batch, dry_run=True)
        assert (tried.moved, tried.is_needed) == (len(before[0]), True)
        assert await contents(stored) == before
        await stored.do(require_scheme)
        done = await rekey(stored.pool, 200, BUCKETS, batch=batch, again=twice)
        assert (done.merged, done.dropped, done.spam_links) == (0, 0, 1)
        assert differing(await contents(stored), filled.wanted) == []
        assert await rekey(stored.pool, 200, BUCKETS) == Rekeyed()
        assert not (await check_store(stored.pool, 200)).found


async def test_with_another_normal_form_a_store_ends_as_one_filled_anew(
    database: str, second_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The days of checks follow from the key of a host, which is another one here; what has been is not to change.
    monkeypatch.setattr(judge, "_varied", lambda interval, host_key, day: interval)
    wanted = await fresh(second_database, "")
    async with open_wiki(database, links("www.")) as stored:
        await fill(stored, "www.")
        await rekey(stored.pool, 200, NO_WWW, batch=7)
        assert differing(await contents(stored), wanted) == []
        assert not (await check_store(stored.pool, 200)).found


async def move_buckets(dsn: str) -> None:
    """What is killed."""
    async with open_pool(dsn, size=1, part="test") as pool:
        await rekey(pool, 200, BUCKETS, batch=5)


async def test_a_rekey_killed_again_and_again_comes_to_the_same_end(filled: Filled, copy: str) -> None:
    async with open_killer(move_buckets, copy) as is_done_before:
        for statement in (5, 12, 19, 27, 36):
            assert not await is_done_before(statement)
    async with open_wiki(copy, {}) as stored:
        async with stored.pool.connection() as conn:
            assert not await has_scheme(conn, OURS)
            assert await find_stated(conn) == (BUCKETS.form_version, BUCKETS.suffix_version, True)
        await move_buckets(copy)
        assert differing(await contents(stored), filled.wanted) == []


_LOG = "SELECT host_key, url_key, day, before, after, reason FROM change"
COPIES = (
    "SELECT bucket, host_key, url_key, archive, stamp, origin FROM snapshot",
    "SELECT bucket, host_key, url_key, archive, outcome FROM lookup",
    "SELECT bucket, host_key, url_key, rank, waits FROM copy_queue",
    "SELECT bucket, host_key, url_key FROM changing_page",
    "SELECT bucket, host_key, url_key, state FROM saving",
    "SELECT bucket, host_key, url_key, original_bucket, original_host_key, original_url_key, archive, stamp, due "
    "FROM cited_copy",
)


async def fill_with_copies(stored: WikiInStore, host: str) -> None:
    """A dead and two living URLs with all that is known of copies, and cited copies of the first two."""
    dead, living, uncopied = (f"https://{host}two.demo/{path}" for path in "abc")
    copies = [f"https://www.archive.org/web/2016010203040{number}/{url}" for number, url in enumerate((dead, living))]
    await stored.take_in({1: [dead, living, uncopied, *copies]}, 100)
    for day in DAYS:
        await stored.round(day, lambda url, day: LOST if url == dead else FINE)
    async with stored.pool.connection() as conn:
        await follow_changes(conn)
        await record_savable(conn, 120, limit=9)
        await record_lookups(conn, [StoredLookup(key(dead), 1, LookupOutcome.NONE, 120, 210)])
        await record_changing(conn, [key(dead)], 120)
        await record_snapshots(conn, [StoredSnapshot(key(dead), 6, 20160102030405, Origin.CHOSEN, 130)])


async def test_what_is_known_of_copies_moves_with_its_urls(
    database: str, second_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheme = KeyScheme(form_version=2, suffix_version="another", form=without_www, key=other_key)
    # What the store would be like, had it been filled by the new program.
    with other_buckets(monkeypatch):
        async with open_wiki(second_database, {}) as stored:
            await fill_with_copies(stored, "")
            *wanted, cited = [set(await rows_of(stored, query)) for query in COPIES]
    async with open_wiki(database, {}) as stored:
        await fill_with_copies(stored, "www.")
        assert all([set(await rows_of(stored, query)) for query in COPIES])
        await rekey(stored.pool, 200, scheme, batch=3)
        *after, moved = [set(await rows_of(stored, query)) for query in COPIES]
        assert after == wanted
        # Their own URLs still have the old form of the original within; what that is has one key in both.
        assert {row[3:] for row in moved} == {row[3:] for row in cited}
        assert {row[:2] for row in moved} == {tuple(other_key(parse("https://archive.org/")))[:2]}
        assert not (await check_store(stored.pool, 200)).found


WITH, WITHOUT = "https://www.one.demo/", "https://one.demo/"


@pytest.mark.parametrize(("first", "last"), [(WITH, WITHOUT), (WITHOUT, WITH)])
@pytest.mark.parametrize("is_dead_last", [False, True])
async def test_of_urls_that_fall_together_the_one_asked_last_keeps_its_record_and_all_uses_stay(
    database: str, first: str, last: str, is_dead_last: bool
) -> None:
    dead, fine = (last, first) if is_dead_last else (first, last)

    def script(url: str, day: int) -> Observation:
        return LOST if url == dead else FINE

    async with open_wiki(database, {2: ["https://aside.demo/"]}) as stored:
        if is_dead_last:
            await stored.take_in({3: [fine]}, 95)
            await stored.round(95, script)
        await stored.take_in({1: [dead], 2: [dead, "https://aside.demo/"]}, 100, latest=2)
        for day in DAYS:
            await stored.round(day, script)
        assert (await stored.finding(dead)).verdict.word == "dead"
        if not is_dead_last:
            await stored.take_in({3: [fine]}, 117)
            await stored.round(117, script)
        for day in range(118, 140):
            if (await checked_on(stored, last)) > (await checked_on(stored, first)):
                break
            await stored.round(day, script)
        await stored.take_in({4: [fine, dead]}, 140)
        asked = await checked_on(stored, last)
        assert asked > await checked_on(stored, first)
        log = await changes_of(stored, last)
        assert (await rekey(stored.pool, 200, NO_WWW)).merged == 1
        one = key(WITHOUT)
        assert (await stored.known(WITHOUT)).record.checked == asked
        assert {page for page, each in await uses(stored) if each == one} == {1, 2, 3, 4}
        assert len(await uses(stored)) == 5
        assert await stored.dead() == ({(page, one) for page in (1, 2, 3, 4)} if is_dead_last else set())
        assert await changes_of(stored, WITHOUT) == log
        assert len(await stored.rows("SELECT FROM url")) == 2
        assert len(await stored.rows("SELECT FROM host")) == 2


@pytest.mark.parametrize("frozen", [WITH, WITHOUT])
async def test_of_urls_that_fall_together_all_reverts_stay_and_what_is_frozen_stays_frozen(
    database: str, frozen: str
) -> None:
    async with open_wiki(database, {1: [WITH], 2: [WITHOUT]}) as stored:
        async with stored.pool.connection() as conn:
            for url, revision in ((WITH, 9), (WITHOUT, 9), (WITH, 10), (WITHOUT, 11)):
                stated = StatedRevert(key(url), stored.wiki.wiki, 1, revision, "style", "Ann", "bot")
                recorded = await record_revert(conn, stated, 100)
                assert recorded is not None
                if url != frozen:
                    await record_reviewed(conn, recorded[0].revert, RevertState.RELEASED, "Boss")
        assert (await rekey(stored.pool, 200, NO_WWW)).merged == 1
        found = await stored.rows("SELECT bucket, host_key, url_key, revision, state FROM revert")
        states = {9: 0, 10: 0 if frozen == WITH else 2, 11: 0 if frozen == WITHOUT else 2}
        assert sorted(found) == sorted((*key(WITHOUT), *each) for each in states.items())
        assert not (await check_store(stored.pool, 200)).found


async def checked_on(stored: WikiInStore, url: str) -> int:
    return (await stored.known(url)).record.checked or 0


async def changes_of(stored: WikiInStore, url: str) -> list[tuple[int, Verdict, Verdict]]:
    async with stored.pool.connection() as conn:
        return [(change.day, change.before, change.after) for change in await list_changes(conn, key(url))]


async def uses(stored: WikiInStore) -> set[tuple[int, UrlKey]]:
    """(page, URL) as the pages and the links have it."""
    pages = await rows_of(stored, "SELECT page, urls FROM page")
    named = {(page, each) for page, urls in pages for each in unpacked_keys(urls)}  # type: ignore[arg-type]
    links = await rows_of(stored, "SELECT page, bucket, host_key, url_key FROM link")
    assert named == {(row[0], UrlKey(*row[1:])) for row in links}  # type: ignore[arg-type]
    return named  # type: ignore[return-value]


async def fall_silent(stored: WikiInStore, silent: str, late: str) -> None:
    """A month in which the host of two URLs says nothing; the second one is used since its last day."""

    def script(url: str, day: int) -> Observation:
        return SILENT if parse(url).host == parse(silent).host else FINE

    for day in MONTH:
        await stored.round(day, script)
    await stored.take_in({3: [late]}, MONTH.stop)
    await stored.round(MONTH.stop, script)
    assert await stored.dead() == {(1, key(silent)), (3, key(late))}


async def test_when_hosts_fall_together_the_verdicts_follow_the_one_that_answers(database: str) -> None:
    silent, late = "https://www.one.demo/a", "https://www.one.demo/late"
    async with open_wiki(database, {1: [silent], 2: ["https://one.demo/b", "https://aside.demo/"]}) as stored:
        await fall_silent(stored, silent, late)
        await rekey(stored.pool, 200, NO_WWW, batch=1)
        silent, late = "https://one.demo/a", "https://one.demo/late"
        assert (await stored.known(late)).host.streak.strikes == 0
        assert (await stored.finding(late)).verdict is Verdict.DOUBTFUL
        assert (await changes_of(stored, late))[0] == (200, Verdict.DEAD, Verdict.DOUBTFUL)
        assert (await stored.finding(silent)).verdict is Verdict.DEAD  # by its own row
        assert await stored.dead() == {(1, key(silent))}
        assert not (await check_store(stored.pool, 200)).found


async def test_a_host_that_answers_clears_those_of_its_name_that_were_there_before(database: str) -> None:
    silent, late, answering = "https://one.demo/a", "https://one.demo/late", "https://www.one.demo/b"
    async with open_wiki(database, {1: [silent], 2: [answering, "https://aside.demo/"]}) as stored:
        await fall_silent(stored, silent, late)
        assert (await rekey(stored.pool, 200, NO_WWW)).moved == 1
        assert (await stored.finding(late)).verdict is Verdict.DOUBTFUL
        assert (await changes_of(stored, late))[0] == (200, Verdict.DEAD, Verdict.DOUBTFUL)
        assert await stored.dead() == {(1, key(silent))}
        assert not (await check_store(stored.pool, 200)).found


async def test_what_is_invalid_now_is_dropped_with_its_uses(database: str) -> None:
    async with open_wiki(database, {1: ["ftp://one.demo/", "https://one.demo/"], 2: ["ftp://two.demo/"]}) as stored:
        for day in DAYS:
            await stored.round(day, lambda url, day: LOST)
        assert len(await stored.dead()) == 3
        done = await rekey(stored.pool, 200, NO_FTP)
        assert (done.moved, done.dropped) == (0, 2)
        one = key("https://one.demo/")
        assert await uses(stored) == {(1, one)}
        assert await stored.dead() == {(1, one)}
        assert not (await check_store(stored.pool, 200)).found
        for table in ("url", "change", "host"):
            assert {row[:2] for row in await stored.rows(f"SELECT bucket, host_key FROM {table}")} == {one[:2]}  # noqa: S608


async def test_while_a_worker_is_at_work_the_form_of_urls_is_not_changed(database: str) -> None:
    async with open_wiki(database, {1: ["https://one.demo/"]}) as stored:
        held = await stored.do(lease_buckets, "worker 7", until=Moment(100), limit=1, lease_s=300, rest_s=0)
        with pytest.raises(StoreError, match="worker 7"):
            await rekey(stored.pool, 200, NO_FTP)
        async with stored.pool.connection() as conn:
            await require_scheme(conn)
            await record_release(conn, "worker 7", held)
        assert (await rekey(stored.pool, 200, NO_FTP)).is_needed
        async with stored.pool.connection() as conn:
            with pytest.raises(StoreError, match="weboid rekey"):
                await require_scheme(conn)
            await require_scheme(conn, NO_FTP)
            assert await lease_buckets(conn, "worker 8", until=Moment(100), limit=1, lease_s=300, rest_s=0)


async def test_an_intake_under_way_is_waited_for_and_the_next_one_of_that_program_is_refused(database: str) -> None:
    added = "https://two.demo/"
    async with open_wiki(database, {1: ["https://one.demo/"]}) as stored:
        await stored.do(record_scheme)  # as the program does when it opens a store
        async with stored.pool.connection() as conn:
            await record_intake(conn, {stored.wiki.wiki: PageChanges(added={1: ({key(added): parse(added)}, {})})}, 100)
            moving = asyncio.create_task(rekey(stored.pool, 200, BUCKETS))
            await stored.until_locked_out()
        assert (await moving).moved == 2
        with pytest.raises(StoreError, match="weboid rekey"):
            await stored.take_in({2: [added]}, 201)
        assert len(await uses(stored)) == 2


async def test_a_crawl_and_intakes_go_on_while_urls_get_other_buckets_and_nothing_is_lost(copy: str) -> None:
    async with open_wiki(copy, {}) as stored:
        logs = await rows_of(stored, _LOG)
        await rekey(stored.pool, 200, BUCKETS)
        moving = asyncio.create_task(rekey(stored.pool, 200, batch=1))
        while not await stored.do(has_scheme):
            await asyncio.sleep(0)
        pages, day = links("www.", ""), 200
        while not moving.done():
            day += 1
            pages |= {day: pages[3 + day % 6], 3 + day % 6: pages[3 + (day + 1) % 6]}
            await stored.take_in({page: pages[page] for page in (day, 3 + day % 6)}, day, latest=day)
            await stored.round(day, answer)
        assert day > 200
        assert (await moving).moved > 10
        assert await rekey(stored.pool, 200) == Rekeyed()
        used = {(page, key(url)) for page, urls in pages.items() if page > 2 for url in urls}
        assert await uses(stored) == used
        assert set(logs) <= set(await rows_of(stored, _LOG))
        assert not (await check_store(stored.pool, day)).found


@pytest.mark.parametrize("is_under_way", [False, True])
async def test_what_was_taken_in_and_checked_while_it_waited_to_be_moved_keeps_its_history_and_is_checked_again(
    database: str, is_under_way: bool
) -> None:
    url, asked, may_answer = "https://one.demo/", asyncio.Event(), asyncio.Event()

    async def answered() -> Observation:
        asked.set()
        await may_answer.wait()
        return FINE

    async with open_wiki(database, {1: [url], 2: ["https://two.demo/"]}) as stored:
        for day in DAYS:
            await stored.round(day, lambda url, day: LOST)
        died = await changes_of(stored, url)
        await rekey(stored.pool, 200, BUCKETS)
        async with stored.pool.connection() as conn:
            await conn.execute("UPDATE key_form SET suffix_version = %s, moving = true", (OURS.suffix_version,))
        await stored.take_in({1: [url, "https://three.demo/"], 3: [url]}, 201, latest=2)
        checking = asyncio.create_task(stored.round(201, lambda url, day: answered()))
        await asked.wait()
        if not is_under_way:
            may_answer.set()
            await checking
        assert (await rekey(stored.pool, 202)).merged == 1
        may_answer.set()
        await checking
        assert {page for page, each in await uses(stored) if each == key(url)} == {1, 3}
        assert await changes_of(stored, url) == died
        assert await stored.dead() == {(1, key(url)), (3, key(url))}
        assert len(await stored.rows("SELECT FROM url")) == 3
        assert not (await check_store(stored.pool, 202)).found
        await stored.round(202, lambda url, day: FINE)
        assert (await stored.finding(url)).verdict is Verdict.WORKING
