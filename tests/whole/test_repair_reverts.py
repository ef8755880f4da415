"""People take edits of the bot back, on a real wiki, in all the ways there are, which ``pwb weboid_reverts`` finds, and
get in the way of its next ones.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha1

import pytest
from support.little_service import TOKEN, LittleService, link, open_little_service
from support.pwb import BOT, BOT_PASSWORD, BotWiki, Operator, Person, PwbRun

from weboid.assets import asset
from weboid.bot.answers import key_of
from weboid.bot.reverts import EditedLink
from weboid_scripts.journal.journal import FILE_NAME, Edit, Journal, NotedRevert

pytestmark = pytest.mark.long

WIKI = "testwiki@WMF"
FIRST, SECOND = "http://town.example.org/history.html", "http://town.example.org/map.html"


def _copy(url: str) -> str:
    return f"https://web.archive.org/web/20120507093011/{url}"


def _cited(url: str, *, repaired: bool) -> str:
    copy = f"|archive-url={_copy(url)}|archive-date=2012-05-07"
    return f"Fact.<ref>{{{{cite web|url={url}|title=A{copy if repaired else ''}}}}}</ref>\n"


PLAIN = "Long ago.\n\n" + _cited(FIRST, repaired=False) + _cited(SECOND, repaired=False)
DONE = "Long ago.\n\n" + _cited(FIRST, repaired=True) + _cited(SECOND, repaired=True)
PARTLY = "Long ago.\n\n" + _cited(FIRST, repaired=True) + _cited(SECOND, repaired=False)


@dataclass
class Bench:
    """An operator whose bot repaired pages, with the journal of that, and a service."""

    wiki: BotWiki
    operator: Operator
    service: LittleService
    bot: Person
    reader: Person

    def repaired(self, title: str, before: str = PLAIN) -> Edit:
        """A page of other people's that the bot has repaired, and noted."""
        parent = self.wiki.admin.save(title, before)
        text = before.replace(PLAIN.strip(), DONE.strip())
        revision = self.bot.save(title, text, "2 links repaired", bot=1)
        links = tuple(EditedLink(url, str(key_of(url)), "add copy", "dead") for url in (FIRST, SECOND))
        page, digest = self.bot.page_id(title), sha1(text.encode()).hexdigest()
        with self.journal() as journal:
            edit = Edit(WIKI, page, title, revision, parent, datetime.now(UTC), digest, links)
            journal.note_edit(edit)
        return edit

    def journal(self) -> Journal:
        return Journal(self.operator.folder / FILE_NAME)

    def run(self, *words: str, token: str | None = TOKEN) -> str:
        self.operator.environ = {"WEBOID_SERVICE": self.service.base} | ({"WEBOID_TOKEN": token} if token else {})
        ran = self.operator.pwb("weboid_reverts", "-settings:settings.json", *words)
        assert ran.status == 0, ran.out
        return ran.out

    def noted(self, edit: Edit) -> dict[str, NotedRevert]:
        with self.journal() as journal:
            known = journal.edit_of_revision(WIKI, edit.revision or 0)
            assert known is not None
            return {revert.url: revert for revert in journal.reverts_of(known.number)}


@pytest.fixture(scope="module")
def people(bot_wiki: BotWiki) -> tuple[Person, Person]:
    """The bot, and somebody who reads the wiki."""
    return Person(bot_wiki.wiki.api, f"{BOT}@weboid", BOT_PASSWORD), bot_wiki.person("Reader")


