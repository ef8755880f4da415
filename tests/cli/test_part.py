"""Signs of life of real parts: in the store, over a datagram socket as systemd has it, and by `weboid health`."""

import asyncio
import os
import secrets
import signal
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest
from support.commands import Place
from support.database_proxy import open_database_proxy
from support.ports import free_port

from weboid.cli.terminal.console import PartConsole, bar

LIMIT_S = 30


@pytest.fixture
async def place(tmp_path: Path, database: str) -> AsyncIterator[Place]:
    place = Place(tmp_path)
    place.environ = {"WEBOID_DATABASE": database, "WEBOID_WEB_PORT": str(free_port()), "WEBOID_CONTACT": "a@b.example"}
    yield place
    await place.end()


async def _parts(database: str) -> dict[str, tuple[int, str]]:
    """The rows by role: process, and what it is doing."""
    async with await psycopg.AsyncConnection.connect(database) as connection:
        return {
            role: (pid, doing)
            for role, pid, doing in (await (await connection.execute("SELECT role, pid, doing FROM part")).fetchall())
        }


async def _row(database: str, role: str) -> tuple[int, str]:
    async with asyncio.timeout(LIMIT_S):
        while role not in (parts := (await _parts(database))):
            await asyncio.sleep(0.05)
    return parts[role]


async def _stopped(process: asyncio.subprocess.Process) -> str:
    """What it has said until it ended in order."""
    process.send_signal(signal.SIGTERM)
    async with asyncio.timeout(LIMIT_S):
        _, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return err.decode()


async def test_a_part_has_a_row_while_it_lives_and_is_healthy(place: Place, database: str) -> None:
    ran = await place.run("health", "crawl")
    assert (ran.status, ran.err) == (1, f"no crawl runs on {os.uname().nodename}\n")
    process = await place.start("crawl")
    assert (await _row(database, "crawl"))[0] == process.pid
    ran = await place.run("health", "crawl")
    assert ran.status == 0
    assert f"process {process.pid}, was seen 0 s ago" in ran.out
    assert (await place.run("health", "web")).status == 1
    await _stopped(process)
    assert not (await _parts(database))
    assert (await place.run("health", "crawl")).status == 1


async def test_a_part_works_where_standard_error_is_closed(place: Place) -> None:
    process = await place.start("maintain", "--day", "100", before=("sh", "-c", 'exec "$@" 2>&-', "sh"))
    async with asyncio.timeout(LIMIT_S):
        await process.communicate()
    assert process.returncode == 0


async def test_a_part_that_is_silent_or_on_another_host_is_not_healthy(place: Place, database: str) -> None:
    process = await place.start("crawl")
    await _row(database, "crawl")
    process.kill()
    await process.communicate()
    assert (await place.run("health", "crawl")).status == 0
    async with await psycopg.AsyncConnection.connect(database) as connection:
        await connection.execute("UPDATE part SET seen = now() - interval '61 seconds'")
    ran = await place.run("health", "crawl")
    assert ran.status == 1
    assert "was seen 61 s ago" in ran.err
    async with await psycopg.AsyncConnection.connect(database) as connection:
        await connection.execute("UPDATE part SET seen = now(), host = 'elsewhere'")
    assert (await place.run("health", "crawl")).status == 1


async def test_a_database_that_is_away_makes_no_part_unhealthy_but_an_embedded_one_does(place: Place) -> None:
    place.environ["WEBOID_DATABASE"] = f"host=127.0.0.1 port={free_port()} dbname=weboid"
    ran = await place.run("health", "crawl")
    assert ran.status == 0
    assert "cannot reach the database" in ran.out
    del place.environ["WEBOID_DATABASE"]
    assert (await place.run("health", "crawl")).status == 1
    assert not list(place.folder.iterdir())


@pytest.mark.long
async def test_a_second_feeder_waits_for_the_first(place: Place, database: str) -> None:
    place.watch("demowiki@wmflabs", f"http://127.0.0.1:{free_port()}/api.php")
    first = await place.start("feed", "pass", "--repeat")
    assert (await _row(database, "feed"))[0] == first.pid
    second = await place.start("feed", "pass", "--repeat")
    assert second.stderr
    async with asyncio.timeout(LIMIT_S):
        while f"another feed runs: process {first.pid} on" not in (line := (await second.stderr.readline()).decode()):
            assert line, "it ended"
    await _stopped(first)
    async with asyncio.timeout(LIMIT_S):
        while (await _parts(database)).get("feed", (0, ""))[0] != second.pid:
            await asyncio.sleep(0.1)
    third = await place.start("feed", "pass", "--repeat")
    assert third.stderr
    assert b"another feed runs" in await third.stderr.readline()
    await _stopped(third)  # also while it waits
    # A killed one on this machine is known to be gone at once.
    second.kill()
    await second.communicate()
    fourth = await place.start("feed", "pass", "--repeat")
    async with asyncio.timeout(10):
        while (await _parts(database))["feed"][0] != fourth.pid:
            await asyncio.sleep(0.1)
    await _stopped(fourth)


