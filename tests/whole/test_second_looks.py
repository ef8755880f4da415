"""The second vantage point as Toolforge asks it (C-14)."""

import asyncio
import base64
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncssh
import pytest
from support.toolforge import REPOSITORY

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
