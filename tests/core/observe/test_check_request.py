"""Check requests: how a URL is checked by what is known of it (C-6, C-11)."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from weboid.core.document.portrait import BLANK, Portrait
from weboid.core.observe.check_request import LOOK_DAYS, CheckRequest, disproved, is_thorough, looks, portrays
from weboid.core.observe.observation import Observation
from weboid.core.record.history import Entry
from weboid.core.record.policy import DEFAULT
from weboid.core.record.reasons import Reason
from weboid.core.record.record import UrlRecord
from weboid.core.record.specials import Sight, Special
from weboid.core.record.status import Status
from weboid.core.record.streak import Streak

FINE = Observation(Status.FINE, Reason.OK)
KNOWN = Portrait((1, 2), 3, 5)


def asked(day: int, reason: Reason = Reason.OK, strikes: int = 0) -> UrlRecord:
    return UrlRecord(history=(Entry(Status.FINE, day, day),), streak=Streak(strikes), reason=reason)


@given(key=st.integers(-(2**63), 2**63 - 1), start=st.integers(0, 60_000), interval=st.integers(1, 28))
def test_every_page_is_looked_at_once_in_a_fortnight_whatever_the_interval(key: int, start: int, interval: int) -> None:
    days = range(start, start + 5 * LOOK_DAYS * interval, interval)
    looked = [day for before, day in pairwise(days) if looks(asked(before), key, day)]
    gaps = [later - earlier for earlier, later in pairwise(looked)]
    assert looked
    assert all(abs(gap - LOOK_DAYS) < interval for gap in gaps)


def test_what_did_not_work_or_was_never_asked_is_looked_at_or_asked_thoroughly() -> None:
    """Also one whose headers were fine: a soft 404 would come and go with the looks."""
    for reason in (Reason.NOT_FOUND, Reason.TIMEOUT, Reason.FORBIDDEN, Reason.SOFT_404):
        assert all(looks(asked(day, reason), 5, day + 3) for day in range(100, 130))
    assert not looks(UrlRecord(), 5, 100)
    assert is_thorough(UrlRecord(), 5, 100, DEFAULT)


def test_before_the_strike_that_may_be_the_last_every_way_is_tried() -> None:
    key, day = 0, 29  # not its turn otherwise: 28 and 29 lie in the same fortnight
    assert not is_thorough(asked(28, Reason.NOT_FOUND, strikes=1), key, day, DEFAULT)
    assert is_thorough(asked(28, Reason.NOT_FOUND, strikes=2), key, day, DEFAULT)


def test_the_second_good_check_of_a_url_without_portrait_is_a_look_and_no_later_one() -> None:
    key, day = 8, 113  # not its turn otherwise
    assert not looks(asked(106), key, day)
    assert looks(asked(106), key, day, earlier=None)
    assert portrays(asked(106), key, day, earlier=None, returned=False)
    third = UrlRecord(history=(Entry(Status.FINE, 99, 106),), reason=Reason.OK)
    assert not looks(third, key, day, earlier=None)


def test_what_may_be_a_stranger_is_looked_at_and_no_portrait_is_taken() -> None:
    for key in range(1, 16):
        for record, returned in ((asked(106), True), (asked(106, Reason.NOT_FOUND), False)):
            assert looks(record, key, 108, returned=returned)
            assert not portrays(record, key, 108, earlier=None, returned=returned)


def test_a_portrait_is_renewed_twice_a_year_at_looks_that_are_made_anyway() -> None:
    for key in (1, 2, 5, -7):
        days = range(1000, 1000 + 7 * 104, 7)
        renewed = [day for day in days if portrays(asked(day - 7), key, day, earlier=KNOWN, returned=False)]
        assert 3 <= len(renewed) <= 5
        assert all(looks(asked(day - 7), key, day, earlier=KNOWN) for day in renewed)


def test_what_reported_nothing_is_asked_again_and_where_another_is_found_all_are_looked_at() -> None:
    assert all(portrays(asked(day - 7), 3, day, earlier=BLANK, returned=False) for day in range(200, 300))
    assert not all(looks(asked(day - 7), 3, day, earlier=BLANK) for day in range(200, 300, 7))
    key, day = 8, 113  # not its turn otherwise
    assert not looks(asked(106), key, day, earlier=KNOWN)
    assert looks(asked(106), key, day, earlier=KNOWN, suspected=True)
    assert not looks(UrlRecord(), key, day, earlier=None, suspected=True)


def test_every_look_compares_where_the_face_of_the_host_is_not_wanted() -> None:
    assert CheckRequest("http://a.demo/", looks=True, earlier=KNOWN).examines
    assert not CheckRequest("http://a.demo/", looks=True).examines
    assert not CheckRequest("http://a.demo/", earlier=KNOWN).examines


def test_a_need_is_disproved_only_by_a_check_that_did_without_it() -> None:
    for url, kind, request, is_so in [
        ("http://a.demo/", Special.NEEDS_HTTPS, {}, True),
        ("https://a.demo/", Special.NEEDS_HTTPS, {}, False),
        ("https://a.demo/", Special.NEEDS_HTTP, {}, True),
        ("http://a.demo/", Special.NEEDS_HTTPS, {"needs": frozenset({Special.NEEDS_HTTPS})}, False),
        ("http://a.demo/", Special.NEEDS_GET, {}, True),
        ("http://a.demo/", Special.NEEDS_GET, {"looks": True}, False),
        ("http://a.demo/", Special.RETURNED, {}, False),
    ]:
        sights = {kind: Sight(0, 0)}
        assert (kind in disproved(sights, CheckRequest(url, **request), FINE)) is is_so  # type: ignore[arg-type]
        assert not disproved(sights, CheckRequest(url, **request), Observation(Status.NOT_FOUND, Reason.NOT_FOUND))  # type: ignore[arg-type]
