"""The rules of robots.txt files, including hostile ones (C-15, RFC 9309)."""

import random
import re
import tarfile
from collections.abc import Iterator
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protego import Protego
from support.shared import shared

from weboid.core.observe.robots import (
    EVERYTHING,
    NOTHING,
    PRODUCT,
    RULES,
    UNREACHED,
    named_delay_of,
    robots_of,
    sitemaps_of,
)

RULES_FOR_ALL = b"""User-agent: other
Disallow: /

User-agent: *
Disallow: /private/
Allow: /private/open
Crawl-delay: 2
"""


def test_the_rules_for_all_are_ours_unless_there_are_some_for_us() -> None:
    robots = robots_of(200, RULES_FOR_ALL)
    assert robots.allows("https://a.demo/")
    assert not robots.allows("https://a.demo/private/x")
    assert robots.allows("https://a.demo/private/open/x")
    assert robots.delay_s == 2
    own = robots_of(200, RULES_FOR_ALL + b"\nUser-agent: weboid\nDisallow: /only")
    assert own.allows("https://a.demo/private/x")
    assert not own.allows("https://a.demo/only")
    assert own.delay_s is None


def test_we_answer_to_our_name_however_it_is_written_and_to_none_that_resembles_it() -> None:
    for name in ["Weboid", "WEBOID", "weboid/1.0", "weboid*", "Weboid  # hello"]:
        body = f"User-agent: {name}\nDisallow: /x\n\nUser-agent: *\nDisallow: /y\n"
        assert not robots_of(200, body.encode()).allows("https://a.demo/x"), name
        assert robots_of(200, body.encode()).allows("https://a.demo/y"), name
    for name in ["web", "boid", "weboid2", "weboid-image", "my-weboid", "*bot", "**", "", "#*"]:
        assert robots_of(200, f"User-agent: {name}\nDisallow: /\n".encode()) == EVERYTHING


def test_a_group_may_be_for_several_and_groups_of_one_name_are_one() -> None:
    robots = robots_of(
        200, b"User-agent: one\nUser-agent: two\nUser-agent: *\nDisallow: /x\n\nUser-agent: three\nDisallow: /"
    )
    assert not robots.allows("https://a.demo/x")
    assert robots.allows("https://a.demo/y")
    for names in [("*", "weboid"), ("weboid", "*"), ("weboid", "weboid")]:
        body = "".join(f"User-agent: {name}\n" for name in names) + "Disallow: /x\nCrawl-delay: 4\n"
        robots = robots_of(200, body.encode())
        assert not robots.allows("https://a.demo/x"), names
        assert robots.delay_s == 4, names
    robots = robots_of(
        200, b"User-agent: *\nDisallow: /a\n\nUser-agent: other\nDisallow: /b\n\nUser-agent: *\nDisallow: /c\n"
    )
    assert [robots.allows(f"https://a.demo/{path}") for path in "abc"] == [False, True, False]


def test_rules_may_be_empty_and_lines_that_are_none_end_no_group() -> None:
    body = b"User-agent: *\nSitemap: https://a.demo/s.xml\nUser-agent: other\nAnything: else\nDisallow: /x\n"
    assert not robots_of(200, body).allows("https://a.demo/x")
    assert robots_of(200, b"User-agent: *\nDisallow:\n").allows("https://a.demo/x")
    assert robots_of(200, b"Disallow: /\n").allows("https://a.demo/x")
    assert robots_of(200, b"User-agent: *\nDisallow: /\n\nUser-agent: weboid\n").allows("https://a.demo/x")


def test_a_missing_file_allows_all_and_a_server_that_cannot_say_or_does_not_answer_nothing() -> None:
    for code in [400, 401, 403, 404, 410, 418, 301]:
        assert robots_of(code, b"User-agent: *\nDisallow: /") == EVERYTHING
        assert EVERYTHING.allows("https://a.demo/"), code
    for code in [429, 500, 502, 503]:
        assert robots_of(code, b"") == NOTHING
        assert not NOTHING.allows("https://a.demo/"), code
        assert NOTHING.is_reached, code
    assert robots_of(None, b"") == UNREACHED
    assert not UNREACHED.allows("https://a.demo/")
    assert not UNREACHED.is_reached


