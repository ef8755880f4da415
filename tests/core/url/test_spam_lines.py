"""Spam lists: which lines are run, and what they match (L-3)."""

import gzip
import json
import random
import re
import tracemalloc
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.shared import shared

from weboid.core.url.spam_lines import BLOCKED, MAX_LINE, MAX_LINES, MAX_LIST, MAX_REPORTED, SpamFilter, parse_lines


def spam(*black: str, white: tuple[str, ...] = ()) -> SpamFilter:
    return SpamFilter(parse_lines("\n".join(black)).usable, parse_lines("\n".join(white)).usable)


def reason(line: str) -> str:
    lines = parse_lines(line)
    assert not lines.usable
    [(_, reported)] = lines.unusable
    return reported


def test_comments_spaces_and_empty_lines_are_no_lines() -> None:
    text = "# <pre>\n\n  \\bbad\\.com\\b  # why\r\n\tworse\\.net\t\n#gone\\.org\n0\n\\bbad\\.com\\b#again\n"
    lines = parse_lines(text)
    assert lines.usable == (r"\bbad\.com\b", r"worse\.net")
    assert not lines.unusable


def test_a_line_matches_behind_slashes_and_letters_of_a_host_and_nothing_else() -> None:
    for url in [
        "http://bad.com/", "https://www.BAD.com", "//bad.com/x", "ftp://bad.com/", "http:///bad.com/",
        "http://a-b_c.d.bad.com:8080/x?y#z", "https://web.archive.org/web/2010/http://bad.com/", "http://bad．com/",
    ]:  # fmt: skip
        assert spam(r"\bbad\.com\b").is_spam(url)
    assert spam(r"\.xyz\b").is_spam("http://anything.xyz/")
    for url in [
        "http://badxcom/", "http://bad.community/", "http://notbad.com/", "http://fine.net/bad.com",
        "http://x@bad.com/",
    ]:  # fmt: skip
        assert not spam(r"\bbad\.com\b").is_spam(url)


def test_any_form_of_a_url_makes_it_spam_and_what_is_no_punycode_stays_as_it_is() -> None:
    lines = spam(r"bad\.com/a%20b", r"пример\.рф")
    assert lines.is_spam("http://bad.com/a%20b", "http://bad.com/a+b")
    assert lines.is_spam("http://bad.com/a b", "http://bad.com/a%20b")
    assert not lines.is_spam("http://bad.com/a b")
    assert lines.is_spam("http://пример.рф/")
    assert lines.is_spam("http://www.xn--e1afmkfd.xn--p1ai/", "http://fine.net/")
    for host in ["xn--", "xn--\udc80", "xn--99999999999", "xn--" + "a" * 8_000, "xn--ls8h.xn--"]:
        assert spam(r"bad$").is_spam(f"http://{host}//bad")
        assert not spam(r"bad$").is_spam(f"http://{host}/good")


def test_a_blocked_domain_is_spam_with_all_below_it_and_nothing_next_to_it() -> None:
    lines = [BLOCKED + host for host in ("evil.com", "müller.de", "x.co")]
    spam = SpamFilter(parse_lines("\n".join(lines)).usable, ["evil"], base=SpamFilter([f"{BLOCKED}base.org"]))
    inside = ("http://evil.com/", "ftp://a.evil.com:81/x", "http://xn--mller-kva.de/", "https://www.base.org/")
    outside = ("http://my-evil.com/", "http://evil.com.net/", "http://x.co.uk/", "http://a.de/http://evil.com/")
    assert [spam.is_spam(url) for url in inside + outside] == [True] * 4 + [False] * 4
    assert [SpamFilter(["@com"]).is_spam(url) for url in ("http://a.com/", "http://x@com.net/")] == [False, True]
    begun = process_time()
    assert not any(spam.is_spam(f"http://h{number}.org?" + "." * 7_900) for number in range(10))
    assert process_time() - begun < 1


