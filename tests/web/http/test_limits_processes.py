"""Limits hold over several web processes and their restarts: real `weboid serve` on one database, under load (W-9)."""

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import psycopg
import pytest
from support.commands import Place

COST = 2
"""Units for the start page, which asks the database too."""
CALLERS = 12
LIMIT_S = 60


@dataclass
class Web:
    """Web processes on one database."""

    place: Place
    processes: list[tuple[asyncio.subprocess.Process, str]] = field(default_factory=list)

    async def start(self) -> None:
        process = await self.place.start("serve", "--port", "0")
        assert process.stderr
        answer = ""
        async with asyncio.timeout(LIMIT_S):
            while not (found := re.search(r"answers at (\S+)/", line := (await process.stderr.readline()).decode())):
                answer += line
                assert line, f"it ended: {answer}"
        self.processes.append((process, found[1]))

    async def restart(self, number: int) -> None:
        """Ends one in order, and starts another."""
        process, _ = self.processes.pop(number)
        process.terminate()
        async with asyncio.timeout(LIMIT_S):
            await process.communicate()
        assert process.returncode == 0
        await self.start()

    @property
    def urls(self) -> list[str]:
        return [url for _, url in self.processes]


@asynccontextmanager
async def open_web(folder: Path, database: str, burst: int, proxies: str) -> AsyncIterator[Web]:
    """Two of them; one unit is earned a minute."""
    place = Place(folder)
    place.environ = {
        "WEBOID_DATABASE": database,
        "WEBOID_WEB_RATE": "1",
        "WEBOID_WEB_BURST": str(burst),
        "WEBOID_WEB_PROXIES": proxies,
    }
    web = Web(place)
    try:
        await asyncio.gather(web.start(), web.start())
        yield web
    finally:
        await place.end()


async def load(urls: Sequence[str], each: int, address: str) -> Counter[int]:
    """Many callers at once, over all processes in turn."""
    async with aiohttp.ClientSession(headers={"X-Forwarded-For": address}) as client:

        async def ask(caller: int) -> list[int]:
            found = []
            for number in range(each):
                async with client.get(urls[(caller + number) % len(urls)] + "/") as response:
                    await response.read()
                    found.append(response.status)
            return found

        return Counter(status for found in await asyncio.gather(*map(ask, range(CALLERS))) for status in found)


async def earned(database: str, since: float) -> int:
    """How many units the time since then was worth at the most, by the database's clock."""
    return int((await now(database) - since) // 60) + 1


async def now(database: str) -> float:
    async with await psycopg.AsyncConnection.connect(database) as connection:
        row = await (await connection.execute("SELECT extract(epoch FROM clock_timestamp())::float8")).fetchone()
    assert row
    return float(row[0])


@pytest.mark.long
async def test_two_processes_answer_as_much_as_the_budget_of_each_range_allows_also_after_a_restart(
    database: str, tmp_path: Path
) -> None:
    async with open_web(tmp_path, database, burst=80, proxies="127.0.0.0/8") as web:
        begun = await now(database)
        first = await load(web.urls, 2, "203.0.113.1")
        assert first == {200: CALLERS * 2}
        await web.restart(0)
        second = await load(web.urls, 4, "203.0.113.1")
        assert second[200] + second[429] == CALLERS * 4
        others = await asyncio.gather(*(load(web.urls, 4, f"203.0.{number}.1") for number in range(2)))
        for answered in (first[200] + second[200], *(count[200] for count in others)):
            assert 80 <= answered * COST <= 80 + await earned(database, begun)
        async with await psycopg.AsyncConnection.connect(database) as connection:
            assert (await (await connection.execute("SELECT count(*) FROM throttle")).fetchone()) == (3,)
            assert (await (await connection.execute("SELECT count(*) FROM throttle_key")).fetchone()) == (1,)


async def test_a_malformed_token_ends_the_program_with_its_name_and_not_its_value(
    database: str, tmp_path: Path
) -> None:
    place = Place(tmp_path)
    place.environ = {"WEBOID_DATABASE": database, "WEBOID_WEB_TOKENS": "bot:hunter2"}
    ran = await place.run("serve", "--port", "0")
    assert ran.status != 0
    assert "WEBOID_WEB_TOKENS" in ran.err
    assert "hunter2" not in ran.err
    assert "Traceback" not in ran.err
