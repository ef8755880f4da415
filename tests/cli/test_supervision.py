"""`weboid up` that is killed, or met by a second one: nothing is left behind, and nothing runs twice."""

import asyncio
import os
import secrets
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import psycopg
import pytest
from support.commands import Place
from support.ports import free_port
from support.processes import assert_nothing_is_left, children, of_folder
from support.repeats import TIMES, thorough

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


async def _said(process: asyncio.subprocess.Process, words: str) -> str:
    assert process.stderr
    async with asyncio.timeout(LIMIT_S):
        while words not in (line := (await process.stderr.readline()).decode(errors="replace")):
            assert line, "it ended"
    return line


async def _stop(process: asyncio.subprocess.Process) -> None:
    process.send_signal(signal.SIGTERM)
    async with asyncio.timeout(LIMIT_S):
        _, err = await process.communicate()
    assert process.returncode == 0, err.decode()


@pytest.mark.long
async def test_a_killed_up_leaves_no_part_and_no_server(place: Place) -> None:
    process = await place.start("up")
    await _said(process, "Weboid answers")
    process.kill()
    await process.communicate()  # ends when nobody has its pipes open any more: then all parts have ended
    await assert_nothing_is_left(place.folder, LEFT_S)


@pytest.mark.long
@pytest.mark.parametrize(
    ("workers", "moment"), [("1", 1.3), ("2", 2.2), *thorough(*(("1", moment) for moment in (0.5, 0.9, 1.8, 2.6)))]
)
async def test_a_killed_up_leaves_nothing_at_any_moment(place: Place, workers: str, moment: float) -> None:
    place.environ["WEBOID_WEB_WORKERS"] = workers
    process = await place.start("up")
    await asyncio.sleep(moment)
    process.kill()
    await process.communicate()
    await assert_nothing_is_left(place.folder, LEFT_S)


@pytest.mark.long
async def test_up_and_all_parts_killed_at_once_leave_no_server(place: Place) -> None:
    for _ in TIMES:
        process = await place.start("up")
        await _said(process, "Weboid answers")
        os.killpg(process.pid, signal.SIGKILL)
        await process.communicate()
        await assert_nothing_is_left(place.folder, LEFT_S)


@pytest.mark.long
async def test_a_killed_guard_is_started_again_and_guards(place: Place) -> None:
    process = await place.start("up")
    await _said(process, "Weboid answers")
    (guard,) = _guards(process.pid)
    os.kill(guard, signal.SIGKILL)
    await _until(lambda: _guards(process.pid) not in ([], [guard]))
    os.killpg(process.pid, signal.SIGKILL)
    await process.communicate()
    await assert_nothing_is_left(place.folder, LEFT_S)


@pytest.mark.long
async def test_who_uses_the_server_of_a_killed_up_keeps_it(place: Place) -> None:
    process = await place.start("up")
    await _said(process, "Weboid answers")
    beside = await place.start("crawl")
    await _until(lambda: _rows(place, "crawl") == 2)
    process.kill()
    await process.communicate()
    await _until(lambda: _rows(place, "crawl") == 1 and len(of_folder(place.folder)) < 25)
    # The crawler and its server go on; the guard of the dead program leaves it to them.
    await _until(lambda: _rows(place, "web") == 0)
    assert beside.returncode is None
    await _stop(beside)
    await assert_nothing_is_left(place.folder, LEFT_S + 60)


@pytest.mark.long
async def test_a_second_up_says_who_runs_and_the_next_one_after_a_kill_does_not_wait(
    place: Place, database: str
) -> None:
    place.environ["WEBOID_DATABASE"] = database
    first = await place.start("up")
    await _said(first, "Weboid answers")
    ran = await place.run("up")
    assert ran.status == 2
    assert f"weboid up runs already: process {first.pid} on {os.uname().nodename}, since 2" in ran.err
    parts = children(first.pid)
    assert len(parts) == 4
    first.kill()
    await first.communicate()
    second = await place.start("up")
    await _said(second, "Weboid answers")
    await _until(lambda: _roles(database) == ["archive", "crawl", "maintain", "up", "web"])
    await _stop(second)


@pytest.mark.long
async def test_an_up_on_another_host_that_died_a_moment_ago_is_waited_for(place: Place, database: str) -> None:
    place.environ["WEBOID_DATABASE"] = database
    row = "INSERT INTO part (role, name, host, machine, pid, version, seen) VALUES ('up', 'x', 'far', 'm', 1, '1', {})"
    async with await psycopg.AsyncConnection.connect(database) as connection:
        await connection.execute(row.format("now() - interval '20 seconds'"))
    ran = await place.run("up")
    assert ran.status == 2
    assert "process 1 on far" in ran.err
    async with await psycopg.AsyncConnection.connect(database) as connection:
        await connection.execute("UPDATE part SET seen = now() - interval '56 seconds'")
    process = await place.start("up")
    await _said(process, "another up runs: process 1 on far")
    await _said(process, "Weboid answers")
    await _stop(process)


def _guards(pid: int) -> list[int]:
    return [child for child, words in children(pid).items() if "weboid.store.embedded.guard" in words]


def _roles(database: str) -> list[str]:
    with psycopg.connect(database) as connection:
        return [role for (role,) in connection.execute("SELECT role FROM part ORDER BY role").fetchall()]


def _rows(place: Place, role: str) -> int:
    with psycopg.connect(f"host={place.folder}/data/socket user=weboid dbname=weboid") as connection:
        row = connection.execute("SELECT count(*)::int FROM part WHERE role = %s", (role,)).fetchone()
    assert row
    return int(row[0])


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(LIMIT_S):
        while not await asyncio.to_thread(holds):
            await asyncio.sleep(0.2)
