"""Links in the labels of links, and the marks behind both: each mark has one owner, so that no repair is made twice."""

from collections import Counter
from typing import Any

import pytest
from support.repairs import FOUND, NOW, URL, known, repaired, settings_of

from weboid.bot.answers import read_answers
from weboid.bot.edits import edits_for
from weboid.bot.links import RepairableLink
from weboid.bot.page_links import page_links
from weboid.bot.parameters import TextEdit
from weboid.bot.repair import RepairedPage, repair

_OTHER = "http://other.example.com/"
_THIRD = "http://third.example.com/"
_PASSES = 5
_TAG = "{{dead link|date=November 2026|bot=WeboidBot|fix-attempted=yes}}"
_INNER = (
    f"{{{{cite web|url={_OTHER}}}}}", f"{{{{cite web|url={URL}}}}}", f"{{{{small|[{_OTHER} B]}}}}",
    f"{{{{unknown|url={_OTHER}}}}}", f"A {{{{Infobox|a=[{_OTHER} B]|b={{{{cite web|url={_OTHER}}}}}}}}} C",
)  # fmt: skip
_MARKS_AFTER = ("enwiki", "ptwiki")


def test_a_link_with_a_link_in_its_label_gets_one_mark() -> None:
    for wiki in _MARKS_AFTER:
        for archive in [FOUND, None]:
            for inner in _INNER:
                before = f"* [{URL} {inner}] B"
                links = read_answers({URL: "dead", _OTHER: "working"}, {URL: archive}, NOW)
                after = repaired(before, wiki, links=links)
                _, _, behind = after.rpartition("]")
                assert behind.count("{{") == 1, (wiki, archive, inner)
                assert behind.endswith("}} B"), (wiki, archive, inner)
                assert repaired(after, wiki, links=links) == after, (archive, inner)


def test_a_mark_behind_a_link_in_a_label_is_that_links() -> None:
    cite = f"{{{{cite web|url={_OTHER}}}}}"
    before = f"* [{URL} {cite}{_TAG}] {_TAG}"
    assert repaired(before, links=known("working", url=_OTHER)) == f"* [{URL} {cite}] {_TAG}"
    assert repaired(before, links=known("working")) == f"* [{URL} {cite}{_TAG}]"


def test_a_mark_in_a_reference_or_behind_another_template_is_that_of_the_link_before_it() -> None:
    cite = f"{{{{cite web|url={URL}|title=A<ref>[{_OTHER} B] %s</ref>}}}}"
    assert repaired(cite % _TAG, links=known("working")) == cite % _TAG
    assert repaired(cite % _TAG, links=known("working", url=_OTHER)) == cite.replace(" %s", "")
    before = f"* [{URL} A] {{{{unknown|url={_OTHER}}}}}{_TAG}"
    assert repaired(before, links=known("working")) == before


def test_a_mark_that_holds_more_than_its_link_does_not_go() -> None:
    for more in [
        f"[{_OTHER} B]",
        f"{{{{cite web|url={_OTHER}|title=[//other.example.com/ B]}}}}",
        "<ref name=b>B</ref>",
    ]:
        before = f"<ref>{{{{cite web|url={URL}}}}} {{{{dead link|bot=X|title={more}}}}}</ref>"
        assert more in repaired(before)
        before = f"<ref>{{{{cite web|url={URL}|archive-url={URL}|archive-date={more}}}}}</ref>"
        assert repaired(before) == before, more


def _page(text: str) -> RepairedPage:
    copies = {_OTHER: FOUND | {"url": f"https://web.archive.org/web/20120507093011/{_OTHER}"}}
    dead = dict.fromkeys((URL, _OTHER, _THIRD), "dead")
    return repair(text, settings_of(), read_answers(dead, copies | {URL: None, _THIRD: None}, NOW), now=NOW)


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Makes the engine write something behind the first of these links in each pass, five times, then behind the
    second, and so on, without end behind the last."""
    restless: list[str] = []
    times: Counter[str] = Counter()

    def never_done(writing: Any, link: RepairableLink, *others: Any) -> list[TextEdit]:
        if link.url not in restless:
            return edits_for(writing, link, *others)
        if any(times[url] < _PASSES for url in restless[: restless.index(link.url)]):
            return []
        times[link.url] += 1
        return [TextEdit(link.end, link.end, "!")]

    monkeypatch.setattr("weboid.bot.repair.edits_for", never_done)
    return restless


def test_a_repair_that_repeats_without_end_is_left_out_and_the_others_are_made(faulty: list[str]) -> None:
    faulty += [URL]
    page = _page(f"* [{URL} A] {{{{cite web|url={_OTHER}}}}}")
    assert page.text.startswith(f"* [{URL} A] {{{{cite web|url={_OTHER}|archive-url=")
    assert [change.url for change in page.changes] == [_OTHER]
    assert page.repeating == (URL,)
    assert _page(page.text).text == page.text


def test_a_page_is_given_back_as_it_was_if_there_is_no_end_without_that_repair_either(faulty: list[str]) -> None:
    faulty += [URL, _THIRD]
    before = f"* [{_THIRD} C] {{{{cite web|url={_OTHER}}}}} [{URL} A]"
    page = _page(before)
    assert (page.text, page.changes, page.repeating) == (before, (), (URL, _THIRD))


def test_a_page_without_a_fault_is_looked_at_once_more_than_it_is_edited(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []

    def counted(*given: Any) -> list[RepairableLink]:
        looks.append(given)
        return page_links(*given)

    monkeypatch.setattr("weboid.bot.repair.page_links", counted)
    assert _page("Nothing.").changes == ()
    assert len(looks) == 1
    assert len(_page(f"[{URL} A]").changes) == 1
    assert len(looks) == 3


def test_a_dead_tag_around_a_citation_gives_way_to_the_citation() -> None:
    cite = f"{{{{Internetquelle|url={URL}|titel=A}}}}"
    for before in [
        f"<ref>{{{{Toter Link|url={URL}|text={cite}|date=2019-04|archivebot=2019-04-12 08:19:34 Bot}}}}</ref>",
        f"<ref>{{{{Toter Link|url={URL}|text={cite} S. 4|archivebot=2019-04-12 08:19:34 Bot}}}}</ref>",
    ]:
        inner = before[before.index("text=") + 5 : before.rindex("|archivebot" if "S. 4" in before else "|date")]
        assert repaired(before, "dewiki", links=known("working")) == f"<ref>{inner}</ref>"
        after = repaired(before, "dewiki")
        assert after.startswith(f"<ref>{cite[:-2]}|archiv-url=https://web.archive.org/")
        assert after.endswith(f"{inner.removeprefix(cite)}</ref>")
        assert repaired(after, "dewiki") == after
    plain = f"{{{{Toter Link|url={URL}|text={URL}|archivebot=2019-04-12 08:19:34 Bot}}}}"
    assert repaired(plain, "dewiki", links=known("working")) == URL
