"""Standard output and errors that are closed, full, or read by nobody any more; URLs from standard input: line by line
as they come, and stopped while nothing comes.
"""

import asyncio
import io
import json
import os
import pty
import random
import signal
import threading
import tracemalloc
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import pytest
import uvloop
from support.commands import Place, open_web_place

from weboid.cli.terminal.arguments import LONGEST, read_lines
from weboid.demo.world import World

LIMIT_S = 60
SOON_S = 5.0
"""It takes tenths of a second; the machine of the tests may be busy."""
BOTH = (signal.SIGTERM, signal.SIGINT)
Run = Callable[[Coroutine[Any, Any, Any]], Any]
both_loops = pytest.mark.parametrize("run", [asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    async with open_web_place(tmp_path, World({})) as place:
        yield place


def _with(redirection: str) -> Sequence[str]:
    """The start of a program with its files as a shell redirects them; ``gone`` is a pipe that nobody reads."""
    opened = f'mkfifo gone 2>&-; : <gone & exec 9>gone; wait; exec "$@" {redirection} 9>&-'
    return ("sh", "-c", opened if "9" in redirection else f'exec "$@" {redirection}', "sh")


async def _ended(process: asyncio.subprocess.Process, given: bytes | None = None) -> tuple[int | None, str, str]:
    async with asyncio.timeout(LIMIT_S):
        out, err = await process.communicate(given)
    return process.returncode, out.decode(), err.decode()


@pytest.mark.parametrize("redirection", ["2>&9", "2>/dev/full", "<&- >&- 2>&-"])
async def test_a_part_whose_lines_cannot_be_written_goes_on(place: Place, database: str, redirection: str) -> None:
    place.environ["WEBOID_DATABASE"] = database
    process = await place.start_anew("maintain", "--day", "100", before=_with(redirection))
    assert (await _ended(process))[0] == 0


async def test_results_that_nobody_reads_end_a_command_as_a_signal_would(place: Place) -> None:
    process = await place.start_anew("normalize", "-", before=_with(">&9"))
    assert await _ended(process, b"https://example.org/\n" * 10_000) == (128 + signal.SIGPIPE, "", "")
    process = await place.start_anew("normalize", "https://example.org/", before=_with(">&9"))
    assert await _ended(process) == (128 + signal.SIGPIPE, "", "")


async def test_results_that_cannot_be_written_are_an_error_with_a_reason(place: Place) -> None:
    process = await place.start_anew("normalize", "https://example.org/", before=_with(">/dev/full"))
    status, _, output = await _ended(process)
    assert status == 2
    assert output == f"weboid: standard output cannot be written: {os.strerror(28)}\n"


def _opened(kind: str) -> tuple[int, int]:
    """The end of a pipe or a terminal that the command reads, and ours."""
    if kind == "pipe":
        return os.pipe()
    ours, theirs = pty.openpty()
    return theirs, ours


async def _next_line(process: asyncio.subprocess.Process) -> dict[str, Any]:
    assert process.stdout
    async with asyncio.timeout(LIMIT_S):
        found = json.loads(await process.stdout.readline())
    assert isinstance(found, dict)
    return found


async def _stopped_while_it_waits(place: Place, command: str, kind: str, order: int) -> None:
    theirs, ours = _opened(kind)
    process = await place.start(command, "--json", "-", stdin=theirs)
    os.close(theirs)
    for given in ("first", "second"):  # each is answered while the input stays open
        os.write(ours, f"\n{given}\n".encode())
        assert (await _next_line(process))["url"] == given
    os.write(ours, b"half")
    begun = asyncio.get_running_loop().time()
    process.send_signal(order)
    assert await _ended(process) == (128 + order, "", "")
    took_s = asyncio.get_running_loop().time() - begun
    os.close(ours)
    assert took_s < SOON_S


async def test_a_stop_is_obeyed_while_nothing_comes(place: Place) -> None:
    for command, kind, order in (
        *(("normalize", kind, order) for kind in ("pipe", "terminal") for order in BOTH),
        ("check", "pipe", signal.SIGINT),
        ("snapshots", "terminal", signal.SIGTERM),
    ):
        await _stopped_while_it_waits(place, command, kind, order)


async def test_nothing_and_files_are_read_to_their_end(place: Place, tmp_path: Path) -> None:
    given = tmp_path / "urls"
    given.write_bytes(b"\n  first \r\n\r\nsecond\xff\nhalf")
    for file, expected in ((os.devnull, []), (str(given), ["first", "second?", "half"])):
        theirs = os.open(file, os.O_RDONLY)
        process = await place.start("normalize", "--json", "-", stdin=theirs)
        os.close(theirs)
        status, out, err = await _ended(process)
        assert ([json.loads(line)["url"] for line in out.splitlines()], status, err) == (expected, 0, "")
    for command, status in (("check", 0), ("snapshots", 2)):
        ran = await place.run(command, "--json", "-", stdin="first\n\nhalf")
        assert ([line["url"] for line in ran.lines()], ran.status, ran.err) == (["first", "half"], status, "")


HOSTILE = (
    b"",
    b"\n",
    b"a",
    b"a\nb",
    b"a\r\nb\rc\n\r\r\n",
    b"x" * LONGEST,
    b"x" * (LONGEST - 1) + b"\ny\n",
    b"x" * (LONGEST + 1) + b"\nhttp://a.example/\n",
    b"\r\n" * 40_000,
    "ä€😀\n".encode() * 30_000,
    b"\xff\xfe\xc3\n\xe2\x82\n\xf0\x9f\x98",
    b"\0\x0b\x0c\x1c\x85\xc2\x85\xe2\x80\xa8\n",
    b"z" * 350_000,
)


def _as_before(given: bytes) -> list[str]:
    text = io.TextIOWrapper(io.BytesIO(given), "utf-8", "surrogateescape")
    return list(iter(lambda: text.readline(LONGEST), ""))


async def _all_of(file: int) -> list[str]:
    return [line async for line in read_lines(file, "utf-8")]


def _write_in_pieces(file: int, given: bytes, seed: int) -> None:
    choice = random.Random(seed)
    while given:
        size = choice.choice([1, 2, 3, 1_000, 65_536, 200_000])
        os.write(file, given[:size])
        given = given[size:]
    os.close(file)


@both_loops
def test_lines_are_those_of_python_however_they_come(run: Run, tmp_path: Path) -> None:
    for seed, given in enumerate(HOSTILE):
        theirs, ours = os.pipe()
        writer = threading.Thread(target=_write_in_pieces, args=(ours, given, seed))
        writer.start()
        assert run(_all_of(theirs)) == _as_before(given), seed
        writer.join()
        os.close(theirs)
        (tmp_path / "given").write_bytes(given)
        with (tmp_path / "given").open("rb") as file:
            assert run(_all_of(file.fileno())) == _as_before(given), seed


@both_loops
def test_many_lines_need_no_more_memory_than_few_and_the_loop_turns(run: Run) -> None:
    lines = 100_000
    given = b"http://a.example/" + b"y" * 40 + b"\n"

    def write(file: int) -> None:
        for _ in range(lines // 1_000):
            os.write(file, given * 1_000)
        os.close(file)

    async def count(file: int) -> tuple[int, int]:
        turns = 0

        def turn() -> None:
            nonlocal turns
            turns += 1
            asyncio.get_running_loop().call_soon(turn)

        turn()
        return sum([1 async for _ in read_lines(file, "utf-8")]), turns

    theirs, ours = os.pipe()
    writer = threading.Thread(target=write, args=(ours,))
    tracemalloc.start()
    try:
        writer.start()
        counted, turns = run(count(theirs))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        writer.join()
        os.close(theirs)
    assert counted == lines
    assert turns > lines * len(given) // (1 << 17)
    assert peak < 3 << 20  # all lines are 10 MB, as texts
