"""`weboid serve --workers`: real processes on one socket, which are killed and ended in the middle of their work."""

import asyncio
import fcntl
import os
import re
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import psycopg
import pytest
from support.commands import Place, address_of
from support.databases import until_locked_out
from support.processes import children, is_running
from support.waiting import until

from weboid.web.http.rendered import KEPT_S

LIMIT_S = 60
ANSWERED = {404, 503}
"""The answers to a request that waited: there is no such wiki, or on a slow machine it has waited for too long."""


@dataclass
class Service:
    process: asyncio.subprocess.Process
    url: str
    count: int
    output: list[str] = field(default_factory=list)

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    @property
    def pids(self) -> list[int]:
        return [*children(self.process.pid)]

    async def metrics(self) -> str:
        async with aiohttp.ClientSession() as client, client.get(self.url + "/metrics") as response:
            return await response.text()

    async def new_metrics(self) -> str:
        """Those of now: each worker keeps some for a while."""
        await asyncio.sleep(1.1 * KEPT_S)
        return await self.metrics()

    async def all_answer(self, *gone: int) -> None:
        """Waits until all workers accept connections, none of them one of these processes."""
        async with asyncio.timeout(LIMIT_S):
            while set(gone) & set(self.pids) or _value(await self.metrics(), "weboid_web_workers") < self.count:
                await asyncio.sleep(0.05)

    async def end(self) -> int:
        if self.process.returncode is None:
            self.process.terminate()
        return await asyncio.wait_for(self.process.wait(), LIMIT_S)

    async def read(self) -> None:
        assert self.process.stderr
        assert self.process.stdout
        while line := (await self.process.stderr.readline()).decode():
            self.output.append(line)
        assert not await self.process.stdout.read()


@asynccontextmanager
async def open_workers(folder: Path, database: str, count: int = 2, **environ: str) -> AsyncIterator[Service]:
    """The service, once all of its workers answer."""
    place = Place(folder)
    place.environ = {"WEBOID_DATABASE": database, "WEBOID_WEB_RATE": "0", "WEBOID_WEB_WORKERS": str(count)}
    place.environ |= {"WEBOID_PEOPLE_CLIENT": "client", "TMPDIR": str(folder), **environ}
    process = await place.start_anew("--log=json", "serve", "--port", "0")
    reading = None
    try:
        service = Service(process, await address_of(process), count)
        reading = asyncio.create_task(service.read())
        await service.all_answer()
        yield service
        await service.end()
    finally:
        await place.end()
        if reading:
            await reading


def _value(metrics: str, name: str) -> float:
    found = re.search(rf"^{re.escape(name)} (\S+)$", metrics, re.MULTILINE)
    return float(found[1]) if found else 0.0


