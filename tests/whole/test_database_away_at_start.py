"""A webservice whose database is away at its start listens, and goes on when the database answers."""

import asyncio
import re
import socket
from pathlib import Path

import aiohttp
import pytest
from support.away import Running, fed_place
from support.ports import free_port

from weboid.web.formats.static_files import style

_LIMIT_S = 40.0
_PAGE = "api/page?dbname=demowiki@wmflabs&pageid=2"


async def _status(client: aiohttp.ClientSession, url: str) -> tuple[int, str | None]:
    async with client.get(url) as answer:
        return answer.status, answer.headers.get("Retry-After")


@pytest.mark.parametrize(
    ("trouble", "workers"),
    [("cut", 1), pytest.param("swallow", 2, marks=pytest.mark.long)],
)
async def test_a_webservice_without_its_database_listens_and_goes_on_when_it_is_there(
    database: str, tmp_path: Path, trouble: str, workers: int
) -> None:
    async with fed_place(tmp_path, database) as (place, away), aiohttp.ClientSession() as client:
        await away.begin(trouble)
        notified = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        notified.bind(str(tmp_path / "notify"))
        notified.setblocking(False)
        place.environ["NOTIFY_SOCKET"] = str(tmp_path / "notify")
        serve = Running(await place.start("serve", f"--port={free_port()}", f"--workers={workers}"))
        await serve.until(lambda: serve.count("Weboid listens at ") > 0)
        found = re.search(r"http://\S+/", serve.said)
        assert found
        url = found[0]
        async with asyncio.timeout(_LIMIT_S):
            assert b"READY=1" in await asyncio.get_running_loop().sock_recv(notified, 4096)
        for path in ("robots.txt", f"static/{style().name}"):
            assert (await _status(client, url + path))[0] == 200
        assert await _status(client, url + _PAGE) == (503, "30")
        assert (await _status(client, url + "healthz"))[0] == 503
        assert serve.count("Weboid answers at ") == 0
        await away.end()
        async with asyncio.timeout(_LIMIT_S):
            # No connection is refused meanwhile.
            while (answered := await _status(client, url + _PAGE))[0] != 200:
                assert answered == (503, "30")
                await asyncio.sleep(0.1)
        assert (await _status(client, url + "healthz"))[0] == 200
        assert serve.count("the database is away: ") == 1, serve.said
        assert serve.process.returncode is None
        await serve.stop()
        assert "Traceback" not in serve.said
        notified.close()
