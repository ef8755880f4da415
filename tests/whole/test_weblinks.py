"""``pwb weboid_weblinks`` on a real wiki: lists dead links, reports them on a talk page, and takes the report back."""

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.little_service import LittleService, link, open_little_service
from support.pwb import BOT, BotWiki, PwbRun

from weboid.assets import asset

pytestmark = pytest.mark.long

GONE = "http://gone.org/a"
LOST = "http://lost.org/{{Delete}}"
COPY = "https://web.archive.org/web/20160503120000/http://gone.org/a"
THREAD = "== Sources ==\nWhich one? --[[User:A]] 10:00, 1 May 2026 (UTC)"


@dataclass
class Place:
    """A wiki, a service that knows its links, and the operator's settings file."""

    bot_wiki: BotWiki
    service: LittleService
    settings: Path

    def run(self, *words: str) -> PwbRun:
        return self.bot_wiki.pwb(
            "weboid_weblinks", f"-service:{self.service.base}", f"-settings:{self.settings}", "-day:0", *words
        )


@pytest.fixture
def place(bot_wiki: BotWiki, tmp_path: Path) -> Iterator[Place]:
    dbname = f"{bot_wiki.wiki.dbname}@WMF"
    settings = json.loads((asset("wikis") / "enwiki.json").read_text(encoding="utf-8"))
    options = {**settings.get("options", {}), "talk": "beside"}
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({**settings, "dbname": dbname, "options": options}), encoding="utf-8")
    with ExitStack() as stack:
        yield Place(bot_wiki, stack.enter_context(open_little_service(dbname)), file)


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
    ran = place.run(f"-page:{title}", "-talk", "-simulate")
    assert (ran.status, "Report of dead links" in ran.out, wiki.text(talk)) == (0, True, THREAD), ran.out

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


def test_what_is_answered_is_left_to_people_and_the_bot_can_be_stopped(place: Place) -> None:
    wiki, title, talk = place.bot_wiki.admin, "Harbour that is discussed", "Talk:Harbour that is discussed"
    wiki.save(title, f"A [{GONE} page].")
    page = wiki.page_id(title)
    place.service.pages[page] = [link(GONE, since="2026-05-03")]
    run_page = f"User:{BOT}/Run"
    wiki.save(run_page, "stop")
    ran = place.run(f"-page:{title}", "-talk")
    assert ran.status == 3, ran.out
    assert run_page in ran.out
    wiki.save(run_page, "run")
    assert place.run(f"-page:{title}", "-talk").status == 0
    answered = f"{wiki.text(talk)}\n:Thanks. ~~~~"
    wiki.save(talk, answered)
    answered = wiki.text(talk)
    place.service.pages[page] = [link(GONE, "working")]
    ran = place.run(f"-page:{title}", "-talk")
    assert (ran.status, wiki.text(talk)) == (0, answered), ran.out


def test_a_report_that_somebody_removed_is_not_written_again_and_an_empty_page_stays(place: Place) -> None:
    wiki, title, talk = place.bot_wiki.admin, "Harbour without threads", "Talk:Harbour without threads"
    wiki.save(title, f"A [{GONE} page].")
    page = wiki.page_id(title)

    def run(verdict: str) -> str:
        place.service.pages[page] = [link(GONE, verdict, since="2026-05-03")]
        ran = place.run(f"-page:{title}", "-talk")
        assert ran.status == 0, ran.out
        return wiki.text(talk)

    assert GONE in run("dead")
    assert run("working") == ""
    assert GONE in run("dead")
    wiki.save(talk, "Nonsense removed.")
    assert run("dead") == "Nonsense removed."
    assert run("working") == "Nonsense removed."
    assert GONE in run("dead")


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


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["-day:x"], "-day"),
        (["-ignore:40"], "-ignore"),
        (["-talk", "-notalk"], "contradict"),
        (["-xml:nowhere.xml"], "nowhere.xml"),
        (["-nonsense"], "no such option"),
        ([], "No pages"),
    ],
)
def test_wrong_calls_are_told_without_a_stack_trace(bot_wiki: BotWiki, words: list[str], told: str) -> None:
    ran = bot_wiki.pwb("weboid_weblinks", *words)
    assert (ran.status, told in ran.out, "Traceback" in ran.out) == (2, True, False), ran.out
