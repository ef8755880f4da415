"""Repairs that were taken back, by whom and why; they are not made again; and the cost for the wiki."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha1
from pathlib import Path
from time import process_time
from types import SimpleNamespace
from typing import Any, Final

import pytest
from pywikibot.exceptions import APIError, ServerError
from support.repairs import COPY, URL, settings_of

from weboid.bot.answers import key_of
from weboid.bot.reverts import EditedLink
from weboid_scripts.common.revisions import RevisionReader
from weboid_scripts.common.wiki_query import WikiSilent
from weboid_scripts.journal.journal import Edit, Journal, NotedRevert
from weboid_scripts.reverts.revert_check import COUNTED, REVERTED, UNKNOWN, RevertCheck, too_many_reverts
from weboid_scripts.reverts.revert_search import ExaminedEdit, RevertSearch

BOT: Final = "WeboidBot"
_BEGIN: Final = datetime(2026, 11, 1, tzinfo=UTC)


@dataclass
class _Saved:
    page: int
    revision: int
    parent: int
    user: str
    text: str
    comment: str
    tags: tuple[str, ...]
    is_hidden: bool = False

    def as_json(self, properties: set[str]) -> dict[str, Any]:
        answer: dict[str, Any] = {"revid": self.revision, "parentid": self.parent}
        if "tags" in properties:
            moment = _BEGIN + timedelta(minutes=self.revision)
            answer |= {"user": self.user, "comment": self.comment, "tags": list(self.tags)}
            answer["timestamp"] = moment.strftime("%Y-%m-%dT%H:%M:%SZ")
            answer |= {"sha1hidden": True} if self.is_hidden else {"sha1": sha1(self.text.encode()).hexdigest()}
        if "content" in properties:
            slot = {"texthidden": True} if self.is_hidden else {"content": self.text}
            answer["slots"] = {"main": {"contentmodel": "wikitext", **slot}}
        return answer


@dataclass
class LittleHistory:
    """A wiki."""

    is_silent: bool = False
    saved: list[_Saved] = field(default_factory=list)

    def revise(self, page: int, user: str, text: str, comment: str = "", *tags: str) -> int:
        revision = 1000 + len(self.saved)
        parent = next((each.revision for each in reversed(self.saved) if each.page == page), 0)
        self.saved.append(_Saved(page, revision, parent, user, text, comment, tags))
        return revision

    def hide(self, revision: int) -> None:
        next(each for each in self.saved if each.revision == revision).is_hidden = True

    def delete(self, page: int) -> None:
        self.saved = [each for each in self.saved if each.page != page]

    def username(self) -> str:
        return BOT

    def simple_request(self, **query: Any) -> Any:
        return SimpleNamespace(submit=lambda: self.answer(query))

    def answer(self, query: dict[str, Any]) -> dict[str, Any]:
        if self.is_silent:
            raise ServerError("no answer")
        assert query.pop("action") == "query"
        assert query.pop("prop") == "revisions"
        assert query.pop("formatversion") == 2
        properties = set(str(query["rvprop"]).split("|"))
        if "revids" in query:
            return self._by_revision(_numbers(query["revids"]), properties)
        pages = _numbers(query["pageids"])
        if "rvlimit" in query:
            [page] = pages
            return self._history(page, query, properties)
        pages_found = []
        for page in pages:
            last = next((each for each in reversed(self.saved) if each.page == page), None)
            gone = {"pageid": page, "missing": True}
            pages_found.append(gone if last is None else {"pageid": page, "revisions": [last.as_json(properties)]})
        return {"batchcomplete": True, "query": {"pages": pages_found}}

    def _by_revision(self, revisions: list[int], properties: set[str]) -> dict[str, Any]:
        found = [each for each in self.saved if each.revision in revisions]
        bad = set(revisions) - {each.revision for each in found}
        query: dict[str, Any] = {}
        if bad:
            query["badrevids"] = {str(each): {"revid": each, "missing": True} for each in bad}
        if found:
            query["pages"] = [
                {"pageid": page, "revisions": [each.as_json(properties) for each in found if each.page == page]}
                for page in dict.fromkeys(each.page for each in found)
            ]
        return {"batchcomplete": True, "query": query}

    def _history(self, page: int, query: dict[str, Any], properties: set[str]) -> dict[str, Any]:
        start, is_newer = query["rvstartid"], query["rvdir"] == "newer"
        if all(each.revision != start for each in self.saved):
            raise APIError("nosuchrevid", f"There is no revision with ID {start}.")
        ordered: Iterable[_Saved] = self.saved if is_newer else reversed(self.saved)
        of_page = [each for each in ordered if each.page == page]
        matching = [each for each in of_page if (each.revision >= start if is_newer else each.revision <= start)]
        most = None if query["rvlimit"] == "max" else int(query["rvlimit"])
        revisions = [each.as_json(properties) for each in matching[:most]]
        return {"query": {"pages": [{"pageid": page, "revisions": revisions}]}}


def _numbers(given: str) -> list[int]:
    numbers = [int(each) for each in given.split("|")]
    assert len(numbers) <= 50, "toomanyvalues"
    return numbers


WIKI = "enwiki@WMF"
NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
OTHER = "http://other.example.org/b.html"
COPY_OF_OTHER = f"https://web.archive.org/web/20120507093011/{OTHER}"
PLAIN = f"Fact.<ref>{{{{cite web|url={URL}|title=A}}}}</ref>\n\nMore.<ref>{{{{cite web|url={OTHER}|title=B}}}}</ref>\n"
ONE_DONE = PLAIN.replace("|title=A", f"|title=A|archive-url={COPY}|archive-date=2012-05-07")
DONE = ONE_DONE.replace("|title=B", f"|title=B|archive-url={COPY_OF_OTHER}|archive-date=2012-05-07")
LINKS = tuple(EditedLink(url, str(key_of(url)), "add copy", "D12") for url in (URL, OTHER))
PAGE = 7


class Wiki:
    """A page that the bot repaired, both links at once, and the journal that has it."""

    def __init__(self, journal: Journal) -> None:
        self.site = LittleHistory()
        self.journal = journal
        self.site.revise(PAGE, "Founder", "Fact.\n")
        self.site.revise(PAGE, "Author", PLAIN)
        self.edit = self.repaired()

    def revised(self, *revisions: tuple[str, ...]) -> None:
        """Has people save the page in turn: user, text, comment, tags."""
        for user, text, *more in revisions:
            self.site.revise(PAGE, user, text, *more)

    def repaired(self, page: int = PAGE, text: str = DONE, *, is_noted: bool = True) -> Edit:
        parent = next(each.revision for each in reversed(self.site.saved) if each.page == page)
        revision = self.site.revise(page, BOT, text, "2 links repaired")
        digest = sha1(text.encode()).hexdigest()
        edit = Edit(WIKI, page, "A", revision if is_noted else None, parent, NOW, digest, LINKS)
        number = self.journal.note_edit(edit)
        return next(each for each in self.journal.edits_of_link(WIKI, page, LINKS[0].normal) if each.number == number)

    def check(self) -> RevertCheck:
        return RevertCheck(self.site, self.journal, wiki=WIKI, settings=settings_of(), bot=BOT)

    def may_repair(self) -> dict[str, str | None]:
        return self.check().may_repair(PAGE, [URL, OTHER])

    def examined(self, *edits: Edit) -> list[ExaminedEdit]:
        search = RevertSearch(self.site, self.journal, settings_of(), BOT)
        return list(search.examine(edits or [self.edit]))

    def found(self) -> dict[str, tuple[str, str, str]]:
        [examined] = self.examined()
        return {
            each.link.url: (each.finding.verdict.value, str(each.finding.why), each.revision.user)
            for each in examined.reverts
        }


@pytest.fixture
def wiki(tmp_path: Path) -> Iterator[Wiki]:
    with Journal(tmp_path / "journal.sqlite3") as journal:
        yield Wiki(journal)


def _undo(wiki: Wiki) -> None:
    wiki.site.revise(PAGE, "Doubter", PLAIN, *UNDOING)


UNDOING = ("Undid revision by WeboidBot", "mw-undo")
NEWS = ("Author", DONE + "News.\n")
BLANKED = ("Vandal", "")
BLANKED_AND_RESTORED = (BLANKED, ("Guard", DONE, "rvv", "mw-rollback"))


@pytest.mark.parametrize(
    "revisions",
    [
        [("Doubter", PLAIN, *UNDOING)],
        [NEWS, ("Doubter", PLAIN + "News.\n", *UNDOING), ("Author", PLAIN + "News, and more.\n")],
        [BLANKED, ("Doubter", PLAIN, "the links work")],
    ],
    ids=["alone", "among other edits", "blanked first"],
)
def test_an_undone_edit_is_not_repeated(wiki: Wiki, revisions: Sequence[tuple[str, ...]]) -> None:
    wiki.revised(*revisions)
    found = wiki.found()
    assert set(found) == {URL, OTHER}
    assert {(verdict, user) for verdict, _, user in found.values()} == {("reverted", "Doubter")}
    assert wiki.may_repair() == {URL: REVERTED, OTHER: REVERTED}
    assert len(wiki.journal.reverts_of(wiki.edit.number)) == 2


def test_an_undone_edit_of_hundreds_of_links_is_examined_at_once(wiki: Wiki) -> None:
    urls = [f"http://other.example.org/{number}" for number in range(150)]
    before = "\n\n".join(f"<ref>{{{{cite web|url={url}|title=A}}}}</ref>" for url in urls)
    done = before.replace("|title=A", "|title=A|url-status=dead")
    wiki.site.revise(8, "Author", before)
    links = tuple(EditedLink(url, str(key_of(url)), "add copy", "D12") for url in urls)
    revision = wiki.site.revise(8, BOT, done)
    wiki.journal.note_edit(Edit(WIKI, 8, "B", revision, revision - 1, NOW, "", links))
    for number in range(8):
        wiki.site.revise(8, "Author", f"{before if number > 2 else done}\n\nNews {number}.")
    begin_s = process_time()
    reasons = wiki.check().may_repair(8, urls)
    assert process_time() - begin_s < 4.0
    assert reasons == dict.fromkeys(urls, REVERTED)
    [edit] = wiki.journal.edits_of_link(WIKI, 8, links[0].normal)
    assert {each.revision for each in wiki.journal.reverts_of(edit.number)} == {revision + 4}


def test_one_link_put_back_by_hand_leaves_the_other_alone(wiki: Wiki) -> None:
    partly = DONE.replace(f"|archive-url={COPY}|archive-date=2012-05-07", "")
    wiki.site.revise(PAGE, "Doubter", partly + "News.\n", "works for me")
    assert wiki.found() == {URL: ("reverted", "link-works", "Doubter")}
    assert wiki.may_repair() == {URL: REVERTED, OTHER: None}


def test_an_edit_that_vandalism_took_along_is_no_fault_of_ours(wiki: Wiki) -> None:
    wiki.site.revise(PAGE, "Vandal", DONE + "Nonsense!\n")
    wiki.site.revise(PAGE, "Guard", PLAIN, "rvv")
    reverted = ("reverted", "vandalism-revert", "Guard")
    assert wiki.found() == {URL: reverted, OTHER: reverted}


def test_an_older_version_restored_past_our_edit_is_no_fault_of_ours_but_not_repeated(wiki: Wiki) -> None:
    older = wiki.site.saved[0].text.replace("Fact.", f"Fact. {PLAIN}")
    page = 8
    wiki.site.revise(page, "Author", older)
    wiki.site.revise(page, "Vandal", older + "Nonsense!\n")
    edit = wiki.repaired(page, DONE + "Nonsense!\n")
    wiki.site.revise(page, "Guard", older, "rvv", "mw-manual-revert")
    [examined] = wiki.examined(edit)
    found = {(str(each.finding.why), each.revision.user, each.finding.is_false_positive) for each in examined.reverts}
    assert found == {("vandalism-revert", "Guard", False)}
    assert wiki.check().may_repair(page, [URL]) == {URL: REVERTED}


@pytest.mark.parametrize(
    "revisions",
    [BLANKED_AND_RESTORED, [NEWS], [("Doubter", PLAIN, *UNDOING), NEWS]],
    ids=["blanked and restored", "edited at another place", "undone and done by hand"],
)
def test_what_still_stands_was_not_reverted(wiki: Wiki, revisions: Sequence[tuple[str, ...]]) -> None:
    wiki.revised(*revisions)
    assert wiki.found() == {}
    assert wiki.may_repair() == {URL: None, OTHER: None}


def test_what_is_gone_altogether_was_not_reverted(wiki: Wiki) -> None:
    wiki.site.delete(PAGE)
    assert wiki.found() == {}
    assert wiki.may_repair() == {URL: None, OTHER: None}


def test_the_bots_own_later_edits_are_no_reverts(wiki: Wiki) -> None:
    wiki.site.revise(PAGE, BOT, PLAIN, "something else that this account does")
    assert wiki.found() == {}
    newer = wiki.repaired(text=DONE)
    wiki.site.revise(PAGE, "Doubter", PLAIN, "no")
    assert wiki.found() == {}
    assert {each.link.url for each in wiki.examined(newer)[0].reverts} == {URL, OTHER}


def test_a_link_that_we_repaired_twice_was_reverted_once(wiki: Wiki) -> None:
    newer = wiki.repaired(text=DONE.replace("20120507093011", "20150507093011"))
    wiki.site.revise(PAGE, "Doubter", PLAIN, "no")
    assert [len(each.reverts) for each in wiki.examined(wiki.edit, newer)] == [0, 2]


def test_a_silent_wiki_means_not_now_for_what_was_done_before_alone(wiki: Wiki) -> None:
    wiki.site.is_silent = True
    assert wiki.may_repair() == {URL: UNKNOWN, OTHER: UNKNOWN}
    third = "http://third.example.org/"
    assert wiki.check().may_repair(PAGE, [third, "no url"]) == {third: None, "no url": None}
    wiki.site.is_silent = False
    assert wiki.may_repair() == {URL: None, OTHER: None}
    wiki.site.is_silent = True
    with pytest.raises(WikiSilent):
        wiki.examined()


def test_what_is_hidden_is_not_repeated(wiki: Wiki) -> None:
    wiki.revised(NEWS)
    assert wiki.edit.revision is not None
    wiki.site.hide(wiki.edit.revision)
    assert [each.is_known for each in wiki.examined()] == [False]
    assert wiki.may_repair() == {URL: UNKNOWN, OTHER: UNKNOWN}


def test_once_released_it_may_be_repeated_until_that_is_undone_too(wiki: Wiki) -> None:
    _undo(wiki)
    wiki.may_repair()
    wiki.journal.release(wiki.edit.number, LINKS[0].normal, NOW)
    assert wiki.may_repair() == {URL: None, OTHER: REVERTED}
    wiki.repaired(text=ONE_DONE)
    wiki.site.revise(PAGE, "Doubter", PLAIN, "again: no")
    assert wiki.may_repair() == {URL: REVERTED, OTHER: REVERTED}


def test_an_edit_that_a_crash_left_unfinished_is_found_on_the_wiki(wiki: Wiki) -> None:
    _undo(wiki)
    wiki.may_repair()
    for link in LINKS:
        wiki.journal.release(wiki.edit.number, link.normal, NOW)
    crashed = wiki.repaired(is_noted=False)
    wiki.site.revise(PAGE, "Doubter", PLAIN, "again: no")
    assert wiki.may_repair() == {URL: REVERTED, OTHER: REVERTED}
    assert [edit.number for edit in wiki.journal.last_edits(WIKI, 1)] == [crashed.number]


def test_another_edit_of_ours_is_not_taken_for_one_that_was_never_saved(wiki: Wiki) -> None:
    read = wiki.site.revise(PAGE, BOT, DONE + "More.\n", "something else that this account does")
    wiki.journal.note_edit(Edit(WIKI, PAGE, "A", None, read, NOW, "", LINKS))
    wiki.repaired(text=DONE + "And more.\n")
    wiki.examined(*wiki.journal.unfinished_edits(WIKI))
    assert len(wiki.journal.unfinished_edits(WIKI)) == 1


def test_an_edit_that_was_never_saved_bars_nothing(wiki: Wiki) -> None:
    wiki.journal.note_edit(Edit(WIKI, PAGE, "A", None, wiki.site.saved[-1].revision, NOW, "", LINKS))
    assert wiki.may_repair() == {URL: None, OTHER: None}
    _undo(wiki)
    assert wiki.may_repair() == {URL: REVERTED, OTHER: REVERTED}


def test_answers_that_make_no_sense_say_nothing_and_one_without_pages_is_silence(
    wiki: Wiki, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages: list[object] = [{}, {"pageid": 7, "revisions": "all"}, {"pageid": 7, "revisions": [{"revid": "1"}]}, 5]
    for page in pages:
        answer: object = {"query": {"pages": [page]}}
        monkeypatch.setattr(wiki.site, "answer", lambda query, answer=answer: answer)
        assert RevisionReader(wiki.site).newest([7]) == {}, page
        assert RevisionReader(wiki.site).texts([7]) == {}, page
    for answer in ({}, {"query": {}}, {"query": []}, {"query": {"pages": {}}}, []):
        monkeypatch.setattr(wiki.site, "answer", lambda query, answer=answer: answer)
        with pytest.raises(WikiSilent):
            RevisionReader(wiki.site).newest([7])


def reverted_edit(number: int) -> NotedRevert:
    return NotedRevert(number, LINKS[0].normal, URL, "reverted", "link-works", 1, "A", NOW, True)


def test_the_third_revert_among_the_last_edits_stops_the_run(wiki: Wiki) -> None:
    with wiki.journal.file.writing():
        numbers = [wiki.repaired().number for _ in range(COUNTED)]
    for reverted, number in enumerate(numbers[:4]):
        assert (too_many_reverts(wiki.journal, WIKI) is None) == (reverted < 3)
        wiki.journal.note_revert(reverted_edit(number))
    reason = too_many_reverts(wiki.journal, WIKI)
    assert reason is not None
    assert "4 of the last 200" in reason
    assert "-resume" in reason
    assert too_many_reverts(wiki.journal, "dewiki@WMF") is None
    wiki.journal.count_anew(WIKI)
    assert too_many_reverts(wiki.journal, WIKI) is None


def test_looking_back_notes_what_was_reverted_lately(wiki: Wiki) -> None:
    for page in (100, 101, 102):
        wiki.site.revise(page, "Author", PLAIN)
        wiki.repaired(page)
        wiki.site.revise(page, "Doubter", PLAIN, "no", "mw-undo")
    assert too_many_reverts(wiki.journal, WIKI) is None
    wiki.check().look_back()
    assert too_many_reverts(wiki.journal, WIKI) is not None
