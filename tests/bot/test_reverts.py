"""The outcome of repairs, and probably why."""

import hashlib
import random
from typing import Any, NamedTuple

import pytest
from support.awkward_wikitext import awkward_page
from support.repairs import COPY, NOW, URL, WIKIS, known, options_of, random_answers, repaired, settings_of

from weboid.assets import toml_next_to
from weboid.bot.answers import key_of
from weboid.bot.repair import repair
from weboid.bot.reverts import (
    EditedLink,
    LaterRevision,
    Remark,
    RevertFinding,
    RevertReason,
    RevertVerdict,
    RevisionSigns,
    analyse_links,
    remark_in,
)

_CASES = toml_next_to(__file__)

_OTHER_COPY = COPY.replace("2012", "2015")
_PLAIN = f"<ref>{{{{cite web|url={URL}|title=A}}}}</ref>"
_ENTRY = EditedLink(URL, key_of(URL) or "", "archive-added", "dead")


def sha1(text: str) -> str:
    return hashlib.sha1(text.encode()).hexdigest()


def found(before: str, now: str, /, *, wiki: str = "enwiki", entry: EditedLink = _ENTRY, **signs: Any) -> RevertFinding:
    """The outcome of the repair of a dead link; `signs` as in RevisionSigns."""
    links = known("dead", None) if entry.action == "tagged" else known()
    after = repaired(before, wiki, links=links)
    assert after != before
    return analyse_links([entry], before, after, now, settings_of(wiki), "WeboidBot", RevisionSigns(**signs))[0]


class Case(NamedTuple):
    later: str
    verdict: RevertVerdict
    why: RevertReason | None
    is_false_positive: bool
    before: str = _PLAIN
    wiki: str = "enwiki"
    action: str = "archive-added"


_REPAIRED = repaired(_PLAIN)
_TAGGED = _PLAIN.replace("</ref>", " {{dead link|date=May 2015}}</ref>")
_LINK = f"* [{URL} Town]"
_KEPT, _REVERTED, _CHANGED, _GONE = RevertVerdict
_DE = f"* {{{{Webarchiv|url={URL}|wayback=20120507093011|text=Town}}}}"


def test_what_became_of_a_repair_is_seen_in_the_texts() -> None:
    for case in [
        Case(f"More. {_REPAIRED} And more.", _KEPT, None, False),
        Case(_REPAIRED.replace("7 May 2012", "2012-05-07"), _KEPT, None, False),
        Case(_REPAIRED.replace("https://web", "http://web"), _CHANGED, RevertReason.STYLE, False),
        Case(_REPAIRED.replace("|url-status=dead", ""), _KEPT, None, False),
        Case(f"{_REPAIRED} {_PLAIN}", _KEPT, None, False),
        Case(_PLAIN, _REVERTED, RevertReason.LINK_WORKS, True),
        Case(f"Much else is new. {_PLAIN}", _REVERTED, RevertReason.LINK_WORKS, True),
        Case(_TAGGED, _REVERTED, RevertReason.WRONG_COPY, True, before=_TAGGED),
        Case(_REPAIRED.replace("status=dead", "status=live"), _CHANGED, RevertReason.LINK_WORKS, True),
        Case(_REPAIRED.replace(COPY, _OTHER_COPY), _CHANGED, RevertReason.WRONG_COPY, False),
        Case(_TAGGED, _CHANGED, RevertReason.WRONG_COPY, True),
        Case(f"{_LINK} {{{{webarchive|url={COPY}|date=7 May 2012}}}}", _CHANGED, RevertReason.STYLE, False),
        Case("", _GONE, RevertReason.LINK_REMOVED, False),
        Case("<!-- " + _PLAIN + " -->", _GONE, RevertReason.LINK_REMOVED, False),
        Case("<ref>{{cite book|title=A}}</ref>", _GONE, RevertReason.LINK_REMOVED, False),
        Case(_LINK, _REVERTED, RevertReason.LINK_WORKS, True, before=_LINK, wiki="dewiki"),
        Case(_DE, _KEPT, None, False, before=_LINK, wiki="dewiki"),
        Case(_PLAIN, _REVERTED, RevertReason.LINK_WORKS, True, action="tagged"),
        Case(_TAGGED, _KEPT, None, False, action="tagged"),
        Case(_REPAIRED, _CHANGED, RevertReason.UNKNOWN, False, action="tagged"),
    ]:
        entry = EditedLink(_ENTRY.url, _ENTRY.normal, case.action, "dead")
        finding = found(case.before, case.later, wiki=case.wiki, entry=entry)
        assert (finding.verdict, finding.why, finding.is_false_positive) == case[1:4]


