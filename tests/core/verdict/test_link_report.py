"""The values of an answer: order, extents, the dictionary form of a link."""

import json
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.records import WHOLE
from support.reports import Stored

from weboid.assets import asset
from weboid.core.record.days import iso
from weboid.core.record.history import Entry
from weboid.core.record.policy import DEFAULT
from weboid.core.record.reasons import Reason
from weboid.core.record.record import HostRecord, UrlRecord
from weboid.core.record.status import NO_CODE, Status
from weboid.core.record.streak import Streak
from weboid.core.url.classify import classify
from weboid.core.url.farms import WMF, WikiName
from weboid.core.url.keys import key_of
from weboid.core.verdict.link_report import (
    Extent,
    LinkReport,
    PageReport,
    is_included,
    keyed_link,
    keyed_reports,
    link_of,
    link_report,
    watched_keys,
)
from weboid.core.verdict.report_json import link_as_json, page_as_json
from weboid.core.verdict.verdict import Claims, Verdict
from weboid.core.verdict.wiki_rules import WikiRules, rules_of
from weboid.core.wikitext.link_lists import LinkLists
from weboid.core.wikitext.settings import parse_page
from weboid.mechanism.slices import at_once

DEAD = Stored(
    UrlRecord(
        (Entry(Status.NOT_FOUND, 100, 120), Entry(Status.FINE, 90, 97)), Streak(5, 100, 120, WHOLE), Reason.NOT_FOUND
    )
)
WALL = Stored(UrlRecord((Entry(Status.NO_ACCESS, 100, 120),), reason=Reason.FORBIDDEN))
MOVED = Stored(UrlRecord((Entry(Status.MOVED_PERMANENTLY, 1, 2),), reason=Reason.MOVED, target="http://b.demo/"))
FILE = Stored(UrlRecord((Entry(Status.FINE, 1, 2),), reason=Reason.OK, mime="pdf", size_kib=7))


def report(url: str, known: Stored | None = None) -> LinkReport:
    return link_report(classify(url, WMF), known)


def test_links_come_by_domain_from_the_top_level_down_then_port_scheme_and_path() -> None:
    urls = [
        "http://a.demo/", "http://a.demo/1", "https://a.demo/", "http://a.demo:8080/", "http://www.a.demo/",
        "http://a-b.demo/", "http://b.demo/", "http://a.zone/", "http://no-dot/", "mailto:a@b.demo",
    ]  # fmt: skip
    links = at_once(keyed_reports([keyed_link(classify(url, None)) for url in reversed(urls)], {}))
    assert [link.given[0] for link in links] == urls


def test_forms_of_one_url_are_one_link_and_only_watched_ones_are_looked_up() -> None:
    forms = ["http://a.demo/x#1", "http://A.demo/x", "http://a.demo/%78"]
    (link,) = at_once(keyed_reports([keyed_link(classify(url, None)) for url in forms], {}))
    assert (link.normal, link.given) == ("http://a.demo/x", tuple(sorted(forms)))
    links = [classify(url, WMF) for url in ("http://a.demo/", "https://de.wikipedia.org/", "http://no-dot/", "x:y")]
    assert links[0].url
    assert watched_keys(map(keyed_link, links)) == {key_of(links[0].url)}


def test_findings_are_dead_doubtful_invalid_and_suspicious_links() -> None:
    links = {
        "dead": (report("http://a.demo/", DEAD), True, True),
        "wall": (report("http://a.demo/", WALL), False, True),
        "invalid": (report("http://no-dot/"), False, True),
        "suspicious": (report("http://a.demo/%E2%80%AE"), False, True),
        "moved": (report("http://a.demo/", MOVED), False, False),
        "new": (report("http://a.demo/"), False, False),
        "ignored": (report("mailto:a@b.demo"), False, False),
        "own": (report("https://de.wikipedia.org/"), False, False),
        "file": (report("http://a.demo/", FILE), False, False),
    }
    for name, (link, dead, finding) in links.items():
        assert (is_included(link, Extent.DEAD), is_included(link, Extent.FINDINGS)) == (dead, finding), name
        assert is_included(link, Extent.NOTES) == (finding or name == "file"), name
        assert is_included(link, Extent.ALL)


