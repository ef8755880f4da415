"""What ``weboid show`` tells of the proof that a link is dead, while it is missing yet (U-7)."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.commands import Place, open_place

from weboid.demo.world import Code, Host, Page, Spell, World

WORLD = World({"site.demo": Host(paths={"/": (Spell(0, Page(title="Home")),), "/gone": (Spell(0, Code(410)),)})})


@pytest.fixture
async def place(database: str, tmp_path: Path) -> AsyncIterator[Place]:
    async with open_place(tmp_path, WORLD, {"Harbour": ["http://site.demo/gone"]}) as place:
        place.environ["WEBOID_DATABASE"] = database
        yield place


async def test_the_evidence_is_told_to_programs_and_people(place: Place) -> None:
    assert place.web
    url = place.web.located("http://site.demo/gone")
    assert (await place.run("feed", "pass", "--day", "100")).status == 0
    (new,) = (await place.run("show", "--json", url)).lines()
    assert (new["verdict"], new["evidence"]) == ("unknown", None)
    for day in (100, 103):
        place.day = day
        assert (await place.run("crawl", "--once", "--day", str(day))).status == 0
    (known,) = (await place.run("show", "--json", url)).lines()
    evidence = known["evidence"]
    assert (known["verdict"], known["since"]) == ("doubtful", "2017-04-11")
    assert (evidence["since"], evidence["until"]) == ("2017-04-11", "2017-04-14")
    assert (evidence["strikes"], evidence["missing"], evidence["of_host"]) == (2, 2, False)
    assert (evidence["days"], evidence["needs_days"]) == (3, 14)
    words = " ".join((await place.run("show", url)).out.split())
    assert "evidence" in words
    assert "2 missing" in words
