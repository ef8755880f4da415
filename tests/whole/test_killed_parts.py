"""Each part killed in turn (O-5): an alarm says so, and the others go on."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import psycopg
import pytest
from support.commands import Place, open_place
from support.ports import free_port
from support.sseserver import Turn, open_event_server

from weboid.cli.days import today
from weboid.demo.world import World
from weboid.store.db.pool import open_pool
from weboid.store.lists.alarms import AlarmBounds
from weboid.web.health.reader import HealthReader

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


async def _grow_old(database: str, role: str) -> None:
    """Lets the last sign of life of a part be as old as it must be for an alarm."""
    async with await psycopg.AsyncConnection.connect(database, autocommit=True) as connection:
        age_s = AlarmBounds().gone_s + 1
        await connection.execute(
            "UPDATE part SET seen = seen - make_interval(secs => %s) WHERE role = %s", (age_s, role)
        )


@pytest.mark.long
async def test_a_part_that_is_killed_is_missed_once_it_is_silent_for_long_and_the_others_go_on(
    place: Place, database: str
) -> None:
    async with open_event_server([], Turn(end="stall")) as stream, open_pool(database, size=2, part="test") as pool:
        reader = HealthReader(pool, today, kept_s=0, alarms=AlarmBounds())

        async def alarms() -> list[tuple[str, str]]:
            return [(alarm.kind, alarm.subject) for alarm in (await reader.find_status()).alarms]

        async def roles() -> set[str]:
            return {
                each.role for each in (await reader.find_status()).processes if each.silent_s < AlarmBounds().gone_s
            }

        running = {
            role: await place.start(*words, *(["--url", stream.url] if role == "events" else []))
            for role, words in PARTS.items()
        }
        async with asyncio.timeout(60):
            while await roles() != PARTS.keys():
                await asyncio.sleep(0.05)
        missed: list[tuple[str, str]] = []
        for role, process in running.items():
            process.kill()
            await process.wait()
            assert await alarms() == missed
            await _grow_old(database, role)
            missed = sorted([*missed, ("part-gone", role)])
            assert await alarms() == missed
            living = running.keys() - {each for _, each in missed}
            assert all(running[each].returncode is None for each in living)
            assert await roles() == living
        # One that comes back is shown to run, and its alarm is over.
        await place.start("crawl")
        async with asyncio.timeout(30):
            while ("part-gone", "crawl") in await alarms():
                await asyncio.sleep(0.05)
