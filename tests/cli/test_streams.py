"""Standard output and errors that are closed, full, or read by nobody any more."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import aiohttp
import pytest
from support.commands import Place
from support.ports import free_port

LIMIT_S = 60


@pytest.fixture
async def place(tmp_path: Path, database: str) -> AsyncIterator[Place]:
    place = Place(tmp_path)
    place.environ = {"WEBOID_DATABASE": database, "WEBOID_WEB_PORT": str(free_port()), "WEBOID_CONTACT": "a@b.example"}
    yield place
    await place.end()


def _with(redirection: str) -> Sequence[str]:
    """What starts a program with its files as a shell redirects them; ``gone`` is a pipe that nobody reads."""
    opened = f'mkfifo gone 2>&-; : <gone & exec 9>gone; wait; exec "$@" {redirection} 9>&-'
    return ("sh", "-c", opened if "9" in redirection else f'exec "$@" {redirection}', "sh")


async def _ended(process: asyncio.subprocess.Process, given: bytes = b"") -> tuple[int | None, str, str]:
    async with asyncio.timeout(LIMIT_S):
        out, err = await process.communicate(given)
    return process.returncode, out.decode(), err.decode()


async def _until_it_answers(port: str) -> None:
    async with asyncio.timeout(LIMIT_S), aiohttp.ClientSession() as client:
        while True:
            try:
                async with client.get(f"http://127.0.0.1:{port}/healthz") as response:
                    if response.status == 200:
                        return
            except aiohttp.ClientError:
                pass
            await asyncio.sleep(0.1)


@pytest.mark.parametrize("redirection", ["2>&9", "2>/dev/full", "<&- >&- 2>&-"])
async def test_a_part_whose_lines_cannot_be_written_goes_on(place: Place, redirection: str) -> None:
    process = await place.start("serve", before=_with(redirection))
    await _until_it_answers(place.environ["WEBOID_WEB_PORT"])
    process.send_signal(signal.SIGTERM)
    assert (await _ended(process))[0] == 0


async def test_a_command_without_any_open_file_does_its_work(place: Place) -> None:
    process = await place.start("crawl", "--once", before=_with("<&- >&- 2>&-"))
    assert (await _ended(process))[0] == 0


async def test_results_that_nobody_reads_end_a_command_as_a_signal_would(place: Place) -> None:
    process = await place.start("normalize", "-", before=_with(">&9"))
    assert await _ended(process, b"https://example.org/\n" * 10_000) == (128 + signal.SIGPIPE, "", "")
    process = await place.start("normalize", "https://example.org/", before=_with(">&9"))
    assert await _ended(process) == (128 + signal.SIGPIPE, "", "")


async def test_results_that_cannot_be_written_are_an_error_with_a_reason(place: Place) -> None:
    process = await place.start("normalize", "https://example.org/", before=_with(">/dev/full"))
    status, _, said = await _ended(process)
    assert status == 2
    assert said == f"weboid: standard output cannot be written: {os.strerror(28)}\n"
