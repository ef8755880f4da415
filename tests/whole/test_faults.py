"""Faults in the middle of a round, with real processes: no answered check is lost or doubled, no URL is left out."""

import asyncio
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from support import away
from support.commands import Place, open_place
from support.small_disk import small_disk
from support.waiting import until

from weboid.demo.world import Host, Page, Spell, World

HOSTS, PATHS = 30, 6
WORLD = World(
    {
        f"h{host}.demo": Host(paths={f"/{path}": (Spell(0, Page(title=f"{path}")),) for path in range(PATHS)})
        for host in range(HOSTS)
    }
)
URLS = [f"http://h{host}.demo/{path}" for host in range(HOSTS) for path in range(PATHS)]


@asynccontextmanager
async def fed_place(folder: Path, **environ: str) -> AsyncIterator[Place]:
    """A place whose links are all due on day 100, with a PostgreSQL of its own unless `environ` names one."""
    folder.mkdir(mode=0o711)
    async with open_place(folder, WORLD, {"All": URLS}) as place:
        place.environ |= {"WEBOID_CRAWL_DELAY": "0.1", "WEBOID_NET_CONNECTIONS": "20", **environ}
        assert (await place.run("feed", "pass", "--day", "100")).status == 0
        yield place


async def until_asked(place: Place, count: int) -> None:
    """Returns when the little web has been asked so often."""
    web = place.web
    assert web
    await until(lambda: len(web.requests) >= count)


async def shown(place: Place) -> list[dict[str, Any]]:
    """What is known of all links."""
    lines = (await place.run("show", "--json", "demowiki@wmflabs:All")).lines()
    assert len(lines) == len(URLS)
    return lines


async def assert_one_result_each(place: Place) -> None:
    for line in await shown(place):
        assert [entry["first"] for entry in line["history"]] == ["2017-04-11"], line
        assert (line["strikes"], line["verdict"]) == (0, "working")


def times_asked(place: Place) -> Counter[str]:
    assert place.web
    web = place.web
    return Counter(web.located(f"http://{each.host}{each.target}") for each in web.requests if each.method == "HEAD")


@pytest.mark.parametrize("kind", [pytest.param(signal.SIGKILL, marks=pytest.mark.long), signal.SIGTERM])
async def test_a_round_that_is_ended_in_the_middle_goes_on_where_it_was(
    database: str, tmp_path: Path, kind: signal.Signals
) -> None:
    async with fed_place(tmp_path / "ended", WEBOID_DATABASE=database) as place:
        process = await place.start("crawl", "--once", "--day", "100")
        await until_asked(place, 60)
        os.kill(process.pid, kind)
        await process.communicate()
        assert process.returncode == (0 if kind == signal.SIGTERM else -signal.SIGKILL)
        asked = set(times_asked(place))
        written = {line["normal"] for line in await shown(place) if line["history"]}
        # What was written was asked; at most one check of each of the 31 visits of 20 connections was asked in vain.
        assert written <= asked
        assert len(asked - written) <= (31 if kind == signal.SIGKILL else 0)
        assert (await place.run("crawl", "--once", "--day", "100")).status == 0
        await assert_one_result_each(place)
        times = times_asked(place)
        assert len(times) == len(URLS)
        assert {url for url, count in times.items() if count > 1} == asked - written


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
async def test_two_workers_of_which_one_hangs_and_wakes_write_nothing_twice(database: str, tmp_path: Path) -> None:
    async with fed_place(tmp_path / "hang", WEBOID_DATABASE=database) as place:
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
async def test_without_a_name_server_the_round_ends_and_nothing_is_held_against_any_link(
    database: str, tmp_path: Path
) -> None:
    async with fed_place(tmp_path / "names", WEBOID_DATABASE=database) as place:
        there, place.environ["WEBOID_NET_DNS"] = place.environ["WEBOID_NET_DNS"], "127.0.0.1:9"
        ran = await place.run("crawl", "--once", "--day", "100")
        assert (ran.status, "cut off" in ran.err) == (2, True), ran.err[-2000:]
        assert {(line["verdict"], line["next_check"]) for line in await shown(place)} == {("unknown", "2017-04-11")}
        place.environ["WEBOID_NET_DNS"] = there
        assert (await place.run("crawl", "--once", "--day", "100")).status == 0
        await assert_one_result_each(place)


def _postmaster(place: Place) -> int:
    return int((place.folder / "data" / "postgres" / "postmaster.pid").read_text().split("\n", 1)[0])


@pytest.mark.long
async def test_a_full_disk_in_mid_round_costs_no_check(server_folder: Path) -> None:
    with small_disk(server_folder / "disk-of-a-round", "200m") as disk:
        await _crawl_on_a_full_disk(disk)


async def _crawl_on_a_full_disk(disk: Path) -> None:
    async with open_place(disk, away.WORLD, {"All": away.URLS}) as place:
        assert place.web
        web = place.web
        place.environ |= {"WEBOID_CRAWL_DELAY": "0.2", "WEBOID_NET_CONNECTIONS": "10"}
        assert (await place.run("feed", "pass", "--day", "100")).status == 0
        crawl = away.Running(await place.start("crawl", "--once", "--day", "100"))
        await crawl.until(lambda: len(web.requests) >= 20)
        filler = disk / "filler"
        with pytest.raises(OSError, match="No space left"):
            _fill(filler)
        await crawl.until(lambda: crawl.count("No space left") > 0)
        filler.unlink()
        assert await crawl.ended() == 0, crawl.said
        known = await place.run("show", "--json", *map(web.located, away.URLS))
        assert [line["status"] for line in known.lines()] == [1] * len(away.URLS)
        asked = Counter(f"{each.host}{each.target}" for each in web.requests)
        missing = {url for url in away.URLS if url.removeprefix("http://") not in asked}
        assert not missing, (missing, crawl.said[-3000:])


def _fill(filler: Path) -> None:
    with filler.open("wb", buffering=0) as file:
        while True:
            file.write(b"\0" * 4096)
