"""Grounds: whose streak counts, by which measure, how much of the proof is there; their dictionary form."""

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from support.observations import BROKEN, FINE, GONE, LIMITED, LOST, SILENT, SILENT_BY_HEARSAY, UNAVAILABLE, WALL
from support.reports import Stored

from weboid.core.observe.observation import Observation
from weboid.core.record.policy import DEFAULT
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.record import UNKNOWN_HOST, UNTRIED
from weboid.core.url.classify import classify
from weboid.core.verdict.judge import judge, judge_host
from weboid.core.verdict.link_report import link_report
from weboid.core.verdict.report_json import link_as_json
from weboid.core.verdict.verdict import Grounds, Verdict, finding_of, grounds_of


def checked(*seen: tuple[int, Observation], host_days: Sequence[int] = ()) -> Stored:
    """A URL after checks on these days, its host after contacts that failed on those days."""
    record, host = UNTRIED, UNKNOWN_HOST
    for day, observation in seen:
        record, _ = judge(record, observation, day)
    for day in host_days:
        host = judge_host(host, SILENT, day)
    return Stored(record, host)


def grounds(known: Stored) -> Grounds:
    found = grounds_of(known.record, known.host)
    assert found is not None
    return found


def evidence_in_json(known: Stored) -> Any:
    return link_as_json(link_report(classify("http://a.demo/", None), known))["evidence"]


def days(first: int, last: int, step: int = 3) -> range:
    return range(first, last + 1, step)


def test_where_no_failure_counts_there_are_no_grounds() -> None:
    for known in [
        Stored(UNTRIED), checked((100, FINE)), checked((100, WALL)), checked((100, LOST), (103, FINE)),
        checked((100, UNAVAILABLE), (103, UNAVAILABLE)), checked((100, SILENT_BY_HEARSAY)),
    ]:  # fmt: skip
        assert grounds_of(known.record, known.host) is None
        assert evidence_in_json(known) is None


def test_the_evidence_of_a_missing_page_and_of_a_dead_host_as_json() -> None:
    assert evidence_in_json(checked(*((day, LOST) for day in days(100, 115)))) == {
        "strikes": 6, "missing_days": 15, "since": "2017-04-11", "until": "2017-04-26", "days": 15, "needs_days": 14,
        "of_host": False, "host_answers": True,
    }  # fmt: skip
    evidence = evidence_in_json(checked((100, SILENT_BY_HEARSAY), (128, SILENT_BY_HEARSAY), host_days=days(100, 136)))
    assert (evidence["of_host"], evidence["strikes"], evidence["missing_days"]) == (True, 13, 0)
    assert (evidence["days"], evidence["needs_days"]) == (36, DEFAULT.dead_span)


def test_a_host_down_for_longer_counts_first_but_what_it_answered_is_the_url_s_own() -> None:
    assert grounds(checked((106, SILENT), host_days=(100, 103, 106))).of_host
    assert not grounds(checked((100, SILENT), (103, SILENT), (106, SILENT), host_days=(106,))).of_host
    found = grounds(checked((106, LOST), host_days=(100, 103)))
    assert (found.of_host, found.host_answers) == (False, False)
    assert grounds(checked((106, LOST))).host_answers


def test_whichever_measure_is_nearer_to_its_proof_counts() -> None:
    late = grounds(checked(*((day, SILENT) for day in days(100, 124)), (127, LOST)))
    assert (late.days, late.needs_days) == (27, DEFAULT.dead_span)
    early = grounds(checked((100, SILENT), (103, LOST), (106, LOST)))
    assert (early.days, early.needs_days) == (3, 14)
    # All that was reported before the host went silent proves by the short measure only if it was enough by then.
    silent = grounds(checked(*((day, LOST) for day in days(100, 109)), (112, SILENT)))
    assert (silent.days, silent.needs_days) == (12, DEFAULT.dead_span)
    proven = grounds(checked(*((day, LOST) for day in days(100, 115)), (118, SILENT)))
    assert (proven.days, proven.needs_days, proven.is_proof) == (15, 14, True)


def test_what_failed_and_came_back_not_long_before_needs_more_days() -> None:
    relapsed = checked((90, LOST), (93, FINE), *((day, LOST) for day in days(100, 115)))
    found = grounds(relapsed)
    assert (found.days, found.needs_days, found.is_proof) == (15, 2 * DEFAULT.missing_span, False)
    host = UNKNOWN_HOST
    for day, seen in ((79, SILENT), (80, SILENT), (83, FINE), (100, SILENT), (103, SILENT)):
        host = judge_host(host, seen, day)
    found = grounds(Stored(checked((103, SILENT_BY_HEARSAY)).record, host))
    assert (found.days, found.needs_days, found.of_host) == (3, 2 * DEFAULT.dead_span, True)


def test_too_many_requests_leave_the_grounds_and_one_strike_of_another_kind_is_remembered() -> None:
    found = grounds(checked((100, LOST), (103, LOST), (106, LIMITED)))
    assert (found.streak.strikes, found.days, found.needs_days) == (2, 3, 14)
    years = checked(*((day, LOST) for day in days(100, 600, 20)))
    assert grounds(years).streak.evidence.is_all_missing
    mixed = checked((100, SILENT), *((day, LOST) for day in days(103, 160)))
    assert not grounds(mixed).streak.evidence.is_all_missing


_SEEN = st.sampled_from([LOST, GONE, SILENT, SILENT_BY_HEARSAY, BROKEN, UNAVAILABLE, LIMITED, WALL, FINE])
_CHECKS = st.lists(st.tuples(st.integers(1, 9), _SEEN), max_size=25)


@given(_CHECKS, st.lists(st.integers(1, 9), max_size=15))
def test_the_grounds_agree_with_the_finding(checks: list[tuple[int, Observation]], contacts: list[int]) -> None:
    record, host, day = UNTRIED, UNKNOWN_HOST, 100
    for interval, observation in checks:
        day += interval
        record, _ = judge(record, observation, day)
    day = 100
    for interval in contacts:
        day += interval
        host = judge_host(host, SILENT, day)
    finding, found = finding_of(record, host), grounds_of(record, host)
    if finding.verdict is Verdict.DEAD:
        assert found is not None
        assert found.is_proof
        assert found.of_host is (finding.reason is Reason.HOST_DOWN)
        assert found.streak.since == finding.since
    if found is not None:
        failing = record.reason is not None and record.reason.outcome is Outcome.FAILING
        assert found.is_proof is (finding.verdict is Verdict.DEAD) or not failing
        enough = found.streak.strikes >= DEFAULT.dead_strikes
        assert found.is_proof is (found.days >= found.needs_days and enough)
