"""Outcomes of statuses (U-3), as histories show them."""

from weboid.core.record.reasons import Outcome, status_outcome
from weboid.core.record.status import Status


def test_a_history_shows_each_status_by_its_outcome() -> None:
    for status, outcome in [
        (Status.FINE, Outcome.WORKING),
        (Status.MOVED_PERMANENTLY, Outcome.WORKING),
        (Status.CORRECTED, Outcome.WORKING),
        (Status.SCHEME_SWITCHED, Outcome.WORKING),
        (Status.NO_ACCESS, Outcome.DOUBTFUL),
        (Status.METHOD, Outcome.DOUBTFUL),
        (Status.NOT_FOUND, Outcome.FAILING),
        (Status.DNS_GONE, Outcome.FAILING),
    ]:
        assert status_outcome(status) is outcome


def test_no_status_is_shown_as_refused() -> None:
    for status in Status:
        assert status_outcome(status) is not Outcome.REFUSED
