"""Signals to stop as terminals, systemd and GNU timeout send them: to one process, to a group, twice, at any moment."""

import asyncio
import os
import pty
import random
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path

import psycopg
import pytest
from support.commands import Place
from support.ports import free_port
from support.processes import assert_nothing_is_left, children
from support.repeats import TIMES, thorough

from weboid.cli.processes.stopping import until

LIMIT_S = 60
BOTH = (signal.SIGTERM, signal.SIGINT)
IN_ORDER = {0, 130, 143, -signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP}
"""How a program ends that is stopped at any moment: before it has begun anything, a signal ends it as any program."""


@pytest.fixture
async def place(server_folder: Path) -> AsyncIterator[Place]:
    folder = server_folder / f"stopping-{random.getrandbits(32):08x}"
    folder.mkdir(mode=0o711)
    place = Place(folder)
    place.environ = {"WEBOID_WEB_PORT": str(free_port()), "WEBOID_CRAWL_CANARIES": "https://canary.example/"}
    yield place
    await place.end()


async def _ended(process: asyncio.subprocess.Process) -> tuple[int, str]:
    """Its status and what it said."""
    async with asyncio.timeout(LIMIT_S):
        _, err = await process.communicate()
    return process.returncode or 0, (err or b"").decode(errors="replace")


def _has_begun(place: Place) -> bool:
    return (place.folder / "data").exists()


async def _said(process: asyncio.subprocess.Process, words: str) -> None:
    assert process.stderr
    async with asyncio.timeout(LIMIT_S):
        while words not in (line := (await process.stderr.readline()).decode(errors="replace")):
            assert line, "it ended"


async def test_a_group_gets_signals_many_times_and_ends_once_in_order(place: Place) -> None:
    process = await place.start("up")
    await _said(process, "Weboid answers")
    parts = children(process.pid)
    for kind in (*BOTH, signal.SIGHUP, *BOTH):
        with suppress(ProcessLookupError):  # It may have ended already.
            os.killpg(process.pid, kind)
            for part in parts:
                if part in children(process.pid):
                    os.kill(part, kind)
        await asyncio.sleep(0.02)
    status, said = await _ended(process)
    assert status == 0, said
    assert "Traceback" not in said
    assert "started again" not in said
    await assert_nothing_is_left(place.folder, 1)


@pytest.mark.long
@pytest.mark.parametrize(
    ("call", "kinds"),
    [
        (("up",), BOTH),
        (("crawl",), BOTH),
        (("serve", "--workers", "2"), BOTH),
        *thorough(*((("up",), kinds) for kinds in product(BOTH, BOTH) if kinds != BOTH)),
    ],
)
@pytest.mark.parametrize("time", TIMES)
async def test_a_second_signal_is_the_same_order(
    place: Place, call: Sequence[str], kinds: Sequence[int], time: int
) -> None:
    # While the database is made, and a little later, while it is migrated, its parts start, or all work.
    for moment in (0, 1.2 - 0.2 * time):
        process = await place.start(*call)
        async with asyncio.timeout(LIMIT_S):
            while not (place.folder / "data").exists():  # Before that it has begun nothing, and ends as any program.
                await asyncio.sleep(0.01)
        await asyncio.sleep(moment)
        with suppress(ProcessLookupError):  # It may have ended already.
            os.killpg(process.pid, kinds[0])
            os.kill(process.pid, kinds[1])
            await asyncio.sleep(0.05)
            os.killpg(process.pid, kinds[1])
        status, said = await _ended(process)
        assert status == 0, said
        assert "Traceback" not in said
        await assert_nothing_is_left(place.folder, 1)
        shutil.rmtree(place.folder / "data")


@pytest.mark.long
@pytest.mark.parametrize(
    ("call", "options"),
    [
        (("up",), ()),
        (("serve", "--workers", "2"), ()),
        (("demo",), ()),
        *thorough((("up",), ("-s", "INT")), (("up",), ("--foreground",))),
    ],
)
@pytest.mark.parametrize("time", TIMES)
async def test_gnu_timeout_leaves_nothing(place: Place, call: Sequence[str], options: Sequence[str], time: int) -> None:
    place.environ["TMPDIR"] = str(place.folder)  # the demonstration's database is there
    for seconds in (0.7 + 0.1 * time, 1.6 + 0.2 * time):
        process = await place.start(*call, before=("timeout", *options, str(seconds)))
        status, said = await _ended(process)
        assert status == 124, said
        await assert_nothing_is_left(place.folder, 1)
        assert not list(place.folder.glob("weboid-demo-*"))
        shutil.rmtree(place.folder / "data", ignore_errors=True)


