"""A backup taken while a wiki is read and its links are checked; after a restore in another folder all goes on."""

import asyncio
import json
from pathlib import Path
from typing import Any

import aiohttp
import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo
from support.commands import Place, open_place
from support.databases import all_rows, found_in, rows_of
from support.waiting import until

from weboid.demo.world import Code, Host, Page, Spell, World
from weboid.store.backup.client_programs import Runner
from weboid.store.backup.make import make_backup
from weboid.store.backup.manifest import read_manifest
from weboid.store.backup.tables import VOLATILE
from weboid.store.embedded import embedded_folder, open_server

HOSTS, PATHS, A_PAGE = 24, 12, 12
DAY = 100
WORLD = World(
    {
        f"h{host}.demo": Host(
            paths={
                f"/{path}": (Spell(0, Code(404) if host % 3 == 0 else Page(title=f"{path}")),) for path in range(PATHS)
            }
        )
        for host in range(HOSTS)
    }
)
URLS = [f"http://h{host}.demo/{path}" for path in range(PATHS) for host in range(HOSTS)]
PAGES = {f"Page {first}": URLS[first : first + A_PAGE] for first in range(0, len(URLS), A_PAGE)}
SET_RIGHT = {*VOLATILE, "lease"}


@pytest.mark.long
async def test_a_backup_under_load_is_one_moment_and_goes_on_in_another_folder(
    server_folder: Path, tmp_path: Path
) -> None:
    folder, other, file = server_folder / "load", server_folder / "load-restored", tmp_path / "weboid.dump"
    folder.mkdir(mode=0o711)
    async with open_place(folder, WORLD, PAGES) as place:
        web = place.web
        assert web
        # So slow that there is much left to do when the backup is made.
        place.environ |= {"WEBOID_NET_CONNECTIONS": "8", "WEBOID_CRAWL_DELAY": "0.5"}
        data = folder / "data"
        with open_server(data) as server:
            feeding = await place.start("feed", "pass", "--day", str(DAY))
            crawling = await place.start("crawl", "--day", str(DAY))
            await until(lambda: len(web.requests) >= 50)
            moment = await _backup_and_moment(server.dsn, data, file)
            assert crawling.returncode is None
            checked_then = _checked(moment["url"])
            async with asyncio.timeout(60):
                while (await _checked_now(server.dsn)) <= checked_then:
                    await asyncio.sleep(0.05)
            await _stop(feeding)
            await _stop(crawling)
            assert checked_then > 0
            assert (await all_rows(server.dsn))["url"] != moment["url"], "it went on meanwhile"

        place.environ |= {"WEBOID_DATA": str(other), "WEBOID_NET_CONNECTIONS": "50", "WEBOID_CRAWL_DELAY": "0"}
        restored = await place.run("restore", str(file), "--day", str(DAY))
        assert restored.status == 0, restored.err
        with open_server(other) as server:
            now = await all_rows(server.dsn, without=SET_RIGHT)
            assert {name: rows for name, rows in moment.items() if name not in SET_RIGHT} == now
            counted = {name: count for name, count in read_manifest(file).rows.items() if name not in SET_RIGHT}
            assert {name: len(rows) for name, rows in now.items()} == counted
            assert (await place.run("check-store", "--day", str(DAY))).out.startswith("nothing is wrong")
            assert (await place.run("feed", "pass", "--day", str(DAY))).status == 0
            for day in (DAY, DAY + 7):
                place.day = day
                done = await place.run("crawl", "--once", "--day", str(day))
                assert done.status == 0, done.err
            assert len((await all_rows(server.dsn))["url"]) == len(URLS)
            assert (await place.run("check-store", "--day", str(DAY + 7))).out.startswith("nothing is wrong")
            assert await _verdicts(place) == {"working", "doubtful"}


async def _backup_and_moment(dsn: str, data: Path, file: Path) -> dict[str, list[str]]:
    """Makes a backup, and reads all rows as of its snapshot by a second reader of the same snapshot."""
    address = make_conninfo(dsn, user="postgres")
    connect = psycopg.AsyncConnection.connect
    async with await connect(address) as reader, await connect(address) as gate:
        await reader.set_isolation_level(psycopg.IsolationLevel.REPEATABLE_READ)
        await gate.execute("LOCK TABLE replacement IN ACCESS EXCLUSIVE MODE")  # The backup waits for it.
        taking: list[asyncio.Task[None]] = []

        async def take_snapshot() -> None:
            found = await reader.execute("SELECT pg_ls_dir('pg_snapshots')")
            (name,) = [str(each) async for (each,) in found]
            await reader.rollback()
            await reader.execute(sql.SQL("SET TRANSACTION SNAPSHOT {}").format(sql.Literal(name)))
            await reader.execute("SELECT")
            await gate.rollback()

        def show(doing: str, done: int, total: int) -> None:
            if not taking:
                taking.append(asyncio.create_task(take_snapshot()))

        await make_backup(dsn, file, Runner.of(embedded_folder(data).account, data), day=DAY, show=show)
        await taking[0]
        return await rows_of(reader)


def _checked(rows: list[str]) -> int:
    """How many of these rows of URLs have been checked: `asked` is the seventh column."""
    return sum(row.split(",")[6] != "" for row in rows)


async def _checked_now(dsn: str) -> int:
    return len(await found_in(dsn, "SELECT FROM url WHERE asked IS NOT NULL"))


async def _stop(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.terminate()
    _, err = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0, err.decode()


async def _verdicts(place: Place) -> set[str]:
    """What the webservice says of the links of a page."""
    process, url = await place.serve("--day", str(DAY + 7))
    try:
        async with (
            aiohttp.ClientSession() as client,
            client.get(f"{url}/api/page?dbname=demowiki@wmflabs&pageid=1&all=1") as answer,
        ):
            page: dict[str, Any] = json.loads(await answer.text())
    finally:
        await _stop(process)
    return {link["verdict"] for each in page["pages"] for link in each["links"]}
