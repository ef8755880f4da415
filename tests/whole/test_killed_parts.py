"""Each part killed in turn (O-5): the status, the metrics and an alarm tell of it in time, and the others go on."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from time import monotonic
from typing import Any, Final

import aiohttp
import pytest
from support.commands import Place, open_place
from support.ports import free_port
from support.sseserver import Turn, open_event_server

from weboid.cli.days import today
from weboid.config import load_config
from weboid.demo.world import World
from weboid.store.db.pool import open_pool
from weboid.store.lists.alarms import AlarmBounds
from weboid.web.app import make_app
from weboid.web.health.reader import HealthReader
from weboid.web.http.server import open_site

GONE_S: Final = 25.0
"""The bound in this test: a part that lives writes every 15 s."""
LATE_S: Final = 20.0
"""Four cores that do much else may be slow."""
SEATS: Final = re.compile(r'^weboid_crawler_seats{crawler="[0-9a-f]+"} 50\.0$', re.MULTILINE)
PARTS: Final = {
    "feed": ["feed", "pass", "--repeat"],
    "events": ["feed", "events", "--farm", "wmflabs"],
    "archive": ["archive"],
    "maintain": ["maintain", "--repeat"],
    "web": ["serve"],
    "crawl": ["crawl"],  # The last, as its figures are written 15 s after its start.
}


@pytest.fixture
async def place(tmp_path: Path, database: str) -> AsyncIterator[Place]:
    async with open_place(tmp_path, World({}), {"One": []}) as place:
        place.environ |= {"WEBOID_DATABASE": database, "WEBOID_WEB_PORT": str(free_port())}
        yield place


async def _until(condition: Any, limit_s: float) -> None:
    async with asyncio.timeout(limit_s):
        while not await condition():
            await asyncio.sleep(0.2)


async def _status(client: aiohttp.ClientSession, url: str) -> dict[str, Any]:
    async with client.get(f"{url}/status?format=json") as response:
        found = json.loads(await response.text())
        assert isinstance(found, dict)
        return found


def _states(status: dict[str, Any]) -> dict[str, str]:
    return {part["role"]: part["state"] for part in status["parts"]}


@pytest.mark.long
async def test_a_part_that_is_killed_is_told_in_time_and_the_others_go_on(
    place: Place, database: str, tmp_path: Path
) -> None:
    async with AsyncExitStack() as stack:
        stream = await stack.enter_async_context(open_event_server([], Turn(end="stall")))
        pool = await stack.enter_async_context(open_pool(database, size=2, part="test"))
        reader = HealthReader(pool, today, kept_s=0, alarms=AlarmBounds(gone_s=GONE_S))
        config = load_config(None, {"WEBOID_WEB_RATE": "1000000", "WEBOID_WEB_BURST": "1000000"}, data=tmp_path)
        app = make_app(config, pool, today=today, sources=lambda _: None, health=reader)
        url = await stack.enter_async_context(open_site(app, "127.0.0.1", 0))
        client = await stack.enter_async_context(aiohttp.ClientSession())
        running = {
            role: await place.start(*words, *(["--url", stream.url] if role == "events" else []))
            for role, words in PARTS.items()
        }

        async def all_run() -> bool:
            return _states(await _status(client, url)) == dict.fromkeys(PARTS, "running")

        await _until(all_run, 60)
        assert (await _status(client, url))["alarms"] == []
        async with client.get(f"{url}/healthz/alarms") as response:
            assert response.status == 200
        killed: dict[str, float] = {}
        told: dict[str, float] = {}

        async def look() -> None:
            """Nobody is told to be gone who was not killed, and whoever was not killed runs."""
            status = await _status(client, url)
            for alarm in status["alarms"]:
                assert alarm["kind"] == "part-gone"
                assert alarm["subject"] in killed
                told.setdefault(alarm["subject"], monotonic())
            living = running.keys() - killed.keys()
            assert all(running[role].returncode is None for role in living)
            assert {_states(status)[role] for role in living} <= {"running"}

        async def has_figures() -> bool:
            async with client.get(f"{url}/metrics") as response:
                return SEATS.search(await response.text()) is not None

        for role, process in running.items():
            if role == "crawl":
                await _until(has_figures, 30)
            process.kill()
            await process.wait()
            killed[role] = monotonic()
            for _ in range(8):
                await look()
                await asyncio.sleep(0.5)

        async def all_told() -> bool:
            await look()
            return told.keys() == PARTS.keys()

        await _until(all_told, GONE_S + LATE_S + 10)
        assert all(told[role] - killed[role] < GONE_S + LATE_S for role in PARTS)
        async with client.get(f"{url}/metrics") as response:
            samples = (await response.text()).splitlines()
        for role in PARTS:
            assert any(line.startswith(f'weboid_part_last_seen_seconds{{role="{role}"}}') for line in samples)
        assert f'weboid_alarms{{kind="part-gone"}} {len(PARTS)}.0' in samples
        async with client.get(f"{url}/healthz/alarms") as response:
            assert response.status == 503
            assert (await response.text()).splitlines() == [f"part-gone {role}" for role in sorted(PARTS)]
        async with client.get(f"{url}/status?lang=en") as response:
            assert "has stopped without a word" in await response.text()
        # Whoever comes back is told to run, and its alarm is over.
        await place.start("crawl")

        async def crawls() -> bool:
            status = await _status(client, url)
            return "crawl" not in {alarm["subject"] for alarm in status["alarms"]}

        await _until(crawls, 30)
