"""What robots.txt files want of us (C-15, RFC 9309), the hostile ones included."""

from time import process_time

import pytest

from weboid.core.robots import EVERYTHING, NOTHING, robots_of

RULES = b"""User-agent: other
Disallow: /

User-agent: *
Disallow: /private/
Allow: /private/open
Crawl-delay: 2
"""


def test_the_rules_for_all_are_ours_unless_there_are_some_for_us() -> None:
    robots = robots_of(200, RULES)
    assert robots.allows("https://a.demo/")
    assert not robots.allows("https://a.demo/private/x")
    assert robots.allows("https://a.demo/private/open/x")
    assert robots.delay_s == 2
    own = robots_of(200, RULES + b"\nUser-agent: weboid\nDisallow: /only")
    assert own.allows("https://a.demo/private/x")
    assert not own.allows("https://a.demo/only")
    assert own.delay_s is None


def test_rules_for_another_robot_of_several_names_are_not_ours() -> None:
    robots = robots_of(
        200, b"User-agent: one\nUser-agent: two\nUser-agent: *\nDisallow: /x\n\nUser-agent: three\nDisallow: /"
    )
    assert not robots.allows("https://a.demo/x")
    assert robots.allows("https://a.demo/y")


@pytest.mark.parametrize("code", [400, 401, 403, 404, 410, 418, 301])
def test_a_file_that_is_not_there_allows_all(code: int) -> None:
    assert robots_of(code, b"User-agent: *\nDisallow: /") == EVERYTHING
    assert EVERYTHING.allows("https://a.demo/")


@pytest.mark.parametrize("code", [None, 429, 500, 502, 503])
def test_a_server_that_cannot_say_allows_nothing_for_now(code: int | None) -> None:
    assert robots_of(code, b"") == NOTHING
    assert not NOTHING.allows("https://a.demo/")


@pytest.mark.parametrize(
    ("line", "delay_s"),
    [
        ("Crawl-delay: 0.5", 0.5),
        ("Crawl-delay: 1e9", 86_400),
        ("Crawl-delay: -1", None),
        ("Crawl-delay: nan", None),
        ("Crawl-delay: soon", None),
        ("Request-rate: 1/5", 5),
        ("Request-rate: 10/1m", 6),
        ("Request-rate: 0/0", None),
    ],
)
def test_a_pace_is_honoured_and_nonsense_is_not(line: str, delay_s: float | None) -> None:
    assert robots_of(200, f"User-agent: *\n{line}\n".encode()).delay_s == delay_s


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16"])
def test_a_file_in_the_editors_of_windows_is_read(codec: str) -> None:
    assert not robots_of(200, "User-agent: *\r\nDisallow: /ä\r\n".encode(codec)).allows("https://a.demo/%C3%A4")


@pytest.mark.parametrize(
    "body",
    [
        b"User-agent: *\n" + b"Disallow: /" + b"*a" * 30_000 + b"$\n",
        b"User-agent: *\n" + b"Disallow: /*a*b*c*d*e$\n" * 2_700,
        b"".join(b"User-agent: %d\n" % number for number in range(2_000)) + b"Disallow: /x\n" * 2_000,
        b"User-agent: *\n" * 2_000 + b"".join(b"Disallow: /%d\n" % number for number in range(2_000)),
        b"User-agent: weboid%d\n" * 1_500 + b"Disallow: /x\n" * 2_500,
        b"\n" * 65_000,
        b"\0" * 65_000,
        b":" * 65_000,
        b"User-agent " * 6_000,
        b"User-agent: *\nCrawl-delay: " + b"9" * 60_000,
        b"User-agent: *\nRequest-rate: " + b"9" * 3_000 + b"/" + b"9" * 3_000,
        bytes(range(256)) * 250,
    ],
)
def test_no_file_costs_more_than_its_length(body: bytes) -> None:
    """The bound is wide for slow machines: what explodes takes minutes."""
    begun = process_time()
    robots = robots_of(200, body[:65_536])
    robots.allows("https://a.demo/" + "a" * 1_900)
    assert process_time() - begun < 2.0
