"""Judgements on links, by Weboid's verdicts and by scans (B-3)."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

from support.little_service import link

from weboid.core.record.reasons import Outcome
from weboid.core.url.classify import classify
from weboid_scripts.weblinks.dead_links import LinkJudgement, LinkStanding, Rule, judged
from weboid_scripts.weblinks.link_lines import link_line, shown
from weboid_scripts.weblinks.links_found import FoundLink
from weboid_scripts.weblinks.scan_memory import Scan, scan_after

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
URL = "http://a.org/x"
COPY = "https://web.archive.org/web/20160503120000/http://a.org/x"
FAILING = Scan(URL, NOW, Outcome.FAILING, "timeout", None, 1, NOW - timedelta(days=1))
DEAD = Scan(URL, NOW, Outcome.FAILING, "not-found", 404, 3, NOW - timedelta(days=9))
WORKS = Scan(URL, NOW, Outcome.WORKING, "ok", 200)
BY_VERDICT, BY_SCANS = Rule(), Rule(by_scans=True)


def judge(
    answer: dict[str, Any] | None = None, scan: Scan | None = None, rule: Rule = BY_VERDICT, **found: Any
) -> LinkJudgement:
    links = [FoundLink(URL, URL, classify(URL, None), **found)]
    answers = {} if answer is None else {URL: answer}
    (judgement,) = judged(links, answers, {} if scan is None else {URL: scan}, rule, NOW)
    return judgement


def dead(**values: Any) -> dict[str, Any]:
    return link(URL, **{"since": "2026-05-03", "http": 404, **values})


def test_what_is_made_of_a_link() -> None:
    for answer, scan, rule, standing in [
        (dead(), None, BY_VERDICT, LinkStanding.DEAD),
        (link(URL, "doubtful"), None, BY_VERDICT, LinkStanding.GOOD),
        (link(URL, "working"), None, BY_VERDICT, LinkStanding.GOOD),
        (link(URL, "spam"), None, BY_VERDICT, LinkStanding.OPEN),
        (link(URL, "unknown"), None, BY_VERDICT, LinkStanding.OPEN),
        (None, None, BY_VERDICT, LinkStanding.OPEN),
        (dead(), FAILING, BY_VERDICT, LinkStanding.DEAD),
        (dead(), WORKS, BY_VERDICT, LinkStanding.GOOD),
        (link(URL, "working"), FAILING, BY_VERDICT, LinkStanding.FAILING),
        (link(URL, "working"), DEAD, BY_VERDICT, LinkStanding.FAILING),
        (None, DEAD, BY_VERDICT, LinkStanding.FAILING),
        (None, WORKS, BY_VERDICT, LinkStanding.GOOD),
        (dead(), None, BY_SCANS, LinkStanding.OPEN),
        (None, FAILING, BY_SCANS, LinkStanding.FAILING),
        (None, DEAD, BY_SCANS, LinkStanding.DEAD),
        (None, WORKS, BY_SCANS, LinkStanding.GOOD),
        (dead(flags=["frozen"]), DEAD, BY_VERDICT, LinkStanding.OPEN),
        (dead(http=500), None, Rule(ignored=frozenset({500})), LinkStanding.IGNORED),
        (None, DEAD, Rule(by_scans=True, ignored=frozenset({404})), LinkStanding.IGNORED),
        (dead(since="2026-11-15"), None, Rule(days=7), LinkStanding.RECENT),
        (dead(since="2026-11-14"), None, Rule(days=7), LinkStanding.DEAD),
        (None, DEAD, Rule(by_scans=True, days=9), LinkStanding.RECENT),
    ]:
        assert judge(answer, scan, rule).standing is standing


def test_what_the_wiki_says_counts_more_than_what_is_found() -> None:
    for flag, untagged, tagged in [
        ("permadead", LinkStanding.DEAD, LinkStanding.DEAD),
        ("permalive", LinkStanding.GOOD, LinkStanding.DEAD),
        ("subscription", LinkStanding.OPEN, LinkStanding.DEAD),
    ]:
        for answer in [None, dead(), link(URL, "working")]:
            assert judge(answer, flags=frozenset({flag})).standing is untagged
            assert judge(answer, flags=frozenset({flag}), is_tagged=True).standing is tagged
            if answer is not None:
                assert judge({**answer, "flags": [flag]}).standing is untagged


def test_since_why_and_copies_are_reported() -> None:
    answer = dead(
        copies=[(COPY, "20160503120000"), ("https://web.archive.org/web/2016/http://b.org/", "20160101000000")]
    )
    found = judge(answer)
    assert (found.since, found.why, found.http, found.copies) == (date(2026, 5, 3), "not-found", 404, (COPY,))
    assert link_line("Harbour", found) == (
        f"*[[Harbour]] links to <<lightred>>{URL}<<default>> - dead: 404 not-found, since 2026-05-03, copies: {COPY}"
    )
    assert link_line("Harbour", judge(link(URL, "working"))) is None


def test_hostile_answers_say_nothing() -> None:
    noises: list[Any] = [None, 7, "x", [], {}, [7, None, {"snapshot": 7}, {"snapshot": "x"}], -1, True, "2026-99-99"]
    for noise in noises:
        for key in ("verdict", "reason", "http", "since", "flags", "snapshots"):
            found = judge(dead() | {key: noise})
            is_listed = link_line("Harbour", found) is not None
            assert found.copies == ()
            assert not is_listed or found.standing in (LinkStanding.DEAD, LinkStanding.RECENT), (noise, key)


def test_a_row_of_failures_ends_when_something_arrives() -> None:
    scan = None
    steps = [
        (Outcome.FAILING, "not-found", 1), (Outcome.FAILING, "timeout", 2), (Outcome.REFUSED, "bot-wall", 2),
        (Outcome.FAILING, "unavailable", 2), (Outcome.FAILING, "not-found", 3), (Outcome.DOUBTFUL, "parked", 0),
        (Outcome.FAILING, "timeout", 1), (Outcome.WORKING, "ok", 0),
    ]  # fmt: skip
    for day, (outcome, reason, failures) in enumerate(steps):
        scan = scan_after(scan, URL, NOW + timedelta(days=day), outcome, reason, None)
        assert (scan.failures, scan.is_dead) == (failures, failures == 3)
        assert (scan.since is not None) == bool(failures)
    assert scan is not None


def test_text_of_strangers_is_shown_as_plain_text() -> None:
    assert shown("a<<red>>b\x1b[31m\u202ec\n") == "a<U+003C><red>>b<U+001B>[31m<U+202E>c<U+000A>"
