"""Repairs of whole pages, from what the service knows to what the wiki gets; what keeps one page from its edit."""

import re
from typing import Any

import pytest
from pywikibot import config
from support.little_bot_wiki import BOT
from support.little_service import link
from support.repair_scene import COPY, TEXT, URL, WIKI, Scene, add_page, journal_of, last_skip, run, settings

from weboid.bot.edits import edits_for
from weboid.bot.parameters import TextEdit
from weboid.bot.repair import repair
from weboid_scripts.journal.journal import FILE_NAME

_PAGES = {"A": TEXT, "B": TEXT, "C": "{{in use}} " + TEXT, "D": "{{nobots}} " + TEXT}


def test_a_page_is_repaired_in_one_edit_and_noted(wiki: Scene) -> None:
    page = add_page(wiki, "A")
    parent = wiki.wiki.pages[page].revision
    run(wiki, "-page:A", "-always")
    assert f"|archive-url={COPY}|archive-date=2 May 2016|url-status=dead}}}}" in wiki.wiki.text("A")
    [edit] = wiki.wiki.edits
    about = f"{wiki.service.base}/repair/{WIKI.removesuffix('@WMF')}/{page}/{parent}"
    assert edit["summary"] == f"Dead links: archived copy added ({about} · [[User talk:{BOT}|report an error]])"
    assert (edit["baserevid"], edit["assertuser"], edit["maxlag"], edit["bot"]) == (str(parent), BOT, "5", "")
    assert "nocreate" in edit
    with journal_of(wiki) as journal:
        [noted] = journal.last_edits(WIKI, 5)
    assert (noted.page, noted.parent, noted.revision) == (page, parent, wiki.wiki.pages[page].revision)
    assert [(each.url, each.action) for each in noted.links] == [(URL, "archive-added")]


