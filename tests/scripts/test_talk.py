"""Reports on talk pages: written twice is written once, taken back without a trace, and nothing gets out (B-7)."""

import random
from dataclasses import replace
from time import process_time

from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.awkward_wikitext import awkward_page
from support.hostile_links import HOSTILE

from weboid.bot.answers import key_of
from weboid.core.wikitext.reader import read_wikitext
from weboid_scripts.weblinks.talk import TalkAction, TalkEntry, TalkWords, has_report, talk_edit

KEY = b"k" * 32
SIGNATURE = "[[User:WeboidBot|WeboidBot]] ([[User talk:WeboidBot|talk]]) 22:10, 23 November 2026 (UTC)"
WORDS = TalkWords("Dead links", "These links are dead:", "Please repair them.", "since {day}", "archived copy")
GONE = TalkEntry(
    "http://gone.org/a", "3 May 2026", "The server reports that the page does not exist.",
    "https://web.archive.org/web/20160503120000/http://gone.org/a",
)  # fmt: skip
LOST = TalkEntry("http://lost.org/b", "1 May 2026")
THREAD = "== Sources ==\nWhich one? --[[User:A]] 10:00, 1 May 2026 (UTC)"

URLS = st.one_of(
    st.sampled_from(HOSTILE), st.text(max_size=40).map("http://a.org/".__add__), st.text(min_size=1, max_size=40)
)
TALKS = st.one_of(st.text(max_size=80), st.integers(0, 10_000).map(lambda number: awkward_page(random.Random(number))))
ENTRIES = st.lists(st.builds(TalkEntry, URLS, st.text(max_size=10), st.text(max_size=20), URLS), min_size=1, max_size=3)


def edited(talk: str, *entries: TalkEntry, key: bytes = KEY) -> str:
    return talk_edit(talk, entries, WORDS, key=key, signature=SIGNATURE).text


def test_a_report_is_written_once_and_taken_back_without_a_trace() -> None:
    for talk in ["", THREAD, "{{Header}}", THREAD + "\n\n", "<!-- closed -->"]:
        first = talk_edit(talk, [GONE, LOST], WORDS, key=KEY, signature=SIGNATURE)
        assert (first.action, first.links) == (TalkAction.WRITE, frozenset({GONE.url, LOST.url})), talk
        assert first.text.startswith(talk)
        again = talk_edit(first.text, [GONE, LOST], WORDS, key=KEY, signature=SIGNATURE.replace("22:10", "23:10"))
        assert (again.action, again.text) == (TalkAction.NOTHING, first.text), talk
        removed = talk_edit(first.text, [], WORDS, key=KEY, signature=SIGNATURE)
        assert (removed.action, removed.text) == (TalkAction.REMOVE, talk)


def test_what_a_report_says() -> None:
    section, mark = edited("", GONE, LOST).split("<!-- ")
    assert section == (
        "== Dead links ==\nThese links are dead:\n\n"
        "* [http://gone.org/a http://gone.org/a] – since 3 May 2026 – The server reports that the page does not exist."
        " – [https://web.archive.org/web/20160503120000/http://gone.org/a archived copy]\n"
        "* [http://lost.org/b http://lost.org/b] – since 1 May 2026\n\n"
        f"Please repair them. {SIGNATURE}"
    )
    assert mark.startswith("weboid-weblinks ")


def test_a_report_is_updated_in_its_place() -> None:
    between = f"{edited(THREAD, GONE)}\n\n== Later ==\nAnother thread."
    found = talk_edit(between, [GONE, LOST], WORDS, key=KEY, signature=SIGNATURE)
    assert (found.action, found.links) == (TalkAction.UPDATE, frozenset({GONE.url, LOST.url}))
    assert found.text == f"{edited(THREAD, GONE, LOST)}\n\n== Later ==\nAnother thread."
    assert edited(found.text) == f"{THREAD}\n\n== Later ==\nAnother thread."
    with_copy = replace(LOST, copy="https://web.archive.org/web/20160503120000/http://lost.org/b")
    assert talk_edit(found.text, [GONE, with_copy], WORDS, key=KEY, signature=SIGNATURE).action is TalkAction.UPDATE


def test_what_somebody_has_changed_or_answered_is_left_alone() -> None:
    report = edited(THREAD, GONE, LOST)
    for talk in (
        f"{report}\n:Thanks, I will look. --[[User:B]] 12:00, 24 November 2026 (UTC)",
        f"{report} Done. --[[User:B]]",
        report.replace("\n* [http://lost", "\n* {{Done}} [http://lost"),
        report.replace("== Dead links ==", "== Dead links (solved) =="),
        f"{report}\n\n=== Detail ===\nHere. --[[User:B]]",
        report.replace("22:10", "22:11"),
    ):
        assert not has_report(talk, KEY)
        for entries in ([], [GONE], [GONE, LOST]):
            found = talk_edit(talk, entries, WORDS, key=KEY, signature=SIGNATURE)
            assert (found.action, found.text) == (TalkAction.NOTHING, talk)
        new = TalkEntry("http://new.org/")
        more = talk_edit(talk, [GONE, new], WORDS, key=KEY, signature=SIGNATURE)
        assert (more.action, more.links) == (TalkAction.WRITE, frozenset({new.url}))
        assert "http://gone.org" not in more.text.removeprefix(talk)
        assert edited(more.text) == talk