def _worker_of(port: int, pids: Sequence[int]) -> int | None:
    """The process that has the connection from a port, as the kernel says."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    inodes = {row[9] for row in rows if int(row[2].partition(":")[2], 16) == port}
    for pid in pids:
        for descriptor in os.listdir(f"/proc/{pid}/fd"):
            try:
                target = os.readlink(f"/proc/{pid}/fd/{descriptor}")
            except FileNotFoundError:
                continue
            if target.removeprefix("socket:[").removesuffix("]") in inodes:
                return pid
    return None


class UnderWay:
    """A request that a worker has got and does not answer before the test lets it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def begun(cls, service: Service, worker: int) -> "UnderWay":
        """A request with this worker: so many connections are made until it has one."""
        async with asyncio.timeout(LIMIT_S):
            while True:
                reader, writer = await asyncio.open_connection("127.0.0.1", service.port)
                port = writer.get_extra_info("sockname")[1]
                while (accepted := _worker_of(port, service.pids)) is None:
                    await asyncio.sleep(0.01)
                if accepted == worker:
                    break
                writer.close()
        writer.write(f"GET /lists/dead?dbname=w{port}wiki@wmflabs HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        return cls(reader, writer)

    async def status(self) -> int | None:
        """The answer's status, None if the connection is broken."""
        try:
            async with asyncio.timeout(LIMIT_S):
                line = await self._reader.readline()
        except ConnectionError:
            line = b""
        self._writer.close()
        return int(line.split()[1]) if line else None


@asynccontextmanager
async def some_under_way(service: Service, database: str) -> AsyncIterator[dict[int, UnderWay]]:
    """A request with each worker, by its process; they are answered after the block."""
    async with await psycopg.AsyncConnection.connect(database) as holding:
        await holding.execute("LOCK TABLE wiki IN ACCESS EXCLUSIVE MODE")
        begun = {worker: await UnderWay.begun(service, worker) for worker in service.pids}
        await until_locked_out(database, len(begun))
        yield begun


async def _form(service: Service) -> tuple[str, str]:
    async with aiohttp.ClientSession() as client, client.get(service.url + "/account") as response:
        token = re.search(r'name="token" value="([^"]+)"', await response.text())
        assert token
        (cookie,) = response.cookies.values()
        return f"{cookie.key}={cookie.value}", token[1]


async def _sent(service: Service, cookie: str, token: str) -> int:
    headers = {"Cookie": cookie, "Origin": service.url}
    url = service.url + "/account/in"
    async with (
        aiohttp.ClientSession() as client,
        client.post(url, data={"token": token}, headers=headers, allow_redirects=False) as response,
    ):
        return response.status


async def test_workers_share_figures_and_keys_also_after_one_was_killed_and_end_in_order(
    database: str, tmp_path: Path
) -> None:
    async with open_workers(tmp_path, database) as service:
        _assert_reported_nothing_in_public(service, tmp_path)
        form = await _form(service)
        await _assert_figures_are_those_of_all(service, database)
        await _assert_others_go_on_with_what_killed_ones_began(service, database, form)
        workers = service.pids
        async with some_under_way(service, database) as requests:
            os.kill(service.process.pid, signal.SIGINT)
            # A terminal sends Ctrl-C to all of them, and `weboid up` sends SIGTERM, too.
            for pid in (service.process.pid, *workers):
                os.kill(pid, signal.SIGTERM)
            async with asyncio.timeout(LIMIT_S):
                while await _accepts(service.port):
                    await asyncio.sleep(0.02)
        assert {await each.status() for each in requests.values()} <= ANSWERED, service.output
        assert await service.end() == 0
        assert not any(is_running(pid) for pid in workers)
        assert not list(tmp_path.glob("weboid-web-*"))
        printed = [line for line in service.output if "was ended by SIGKILL; it is started again in" in line]
        assert len(printed) == sum("started again" in line for line in service.output) == 2
        assert not [line for line in service.output if "Traceback" in line]


async def _assert_figures_are_those_of_all(service: Service, database: str) -> None:
    """Whichever worker answers."""
    # So that each of them knows the status before its tables are locked: the kernel spreads requests at random, and of
    # twelve none at all went to one of three in two runs of a hundred.
    for _ in range(30):
        await service.metrics()
    async with some_under_way(service, database) as requests:
        await service.new_metrics()
        for _ in range(6):
            metrics = await service.metrics()
            assert _value(metrics, "weboid_web_requests_open") == len(requests) + 1
            assert metrics.count("\nprocess_resident_memory_bytes{") == len(requests) == 2
            assert metrics.count("\n# TYPE weboid_web_loop_lag_seconds gauge\n") == 1
    assert {await each.status() for each in requests.values()} <= ANSWERED, service.output
    async with asyncio.timeout(LIMIT_S):
        while _value(metrics := await service.new_metrics(), "weboid_web_requests_open") != 1:
            pass
    assert len(requests) == _value(metrics, 'weboid_web_request_seconds_count{route="/lists/dead"}')


async def _assert_others_go_on_with_what_killed_ones_began(
    service: Service, database: str, form: tuple[str, str]
) -> None:
    killed, other = service.pids
    counted = 'weboid_web_requests_total{route="/account",status="200"}'
    assert _value(await service.new_metrics(), counted) == 1
    async with some_under_way(service, database) as requests:
        os.kill(killed, signal.SIGKILL)
    ends = {worker: await each.status() for worker, each in requests.items()}
    assert ends.pop(killed) is None
    assert ends.pop(other) in ANSWERED
    await service.all_answer(killed)
    os.kill(other, signal.SIGKILL)
    await service.all_answer(killed, other)
    # Both are killed by now, and what they counted and the key of their cookies are still known.
    metrics = await service.new_metrics()
    assert _value(metrics, counted) == 1
    assert _value(metrics, "weboid_web_requests_open") == 1
    assert [await _sent(service, *form) for _ in range(4)] == [200] * 4
    assert await _sent(service, form[0], form[1][:-1] + "x") == 403


def _assert_reported_nothing_in_public(service: Service, folder: Path) -> None:
    """The message to a worker stands neither in its command line nor in its environment."""
    parent = Path(f"/proc/{service.process.pid}")
    for pid in service.pids:
        worker = Path(f"/proc/{pid}")
        assert (worker / "environ").read_bytes() == (parent / "environ").read_bytes()
        group, _, words = (worker / "cmdline").read_text().rstrip("\0").partition("\0serve\0")
        assert "--log=json" in group.split("\0"), "it logs as its parent"
        options = words.split("\0")
        assert [option.partition("=")[0] for option in options] == ["--host", "--port", "--worker"]
        assert re.fullmatch(r"--worker=\d,\d+", options[2])
    (figures,) = folder.glob("weboid-web-*")
    assert figures.stat().st_mode & 0o777 == 0o700
    held = os.open(figures, os.O_RDONLY)
    with pytest.raises(BlockingIOError):  # so that what deletes old temporary folders passes over it
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(held)


async def test_a_parent_that_is_killed_leaves_no_worker_behind(database: str, tmp_path: Path) -> None:
    async with open_workers(tmp_path, database) as service:
        workers = service.pids
        async with some_under_way(service, database) as requests:
            service.process.kill()
        assert {await each.status() for each in requests.values()} <= ANSWERED, service.output
        await until(lambda: not any(is_running(pid) for pid in workers))
        assert not await _accepts(service.port)


async def _accepts(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True


async def test_a_service_that_is_ended_while_it_starts_ends_in_order(database: str, tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.environ = {"WEBOID_DATABASE": database, "TMPDIR": str(tmp_path)}
    process = await place.start("serve", "--workers", "2", "--port", "0")
    try:
        await until(lambda: children(process.pid))
        workers = children(process.pid)
        process.terminate()
        async with asyncio.timeout(LIMIT_S):
            _, err = await process.communicate()
        assert process.returncode == 0
        assert "Traceback" not in err.decode()
        assert not any(is_running(pid) for pid in workers)
        assert not list(tmp_path.glob("weboid-web-*"))
    finally:
        await place.end()
