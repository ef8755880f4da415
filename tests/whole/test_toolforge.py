"""Toolforge, played: what the runbook hands over and the Procfile and jobs.yaml start, and nothing else, takes a wiki
in, hears of an edit, and answers weeks later that a link is dead.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from support.commands import Place, open_place
from support.eventmaker import links_added
from support.ports import free_port
from support.sseserver import EventServer, Turn, open_event_server
from support.stored import do
from support.toolforge import PROBES_S, Tool, handed_over, loaded_jobs
from support.wiki_edits import record_edit

from weboid.cli.days import today
from weboid.core.url.keys import key_of
from weboid.core.url.urls import parse
from weboid.core.verdict.verdict import Verdict, finding_of
from weboid.demo.wikipages import WikiLink
from weboid.demo.world import Code, Host, Page, Spell, World
from weboid.store.db.pool import open_pool
from weboid.store.urls.url import find_urls

WEEKS = 5


@pytest.mark.long
@pytest.mark.timeout(300)
async def test_what_toolforge_starts_tells_of_a_dead_link(database: str, tmp_path: Path) -> None:
    jobs = {job["name"]: job for job in loaded_jobs()}
    lasting = {name: job for name, job in jobs.items() if job["job_type"] == "continuous"}
    first = today()
    dies = first + 3
    world = World(
        {"site.demo": Host(paths={"/a": (Spell(0, Page()),), "/brief": (Spell(0, Page()), Spell(dies, Code(404)))})}
    )
    async with open_place(tmp_path, world, {"Harbour": ["http://site.demo/a"]}) as place:
        assert place.web
        assert place.wiki
        place.day = first
        kept, brief = place.web.located("http://site.demo/a"), place.web.located("http://site.demo/brief")
        async with _built(tmp_path / "tool", place, [links_added(1, [brief], 1, wiki="dewiki")], database) as tool:
            port = free_port()
            await tool.run(tool.commands["migrate"])
            await tool.start("web", PORT=str(port))
            for job in lasting.values():
                if job["name"] != "events":
                    await tool.start(job["cmd"])
            await _until_watched(tool, database, kept)
            record_edit(place.wiki, "Harbour", [*place.wiki.pages["Harbour"].links, WikiLink(brief)])
            await tool.start(lasting["events"]["cmd"])
            await _until_watched(tool, database, brief)
            for job in lasting.values():
                await _until_healthy(tool, job)
            await tool.run(tool.commands[jobs["maintain"]["cmd"]])
            assert await _fetched(tool, port, "/healthz") == "ok\n"
            assert {brief, kept} <= {link["normal"] for link in await _links(tool, port)}
            assert await tool.terminate() == dict.fromkeys(["web", *lasting], 0)
            for job in lasting.values():
                assert await tool.probe(job["health_check"]["script"]) == 1

            last = await _crawled_until_dead(tool, place, database, brief)
            tool.commands["web"] += f" --day {last}"
            await tool.start("web", PORT=str(port))
            verdicts = {link["normal"]: link["verdict"] for link in await _links(tool, port)}
            assert verdicts == {kept: "working", brief: "dead"}
            assert brief in await _fetched(tool, port, "/externalLinkInfo?dbname=dewiki@WMF&pageid=1")
            await tool.terminate()
            assert [*tool.home.iterdir()] == []


@asynccontextmanager
async def _built(folder: Path, place: Place, events: list[Any], database: str) -> AsyncIterator[Tool]:
    """The tool, ready to start; of the streams it gets these events."""
    folder.mkdir()
    async with open_event_server(events, Turn(end="stall")) as stream:
        tool = Tool(folder, {**handed_over(folder / "operator", _values(place, database)), **_little(place, stream)})
        tool.build()
        try:
            yield tool
        finally:
            await tool.kill()


def _values(place: Place, database: str) -> dict[str, str]:
    """What the operator fills in. Of metawiki, which keeps the spam list for all, no page is there to be read."""
    assert place.wiki
    api = place.wiki.api_url
    return {
        "WEBOID_DATABASE": database,
        "WEBOID_CONTACT": "tests@weboid.example",
        "WEBOID_WIKI": json.dumps({"dewiki@WMF": {"api": api}, "metawiki@WMF": {"api": api, "pages": ["Nothing"]}}),
        "WEBOID_NET_CONNECTIONS": "50",
        "WEBOID_WEB_URL": "https://weboid.toolforge.org",
        "WEBOID_WEB_SECRET": "x" * 32,
        "WEBOID_WEB_RATE": "6000",
        "WEBOID_WEB_BURST": "6000",
        "WEBOID_PEOPLE_CLIENT": "client",
        "WEBOID_PEOPLE_CLIENT_SECRET": "secret",
    }


def _little(place: Place, stream: EventServer) -> dict[str, str]:
    """What sends the program to the little web instead of the real one, and makes it hurry."""
    little = {name: value for name, value in place.environ.items() if name.startswith(("WEBOID_NET", "WEBOID_CRAWL"))}
    return {**little, "WEBOID_FEED_STREAMS": stream.url}


async def _until_watched(tool: Tool, database: str, url: str) -> None:
    key = key_of(parse(url))
    async with open_pool(database, size=1, part="test") as pool:
        for _ in range(600):
            async with pool.connection() as conn:
                if key in await find_urls(conn, [key]):
                    return
            if any(process.returncode is not None for process in tool.started.values()):
                break
            await asyncio.sleep(0.1)
    raise AssertionError("\n".join(f"{name}: {tool.said(name)}" for name in tool.started))


async def _until_healthy(tool: Tool, job: dict[str, Any]) -> None:
    """Waits for the first health check that succeeds, as long as Toolforge does."""
    async with asyncio.timeout(PROBES_S):
        while await tool.probe(job["health_check"]["script"]) != 0:
            assert tool.started[job["name"]].returncode is None, tool.said(job["name"])


async def _crawled_until_dead(tool: Tool, place: Place, database: str, url: str) -> int:
    """Lets a round run on every third of the following days; the day on which the link is dead."""
    key = key_of(parse(url))
    async with open_pool(database, size=1, part="test") as pool:
        for day in range(place.day + 1, place.day + 7 * WEEKS, 3):
            place.day = day
            await tool.run(f"{tool.commands['crawl']} --once --day {day}")
            known = (await do(pool, find_urls, [key]))[key]
            if finding_of(known.record, known.host).verdict is Verdict.DEAD:
                return day
    raise AssertionError(known)


async def _links(tool: Tool, port: int) -> list[dict[str, Any]]:
    answer = json.loads(await _fetched(tool, port, "/api/page?dbname=dewiki@WMF&pageid=1&all=1"))
    links: list[dict[str, Any]] = answer["pages"][0]["links"]
    return links


async def _fetched(tool: Tool, port: int, path: str) -> str:
    """What the webservice answers, as soon as it listens."""
    async with aiohttp.ClientSession() as client:
        for _ in range(300):
            assert tool.started["web"].returncode is None, tool.said("web")
            try:
                async with client.get(f"http://127.0.0.1:{port}{path}") as response:
                    assert response.status == 200, await response.text()
                    return await response.text()
            except aiohttp.ClientConnectionError:
                await asyncio.sleep(0.1)
    raise AssertionError(tool.said("web"))
