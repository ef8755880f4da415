"""Repairs of whole pages, from what the service knows to what the wiki gets, and what keeps the bot from an edit."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pywikibot import config
from scripts.conftest import Scene
from support.little_bot_wiki import BOT
from support.little_service import link

from weboid.assets import asset
from weboid.bot.repair import repair
from weboid.errors import WeboidError
from weboid_scripts import weboid_repair
from weboid_scripts.client import ServiceUnreachable
from weboid_scripts.journal import FILE_NAME, Journal
from weboid_scripts.run_page import RunStopped
from weboid_scripts.saving import Saver
from weboid_scripts.wiki_query import WikiSilent
from weboid_scripts.wiki_settings import SettingsRefused

WIKI = "testwiki@WMF"
URL = "http://a.demo/x"
COPY = "https://web.archive.org/web/20160502000000/http://a.demo/x"
TEXT = f"Fact.<ref>{{{{cite web|url={URL}|title=A}}}}</ref> [http://b.demo/ works]"


def settings(**options: Any) -> str:
    page = json.loads((asset("wikis") / "enwiki.json").read_text(encoding="utf-8"))
    return json.dumps({**page, "dbname": WIKI, "options": options})


def add_page(scene: Scene, title: str, text: str = TEXT) -> int:
    page = scene.wiki.save(title, text)
    scene.service.pages[page] = [link(URL, copies=[(COPY, "20160502000000")]), link("http://b.demo/", "working")]
    return page


def run(scene: Scene, *words: str) -> None:
    """Runs the script as ``main`` does, but for the exit."""
    weboid_repair.repair_pages(scene.site, [f"-service:{scene.service.base}", *words])


@pytest.fixture
def wiki(scene: Scene) -> Scene:
    scene.wiki.save("MediaWiki:Weboid.json", settings(), model="json")
    return scene


def journal_of(scene: Scene) -> Journal:
    return Journal(scene.folder / FILE_NAME)


def test_a_page_is_repaired_in_one_edit_and_noted(wiki: Scene) -> None:
    page = add_page(wiki, "A")
    parent = wiki.wiki.pages[page].revision
    run(wiki, "-page:A", "-always")
    assert f"|archive-url={COPY}|archive-date=2 May 2016|url-status=dead}}}}" in wiki.wiki.text("A")
    [edit] = wiki.wiki.edits
    assert edit["summary"] == f"Dead links: archived copy added ([[User talk:{BOT}|report an error]])"
    assert (edit["baserevid"], edit["assertuser"], edit["maxlag"], edit["bot"]) == (str(parent), BOT, "5", "")
    assert "nocreate" in edit
    with journal_of(wiki) as journal:
        [noted] = journal.last_edits(WIKI, 5)
    assert (noted.page, noted.parent, noted.revision) == (page, parent, wiki.wiki.pages[page].revision)
    assert [(each.url, each.action) for each in noted.links] == [(URL, "archive-added")]


def test_what_was_repaired_is_left_alone(wiki: Scene, capfd: pytest.CaptureFixture[str]) -> None:
    add_page(wiki, "A")
    run(wiki, "-page:A", "-always")
    run(wiki, "-page:A", "-always")
    assert len(wiki.wiki.edits) == 1
    assert "1  nothing-to-do" in "".join(capfd.readouterr())


def test_a_simulation_shows_edits_and_leaves_no_trace(
    wiki: Scene, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    page = add_page(wiki, "A")
    wiki.service.add_change(URL, {page: "A"})
    monkeypatch.setattr(config, "simulate", True)
    run(wiki, "-weboid:dead", "-always")
    out = "".join(capfd.readouterr())
    assert f"archive-url={COPY}" in out
    assert "would be done" in out
    assert wiki.wiki.edits == []
    assert not (wiki.folder / FILE_NAME).exists()


def test_without_pages_it_tells_its_plan(wiki: Scene, capfd: pytest.CaptureFixture[str]) -> None:
    run(wiki, "-rate:3", "-runpage:User:WeboidBot/Switch")
    out = "".join(capfd.readouterr())
    for word in (WIKI, BOT, wiki.service.base, "page MediaWiki:Weboid.json", "3 edits a minute", "WeboidBot/Switch"):
        assert word in out
    assert wiki.service.asked == []
    assert wiki.wiki.counted["edit"] == 0


@pytest.mark.parametrize(
    ("error", "word"),
    [
        ({"code": "protectedpage", "info": "protected"}, "protected"),
        ({"code": "cascadeprotected", "info": "protected"}, "protected"),
        ({"code": "spamblacklist", "info": "x", "spamblacklist": {"matches": ["b.demo"]}}, "spam-blacklist"),
        ({"code": "abusefilter-disallowed", "info": "x"}, "abuse-filter"),
        ({"code": "abusefilter-warning", "info": "x"}, "abuse-filter"),
        ({"code": "titleblacklist-forbidden", "info": "x"}, "title-blacklist"),
        ({"code": "contenttoobig", "info": "x"}, "too-long"),
        ({"code": "blocked", "info": "x", "blockinfo": {"blockid": 7, "blockpartial": True}}, "blocked-here"),
        ({"code": "some-new-thing", "info": "x"}, "refused"),
    ],
)
def test_what_the_wiki_refuses_is_noted_and_the_run_goes_on(
    wiki: Scene, error: dict[str, Any], word: str, capfd: pytest.CaptureFixture[str]
) -> None:
    page = add_page(wiki, "A")
    add_page(wiki, "B")
    wiki.wiki.refusals["A"] = error
    run(wiki, "-page:A", "-page:B", "-always")
    assert wiki.wiki.text("A") == TEXT
    assert wiki.wiki.text("B") != TEXT
    with journal_of(wiki) as journal:
        noted = journal.last_skip(WIKI, page, URL)
        assert noted is not None
        assert noted[0] == word
        assert journal.unfinished_edits(WIKI) == []
    assert f"1  {word}" in "".join(capfd.readouterr())


def _edited_once(wiki: Scene, then: Callable[[], object]) -> None:
    done: list[str] = []

    def before(title: str) -> None:
        if title not in done:
            done.append(title)
            then()

    wiki.wiki.before_saving = before


def test_a_conflict_is_read_and_analysed_once_more(wiki: Scene) -> None:
    add_page(wiki, "A")
    _edited_once(wiki, lambda: wiki.wiki.save("A", f"New. {TEXT}"))
    run(wiki, "-page:A", "-always")
    assert wiki.wiki.text("A").startswith("New. Fact.")
    assert COPY in wiki.wiki.text("A")


def test_a_second_conflict_is_left_alone(wiki: Scene, capfd: pytest.CaptureFixture[str]) -> None:
    add_page(wiki, "A")
    wiki.wiki.before_saving = lambda title: wiki.wiki.save(title, f"New. {wiki.wiki.text(title)}")
    run(wiki, "-page:A", "-always")
    assert wiki.wiki.counted["edit"] == 2
    assert wiki.wiki.text("A") == f"New. New. {TEXT}"
    assert "1  edit-conflict" in "".join(capfd.readouterr())


def test_a_page_that_was_repaired_meanwhile_needs_nothing(wiki: Scene, capfd: pytest.CaptureFixture[str]) -> None:
    add_page(wiki, "A")
    _edited_once(wiki, lambda: wiki.wiki.save("A", "Nothing but text."))
    run(wiki, "-page:A", "-always")
    assert wiki.wiki.text("A") == "Nothing but text."
    assert "1  nothing-to-do" in "".join(capfd.readouterr())


def test_a_page_that_is_deleted_meanwhile_is_not_made_anew(wiki: Scene, capfd: pytest.CaptureFixture[str]) -> None:
    page = add_page(wiki, "A")
    _edited_once(wiki, lambda: wiki.wiki.pages.pop(page))
    run(wiki, "-page:A", "-always")
    assert "A" not in [each.title for each in wiki.wiki.pages.values()]
    assert "1  deleted" in "".join(capfd.readouterr())


def test_what_is_no_page_to_repair_is_counted(wiki: Scene, capfd: pytest.CaptureFixture[str]) -> None:
    wiki.wiki.save("Old", "#REDIRECT [[A]]", is_redirect=True)
    wiki.wiki.save("Style", "a {}", model="css")
    add_page(wiki, "Bots off", "{{nobots}} " + TEXT)
    run(wiki, "-page:Old", "-page:Style", "-page:Nowhere", "-page:Bots off", "-always")
    out = "".join(capfd.readouterr())
    for word in ("redirect", "no-wikitext", "no-page", "kept-off"):
        assert f"1  {word}" in out
    assert wiki.wiki.edits == []


def test_nobody_to_be_asked_is_told(wiki: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    add_page(wiki, "A")
    monkeypatch.setattr("pywikibot.input_choice", lambda *_, **__: "n")
    run(wiki, "-page:A")
    assert wiki.wiki.edits == []


def test_the_run_page_stops_it_within_ten_edits(wiki: Scene) -> None:
    for number in range(30):
        add_page(wiki, f"P{number}")
    wiki.wiki.before_saving = lambda _: wiki.wiki.save("User:WeboidBot/Run", "stop!")
    with pytest.raises(RunStopped, match="User:WeboidBot/Run"):
        run(wiki, *(f"-page:P{number}" for number in range(30)), "-always")
    assert len(wiki.wiki.edits) == 10


def test_a_run_page_that_says_run_does_not_stop_it(wiki: Scene) -> None:
    add_page(wiki, "A")
    wiki.wiki.save("User:WeboidBot/Run", " Run\n")
    run(wiki, "-page:A", "-always")
    assert len(wiki.wiki.edits) == 1


@pytest.mark.parametrize(("trouble", "says"), [("has_messages", "talk page"), ("is_blocked", "Wrong copies")])
def test_messages_and_blocks_stop_it_before_the_first_edit(wiki: Scene, trouble: str, says: str) -> None:
    add_page(wiki, "A")
    setattr(wiki.wiki, trouble, True)
    with pytest.raises(RunStopped, match=says):
        run(wiki, "-page:A", "-always")
    assert wiki.wiki.counted["edit"] == 0


def test_a_partial_block_does_not_stop_it(wiki: Scene) -> None:
    add_page(wiki, "A")
    wiki.wiki.is_blocked = wiki.wiki.is_partly_blocked = True
    run(wiki, "-page:A", "-always")
    assert len(wiki.wiki.edits) == 1


def test_another_account_stops_it(wiki: Scene) -> None:
    add_page(wiki, "A")

    def log_out(asked: str) -> None:
        wiki.wiki.account = "Somebody"

    wiki.wiki.before_saving = log_out
    with pytest.raises(RunStopped, match="assertnameduserfailed"):
        run(wiki, "-page:A", "-always")
    assert wiki.wiki.text("A") == TEXT


def test_a_wiki_that_wants_messages_gets_no_edits(scene: Scene, capfd: pytest.CaptureFixture[str]) -> None:
    scene.wiki.save("MediaWiki:Weboid.json", settings(talk="instead"), model="json")
    add_page(scene, "A")
    run(scene, "-page:A", "-always")
    assert scene.wiki.edits == []
    out = "".join(capfd.readouterr())
    assert "1  talk-instead" in out
    assert "pwb weboid_weblinks -talk" in out


@pytest.mark.parametrize("code", ["blocked", "autoblocked", "readonly", "assertuserfailed"])
def test_what_the_next_page_would_meet_ends_the_run(wiki: Scene, code: str) -> None:
    add_page(wiki, "A")
    wiki.wiki.refusals["A"] = {"code": code, "info": "No."}
    with pytest.raises((RunStopped, WikiSilent)):
        run(wiki, "-page:A", "-always")
    assert wiki.wiki.text("A") == TEXT


def test_a_fault_of_the_engine_leaves_one_page_alone(
    wiki: Scene, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    add_page(wiki, "A", f"Broken. {TEXT}")
    add_page(wiki, "B")

    def fails(text: str, *others: Any, **named: Any) -> Any:
        if text.startswith("Broken"):
            raise IndexError("a fault")
        return repair(text, *others, **named)

    monkeypatch.setattr("weboid_scripts.repairing.repair", fails)
    run(wiki, "-page:A", "-page:B", "-always")
    assert [edit["pageid"] for edit in wiki.wiki.edits] == [str(wiki.wiki.number_of("B"))]
    out = "".join(capfd.readouterr())
    assert "1  fault" in out
    assert "Please report" in out


def test_what_somebody_edited_since_is_left_alone_while_the_wiki_does_not_tell_how(wiki: Scene) -> None:
    page = add_page(wiki, "A")
    run(wiki, "-page:A", "-always")
    wiki.wiki.save("A", TEXT, user="Doubter")
    run(wiki, "-page:A", "-always")
    assert wiki.wiki.text("A") == TEXT
    with journal_of(wiki) as journal:
        noted = journal.last_skip(WIKI, page, URL)
    assert noted is not None
    assert noted[0] == "unknown"  # This wiki keeps no history.


def test_links_on_very_many_pages_are_followed_on_the_wiki(wiki: Scene) -> None:
    first, second = add_page(wiki, "A"), add_page(wiki, "B")
    wiki.service.add_change(URL, {first: "A"})
    wiki.service.changes[-1]["more"] = True
    wiki.wiki.users[URL.removeprefix("http://")] = [first, second]
    run(wiki, "-weboid:dead", "-always")
    assert [edit["pageid"] for edit in wiki.wiki.edits] == [str(first), str(second)]


def test_a_rate_is_kept() -> None:
    now_s = [100.0]
    waited: list[float] = []

    def wait(seconds: float) -> None:
        waited.append(seconds)
        now_s[0] += seconds

    saver = Saver(None, BOT, rate=6, clock=lambda: now_s[0], wait=wait)
    for spent_s in (1.0, 4.0, 30.0, 0.0):
        saver._wait_for_turn()
        now_s[0] += spent_s
    assert waited == [9.0, 6.0]


def test_ten_refusals_without_a_known_reason_end_the_run(wiki: Scene) -> None:
    for number in range(15):
        add_page(wiki, f"P{number}")
        wiki.wiki.refusals[f"P{number}"] = {"code": f"new-{number}", "info": "No."}
    with pytest.raises(RunStopped, match="10 edits in a row"):
        run(wiki, *(f"-page:P{number}" for number in range(15)), "-always")


def test_dead_pages_come_from_the_feed_once(wiki: Scene) -> None:
    first, second = add_page(wiki, "A"), add_page(wiki, "B")
    wiki.service.add_change(URL, {first: "A", 999: "Gone", 998: "Un|title"})
    run(wiki, "-weboid:dead", "-always")
    assert [edit["pageid"] for edit in wiki.wiki.edits] == [str(first)]
    wiki.service.add_change(URL, {second: "B"})
    reads = wiki.wiki.reads()
    run(wiki, "-weboid:dead", "-always")
    assert [edit["pageid"] for edit in wiki.wiki.edits] == [str(first), str(second)]
    assert wiki.wiki.reads() == reads + 1
    run(wiki, "-weboid:dead", "-always")
    assert wiki.wiki.reads() == reads + 1


def test_a_run_that_is_stopped_keeps_its_place(wiki: Scene) -> None:
    page = add_page(wiki, "A")
    wiki.service.add_change(URL, {page: "A"})
    wiki.wiki.has_messages = True
    with pytest.raises(RunStopped):
        run(wiki, "-weboid:dead", "-always")
    wiki.wiki.has_messages = False
    run(wiki, "-weboid:dead", "-always")
    assert len(wiki.wiki.edits) == 1


def test_limits_and_filters_hold_for_dead_pages(wiki: Scene) -> None:
    pages = {add_page(wiki, title): title for title in ("A", "B", "Talk:C")}
    wiki.service.add_change(URL, pages)
    run(wiki, "-weboid:dead", "-limit:1", "-always")
    assert len(wiki.wiki.edits) == 1
    run(wiki, "-weboid:dead", "-titleregex:B", "-always")
    assert [each["pageid"] for each in wiki.wiki.edits] == list(map(str, list(pages)[:2]))


def test_settings_that_do_not_fit_are_told_with_all_faults(scene: Scene) -> None:
    page = json.loads(settings(run="maybe"))
    page["cite"]["names"] = "Cite web"
    scene.wiki.save("MediaWiki:Weboid.json", json.dumps(page), model="json")
    with pytest.raises(SettingsRefused) as refused:
        run(scene, "-page:A", "-always")
    assert "options.run" in str(refused.value)
    assert "cite.names" in str(refused.value)


def test_a_wiki_without_settings_is_told_where_to_write_them(scene: Scene) -> None:
    with pytest.raises(SettingsRefused, match=r"MediaWiki:Weboid\.json"):
        run(scene)


def test_settings_can_say_that_no_bot_is_to_run(scene: Scene) -> None:
    scene.wiki.save("MediaWiki:Weboid.json", settings(run=False), model="json")
    add_page(scene, "A")
    with pytest.raises(RunStopped, match=r"options\.run"):
        run(scene, "-page:A", "-always")


def test_settings_may_come_from_a_file(scene: Scene, tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text(settings(), encoding="utf-8")
    add_page(scene, "A")
    run(scene, f"-settings:{file}", "-page:A", "-always")
    assert len(scene.wiki.edits) == 1


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["-frobnicate"], "-frobnicate.*-help"),
        (["-rate:fast"], "-rate:6"),
        (["-rate:0"], "-rate:6"),
        (["-rate:nan"], "-rate:6"),
        (["-weboid:alive"], "-weboid:dead"),
        (["-weboid:dead", "-page:A"], "other generators"),
        (["-always:yes"], "-always alone"),
        (["-settings:/nowhere.json"], "no file"),
        (["-runpage:[[X"], "no title"),
        (["-service:"], "needs a value"),
        (["-farm:A", "-farm:B"], "twice"),
    ],
)
def test_wrong_options_are_told_before_anything_is_read(scene: Scene, words: list[str], says: str) -> None:
    with pytest.raises(WeboidError, match=says):
        weboid_repair.repair_pages(scene.site, words)
    assert scene.wiki.reads() == scene.wiki.counted["edit"] == 0


def test_a_service_that_is_not_there_is_told(wiki: Scene) -> None:
    add_page(wiki, "A")
    with pytest.raises(ServiceUnreachable, match="-service:"):
        weboid_repair.repair_pages(wiki.site, ["-service:http://127.0.0.1:9", "-page:A", "-always"])


def test_texts_are_read_fifty_at_a_time_and_links_asked_about_together(wiki: Scene) -> None:
    for number in range(120):
        add_page(wiki, f"P{number}", "Nothing.")
    run(wiki, "-start:!", "-always")
    assert wiki.wiki.reads() == 3
    assert wiki.service.count("/api/page") == 1
