"""The replica source on a real MariaDB: the same pages as the dump, whatever the server does meanwhile."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pymysql
import pytest
from support.mariadb import BOTH_CATEGORIES, OLD_CATEGORIES, PASSWORD, USER, MariaServer
from support.waiting import until

from weboid.assets import asset
from weboid.core.wikitext.titles import Namespace
from weboid.errors import ConfigError, SourceError
from weboid.wiki.dump import DumpSource
from weboid.wiki.interwiki import Interwiki, InterwikiMap
from weboid.wiki.mariadb import (
    LEAST_PAGES,
    MOST_PAGES,
    Access,
    MariaDb,
    QueryPatience,
    Refused,
    has_statement,
    statement,
)
from weboid.wiki.replica import ReplicaSource
from weboid.wiki.source import PageLinks, PageState, Selection
from weboid.wiki.toolforge import HOSTS, Credentials, ListedWiki, Replicas, read_credentials

FIXTURES = Path(__file__).parent / "fixtures"
FILES = [FIXTURES / f"{table}.sql" for table in ("page", "externallinks", "iwlinks", "interwiki")]
INTERWIKI = InterwikiMap(
    [
        Interwiki("doi", "https://doi.resolver.net/$1", local=False),
        Interwiki("sister", "//sister.wiki.net/wiki/$1", local=True),
        Interwiki("word", "//words.net/wiki/$1", local=False),
    ]
)
NAMESPACES = (Namespace(0, ""), Namespace(1, "Diskussion"), Namespace(2, "Benutzer"), Namespace(14, "Kategorie"))
MAIN = Selection(None, "select_namespace", {"namespace": 0})
PATIENCE = QueryPatience(first_pause_s=0.05, longest_pause_s=1.0)
SHORT = QueryPatience(tries=2, first_pause_s=0.01, connect_s=2.0)
MANY = 3_000
"""Pages of the larger wiki."""

LINKS_EACH = 20
NO_SUCH_THREAD = 1094


@pytest.fixture(scope="session")
def light(mariadb_server: MariaServer) -> Access:
    """The wiki of the fixtures; page 2 redirects to page 1, and 20 to 21 and on to 4, 22 to itself, 23 nowhere."""
    also = """
        INSERT INTO redirect VALUES (2, 0, 'Harbour_light', NULL), (20, 0, 'Second', ''),
            (21, 0, 'Café_"Zum_Löwen"', ''), (22, 0, 'Self', ''),
            (23, 0, 'Missing', ''), (24, 0, 'Harbour_light', 'word');
        INSERT INTO page (page_id, page_namespace, page_title, page_is_redirect, page_random, page_touched, page_latest,
            page_len) VALUES (20, 0, 'First', 1, 0, '', 1, 1), (21, 0, 'Second', 1, 0, '', 1, 1),
            (22, 0, 'Self', 1, 0, '', 1, 1), (23, 0, 'Nowhere', 1, 0, '', 1, 1), (24, 0, 'Abroad', 1, 0, '', 1, 1);
    """
    return mariadb_server.replicate("lightwiki", *FILES, also=[also])


@pytest.fixture(scope="session")
def many(mariadb_server: MariaServer) -> Access:
    also = """
        DELETE FROM page; DELETE FROM externallinks; DELETE FROM iwlinks;
        INSERT INTO page SELECT seq, 0, CONCAT('Page_', seq), 0, 0, 0, '', '20260101000000', seq, 1, NULL, NULL
            FROM seq_1_to_3000;
        INSERT INTO externallinks SELECT NULL, 1 + seq MOD 3000, CONCAT('https://net.host', seq MOD 97, '.'),
            CONCAT('/', seq) FROM seq_1_to_60000;
    """
    return mariadb_server.replicate("manywiki", *FILES, also=[also])


@asynccontextmanager
async def opened(access: Access, patience: QueryPatience = PATIENCE, **more: Any) -> AsyncIterator[ReplicaSource]:
    source = ReplicaSource(access, **{"interwiki": INTERWIKI, "namespaces": NAMESPACES, "patience": patience, **more})
    try:
        yield source
    finally:
        await source.close()


@asynccontextmanager
async def connected(access: Access, patience: QueryPatience = PATIENCE) -> AsyncIterator[MariaDb]:
    db = MariaDb(access, patience)
    try:
        yield db
    finally:
        await db.close()


async def test_a_state_tells_model_redirect_and_mark_and_a_redirect_named_by_id_is_that_page(light: Access) -> None:
    async with opened(light) as source:
        assert await source.find_states([6, 5, 2, 3, 999, 5]) == [
            PageState(2, 0, "Old light", 102, 20260102030405, redirect=True),
            PageState(3, 0, "O'Hara's mill", 103, None),
            PageState(5, 0, "Tide table", 105, 20260102030405, model="json"),
            PageState(6, 2, "Ann/common.js", 106, 20260102030405, model="javascript"),
        ]
    async with opened(light) as source:
        found = await source.find_pages(ids=[2, 1, 1], titles=["Old light", "Harbour light"])
    assert [(page.page, page.title) for page in found] == [(1, "Harbour light"), (2, "Old light")]
    assert found[1].urls == ("https://redirect.net/only",)


async def test_a_title_is_found_as_the_api_finds_it(light: Access) -> None:
    titles = {
        "Harbour light": 1,
        "harbour_light": 1,
        " Harbour  light#tower": 1,
        "Old light": 1,
        "First": 4,
        'Café "Zum Löwen"': 4,
        "Diskussion:Harbour light": 10,
        "diskussion: harbour light": 10,
        "Talk:Harbour_light": 10,
    }
    async with opened(light) as source:
        assert {title: [found.page for found in await source.find_pages(titles=[title])] for title in titles} == {
            title: [page] for title, page in titles.items()
        }
        nowhere = ["Nowhere", "Self", "Abroad", "Missing", "", ":", "Diskussion:", "\ud800", "Tide table", "x" * 300]
        assert await source.find_pages(titles=nowhere) == []


async def test_bytes_that_are_no_utf_8_come_as_in_the_dump(mariadb_server: MariaServer, tmp_path: Path) -> None:
    rows = (
        "INSERT INTO `externallinks` VALUES\n(90,3,'https://net.a\xff.','/\xe4'),\n(91,3,'https://net.b.','?\\n\\0');\n"
    )
    (tmp_path / "links.sql").write_bytes((FIXTURES / "externallinks.sql").read_bytes() + rows.encode("latin-1"))
    files = [FIXTURES / "page.sql", tmp_path / "links.sql"]
    async with opened(mariadb_server.replicate("bytewiki", *files)) as source:
        found = await source.find_pages(ids=[3])
    assert found == [page for page in await dumped(DumpSource(*files), {0}) if page.page == 3]
    assert len(found[0].urls) == 2


async def test_a_walk_goes_on_from_any_place(many: Access) -> None:
    async with opened(many) as source:
        stretches = [stretch async for stretch in source.walk(MAIN)]
        assert [len(stretch.pages) for stretch in stretches] == [MOST_PAGES] * (MANY // MOST_PAGES)
        rest = await walked(source, MAIN, stretches[1].place)
        assert [page.page for page in rest] == list(range(2 * MOST_PAGES + 1, MANY + 1))
        assert await walked(source, MAIN, stretches[-1].place) == []
        assert len(await walked(source, MAIN, '{"gapcontinue": "another source\'s"}')) == MANY


LIGHTS = """INSERT INTO page (page_id, page_namespace, page_title, page_random, page_touched, page_latest, page_len)
    VALUES (30, 14, 'Lights', 0, '', 1, 1);"""
TARGETS = "INSERT INTO linktarget VALUES (1, 14, 'Harbours'), (2, 14, 'Lights'), (3, 0, 'Harbours');"
# Harbours has pages 1 and 3 and the category Lights, which has page 4.
SCHEMAS: dict[str, dict[str, Any]] = {
    "new": {
        "also": (
            *(LIGHTS, TARGETS),
            "INSERT INTO categorylinks VALUES (1, 1, 'page'), (3, 1, 'page'), (30, 1, 'subcat'), (4, 2, 'page');",
        )
    },
    "old": {
        "also": (
            LIGHTS,
            """INSERT INTO categorylinks VALUES (1, 'Harbours', 'page'), (3, 'Harbours', 'page'),
            (30, 'Harbours', 'subcat'), (4, 'Lights', 'page');""",
        ),
        "categories": OLD_CATEGORIES,
    },
    "both": {
        "also": (
            *(LIGHTS, TARGETS),
            """INSERT INTO categorylinks VALUES (1, 'Harbours', 1, 'page'), (3, 'Harbours', 1, 'page'),
            (30, 'Harbours', 1, 'subcat'), (4, 'Lights', 2, 'page');""",
        ),
        "categories": BOTH_CATEGORIES,
    },
}


@pytest.mark.parametrize("schema", SCHEMAS)
async def test_members_of_categories_are_found_in_every_schema(mariadb_server: MariaServer, schema: str) -> None:
    access = mariadb_server.replicate("treewiki", FIXTURES / "page.sql", **SCHEMAS[schema])
    async with opened(access) as source:
        members = [page.page for page in await walked(source, category("Harbours", "page"))]
        below = await walked(source, category("Harbours", "subcat"))
        both = [page.page for page in await walked(source, category("Harbours", "page,subcat"))]
        assert await walked(source, category("Missing", "page,subcat")) == []
    assert members == [1, 3]
    assert [(page.page, page.namespace, page.title) for page in below] == [(30, 14, "Lights")]
    assert both == [1, 3, 30]


async def test_link_tables_may_live_apart_from_the_pages(mariadb_server: MariaServer) -> None:
    pages = mariadb_server.replicate("apartwiki", FIXTURES / "page.sql", also=[LIGHTS])
    towers = "INSERT INTO linktarget VALUES (4, 10, 'Tower'); INSERT INTO templatelinks VALUES (4, 4), (1, 4);"
    links = mariadb_server.replicate("apartlinks", *FILES[:3], also=[*SCHEMAS["new"]["also"], towers])
    mariadb_server.run("DROP VIEW apartlinks_p.page; DROP VIEW apartwiki_p.linktarget")
    async with opened(pages, links=links) as source:
        found = await source.find_pages(ids=[1, 3, 4])
        members = [page.page for page in await walked(source, category("Harbours", "page,subcat"))]
        users = [page.page for page in await walked(source, Selection(None, "select_template", {"title": "Tower"}))]
        walk = [page.page for page in await walked(source, MAIN)]
    assert found == await dumped(DumpSource(*FILES), {0})
    assert (members, users) == ([1, 3, 30], [1, 4])
    assert walk == [1, 3, 4, 5]


async def test_a_killed_query_is_asked_again_for_fewer_pages(
    mariadb_server: MariaServer, many: Access, caplog: pytest.LogCaptureFixture
) -> None:
    killed = 0

    def kill_in_the_middle(rows: Iterator[Any]) -> list[Any]:
        nonlocal killed
        found = [next(rows)]
        if not killed:
            killed = 1
            kill(mariadb_server, "QUERY")
        return [*found, *rows]

    async with connected(many) as db:
        answer, pages = await db.fetch(ENDLESS, lambda most: {"most": most * 200}, kill_in_the_middle)
        assert (len(answer), pages, killed) == (MOST_PAGES // 2 * 200, MOST_PAGES // 2, 1)
        assert "interrupted" in caplog.text
        for _ in range(8):
            await db.fetch("SELECT 1", lambda _: {}, list)
        assert db.pages == MOST_PAGES


@pytest.mark.parametrize("how", ["QUERY", "CONNECTION"])
async def test_pages_are_complete_though_their_queries_are_killed(
    mariadb_server: MariaServer, many: Access, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(many) as source:
        whole = await source.find_pages(ids=range(1, 1_001))
        for _ in range(40):
            killer = asyncio.create_task(kill_often(mariadb_server, how))
            assert await source.find_pages(ids=range(1, 1_001)) == whole
            await killer
            if caplog.records:
                break
    assert caplog.records  # else no shot has hit
    assert {len(page.urls) for page in whole} == {LINKS_EACH}


async def test_a_query_that_is_always_killed_ends_with_advice(mariadb_server: MariaServer, many: Access) -> None:
    def kill_it(rows: Iterator[Any]) -> list[Any]:
        kill(mariadb_server, "QUERY")
        return list(rows)

    asked: list[int] = []
    async with connected(many, replace(PATIENCE, first_pause_s=0.0)) as db:
        with pytest.raises(SourceError, match=r"interrupted .* 8 times in a row; try again later, or the cluster"):
            await db.fetch(ENDLESS, lambda most: asked.append(most) or {"most": 5_000_000}, kill_it)  # type: ignore[func-returns-value]
    assert asked == [500, 250, 125, 62, 31, 15, 10, 10]


async def test_an_answer_without_bound_is_asked_for_fewer_pages(many: Access, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weboid.wiki.mariadb._MOST_ROWS", 30_000)
    async with connected(many) as db:
        assert await db.fetch(ENDLESS, lambda most: {"most": most * 200}, count) == (25_000, 125)
        db.pages = LEAST_PAGES
        assert await db.fetch(ENDLESS, lambda _: {"most": 40_000}, count) == (40_000, LEAST_PAGES)


async def test_an_idle_connection_that_the_server_ended_is_no_failure(
    mariadb_server: MariaServer, light: Access, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weboid.wiki.mariadb._PING_AFTER_S", 0.0)
    async with opened(light) as source:
        await source.find_states([1])
        kill(mariadb_server, "CONNECTION")
        await until(lambda: not connections(mariadb_server))
        assert len(await source.find_states([1])) == 1
    assert not caplog.records


async def test_a_connection_that_is_refused_for_their_number_is_tried_again(
    mariadb_server: MariaServer, light: Access, caplog: pytest.LogCaptureFixture
) -> None:
    with ten_connections(mariadb_server) as held:
        async with opened(light, SHORT) as source:
            with pytest.raises(SourceError, match=r"1226.* 2 times in a row; end other programs of this account"):
                await source.find_states([1])
        async with opened(light) as source:
            waiting = asyncio.create_task(source.find_states([1]))
            await until(lambda: any("1226" in record.getMessage() for record in caplog.records[2:]))
            held.pop().close()
            assert len(await waiting) == 1


async def test_no_server_is_a_clear_error(tmp_path: Path) -> None:
    nobody = Access("nowiki_p", USER, PASSWORD, socket=str(tmp_path / "socket"))
    async with opened(nobody, SHORT) as source:
        with pytest.raises(SourceError, match=r"nowiki_p on .*2 times in a row; can this machine reach it"):
            await source.find_states([1])
    async with opened(Access("nowiki_p", USER, PASSWORD, host="127.0.0.1", port=9), SHORT) as source:
        assert (await source.find_states([]), await source.find_pages()) == ([], []), "for no page nothing is opened"
        with pytest.raises(SourceError, match="can this machine reach it"):
            await source.find_lag_s()


async def test_a_wrong_password_and_a_wiki_without_replica_are_clear_errors_at_once(
    mariadb_server: MariaServer, light: Access, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(replace(light, password="wrong-Geheimnis-ß-Ω")) as source:
        with pytest.raises(SourceError, match=r"1045.*check user and password: replica\.my\.cnf") as caught:
            await source.find_pages(ids=[1])
    assert "Geheimnis" not in f"{caught.value}{caplog.text}{light!r}"
    assert PASSWORD not in repr(light)
    assert not caplog.records
    mariadb_server.run("ALTER USER s51111@localhost ACCOUNT LOCK")
    async with opened(light) as source:
        with pytest.raises(SourceError, match=r"locked \(4151\); ask those who run"):
            await source.find_states([1])
    mariadb_server.run("ALTER USER s51111@localhost ACCOUNT UNLOCK")
    async with opened(replace(light, database="missing_p")) as source:
        with pytest.raises(SourceError, match=r"104[49].*replica"):
            await source.find_states([1])
    mariadb_server.run("CREATE OR REPLACE DATABASE empty_p; GRANT SELECT ON empty_p.* TO s51111@localhost")
    async with opened(replace(light, database="empty_p")) as source:
        with pytest.raises(Refused, match=r"1146.*those of a MediaWiki"):
            await source.find_states([1])
        mariadb_server.run("USE empty_p; CREATE TABLE t (a int); CREATE VIEW page AS SELECT a FROM t; DROP TABLE t")
        with pytest.raises(Refused, match=r"1356.*while tables are changed"):
            await source.find_states([1])


async def test_lag_is_that_of_the_section_and_0_without_a_table(mariadb_server: MariaServer, light: Access) -> None:
    async with opened(light) as source:
        assert await source.find_lag_s() == 0.0
    mariadb_server.run(
        """CREATE DATABASE heartbeat_p;
        CREATE TABLE heartbeat_p.heartbeat (shard varchar(10), lag decimal(25,4));
        INSERT INTO heartbeat_p.heartbeat VALUES ('s5', 12.5), ('s7', 9000);
        GRANT SELECT ON heartbeat_p.* TO s51111@localhost"""
    )
    try:
        async with opened(light, shard="s5") as own, opened(light) as any_shard, opened(light, shard="s9") as other:
            assert await own.find_lag_s() == 12.5
            assert await any_shard.find_lag_s() == 9000
            assert await other.find_lag_s() == 9000
    finally:
        mariadb_server.run("DROP DATABASE heartbeat_p")


async def test_the_loop_goes_on_while_rows_stream(many: Access) -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    async with connected(many) as db:
        ticker = asyncio.create_task(tick())
        begun = time.monotonic()
        counted, _ = await db.fetch(ENDLESS, lambda _: {"most": 100_000}, count)
        took_s = time.monotonic() - begun
        ticker.cancel()
    assert counted == 100_000
    # A loop that waits for the rows would not tick at all, an idle one a hundred times a second.
    assert ticks > 5 * took_s


async def test_who_is_cancelled_does_not_wait_for_the_server(mariadb_server: MariaServer, many: Access) -> None:
    async with opened(many) as source:
        await source.find_states([1])
        db = source._db
        sleeping = asyncio.create_task(db.list_rows("SELECT SLEEP(100)"))
        await until(lambda: any("SLEEP(100)" in str(row) for row in connections(mariadb_server)))
        sleeping.cancel()
        begun = time.monotonic()
        with pytest.raises(asyncio.CancelledError):
            await sleeping
        assert len(await source.find_states([1])) == 1
        assert time.monotonic() - begun < 50


async def test_a_replica_is_read_over_tcp_as_toolforge_names_it_and_asked_again_when_it_falls_silent(
    mariadb_server: MariaServer, light: Access, caplog: pytest.LogCaptureFixture
) -> None:
    assert Replicas(Credentials(USER, PASSWORD), hosts=mariadb_server.socket).access("lightwiki") == light
    async with tunnel(mariadb_server, stalls=1) as port:
        access = Replicas(Credentials(USER, PASSWORD), hosts=f"127.0.0.1:{port}").access("lightwiki")
        async with opened(access, replace(PATIENCE, silence_s=0.3)) as source:
            assert [page.title for page in await source.find_pages(ids=[1])] == ["Harbour light"]
    assert "timed out" in caplog.text


async def test_the_wikis_are_listed_but_closed_ones(mariadb_server: MariaServer) -> None:
    mariadb_server.run(
        """CREATE DATABASE meta_p; CREATE TABLE meta_p.wiki (dbname varchar(32) PRIMARY KEY, lang varchar(12),
            name text, family text, url text, size decimal(1,0), slice text, is_closed decimal(1,0)) CHARSET utf8mb4;
        SET NAMES utf8mb4;
        INSERT INTO meta_p.wiki VALUES ('ltgwiki', 'ltg', 'Vikipedeja – ī', 'wikipedia', 'https://ltg.wikipedia.org', 1,
            's3.labsdb', 0), ('aawiki', 'aa', 'Wikipedia', 'wikipedia', 'https://aa.wikipedia.org', 1, 's3.labsdb', 1),
            ('advisorywiki', '', 'Advisory', 'special', NULL, 1, 's3.labsdb', 0);
        GRANT SELECT ON meta_p.* TO s51111@localhost"""
    )
    try:
        listed = await Replicas(Credentials(USER, PASSWORD), hosts=mariadb_server.socket).list_wikis(SHORT)
    finally:
        mariadb_server.run("DROP DATABASE meta_p")
    assert listed == [
        ListedWiki("advisorywiki", "", "Advisory", "special", "", "s3"),
        ListedWiki("ltgwiki", "ltg", "Vikipedeja – ī", "wikipedia", "https://ltg.wikipedia.org", "s3"),
    ]


def test_hosts_and_databases_are_toolforges_and_what_cannot_be_used_is_named() -> None:
    web, sweeps = Replicas(Credentials("u", "p")), Replicas(Credentials("u", "p"), cluster="analytics")
    assert web.access("dewiki") == Access("dewiki_p", "u", "p", "dewiki.web.db.svc.wikimedia.cloud", 3306)
    assert sweeps.access("dewiki").host == "dewiki.analytics.db.svc.wikimedia.cloud"
    assert web.links_access("dewiki") is None
    links = sweeps.links_access("commonswiki")
    assert links
    assert (links.host, links.database) == ("links.commonswiki.analytics.db.svc.wikimedia.cloud", "commonswiki_p")
    local = Replicas(Credentials("u", "p"), hosts="127.0.0.1:4711").access("x")
    assert local == Access("x_p", "u", "p", "127.0.0.1", 4711)
    for cluster, hosts in (("labs", HOSTS), ("web", "{wiki}.example"), ("web", "host:port")):
        with pytest.raises(ConfigError, match=r"labs|wiki|port"):
            Replicas(Credentials("u", "p"), cluster=cluster, hosts=hosts)


def test_credentials_are_read_from_replica_my_cnf_unless_they_are_given(tmp_path: Path) -> None:
    file = tmp_path / "replica.my.cnf"
    for text in (None, "", "password = secret", "[client]\nuser=u\n", "[mysql]\nuser=u\npassword=secret"):
        if text is not None:
            file.write_text(text)
        with pytest.raises(ConfigError, match=r"replica\.my\.cnf") as caught:
            read_credentials(file)
        assert "secret" not in str(caught.value)
    for text in (
        "[client]\nuser = s51111\npassword = p%(#;x\n",
        "# made by a machine\n[client]\nuser='s51111'\npassword=\"p%(#;x\"\n[mysql]\nno-auto-rehash\n",
    ):
        file.write_text(text)
        assert read_credentials(file) == Credentials("s51111", "p%(#;x")
        assert "p%(#;x" not in repr(read_credentials(file))
    assert read_credentials(tmp_path / "missing", "u", "p") == Credentials("u", "p")
    with pytest.raises(ConfigError, match="TOOL_REPLICA_USER"):
        read_credentials(None, "u")


async def test_every_statement_runs_on_the_views_and_is_one(light: Access) -> None:
    values = {"pages": [1], "titles": ["A'"], "namespace": 0, "after": 0, "limit": 5, "title": "T", "types": "page"}
    values |= {"aspect": "C.P31", "table": "page"}
    others = {"select_category_cl_to", "lag", "wikis"}
    names = {path.stem for path in (asset("sql") / "replica").glob("*.sql")}
    assert others < names
    assert has_statement("states")
    assert not has_statement("select_nothing")
    with pytest.raises(LookupError, match="select_nothing"):
        statement("select_nothing")
    async with connected(light, SHORT) as db:
        for name in sorted(names - others):
            await db.list_rows(statement(name), values)


ENDLESS = "SELECT seq, REPEAT('x', 60) FROM manywiki_p.page, seq_1_to_1000000 WHERE page_id <= 500 LIMIT %(most)s"


def count(rows: Iterator[Any]) -> int:
    return sum(1 for _ in rows)


def category(title: str, types: str) -> Selection:
    return Selection(None, "select_category", {"title": title, "types": types})


async def walked(source: ReplicaSource, selection: Selection, place: str = "") -> list[PageState]:
    return [page async for stretch in source.walk(selection, place) for page in stretch.pages]


async def dumped(dump: DumpSource, namespaces: set[int]) -> list[PageLinks]:
    return [page async for batch in dump.pages(frozenset(namespaces)) for page in batch]


def connections(server: MariaServer) -> Sequence[tuple[Any, ...]]:
    return [row for row in server.run("SHOW FULL PROCESSLIST") if row[1] == USER]


def kill(server: MariaServer, how: str) -> None:
    for number, *_ in connections(server):
        try:
            server.run(f"KILL {how} {number}")
        except pymysql.err.Error as error:
            if error.args[0] != NO_SUCH_THREAD:
                raise


async def kill_often(server: MariaServer, how: str) -> None:
    for _ in range(5):
        await asyncio.to_thread(kill, server, how)
        await asyncio.sleep(0.03)


@asynccontextmanager
async def tunnel(server: MariaServer, stalls: int) -> AsyncIterator[int]:
    """The port of a way to the server over TCP; so many connections at first get no further than the greeting."""
    tasks: list[asyncio.Task[None]] = []
    ends: list[asyncio.StreamWriter] = []

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal stalls
        back, forth = await asyncio.open_unix_connection(server.socket)
        ends.extend((writer, forth))
        tasks.append(asyncio.create_task(pass_on(back, writer)))
        if stalls:
            stalls -= 1
        else:
            tasks.append(asyncio.create_task(pass_on(reader, forth)))

    listening = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield listening.sockets[0].getsockname()[1]
    finally:
        listening.close()
        for task in tasks:
            task.cancel()
        for end in ends:
            end.close()
        await asyncio.gather(*tasks, *(end.wait_closed() for end in ends), return_exceptions=True)


@contextmanager
def ten_connections(server: MariaServer) -> Iterator[list[Any]]:
    """All that the restricted user may have."""
    held: list[Any] = []
    try:
        while len(held) < 10:
            held.append(pymysql.connect(unix_socket=server.socket, user=USER, password=PASSWORD))
        yield held
    finally:
        for connection in held:
            connection.close()
