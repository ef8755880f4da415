"""Each part killed in turn (O-5): the status, the metrics and an alarm say so, and the others go on."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

import aiohttp
import psycopg
import pytest
from support.commands import Place, open_place
from support.ports import free_port
from support.sseserver import Turn, open_event_server
from support.waiting import until

from weboid.cli.days import today
from weboid.config import load_config
from weboid.demo.world import World
from weboid.store.db.pool import open_pool
from weboid.store.lists.alarms import AlarmBounds
from weboid.web.app import make_app
from weboid.web.health.reader import HealthReader
from weboid.web.http.server import open_site

PARTS: Final = {
    "feed": ["feed", "pass", "--repeat"],
    "events": ["feed", "events", "--farm", "wmflabs"],
    "archive": ["archive"],
    "maintain": ["maintain", "--repeat"],
    "web": ["serve"],
    "crawl": ["crawl"],
}


@pytest.fixture
async def place(tmp_path: Path, database: str) -> AsyncIterator[Place]:
    async with open_place(tmp_path, World({}), {"One": []}) as place:
        place.environ |= {"WEBOID_DATABASE": database, "WEBOID_WEB_PORT": str(free_port())}
        yield place


async def _status(client: aiohttp.ClientSession, url: str) -> dict[str, Any]:
    async with client.get(f"{url}/status?format=json") as response:
        found = json.loads(await response.text())
        assert isinstance(found, dict)
        return found


def _states(status: dict[str, Any]) -> dict[str, str]:
    return {part["role"]: part["state"] for part in status["parts"]}


async def _grow_old(database: str, role: str) -> None:
    """Lets the last sign of life of a part be as old as it must be for an alarm."""
    async with await psycopg.AsyncConnection.connect(database, autocommit=True) as connection:
        age_s = AlarmBounds().gone_s + 1
        await connection.execute(
            "UPDATE part SET seen = seen - make_interval(secs => %s) WHERE role = %s", (age_s, role)
        )


@pytest.mark.long
async def test_a_part_that_is_killed_is_missed_once_it_is_silent_for_long_and_the_others_go_on(
    place: Place, database: str, tmp_path: Path
) -> None:
    async with AsyncExitStack() as stack:
        stream = await stack.enter_async_context(open_event_server([], Turn(end="stall")))
        pool = await stack.enter_async_context(open_pool(database, size=2, part="test"))
        reader = HealthReader(pool, today, kept_s=0, alarms=AlarmBounds())
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

        await until(all_run)
        assert (await _status(client, url))["alarms"] == []
        async with client.get(f"{url}/healthz/alarms") as response:
            assert response.status == 200
        missed: set[str] = set()
        for role, process in running.items():
            process.kill()
            await process.wait()
            assert {alarm["subject"] for alarm in (await _status(client, url))["alarms"]} == missed
            await _grow_old(database, role)
            missed.add(role)
            status = await _status(client, url)
            assert [(alarm["kind"], alarm["subject"]) for alarm in status["alarms"]] == [
                ("part-gone", each) for each in sorted(missed)
            ]
            living = running.keys() - missed
            assert all(running[each].returncode is None for each in living)
            assert {_states(status)[each] for each in living} <= {"running"}

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
        # One that comes back is shown to run, and its alarm is over.
        await place.start("crawl")

        async def crawls() -> bool:
            status = await _status(client, url)
            return "crawl" not in {alarm["subject"] for alarm in status["alarms"]}

        await until(crawls)
