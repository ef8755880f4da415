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
from support.commands import Place, open_place
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


def _postmaster(place: Place) -> int:
    return int((place.folder / "data" / "postgres" / "postmaster.pid").read_text().split("\n", 1)[0])
