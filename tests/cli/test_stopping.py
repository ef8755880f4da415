"""Signals to stop as terminals, systemd and GNU timeout send them: to one process, to a group, twice, at any moment."""

import asyncio
import os
import pty
import random
import shutil
import signal
import sys
import termios
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import product
from pathlib import Path

import psycopg
import pytest
from support import waiting
from support.commands import Place
from support.databases import until_locked_out
from support.ports import free_port
from support.processes import assert_nothing_is_left, children, read_terminal
from support.repeats import TIMES, thorough

from weboid.cli.processes.stopping import until

LIMIT_S = 60
BOTH = (signal.SIGTERM, signal.SIGINT)
"""The end of a program that is stopped at any moment: before it has begun anything, a signal ends it as any program."""


@pytest.fixture
async def place(server_folder: Path) -> AsyncIterator[Place]:
    folder = server_folder / f"stopping-{random.getrandbits(32):08x}"
    folder.mkdir(mode=0o711)
    place = Place(folder)
    place.environ = {"WEBOID_WEB_PORT": str(free_port()), "WEBOID_CRAWL_CANARIES": "https://canary.example/"}
    yield place
    await place.end()


async def _ended(process: asyncio.subprocess.Process) -> tuple[int, str]:
    async with asyncio.timeout(LIMIT_S):
        _, err = await process.communicate()
    return process.returncode or 0, (err or b"").decode(errors="replace")


@pytest.mark.long
async def test_a_group_at_a_terminal_gets_signals_many_times_and_ends_once_in_order(place: Place) -> None:
    ours, theirs = pty.openpty()
    # Else the second Ctrl-C throws away what was written after the first and has not been read yet.
    settings = termios.tcgetattr(theirs)
    settings[3] |= termios.NOFLSH
    termios.tcsetattr(theirs, termios.TCSANOW, settings)
    process = await place.start_anew("up", before=("setsid", "--ctty", "--wait"), terminal=theirs)
    os.close(theirs)
    await asyncio.to_thread(read_terminal, ours, b"Weboid answers")
    (group,) = children(process.pid)
    parts = children(group)
    os.write(ours, b"\x03\x03")
    for kind in (*BOTH, *BOTH):
        with suppress(ProcessLookupError):  # It may have ended already.
            os.killpg(group, kind)
            for part in parts:
                if part in children(group):
                    os.kill(part, kind)
        await asyncio.sleep(0.02)
    output = (await asyncio.to_thread(read_terminal, ours, b"")).decode(errors="replace")
    status, _ = await _ended(process)
    os.close(ours)
    assert status == 0, output
    assert output.count("stopping; what is under way is written") == 1
    assert "Traceback" not in output
    assert "started again" not in output
    await assert_nothing_is_left(place.folder, 1)


@pytest.mark.long
@pytest.mark.parametrize(
    ("call", "kinds", "moments"),
    [
        # While the database is made, and a little later, while it is migrated, its parts start, or all work.
        (("up",), BOTH, (0, 1.0)),
        (("crawl",), BOTH, (0,)),
        (("serve", "--workers", "2"), BOTH, (1.0,)),
        *thorough(*((("up",), kinds, (0, 1.0)) for kinds in product(BOTH, BOTH) if kinds != BOTH)),
    ],
)
@pytest.mark.parametrize("time", TIMES)
async def test_a_second_signal_is_the_same_order(
    place: Place, call: Sequence[str], kinds: Sequence[int], moments: Sequence[float], time: int
) -> None:
    for moment in moments:
        process = await place.start(*call)
        # Before that it has begun nothing, and ends as any program.
        await waiting.until((place.folder / "data").exists)
        await asyncio.sleep(moment * (1.2 - 0.2 * time))
        with suppress(ProcessLookupError):  # It may have ended already.
            os.killpg(process.pid, kinds[0])
            os.kill(process.pid, kinds[1])
            await asyncio.sleep(0.05)
            os.killpg(process.pid, kinds[1])
        status, output = await _ended(process)
        assert status == 0, output
        assert "Traceback" not in output
        await assert_nothing_is_left(place.folder, 1)
        shutil.rmtree(place.folder / "data")


