"""Forgetting a wiki that is closed: all about it goes, what others use stays, and it can be taken up again."""

from pathlib import Path

from support.commands import Place
from support.killing import open_killer
from support.observations import LOST
from support.stored import WikiInStore, do, open_wiki

from weboid.core.record.policy import DEFAULT
from weboid.core.url.farms import WMFLABS, WikiName
from weboid.maintain.consistency import check_store
from weboid.maintain.expiry import ORPHANED_DAYS, Expiry, expire, planned
from weboid.maintain.forget import WikiContent, content_of, forget
from weboid.store.db.pool import open_pool
from weboid.store.pages.pending import record_asked, record_asked_titles
from weboid.store.pages.wiki import find_wiki

ONLY, SHARED, STAYS = "https://only.demo/", "https://shared.demo/", "https://stays.demo/"
PAGES = {number: [f"{ONLY}{number % 3}", SHARED] for number in range(1, 1_101)}
NAME = WikiName("closedwiki", "wmflabs")
WORN = range(100, 100 + DEFAULT.dead_span + 2, 3)
REST = (
    "INSERT INTO namespace (wiki, namespace, name, is_alias, is_cased) VALUES (%(wiki)s, 1, 'Talk', false, false)",
    "INSERT INTO pass (wiki, started, step, place, plan) VALUES (%(wiki)s, 100, 0, '', '')",
    "INSERT INTO pending (wiki, page, title, seen, matched) VALUES (%(wiki)s, 9, '', now(), false)",
    "INSERT INTO category (wiki, title, started) VALUES (%(wiki)s, 'A', 100)",
    "INSERT INTO wiki_rule (wiki, rules, begins) VALUES (%(wiki)s, '{}', 0)",
    "INSERT INTO wiki_settings (wiki, day) VALUES (%(wiki)s, 100)",
    "INSERT INTO change (wiki, bucket, host_key, url_key, day, before, after) VALUES (%(wiki)s, 0, 0, 0, 100, 0, 1)",
    "INSERT INTO spam_link (wiki, page, bucket, host_key, url_key, url) VALUES (%(wiki)s, 1, 0, 0, 0, 'x')",
    "INSERT INTO revert (wiki, page, bucket, host_key, url_key, revision, day, why, reverter, client) "
    "SELECT %(wiki)s, 1, bucket, host_key, url_key, 1, 100, '', '', '' FROM url LIMIT 1",
    "INSERT INTO spam_list (farm, dbname, kind, day, lines, unusable) VALUES (0, 'closedwiki', 0, 100, '', '')",
    "INSERT INTO alarm (kind, subject, since, detail) VALUES ('expiry-stopped', 'closedwiki@wmflabs', 100, '')",
)


async def fill(stored: WikiInStore) -> WikiInStore:
    """A wiki with something in each table, whose links are dead, next to another one."""
    closed = await stored.another("closedwiki")
    await closed.take_in(PAGES, 100)
    await stored.rounds(lambda url, day: LOST, WORN)
    for statement in REST:
        await stored.execute(statement, {"wiki": closed.wiki.wiki})
    return closed


async def traces(stored: WikiInStore, wiki: int) -> dict[str, int]:
    """By table, the number of rows that are about a wiki."""
    columns = await stored.rows(
        "SELECT table_name, column_name FROM information_schema.columns WHERE column_name = 'wiki'"
    )
    counts = {str(table): await stored.rows(f"SELECT FROM {table} WHERE wiki = {wiki}") for table, _ in columns}
    counts["spam_list"] = await stored.rows("SELECT FROM spam_list WHERE dbname = 'closedwiki'")
    counts["alarm"] = await stored.rows("SELECT FROM alarm WHERE subject = 'closedwiki@wmflabs'")
    return {table: len(rows) for table, rows in counts.items() if rows}