@pytest.mark.parametrize(
    ("copy", "state", "is_repaired"),
    [
        ("https://web.archive.org/web/20160503/https://www.a.demo/x/", None, True),
        ("https://web.archive.org/web/20160503/http://a.demo/x", FILE, True),
        ("https://web.archive.org/web/20160503/http://a.demo/x", WALL, True),
        ("https://web.archive.org/web/20160503/http://a.demo/x", DEAD, False),
        ("https://web.archive.org/web/20160503/http://a.demo/X", None, False),
        ("https://archive.today/20160503/http://a.demo/x", None, False),
        ("https://www.webcitation.org/5xyz?url=http://a.demo/x", None, False),
        ("http://b.demo/web/20160503/http://a.demo/x", None, False),
    ],
)
def test_a_failing_link_is_repaired_by_a_living_copy_of_it_on_the_page(
    copy: str, state: Stored | None, is_repaired: bool
) -> None:
    urls = ["http://a.demo/x", "http://a.demo/works", "https://web.archive.org/web/20160503/http://a.demo/works", copy]
    states = [DEAD, FILE, None, state]
    links = [keyed_link(classify(url, None)) for url in urls]
    known = {link.key: stored for link, stored in zip(links, states, strict=True) if link.key and stored}
    for extent in Extent:
        reports = at_once(keyed_reports(links, known, extent=extent))
        assert {link.normal for link in reports if link.is_repaired} == ({urls[0]} if is_repaired else set())
        page = PageReport(WikiName("dewiki", "WMF"), 1, 0, "T", 9, reports, 120, True, "T")
        assert page_as_json(page)["repaired"] == {"dead": int(is_repaired), "doubtful": 0}
    (cut,) = at_once(keyed_reports(links[:1], known, copies=links[3:]))
    assert cut.is_repaired is is_repaired, "the copy may be among links that the answer does not have"


@pytest.mark.parametrize(("listed", "state", "is_repaired"), [("permalive", DEAD, True), ("permadead", None, False)])
def test_a_copy_is_as_dead_as_the_wiki_s_own_lists_say(listed: str, state: Stored | None, is_repaired: bool) -> None:
    urls = ("http://a.demo/x", "https://web.archive.org/web/20160503/http://a.demo/x")
    links = [keyed_link(classify(url, None)) for url in urls]
    known = {link.key: stored for link, stored in zip(links, (DEAD, state), strict=True) if link.key and stored}
    rules = WikiRules(lists=LinkLists(**{listed: ("archive.org",)}))
    reports = {report.normal: report for report in at_once(keyed_reports(links, known, rules))}
    assert reports[urls[0]].is_repaired is is_repaired


def test_a_dead_link_as_json() -> None:
    assert link_as_json(report("http://A.demo", DEAD)) == {
        "normal": "http://a.demo/", "host_unicode": None, "given": ["http://A.demo"], "kind": None, "interwiki": None,
        "class": "watched", "verdict": "dead", "reason": "not-found", "since": "2017-04-11", "status": 18, "http": 404,
        "state": "not-found", "checked": "2017-05-01", "next_check": "2017-05-11", "strikes": 5, "target": None,
        "mime": None, "size_kib": None, "suspicious": False, "hints": [], "flags": [], "reported": None,
        "assumed": None, "replacement": None, "archives": [], "archived": "pending", "snapshots": [], "copy_of": None,
        "probably_meant": None, "repaired": False,
        "evidence": {
            "strikes": 5, "missing_days": 63, "since": "2017-04-11", "until": "2017-05-01", "days": 63,
            "needs_days": 14, "of_host": False, "host_answers": True,
        },
        "history": [
            {
                "status": 18, "http": 404, "state": "not-found", "outcome": "failing", "first": "2017-04-11",
                "last": "2017-05-01",
            },
            {
                "status": 1, "http": 200, "state": "fine", "outcome": "working", "first": "2017-04-01",
                "last": "2017-04-08",
            },
        ],
    }  # fmt: skip


