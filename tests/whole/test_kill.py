"""Killing a round in the middle, and stopping one in order: no answered check is lost or doubled, no URL is skipped."""

import asyncio
import os
import signal
from collections import Counter
from pathlib import Path

import pytest
from support.commands import Place, open_place

from weboid.demo.world import Host, Page, Spell, World

HOSTS, PATHS = 40, 8
WORLD = World(
    {
        f"h{host}.demo": Host(paths={f"/{path}": (Spell(0, Page(title=f"{path}")),) for path in range(PATHS)})
        for host in range(HOSTS)
    }
)
URLS = [f"http://h{host}.demo/{path}" for host in range(HOSTS) for path in range(PATHS)]


@pytest.mark.timed
@pytest.mark.parametrize("kind", [pytest.param(signal.SIGKILL, marks=pytest.mark.long), signal.SIGTERM])
async def test_a_round_that_is_ended_in_the_middle_goes_on_where_it_was(
    database: str, tmp_path: Path, kind: signal.Signals
) -> None:
    async with open_place(tmp_path, WORLD, {"All": URLS}) as place:
        place.environ |= {
            "WEBOID_DATABASE": database,
            "WEBOID_CRAWL_DELAY": "0.1",
            "WEBOID_NET_CONNECTIONS": "20",
        }
        assert (await place.run("feed", "pass", "--day", "100")).status == 0
        asked_before = await _ended_in_the_middle(place, kind)
        written = await _known(place)
        if kind == signal.SIGTERM:
            assert written == asked_before
        # What was written was asked; at most one check of each of the 31 visits of 20 connections was asked in vain.
        assert written <= asked_before
        assert len(asked_before) - len(written) <= 31
        assert (await place.run("crawl", "--once", "--day", "100")).status == 0
        assert len(await _known(place)) == len(URLS)
        times = Counter(_asked(place))
        assert times.keys() == {place.web.located(url) for url in URLS} if place.web else False
        doubled = {url for url, count in times.items() if count > 1}
        assert doubled == asked_before - written


async def _ended_in_the_middle(place: Place, kind: signal.Signals) -> set[str]:
    assert place.web
    process = await place.start("crawl", "--once", "--day", "100")
    async with asyncio.timeout(30):
        while len(place.web.requests) < 100:
            await asyncio.sleep(0.01)
    os.kill(process.pid, kind)
    await process.communicate()
    assert process.returncode == (0 if kind == signal.SIGTERM else -signal.SIGKILL)
    return set(_asked(place))


def _asked(place: Place) -> list[str]:
    """The URLs asked, once for each HEAD."""
    assert place.web
    return [
        place.web.located(f"http://{asked.host}{asked.target}")
        for asked in place.web.requests
        if asked.method == "HEAD"
    ]


async def _known(place: Place) -> set[str]:
    """The URLs whose record has a check of this round."""
    lines = (await place.run("show", "--json", "demowiki@wmflabs:All")).lines()
    assert all(len(line["history"]) <= 1 for line in lines)
    return {line["normal"] for line in lines if line["history"]}
