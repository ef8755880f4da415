"""The copies of a URL (A-1, W-8): which one is shown first, and the one dictionary form."""

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from weboid.assets import toml_next_to
from weboid.core.archive.choice import Note
from weboid.core.archive.copies import (
    PENDING,
    CopyOrigin,
    CopyState,
    DistanceTo,
    ShownSnapshot,
    copies_of,
    snapshots_as_json,
)
from weboid.core.archive.redirect_copies import MOST_HOPS, NextStep, StoredHop, follow, lands
from weboid.core.archive.rows.fitness import Wish
from weboid.core.record.days import day_of
from weboid.core.url.archives import ARCHIVES
from weboid.core.url.urls import parse

_CASES = toml_next_to(__file__)
BY_NAME = {archive.name: archive for archive in ARCHIVES}
CITED_ON = day_of(date(2018, 5, 1))


def shown(
    service: str = "wayback", origin: CopyOrigin = CopyOrigin.CHOSEN, *, day: int = 1, address: str = "", note: int = 0
) -> ShownSnapshot:
    taken = datetime(2018, 4, day, 3, 4, 5, tzinfo=UTC)
    address = address or f"https://{BY_NAME[service].hosts[0]}/{origin}/{day}"
    return ShownSnapshot(BY_NAME[service], address, "http://mill.demo/", taken, origin, 700, Note(note), CITED_ON)


def test_copies_come_by_who_chose_them_then_wayback_first_then_the_nearest_and_each_once() -> None:
    rows = [shown(), shown("arquivo", CopyOrigin.CITED), shown("perma", CopyOrigin.SUGGESTED)]
    found = copies_of(rows, CopyState.FOUND)
    assert [one.origin.value for one in found.snapshots] == ["suggested", "cited", "chosen"]
    assert found.first is not None
    assert found.first.service.name == "perma"
    rows = [shown("perma", day=20), shown("arquivo", day=29), shown(day=1), shown(day=9)]
    found = copies_of(rows, CopyState.FOUND)
    assert [(one.service.name, one.distance_days) for one in found.snapshots] == [
        ("wayback", -22), ("wayback", -30), ("arquivo", -2), ("perma", -11),
    ]  # fmt: skip
    rows = [shown(address="https://a.demo/"), shown(origin=CopyOrigin.CITED, address="https://a.demo/")]
    assert [one.origin for one in copies_of(rows, CopyState.FOUND).snapshots] == [CopyOrigin.CITED]


def test_the_state_is_found_if_and_only_if_there_is_a_snapshot_and_what_is_not_known_is_none() -> None:
    assert copies_of([shown()], CopyState.ERROR, 800).state is CopyState.FOUND
    assert copies_of([], CopyState.FOUND).state is CopyState.UNKNOWN
    for state in set(CopyState) - {CopyState.FOUND}:
        assert copies_of([], state, 800).state is state
    assert PENDING.first is None
    bare = ShownSnapshot(BY_NAME["perma"], "https://perma.cc/ABCD-1234", None, None, CopyOrigin.SUGGESTED)
    assert (bare.stamp, bare.distance_days, bare.distance_to) == (None, None, None)
    assert copies_of([bare, shown()], CopyState.FOUND).first == bare


def test_a_long_time_from_the_citation_is_noted_only_where_its_day_is_known_and_a_rule_chose() -> None:
    for years, note in [(-3, Note.AFTER), (0, Note.NONE), (3, Note.BEFORE)]:
        day = CITED_ON + 365 * years
        for stored in (Note.NONE, Note.AFTER, Note.BEFORE):
            for origin in CopyOrigin:
                copy = shown(origin=origin, note=stored)._replace(wanted=day)
                assert copy.remark is Note.NONE, years
                cited = copy._replace(wanted_is=DistanceTo.CITATION)
                assert cited.remark is (note if origin is CopyOrigin.CHOSEN else Note.NONE), years
        similar = shown(note=Note.SIMILAR)._replace(wanted=day, wanted_is=DistanceTo.CITATION)
        assert similar.remark is Note.SIMILAR, years
        assert snapshots_as_json(copies_of([similar], CopyState.FOUND))[0]["note"] == "similar"


PAGE = parse("http://www.mill.demo/old/wheel.html")
TAKEN = datetime(2010, 5, 1, 12, tzinfo=UTC)
WISH = Wish(PAGE, TAKEN, date(2026, 11, 22), date(2015, 1, 1))


def hop(location: str, url: str = str(PAGE), *, hours: float = 0) -> StoredHop:
    return StoredHop(parse(url), TAKEN + timedelta(hours=hours), location)


def test_a_redirect_leads_to_the_archived_target_however_it_is_written_or_relative() -> None:
    for location in _CASES["leads-on"]:
        assert follow((hop(location),), WISH) == NextStep(parse("http://mill.demo/new/wheel"))
    assert follow((hop("../new/wheel"),), WISH).url == parse("http://www.mill.demo/new/wheel")
    assert follow((hop("/new/wheel"),), WISH).url == parse("http://www.mill.demo/new/wheel")


def test_a_redirect_that_leads_away_ends_with_a_reason() -> None:
    for location, why in [*_CASES["leads-away"], ("/" + 20_000 * "a", "redirect-broken"), (str(PAGE), "redirect-loop")]:
        assert follow((hop(location),), WISH) == NextStep(None, why)


def test_a_redirect_of_a_front_page_may_lead_to_one() -> None:
    wish = Wish(parse("http://www.mill.demo/"), TAKEN, WISH.today)
    first = StoredHop(wish.url, TAKEN, "https://www.mill.demo/")
    assert follow((first,), wish).url == parse("https://www.mill.demo/")
    assert lands((first,), wish, url=parse("https://www.mill.demo/"), taken=TAKEN) is None


def test_three_redirects_are_followed_within_a_day_and_without_a_loop() -> None:
    urls = [f"http://www.mill.demo/{name}/x" for name in "abcdef"]
    hops = [hop(urls[0]), *(hop(target, url) for url, target in pairwise(urls))]
    assert follow(tuple(hops[:MOST_HOPS]), WISH).url == parse(urls[MOST_HOPS - 1])
    assert follow(tuple(hops[: MOST_HOPS + 1]), WISH).why == "too-many-redirects"
    assert follow((hop(urls[0]), hop(str(PAGE), urls[0])), WISH).why == "redirect-loop"
    assert follow((hop(urls[0]), hop(urls[1], urls[0], hours=25)), WISH).why == "redirect-far"


def test_the_end_must_be_near_in_time_and_place_and_before_the_death() -> None:
    hops, end = (hop("/new/wheel"),), parse("http://www.mill.demo/new/wheel")
    assert lands(hops, WISH, url=end, taken=TAKEN + timedelta(hours=23)) is None
    assert lands(hops, WISH, url=end, taken=TAKEN - timedelta(hours=25)) == "redirect-far"
    assert lands(hops, WISH, url=end, taken=None) == "no-moment"
    assert lands(hops, WISH, url=parse("http://grain.demo/x"), taken=TAKEN) == "other-domain"
    for late, why in [(datetime(2015, 1, 2, 23, tzinfo=UTC), None), (datetime(2015, 1, 3, tzinfo=UTC), "after-death")]:
        assert lands((StoredHop(PAGE, late, "/x"),), WISH, url=end, taken=late) == why


@given(st.text())
def test_no_location_raises(location: str) -> None:
    follow((hop(location),), WISH)
