"""The file in which all processes of a user keep the limits of archives: shared, and robust whatever it is (A-2)."""

import asyncio
import json
import logging
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from support.archives import MadeArchive

from weboid.archive.service.client import Resting
from weboid.archive.service.limits import JointLimiter, LocalLimiter
from weboid.archive.service.limits_file import LONGEST_NAMED_REST_S, LimitsFile
from weboid.store.archives.service_limit import RequestKind

SERVICE = MadeArchive().service(per_minute=24)
NOW = 1_800_000_000.0
INDEX = RequestKind.INDEX


class Machine:
    def __init__(self, folder: Path) -> None:
        self.now = NOW
        self.path = folder / "weboid" / "archives.json"

    def process(self) -> LocalLimiter:
        return LocalLimiter(LimitsFile(self.path, lambda: self.now), wait=self.wait)

    async def wait(self, seconds: float) -> None:
        self.now += seconds

    def content(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.path.read_bytes())["services"]
        return found

    async def rests_s(self) -> float:
        """For how long another process sees the service rest."""
        try:
            await self.process().turn(SERVICE, INDEX)
        except Resting as rests:
            return rests.seconds
        return 0.0


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


async def test_no_minute_has_more_requests_than_the_limit_whatever_the_process(machine: Machine) -> None:
    sent = []
    for _ in range(72):
        await machine.process().turn(SERVICE, INDEX)
        sent.append(machine.now)
    assert sent[3] - NOW < 0.01
    assert max(sum(first <= one < first + 59.999 for one in sent) for first in sent) <= 24
    assert sent[-1] - sent[0] < 3 * 60 * 1.2


async def test_a_pause_holds_for_others_grows_in_them_and_ends_with_an_answer(machine: Machine) -> None:
    assert await machine.process().rest(SERVICE, "rate-limited", None) == 60
    assert await machine.rests_s() == 60
    machine.now += 61
    assert await machine.rests_s() == 0
    assert await machine.process().rest(SERVICE, "rate-limited", None) == 120
    machine.now += 121
    other = machine.process()
    await other.turn(SERVICE, INDEX)
    await other.answered(SERVICE, 0.1)
    assert await machine.process().rest(SERVICE, "refused", None) == 60


async def test_failures_in_a_row_are_counted_for_all_processes_until_an_answer(machine: Machine) -> None:
    for number in range(1, 6):
        process = machine.process()
        await process.turn(SERVICE, INDEX)
        assert await process.failed(SERVICE) == number
    other = machine.process()
    await other.turn(SERVICE, INDEX)
    await other.answered(SERVICE, 0.1)
    assert await machine.process().failed(SERVICE) == 1


@pytest.mark.parametrize("jump_s", [-10 * 365 * 86_400.0, -3_600.0, 3_600.0, 10 * 365 * 86_400.0])
@pytest.mark.parametrize("wanted_s", [None, 900.0, 1e12])
async def test_no_pause_grows_whatever_the_clock_does(machine: Machine, jump_s: float, wanted_s: float | None) -> None:
    await machine.process().turn(SERVICE, RequestKind.REPLAY)
    rest_s = await machine.process().rest(SERVICE, "rate-limited", wanted_s)
    assert rest_s <= LONGEST_NAMED_REST_S
    machine.now += jump_s
    assert await machine.rests_s() <= rest_s
    machine.now += LONGEST_NAMED_REST_S + 1
    before = machine.now
    await machine.process().turn(SERVICE, INDEX)
    await machine.process().turn(SERVICE, RequestKind.REPLAY)
    assert machine.now - before <= 60


_SERVICE = {"free": {"0": NOW}, "until": NOW + 60, "rest_s": 60, "why": "x"}
_ODD: dict[str, list[object]] = {
    "until": [float("inf"), None, "9" * 400, 10**400],
    "rest_s": [1e300, -1, float("nan")],
    "why": ["\x1b[31m", 3],
    "free": [{"7": NOW}, {"0": float("inf")}, [1]],
}
_STRANGE = [{**_SERVICE, key: value} for key, values in _ODD.items() for value in values]
_DOCUMENTS: list[dict[str, object]] = [
    {"format": 1},
    {"format": 2, "services": {SERVICE.base: _SERVICE}},
    {"format": 1, "services": []},
    {"format": 1, "services": {SERVICE.base: 3}},
    *({"format": 1, "services": {SERVICE.base: strange}} for strange in _STRANGE),
]
_BYTES = (b"", b"\0" * 16_384, b"{", b"[]", b"[" * 16_000, b"1" * 16_000, b"\xff\xfe", b"{}" + b" " * 100_000_000)


