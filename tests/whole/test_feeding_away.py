"""The database goes away under commands that feed and maintain: they wait, say so once, and leave the same store.

What takes it away is a proxy that cuts, stalls or swallows, or a fail-over to read-only (``support/away``).
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Final, LiteralString

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from support.away import AWAY, Away, Running
from support.commands import Place, open_place
from support.database_proxy import open_database_proxy
from support.eventmaker import change, links_added
from support.repeats import IS_THOROUGH, TIMES, thorough
from support.sseserver import open_event_server

from weboid.core.url.keys import UrlKey, key_of
from weboid.core.url.urls import Url
from weboid.demo.world import World
from weboid.store.db.key_scheme import KeyScheme
from weboid.store.db.pool import open_pool
from weboid.store.upkeep.rekey import rekey

_PAGES: Final = 5_000
"""The embedded server is looked after once a second."""
_WIKI_PAGES: Final = 600
_EVENTS: Final = 600
_STORE: Final[Sequence[LiteralString]] = (
    "SELECT wiki, page, namespace, title, latest, mark, urls, touched, flagged FROM page",
    "SELECT bucket, host_key, url_key, scheme, port, path, due, status, orphaned FROM url",
    "SELECT bucket, host_key, host, reversed FROM host",
    "SELECT wiki, page, bucket, host_key, url_key FROM link",
    "SELECT farm, dbname, passed FROM wiki",
    "SELECT wiki, step, place FROM pass",
    "SELECT wiki, page, title FROM pending",
    "SELECT streams, last_event_id FROM stream_position",
    "SELECT kind, subject, detail FROM alarm WHERE kind <> 'stream-behind'",
    "SELECT day, farm, part, lines, body FROM dataset",
    "SELECT form_version, suffix_version FROM key_form",
)
_KINDS: Final = ("cut", "stall", "swallow", "read-only", "lost-commit", "lost-work")
_numbers = count()


@dataclass(frozen=True)
class Work:
    """A command, and the number that grows while it works."""

    words: Sequence[str]
    progress: LiteralString
    before: Sequence[Sequence[str]] = ()
    has_old_keys: bool = False


def dump(day: int, links: int) -> list[str]:
    """The import of dumps whose pages have so many links each."""
    words = ["feed", "dump", "awiki@wmflabs", "--page", "page.sql", "--externallinks", f"links{links}.sql"]
    return [*words, "--day", str(day)]


WORKS: Final = {
    "dump": Work(dump(100, 3), "SELECT count(*) FROM page"),
    "pass": Work(["feed", "pass", "--day", "100"], "SELECT (SELECT count(*) FROM page) + (SELECT count(*) FROM link)"),
    "events": Work(
        ["feed", "events", "--once", "--farm", "wmflabs", "--day", "101"],
        "SELECT count(*) FROM link",
        before=[["feed", "pass", "--day", "100"]],
    ),
    "maintain": Work(
        ["maintain", "--allow-many", "--day", "210"],
        "SELECT 1000000 + 10 * (SELECT count(*) FROM dataset) - (SELECT count(*) FROM url)",
        before=[dump(100, 3), dump(101, 1), dump(205, 1)],
    ),
    "rekey": Work(
        ["rekey", "--day", "200"],
        "SELECT count(*) FROM url WHERE bucket % 2 = 0",
        before=[dump(100, 3)],
        has_old_keys=True,
    ),
}


def write_dumps(folder: Path) -> None:
    """A wiki's dumps: its pages, and what links they have with three links each and with one."""

    def written(name: str, table: str, numbers: str, texts: str, rows: Iterator[str]) -> None:
        columns = [f"`{column}` int(10)" for column in numbers.split()]
        columns += [f"`{column}` varbinary(255)" for column in texts.split()]
        head, body = ",\n  ".join(columns), ",\n".join(rows)
        text = f"CREATE TABLE `{table}` (\n  {head}\n) ENGINE=InnoDB;\nINSERT INTO `{table}` VALUES\n{body};\n"
        (folder / name).write_text(text, encoding="utf-8")

    pages = range(1, _PAGES + 1)
    rows = (f"({page},0,0,1,'Page_{page}','20260102030405','wikitext')" for page in pages)
    numbers = "page_id page_namespace page_is_redirect page_latest"
    written("page.sql", "page", numbers, "page_title page_links_updated page_content_model", rows)
    for links in (1, 3):
        each = ((page, link) for page in pages for link in range(links))
        rows = (f"({page * 10 + link},{page},'http://demo.h{page % 97}.','/{page}/{link}')" for page, link in each)
        written(f"links{links}.sql", "externallinks", "el_id el_from", "el_to_domain_index el_to_path", rows)


def _sibling(url: Url) -> UrlKey:
    bucket, *rest = key_of(url)
    return UrlKey(bucket | 1, *rest)


@asynccontextmanager
async def open_stage(folder: Path, work: Work, dsn: str) -> AsyncIterator[Place]:
    """A place where all is done, in this database, that comes before the work."""
    folder.mkdir(exist_ok=True)
    pages = {f"Page {page}": [f"http://h{page % 97}.demo/{page}"] for page in range(1, _WIKI_PAGES + 1)}
    events = [
        links_added(1 + number % _WIKI_PAGES, [f"https://new.demo/{number}"], number / 100, wiki="demowiki")
        if number % 3
        else change("create", 5_000 + number, number / 100, wiki="demowiki")
        for number in range(_EVENTS)
    ]
    async with open_place(folder, World({}), pages) as place, open_event_server(events) as server:
        write_dumps(folder)
        place.environ |= {"WEBOID_DATABASE": dsn, "WEBOID_FEED_STREAMS": server.url}
        for words in work.before:
            done = await place.run(*words)
            assert done.status == 0, done.err
        if work.has_old_keys:
            async with open_pool(dsn, size=2) as pool:
                await rekey(pool, 100, KeyScheme(suffix_version="another", key=_sibling))
        yield place


