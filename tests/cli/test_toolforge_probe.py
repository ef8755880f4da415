"""A health check as Toolforge makes it: at its end in five seconds, or it failed; and it ends a job's old container
only once the new one, which runs beside it, is healthy.
"""

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path

import aiohttp
import pytest
from support.commands import Place
from support.database_proxy import open_database_proxy
from support.ports import free_port
from support.toolforge import REPOSITORY

from weboid.store.db.pool import open_pool
from weboid.store.schedule.part import PartProcess, PartRole, take_role

PROBE_S = 5.0


@pytest.mark.parametrize("state", ["cut", "swallow"])
def test_while_the_database_is_away_a_job_is_told_healthy_in_time(database: str, state: str) -> None:
    with open_database_proxy(database) as proxy:
        getattr(proxy, state)()
        assert _probed(proxy.dsn, PartRole.CRAWL) == 0


async def test_a_job_whose_role_another_container_still_has_is_healthy(database: str) -> None:
    async with open_pool(database, size=1, part="test") as pool, pool.connection() as conn:
        for role in (PartRole.FEED, PartRole.CRAWL):
            assert await take_role(conn, PartProcess(role, "1-a", "feed-old", "another", 1, "0")) is None
    assert [_probed(database, role) for role in (PartRole.FEED, PartRole.EVENTS, PartRole.CRAWL)] == [0, 1, 1]


async def test_while_the_database_is_away_the_webservice_is_told_healthy(database: str, tmp_path: Path) -> None:
    (path,) = re.findall(r"^health-check-path: (.+)$", (REPOSITORY / "service.template").read_text(), re.MULTILINE)
    place = Place(tmp_path)
    port = free_port()
    with open_database_proxy(database) as proxy:
        place.environ = {"WEBOID_DATABASE": proxy.dsn, "PORT": str(port)}
        await place.start("serve")
        try:
            async with asyncio.timeout(60):
                while await _status(port, "/healthz") != 200:
                    await asyncio.sleep(0.05)
            assert await _status(port, path) == 200
            proxy.cut()
            async with asyncio.timeout(60):
                while await _status(port, "/healthz") != 503:
                    await asyncio.sleep(0.05)
            assert await _status(port, path) == 200
        finally:
            await place.end()


async def _status(port: int, path: str) -> int:
    """The status of the webservice's answer, 0 if it does not listen; raises TimeoutError if it takes too long."""
    timeout = aiohttp.ClientTimeout(PROBE_S)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as client,
            client.get(f"http://127.0.0.1:{port}{path}") as response,
        ):
            return response.status
    except aiohttp.ClientConnectionError:
        return 0


def _probed(database: str, role: PartRole) -> int:
    """The status of a health check; raises TimeoutExpired if it takes too long."""
    call = [sys.executable, "-m", "weboid", "health", role.value]
    return subprocess.run(call, env={**os.environ, "WEBOID_DATABASE": database}, timeout=PROBE_S).returncode
