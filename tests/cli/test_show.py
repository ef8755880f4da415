"""What ``weboid show`` tells of a link: the proof that it is dead, while it is missing yet (U-7), and copies (A-1)."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.commands import Place, open_place
from support.copies import keep_copies

from weboid.demo.world import Code, Host, Page, Spell, World
from weboid.store.db.pool import open_pool

WORLD = World({"site.demo": Host(paths={"/": (Spell(0, Page(title="Home")),), "/gone": (Spell(0, Code(410)),)})})


@pytest.fixture
async def place(database: str, tmp_path: Path) -> AsyncIterator[Place]:
    async with open_place(tmp_path, WORLD, {"Harbour": ["http://site.demo/gone"]}) as place:
        place.environ["WEBOID_DATABASE"] = database
        yield place


async def test_evidence_and_copies_are_told_to_programs_and_people(place: Place) -> None:
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
    assert (known["archived"], known["snapshots"], "copy: pending" in words) == ("pending", [], True)
    async with open_pool(place.environ["WEBOID_DATABASE"], size=1, part="test") as pool:
        await keep_copies(pool, url, day=104, snapshots=("wayback",))
    (known,) = (await place.run("show", "--json", url)).lines()
    address = f"https://web.archive.org/web/20160503120000/{url}"
    assert (known["archived"], known["archives"]) == ("found", [address])
    assert known["snapshots"][0]["distance_days"] == -2
    assert known["snapshots"][0]["distance_to"] == "first-seen"
    words = "".join((await place.run("show", url)).out.split())
    assert f"copy:{address}(2daysbeforethelinkwasfirstseen)" in words