def test_a_pace_is_honoured_and_nonsense_is_not() -> None:
    for line, delay_s in [
        ("Crawl-delay: 0.5", 0.5), ("Crawl-delay: .5 # seconds", 0.5), ("Crawl delay 3", 3),
        ("Crawl-delay: 999999999", 86_400), ("Crawl-delay: 0", None), ("Crawl-delay: -1", None),
        ("Crawl-delay: 1e9", None), ("Crawl-delay: nan", None), ("Crawl-delay: inf", None), ("Crawl-delay: ٣", None),
        ("Crawl-delay: soon", None), ("Crawl-delay: " + "9" * 5000, None), ("Request-rate: 1/5", 5),
        ("Request-rate: 10/1m", 6), ("Request-rate: 1/10s 0600-0845", 10), ("Request-rate: 1/999999999d", 86_400),
        ("Request-rate: 0/0", None), ("Request-rate: 1/0", None), ("Request-rate: 10", None),
        ("Request-rate: 1/" + "9" * 4000, None), ("Crawl-delay: 10\nCrawl-delay: 1", 10),
        ("Crawl-delay: 2\nRequest-rate: 1/5", 5),
    ]:  # fmt: skip
        assert robots_of(200, f"User-agent: *\n{line}\n".encode()).delay_s == delay_s


def test_a_file_in_the_editors_of_other_systems_is_read() -> None:
    for codec in ["utf-8-sig", "utf-16"]:
        for ends in ["\r\n", "\r", "\n"]:
            body = ends.join(["User-agent: *", "Disallow: /ä", "Allow: /ä/b"]).encode(codec)
            assert not robots_of(200, body).allows("https://a.demo/%C3%A4"), (codec, ends)
            assert robots_of(200, body).allows("https://a.demo/%C3%A4/b"), (codec, ends)


def test_no_rule_can_be_hidden_in_another() -> None:
    body = "User-agent: *\nDisallow: /a\u2028Allow: /\x0bAllow: /b\x85Allow: /\n"
    assert not robots_of(200, f"{body}Disallow: /b\n".encode()).allows("https://a.demo/b")


def test_half_a_line_at_the_end_counts_for_nothing_and_of_too_many_rules_the_first_count() -> None:
    half = b"User-agent: *\nDisallow: /private/\nDisallow: /"
    assert not robots_of(200, half).allows("https://a.demo/x")
    assert robots_of(200, half, is_cut=True).allows("https://a.demo/x")
    assert not robots_of(200, half, is_cut=True).allows("https://a.demo/private/x")
    assert robots_of(200, half + b"#" * 512_000).allows("https://a.demo/x")
    body = b"User-agent: *\n" + b"".join(b"Disallow: /%d/\n" % number for number in range(RULES + 1))
    robots = robots_of(200, body)
    assert not robots.allows(f"https://a.demo/{RULES - 1}/")
    assert robots.allows(f"https://a.demo/{RULES}/")