async def test_all_about_a_forgotten_wiki_goes_and_it_is_as_before_when_it_is_taken_up_again(database: str) -> None:
    async with open_wiki(database, {1: [SHARED, STAYS]}) as stored:
        closed = await fill(stored)
        there = await traces(stored, closed.wiki.wiki)
        assert len(there) == 15
        assert await content_of(stored.pool, closed.wiki.wiki) == WikiContent(1_100, 2_200, 4, 3)
        assert await traces(stored, closed.wiki.wiki) == there
        shown: list[tuple[int, int]] = []
        gone = await forget(
            stored.pool, closed.wiki, str(NAME), 200, show=lambda gone, pages: shown.append((gone, pages))
        )
        assert (gone, shown) == (1_100, [(500, 1_100), (1_000, 1_100), (1_100, 1_100)])
        assert await traces(stored, closed.wiki.wiki) == {}
        assert await stored.do(find_wiki, WMFLABS, NAME) is None
        # The webservice may still know it, and hands in what is requested.
        await stored.do(record_asked_titles, closed.wiki.wiki, ["A"], 200)
        await stored.do(record_asked, closed.wiki.wiki, [1], 200)
        assert (await check_store(stored.pool, 200)).found.total() == 0
        assert len(await stored.dead()) == 2
        assert await stored.rows("SELECT object, detail FROM audit WHERE action = 'forget'") == [
            (str(NAME), "1100 pages, 2200 uses"),
            (str(NAME), "done"),
        ]
        # Its links wait a hundred days; one that is used again has its memory, the others go.
        again = await stored.another("closedwiki")
        await again.take_in({1: PAGES[1]}, 250)
        assert (await again.finding(f"{ONLY}1")).verdict.value == 3
        for day, expected in ((199, Expiry()), (200, Expiry(urls=2))):
            plan = await stored.do(planned, day + ORPHANED_DAYS)
            assert await expire(stored.pool, plan, day + ORPHANED_DAYS) == expected


async def forget_it(dsn: str) -> None:
    async with open_pool(dsn, size=1, part="test") as pool:
        if wiki := await do(pool, find_wiki, WMFLABS, NAME):
            await forget(pool, wiki, str(NAME), 200)


async def test_a_run_killed_again_and_again_ends_as_an_undisturbed_one(database: str) -> None:
    async with open_wiki(database, {1: [SHARED, STAYS]}) as stored:
        closed = await fill(stored)
        pages: list[int] = []
        async with open_killer(forget_it, database) as is_done_before:
            for statement in (8, 20, 30):
                assert not await is_done_before(statement), (statement, pages)
                pages.append(len(await stored.rows(f"SELECT FROM page WHERE wiki = {closed.wiki.wiki}")))
                assert (await check_store(stored.pool, 200)).found.total() == 0
            assert pages[0] > pages[1] > 0
            assert await is_done_before(10_000)
        assert await traces(stored, closed.wiki.wiki) == {}


async def test_the_command_shows_what_would_go_and_deletes_only_what_is_not_watched(
    database: str, tmp_path: Path
) -> None:
    here = Place(tmp_path, environ={"WEBOID_DATABASE": database})
    async with open_wiki(database, {1: [SHARED, STAYS], 2: [SHARED]}) as stored:
        await (await stored.another("otherwiki")).take_in({1: [SHARED]}, 100)
        here.watch("testwiki@wmflabs", "https://test.demo/w/api.php")
        for words, status, said in (
            (["testwiki@wmflabs"], 0, "2 pages with 3 uses of 2 URLs would go. Of these URLs 1 stay, as other wikis"),
            (
                ["testwiki@wmflabs", "--confirm"],
                2,
                "testwiki@wmflabs is still watched, and would be read again: take it",
            ),
            (["nowiki@wmflabs", "--confirm"], 2, "the database has nothing of nowiki@wmflabs"),
            (["no wiki"], 2, "no wiki"),
            (["testwiki@nofarm"], 2, "nofarm"),
            ([], 2, "Missing argument 'WIKI'"),
        ):
            ran = await here.run("forget", *words, "--day", "200")
            assert (ran.status, said in ran.err) == (status, True), ran.err
        assert len(await stored.rows("SELECT FROM page")) == 3
        (tmp_path / "weboid.toml").unlink()
        ran = await here.run("forget", "testwiki@wmflabs", "--confirm", "--day", "200")
        assert (ran.status, "testwiki@wmflabs: 2 pages and all else" in ran.err) == (0, True), ran.err
        assert len(await stored.rows("SELECT FROM url WHERE orphaned = 200")) == 1
