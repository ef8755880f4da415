"""Cited copies: known at intake, out of the link checker's rounds, snapshots of their originals, gone with them."""

from msgspec.structs import replace
from support.observations import FINE, GONE, LOST
from support.stored import WikiInStore, key, open_wiki

from weboid.core.observe.observation import Observation
from weboid.core.record.days import NEVER_DUE
from weboid.core.record.policy import DEFAULT
from weboid.core.record.specials import Special
from weboid.core.url.keys import key_of
from weboid.core.url.spellings import is_other_page
from weboid.core.url.urls import parse
from weboid.core.verdict.judge import judge
from weboid.core.verdict.verdict import Verdict
from weboid.maintain.consistency import check_store
from weboid.store.archives.cited_copy import (
    ARCHIVE_HOSTS,
    find_cited,
    lease_cited,
    list_cited,
    original_of,
    page_key,
    record_cited_due,
    spellings,
)
from weboid.store.archives.copy_queue import follow_changes
from weboid.store.archives.known_copies import KnownCopiesPlace, record_known_copies
from weboid.store.archives.snapshot import Origin, list_snapshots
from weboid.store.pages.pending import move_forward
from weboid.store.people.report import find_locked_url, record_check_now
from weboid.store.results.record import record_copy_check
from weboid.store.upkeep.expiry import expire_urls
from weboid.store.urls.url import list_canaries

PAGE = "http://page.demo/page"
COPY = f"https://web.archive.org/web/20160102030405/{PAGE}"
OLDER = f"https://web.archive.org/web/20120102030405/{PAGE}"
OTHER = f"https://arquivo.pt/wayback/20150102030405/{PAGE}"
BARRED = f"https://archive.today/20150102030405/{PAGE}"
DEAD_SERVICE = f"https://www.webcitation.org/query?url={PAGE}&date=2010-01-02"
PLAIN = "https://web.archive.org/about/"
WAYBACK, TODAY, ARQUIVO = 1, 2, 6


async def due(stored: WikiInStore, url: str) -> int:
    return (await stored.known(url)).due


async def snapshots(stored: WikiInStore, url: str) -> list[tuple[int, int]]:
    found = await stored.do(list_snapshots, [key(url)])
    return [(each.archive, each.stamp) for each in found.get(key(url), ())]


async def expired(stored: WikiInStore, urls: list[str]) -> None:
    assert (await stored.do(expire_urls, sorted(map(key, urls)), 400)).urls == len(urls)


async def assert_sound(stored: WikiInStore, day: int = 140) -> None:
    found = await check_store(stored.pool, day)
    assert not found.found, found.described


def test_all_spellings_that_archives_do_not_tell_apart_have_one_key() -> None:
    for url in (
        "http://page.demo/",
        "https://www.page.demo/a?b=c/",
        "http://page.demo:8080/a/",
        "http://www.www.page.demo/",
        "https://xn--bcher-kva.demo/a",
        "http://a.demo/b//",
    ):
        form = parse(url)
        every = spellings(form)
        assert every[0] == form
        assert len(set(every)) == len(every) <= 8
        assert not any(is_other_page(str(form), each) for each in every)
        assert all(parse(str(each)) == each for each in every)
        assert {page_key(each) for each in every} == {page_key(form)}
        assert page_key(form) != page_key(form._replace(path=form.path + "x"))
        assert original_of(parse(f"https://web.archive.org/web/2016/{url}")) == form
    form = parse("ftp://www.page.demo/a/")
    assert spellings(form) == [form], "another scheme has one spelling only"
    assert page_key(form) == key_of(form)


async def test_an_intake_takes_cited_copies_out_of_the_rounds_and_nothing_else(database: str) -> None:
    pages = {1: [PAGE, COPY, BARRED], 2: [PLAIN, DEAD_SERVICE, OTHER]}
    async with open_wiki(database, pages, 100) as stored:
        assert [await due(stored, url) for url in (COPY, BARRED, OTHER)] == [NEVER_DUE] * 3
        assert [await due(stored, url) for url in (PAGE, PLAIN, DEAD_SERVICE)] == [100] * 3
        await stored.round(100, lambda url, day: FINE)
        assert {url for _, url in stored.asked} == {PAGE, PLAIN, DEAD_SERVICE}
        # Hosts with nothing but cited copies are never due; another link makes them so at once.
        assert await stored.rows("SELECT next_day FROM host WHERE host IN ('arquivo.pt', 'archive.today')") == [
            (NEVER_DUE,),
            (NEVER_DUE,),
        ]
        await stored.take_in({3: ["https://arquivo.pt/about"]}, 120)
        assert await stored.rows("SELECT next_day FROM host WHERE host = 'arquivo.pt'") == [(119,)]
        await assert_sound(stored)


