"""Feeders without a database (O-1): whatever happens on the way, the rows are those of a local feeder."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from support.commands import Place, open_place
from support.databases import all_rows
from support.eventmaker import change, links_added
from support.remote import CRAWLERS, FEED_TOKEN, FEEDERS, open_bad_network
from support.sseserver import EventServer, Turn, open_event_server

from weboid.demo.world import World

PAGES = {f"Page {number}": [f"http://h{number}.demo/", f"http://h{number % 7}.demo/all"] for number in range(1, 401)}
WALKED = ("feed", "pass", "--day", "100")
FOLLOWED = ("feed", "events", "--farm", "wmflabs", "--day", "100")


@dataclass
class Scene:
    """A place with its database and a web process, and another one without."""

    near: Place
    far: Place
    dsn: str
    core: str
    web: asyncio.subprocess.Process

    async def serve_again(self) -> None:
        """Kills the web process, and starts another one at the same address."""
        os.kill(self.web.pid, signal.SIGKILL)
        await self.web.wait()
        self.web, _ = await self.near.serve("--day", "100", port=self.core.rpartition(":")[2])

    async def count(self, query: str) -> int:
        async with await psycopg.AsyncConnection.connect(self.dsn) as connection:
            row = await (await connection.execute(query.encode())).fetchone()
            return int(row[0]) if row else 0

    async def reached(self, query: str, number: int) -> None:
        async with asyncio.timeout(90):
            while await self.count(query) < number:
                await asyncio.sleep(0.02)


@asynccontextmanager
async def open_scene(database: str, folder: Path) -> AsyncIterator[Scene]:
    async with AsyncExitStack() as stack:
        (folder / "near").mkdir()
        (folder / "far").mkdir()
        near = await stack.enter_async_context(open_place(folder / "near", World({}), PAGES))
        far = Place(folder / "far")
        stack.push_async_callback(far.end)
        assert near.wiki
        far.watch("demowiki@wmflabs", near.wiki.api_url)
        far.environ = {**near.environ, "WEBOID_FEED_TOKEN": FEED_TOKEN}
        near.environ |= {"WEBOID_WEB_CRAWLERS": CRAWLERS, "WEBOID_WEB_FEEDERS": FEEDERS}
        near.environ["WEBOID_DATABASE"] = database
        web, core = await near.serve("--day", "100")
        yield Scene(near, far, database, core, web)


async def _in_order(process: asyncio.subprocess.Process) -> str:
    async with asyncio.timeout(100):
        out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return (out + err).decode()


async def _rows(dsn: str) -> dict[str, list[str]]:
    """All rows, without what tells when or how long."""
    rows = await all_rows(dsn, without=("part", "done_request", "day_total", "alarm"))
    rows["wiki"] = [row.rpartition(",")[0] for row in rows["wiki"]]
    rows["stream_position"] = [row.rpartition(',"')[0] for row in rows["stream_position"]]
    return rows


def _events() -> list[object]:
    some = [links_added(page, [f"http://new{page}.demo/"], page / 10) for page in range(1, 200)]
    return [*some, *(change("delete", page, 50) for page in (3, 5, 7)), change("create", 350, 51)]


async def _undisturbed(scene: Scene, dsn: str, server: EventServer) -> dict[str, list[str]]:
    scene.near.environ["WEBOID_DATABASE"] = dsn
    for call in (WALKED, (*FOLLOWED, "--once", "--url", server.url), WALKED):
        ran = await scene.near.run(*call)
        assert ran.status == 0, ran.err
    scene.near.environ["WEBOID_DATABASE"] = scene.dsn
    return await _rows(dsn)


@pytest.mark.long
@pytest.mark.timeout(400)
async def test_over_a_bad_network_and_killed_on_both_sides_it_leaves_the_rows_of_a_local_one(
    database: str, second_database: str, tmp_path: Path
) -> None:
    async with (
        open_scene(database, tmp_path) as scene,
        open_bad_network(scene.core, 11, 0.2) as (address, network),
        open_event_server(_events(), Turn()) as calm,
        open_event_server(_events(), Turn(count=50, end="stall"), Turn(count=80, end="abort"), Turn()) as server,
    ):
        network.spared = "greet"
        call = (*WALKED, "--core", address)
        victim = await scene.far.start(*call)
        await scene.reached("SELECT count(*) FROM page", 150)
        os.kill(victim.pid, signal.SIGKILL)
        await victim.wait()
        other = await scene.far.start(*call)
        await scene.reached("SELECT count(*) FROM link", 350)
        await scene.serve_again()
        assert "400 pages match" not in await _in_order(other)  # it went on where the other was
        following = (*FOLLOWED, "--once", "--url", server.url, "--core", address)
        victim = await scene.far.start(*following)
        await scene.reached("SELECT count(*) FROM stream_position", 1)
        os.kill(victim.pid, signal.SIGKILL)
        await victim.wait()
        for _ in range(3):
            await _in_order(await scene.far.start(*following))
        await _in_order(await scene.far.start(*call))
        assert min(network.did.get(what, 0) for what in ("drop-answer", "repeat", "delay")) > 0
        assert await _rows(database) == await _undisturbed(scene, second_database, calm)
        assert await scene.count("SELECT count(*) FROM page") > 390
        assert (await scene.near.run("check-store", "--day", "100")).status == 0
