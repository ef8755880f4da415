"""The story with which tests of the repair bot begin: pages of a real wiki were fed, links died, copies were found.

A real MediaWiki, a real PostgreSQL and a real web archive; Weboid's own commands; days pass by the tests' clock. At its
end a real webservice answers, and nothing has been repaired yet.
"""

import hashlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from support.commands import Place, open_web_place
from support.pwb import BotWiki
from support.pywb import RealArchive
from support.wiki_templates import save_templates, settings_page

from weboid.demo.life import Life, Spell
from weboid.demo.world import Behaviour, Code, Host, Page, World

URLS: Final = {
    "FINE": "http://site.demo/fine",
    "COPIED": "http://site.demo/copied",
    "MISTAKEN": "http://site.demo/mistaken",
    "LOST": "http://site.demo/lost",
    "BLOCKED": "http://site.demo/blocked",
}
"""A working link; and dead ones: two with a copy, one with certainly none, one with a copy that nobody may see."""
DBNAME: Final = "testwiki@wmflabs"
STAMP: Final = "20170330100000"
TOKEN: Final = "a-token-of-the-operator-of-the-bot"

_FEED_DAY, _LAST_DAY, _STEP = 106, 145, 5
"""Rounds on every fifth day are enough to prove a death, and spare time."""
_LIVES: Final[Life[Behaviour]] = (Spell(0, Page()),)
_DIES: Final[Life[Behaviour]] = (Spell(0, Page(title="The article")), Spell(108, Code(404)))
_GONE: Final = ("/copied", "/mistaken", "/lost", "/blocked")
_WORLD: Final = World({"site.demo": Host(paths={"/fine": _LIVES, **dict.fromkeys(_GONE, _DIES)})})
_TEXT: Final = "".join(f"<p>On day {day} the ferry sailed {day % 5} times, as the tide allowed.\n" for day in range(60))
_GOOD: Final = f"<!doctype html><html lang=en><title>The article</title>{_TEXT}</html>".encode()


@dataclass
class RepairStory:
    """What there is when the links have died: `service` is the webservice's address, `day` the day it thinks it is."""

    place: Place
    bot_wiki: BotWiki
    archive: RealArchive
    service: str
    day: int

    def located(self, name: str) -> str:
        """A URL of the story, by its name in `URLS`, as the wiki's pages have it."""
        assert self.place.web
        return self.place.web.located(URLS[name])

    def copy_of(self, name: str) -> str:
        return f"https://web.archive.org/web/{STAMP}/{self.located(name)}"

    def filled(self, text: str) -> str:
        """A text with the story's URLs in the place of their names in braces, such as ``{COPIED}``."""
        for name in URLS:
            text = text.replace(f"{{{name}}}", self.located(name))
        return text

    async def command(self, *call: str) -> str:
        ran = await self.place.run(*call)
        assert ran.status == 0, ran.err
        return ran.out

    async def shown(self, what: str) -> list[dict[str, Any]]:
        """What ``weboid show`` has of a URL, or of the links of a page (``WIKI:TITLE``)."""
        return (await self.place.run("show", "--json", what)).lines()


@asynccontextmanager
async def open_repair_story(
    database: str, folder: Path, bot_wiki: BotWiki, archive: RealArchive, pages: Mapping[str, str]
) -> AsyncIterator[RepairStory]:
    """The story of a wiki with these pages, text (see `RepairStory.filled`) by title, until the block ends."""
    async with open_web_place(folder, _WORLD) as place:
        save_templates(bot_wiki.admin)
        story = RepairStory(place, bot_wiki, archive, "", _FEED_DAY)
        place.watch(DBNAME, bot_wiki.wiki.api)
        place.environ |= {
            "WEBOID_DATABASE": database,
            "WEBOID_WEB_TOKENS": f"bot:{hashlib.sha256(TOKEN.encode()).hexdigest()}",
            "WEBOID_ARCHIVE_SERVICES": "wayback",
            "WEBOID_ARCHIVE_WAYBACK_BASE": archive.url,
            "WEBOID_ARCHIVE_WAYBACK_DIALECT": "pywb",
            "WEBOID_ARCHIVE_WAYBACK_PER_MINUTE": "0",
            "WEBOID_ARCHIVE_WAYBACK_REPLAY_PER_MINUTE": "0",
        }
        for name in ("COPIED", "MISTAKEN", "BLOCKED"):
            archive.add(story.located(name), datetime.strptime(f"{STAMP}Z", "%Y%m%d%H%M%S%z"), body=_GOOD)
        archive.block(story.located("BLOCKED"))
        for title, text in pages.items():
            bot_wiki.admin.save(title, story.filled(text))
        await story.command("feed", "pass", "--day", str(_FEED_DAY))
        await _let_die(story)
        await _serve(story)
        with settings_page(bot_wiki.admin, DBNAME):
            yield story


async def _let_die(story: RepairStory) -> None:
    """Plays days with a round of checks and one of the archive's works each, until the links are dead."""
    for day in range(_FEED_DAY, _LAST_DAY, _STEP):
        story.place.day = story.day = day
        await story.command("crawl", "--once", "--day", str(day))
        await story.command("archive", "--once", "--day", str(day))
        if day > 120 and (await story.shown(story.located("COPIED")))[0]["verdict"] == "dead":
            return
    raise AssertionError("they never died")


async def _serve(story: RepairStory) -> None:
    _, story.service = await story.place.serve("--day", str(story.day))
