"""``pwb weboid_weblinks`` on a real wiki: lists dead links, reports them on a talk page, and takes the report back."""

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.hostile_links import HOSTILE
from support.little_service import LittleService, link, open_little_service
from support.pwb import BOT, BotWiki, Operator, PwbRun

from weboid.assets import asset
from weboid_scripts.journal.journal import FILE_NAME
from weboid_scripts.weblinks.talk import TalkEntry, TalkWords, talk_edit

pytestmark = pytest.mark.long

GONE = "http://gone.org/a"
COPY = "https://web.archive.org/web/20160503120000/http://gone.org/a"
THREAD = "== Sources ==\nWhich one? --[[User:A]] 10:00, 1 May 2026 (UTC)"


@dataclass
class Place:
    """A wiki, a service that knows its links, and the operator's settings file."""

    bot_wiki: BotWiki
    operator: Operator
    service: LittleService
    settings: Path

    def run(self, *words: str) -> PwbRun:
        common = [f"-service:{self.service.base}", f"-settings:{self.settings}"]
        days = [] if any(word.startswith("-day:") for word in words) else ["-day:0"]
        return self.operator.pwb("weboid_weblinks", *common, *days, *words)


@pytest.fixture
def place(bot_wiki: BotWiki, operator: Operator, tmp_path: Path) -> Iterator[Place]:
    dbname = f"{bot_wiki.wiki.dbname}@WMF"
    settings = json.loads((asset("wikis") / "enwiki.json").read_text(encoding="utf-8"))
    options = {**settings.get("options", {}), "talk": "beside"}
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({**settings, "dbname": dbname, "options": options}), encoding="utf-8")
    with ExitStack() as stack:
        yield Place(bot_wiki, operator, stack.enter_context(open_little_service(dbname)), file)


def test_a_report_is_written_updated_and_removed(place: Place) -> None:
    wiki, title, talk = place.bot_wiki.admin, "Harbour of links", "Talk:Harbour of links"
    wiki.save(title, f"A [{GONE} page] and [http://lost.org/%7B%7BDelete%7D%7D one] and [http://fine.org/ one].")
    wiki.save(talk, THREAD)
    page = wiki.page_id(title)
    gone = link(GONE, copies=[(COPY, "20160503120000")], since="2026-05-03", http=404)
    place.service.pages[page] = [
        gone,
        link("http://lost.org/%7B%7BDelete%7D%7D", "working"),
        link("http://fine.org/", "working"),
    ]

    ran = place.run(f"-page:{title}", "-notalk")
    assert ran.status == 0, ran.out
    assert f"*[[{title}]] links to {GONE} - dead: 404 not-found, since 2026-05-03, copies: {COPY}" in ran.out
    assert re.search(r"^links +3$", ran.out, re.MULTILINE)
    assert re.search(r"^  dead +1$", ran.out, re.MULTILINE)
    assert wiki.text(talk) == THREAD
    journal = place.operator.folder / FILE_NAME
    before = journal.read_bytes()
    ran = place.run(f"-page:{title}", "-talk", "-simulate")
    assert (ran.status, "Report of dead links" in ran.out, wiki.text(talk)) == (0, True, THREAD), ran.out
    assert journal.read_bytes() == before

    for _ in range(2):
        ran = place.run(f"-page:{title}", "-talk")
        assert ran.status == 0, ran.out
    written = wiki.text(talk)
    assert len(wiki.history(talk)) == 2
    assert wiki.history(talk)[0]["user"] == BOT
    assert written.startswith(f"{THREAD}\n\n== Dead links ==\n")
    assert f"* [{GONE} {GONE}] – since 3 May 2026 – The server reports that the page does not exist." in written
    assert f"– [{COPY} archived copy]" in written
    assert f"[[User:{BOT}|{BOT}]]" in written
    rendered = wiki.parsed(talk)
    assert {GONE, COPY} <= set(rendered["externallinks"])
    assert rendered["categories"] == []

    place.service.pages[page][1] = link("http://lost.org/%7B%7BDelete%7D%7D", since="2026-06-01")
    ran = place.run("-repeat", "-talk")
    assert ran.status == 0, ran.out
    updated = wiki.text(talk)
    assert "lost.org" in updated
    assert updated.count("== Dead links") == 1

    place.service.pages[page] = [link(each["normal"], "working") for each in place.service.pages[page]]
    ran = place.run("-repeat", "-talk")
    assert ran.status == 0, ran.out
    assert wiki.text(talk) == THREAD
    assert len(wiki.history(talk)) == 4


def test_where_the_wiki_does_not_allow_it_nothing_is_written(place: Place) -> None:
    wiki, title = place.bot_wiki.admin, "Harbour without talk"
    wiki.save(title, f"A [{GONE} page].")
    place.service.pages[wiki.page_id(title)] = [link(GONE, since="2026-05-03")]
    settings = json.loads(place.settings.read_text(encoding="utf-8"))
    del settings["options"]["talk"]
    place.settings.write_text(json.dumps(settings), encoding="utf-8")
    ran = place.run(f"-page:{title}", "-talk")
    assert (ran.status, ran.out.count("Nothing is written on talk pages")) == (0, 1), ran.out
    assert wiki.history(f"Talk:{title}") == []


def test_a_talk_page_that_cannot_be_saved_stops_nothing(place: Place) -> None:
    wiki = place.bot_wiki.admin
    titles = [f"Harbour {number} of three" for number in range(3)]
    for title in titles:
        wiki.save(title, f"A [{GONE} page].")
        place.service.pages[wiki.page_id(title)] = [link(GONE, since="2026-05-03")]
    wiki.save(f"Talk:{titles[0]}", THREAD)
    wiki.protect(f"Talk:{titles[0]}")
    wiki.save(f"Talk:{titles[1]}", "{{nobots}}")
    ran = place.run(*(f"-page:{title}" for title in titles), "-talk")
    assert (ran.status, "protected" in ran.out) == (0, True), ran.out
    assert [wiki.text(f"Talk:{title}") for title in titles[:2]] == [THREAD, "{{nobots}}"]
    assert GONE in wiki.text(f"Talk:{titles[2]}")


def test_hostile_links_are_saved_as_they_were_written_and_show_nothing_else(place: Place) -> None:
    wiki, talk = place.bot_wiki.admin, "Talk:Harbour of enemies"
    entries = [TalkEntry(url, url, url, url) for url in HOSTILE]
    words = TalkWords("Dead links", "Dead:", "Done.", "since {day}", "archived copy")
    text = talk_edit(THREAD, entries, words, key=b"key", signature="[[User:Bot]]").text
    wiki.save(talk, text)
    assert wiki.text(talk) == text
    parsed = wiki.parsed(talk)
    assert (parsed["categories"], parsed["parsewarnings"]) == ([], [])
    assert all(url.startswith("http://a.org/") for url in parsed["externallinks"])
    assert parsed["text"].count("<li>") == len({entry.url for entry in entries})
    assert parsed["text"].count("<h2") == 2
    assert "<script" not in parsed["text"]
    assert talk_edit(wiki.text(talk), [], words, key=b"key", signature="").text == THREAD