def test_flags_are_what_the_wiki_lists_and_whether_bots_leave_it_alone() -> None:
    page = json.loads((asset("wikis") / "enwiki.json").read_text(encoding="utf-8"))
    lists = {"permadead": ["a.demo"], "subscription": ["http://a.demo/paid/"]}
    rules = rules_of(parse_page(json.dumps(page | {"links": lists})), DEFAULT)
    frozen, paid = replace(DEAD, is_frozen=True), classify("http://a.demo/paid/1", WMF)
    assert link_as_json(link_report(paid, frozen, rules))["flags"] == ["frozen", "permadead", "subscription"]
    assert link_as_json(link_report(paid, frozen))["flags"] == ["frozen"]
    for url in ("http://b.demo/", "http://no-dot/", "mailto:a@a.demo"):
        assert link_as_json(link_report(classify(url, WMF), DEAD, rules))["flags"] == [], url


def test_the_exact_code_of_the_newest_check_is_reported_and_the_group_s_code_where_none_was_kept() -> None:
    for stored, http in [(500, 500), (NO_CODE, None), (None, 400)]:
        broken = (Entry(Status.SYNTAX_OR_SERVER_ERROR, 100, 120),)
        document = link_as_json(
            report("http://a.demo/", Stored(UrlRecord(broken, reason=Reason.SERVER_ERROR, http=stored)))
        )
        assert (document["status"], document["http"], document["history"][0]["http"]) == (16, http, 400), stored


def test_invalid_and_new_links_and_dead_hosts_say_what_is_known() -> None:
    invalid, new = link_as_json(report("http://no-dot/")), link_as_json(report("http://a.demo/"))
    assert (invalid["verdict"], invalid["reason"], invalid["state"]) == ("invalid", "no-dot", "invalid")
    assert (new["verdict"], new["reason"], new["status"], new["state"]) == ("unknown", None, 0, "untried")
    silent = Stored(
        UrlRecord((Entry(Status.DNS_GONE, 119, 120),), Streak(), Reason.DNS_GONE),
        HostRecord(Streak(4, 100, 120, WHOLE), Reason.DNS_GONE),
    )
    document = link_as_json(report("http://a.demo/", silent))
    assert [document[key] for key in ("verdict", "reason", "status", "http")] == ["dead", "host-down", 66, None]


def test_a_page_counts_all_its_links_and_every_status_has_a_word_of_its_own() -> None:
    links = [classify(url, WMF) for url in ("http://a.demo/", "http://b.demo/")]
    assert links[0].url
    reports = at_once(keyed_reports(map(keyed_link, links), {key_of(links[0].url): DEAD}))
    document = page_as_json(PageReport(WikiName("dewiki", "WMF"), 1, 0, "T", 9, reports, 120, True, "T"))
    assert {verdict: count for verdict, count in document["counts"].items() if count} == {"dead": 1, "unknown": 1}
    assert (document["wiki"], document["read"]) == ("dewiki@WMF", "2017-05-01")
    known = [Stored(UrlRecord((Entry(status, 1, 2),), reason=Reason.OK)) for status in set(Status) - {Status.INVALID}]
    assert len({link_as_json(report("http://a.demo/", each))["state"] for each in known}) == len(Status) - 1


@given(st.lists(st.text(max_size=30).map(lambda text: f"http://{text}"), max_size=20))
@example([f"http://{host}/b" for host in ("WWW.A.demo", "a.demo", "no-dot", "1.2.3", "de.wikipedia.org", "a.example")])
def test_whatever_a_page_holds_can_be_sorted_and_reported(urls: list[str]) -> None:
    keyed = [keyed_link(classify(url, WMF)) for url in urls]
    assert [link_of(url, WMF) for url in urls] == keyed, "the usual way and that of nearly all"
    links = at_once(keyed_reports(keyed, {}))
    assert {given for link in links for given in link.given} == set(urls)
    assert all({verdict.word for verdict in Verdict} >= {link.finding.verdict.word} for link in links)
    json.dumps([link_as_json(link) for link in links])


