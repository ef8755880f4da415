"""Specials: for how long the needs of a host are believed (C-1, C-6)."""

from weboid.core.record.specials import Sight, Special, believed


def test_a_host_that_needs_get_is_asked_by_get_for_two_hundred_days() -> None:
    for day, is_so in [(100, True), (299, True), (300, False)]:
        assert (Special.NEEDS_GET in believed({Special.NEEDS_GET: Sight(100, 100)}, day, 7)) is is_so


def test_other_needs_are_tried_anew_between_ten_and_thirty_days_after_the_last_sight() -> None:
    for kind in [Special.NEEDS_HTTP, Special.NEEDS_HTTPS, Special.NEEDS_REFERRER]:
        sights = {kind: Sight(0, 100)}
        ends = {
            next(day for day in range(100, 200) if not believed(sights, day, spread)) - 100
            for spread in range(-500, 500)
        }
        assert (min(ends), max(ends)) == (10, 30), kind
        assert len(ends) == 21, kind
