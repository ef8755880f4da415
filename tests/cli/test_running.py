"""Signs of life of real parts: in the store, over a datagram socket as systemd has it, and by `weboid health`, as
Toolforge asks: at its end in five seconds, or it failed; and it ends a job's old container only once the new one, which
runs at the same time, is healthy.
"""

import asyncio
import os
import signal
from pathlib import Path

from support.commands import Place
from support.databases import found_in
from support.ports import free_port
from support.systemd import Systemd
from support.waiting import until

from weboid.store.db.pool import open_pool
from weboid.store.schedule.process import ProcessRole, RunningProcess, take_role

LIMIT_S = 30


async def test_a_part_has_a_row_while_it_lives_is_healthy_and_shows_systemd(database: str, tmp_path: Path) -> None:
    notified = str(tmp_path / "notify")
    place = Place(tmp_path, environ={"WEBOID_DATABASE": database})
    ran = await place.run("health", "crawl")
    assert (ran.status, ran.err) == (1, f"no crawl runs on {os.uname().nodename}\n")
    place.environ |= {"NOTIFY_SOCKET": notified, "WATCHDOG_USEC": "200000"}
    try:
        with Systemd(notified) as systemd:
            process = await place.start("crawl")
            assert await systemd.until("READY=1")
            assert await systemd.until("WATCHDOG=1")
            await until(lambda: found_in(database, "SELECT FROM part"))
            assert await found_in(database, "SELECT role, pid FROM part") == [("crawl", process.pid)]
            ran = await place.run("health", "crawl")
            assert ran.status == 0
            assert f"process {process.pid}, was seen " in ran.out
            assert (await place.run("health", "web")).status == 1
            process.send_signal(signal.SIGTERM)
            async with asyncio.timeout(LIMIT_S):
                _, err = await process.communicate()
            assert process.returncode == 0, err.decode()
            assert not [each for each in await systemd.until("STOPPING=1") if "READY" in each]
    finally:
        await place.end()
    assert not await found_in(database, "SELECT FROM part")
    assert (await place.run("health", "crawl")).status == 1


async def test_a_part_that_is_silent_or_on_another_host_is_not_healthy(database: str, tmp_path: Path) -> None:
    place = Place(tmp_path, environ={"WEBOID_DATABASE": database})
    await found_in(
        database,
        "INSERT INTO part (role, name, host, machine, pid, version, seen) "
        "VALUES ('crawl', 'x', %s, 'm', 1, '1', now() - interval '50 seconds') RETURNING 1",
        os.uname().nodename,
    )
    assert (await place.run("health", "crawl")).status == 0
    await found_in(database, "UPDATE part SET seen = now() - interval '61 seconds' RETURNING 1")
    ran = await place.run("health", "crawl")
    assert ran.status == 1
    assert "was seen 6" in ran.err
    await found_in(database, "UPDATE part SET seen = now(), host = 'another' RETURNING 1")
    assert (await place.run("health", "crawl")).status == 1


async def test_a_database_that_is_away_makes_no_part_unhealthy_but_an_embedded_one_does(tmp_path: Path) -> None:
    place = Place(tmp_path, environ={"WEBOID_DATABASE": f"host=127.0.0.1 port={free_port()} dbname=weboid"})
    ran = await place.run("health", "crawl")
    assert ran.status == 0
    assert "cannot reach the database" in ran.out
    del place.environ["WEBOID_DATABASE"]
    assert (await place.run("health", "crawl")).status == 1
    assert not list(tmp_path.iterdir())


async def test_a_job_whose_role_another_container_still_has_is_healthy(database: str, tmp_path: Path) -> None:
    async with open_pool(database, size=1, part="test") as pool, pool.connection() as conn:
        for role in (ProcessRole.FEED, ProcessRole.CRAWL):
            assert await take_role(conn, RunningProcess(role, "1-a", "feed-old", "another", 1, "0")) is None
    place = Place(tmp_path, environ={"WEBOID_DATABASE": database})
    for role, status in ((ProcessRole.FEED, 0), (ProcessRole.EVENTS, 1), (ProcessRole.CRAWL, 1)):
        assert (await place.run("health", role.value)).status == status, role
