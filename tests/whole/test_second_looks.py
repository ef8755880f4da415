"""The second vantage point as real processes: a remote crawler of a local one (C-14), and as Toolforge asks it."""

import asyncio
import base64
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncssh
import psycopg
import pytest
from support.commands import Place, open_place
from support.remote import CRAWLERS, TOKEN
from support.toolforge import REPOSITORY

from weboid.demo.world import Behaviour, BotWall, Code, Host, Life, Page, Spell, World

GONE: Life[Behaviour] = (Spell(0, Code(404)),)
REFUSED: Life[Behaviour] = (Spell(0, BotWall(404, inside=Page())),)
"""Refused to those whose User-Agent names no browser: here, all but the other place."""
FINE: Life[Behaviour] = (Spell(0, Page()),)
WORLD = World(
    {
        "gone.demo": Host(paths={"/": GONE}),
        "refused.demo": Host(paths={"/": REFUSED}),
        "fine.demo": Host(paths={"/": FINE}),
    }
)
DAYS = (100, 103, 104, 105, 106, 107, 108, 109)


async def _verdicts(near: Place) -> dict[str, str]:
    lines = (await near.run("show", "--json", "demowiki@wmflabs:All")).lines()
    return {line["normal"].split("//")[1].split(".")[0]: f"{line['verdict']} {line['reason']}" for line in lines}


async def _lived(dsn: str) -> None:
    async with asyncio.timeout(60), await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
        while await (await connection.execute("SELECT FROM lived")).fetchone() is None:
            await asyncio.sleep(0.05)


@pytest.mark.long
async def test_what_is_refused_to_one_address_alone_is_not_called_dead(database: str, tmp_path: Path) -> None:
    (tmp_path / "near").mkdir()
    (tmp_path / "far").mkdir()
    urls = [f"http://{host}/" for host in WORLD.hosts]
    async with open_place(tmp_path / "near", WORLD, {"All": urls}) as near:
        assert near.web
        far = Place(tmp_path / "far")
        far.environ = {**near.environ, "WEBOID_CRAWL_TOKEN": TOKEN, "WEBOID_NET_USER_AGENT": "Mozilla/5.0 (remote)"}
        near.environ |= {
            "WEBOID_DATABASE": database,
            "WEBOID_WEB_CRAWLERS": CRAWLERS,
            "WEBOID_CRAWL_VANTAGE": "crawlers",
            "WEBOID_POLICY_MISSING_SPAN": "9",
        }
        try:
            assert (await near.run("feed", "pass", "--day", "100")).status == 0
            _, core = await near.serve("--day", "100")
            # On that day nothing is due, so that it has no rounds of its own.
            await far.start("crawl", "--day", "99", "--core", core)
            await _lived(database)
            for day in DAYS:
                ran = await near.run("crawl", "--once", "--day", str(day))
                assert (ran.status, "second vantage point" in ran.err) == (0, False)
            assert await _verdicts(near) == {
                "gone": "dead not-found",
                "refused": "doubtful disputed",
                "fine": "working ok",
            }
            by_far = {asked.host for asked in near.web.requests if "remote" in asked.headers.get("user-agent", "")}
            assert by_far >= {"gone.demo", "refused.demo"}
            assert (await near.run("check-store", "--day", "109")).status == 0
        finally:
            await far.end()


URL = "http://site.demo/\n"
ANSWER = '{"normal": "http://site.demo/", "outcome": "ok"}\n'


@pytest.mark.parametrize("status", [0, 3])
async def test_what_the_other_place_answers_is_handed_on(status: int) -> None:
    key, host_key = _new_key(), _new_key()
    async with _other_place(host_key, key, status) as (port, asked):
        assert await _said(port, key, host_key) == (status, ANSWER)
    assert asked == [("weboid check --json -", URL)]


async def test_a_host_with_another_key_or_that_does_not_know_us_is_asked_nothing() -> None:
    key, host_key = _new_key(), _new_key()
    async with _other_place(host_key, key) as (port, asked):
        assert await _said(port, key, _new_key()) == (1, "")
        assert await _said(port, _new_key(), host_key) == (1, "")
    assert asked == []


@asynccontextmanager
async def _other_place(
    host_key: asyncssh.SSHKey, let_in: asyncssh.SSHKey, status: int = 0
) -> AsyncIterator[tuple[int, list[tuple[str | None, str]]]]:
    """A server that answers every command alike; its port, and what it was asked: commands and their inputs."""
    asked: list[tuple[str | None, str]] = []

    async def answer(process: asyncssh.SSHServerProcess[str]) -> None:
        asked.append((process.command, await process.stdin.read()))
        process.stdout.write(ANSWER)
        process.exit(status)

    known = asyncssh.import_authorized_keys(let_in.export_public_key().decode())
    server = await asyncssh.listen(
        "127.0.0.1", 0, server_host_keys=[host_key], authorized_client_keys=known, process_factory=answer
    )
    async with server:
        yield server.get_port(), asked


def _new_key() -> asyncssh.SSHKey:
    return asyncssh.generate_private_key("ssh-ed25519")


async def _said(port: int, key: asyncssh.SSHKey, host_key: asyncssh.SSHKey) -> tuple[int | None, str]:
    """The status of the script and what it printed; of the environment it gets no more than in a pod."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "toolforge/vantage.py", f"weboid@127.0.0.1:{port}"),
        cwd=REPOSITORY,
        env={
            "HOME": "/nowhere",
            "VANTAGE_KEY": base64.b64encode(key.export_private_key()).decode(),
            "VANTAGE_HOST_KEY": host_key.export_public_key().decode().strip(),
        },
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
    )
    try:
        out, _ = await process.communicate(URL.encode())
    finally:
        if process.returncode is None:
            process.kill()
    return process.returncode, out.decode()