@pytest.mark.long
@pytest.mark.parametrize("is_alive", [True, False])
async def test_who_could_not_be_seen_while_the_database_was_away_writes_first(
    place: Place, database: str, is_alive: bool
) -> None:
    if is_alive:
        async with await psycopg.AsyncConnection.connect(database) as connection:
            await connection.execute(
                "INSERT INTO part (role, name, host, machine, pid, version, seen) "
                "VALUES ('maintain', 'x', 'far', 'm', 1, '1', now() - interval '1 hour')"
            )
    with open_database_proxy(database) as proxy:
        proxy.cut()
        place.environ["WEBOID_DATABASE"] = proxy.dsn
        process = await place.start("maintain", "--repeat")
        assert process.stderr
        async with asyncio.timeout(LIMIT_S):
            assert b"the database is away: " in await process.stderr.readline()
        proxy.heal()
        if is_alive:
            async with asyncio.timeout(LIMIT_S):
                while b"another maintain may have run: process 1 on far" not in await process.stderr.readline():
                    assert process.returncode is None
            async with await psycopg.AsyncConnection.connect(database) as connection:
                await connection.execute("UPDATE part SET seen = now()")
            process.send_signal(signal.SIGTERM)
            await process.communicate()
            assert set((await _parts(database)).values()) == {(1, "")}
        else:
            async with asyncio.timeout(20):  # It need not wait for anybody.
                assert (await _row(database, "maintain"))[0] == process.pid
            await _stopped(process)


@pytest.mark.long
async def test_who_was_silent_for_too_long_gives_its_role_up(place: Place, database: str) -> None:
    process = await place.start("maintain", "--repeat")
    await _row(database, "maintain")
    async with await psycopg.AsyncConnection.connect(database) as connection:
        await connection.execute("UPDATE part SET name = 'another', host = 'elsewhere', pid = 1")
    async with asyncio.timeout(LIMIT_S):
        _, err = await process.communicate()
    assert process.returncode == 2
    assert "another maintain has taken over: process 1 on elsewhere" in err.decode()
    assert (await _parts(database))["maintain"][0] == 1


class Systemd:
    """The receiving end of sd_notify."""

    def __init__(self, address: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(address)
        self._socket.setblocking(False)

    async def until(self, words: str) -> list[str]:
        """The datagrams up to the one with these words."""
        said: list[str] = []
        async with asyncio.timeout(LIMIT_S):
            while not said or words not in said[-1]:
                said.append((await asyncio.get_running_loop().sock_recv(self._socket, 4096)).decode())
        return said

    def __enter__(self) -> "Systemd":
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()


@pytest.mark.parametrize("is_abstract", [False, True])
async def test_systemd_is_told_by_a_single_part(place: Place, is_abstract: bool) -> None:
    name = f"weboid-{secrets.token_hex(8)}" if is_abstract else str(place.folder / "notify")
    with Systemd("\0" + name if is_abstract else name) as systemd:
        place.environ |= {"NOTIFY_SOCKET": "@" + name if is_abstract else name, "WATCHDOG_USEC": "200000"}
        process = await place.start("crawl")
        assert await systemd.until("READY=1")
        assert await systemd.until("WATCHDOG=1")
        await _stopped(process)
        said = await systemd.until("STOPPING=1")
        assert not [each for each in said if "READY" in each]


async def test_systemd_is_told_by_up_when_the_web_answers(place: Place) -> None:
    path = str(place.folder / "notify")
    with Systemd(path) as systemd:
        place.environ["NOTIFY_SOCKET"] = path
        process = await place.start("up")
        said = await systemd.until("READY=1")
        assert "STATUS=web runs; crawl runs; archive runs; maintain runs" in said
        assert not [each for each in said if "WATCHDOG" in each]
        async with asyncio.timeout(LIMIT_S):
            _, writer = await asyncio.open_connection("127.0.0.1", int(place.environ["WEBOID_WEB_PORT"]))
            writer.close()
        await _stopped(process)
        assert await systemd.until("STOPPING=1")


def test_what_its_bars_show_a_part_tells(capfd: pytest.CaptureFixture[str]) -> None:
    told: list[str] = []
    with bar(PartConsole(told.append)) as shown:
        task = shown.add_task("checking links", total=None)
        shown.update(task, completed=0)
        shown.update(task, completed=1_500, total=20_000)
        shown.update(task, completed=2, total=None, description="reading [dewiki]")
        shown.update(task, completed=4, total=3, description="looking up")
    assert told == [
        "checking links",
        "checking links: 1,500 of 20,000",
        "reading [dewiki]: 2 of 20,000",
        "looking up: 4",
        "waits for work",
    ]
    # Bars are for terminals.
    assert capfd.readouterr() == ("", "")


async def test_a_socket_that_nobody_reads_disturbs_nobody(place: Place, database: str) -> None:
    place.environ["NOTIFY_SOCKET"] = str(place.folder / "nobody")
    process = await place.start("crawl")
    await _row(database, "crawl")
    await _stopped(process)
