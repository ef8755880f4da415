"""Faults in the middle of a round, with real processes: afterwards every URL has exactly one result of that round."""

import asyncio
import os
import random
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from support.commands import Place, open_place

from weboid.demo.world import Host, Page, Spell, World

pytestmark = pytest.mark.timed

HOSTS, PATHS = 30, 6
WORLD = World(
    {
        f"h{host}.demo": Host(paths={f"/{path}": (Spell(0, Page(title=f"{path}")),) for path in range(PATHS)})
        for host in range(HOSTS)
    }
)
URLS = [f"http://h{host}.demo/{path}" for host in range(HOSTS) for path in range(PATHS)]


@asynccontextmanager
async def fed_place(folder: Path) -> AsyncIterator[Place]:
    """A place whose links are all due on day 100."""
    folder.mkdir(mode=0o711)
    async with open_place(folder, WORLD, {"All": URLS}) as place:
        place.environ |= {"WEBOID_CRAWL_DELAY": "0.1", "WEBOID_NET_CONNECTIONS": "20"}
        assert (await place.run("feed", "pass", "--day", "100")).status == 0
        yield place


async def until_asked(place: Place, count: int) -> None:
    """Returns when the little web has been asked so often."""
    assert place.web
    async with asyncio.timeout(40):
        while len(place.web.requests) < count:
            await asyncio.sleep(0.01)


async def assert_one_result_each(place: Place) -> None:
    lines = (await place.run("show", "--json", "demowiki@wmflabs:All")).lines()
    assert len(lines) == len(URLS)
    for line in lines:
        assert [entry["first"] for entry in line["history"]] == ["2017-04-11"], line
        assert line["strikes"] == 0
        assert line["verdict"] == "working"


@pytest.mark.long
async def test_ten_kills_at_random_moments_cost_requests_but_no_result(server_folder: Path) -> None:
    chance = random.Random(5)
    async with fed_place(server_folder / "ten") as place:
        for number in range(10):
            process = await place.start("crawl", "--once", "--day", "100")
            await asyncio.sleep(chance.uniform(0.3, 1.2))
            if process.returncode is None:
                os.kill(process.pid, signal.SIGKILL)
            await process.communicate()
            if number % 3 == 2:
                await asyncio.sleep(2.1)  # its lease has run out: the next one gets on
        assert (await place.run("crawl", "--once", "--day", "100")).status == 0
        await assert_one_result_each(place)


async def test_a_database_killed_in_the_middle_is_started_again_and_the_round_goes_on(server_folder: Path) -> None:
    async with fed_place(server_folder / "database") as place:
        process = await place.start("crawl", "--once", "--day", "100")
        await until_asked(place, 60)
        os.kill(_postmaster(place), signal.SIGKILL)
        _, err = await asyncio.wait_for(process.communicate(), 60)
        assert process.returncode == 0, err.decode()
        assert b"started again" in err
        await assert_one_result_each(place)


@pytest.mark.long
async def test_a_database_restarted_in_order_does_not_end_the_round(server_folder: Path) -> None:
    async with fed_place(server_folder / "restart") as place:
        process = await place.start("crawl", "--once", "--day", "100")
        await until_asked(place, 60)
        os.kill(_postmaster(place), signal.SIGINT)  # PostgreSQL's fast shutdown: every connection is cut
        _, err = await asyncio.wait_for(process.communicate(), 60)
        assert process.returncode == 0, err.decode()
        await assert_one_result_each(place)


@pytest.mark.long
async def test_two_workers_of_which_one_hangs_and_wakes_write_nothing_twice(server_folder: Path) -> None:
    async with fed_place(server_folder / "hang") as place:
        first = await place.start("crawl", "--once", "--day", "100")
        await until_asked(place, 40)
        os.kill(first.pid, signal.SIGSTOP)
        second = await place.run("crawl", "--once", "--day", "100")
        assert second.status == 0
        os.kill(first.pid, signal.SIGCONT)
        _, err = await asyncio.wait_for(first.communicate(), 60)
        assert first.returncode == 0, err.decode()
        await assert_one_result_each(place)


@pytest.mark.long
async def test_without_a_name_server_the_round_ends_and_nothing_is_held_against_any_link(server_folder: Path) -> None:
    many = {f"h{host}.demo": Host(paths={"/": (Spell(0, Page()),)}) for host in range(80)}
    folder = server_folder / "names"
    folder.mkdir(mode=0o711)
    async with open_place(folder, World(many), {"All": [f"http://{host}/" for host in many]}) as place:
        assert (await place.run("feed", "pass", "--day", "100")).status == 0
        there, place.environ["WEBOID_NET_DNS"] = place.environ["WEBOID_NET_DNS"], "127.0.0.1:9"
        ran = await place.run("crawl", "--once", "--day", "100")
        assert (ran.status, "cut off" in ran.err) == (2, True), ran.err[-2000:]
        lines = (await place.run("show", "--json", "demowiki@wmflabs:All")).lines()
        assert {(line["verdict"], line["next_check"]) for line in lines} == {("unknown", "2017-04-11")}
        place.environ["WEBOID_NET_DNS"] = there
        assert (await place.run("crawl", "--once", "--day", "100")).status == 0
        lines = (await place.run("show", "--json", "demowiki@wmflabs:All")).lines()
        assert {line["verdict"] for line in lines} == {"working"}


def _postmaster(place: Place) -> int:
    return int((place.folder / "data" / "postgres" / "postmaster.pid").read_text().split("\n", 1)[0])