@pytest.mark.parametrize("content", [*_BYTES, *(json.dumps(each).encode() for each in _DOCUMENTS)])
async def test_a_file_that_is_damaged_or_hostile_is_begun_anew(machine: Machine, content: bytes) -> None:
    machine.path.parent.mkdir()
    machine.path.write_bytes(content)
    assert await machine.rests_s() == 0
    assert list(machine.content()) == [SERVICE.base]
    assert machine.path.stat().st_size == 16_384
    assert await machine.process().rest(SERVICE, "refused", None) == 60
    assert await machine.rests_s() == 60


async def test_the_file_never_grows_forgets_the_oldest_and_is_the_users_alone(machine: Machine) -> None:
    for number in range(300):
        service = MadeArchive().service(base=f"https://archive{number}.example" + "/x" * 40, per_minute=24)
        await machine.process().turn(service, INDEX)
        machine.now += 1
    assert machine.path.stat().st_size == 16_384
    assert len(machine.content()) > 50
    assert any("archive299." in base for base in machine.content())
    machine.now += LONGEST_NAMED_REST_S + 60
    await machine.process().turn(SERVICE, INDEX)
    assert list(machine.content()) == [SERVICE.base]
    await machine.process().turn(SERVICE, INDEX)
    assert (machine.path.stat().st_mode & 0o777, machine.path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def _link(path: Path) -> None:
    (path.parent / "target").write_bytes(b"precious")
    path.symlink_to("target")


def _hard_link(path: Path) -> None:
    (path.parent / "target").write_bytes(b"precious")
    path.hardlink_to(path.parent / "target")


def _of_another(path: Path) -> None:
    path.write_bytes(b"precious")
    os.chown(path, 12_345, -1)


@pytest.mark.parametrize("make", [_link, _hard_link, os.mkfifo, Path.mkdir, _of_another, "folder", "nowhere"])
async def test_what_cannot_be_used_is_left_alone_with_one_warning_and_the_process_keeps_its_limits(
    machine: Machine, make: Any, caplog: pytest.LogCaptureFixture
) -> None:
    if make is _of_another and os.geteuid():
        pytest.skip("only root may give files away")
    if make == "folder":
        machine.path.parent.write_bytes(b"no folder")
    elif make != "nowhere":
        machine.path.parent.mkdir()
        make(machine.path)
    caplog.set_level(logging.WARNING)
    place = None if make == "nowhere" else machine.path
    limiter = LocalLimiter(LimitsFile(place, lambda: machine.now), wait=machine.wait)
    for _ in range(5):
        await limiter.turn(SERVICE, INDEX)
    assert machine.now > NOW
    await limiter.rest(SERVICE, "refused", None)
    with pytest.raises(Resting):
        await limiter.turn(SERVICE, INDEX)
    assert caplog.text.count("limits of archives hold for this process alone") == 1
    assert all(each.read_bytes() == b"precious" for each in machine.path.parent.glob("target"))


async def test_many_processes_at_once_lose_no_request(machine: Machine) -> None:
    code = """
import asyncio, sys
from pathlib import Path
from weboid.archive.service.limits_file import LimitsFile, ServicePace
async def main():
    for _ in range(100):
        known = {}
        async with LimitsFile(Path(sys.argv[1]), lambda: 0.0).shared(known):
            pace = known.setdefault("a", ServicePace())
            pace.free[0] = pace.free.get(0, 0.0) + 0.125
asyncio.run(main())
"""
    processes = [await asyncio.create_subprocess_exec(sys.executable, "-c", code, str(machine.path)) for _ in range(4)]
    assert [await process.wait() for process in processes] == [0] * 4
    assert machine.content()["a"]["free"] == {"0": 50.0}


async def test_two_stores_on_a_machine_share_a_pause_and_each_limiter_is_asked(machine: Machine) -> None:
    stores = [LocalLimiter(now=lambda: machine.now, wait=machine.wait) for _ in range(2)]
    one, other = (JointLimiter(machine.process(), store) for store in stores)
    await one.turn(SERVICE, INDEX)
    assert await one.rest(SERVICE, "refused", None) == 60
    with pytest.raises(Resting):
        await other.turn(SERVICE, INDEX)
    machine.now += 61
    await other.turn(SERVICE, INDEX)
    await other.answered(SERVICE, 0.0)
    assert await other.rest(SERVICE, "refused", 50) == 50
    with pytest.raises(Resting):
        await stores[1].turn(SERVICE, INDEX)
