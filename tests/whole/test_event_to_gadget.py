"""The whole way once: an editor adds a link, an event tells of it, it dies, and the gadget of a reader is informed."""

import json
from pathlib import Path

import aiohttp
import psycopg
from support.commands import Place, open_place
from support.eventmaker import links_added
from support.sseserver import open_event_server
from support.wiki_edits import record_edit

from weboid.demo.wikipages import WikiLink
from weboid.demo.world import Code, Host, Page, Spell, World

WORLD = World(
    {"site.demo": Host(paths={"/a": (Spell(0, Page()),), "/brief": (Spell(0, Page()), Spell(110, Code(404)))})}
)
ADDED, DEAD = 105, 125


async def test_a_link_that_an_edit_adds_is_reported_dead_a_fortnight_after_its_death(
    database: str, tmp_path: Path
) -> None:
    async with open_place(tmp_path, WORLD, {"Harbour": ["http://site.demo/a"]}) as place:
        assert place.web
        assert place.wiki
        place.environ["WEBOID_DATABASE"] = database
        brief = place.web.located("http://site.demo/brief")
        assert (await place.run("feed", "pass", "--day", "100")).status == 0
        record_edit(place.wiki, "Harbour", [*place.wiki.pages["Harbour"].links, WikiLink(brief)])
        async with open_event_server([links_added(1, [brief], 1, wiki="demowiki")]) as stream:
            followed = await place.run(
                "feed", "events", "--once", "--farm", "wmflabs", "--url", stream.url, "--day", str(ADDED)
            )
        assert (followed.status, "1 links came" in followed.err) == (0, True), followed.err
        # It is fine on its first day, asked again in the week after, and then fails for fourteen days.
        for day in range(ADDED, DEAD + 1):
            place.day = day
            async with await psycopg.AsyncConnection.connect(database) as connection:
                is_due = (await connection.execute("SELECT FROM host WHERE next_day <= %s", (day,))).rowcount > 0
            if is_due:
                assert (await place.run("crawl", "--once", "--day", str(day))).status == 0
            if day >= DEAD - 1:
                answer = (await place.run("show", "--json", brief)).lines()[0]
                assert (answer["verdict"] == "dead") == (day == DEAD)
        assert (answer["since"], answer["strikes"]) == ("2017-04-22", 10)
        assert await _reported_to_the_gadget(place, day) == [brief]


async def _reported_to_the_gadget(place: Place, day: int) -> list[str]:
    """The dead links of page 1 in the call that a gadget gets."""
    process, url = await place.serve("--day", str(day))
    try:
        async with (
            aiohttp.ClientSession() as client,
            client.get(f"{url}/externalLinkProblem?dbname=demowiki@wmflabs&pageid=1") as response,
        ):
            call = await response.text()
    finally:
        process.terminate()
        await process.communicate()
    document = json.loads(call.removeprefix("/**/weboid.externalLinkProblem(").removesuffix(");\n"))
    return [link["normal"] for link in document["pages"][0]["links"]]