def test_a_simulation_shows_edits_and_leaves_no_trace(
    wiki: Scene, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    wiki.service.add_change(URL, {add_page(wiki, "A"): "A"})
    monkeypatch.setattr(config, "simulate", True)
    run(wiki, "-weboid:dead", "-always")
    out = "".join(capfd.readouterr())
    assert f"archive-url={COPY}" in out
    assert "would be done" in out
    assert wiki.wiki.edits == []
    assert not (wiki.folder / FILE_NAME).exists()


def test_what_the_wiki_refuses_is_noted_and_the_run_goes_on(wiki: Scene, capfd: pytest.CaptureFixture[str]) -> None:
    errors: list[tuple[dict[str, Any], str]] = [
        ({"code": "protectedpage", "info": "protected"}, "protected"),
        ({"code": "cascadeprotected", "info": "protected"}, "protected"),
        ({"code": "tpt-target-page", "info": "a translation"}, "protected"),
        ({"code": "spamblacklist", "info": "x", "spamblacklist": {"matches": ["b.demo"]}}, "spam-blacklist"),
        ({"code": "abusefilter-disallowed", "info": "x"}, "abuse-filter"),
        ({"code": "abusefilter-warning", "info": "x"}, "abuse-filter"),
        ({"code": "titleblacklist-forbidden", "info": "x"}, "title-blacklist"),
        ({"code": "contenttoobig", "info": "x"}, "too-long"),
        ({"code": "blocked", "info": "x", "blockinfo": {"blockid": 7, "blockpartial": True}}, "blocked-here"),
        ({"code": "some-new-thing", "info": "x"}, "refused"),
    ]
    pages = [add_page(wiki, f"P{number}") for number in range(len(errors) + 1)]
    wiki.wiki.refusals |= {f"P{number}": error for number, (error, _) in enumerate(errors)}
    run(wiki, *(f"-page:P{number}" for number in range(len(pages))), "-always")
    assert [edit["pageid"] for edit in wiki.wiki.edits] == [str(pages[-1])]
    out = "".join(capfd.readouterr())
    with journal_of(wiki) as journal:
        for page, (error, word) in zip(pages, errors, strict=False):
            noted = last_skip(journal, WIKI, page, URL)
            assert noted is not None, error
            assert noted[0] == word, error
            assert re.search(rf"\d  {word}\n", out), error
        assert journal.unfinished_edits(WIKI) == []


def test_a_page_that_changed_since_it_was_read_is_analysed_again_before_it_is_saved(
    wiki: Scene, capfd: pytest.CaptureFixture[str]
) -> None:
    for title in ("A", "B", "C"):
        add_page(wiki, title)

    def save_in_between(title: str) -> None:
        if title == "A":
            wiki.wiki.save("B", f"{{{{nobots}}}} {TEXT}")  # On a line of its own the wiki would merge both edits.
            wiki.wiki.save("C", "#REDIRECT [[A]]", is_redirect=True)

    wiki.wiki.before_saving = save_in_between
    run(wiki, "-page:A", "-page:B", "-page:C", "-always")
    assert wiki.wiki.counted["edit"] == 1
    out = "".join(capfd.readouterr())
    assert "1  kept-off" in out
    assert "1  redirect" in out
    assert "deleted" not in out


def test_a_second_conflict_is_left_alone(wiki: Scene, capfd: pytest.CaptureFixture[str]) -> None:
    add_page(wiki, "A")
    wiki.wiki.before_saving = lambda title: wiki.wiki.save(title, f"New. {wiki.wiki.text(title)}")
    run(wiki, "-page:A", "-always")
    assert wiki.wiki.counted["edit"] == 2
    assert wiki.wiki.text("A") == f"New. New. {TEXT}"
    out = "".join(capfd.readouterr())
    assert "1  edit-conflict" in out
    assert (out.count("A is not saved: edit-conflict"), out.count("once more")) == (2, 1)
    # The wiki says the same of an edit that it has saved, if the answer to that was lost.
    with journal_of(wiki) as journal:
        assert len(journal.unfinished_edits(WIKI)) == 2


def test_a_page_waits_for_a_copy_that_is_not_known_yet_and_for_people_to_end(wiki: Scene) -> None:
    pages = {add_page(wiki, title, text): title for title, text in _PAGES.items()}
    unknown = min(pages)
    known, wiki.service.pages[unknown] = wiki.service.pages[unknown], [link(URL)]
    wiki.service.add_change(URL, pages)
    wiki.wiki.before_saving = lambda title: wiki.wiki.save(title, f"New. {wiki.wiki.text(title)}")
    done = []
    for _ in range(3):
        run(wiki, "-weboid:dead", "-always")
        done.append([title for title in _PAGES if COPY in wiki.wiki.text(title)])
        wiki.wiki.before_saving = lambda title: None
        for title in "CD" if len(done) == 1 else ():
            wiki.wiki.save(title, TEXT)
        wiki.service.pages[unknown] = known if len(done) == 2 else [link(URL)]
    assert done == [[], ["B", "C"], ["A", "B", "C"]]


def test_what_is_no_page_to_repair_is_counted(wiki: Scene, capfd: pytest.CaptureFixture[str]) -> None:
    wiki.wiki.save("Old", "#REDIRECT [[A]]", is_redirect=True)
    wiki.wiki.save("Style", "a {}", model="css")
    add_page(wiki, "Bots off", "{{nobots}} " + TEXT)
    run(wiki, "-page:Old", "-page:Style", "-page:Nowhere", "-page:Bots off", "-always")
    out = "".join(capfd.readouterr())
    for word in ("redirect", "no-wikitext", "no-page", "kept-off"):
        assert f"1  {word}" in out
    assert wiki.wiki.edits == []


def test_who_says_no_keeps_the_page(wiki: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    add_page(wiki, "A")
    monkeypatch.setattr("pywikibot.input_choice", lambda *_, **__: "n")
    run(wiki, "-page:A")
    assert wiki.wiki.edits == []


def test_a_wiki_that_wants_messages_gets_no_edits(scene: Scene, capfd: pytest.CaptureFixture[str]) -> None:
    scene.wiki.save("MediaWiki:Weboid.json", settings(talk="instead"), model="json")
    add_page(scene, "A")
    run(scene, "-page:A", "-always")
    assert scene.wiki.edits == []
    out = "".join(capfd.readouterr())
    assert "1  talk-instead" in out
    assert "pwb weboid_weblinks -talk" in out


def test_a_fault_of_the_engine_leaves_one_page_alone(
    wiki: Scene, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    add_page(wiki, "A", f"Broken. {TEXT}")
    add_page(wiki, "B")

    def fails(text: str, *others: Any, **named: Any) -> Any:
        if text.startswith("Broken"):
            raise IndexError("a fault")
        return repair(text, *others, **named)

    monkeypatch.setattr("weboid_scripts.repairs.repairing.repair", fails)
    run(wiki, "-page:A", "-page:B", "-always")
    assert [edit["pageid"] for edit in wiki.wiki.edits] == [str(wiki.wiki.number_of("B"))]
    out = "".join(capfd.readouterr())
    assert "1  fault" in out
    assert "Please report" in out


def test_a_repair_without_end_is_left_out_noted_and_reported(
    wiki: Scene, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    works = "http://b.demo/"
    restless = add_page(wiki, "A", f"{TEXT} {{{{dead link|bot=X}}}}")
    only = add_page(wiki, "B", f"[{works} b]{{{{dead link|bot=X}}}}")

    def never_done(writing: Any, link: Any, *others: Any) -> Any:
        return [TextEdit(link.end, link.end, "!")] if link.url == works else edits_for(writing, link, *others)

    monkeypatch.setattr("weboid.bot.repair.edits_for", never_done)
    run(wiki, "-page:A", "-page:B", "-always")
    assert COPY in wiki.wiki.text("A")
    assert "!" not in wiki.wiki.text("A")
    assert [edit["pageid"] for edit in wiki.wiki.edits] == [str(restless)]
    with journal_of(wiki) as journal:
        for page in (restless, only):
            noted = last_skip(journal, WIKI, page, works)
            assert noted is not None
            assert noted[0] == "repeats"
    out = "".join(capfd.readouterr())
    assert "2  link-repeats" in out
    assert "1  fault" in out
    assert "Please report" in out


def test_what_somebody_edited_since_is_left_alone_while_the_wiki_does_not_tell_how(wiki: Scene) -> None:
    page = add_page(wiki, "A")
    run(wiki, "-page:A", "-always")
    wiki.wiki.save("A", TEXT, user="Doubter")
    run(wiki, "-page:A", "-always")
    assert wiki.wiki.text("A") == TEXT
    with journal_of(wiki) as journal:
        noted = last_skip(journal, WIKI, page, URL)
    assert noted is not None
    assert noted[0] == "unknown"  # This wiki keeps no history.


def test_texts_are_read_fifty_at_a_time_and_links_asked_about_together(wiki: Scene) -> None:
    for number in range(120):
        add_page(wiki, f"P{number}", "Nothing.")
    run(wiki, "-start:!", "-always")
    assert wiki.wiki.reads() == 3
    assert wiki.service.count("/api/page") == 1