def test_a_second_report_has_a_heading_of_its_own() -> None:
    assert "== Dead links 2 ==" in edited(edited("", GONE) + "\n:Thanks.", LOST)


def test_what_another_bot_wrote_is_not_ours() -> None:
    theirs = edited(THREAD, GONE, key=b"other")
    assert edited(theirs, GONE) == theirs
    assert edited(theirs) == theirs


def test_a_link_that_people_discuss_already_is_not_reported() -> None:
    talk = "Is http://gone.org/a dead?"
    assert edited(talk, GONE) == talk
    assert "lost.org" in edited(talk, GONE, LOST)


def test_nothing_is_written_where_nobody_would_see_it() -> None:
    assert edited("Text <!-- never closed", GONE) == "Text <!-- never closed"


def test_nothing_gets_out_of_an_entry() -> None:
    for url in HOSTILE:
        section = edited("", TalkEntry(url, url, url, url))
        nodes = read_wikitext(section)
        assert not nodes.templates, url
        lines = section.splitlines()
        assert [line[:2] for line in lines if line.startswith(tuple("*=:#;"))] == ["==", "* "], url
        body = next(line for line in lines if line.startswith("* "))
        for markup in ("[[", "]]", "{{", "}}", "-{", "<", ">", "~~~", "''", "__NOTOC__", "|", "\u202e", "\x00"):
            assert markup not in body, url
        assert section.count("<!--") == section.count("-->") == 1, url
        assert all(key_of(node.url) is not None for node in nodes.links), url


@given(talk=TALKS, entries=ENTRIES)
@example(talk="\n", entries=[GONE])
@example(talk="== a ==", entries=[GONE])
def test_whatever_is_there_a_report_is_written_once_and_taken_back_without_a_trace(
    talk: str, entries: list[TalkEntry]
) -> None:
    found = talk_edit(talk, entries, WORDS, key=KEY, signature=SIGNATURE)
    if found.action is TalkAction.WRITE:
        assert has_report(found.text, KEY)
        assert edited(found.text, *entries) == found.text
        assert edited(found.text) == talk
    else:
        assert found.text == talk


@settings(max_examples=50)
@given(first=ENTRIES, second=ENTRIES, after=st.sampled_from(["", "\n\n== Later ==\nx", "\n\n= Part =\n== x ==\ny"]))
def test_updates_leave_all_else_as_it_is(first: list[TalkEntry], second: list[TalkEntry], after: str) -> None:
    updated = edited(edited(THREAD, *first) + after, *second)
    assert updated.startswith(THREAD)
    assert updated.endswith(after)
    assert edited(updated, *second) == updated
    assert edited(updated) == THREAD + after


def test_what_is_reported_stays_while_nobody_knows_better() -> None:
    talk = edited(THREAD, GONE, LOST)

    def with_open(*urls: str, entries: tuple[TalkEntry, ...] = ()) -> TalkAction:
        found = talk_edit(talk, entries, WORDS, key=KEY, signature=SIGNATURE, open_urls=urls)
        assert found.text == {TalkAction.NOTHING: talk, TalkAction.UPDATE: edited(THREAD, GONE)}[found.action]
        return found.action

    assert with_open(GONE.url, LOST.url) is TalkAction.NOTHING
    assert with_open(GONE.url) is TalkAction.UPDATE
    assert with_open(LOST.url, entries=(GONE,)) is TalkAction.NOTHING
    unknown = talk_edit(THREAD, [], WORDS, key=KEY, signature=SIGNATURE, open_urls=[GONE.url])
    assert (unknown.action, unknown.text) == (TalkAction.NOTHING, THREAD)


def test_a_report_that_somebody_took_away_is_not_written_again() -> None:
    def again(talk: str, *entries: TalkEntry) -> str:
        return talk_edit(talk, entries, WORDS, key=KEY, signature=SIGNATURE, reported=[GONE.url]).text

    assert again(THREAD, GONE) == THREAD
    assert again(THREAD, GONE, LOST) == edited(THREAD, LOST)
    written = edited(THREAD, GONE)
    assert again(written, GONE) == written
    assert again(written) == THREAD


def test_a_hostile_talk_page_takes_no_more_time_than_its_length() -> None:
    def seconds(part: str, count: int) -> float:
        talk = "== Dead links ==\n" + "".join(part.format(number) for number in range(2, count))
        began = process_time()
        written = edited(talk, GONE)
        assert edited(written) == talk
        answered = f"{written}\n{talk}"
        assert edited(answered) in (answered, f"{talk}\n{talk}")
        return process_time() - began

    for part in (
        "<!-- weboid-weblinks 0123456789abcdef0123456789abcdef -->", "== Dead links {} ==\n", "<!---->", "= ", "=",
    ):  # fmt: skip
        assert any(seconds(part, 12_000) < max(0.05, 10 * seconds(part, 3_000)) for _ in range(5)), part