def test_a_white_line_takes_away_what_it_matches_and_nothing_more() -> None:
    lines = spam(r"bad\.com", white=(r"good\.bad\.com",))
    assert lines.is_spam("http://bad.com/")
    assert not lines.is_spam("http://good.bad.com/")
    assert lines.is_spam("http://good.bad.com/?to=http://bad.com/")


def test_lines_do_not_touch_each_other_and_their_slashes_may_be_escaped() -> None:
    for line in (r"bad\.com/x", r"bad\.com\/x", r"bad\.com\\/x"):
        assert spam(line).is_spam("http://bad.com/x")
    lines = spam(r"a1\.com|b1\.com", r"(?i)c1\.com", r"(d1|d2)\.com$", r"e1\.com")
    for host in ("a1.com", "b1.com", "c1.com", "d2.com", "e1.com", "E1.com"):
        assert lines.is_spam(f"http://{host}"), host
    assert not lines.is_spam("http://d1.com/")


def test_a_line_that_cannot_be_run_is_reported_with_its_reason() -> None:
    for line, expected in [
        (r"(?=x)bad\.com", "invalid perl operator"), (r"(?<!x)bad\.com", "invalid perl operator"),
        (r"(x)\1\.com", "invalid escape sequence"), ("(a{1000}){1000}", "invalid repetition size"),
        ("(((a{9}){9}){9}b{1000}[^c]{900}d{1000})", "pattern too large"), ("a)|(b", "unexpected )"),
        ("bad(", "missing )"), ("(" * 2_000, "missing )"), ("bad\\", "ends with a backslash"),
        ("a" * (MAX_LINE + 1), "longer than 4096 bytes"), ("ä" * (MAX_LINE // 2 + 1), "longer than 4096 bytes"),
        ("bad\0x", "zero byte"), ("\ud800", "not valid Unicode"), ("(bad|\udcff)", "not valid Unicode"),
        ("a||b", "matches nearly every URL"), (".*", "matches nearly every URL"), (".", "matches nearly every URL"),
        ("[a-z]", "matches nearly every URL"), ("()", "matches nearly every URL"), ("/", "matches nearly every URL"),
        (r"\.", "matches nearly every URL"),
    ]:  # fmt: skip
        assert expected in reason(line)


def test_unusable_lines_do_not_spoil_the_others_and_each_is_reported_in_one_visible_line() -> None:
    lines = parse_lines("bad\\.com\n.*\n(?=x)\na)|(b\n(\nworse\\.net\n")
    assert lines.usable == (r"bad\.com", r"worse\.net")
    assert [line for line, _ in lines.unusable] == ["(?=x)", "a)|(b", "(", ".*"]
    assert SpamFilter(lines.usable).is_spam("http://worse.net/")
    [(line, reported)] = parse_lines("(" + "\u202e\u2028\x85\x1b" * 100).unusable
    assert line.isprintable()
    assert reported.isprintable()
    assert len(line) <= 201
    assert len(reported) <= 201


def test_only_so_many_lines_and_letters_are_read_and_so_many_reported_one_by_one() -> None:
    lines = parse_lines("\n".join(f"n{number}\\.com" for number in range(MAX_LINES + 5)))
    assert len(lines.usable) == MAX_LINES
    assert lines.unusable == (("5 more", "the list has more than 100000 lines"),)
    lines = parse_lines("a\\.com\n" + " " * MAX_LIST)
    assert lines.usable == (r"a\.com",)
    assert lines.unusable == (("7 letters more", "the list is longer than 2 MiB"),)
    lines = parse_lines("\n".join(f"({number}" for number in range(MAX_REPORTED + 7)))
    assert len(lines.unusable) == MAX_REPORTED + 1
    assert lines.unusable[-1] == ("7 more", "not listed one by one")


def test_lines_that_repeat_too_much_together_are_reported() -> None:
    lines = parse_lines("\n".join(f"[a-z]*a[a-z-]{{300}}z{number}" for number in range(1_100)))
    assert 300 < len(lines.usable) < 1_000
    reasons = {reported for _, reported in lines.unusable[:-1]}
    assert reasons == {"the lines before it hold too many repetitions and classes"}
    assert not SpamFilter(lines.usable).is_spam("http://" + "ab-" * 30)


@pytest.mark.parametrize("count", [2_000, pytest.param(20_000, marks=pytest.mark.long)])
def test_thousands_of_lines_are_one_pass(count: int) -> None:
    lines = parse_lines("\n".join(f"\\bname{number}x\\.(com|net)\\b" for number in range(count)))
    assert len(lines.usable) == count
    many = SpamFilter(lines.usable)
    assert len(many._black) == 1
    assert many.is_spam("http://www.name1999x.net/")
    assert not many.is_spam("http://www.name1999x.org/")


def test_lines_that_fail_in_another_version_are_refused_alone_and_without_black_lines_nothing_is_spam() -> None:
    odd = SpamFilter(["bad\\.com", "(?=x)", "\ud800", "worse\\.net"])
    assert sorted(odd.refused) == ["(?=x)", "\ud800"]
    assert all(map(odd.is_spam, ("http://worse.net/", "http://bad.com/")))
    assert not SpamFilter((), ("a",))


@pytest.mark.long
def test_python_keeps_no_more_of_a_hostile_list_than_of_its_text() -> None:
    text = "\n".join(f"((((({number}" * 3 for number in range(90_000))[: MAX_LIST * 2]
    tracemalloc.start()
    parse_lines(text)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64 << 20


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from("ab.\\|()[]{}*+?^$-/#0123 \n\0ä\ud800xdwbQEP:=<!"), max_size=60), st.text(max_size=40))
def test_no_list_and_no_url_raises(text: str, url: str) -> None:
    lines = parse_lines(text)
    assert all(line and "\n" not in line and "\0" not in line for line in lines.usable)
    checked = SpamFilter(lines.usable, lines.usable)
    assert not checked.refused
    checked.is_spam(url, f"http://{url}")
    assert parse_lines("\n".join(lines.usable)).usable == lines.usable


