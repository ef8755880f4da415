"""The cookies of one check (C-2)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weboid.net.fetch import COOKIES, COOKIES_CHARS, CookieJar


def test_a_cookie_goes_back_to_its_host_or_domain_and_nobody_sets_one_for_others() -> None:
    jar = CookieJar()
    jar.take("www.site.test", "a=1; Path=/; HttpOnly; Secure")
    assert jar.header("www.site.test") == "a=1"
    assert jar.header("site.test") == jar.header("x.www.site.test") == ""
    jar = CookieJar()
    jar.take("www.site.test", "a=1; Domain=.Site.test")
    assert jar.header("site.test") == jar.header("shop.site.test") == "a=1"
    assert jar.header("othersite.test") == ""
    jar = CookieJar()
    jar.take("evil.test", "a=1; Domain=site.test")
    jar.take("site.test", "a=1; Domain=test")
    assert jar.header("site.test") == "a=1"  # the second is kept, for its own host only
    assert jar.header("other.test") == ""
    jar = CookieJar()
    for value in range(3):
        jar.take("site.test", f"a={value}")
    assert jar.header("site.test") == "a=2"


@pytest.mark.parametrize("end", ["Max-Age=0", "max-age=-1; Path=/", "Expires=Thu, 01 Jan 1970 00:00:00 GMT"])
def test_a_cookie_can_be_taken_back(end: str) -> None:
    jar = CookieJar()
    jar.take("site.test", "a=1; Max-Age=3600; Expires=Fri, 01 Jan 2100 00:00:00 GMT")
    assert jar.header("site.test") == "a=1"
    jar.take("site.test", f"a=; {end}")
    assert jar.header("site.test") == ""


@given(st.lists(st.text(max_size=50) | st.from_regex(r"[a-z]{1,9}=[a-z]{0,5000}", fullmatch=True), max_size=60))
def test_no_server_can_fill_the_jar_or_break_the_header(lines: list[str]) -> None:
    jar = CookieJar()
    for line in lines:
        jar.take("site.test", line)
    header = jar.header("site.test")
    assert len(header) <= COOKIES_CHARS
    assert header.count("; ") < COOKIES
    assert not any(char < " " or char == "\x7f" for char in header)
