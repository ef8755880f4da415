"""Everything at once, and the demonstration, as processes."""

import asyncio
import json
import os
import signal
import socket
from contextlib import closing
from pathlib import Path

import aiohttp
from support.commands import Place, open_place
from support.ports import free_port

from weboid.demo.world import Code, Host, Page, Spell, World

WORLD = World({"site.demo": Host(paths={"/a": (Spell(0, Page()),), "/gone": (Spell(0, Code(404)),)})})


async def test_up_feeds_checks_and_answers_and_ends_in_order(server_folder: Path) -> None:
    folder = server_folder / "up"
    folder.mkdir(mode=0o711)
    async with open_place(folder, WORLD, {"Harbour": ["http://site.demo/a", "http://site.demo/gone"]}) as place:
        port = free_port()
        place.environ["WEBOID_WEB_PORT"] = str(port)
        process = await place.start("up")
        try:
            url = f"http://127.0.0.1:{port}/api/page?dbname=demowiki@wmflabs&pageid=1&all=1"
            async with asyncio.timeout(60):
                while await _verdicts(url) != {"working", "doubtful"}:
                    await asyncio.sleep(0.2)
            children = _children(process.pid)
            assert len(children) == 6  # five parts, and the guard of the embedded server
        finally:
            process.send_signal(signal.SIGTERM)
            _, err = await process.communicate()
        assert process.returncode == 0, err.decode()
        assert not any(Path(f"/proc/{child}").exists() for child in children)


async def test_a_part_that_is_killed_is_started_again(server_folder: Path) -> None:
    folder = server_folder / "again"
    folder.mkdir(mode=0o711)
    async with open_place(folder, WORLD, {"Harbour": ["http://site.demo/a"]}) as place:
        port = free_port()
        place.environ["WEBOID_WEB_PORT"] = str(port)
        process = await place.start("up")
        try:
            async with asyncio.timeout(60):
                while not await _answers(port):
                    await asyncio.sleep(0.2)
                (web,) = [pid for pid in _children(process.pid) if b"\0serve\0" in _command(pid)]
                os.kill(web, signal.SIGKILL)
                while await _answers(port):
                    await asyncio.sleep(0.05)
                while not await _answers(port):
                    await asyncio.sleep(0.2)
        finally:
            process.send_signal(signal.SIGTERM)
            await process.communicate()
        assert process.returncode == 0


async def test_the_demonstration_tells_at_once_that_its_port_is_taken(server_folder: Path) -> None:
    place = Place(server_folder)
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        place.environ = {"WEBOID_WEB_PORT": str(taken.getsockname()[1])}
        ran = await place.run("demo")
    assert ran.status == 2
    assert "WEBOID_WEB_PORT" in ran.err


async def _verdicts(url: str) -> set[str]:
    try:
        async with aiohttp.ClientSession() as client, client.get(url) as response:
            pages = json.loads(await response.text()).get("pages", [])
    except aiohttp.ClientError:
        return set()
    return {link["verdict"] for page in pages for link in page["links"]}


async def _answers(port: int) -> bool:
    try:
        async with aiohttp.ClientSession() as client, client.get(f"http://127.0.0.1:{port}/healthz") as response:
            return response.status == 200
    except aiohttp.ClientError:
        return False


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _command(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()
