"""Rules for every repair, whatever the page and the answers for its links."""

import random
import re
from collections.abc import Iterable
from time import process_time
from typing import Any, Final

import pytest
from support.awkward_wikitext import awkward_page, nested_page
from support.repairs import (
    COPY,
    FOUND,
    NOW,
    URL,
    WIKIS,
    addresses_in,
    known,
    options_of,
    random_answers,
    repaired,
    settings_of,
)
from support.shared import articles

from weboid.bot.answers import KnownLinks, read_answers
from weboid.bot.repair import RepairedPage, repair
from weboid.core.url.archives import snapshot_of
from weboid.core.wikitext.nodes import TemplateNode
from weboid.core.wikitext.reader import read_wikitext

_COPY_GIVEN: Final = re.compile(r"\|\s*ar(?:chive?|quivo)-?url\s*=\s*([^\s|{}<>]+)", re.IGNORECASE)
"""What authors gave for a copy, whatever it is."""
_ACCESSED: Final = re.compile(r"\|\s*(?:access-?date|abruf|zugriff|consulté le|acessodata)\s*=\s*[^|}\s]")
_TITLED: Final = re.compile(r"\|\s*(?:title|titel|titre|título|titulo|text)\s*=\s*[^|}\s]")


def unsound(before: str, page: RepairedPage) -> list[str]:
    """The faults of a repair, whatever it repaired; empty if there are none."""
    after = page.text
    wrong = [f"balance of {one!r} {other!r}" for one, other in _PAIRS if _balance(before, one, other, after)]
    copies = {url for url in addresses_in(before) if snapshot_of(url) is not None or "archive." in url}
    kept = addresses_in(before) - copies - set(_COPY_GIVEN.findall(before))
    wrong += [f"lost {url}" for url in kept if url.rstrip(".,;:!?)'") not in after]
    if len(_ACCESSED.findall(after)) > len(_ACCESSED.findall(before)):
        wrong.append("an access date is invented")
    if "archived copy" in after.lower() and "archived copy" not in before.lower():
        wrong.append("a title is invented")
    if not page.changes and after != before:
        wrong.append("changed without a change")
    if not page.kept_off and put_together(before, page) != after and page.text != before:
        wrong.append("the pieces do not make the text")
    wrong += [f"{piece[:60]!r} is not left alone" for piece in _astray(_outside(before), after)]
    return wrong


def put_together(before: str, page: RepairedPage) -> str:
    parts, place = [], 0
    for start, old, new in dict.fromkeys(sorted(page.pieces)):
        assert before.startswith(old, start)
        assert start >= place
        parts += [before[place:start], new]
        place = start + len(old)
    return "".join([*parts, before[place:]])


def titles_in(text: str) -> int:
    return len(_TITLED.findall(text))


_PAIRS: Final = (("{{", "}}"), ("[", "]"), ("<ref", "</ref>"), ("<!--", "-->"))


def _balance(before: str, opening: str, closing: str, after: str) -> bool:
    return before.count(opening) - before.count(closing) != after.count(opening) - after.count(closing)


_TAKEN_ALONG: Final = " \t\r\n,;()"


def _outside(text: str) -> list[str]:
    """The pieces of a text between its templates and links, without blanks and what a mark that goes takes along at
    their edges."""
    wikitext = read_wikitext(text)
    pieces, place = [], 0
    nodes: Iterable[Any] = (*wikitext.links, *(each for each in wikitext.templates if _is_small(each)))
    for node in sorted(nodes, key=lambda each: (each.start, -each.end)):
        if node.start >= place:
            pieces.append(text[place : node.start].strip(_TAKEN_ALONG))
        place = max(place, node.end)
    return [piece for piece in [*pieces, text[place:].strip(_TAKEN_ALONG)] if piece]


def _is_small(template: TemplateNode) -> bool:
    """True if a template may be repaired itself; what is in those that have links or templates inside is compared."""
    return template.end - template.start < 3_000


def _astray(pieces: Iterable[str], text: str) -> list[str]:
    """The pieces that do not stand in the text, in their order."""
    astray, place = [], 0
    for piece in pieces:
        found = text.find(piece, place)
        if found < 0:
            astray.append(piece)
        else:
            place = found + len(piece)
    return astray


def check(text: str, wiki: str, dice: random.Random) -> int:
    settings, links = settings_of(wiki, **options_of(dice)), random_answers(text, dice)
    page = repair(text, settings, links, now=NOW)
    assert page.repeating == ()
    assert unsound(text, page) == []
    assert repair(page.text, settings, links, now=NOW).text == page.text
    if not settings.options.convert_bare_refs and wiki in ("enwiki", "ptwiki"):
        assert titles_in(page.text) <= titles_in(text)
    return len(page.changes)


@pytest.mark.parametrize("numbers", [range(200), pytest.param(range(200, 500), marks=pytest.mark.long)])
def test_awkward_pages_are_repaired_soundly(numbers: range) -> None:
    changes = 0
    for number in numbers:
        dice = random.Random(number)
        changes += check(awkward_page(dice), dice.choice(WIKIS), dice)
    assert changes > len(numbers) / 10


@pytest.mark.parametrize("numbers", [range(25), pytest.param(range(25, 150), marks=pytest.mark.long)])
def test_nested_pages_are_repaired_soundly_on_every_wiki(numbers: range) -> None:
    changes = 0
    for number in numbers:
        for wiki in WIKIS:
            dice = random.Random(number)
            changes += check(nested_page(dice), wiki, dice)
    assert changes > len(numbers) / 2


