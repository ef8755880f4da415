"""A clock that steps back: records stay sound, and nobody is asked again and again."""

from pathlib import Path

from support.commands import open_place

from weboid.demo.world import Code, Host, Page, Spell, World

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
