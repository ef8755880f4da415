"""The whole way once, with a real archive: a link dies, its copy is reported everywhere within a day; when the archive
withdraws the copy, the next quarterly visit drops it. By the program's own commands."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from support.commands import Place, open_place
from support.pywb import HTML, RealArchive

from weboid.core.record.days import day_of
from weboid.demo.world import Behaviour, Code, Host, Life, Page, Spell, World

ARTICLE, KEPT, NEVER, BLOCKED = (f"http://site.demo/{path}" for path in ("article", "kept", "never", "blocked"))
FINE = "http://site.demo/fine"
LIFE: Life[Behaviour] = (Spell(0, Page(title="The article")), Spell(108, Code(404)))
WORLD = World(
    {
        "site.demo": Host(
            paths={"/article": LIFE, "/kept": LIFE, "/never": LIFE, "/blocked": LIFE, "/fine": (Spell(0, Page()),)}
        )
    }
)
ADDED, LAST, STEP = 106, 145, 5
"""Rounds on every fifth day are enough to prove a death, and spare time."""
QUARTER = 91
TEXT = "".join(f"<p>On day {day} the ferry sailed {day % 5} times, as the tide allowed.\n" for day in range(60))
GOOD = f"<!doctype html><html lang=en><title>The article</title>{TEXT}</html>".encode()
GONE = b"<!doctype html><html lang=en><title>404 Not Found</title><p>There is nothing here.</html>"


def recorded(archive: RealArchive, url: str) -> None:
    """What the archive has of a page that was cited on 2017-04-17 and was gone on the 19th."""
    archive.add(url, datetime(2015, 2, 1, 8, 0, 0, tzinfo=UTC), body=GOOD)
    archive.add(url, datetime(2017, 3, 30, 10, 0, 0, tzinfo=UTC), body=GOOD)
    archive.add(url, datetime(2017, 4, 23, 10, 0, 0, tzinfo=UTC), 404, HTML, GONE)
    archive.add(url, datetime(2017, 6, 1, 10, 0, 0, tzinfo=UTC), body=b"<title>site.demo is for sale</title>Buy it")


STAMP = "20170330100000"


@asynccontextmanager
async def open_story(database: str, folder: Path, archive: RealArchive) -> AsyncIterator[Place]:
    """A wiki that cites five pages, and Weboid configured to look for copies at the framed archive only."""
    async with open_place(folder, WORLD, {"Ferry": [ARTICLE, KEPT, NEVER, BLOCKED, FINE]}) as place:
        assert place.web
        service = {
            "BASE": archive.framed,
            "PUBLIC": archive.framed,
            "DIALECT": "pywb",
            "PER_MINUTE": "0",
            "REPLAY_PER_MINUTE": "0",
        }
        place.environ |= {f"WEBOID_ARCHIVE_WAYBACK_{key}": value for key, value in service.items()}
        place.environ |= {"WEBOID_DATABASE": database, "WEBOID_ARCHIVE_SERVICES": "wayback"}
        for url in (ARTICLE, KEPT, BLOCKED):
            recorded(archive, place.web.located(url))
        archive.block(place.web.located(BLOCKED))
        await done(place, "feed", "pass", "--day", str(ADDED))
        yield place


async def done(place: Place, *call: str) -> None:
    ran = await place.run(*call)
    assert ran.status == 0, ran.err


async def shown(place: Place, url: str) -> dict[str, Any]:
    """What ``weboid show`` tells of a URL."""
    assert place.web
    (answer,) = (await place.run("show", "--json", place.web.located(url))).lines()
    return answer


async def until_dead(place: Place) -> int:
    """Plays days with a round of checks and one of the archive's works each; returns that of death."""
    for day in range(ADDED, LAST, STEP):
        place.day = day
        await done(place, "crawl", "--once", "--day", str(day))
        await done(place, "archive", "--once", "--day", str(day))
        if day > 120 and (await shown(place, ARTICLE))["verdict"] == "dead":
            return day
    raise AssertionError("it never died")


@pytest.mark.long
async def test_copies_are_reported_on_the_day_of_death_and_dropped_when_withdrawn_whatever_frames_say(
    database: str, tmp_path: Path, real_archive: RealArchive
) -> None:
    async with open_story(database, tmp_path, real_archive) as place:
        assert place.web
        died = await until_dead(place)
        article, kept = (f"{real_archive.framed}/{STAMP}/{place.web.located(url)}" for url in (ARTICLE, KEPT))
        answer = await shown(place, ARTICLE)
        assert (answer["archived"], [copy["snapshot"] for copy in answer["snapshots"]]) == ("found", [article])
        (copy,) = answer["snapshots"]
        assert (copy["service"], copy["stamp"], copy["origin"]) == ("wayback", STAMP, "chosen")
        assert copy["distance_days"] == day_of(date(2017, 3, 30)) - ADDED
        states = {url: (await shown(place, url))["archived"] for url in (KEPT, NEVER, BLOCKED, FINE)}
        assert states == {KEPT: "found", NEVER: "none", BLOCKED: "excluded", FINE: None}
        for path, text in (await answers(place, died)).items():
            assert article in text, path
            assert kept in text, path

        real_archive.block(place.web.located(ARTICLE))
        later = died + QUARTER
        await done(place, "archive", "--once", "--day", str(later))
        answer = await shown(place, ARTICLE)
        assert (answer["archived"], answer["snapshots"]) == ("withdrawn", [])
        assert (await shown(place, KEPT))["archived"] == "found"
        for path, text in (await answers(place, later)).items():
            assert article not in text, path
            assert kept in text, path


async def answers(place: Place, day: int) -> dict[str, str]:
    """What the webservice says of the page in all its forms, by path."""
    process, url = await place.serve("--day", str(day))
    page = "dbname=demowiki@wmflabs&pageid=1"
    texts = {}
    try:
        async with aiohttp.ClientSession(url) as client:
            for path in ("/externalLinkInfo?", "/externalLinkProblem?", "/api/page?", "/api/page?format=xml&"):
                async with client.get(path + page) as response:
                    assert response.status == 200, path
                    texts[path] = (await response.text()).replace("\\/", "/")
    finally:
        process.terminate()
        await process.communicate()
    return texts