def test_what_people_say_makes_a_dead_link_doubtful_at_most_and_no_working_one_worse() -> None:
    reported = report("http://a.demo/", replace(DEAD, claims=Claims(assumed=110)))
    assert (reported.finding.verdict, reported.finding.reason, reported.finding.since) == (
        Verdict.DOUBTFUL,
        Reason.REPORTED,
        100,
    )
    reported = report("http://a.demo/", replace(DEAD, claims=Claims(reported=110, replacement="http://b.demo/")))
    assert reported.finding.verdict is Verdict.DEAD
    shown = link_as_json(reported)
    assert shown["reported"] == iso(110)
    assert (shown["assumed"], shown["replacement"], shown["archives"]) == (None, "http://b.demo/", [])
    reported = report("http://a.demo/", replace(MOVED, claims=Claims(reported=110, assumed=110)))
    assert reported.finding.verdict is Verdict.WORKING


def test_the_url_that_was_probably_meant_is_offered_with_a_dead_link_alone() -> None:
    for stored, meant in ((DEAD, "http://a.demo/ok"), (FILE, None)):
        shown = link_as_json(report("http://a.demo/ok,", replace(stored, meant="http://a.demo/ok")))
        assert shown["probably_meant"] == meant


@pytest.mark.parametrize(("stored", "meant"), [(FILE, "http://a.demo/ok"), (MOVED, "http://a.demo/ok"), (DEAD, None)])
def test_with_an_invalid_link_the_url_that_was_probably_meant_is_offered_if_it_is_known_to_work(
    stored: Stored, meant: str | None
) -> None:
    broken = keyed_link(classify("http://http://a.demo/ok", None))
    (key,) = watched_keys([broken])
    (link,) = at_once(keyed_reports([broken], {key: stored}, extent=Extent.FINDINGS))
    assert (link.finding.verdict, link.finding.since, link.due, link.meant) == (Verdict.INVALID, None, None, meant)


def test_a_wiki_s_lists_decide_before_the_checks_but_not_before_spam_and_syntax() -> None:
    works = Stored(UrlRecord((Entry(Status.FINE, 90, 120),), reason=Reason.OK))
    lists = {"alive.demo": "permalive", "gone.demo": "permadead", "paid.demo": "subscription"}
    rules = WikiRules(lists=LinkLists(*((host,) for host in lists)))
    for host, known, spam, verdict, reason in (
        ("alive.demo", DEAD, False, Verdict.WORKING, Reason.PERMALIVE),
        ("alive.demo", WALL, False, Verdict.WORKING, Reason.PERMALIVE),
        ("alive.demo", works, False, Verdict.WORKING, Reason.OK),
        ("alive.demo", None, False, Verdict.UNKNOWN, None),
        ("gone.demo", DEAD, False, Verdict.DEAD, Reason.NOT_FOUND),
        ("gone.demo", works, False, Verdict.DEAD, Reason.PERMADEAD),
        ("gone.demo", None, False, Verdict.DEAD, Reason.PERMADEAD),
        ("gone.demo", replace(DEAD, claims=Claims(assumed=110)), False, Verdict.DEAD, Reason.PERMADEAD),
        ("paid.demo", DEAD, False, Verdict.DOUBTFUL, Reason.SUBSCRIPTION),
        ("paid.demo", WALL, False, Verdict.DOUBTFUL, Reason.FORBIDDEN),
        ("paid.demo", works, False, Verdict.WORKING, Reason.OK),
        ("gone.demo", works, True, Verdict.SPAM, None),
        ("other.demo", DEAD, False, Verdict.DEAD, Reason.NOT_FOUND),
    ):
        link = classify(f"http://www.{host}/", WMF)
        found = link_report(link, known, rules, spam=spam).finding
        assert (found.verdict, found.reason) == (verdict, reason), (host, known)
        keyed, spam_keys = keyed_link(link), [key_of(link.url)] if spam and link.url else ()
        stored = {} if known is None or keyed.key is None else {keyed.key: known}
        for extent in (Extent.ALL, Extent.DEAD):
            (of_page,) = at_once(keyed_reports([keyed], stored, rules, spam=spam_keys, extent=extent))
            assert of_page.finding.verdict is verdict, (host, known, extent)