@pytest.mark.long
async def test_ten_signals_at_random_moments_leave_nothing(place: Place) -> None:
    for seed in TIMES:
        choice = random.Random(seed)
        process = await place.start("up")
        for _ in range(10):
            await asyncio.sleep(choice.uniform(0, 0.4))
            if process.returncode is None:
                send = choice.choice([os.kill, os.killpg])
                send(process.pid, choice.choice([*BOTH, signal.SIGHUP]))
        status, said = await _ended(process)
        # Python itself, while it loads, ends with status 1 after Ctrl-C.
        assert status in IN_ORDER or (status == 1 and "KeyboardInterrupt" in said and not _has_begun(place)), said
        await assert_nothing_is_left(place.folder, 15)
        shutil.rmtree(place.folder / "data", ignore_errors=True)


@pytest.fixture
def heard_hangups() -> Iterator[None]:
    """SIGHUP means what it does by default, for programs that are started, too: this run may be under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("heard_hangups")
async def test_a_terminal_that_closes_stops_in_order_and_is_told_before(place: Place, database: str) -> None:
    ours, theirs = pty.openpty()
    place.environ["WEBOID_DATABASE"] = database
    process = await place.start("crawl", before=("setsid", "--ctty", "--wait"), terminal=theirs)
    os.close(theirs)
    said = await asyncio.to_thread(_read_until, ours, b"no contact")
    (crawl,) = children(process.pid)
    os.kill(crawl, signal.SIGHUP)
    os.close(ours)
    status, _ = await _ended(process)
    assert status == 0, said
    await assert_nothing_is_left(place.folder, 1)


async def test_people_are_told_once_that_it_stops(place: Place, database: str) -> None:
    ours, theirs = pty.openpty()
    place.environ["WEBOID_DATABASE"] = database
    process = await place.start("up", before=("setsid", "--ctty", "--wait"), terminal=theirs)
    os.close(theirs)
    said = await asyncio.to_thread(_read_until, ours, b"Weboid answers")
    os.write(ours, b"\x03\x03")
    said = await asyncio.to_thread(_read_until, ours, b"")
    status, _ = await _ended(process)
    assert status == 0, said
    assert said.count(b"stopping; what is under way is written") == 1
    os.close(ours)


def _read_until(terminal: int, words: bytes) -> bytes:
    """What is said on a terminal up to these words; without words, until nobody has it open."""
    said = b""
    while not words or words not in said:
        try:
            said += os.read(terminal, 1 << 16)
        except OSError:
            break
    return said


HELD_UP = """
import asyncio
import weboid.cli.processes.stopping as stopping

stopping.GRACE_S = 0.5

async def main():
    with stopping.stop_signals(lambda: print("stop", flush=True)):
        print("ready", flush=True)
        await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.mark.parametrize("kind", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_after_the_grace_ends_a_program_that_hangs(kind: int) -> None:
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", HELD_UP, stdout=asyncio.subprocess.PIPE)
    assert process.stdout
    assert await process.stdout.readline() == b"ready\n"
    process.send_signal(kind)
    assert await process.stdout.readline() == b"stop\n"
    begun = asyncio.get_running_loop().time()
    while process.returncode is None:
        with suppress(ProcessLookupError):
            os.kill(process.pid, kind)  # Process.send_signal might take its status from whoever waits for it.
        await asyncio.sleep(0.02)
        assert asyncio.get_running_loop().time() < begun + LIMIT_S
    assert asyncio.get_running_loop().time() - begun > 0.4
    assert process.returncode == -kind
    assert not await process.stdout.read()


async def test_nohup_holds(place: Place, database: str) -> None:
    place.environ["WEBOID_DATABASE"] = database
    process = await place.start("crawl", before=("nohup",))
    await _said(process, "no contact")
    process.send_signal(signal.SIGHUP)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(process.wait(), 0.5)
    process.send_signal(signal.SIGTERM)
    status, said = await _ended(process)
    assert status == 0, said


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (("crawl",), 0),
        (("maintain",), 2),
        (("check-store",), 128 + signal.SIGTERM),
        (("migrate",), 128 + signal.SIGTERM),
    ],
)
async def test_a_stop_while_the_tables_are_brought_up_is_obeyed_at_once(
    place: Place, empty_database: str, call: Sequence[str], expected: int
) -> None:
    place.environ["WEBOID_DATABASE"] = empty_database
    async with await psycopg.AsyncConnection.connect(empty_database) as conn:
        # As another program that migrates has it.
        await conn.execute("SELECT pg_advisory_xact_lock(hashtextextended('weboid migration', 0))")
        process = await place.start(*call)
        async with asyncio.timeout(LIMIT_S):
            while not (await (await conn.execute("SELECT FROM pg_locks WHERE NOT granted")).fetchall()):
                await asyncio.sleep(0.05)
        begun = asyncio.get_running_loop().time()
        process.terminate()
        status, said = await _ended(process)
        assert asyncio.get_running_loop().time() < begun + 5
    assert status == expected, said
    assert "Traceback" not in said


async def test_works_that_run_until_a_stop_end_with_whoever_waits_for_them() -> None:
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
