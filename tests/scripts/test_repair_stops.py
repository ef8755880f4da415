"""Ends of a run of repairs: people who stop the bot, and what every other page would meet, too."""

from collections.abc import Callable

import pytest
from support.little_bot_wiki import LittleBotWiki
from support.repair_scene import TEXT, URL, WIKI, Scene, add_page, journal_of, run, settings

from weboid_scripts.common.run_page import RunStopped
from weboid_scripts.common.saving import Saver
from weboid_scripts.common.wiki_query import WikiSilent
from weboid_scripts.journal.journal import NotedRevert


@pytest.mark.parametrize(
    ("stop", "says"),
    [
        (lambda wiki: wiki.save("User:WeboidBot/Run", "stop!"), "User:WeboidBot/Run"),
        (lambda wiki: setattr(wiki, "has_messages", True), "talk page"),
        (lambda wiki: setattr(wiki, "is_blocked", True), "Wrong copies"),
    ],
)
def test_what_stops_it_does_so_before_the_next_edit(
    wiki: Scene, stop: Callable[[LittleBotWiki], object], says: str
) -> None:
    for number in range(6):
        add_page(wiki, f"P{number}")
    wiki.wiki.before_saving = lambda title: stop(wiki.wiki) if title == "P1" else None
    with pytest.raises(RunStopped, match=says):
        run(wiki, *(f"-page:P{number}" for number in range(6)), "-always")
    assert len(wiki.wiki.edits) == 2


def test_a_message_that_comes_while_it_waits_for_its_turn_stops_it(
    wiki: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_page(wiki, "A")
    add_page(wiki, "B")
    wait_for_turn = Saver.wait_for_turn

    def wait_meanwhile(saver: Saver) -> None:
        wait_for_turn(saver)
        wiki.wiki.has_messages = bool(wiki.wiki.edits)

    monkeypatch.setattr(Saver, "wait_for_turn", wait_meanwhile)
    with pytest.raises(RunStopped, match="talk page"):
        run(wiki, "-page:A", "-page:B", "-always")
    assert len(wiki.wiki.edits) == 1


def test_looking_for_what_stops_it_costs_one_request_an_edit(wiki: Scene) -> None:
    for number in range(12):
        add_page(wiki, f"P{number}")
    wiki.wiki.forget()
    run(wiki, *(f"-page:P{number}" for number in range(12)), "-always")
    looks = [asked for asked in wiki.wiki.asked if asked.get("titles", "").startswith("User:WeboidBot/Run|")]
    assert (len(looks), len(wiki.wiki.edits)) == (12, 12)
    assert wiki.wiki.counted["query"] < 12 + 10


def test_a_run_page_that_says_run_and_a_partial_block_do_not_stop_it(wiki: Scene) -> None:
    add_page(wiki, "A")
    add_page(wiki, "B")
    wiki.wiki.save("User:WeboidBot/Run", " Run\n")
    run(wiki, "-page:A", "-always")
    assert len(wiki.wiki.edits) == 1
    wiki.wiki.is_blocked = wiki.wiki.is_partly_blocked = True
    run(wiki, "-page:B", "-always")
    assert len(wiki.wiki.edits) == 2


def test_a_run_page_that_is_deleted_in_the_middle_of_a_run_stops_it(wiki: Scene) -> None:
    for number in range(3):
        add_page(wiki, f"P{number}")
    page = wiki.wiki.save("User:WeboidBot/Run", "run")
    wiki.wiki.before_saving = lambda title: wiki.wiki.pages.pop(page, None)
    with pytest.raises(RunStopped, match="User:WeboidBot/Run"):
        run(wiki, *(f"-page:P{number}" for number in range(3)), "-always")
    assert len(wiki.wiki.edits) == 1


def test_another_account_stops_it(wiki: Scene) -> None:
    add_page(wiki, "A")

    def log_out(asked: str) -> None:
        wiki.wiki.account = "Somebody"

    wiki.wiki.before_saving = log_out
    with pytest.raises(RunStopped, match="assertnameduserfailed"):
        run(wiki, "-page:A", "-always")
    assert wiki.wiki.text("A") == TEXT


@pytest.mark.parametrize("code", ["blocked", "autoblocked", "readonly", "assertuserfailed"])
def test_what_the_next_page_would_meet_ends_the_run(wiki: Scene, code: str) -> None:
    add_page(wiki, "A")
    wiki.wiki.refusals["A"] = {"code": code, "info": "No."}
    with pytest.raises((RunStopped, WikiSilent)):
        run(wiki, "-page:A", "-always")
    assert wiki.wiki.text("A") == TEXT


def test_ten_refusals_without_a_known_reason_end_the_run(wiki: Scene) -> None:
    for number in range(15):
        add_page(wiki, f"P{number}")
        wiki.wiki.refusals[f"P{number}"] = {"code": f"new-{number}", "info": "No."}
    with pytest.raises(RunStopped, match="10 edits in a row"):
        run(wiki, *(f"-page:P{number}" for number in range(15)), "-always")


def test_three_reverts_among_its_last_edits_stop_it(wiki: Scene) -> None:
    for title in "ABCD":
        add_page(wiki, title)
    run(wiki, "-page:A", "-page:B", "-page:C", "-always")
    with journal_of(wiki) as journal:
        for edit in journal.last_edits(WIKI, 5):
            [link] = edit.links
            reverted = NotedRevert(edit.number, link.normal, URL, "reverted", "link-works", 1, "A", edit.moment, True)
            journal.note_revert(reverted)
    with pytest.raises(RunStopped, match="-resume"):
        run(wiki, "-page:D", "-always")
    assert wiki.wiki.text("D") == TEXT


def test_settings_can_say_that_no_bot_is_to_run(scene: Scene) -> None:
    scene.wiki.save("MediaWiki:Weboid.json", settings(run=False), model="json")
    add_page(scene, "A")
    with pytest.raises(RunStopped, match=r"options\.run"):
        run(scene, "-page:A", "-always")