async def test_nothing_makes_a_cited_copy_due_for_the_link_checker(database: str) -> None:
    async with open_wiki(database, {1: [PAGE, COPY]}, 100) as stored:
        async with stored.pool.connection() as conn:
            assert await move_forward(conn, [key(PAGE), key(COPY)], 130) == 0
            known = await find_locked_url(conn, key(COPY))
            assert known
            assert await record_check_now(conn, known, 90)
            (copy,) = (await list_cited(conn, [key(COPY)])).values()
            assert copy.due == 90
        await stored.take_in({1: [PAGE]}, 110, latest=2)
        await stored.take_in({1: [PAGE, COPY]}, 111, latest=3)
        assert await due(stored, COPY) == NEVER_DUE
        async with stored.pool.connection() as conn:
            for _ in range(3):
                assert not await list_canaries(conn, limit=9)
        await assert_sound(stored)


async def test_a_cited_copy_is_a_snapshot_of_its_original_whichever_comes_first(database: str) -> None:
    async with open_wiki(database, {1: [COPY, OLDER, OTHER, BARRED]}, 100) as stored:
        assert await stored.rows("SELECT FROM snapshot") == []
        spelled = "https://www.page.demo/page/"
        await stored.take_in({2: [spelled]}, 101)
        # Nobody needs a copy of what works; when it is shown dead or doubtful, they are known without a look-up.
        assert await snapshots(stored, spelled) == []
        await stored.round(101, lambda url, day: LOST)
        await stored.do(follow_changes)
        # One a service, the newest; of archives to which people may be sent.
        assert await snapshots(stored, spelled) == [(WAYBACK, 20160102030405), (ARQUIVO, 20150102030405)]
        await stored.take_in({3: [PAGE, f"https://web.archive.org/web/20170102030405/{PAGE}"]}, 102)
        assert await snapshots(stored, PAGE) == [(WAYBACK, 20170102030405)]
        assert len(await snapshots(stored, spelled)) == 2
        await stored.take_in({4: ["http://later.demo/"]}, 103)
        await stored.take_in({5: ["https://web.archive.org/web/20100102030405/https://later.demo/"]}, 104)
        assert await snapshots(stored, "http://later.demo/") == [(WAYBACK, 20100102030405)]
        (found,) = (await stored.do(list_snapshots, [key("http://later.demo/")])).values()
        assert [(each.origin, each.due, each.asked, each.address) for each in found] == [
            (Origin.CITED, 105, None, None)
        ]
        await assert_sound(stored)


async def test_cited_copies_of_a_url_are_found_under_every_spelling_newest_first(database: str) -> None:
    async with open_wiki(
        database, {1: [OLDER, COPY, BARRED, "https://web.archive.org/web/2011/http://b.demo/"]}
    ) as stored:
        async with stored.pool.connection() as conn:
            asked = [parse("https://www.page.demo/page"), parse(PAGE), parse("http://page.demo/pag")]
            found = await find_cited(conn, asked)
        assert set(found) == {key_of(asked[0]), key_of(asked[1])}
        assert [str(url) for _, url in found[key_of(asked[0])]] == [COPY, BARRED, OLDER]


async def test_a_cited_copy_is_leased_by_one_worker_and_is_due_the_next_day_again(database: str) -> None:
    async with open_wiki(database, {1: [COPY, OLDER], 2: [OTHER]}, 100) as stored:
        async with stored.pool.connection() as conn, stored.pool.connection() as other:
            first = await lease_cited(conn, 100, [WAYBACK, TODAY], limit=1)
            second = await lease_cited(other, 100, [WAYBACK, TODAY], limit=9)
            assert {each.key for each, _ in (*first, *second)} == {key(COPY), key(OLDER)}
            assert (len(first), len(second)) == (1, 1)
            assert str(first[0][1].url) in (COPY, OLDER)
        async with stored.pool.connection() as conn:
            assert await lease_cited(conn, 100, [WAYBACK], limit=9) == []
            assert len(await lease_cited(conn, 101, [WAYBACK], limit=9)) == 2
            assert await record_cited_due(conn, {key(COPY): 120, key(PAGE): 120}) == 1
            assert [each.key for each, _ in await lease_cited(conn, 102, [WAYBACK], limit=9)] == [key(OLDER)]
        await stored.take_in({1: [COPY]}, 103, latest=2)
        async with stored.pool.connection() as conn:
            assert await lease_cited(conn, 104, [WAYBACK], limit=9) == []
            assert {each.due for each in (await list_cited(conn, [key(OLDER)])).values()} == {104 + 28}


async def visit(stored: WikiInStore, url: str, seen: Observation, day: int) -> bool:
    """A visit of a cited copy: judged by its record, written as a visit is."""
    known = await stored.known(url)
    record, _ = judge(known.record, seen, day, DEFAULT, known.host, host_key=1)
    return await stored.do(record_copy_check, known, record, day=day, due=day + 91)