def _real_lines() -> tuple[str, ...]:
    lines = parse_lines(shared("blacklists/videolan_SpamBlacklist.mediawiki").read_text(encoding="utf-8"))
    assert len(lines.usable) > 1_200
    assert lines.unusable == ()
    return lines.usable


def _real_urls() -> list[str]:
    answers = json.loads(gzip.decompress(shared("api/allpages-links.json.gz").read_bytes()))
    pages = [page for answer in answers for page in answer["response"]["query"]["pages"]]
    return sorted({link["url"] for page in pages for link in page.get("extlinks", ())})


@pytest.mark.long
def test_every_line_of_a_real_list_is_run_as_python_would_run_it() -> None:
    lines, urls = _real_lines(), _real_urls()
    made = random.Random(1).sample(sorted(set("|".join(lines).replace("\\", "").split("|"))), 500)
    urls += [f"http://www.{host}/" for host in made] + [f"https://{host}.fine.net/x" for host in made]
    ours = SpamFilter(lines)
    start = r"(?:https?:)?//+[a-z0-9_\-.]*"
    theirs = [re.compile(f"{start}(?:{line})".encode(), re.IGNORECASE) for line in lines]
    whole = re.compile(f"{start}(?:{'|'.join(f'(?:{line})' for line in lines)})".encode(), re.IGNORECASE)
    assert len(theirs) == len(lines)
    found = {url for url in urls if ours.is_spam(url)}
    assert found == {url for url in urls if whole.search(url.encode())}
    assert len(found) > 300
    assert len(urls) > 3_000


def test_a_real_white_list_lets_its_urls_through() -> None:
    white = parse_lines(shared("blacklists/videolan_MediaWiki-Spam-whitelist.mediawiki").read_text(encoding="utf-8"))
    assert white.usable == (r"videolan\.org", r"example\.com")
    both = SpamFilter([*_real_lines(), "videolan"], white.usable)
    assert [both.is_spam(f"http://www.videolan.{end}/") for end in ("org", "net")] == [False, True]