@pytest.mark.long
@pytest.mark.parametrize(
    ("call", "options"),
    [(("up",), ()), (("demo",), ()), *thorough((("up",), ("-s", "INT")), (("up",), ("--foreground",)))],
)
@pytest.mark.parametrize("time", TIMES)
async def test_gnu_timeout_leaves_nothing(place: Place, call: Sequence[str], options: Sequence[str], time: int) -> None:
    place.environ["TMPDIR"] = str(place.folder)  # the demonstration's database is there
    process = await place.start_anew(*call, before=("timeout", *options, str(1.2 + 0.3 * time)))
    status, output = await _ended(process)
    assert status == 124, output
    await assert_nothing_is_left(place.folder, 1)
    assert not list(place.folder.glob("weboid-demo-*"))


HELD_UP = """
import asyncio, sys, threading, time
import weboid.cli.processes.stopping as stopping
from weboid.cli.processes.process import run_async

stopping.GRACE_S = 0.3

async def hang():
    with stopping.stop_signals(lambda: print("stop", order.number, flush=True)) as order:
        print("ready", flush=True)
        await asyncio.sleep(60)

async def block():
    print("ready", flush=True)
    if sys.argv[1] == "loop":
        while True:
            time.sleep(0.01)
    try:
        await asyncio.to_thread(threading.Event().wait)
    finally:
        print("closed", flush=True)

asyncio.run(hang()) if sys.argv[1] == "hang" else run_async(block())
"""


@asynccontextmanager
async def _open_held_up(
    how: str, *before: str
) -> AsyncIterator[tuple[asyncio.subprocess.Process, asyncio.StreamReader]]:
    """A program that does not end by itself, and its output."""
    pipe = asyncio.subprocess.PIPE
    call = (*before, sys.executable, "-c", HELD_UP, how)
    process = await asyncio.create_subprocess_exec(*call, stdout=pipe, stderr=pipe)
    try:
        assert process.stdout
        assert await process.stdout.readline() == b"ready\n"
        yield process, process.stdout
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def test_a_signal_after_the_grace_ends_a_program_that_hangs() -> None:
    async with _open_held_up("hang") as (process, output), asyncio.timeout(LIMIT_S):
        process.send_signal(signal.SIGINT)
        begun = asyncio.get_running_loop().time()
        assert await output.readline() == b"stop 2\n"
        while process.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(
                    process.pid, signal.SIGINT
                )  # Process.send_signal might take its status from the task that waits.
            await asyncio.sleep(0.02)
        assert asyncio.get_running_loop().time() - begun > 0.2
        assert process.returncode == -signal.SIGINT
        assert not await output.read()


async def test_nohup_holds() -> None:
    async with _open_held_up("hang", "nohup") as (process, output), asyncio.timeout(LIMIT_S):
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGTERM)
        assert await output.readline() == b"stop 15\n"


@pytest.mark.parametrize(("held", "order"), [("loop", signal.SIGINT), ("thread", signal.SIGTERM)])
async def test_a_command_that_cannot_end_is_ended_after_the_grace(held: str, order: int) -> None:
    async with _open_held_up(held) as (process, _), asyncio.timeout(LIMIT_S):
        begun = asyncio.get_running_loop().time()
        process.send_signal(order)
        out, err = await process.communicate()
        assert (process.returncode, out, err) == (128 + order, b"closed\n" if held == "thread" else b"", b"")
        assert asyncio.get_running_loop().time() - begun > 0.2


@pytest.mark.parametrize(
    ("call", "expected"), [(("crawl",), 0), (("maintain",), 2), (("migrate",), 128 + signal.SIGTERM)]
)
async def test_a_stop_while_the_tables_are_brought_up_is_obeyed_at_once(
    place: Place, empty_database: str, call: Sequence[str], expected: int
) -> None:
    place.environ["WEBOID_DATABASE"] = empty_database
    async with await psycopg.AsyncConnection.connect(empty_database) as conn:
        # As another program that migrates has it.
        await conn.execute("SELECT pg_advisory_xact_lock(hashtextextended('weboid migration', 0))")
        process = await place.start(*call)
        await until_locked_out(empty_database)
        begun = asyncio.get_running_loop().time()
        process.terminate()
        status, output = await _ended(process)
        assert asyncio.get_running_loop().time() < begun + 5
    assert status == expected, output
    assert "Traceback" not in output


async def test_works_that_run_until_a_stop_end_with_the_task_that_waits_for_them() -> None:
    """As where one block of works runs within another."""
    ended: list[bool] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    outer = asyncio.create_task(until(asyncio.Event(), work(), work()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    outer.cancel()
    with pytest.raises(asyncio.CancelledError):
        await outer
    assert ended == [True, True]
