"""Everything at once, and the demonstration, as processes; what is killed leaves nothing, and what others use stays."""

import asyncio
import json
import os
import secrets
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from support.commands import Place, address_of, open_place
from support.databases import found_in
from support.ports import free_port
from support.processes import assert_nothing_is_left, children, of_folder
from support.repeats import thorough
from support.systemd import Systemd
from support.waiting import until

from weboid.demo.world import Code, Host, Page, Spell, World

WORLD = World({"site.demo": Host(paths={"/a": (Spell(0, Page()),), "/gone": (Spell(0, Code(404)),)})})
LIMIT_S = 60
LEFT_S = 30
"""Seconds in which nothing of a killed program is left: 15 for the parts, and the guard makes sure."""


@pytest.fixture
async def place(server_folder: Path) -> AsyncIterator[Place]:
    folder = server_folder / f"up-{secrets.token_hex(4)}"
    folder.mkdir(mode=0o711)
    place = Place(folder)
    place.environ = {"WEBOID_WEB_PORT": str(free_port()), "WEBOID_CONTACT": "a@b.example"}
    yield place
    await place.end()


async def _begun(place: Place) -> asyncio.subprocess.Process:
    """It, once it answers."""
    process = await place.start_anew("up")
    await address_of(process)
    return process


async def test_up_feeds_checks_and_answers_starts_what_is_killed_again_and_ends_in_order(server_folder: Path) -> None:
    folder = server_folder / "up"
    folder.mkdir(mode=0o711)
    notified = str(folder / "notify")
    async with open_place(folder, WORLD, {"Harbour": ["http://site.demo/a", "http://site.demo/gone"]}) as place:
        address = f"127.0.0.1:{(port := free_port())}"
        place.environ |= {"WEBOID_WEB_PORT": str(port), "NOTIFY_SOCKET": notified, "PGSERVICE": "x", "PGTZ": "Mars"}
        with Systemd(notified) as systemd:
            process = await place.start("--log=json", "up")
            try:
                output = await systemd.until("READY=1", 60)
                assert "STATUS=web runs; crawl runs; archive runs; robot runs; maintain runs; feed runs" in output
                assert not [each for each in output if "WATCHDOG" in each]
                async with asyncio.timeout(60):
                    while await _verdicts(address) != {"working", "doubtful"}:
                        await asyncio.sleep(0.1)
                    parts = children(process.pid)
                    assert len(parts) == 7  # six parts, and the guard of the embedded server
                    (web,) = [pid for pid, words in parts.items() if "serve" in words]
                    os.kill(web, signal.SIGKILL)
                    while web in children(process.pid) or await _verdicts(address) != {"working", "doubtful"}:
                        await asyncio.sleep(0.1)
                parts |= children(process.pid)
            finally:
                process.send_signal(signal.SIGTERM)
                _, err = await process.communicate()
            assert process.returncode == 0, err.decode()
            assert not any(Path(f"/proc/{part}").exists() for part in parts)
            assert await systemd.until("STOPPING=1")
    assert {json.loads(line)["part"] for line in err.splitlines()} >= {"up", "web", "crawl", "feed"}


async def _verdicts(address: str) -> set[str]:
    """Those of the links of the page; none while nobody answers."""
    url = f"http://{address}/api/page?dbname=demowiki@wmflabs&pageid=1&all=1"
    try:
        async with aiohttp.ClientSession() as client, client.get(url) as response:
            pages = json.loads(await response.text()).get("pages", [])
    except aiohttp.ClientError:
        return set()
    return {link["verdict"] for page in pages for link in page["links"]}


@pytest.mark.long
@pytest.mark.parametrize(
    ("workers", "moment"), [("2", 1.3), *thorough(*(("1", moment) for moment in (0.5, 0.9, 1.8, 2.6)))]
)
async def test_a_killed_up_leaves_nothing_at_any_moment(place: Place, workers: str, moment: float) -> None:
    place.environ["WEBOID_WEB_WORKERS"] = workers
    process = await place.start_anew("up")
    await asyncio.sleep(moment)
    process.kill()
    await process.communicate()  # ends when nobody has its pipes open any more: then all parts have ended
    await assert_nothing_is_left(place.folder, LEFT_S)


@pytest.mark.long
async def test_when_all_parts_are_killed_at_once_the_guard_stops_the_server(place: Place) -> None:
    process = await _begun(place)
    os.killpg(process.pid, signal.SIGKILL)
    await process.communicate()
    await assert_nothing_is_left(place.folder, LEFT_S)


@pytest.mark.long
async def test_who_uses_the_server_of_a_killed_up_keeps_it_and_nothing_else_is_left(place: Place) -> None:
    process = await _begun(place)
    user = await place.start("crawl")
    await until(lambda: _has_rows(place, crawl=2))
    process.kill()
    await process.communicate()
    # The crawler and its server go on; the guard of the dead program leaves it to them.
    await until(lambda: _has_rows(place, crawl=1, web=0))
    await until(lambda: len(of_folder(place.folder)) < 25)
    assert user.returncode is None
    user.send_signal(signal.SIGTERM)
    async with asyncio.timeout(LIMIT_S):
        _, err = await user.communicate()
    assert user.returncode == 0, err.decode()
    await assert_nothing_is_left(place.folder, LEFT_S + 60)


async def _has_rows(place: Place, **counts: int) -> bool:
    dsn = f"host={place.folder}/data/socket user=weboid dbname=weboid"
    return counts == {role: len(await found_in(dsn, "SELECT FROM part WHERE role = %s", role)) for role in counts}
