"""Copies that only redirect (A-1): where they may lead, and where not."""

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from weboid.core.archive.redirect_copies import MOST_HOPS, NextStep, StoredHop, follow, lands
from weboid.core.archive.rows.fitness import Wish
from weboid.core.url.urls import parse

PAGE = parse("http://www.mill.demo/old/wheel.html")
TAKEN = datetime(2010, 5, 1, 12, tzinfo=UTC)
WISH = Wish(PAGE, TAKEN, date(2026, 11, 22), date(2015, 1, 1))


def hop(location: str, url: str = str(PAGE), *, hours: float = 0) -> StoredHop:
    return StoredHop(parse(url), TAKEN + timedelta(hours=hours), location)


def test_a_redirect_leads_to_the_archived_target_however_it_is_written_or_relative() -> None:
    for location in [
        "http://mill.demo/new/wheel",
        "//mill.demo/new/wheel",
        "https://web.archive.org/web/20100501120000id_/http://mill.demo/new/wheel",
        "/web/20100501120000/http://mill.demo/new/wheel",
        "http://127.0.0.1:8097/web/20100501120000id_/http:/mill.demo/new/wheel",
        "https://web.archive.org/web/2010/http://mill.demo/new/wheel#part",
    ]:
        assert follow((hop(location),), WISH) == NextStep(parse("http://mill.demo/new/wheel"))
    assert follow((hop("../new/wheel"),), WISH).url == parse("http://www.mill.demo/new/wheel")
    assert follow((hop("/new/wheel"),), WISH).url == parse("http://www.mill.demo/new/wheel")


def test_a_redirect_that_leads_away_ends_with_a_reason() -> None:
    for location, why in [
        ("http://www.mill.demo/", "redirect-to-root"),
        ("http://www.mill.demo/index.html", "redirect-to-root"),
        ("https://mill.demo/de/", "redirect-to-root"),
        ("http://mill.demo/login?next=/old/wheel.html", "redirect-to-login"),
        ("http://consent.mill.demo/a", "consent"),
        ("http://www.mill.demo/404.html", "soft-404"),
        ("http://grain.demo/old/wheel.html", "other-domain"),
        ("https://web.archive.org/web/20100501id_/http://grain.demo/a", "other-domain"),
        (str(PAGE), "redirect-loop"),
        ("", "redirect-broken"),
        ("mailto:mill@mill.demo", "redirect-broken"),
        ("ftp://www.mill.demo/x", "redirect-broken"),
        ("http://[/", "redirect-broken"),
        ("/" + 20_000 * "a", "redirect-broken"),
    ]:
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
    late = datetime(2016, 1, 1, tzinfo=UTC)
    assert lands((StoredHop(PAGE, late, "/x"),), WISH, url=end, taken=late) == "after-death"


@given(st.text())
def test_no_location_raises(location: str) -> None:
    follow((hop(location),), WISH)