def filled(unit: str, head: str = "User-agent: *\n") -> bytes:
    """A file of the greatest size; `{}` in its lines is their number."""
    lines = (unit.format(number) for number in range(512_000 // len(unit) + 1))
    return (head + "".join(lines)).encode()[:512_000]


def hostile_files() -> dict[str, bytes]:
    return {
        "one pattern of stars": filled("*a", "User-agent: *\nDisallow: /"),
        "one pattern of stars with an end": filled("*a", "User-agent: *\nDisallow: /")[:131_000] + b"$",
        "patterns of stars": filled("Disallow: /*a*b*c*d*e$\n"),
        "different patterns of stars": filled("Disallow: /*a*b*{}*d*e$\n"),
        "needles in the haystack": filled("Disallow: /*" + "a" * 250 + "b" + "a" * 250 + "{}\n"),
        "dollars": filled("Allow:/{}$$$$\n"),
        "index pages": filled("Allow:/{}/index.html\n"),
        "short rules": filled("Disallow:/{}\n"),
        "escapes": filled("%41", "User-agent: *\nDisallow: /"),
        "delays": filled("Crawl-delay:1\n"),
        "a long delay": filled("9", "User-agent: *\nCrawl-delay: "),
        "rates": filled("Request-rate:1/1\n"),
        "many robots, many rules": filled("User-agent: {}\n")[:256_000] + filled("\nDisallow: /{}")[:256_000],
        "many of our name": filled("User-agent: weboid{}\n")[:256_000] + filled("\nDisallow: /{}")[:256_000],
        "groups": filled("User-agent: {}\nDisallow:/\n"),
        "groups for all": filled("User-agent: *\nDisallow:/\n"),
        "empty lines": b"\n" * 512_000,
        "lines of blanks": b" \t\n" * 170_000,
        "NULs": b"\0" * 512_000,
        "colons": b":" * 512_000,
        "beginnings of a rule": filled("User-agent "),
        "blanks within a rule": filled(" ", "User-agent: *\nDisallow"),
        "letters": b"u\n" * 256_000,
        "bytes": bytes(range(256)) * 2_000,
        "a torn UTF-16": b"\xff\xfe" + b"U\0" * 255_000 + b"\0",
        "byte order marks": b"\xef\xbb\xbf" * 170_000,
    }


def test_no_file_costs_more_than_its_length() -> None:
    """Under 50 ms where it was written; the bound is wide for slow machines, what explodes takes minutes."""
    for name, body in hostile_files().items():
        begun = process_time()
        robots = robots_of(200, body)
        robots.allows("https://a.demo/" + "a" * 1_900)
        assert process_time() - begun < 1.5, name
        assert robots.chars < 200_000, name


@given(st.binary() | st.text().map(lambda text: f"User-agent: *\n{text}".encode()))
def test_no_file_is_beyond_us(body: bytes) -> None:
    robots = robots_of(200, body)
    robots.allows("https://a.demo/a?b=c")
    assert robots.delay_s is None or robots.delay_s > 0


def real_files() -> Iterator[tuple[str, bytes]]:
    """The real files of a few thousand hosts, but for the largest, which take Protego long."""
    with tarfile.open(shared("robots/protego_test_data.tar.xz")) as archive:
        for member in archive:
            is_named = "/test_data/" in member.name and member.size < 50_000
            if is_named and member.isfile() and (file := archive.extractfile(member)):
                yield member.name, file.read()


@pytest.mark.long
def test_real_files_say_what_they_say_to_protego_as_a_whole() -> None:
    """Whatever is left out of a file before Protego sees it makes no difference to us."""
    chosen = random.Random(15)
    asked = 0
    for name, body in real_files():
        robots, whole = robots_of(200, body), Protego.parse(body.decode("utf-8-sig", "replace"))
        paths = re.findall(r"(?im)^\s*(?:dis)?allow\s*:\s*(/[^#\s]*)", body.decode("utf-8", "replace"))
        for path in ["/", "/a?b=c", *chosen.sample(paths, min(10, len(paths)))]:
            url = f"https://a.demo{path.replace('*', 'x/y').rstrip('$')}"
            assert robots.allows(url) == whole.can_fetch(url, PRODUCT), (name, url)
            asked += 1
        rate = whole.request_rate(PRODUCT)
        delay_s = max(whole.crawl_delay(PRODUCT) or 0, rate.seconds / rate.requests if rate else 0)
        assert (robots.delay_s or 0) == delay_s, name
    assert asked > 20_000


def test_a_file_names_its_sitemaps_wherever_they_stand() -> None:
    named = b"Sitemap: https://a.demo/1.xml\nDisallow: /\n sitemap : /2.xml \nSitemap:\n# Sitemap: /3.xml"
    assert sitemaps_of(b"User-agent: other\n" + named) == ("https://a.demo/1.xml", "/2.xml")


def test_a_delay_for_us_by_name_is_not_one_for_all() -> None:
    assert named_delay_of(RULES_FOR_ALL) is None
    assert named_delay_of(RULES_FOR_ALL + b"\nUser-agent: weboid\nCrawl-delay: 0.2\n") == 0.2
