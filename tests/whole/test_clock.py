"""A clock that steps: far steps are refused; where they are meant, records stay sound, and nobody is asked again and
again.
"""

from functools import partial
from pathlib import Path

import pytest
from rich.console import Console
from support.commands import open_place

from weboid.cli.crawl import CrawlOptions, crawl
from weboid.config import load_config
from weboid.core.record.moment import Moment
from weboid.demo.world import Code, Host, Page, Spell, World
from weboid.errors import DayRefused
from weboid.store.db.pool import open_pool

WORLD = World(
    {
        "one.demo": Host(paths={"/fine": (Spell(0, Page()),), "/gone": (Spell(0, Code(404)),)}),
        "two.demo": Host(paths={"/late": (Spell(0, Page()),)}),
    }
)
URLS = [f"http://{host}{path}" for host, path in [("one.demo", "/fine"), ("one.demo", "/gone"), ("two.demo", "/late")]]


async def test_a_day_that_is_over_comes_again_and_nothing_is_asked_nor_spoilt(database: str, tmp_path: Path) -> None:
    async with open_place(tmp_path, WORLD, {"All": URLS}) as place:
        assert place.web
        place.environ["WEBOID_DATABASE"] = database
        days = [400, 399, 404, 39, 408, 412, 418]
        for day in days:
            assert (await place.run("feed", "pass", "--day", str(day))).status == 0
            asked = len(place.web.requests)
            ran = await place.run("crawl", "--once", "--day", str(day))
            assert ran.status == 0, ran.err
            if day < max(days[: days.index(day) + 1]):
                assert len(place.web.requests) == asked
        gone = (await place.run("show", "--json", place.web.located(URLS[1]))).lines()[0]
        assert gone["verdict"] == "dead"
        assert [entry["first"] <= entry["last"] for entry in gone["history"]] == [True]
        fine = (await place.run("show", "--json", place.web.located(URLS[0]))).lines()[0]
        assert fine["verdict"] == "working"


async def test_a_far_step_is_refused_and_nothing_is_asked_or_written_until_it_is_confirmed(
    database: str, tmp_path: Path
) -> None:
    async with open_place(tmp_path, WORLD, {"All": URLS}) as place:
        assert place.web
        place.environ["WEBOID_DATABASE"] = database
        assert (await place.run("feed", "pass", "--day", "400")).status == 0
        assert (await place.run("crawl", "--once", "--day", "400")).status == 0
        before = [(await place.run("show", "--json", place.web.located(url))).out for url in URLS]
        asked = len(place.web.requests)
        config = load_config(None, place.environ, data=tmp_path)
        async with open_pool(database, size=2, part="test") as pool:
            jumped = partial(crawl, config, pool, lambda: Moment(420))
            with pytest.raises(DayRefused, match="weboid crawl --once --confirm-day"):
                await jumped(CrawlOptions(True, Console(quiet=True)))
            assert len(place.web.requests) == asked
            assert [(await place.run("show", "--json", place.web.located(url))).out for url in URLS] == before
            assert "alarm clock, since 2018-02-05" in (await place.run("maintain", "--day", "420")).err
            place.day = 420
            await jumped(CrawlOptions(True, Console(quiet=True), confirmed=True))
        assert len(place.web.requests) > asked
        assert "alarm clock" not in (await place.run("maintain", "--day", "420")).err