@pytest.mark.long
@pytest.mark.parametrize(
    ("export", "wikis", "least"), [("enwiki-2016", ("enwiki",), 600), ("ltgwiki-2017", WIKIS, 100)]
)
def test_articles_are_repaired_soundly(export: str, wikis: tuple[str, ...], least: int) -> None:
    changes = 0
    for number, text in enumerate(articles(export)):
        dice = random.Random(f"{export} {number}")
        changes += check(text, dice.choice(wikis), dice) if "//" in text else 0
    assert changes > least


def test_the_changes_say_what_became_what_and_what_is_unknown_is_given_back() -> None:
    dice = random.Random(17)
    for _ in range(100):
        text = awkward_page(dice)
        assert repair(text, settings_of(), KnownLinks(), now=NOW).text == text
    page = repair(f"See [{URL} A].", settings_of(), known(archive=None), now=NOW)
    (change,) = page.changes
    assert (change.url, change.why, change.before) == (URL, "no-archive", f"[{URL} A]")
    assert page.text == f"See {change.after}."


def test_of_two_equal_urls_the_one_in_a_comment_stays() -> None:
    cite = f"{{{{cite web|url={URL}|title=A}}}}"
    for hidden in (f"<!-- {cite} -->", f"<nowiki>{cite}</nowiki>", f"<code>{cite}</code>", f"<math>{cite}</math>"):
        after = repaired(f"{hidden} {cite}")
        assert after.startswith(f"{hidden} {{{{cite web|")
        assert after.count("archive-url") == 1


_CHAPTER = "http://www.town.example.org/chapter.html"


def test_a_copy_of_another_address_stays_and_a_citation_of_a_chapter_gets_none() -> None:
    copy = COPY.replace(URL, _CHAPTER)
    before = f"{{{{cite book|url={URL}|map-url={_CHAPTER}|archive-url={copy}|archive-date=7 May 2012}}}}"
    assert repaired(before) == before
    assert repaired(before.replace(f"|map-url={_CHAPTER}", "")) != before
    before = f"{{{{cite book|url={URL}|title=A|chapter-url={_CHAPTER}}}}}"
    assert repaired(before) == before
    assert repaired(before.replace(_CHAPTER, "")) != before
    for spelling in ["http://www.town.example.org//history.html", "http://town.example.org/history.html"]:
        before = f"{{{{cite web|url={URL}|archive-url={COPY.replace(URL, spelling)}|archive-date=7 May 2012}}}}"
        assert repaired(before) == before, spelling


def test_two_links_to_one_page_stay_two_and_no_template_is_made_a_parameter() -> None:
    for archive in [FOUND, None]:
        for before in (f"-{{[{URL} A]}}-", f"-{{{URL} A}}-", f"{{[{URL} A]}} B"):
            assert repaired(before, "dewiki", links=known("dead", archive)) == before
        named = f"-{{zh-hans:[{URL} A]}}-"
        assert repaired(named, "dewiki", links=known("dead", archive)) != named
    for archive in [FOUND, None]:
        links = known("dead", archive)
        once = repaired(f"* [{URL} A] [{URL} B]", "dewiki", links=links)
        assert (once.count("|text=A|"), once.count("|text=B|")) == (1, 1), archive
        assert repaired(once, "dewiki") == repaired(f"* [{URL} A] [{URL} B]", "dewiki"), archive


def test_an_address_without_a_scheme_is_put_into_no_template() -> None:
    before = f"[{URL.removeprefix('http:')} A]"
    links = known("dead", FOUND, URL.replace("http:", "https:"))
    assert repaired(before, "dewiki", links=links) == before
    assert repaired(before, links=links).startswith(f"{before} {{{{webarchive|")


def test_a_wiki_that_wants_messages_only_or_has_stopped_bots_is_left_alone() -> None:
    text = f"[{URL} A]"
    page = repair(text, settings_of(talk="instead"), known(), now=NOW)
    assert page.text == text
    assert [change.action.value for change in page.changes] == ["archive-added"]
    text = f"[{URL} A]"
    assert repaired(text, run=False) == text


@pytest.mark.long
def test_a_page_of_two_megabytes_takes_its_share_of_time() -> None:
    marked = (
        f"* [{URL} A] {{{{dead link|bot=X}}}} <ref>{{{{cite web |url={URL} |title=B}}}}</ref>{{{{cbignore|bot=Y}}}}"
    )
    part = marked + "\nWords, ''words'' [[and|words]]." * 60 + "\n"

    def seconds(parts: int) -> float:
        began = process_time()
        assert repaired(part * parts).count("archive-url=") == parts
        return process_time() - began

    small = 200_000 // len(part)
    assert any(seconds(10 * small) < 25 * seconds(small) for _ in range(3))


def test_a_page_of_many_templates_takes_its_share_of_time() -> None:
    def seconds(count: int) -> float:
        urls = [f"http://e{number}.example.org/a" for number in range(count)]
        text = "\n".join(f"{{{{T{number}}}}}{{{{cite web|url={url}}}}}" for number, url in enumerate(urls))
        copies = {url: FOUND | {"url": COPY.replace(URL, url)} for url in urls}
        answers = read_answers(dict.fromkeys(urls, "dead"), copies, NOW)
        began = process_time()
        assert len(repair(text, settings_of(), answers, now=NOW).changes) == count
        return process_time() - began

    assert any(seconds(800) < 9 * seconds(200) for _ in range(5))


def test_dead_tags_within_each_other_take_their_share_of_time() -> None:
    began = process_time()
    assert repaired("{{Toter Link|text=" * 800 + URL + "}}" * 800, "dewiki").count("{{") == 800
    assert process_time() - began < 2
