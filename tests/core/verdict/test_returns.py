"""When a host counts as having come back, so that a stranger may answer for it (C-11)."""

from dataclasses import replace

from weboid.core.observe.observation import Observation
from weboid.core.record.history import Entry
from weboid.core.record.reasons import Reason
from weboid.core.record.record import UNKNOWN_HOST, UNTRIED, HostRecord, UrlRecord
from weboid.core.record.specials import Sight, Special, believed
from weboid.core.record.status import Status
from weboid.core.record.streak import WHOLE, Streak
from weboid.core.verdict.judge import judge_host
from weboid.core.verdict.returns import has_returned, is_away, is_since_return

FINE = Observation(Status.FINE, Reason.OK)
MISSING = Observation(Status.NOT_FOUND, Reason.NOT_FOUND)
SILENT = Observation(Status.NETWORK, Reason.TIMEOUT)
NO_NAME = Observation(Status.DNS_GONE, Reason.DNS_GONE)

NAMELESS = judge_host(UNKNOWN_HOST, NO_NAME, 100)
QUIET = judge_host(UNKNOWN_HOST, SILENT, 100)
DEAD = HostRecord(Streak(9, 100, 140, WHOLE), Reason.TIMEOUT)


def test_a_host_is_away_when_its_name_is_gone_or_it_is_dead() -> None:
    assert [is_away(host) for host in (NAMELESS, DEAD, QUIET, UNKNOWN_HOST)] == [True, True, False, False]


def test_it_is_back_when_it_answers_or_its_name_resolves() -> None:
    for host, seen, is_so in [
        (NAMELESS, FINE, True), (NAMELESS, MISSING, True), (NAMELESS, replace(FINE, reason=Reason.PARKED), True),
        (NAMELESS, SILENT, True), (NAMELESS, NO_NAME, False),
        (NAMELESS, Observation(Status.DNS_ERROR, Reason.DNS_ERROR), False),
        (NAMELESS, replace(SILENT, inferred=True), False), (NAMELESS, replace(SILENT, held=True), False),
        (DEAD, FINE, True), (DEAD, SILENT, False), (DEAD, NO_NAME, False), (QUIET, FINE, False),
        (UNKNOWN_HOST, FINE, False),
    ]:  # fmt: skip
        assert has_returned(host, seen) is is_so


def test_a_url_not_checked_since_is_unsure_whatever_it_last_did() -> None:
    sights = {Special.RETURNED: Sight(50, 100)}
    checked = {day: UrlRecord(history=(Entry(Status.FINE, 10, day),), reason=Reason.OK) for day in (99, 100)}
    assert is_since_return(checked[99], sights)
    assert not is_since_return(checked[100], sights)
    assert not is_since_return(UNTRIED, sights)
    assert not is_since_return(checked[99], {})


def test_a_return_is_nothing_to_rely_on() -> None:
    assert believed({Special.RETURNED: Sight(100, 100)}, 100, 3) == frozenset()