async def test_a_visit_that_was_judged_by_another_record_is_not_written(database: str) -> None:
    async with open_wiki(database, {1: [COPY, PAGE]}, 100) as stored:
        before = await stored.known(COPY)
        assert await visit(stored, COPY, FINE, 100)
        record, _ = judge(before.record, LOST, 101, DEFAULT, before.host, host_key=1)
        async with stored.pool.connection() as conn:
            assert not await record_copy_check(conn, before, record, day=101, due=200)
            page = await stored.known(PAGE)
            assert not await record_copy_check(conn, page, record, day=101, due=200), "an ordinary link"
        assert await stored.rows("SELECT due FROM cited_copy") == [(100 + 91,)]
        assert (await stored.finding(COPY)).verdict is Verdict.WORKING
        await assert_sound(stored)


async def test_a_round_under_way_writes_nothing_onto_what_has_become_a_cited_copy(database: str) -> None:
    """Its URL was read before the URL was taken out of the rounds, and visited since."""
    async with open_wiki(database, {1: [COPY, PLAIN]}, 100) as stored:
        await unknown_before(stored)

        async def meanwhile(url: str, day: int) -> Observation:
            if url == COPY:
                await bring_over(stored, 101)
                assert await visit(stored, COPY, FINE, 101)
            return GONE if url == COPY else replace(FINE, needs=frozenset({Special.NEEDS_GET}))

        tally = await stored.round(101, meanwhile)
        assert (tally.written, {url for _, url in stored.asked}) == (1, {COPY, PLAIN})
        assert (await stored.finding(COPY)).verdict is Verdict.WORKING
        assert await due(stored, COPY) == NEVER_DUE
        await assert_sound(stored)


async def unknown_before(stored: WikiInStore) -> None:
    """The store as an earlier version would have left it: it knew no cited copies."""
    async with stored.pool.connection() as conn:
        await conn.execute(b"UPDATE url SET due = 100")
        await conn.execute(b"UPDATE host SET next_day = 99")
        for table in (b"cited_copy", b"snapshot"):
            await conn.execute(b"DELETE FROM " + table)


async def bring_over(stored: WikiInStore, day: int, limit: int = 3) -> int:
    place: KnownCopiesPlace | None = KnownCopiesPlace()
    count = 0
    while place is not None:
        count += 1
        place = await stored.do(record_known_copies, place, day, limit=limit)
    return count


async def test_an_older_store_is_brought_over_in_batches_and_the_rest_is_as_new(database: str) -> None:
    copies = [f"https://web.archive.org/web/20160102030405/http://host{number}.demo/" for number in range(7)]
    originals = [f"https://host{number}.demo/" for number in range(4)]
    plain = [f"https://web.archive.org/about/{number}" for number in range(7)]
    async with open_wiki(database, {1: [*copies, *plain], 2: [*originals, BARRED, OTHER]}, 100) as stored:
        tables = ("SELECT * FROM url", "SELECT host, next_day FROM host", "SELECT * FROM cited_copy")
        new = [await stored.rows(table) for table in tables]
        await unknown_before(stored)
        batches = await bring_over(stored, 100)
        assert len(ARCHIVE_HOSTS) < batches <= len(ARCHIVE_HOSTS) + 5
        assert [await due(stored, url) for url in plain] == [100] * 7
        assert [await stored.rows(tables[0]), await stored.rows(tables[2])] == [new[0], new[2]]
        assert len(await stored.rows("SELECT FROM snapshot")) == 4
        await assert_sound(stored)
        assert await bring_over(stored, 101, limit=100) == len(ARCHIVE_HOSTS)
        assert await stored.rows(tables[2]) == new[2], "nothing is brought over twice"


async def test_of_a_copy_in_a_barred_archive_nothing_that_was_found_before_is_shown_forever(database: str) -> None:
    async with open_wiki(database, {1: [BARRED]}, 100) as stored:
        await unknown_before(stored)
        for day in (100, 103, 107, 112, 118):
            await stored.round(day, lambda url, day: GONE)
        assert (await stored.finding(BARRED)).verdict is Verdict.DEAD
        assert len(await stored.rows("SELECT FROM dead")) == 1
        await bring_over(stored, 120)
        assert (await stored.finding(BARRED)).verdict is Verdict.UNKNOWN
        assert await stored.rows("SELECT FROM dead") == []
        await assert_sound(stored)


async def test_a_cited_copy_that_is_deleted_takes_the_snapshot_with_it_that_only_it_has_shown(database: str) -> None:
    same = f"http://web.archive.org/web/20160102030405/{PAGE}"
    async with open_wiki(database, {1: [PAGE], 2: [COPY], 3: [OTHER], 4: [same]}, 100) as stored:
        both = await snapshots(stored, PAGE)
        assert both == [(WAYBACK, 20160102030405), (ARQUIVO, 20150102030405)]
        await stored.take_in({2: []}, 101, latest=2)
        await expired(stored, [COPY])
        assert await snapshots(stored, PAGE) == both, "another page cites it, too"
        await stored.take_in({3: [], 4: []}, 102, latest=2)
        await stored.execute("UPDATE snapshot SET asked = 102 WHERE archive = 6")
        await expired(stored, [OTHER, same])
        assert await snapshots(stored, PAGE) == [(ARQUIVO, 20150102030405)], "what was played stays"
        assert await stored.rows("SELECT FROM cited_copy") == []
        await assert_sound(stored)
