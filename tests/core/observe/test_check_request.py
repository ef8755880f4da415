"""Check requests: how a URL is checked by what is known of it (C-6, C-11)."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weboid.core.observe.check_request import LOOK_DAYS, CheckRequest, disproved, is_sampled, is_thorough, looks
from weboid.core.observe.observation import Observation
from weboid.core.record.history import Entry
from weboid.core.record.reasons import Reason
from weboid.core.record.record import Streak, UrlRecord
from weboid.core.record.specials import Sight, Special
from weboid.core.record.status import Status

FINE = Observation(Status.FINE, Reason.OK)


def asked(day: int, reason: Reason = Reason.OK, strikes: int = 0) -> UrlRecord:
    return UrlRecord(history=(Entry(Status.FINE, day, day),), streak=Streak(strikes), reason=reason)


@given(key=st.integers(-(2**63), 2**63 - 1), start=st.integers(0, 60_000), interval=st.integers(1, 28))
def test_every_page_is_looked_at_once_in_a_fortnight_whatever_the_interval(key: int, start: int, interval: int) -> None:
    days = range(start, start + 5 * LOOK_DAYS * interval, interval)
    looked = [day for before, day in pairwise(days) if looks(asked(before), key, day)]
    gaps = [later - earlier for earlier, later in pairwise(looked)]
    assert looked
    assert all(abs(gap - LOOK_DAYS) < interval for gap in gaps)


def test_a_page_that_did_not_work_before_is_always_looked_at() -> None:
    """Also one whose headers were fine: a soft 404 would come and go with the looks."""
    for reason in (Reason.NOT_FOUND, Reason.TIMEOUT, Reason.FORBIDDEN, Reason.SOFT_404):
        assert all(looks(asked(day, reason), 5, day + 3) for day in range(100, 130))


def test_a_url_never_asked_is_not_looked_at_but_asked_thoroughly() -> None:
    assert not looks(UrlRecord(), 5, 100)
    assert is_thorough(UrlRecord(), 5, 100, 3)


def test_before_the_strike_that_may_be_the_last_every_way_is_tried() -> None:
    key, day = 0, 29  # not its turn otherwise: 28 and 29 lie in the same fortnight
    assert not is_thorough(asked(28, Reason.NOT_FOUND, strikes=1), key, day, 3)
    assert is_thorough(asked(28, Reason.NOT_FOUND, strikes=2), key, day, 3)


def test_one_url_of_sixteen_belongs_to_the_sample() -> None:
    assert sum(is_sampled(key) for key in range(-800, 800)) == 100


@pytest.mark.parametrize(
    ("url", "kind", "question", "is_so"),
    [
        ("http://a.demo/", Special.NEEDS_HTTPS, {}, True),
        ("https://a.demo/", Special.NEEDS_HTTPS, {}, False),
        ("https://a.demo/", Special.NEEDS_HTTP, {}, True),
        ("http://a.demo/", Special.NEEDS_HTTPS, {"needs": frozenset({Special.NEEDS_HTTPS})}, False),
        ("http://a.demo/", Special.NEEDS_GET, {}, True),
        ("http://a.demo/", Special.NEEDS_GET, {"looks": True}, False),
        ("http://a.demo/", Special.HONEST, {}, False),
    ],
)
def test_a_need_is_disproved_only_by_a_check_that_did_without_it(
    url: str, kind: Special, question: dict[str, object], is_so: bool
) -> None:
    sights = {kind: Sight(0, 0)}
    assert (kind in disproved(sights, CheckRequest(url, **question), FINE)) is is_so  # type: ignore[arg-type]
    assert not disproved(sights, CheckRequest(url, **question), Observation(Status.NOT_FOUND, Reason.NOT_FOUND))  # type: ignore[arg-type]