@asynccontextmanager
async def copy_of(dsn: str) -> AsyncIterator[Away]:
    """A copy of a database to which nobody is connected, behind a proxy of its own."""
    server = make_conninfo(dsn, dbname="postgres")
    name = f"weboid_test_{os.getpid()}_away_{next(_numbers)}"
    made, template = sql.Identifier(name), sql.Identifier(str(conninfo_to_dict(dsn)["dbname"]))
    async with await psycopg.AsyncConnection.connect(server, autocommit=True) as connection:
        await connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy").format(made, template))
        try:
            copy = make_conninfo(dsn, dbname=name)
            with open_database_proxy(copy) as proxy:
                yield Away(copy, proxy)
        finally:
            await connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(made))


async def state_of(reached: Away) -> list[list[str]]:
    async with await psycopg.AsyncConnection.connect(reached.database) as connection:
        return [sorted([repr(row) async for row in await connection.execute(query)]) for query in _STORE]


async def start(place: Place, work: Work, reached: Away) -> Running:
    environ = place.environ | {"WEBOID_DATABASE": reached.proxy.dsn, "WEBOID_DATABASE_SILENCE_S": "0.3"}
    return Running(await replace(place, environ=environ, started=place.started).start(*work.words))


@dataclass(frozen=True)
class Undisturbed:
    """What the work comes to when nothing happens, and the number of its progress before and after."""

    state: list[list[str]]
    first: int
    last: int

    def moment(self, share: float) -> int:
        return self.first + max(1, int((self.last - self.first) * share))


async def undisturbed(place: Place, work: Work, dsn: str) -> Undisturbed:
    async with copy_of(dsn) as reached:
        first = await reached.number(work.progress)
        running = await start(place, work, reached)
        assert await running.ended() == 0, running.said
        assert running.count(AWAY) == 0
        last = await reached.number(work.progress)
        assert last > first
        done = Undisturbed(await state_of(reached), first, last)
        await assert_in_order(place, reached)
        return done


async def strike(running: Running, work: Work, reached: Away, moment: int, kind: str) -> None:
    """Takes the database away at a moment of the work, which stands still whenever its progress is looked at.

    Else a command on a busy machine would have ended before.
    """
    async with asyncio.timeout(60), reached.counting(work.progress) as number:
        while True:
            running.process.send_signal(signal.SIGSTOP)
            if await number() >= moment:
                break
            running.process.send_signal(signal.SIGCONT)
            await asyncio.sleep(0.005)
    await reached.begin(kind)
    running.process.send_signal(signal.SIGCONT)


async def disturbed(place: Place, work: Work, dsn: str, goal: Undisturbed, kind: str, share: float) -> None:
    """Does the work while the database goes away at a share of it; the store must come to the same."""
    async with copy_of(dsn) as reached:
        running = await start(place, work, reached)
        await strike(running, work, reached, goal.moment(share), kind)
        await running.until_away()
        await reached.end()
        assert await running.ended() == 0, f"{kind} {share}: {running.said}"
        assert running.count(AWAY) == 1, running.said
        assert await state_of(reached) == goal.state, f"{kind} {share}"
        if kind == "lost-commit":
            await assert_in_order(place, reached)


async def assert_in_order(place: Place, reached: Away) -> None:
    place = replace(place, environ=place.environ | {"WEBOID_DATABASE": reached.database})
    checked = await place.run("check-store", "--day", "210")
    assert checked.status == 0, checked.err + checked.out


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", [*(name for name in WORKS if name != "dump"), *thorough("dump")])
@pytest.mark.parametrize("time", TIMES)
async def test_wherever_the_database_goes_away_nothing_is_lost(
    database: str, tmp_path: Path, name: str, time: int
) -> None:
    work, number = WORKS[name], list(WORKS).index(name) + time - 1
    async with open_stage(tmp_path / name, work, database) as place:
        goal = await undisturbed(place, work, database)
        tries = [(kind, ((number + turn) % 5 + 0.2) / 6) for turn, kind in enumerate(_KINDS)]
        if not IS_THOROUGH:  # All kinds and shares come up, each in some of the works.
            tries = tries[number % 3 :: 3]
        for first in range(0, len(tries), 4):
            await asyncio.gather(*(disturbed(place, work, database, goal, *each) for each in tries[first : first + 4]))


async def test_an_import_goes_on_after_a_commit_of_which_nobody_learned(database: str, tmp_path: Path) -> None:
    work = WORKS["dump"]
    write_dumps(tmp_path)
    place = Place(tmp_path)
    await disturbed(place, work, database, await undisturbed(place, work, database), "lost-commit", 0.3)


@pytest.mark.parametrize(
    "words", [dump(100, 1), ["feed", "pass"], ["maintain"], ["check-store"], ["rekey"]], ids=lambda words: words[-1]
)
async def test_a_command_of_a_person_ends_at_once_if_the_database_is_away_at_its_start(
    database: str, tmp_path: Path, words: list[str]
) -> None:
    write_dumps(tmp_path)
    place = Place(tmp_path)
    place.watch("awiki@wmflabs", "http://127.0.0.1:1/api.php")
    with open_database_proxy(database) as proxy:
        proxy.cut()
        place.environ["WEBOID_DATABASE"] = proxy.dsn
        ran = await place.run(*words)
    assert ran.status == 2
    assert "cannot reach the database" in ran.err
    assert "Traceback" not in ran.err
