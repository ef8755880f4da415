"""Commands that read URLs from standard input: line by line as they come, and stopped while nothing comes."""

import asyncio
import io
import json
import os
import pty
import random
import select
import signal
import sys
import threading
import tracemalloc
import tty
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import uvloop
from support.commands import Place, open_web_place

from weboid.cli.processes.stopping import GRACE_S
from weboid.cli.terminal.stdin import LONGEST, read_lines
from weboid.demo.world import World

LIMIT_S = 30.0
SOON_S = 5.0
"""It takes tenths of a second; the machine of the tests may be busy."""
BOTH = (signal.SIGTERM, signal.SIGINT)
COMMANDS = ("check", "snapshots", "normalize")
Run = Callable[[Coroutine[Any, Any, Any]], Any]
both_loops = pytest.mark.parametrize("run", [asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    async with open_web_place(tmp_path, World({})) as place:
        yield place


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
    async with asyncio.timeout(LIMIT_S):
        out, err = await process.communicate()
    took_s = asyncio.get_running_loop().time() - begun
    os.close(ours)
    assert (process.returncode, out, err) == (128 + order, b"", b"")
    assert took_s < SOON_S


@pytest.mark.parametrize("command", COMMANDS)
async def test_a_stop_is_obeyed_while_nothing_comes(place: Place, command: str) -> None:
    ways = [(kind, order) for kind in ("pipe", "terminal") for order in BOTH]
    await asyncio.gather(*(_stopped_while_it_waits(place, command, *way) for way in ways))


async def test_ctrl_c_at_a_terminal_ends_it_and_leaves_the_terminal_as_it_was(place: Place) -> None:
    ours, theirs = pty.openpty()
    tty.setcbreak(theirs)
    process = await place.start("check", "--json", "-", before=("setsid", "--ctty", "--wait"), terminal=theirs)
    os.write(ours, b"first\n")
    said = await asyncio.to_thread(_read_until, ours, b'"class": ')
    assert os.get_blocking(theirs), said
    os.write(ours, b"\x03")
    async with asyncio.timeout(SOON_S):
        status = await process.wait()
    assert status == 130
    os.close(ours)
    os.close(theirs)


def _read_until(terminal: int, words: bytes) -> bytes:
    said = b""
    while words not in said:
        assert select.select([terminal], [], [], LIMIT_S)[0], said
        said += os.read(terminal, 1 << 16)
    return said


@pytest.mark.parametrize("command", COMMANDS)
async def test_nothing_and_files_are_read_to_their_end(place: Place, tmp_path: Path, command: str) -> None:
    given = tmp_path / "urls"
    given.write_bytes(b"\n  first \r\n\r\nsecond\xff\nhalf")
    for file, expected in ((os.devnull, []), (str(given), ["first", "second?", "half"])):
        theirs = os.open(file, os.O_RDONLY)
        process = await place.start(command, "--json", "-", stdin=theirs)
        os.close(theirs)
        async with asyncio.timeout(LIMIT_S):
            out, err = await process.communicate()
        assert [json.loads(line)["url"] for line in out.splitlines()] == expected, err
        assert (process.returncode, err) == (2 if command == "snapshots" and expected else 0, b"")


@pytest.mark.parametrize("command", COMMANDS)
async def test_a_closed_input_is_told_without_a_traceback(place: Place, command: str) -> None:
    process = await place.start(command, "-", before=("sh", "-c", 'exec "$@" <&-', "sh"))
    async with asyncio.timeout(LIMIT_S):
        _, err = await process.communicate()
    assert process.returncode == 2
    assert b"standard input" in err
    assert b"Traceback" not in err


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
    """The lines as Python's own text files give them."""
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
    lines = 300_000
    given = b"http://a.example/" + b"y" * 40 + b"\n"

    def write(file: int) -> None:
        for _ in range(lines // 1_000):
            os.write(file, given * 1_000)
        os.close(file)

    async def count(file: int) -> tuple[int, int]:
        turns, ended = 0, False

        async def turn() -> None:
            nonlocal turns
            while not ended:
                turns += 1
                await asyncio.sleep(0)

        turning = asyncio.create_task(turn())
        counted = 0
        async for _ in read_lines(file, "utf-8"):
            counted += 1
        ended = True
        await turning
        return counted, turns

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
    assert peak < 3 << 20  # all lines are 17 MB


@both_loops
def test_a_terminal_that_goes_away_is_the_end(run: Run) -> None:
    ours, theirs = pty.openpty()
    os.write(ours, b"a\nhalf")

    async def read() -> list[str]:
        found = []
        async for line in read_lines(theirs, "utf-8"):
            found.append(line)
            if len(found) == 1:
                os.close(ours)
        return found

    assert run(read())[:1] == ["a\n"]
    os.close(theirs)


HELD_UP = """
import asyncio, sys, threading, time
import weboid.cli.processes.stopping as stopping
from weboid.cli.processes.process import run_async

stopping.GRACE_S = 0.5

async def main():
    print("ready", flush=True)
    if sys.argv[1] == "loop":
        while True:
            time.sleep(0.01)
    try:
        await asyncio.to_thread(threading.Event().wait)
    finally:
        print("closed", flush=True)

run_async(main())
"""


@pytest.mark.parametrize("order", BOTH)
@pytest.mark.parametrize("held", ["loop", "thread"])
async def test_a_command_that_cannot_end_is_ended_after_the_grace(held: str, order: int) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HELD_UP, held, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout
        assert await process.stdout.readline() == b"ready\n"
        begun = asyncio.get_running_loop().time()
        process.send_signal(order)
        async with asyncio.timeout(LIMIT_S):
            out, err = await process.communicate()
        took_s = asyncio.get_running_loop().time() - begun
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert (process.returncode, out, err) == (128 + order, b"closed\n" if held == "thread" else b"", b"")
    assert took_s > 0.4


@pytest.mark.long
async def test_an_import_from_a_pipe_that_stays_open_ends_after_the_grace(place: Place, database: str) -> None:
    place.environ["WEBOID_DATABASE"] = database
    dumps = [place.folder / "page.sql", place.folder / "externallinks.sql"]
    for dump in dumps:
        os.mkfifo(dump)
    process = await place.start("feed", "dump", "dewiki", "--page", str(dumps[0]), "--externallinks", str(dumps[1]))
    ours = None
    async with asyncio.timeout(LIMIT_S):
        while ours is None:  # one of them is being read
            for dump in dumps:
                with suppress(OSError):
                    ours = os.open(dump, os.O_WRONLY | os.O_NONBLOCK)
            assert process.returncode is None
            await asyncio.sleep(0.02)
        begun = asyncio.get_running_loop().time()
        process.terminate()
        _, err = await process.communicate()
    os.close(ours)
    assert process.returncode == 128 + signal.SIGTERM, err
    assert GRACE_S - 1 < asyncio.get_running_loop().time() - begun < GRACE_S + SOON_S
    assert b"Traceback" not in err