def test_one_of_two_repairs_that_was_taken_back_counts_also_of_another_spelling() -> None:
    before = f"{_PLAIN} {_PLAIN}"
    assert found(before, f"{_REPAIRED} {_PLAIN}").verdict is RevertVerdict.REVERTED
    assert found(before, _REPAIRED).verdict is RevertVerdict.KEPT
    entry = EditedLink(URL.replace("http://www.town", "HTTP://WWW.Town"), "", "archive-added", "dead")
    assert found(_PLAIN, _PLAIN, entry=entry).verdict is RevertVerdict.REVERTED


def test_other_links_that_were_always_as_repaired_are_no_proof_that_it_was_kept() -> None:
    tag = "{{dead link|date=May 2015|bot=X}}"
    before = f"[{URL} A] {tag} and [{URL} B]"
    after = before.replace(f" {tag}", "")
    entry = EditedLink(URL, "", "revived", "working")
    assert analyse_links([entry], before, after, before, settings_of(), "W")[0].verdict is RevertVerdict.REVERTED
    assert analyse_links([entry], before, after, f"{after} C", settings_of(), "W")[0].verdict is RevertVerdict.KEPT


def test_also_what_was_only_written_better_is_known_when_it_is_put_back() -> None:
    for text in [
        f"[{URL} A] {{{{Wayback|url={URL}|date=20120507093011}}}}",
        f"{{{{cite web|url={URL}|archive-url={COPY.replace('https', 'http')}|archive-date=7 May 2012}}}}",
        f"{{{{cite web|url={URL}|archive-url={COPY}|archive-date=}}}}",
    ]:
        page = repair(text, settings_of(cosmetic_only_edits=True), known(), now=NOW)
        (change,) = page.changes
        entry = EditedLink(URL, "", change.action.value, change.why)
        assert analyse_links([entry], text, page.text, text, settings_of(), "W")[0].verdict is RevertVerdict.REVERTED
        assert analyse_links([entry], text, page.text, page.text, settings_of(), "W")[0].verdict is RevertVerdict.KEPT


def test_each_link_of_an_edit_has_its_own_finding() -> None:
    other = URL.replace("history", "people")
    before = f"{_PLAIN} {_PLAIN.replace(URL, other)}"
    after = f"{_REPAIRED} {_REPAIRED.replace(URL, other)}"
    later = f"{_PLAIN} {_REPAIRED.replace(URL, other)}"
    entries = [_ENTRY, EditedLink(other, key_of(other) or "", "archive-added", "dead")]
    findings = analyse_links(entries, before, after, later, settings_of(), "WeboidBot")
    assert [each.verdict for each in findings] == [RevertVerdict.REVERTED, RevertVerdict.KEPT]