@pytest.fixture
def bench(bot_wiki: BotWiki, operator: Operator, people: tuple[Person, Person]) -> Iterator[Bench]:
    settings = json.loads((asset("wikis") / "enwiki.json").read_text(encoding="utf-8")) | {"dbname": WIKI}
    (operator.folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    with open_little_service(WIKI) as service:
        yield Bench(bot_wiki, operator, service, *people)


def _undo(bench: Bench, edit: Edit) -> None:
    bench.reader.undo(edit.title, edit.revision or 0, "the links work")


def _rollback(bench: Bench, edit: Edit) -> None:
    bench.wiki.admin.rollback(edit.title)


def _by_hand(bench: Bench, edit: Edit) -> None:
    bench.wiki.admin.save(edit.title, PARTLY + "More of it.\n", "works for me")


def _undone_later(bench: Bench, edit: Edit) -> None:
    bench.wiki.admin.save(edit.title, DONE.replace("Long ago", "Lately"), "news")
    bench.reader.undo(edit.title, edit.revision or 0)


def _blanked_and_restored(bench: Bench, edit: Edit) -> None:
    bench.reader.save(edit.title, "", "")
    bench.wiki.admin.save(edit.title, DONE, "restored")


def _left_alone(bench: Bench, edit: Edit) -> None:
    pass


def _written_on(bench: Bench, edit: Edit) -> None:
    bench.reader.save(edit.title, DONE + "News.\n", "news")


BOTH = {FIRST, SECOND}
WAYS: dict[Callable[[Bench, Edit], None], tuple[set[str], str, set[str]]] = {
    _undo: (BOTH, "Reader", {"link-works"}),
    _rollback: (BOTH, "Admin", {"whole-page"}),
    _undone_later: (BOTH, "Reader", {"link-works", "whole-page"}),
    _by_hand: ({SECOND}, "Admin", {"link-works"}),
    _blanked_and_restored: (set(), "", set()),
    _left_alone: (set(), "", set()),
    _written_on: (set(), "", set()),
}


def test_every_way_to_take_an_edit_back_is_found_and_reported_once(bench: Bench) -> None:
    edits = {way: bench.repaired(f"Page{way.__name__}") for way in WAYS}
    bench.wiki.admin.save("Page restored", PLAIN)
    restored = bench.repaired("Page restored", PLAIN + "Nonsense!\n")
    for way, edit in edits.items():
        way(bench, edit)
    bench.wiki.admin.save("Page restored", PLAIN, "rvv")
    bench.wiki.run_jobs()
    before = (bench.operator.folder / FILE_NAME).read_bytes()
    answer = bench.run("-simulate")
    assert (bench.operator.folder / FILE_NAME).read_bytes() == before
    assert "What would be reported" in answer
    assert bench.service.reverts == []
    answer = bench.run(token=None)
    assert "WEBOID_TOKEN" in answer
    assert bench.service.reverts == []
    answer = bench.run()
    for way, (urls, user, whys) in WAYS.items():
        noted = bench.noted(edits[way])
        assert set(noted) == urls, way
        assert {revert.reverter for revert in noted.values()} == ({user} if user else set()), way
        assert {revert.why for revert in noted.values()} <= whys, (way, noted)
    wanted = {(edits[way].revision, key_of(url)) for way, (urls, _, _) in WAYS.items() for url in urls}
    assert {(revert["revision"], revert["normal"]) for revert in bench.service.reverts} == wanted
    assert {revert["reverter"] for revert in bench.service.reverts} == {"Reader", "Admin"}
    asked = bench.service.count("/api/reverts")
    assert asked == len(wanted)
    bench.run()
    assert bench.service.count("/api/reverts") == asked
    assert {revert.why for revert in bench.noted(restored).values()} == {"vandalism-revert"}
    assert {revert.state for revert in bench.noted(restored).values()} == {None}


def _repair(bench: Bench, *titles: str) -> PwbRun:
    """Runs the bot itself over these pages; both links are dead, and archived."""
    for title in titles:
        links = [link(url, copies=[(_copy(url), "20120507093011")]) for url in (FIRST, SECOND)]
        bench.service.pages[bench.bot.page_id(title)] = links
    bench.operator.environ = {"WEBOID_SERVICE": bench.service.base}
    pages = [f"-page:{title}" for title in titles]
    return bench.operator.pwb("weboid_repair", "-settings:settings.json", "-always", *pages)


def test_pages_that_are_changed_deleted_and_moved_meanwhile(bench: Bench) -> None:
    titles, admin = ("Changed", "Gone", "Moved"), bench.wiki.admin
    for title in titles:
        admin.save(title, PLAIN)

    def meanwhile(_: object) -> None:
        # The bot has read all texts before it asks for their links.
        admin.save("Changed", PLAIN.replace("Long ago", "Lately"))
        admin.do("delete", title="Gone")
        admin.do("move", **{"from": "Moved", "to": "Moved on"})

    bench.service.misdeeds = [meanwhile]
    ran = _repair(bench, *titles)
    assert (ran.status, "1  deleted" in ran.out) == (0, True), ran.out
    assert admin.history("Gone") == []
    texts = {title: admin.text(title) for title in ("Changed", "Moved", "Moved on")}
    assert texts["Changed"].startswith("Lately.")
    assert [text.count("archive-url") for text in texts.values()] == [2, 0, 2]
