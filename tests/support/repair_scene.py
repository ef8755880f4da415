"""What tests of repairs work on: a wiki and a service on loopback, pages with a dead link, and the script itself."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from support.little_bot_wiki import DBNAME, LittleBotWiki
from support.little_service import LittleService, link

from weboid.assets import asset
from weboid_scripts import weboid_repair
from weboid_scripts.journal.journal import FILE_NAME, Journal

WIKI: Final = f"{DBNAME}@WMF"
URL: Final = "http://a.demo/x"
COPY: Final = "https://web.archive.org/web/20160502000000/http://a.demo/x"
TEXT: Final = f"Fact.<ref>{{{{cite web|url={URL}|title=A}}}}</ref> [http://b.demo/ works]"


@dataclass(frozen=True)
class Scene:
    """A wiki, a service that knows it, and pywikibot's site for it."""

    wiki: LittleBotWiki
    service: LittleService
    site: Any
    folder: Path


def settings(**options: Any) -> str:
    page = json.loads((asset("wikis") / "enwiki.json").read_text(encoding="utf-8"))
    return json.dumps({**page, "dbname": WIKI, "options": options})


def add_page(scene: Scene, title: str, text: str = TEXT) -> int:
    """A page with a dead link of which a copy is known, and a working one; its id."""
    page = scene.wiki.save(title, text)
    scene.service.pages[page] = [link(URL, copies=[(COPY, "20160502000000")]), link("http://b.demo/", "working")]
    return page


def run(scene: Scene, *words: str) -> None:
    weboid_repair.repair_pages(scene.site, [f"-service:{scene.service.base}", *words])


def journal_of(scene: Scene) -> Journal:
    return Journal(scene.folder / FILE_NAME)


def last_skip(journal: Journal, wiki: str, page: int, normal: str) -> tuple[str, int] | None:
    """Why and when (in seconds) a link was last left alone, as the journal has it for anyone who opens its file."""
    found = journal.file.rows(
        "SELECT why, moment FROM skips WHERE wiki = ? AND page = ? AND normal = ?", (wiki, page, normal)
    )
    return found[0] if found else None
