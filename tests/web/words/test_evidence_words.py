"""The sentences that explain a verdict: what proves it, or which proof is missing yet (U-7)."""

from collections.abc import Sequence

from support.observations import BROKEN, FINE, LIMITED, LOST, SILENT, SILENT_BY_HEARSAY, UNAVAILABLE, WALL
from support.reports import Stored

from weboid.core.observe.observation import Observation
from weboid.core.record.record import UNKNOWN_HOST, UNTRIED
from weboid.core.url.classify import classify
from weboid.core.verdict.judge import judge, judge_host
from weboid.core.verdict.link_report import LinkReport, link_report
from weboid.core.verdict.verdict import NO_CLAIMS, Claims, Verdict
from weboid.web.words.language import languages
from weboid.web.words.messages import Messages, messages_in
from weboid.web.words.phrases import evidence_words, in_words


def say(code: str = "en") -> Messages:
    return messages_in(languages()[code])


def checked(*seen: tuple[int, Observation], host_days: Sequence[int] = (), claims: Claims = NO_CLAIMS) -> LinkReport:
    """A link after checks on these days, its host after contacts that failed on those days, at any hours."""
    record, host = UNTRIED, UNKNOWN_HOST
    for day, observation in seen:
        record, _ = judge(record, observation, day)
    for day in host_days:
        host = judge_host(host, SILENT, day)
    return link_report(classify("http://a.demo/", None), Stored(record, host, claims=claims))


def failing(seen: Observation, last: int, step: int = 3, claims: Claims = NO_CLAIMS) -> LinkReport:
    return checked(*((day, seen) for day in range(100, last + 1, step)), claims=claims)


def sentences_of(link: LinkReport, day: int | None = None, code: str = "en") -> list[str]:
    asked = (link.record.checked or 0) if day is None else day
    return evidence_words(link, asked, say(code))


def test_what_proves_that_a_link_is_dead() -> None:
    for link, sentences in [
        (failing(LOST, 115), ["Not found on 6 days (for 2 weeks).", "Other pages of this host work."]),
        (failing(BROKEN, 142), ["Not working on 15 days (for 6 weeks).", "Other pages of this host work."]),
        (
            checked((100, SILENT_BY_HEARSAY), (136, SILENT_BY_HEARSAY), host_days=range(100, 137, 3)),
            ["The host could not be reached on 13 days (for 5 weeks)."],
        ),
        (
            checked(*((day, LOST) for day in range(100, 116, 3)), (118, SILENT), host_days=[118]),
            ["Not working on 7 days (for 3 weeks)."],
        ),
    ]:
        assert link.finding.verdict is Verdict.DEAD, link
        assert sentences_of(link) == sentences, link
        assert in_words(link, 130, say())[1] is not None, link


_LONG = "because many outages end after some weeks."


def test_until_then_since_when_it_fails_is_shown_with_what_is_missing_yet() -> None:
    for link, sentences in [
        (
            failing(LOST, 109),
            ["Not found for 9 days (4 failing checks).", "It is called dead when this has lasted for 14 days."],
        ),
        (
            failing(SILENT, 100),
            [
                "Unreachable since today (one failing check).",
                f"It is called dead when this has lasted for 35 days, {_LONG}",
            ],
        ),
        (
            failing(BROKEN, 103),
            [
                "Not working for 3 days (2 failing checks).",
                f"It is called dead when this has lasted for 42 days, {_LONG}",
            ],
        ),
        (
            checked((100, SILENT_BY_HEARSAY), (106, SILENT_BY_HEARSAY), host_days=[100, 103, 106]),
            [
                "The host has been unreachable for 6 days (3 failing checks).",
                f"It is called dead when this has lasted for 35 days, {_LONG}",
            ],
        ),
        (
            checked((90, LOST), (93, FINE), (100, LOST), (103, LOST)),
            [
                "Not found for 3 days (2 failing checks).",
                "It is called dead when this has lasted for 28 days,"
                " because not long before it had failed and come back.",
            ],
        ),
        (
            checked((100, SILENT), (103, LOST), (106, LOST)),
            [
                "Not working for 6 days (3 failing checks).",
                "It is called dead only when more checks have failed, on different days.",
            ],
        ),
        (
            failing(UNAVAILABLE, 190),
            ["Unavailable for 3 months. This alone is never taken as proof that a link is dead."],
        ),
    ]:
        assert link.finding.verdict is Verdict.DOUBTFUL, link
        assert sentences_of(link) == sentences, link


def test_where_the_days_are_over_no_number_of_days_is_promised() -> None:
    rare = failing(LOST, 114, step=7)
    assert rare.finding.verdict is Verdict.DOUBTFUL
    assert "when this has lasted" in sentences_of(rare, 113)[1]
    assert sentences_of(rare)[1].startswith("It is called dead only when more checks have failed")


def test_what_is_reported_to_work_is_not_announced_as_dead() -> None:
    claims = Claims(assumed=100)
    assert sentences_of(failing(LOST, 109, claims=claims)) == ["Not found for 9 days (4 failing checks)."]
    proven = failing(LOST, 115, claims=claims)
    assert proven.finding.verdict is Verdict.DOUBTFUL
    assert sentences_of(proven)[0].startswith("Not found on 6 days")


def test_in_other_cases_there_is_nothing_to_explain() -> None:
    for link in [
        checked(),
        checked((100, FINE)),
        checked((100, WALL)),
        checked((100, LOST), (103, LIMITED)),
        checked((100, SILENT_BY_HEARSAY)),
        link_report(classify("http://no-dot/", None)),
        link_report(classify("http://a.demo/", None), Stored(failing(LOST, 115).record), spam=True),
    ]:
        assert sentences_of(link) == [], link
        assert in_words(link, 120, say())[1] is None, link