def test_a_page_restored_to_what_we_edited_is_a_revert_and_one_restored_beyond_it_no_matter_of_ours() -> None:
    finding = found(_PLAIN, _PLAIN, later=(LaterRevision("Anna", sha1=sha1(_PLAIN)),))
    assert finding == RevertFinding(RevertVerdict.REVERTED, RevertReason.WHOLE_PAGE, "Anna", True)
    good = f"The town. {_PLAIN}"
    bad = f"POOP {_PLAIN}"
    finding = found(bad, good, earlier=frozenset({sha1(good)}), later=(LaterRevision("Anna", sha1=sha1(good)),))
    assert finding == RevertFinding(RevertVerdict.REVERTED, RevertReason.VANDALISM_REVERT, "Anna", False)
    later = (LaterRevision("Vandal", sha1=sha1("x")), LaterRevision("Anna", "rv vandalism", sha1=sha1(_PLAIN)))
    assert found(_PLAIN, _PLAIN, later=later).why is RevertReason.VANDALISM_REVERT
    assert found(_PLAIN, _PLAIN, later=later[1:]).why is RevertReason.WHOLE_PAGE


def test_an_undone_edit_is_known_by_its_tags_and_why_by_what_the_reverter_says() -> None:
    signs: dict[str, Any] = {
        "tags": frozenset({"mw-reverted"}),
        "later": (LaterRevision("Anna", tags=frozenset({"mw-undo"})),),
    }
    assert found(_PLAIN, f"New. {_PLAIN}", **signs).why is RevertReason.WHOLE_PAGE
    assert found(_PLAIN, _REPAIRED, **signs) == RevertFinding(RevertVerdict.KEPT)
    later = (LaterRevision("Anna", "the link works", frozenset({"mw-undo"}), sha1(_PLAIN)),)
    assert found(_PLAIN, _PLAIN, later=later).why is RevertReason.LINK_WORKS
    later = (LaterRevision("Anna", "archived page is blank", frozenset({"mw-undo"}), sha1(_PLAIN)),)
    assert found(_PLAIN, _PLAIN, later=later).why is RevertReason.WRONG_COPY


def test_a_reverter_is_named_only_if_certain() -> None:
    two = (LaterRevision("Anna"), LaterRevision("Bert"))
    assert found(_PLAIN, _PLAIN, later=two).reverter is None
    assert found(_PLAIN, _PLAIN, later=(two[0], LaterRevision("WeboidBot"))).reverter == "Anna"
    assert found(_PLAIN, _PLAIN, later=(*two, LaterRevision("Cleo", tags=frozenset({"mw-undo"})))).reverter == "Cleo"
    assert found(_PLAIN, _PLAIN, later=(LaterRevision(""),)).reverter is None


def test_comments_are_understood_in_the_languages_of_the_shipped_wikis() -> None:
    for comment, remark in _CASES["remarks"]:
        assert remark_in(comment) is Remark[remark]


def test_every_repair_is_found_again_in_its_own_text() -> None:
    for wiki in ("enwiki", "dewiki", "frwiki", "ptwiki"):
        page = repair(f"{_LINK} <ref>{URL}</ref>", settings_of(wiki), known(), now=NOW)
        entries = [EditedLink(each.url, "", each.action.value, each.why) for each in page.changes]
        findings = analyse_links(entries, f"{_LINK} <ref>{URL}</ref>", page.text, page.text, settings_of(wiki), "W")
        assert [each.verdict for each in findings] == [RevertVerdict.KEPT] * 2


@pytest.mark.parametrize("numbers", [range(120), pytest.param(range(120, 600), marks=pytest.mark.long)])
def test_whatever_was_repaired_is_kept_where_it_stands_and_reverted_where_all_is_as_before(numbers: range) -> None:
    seen = 0
    for number in numbers:
        dice = random.Random(number)
        before, wiki = awkward_page(dice), dice.choice(WIKIS)
        settings = settings_of(wiki, **options_of(dice))
        page = repair(before, settings, random_answers(before, dice), now=NOW)
        entries = [EditedLink(each.url, "", each.action.value, each.why) for each in page.changes]
        seen += len(entries)
        for now, verdict in ((page.text, RevertVerdict.KEPT), (before, RevertVerdict.REVERTED)):
            findings = analyse_links(entries, before, page.text, now, settings, "W")
            assert {each.verdict for each in findings} <= {verdict}, number
    assert seen > len(numbers) / 6
