"""What replies of archive services mean, whatever they look like: an error never becomes NONE."""

import json
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from weboid.core.archive.captures import Capture, Listing, ServiceReply
from weboid.core.archive.dialects.replies import EMPTY
from weboid.core.archive.listings import combined, listing_of, second_listing_of
from weboid.core.archive.outcomes import LookupOutcome
from weboid.core.archive.services import SERVICES
from weboid.core.url.urls import parse

URL = parse("http://www.mill.demo/wheel?a=1")
NAMES = '["urlkey","timestamp","original","mimetype","statuscode","digest","length"]'
ROWS = f'[{NAMES},\n["demo,mill)/","20110203040506","{URL}","text/html","200","MGIGF4GRGGF5GKV6","1811"]]'
HTML = "<!DOCTYPE html>\n<html><head><title>503 Service Unavailable</title></head><body>…</body></html>"
CHALLENGE = "<!DOCTYPE html><html><head><title>Just a moment...</title></head><body></body></html>"
JAVA = "org.archive.util.io.RuntimeIOException: org.archive.wayback.exception."
BLOCKED = "AdministrativeAccessControlException: Blocked Site Error"
ROBOTS = f"{JAVA}RobotAccessControlException: Blocked By Robots\n"
EXCLUDED_PAGE = "<html><p>This URL has been excluded from the Wayback Machine.</p></html>"
MEMENTO = f'<https://wayback.archive-it.org/all/20110203040506/{URL}>; rel="memento"'
ADDRESS = f"http://web.archive.org/web/20110203040506/{URL}"

STRANGERS = f'<https://archive.today/20110203040506/{URL}>; rel="memento", <{ADDRESS}>; rel="memento"'

JSON = {"content-type": "application/json"}
TEXT = {"content-type": "text/plain;charset=UTF-8"}
NDJSON = {"content-type": "text/x-ndjson"}
LINKS = {"content-type": "application/link-format"}
PAGE = {"content-type": "text/html; charset=utf-8"}

Case = tuple[str, int | None, dict[str, str], str, str, str]

INDEX: list[Case] = [
    ("wayback", 200, JSON, ROWS, "found", ""),
    ("wayback", 200, JSON, "[]", "none", ""),
    ("wayback", 200, JSON, "\ufeff\r\n [ ]\n", "none", ""),
    ("wayback", 200, JSON, f"[{NAMES}]", "none", ""),
    ("wayback", 200, TEXT, "", "none", ""),
    ("wayback", 200, {**TEXT, "content-encoding": "gzip", "content-length": "20"}, "", "none", ""),
    ("wayback", 200, {}, "", "unknown", "no-body"),
    ("wayback", 200, JSON, "", "unknown", "no-body"),
    ("wayback", 200, {**TEXT, "content-length": "812"}, "", "error", "cut-short"),
    ("wayback", 200, PAGE, "", "error", "html"),
    ("wayback", 200, PAGE, HTML, "error", "html"),
    ("wayback", 200, PAGE, CHALLENGE, "error", "html"),
    ("wayback", 200, JSON, f'[{NAMES},[],["key"]]', "unknown", "more-pages"),
    ("wayback", 200, JSON, f'[{NAMES},["a","20110203040506","mailto:a@b","-","-","-","-"]]', "unknown", "bad-rows"),
    ("wayback", 200, JSON, ROWS[:-1], "error", "cut-short"),
    ("wayback", 200, JSON, "[", "error", "cut-short"),
    ("wayback", 200, JSON, "null", "error", "unreadable"),
    ("wayback", 200, JSON, "{}", "error", "error-object"),
    ("wayback", 200, JSON, '{"message": "Internal error"}', "error", "error-object"),
    ("wayback", 200, JSON, '{\n "detail": "slow down"\n}', "error", "error-object"),
    ("wayback", 200, TEXT, "Too many requests", "error", "unreadable"),
    ("wayback", 200, TEXT, ROBOTS, "excluded", "robots"),
    ("wayback", 200, TEXT, f"{JAVA}ResourceIndexNotAvailableException: x", "error", "unreadable"),
    ("wayback", 200, TEXT, "\x1f\x8b\x08\x00\x00\x00\x00\x00", "error", "unreadable"),
    ("wayback", 403, TEXT, f"{JAVA}{BLOCKED}", "excluded", "blocked-site"),
    ("wayback", 403, TEXT, ROBOTS, "excluded", "robots"),
    ("wayback", 403, {"x-archive-wayback-runtime-error": BLOCKED}, "", "excluded", "blocked-site"),
    ("wayback", 403, PAGE, EXCLUDED_PAGE, "excluded", "blocked-site"),
    ("wayback", 403, {**PAGE, "server": "cloudflare", "cf-mitigated": "challenge"}, CHALLENGE, "error", "forbidden"),
    ("wayback", 403, TEXT, "", "error", "forbidden"),
    ("wayback", 401, TEXT, "", "error", "forbidden"),
    ("wayback", 400, JSON, '{"message": "url?"}', "error", "bad-request"),
    ("wayback", 404, PAGE, HTML, "error", "not-found"),
    ("wayback", 429, PAGE, "[]", "error", "rate-limited"),
    ("wayback", 500, JSON, "[]", "error", "server-error"),
    ("wayback", 503, JSON, "[]", "error", "server-error"),
    ("wayback", 504, PAGE, HTML, "error", "server-error"),
    ("wayback", 302, {"location": "https://archive.org/sorry"}, "", "error", "redirected"),
    ("wayback", 204, {}, "", "error", "unexpected-code"),
    ("wayback", 451, PAGE, HTML, "excluded", "legal"),
    ("arquivo", 200, NDJSON, "", "none", ""),
    ("arquivo", 200, NDJSON, '{"message": "bad"}', "error", "error-object"),
    ("arquivo", 404, JSON, '{"message": "No Captures found for: mill.demo"}', "none", ""),
    ("arquivo", 404, JSON, '{"message": "Not here"}', "error", "not-found"),
    ("arquivo", 200, NDJSON, '{"timestamp": "20110203040506", "url": "http://mill.demo/", "st', "error", "cut-short"),
    ("archive-it", 200, LINKS, f'<{URL}>; rel="original",\n{MEMENTO}\n', "found", ""),
    ("archive-it", 200, LINKS, f'<{URL}>; rel="original",\n', "error", "cut-short"),
    ("archive-it", 200, LINKS, f'<{URL}>; rel="original"', "unknown", EMPTY),
    ("archive-it", 200, LINKS, "", "unknown", "no-body"),
    ("archive-it", 200, LINKS, f'<http://a.demo/2>; rel="timemap", <{URL}>; rel="original"', "unknown", "more-pages"),
    ("archive-it", 200, LINKS, STRANGERS, "unknown", "elsewhere"),
    ("archive-it", 404, LINKS, "", "none", ""),
    ("archive-it", 404, PAGE, "<html>Resource Not In Archive</html>", "none", ""),
    ("archive-it", 404, PAGE, "<html>Collection not found: <b>all</b></html>", "unknown", "no-collection"),
    ("archive-it", 404, PAGE, HTML, "unknown", "not-found"),
    ("archive-it", 404, {**PAGE, "x-memento-count": "0"}, "", "unknown", "not-found"),
    ("archive-it", 404, {**TEXT, "x-memento-count": "0"}, "404 page not found\n", "unknown", "not-found"),
    ("archive-it", 200, PAGE, HTML, "error", "html"),
    ("archive-it", 200, JSON, json.dumps({"mementos": {"list": [{"uri": MEMENTO[1:-18]}]}}), "found", ""),
    ("perma", 404, {**TEXT, "x-memento-count": "0"}, "404 page not found\n", "none", ""),
    ("wikiwix", 200, {}, "can't connect db", "error", "unreadable"),
    ("wikiwix", 200, {}, "cant connect db", "error", "unreadable"),
    ("wikiwix", 200, {}, "null", "error", "unreadable"),
    ("wikiwix", 200, {}, "", "error", "no-body"),
    ("wikiwix", 200, JSON, '{"status": 404}', "none", ""),
    ("wikiwix", 200, JSON, '{"status": 200, "longformurl": null}', "unknown", "no-statement"),
    ("wikiwix", 200, JSON, '{"status": 404', "error", "cut-short"),
    ("wikiwix", 200, JSON, '{"message": "no"}', "error", "error-object"),
    ("wikiwix", 200, PAGE, HTML, "error", "html"),
]


def closest(**changes: object) -> str:
    fields = {"status": "200", "available": True, "timestamp": "20110203040506", **changes}
    return json.dumps({"archived_snapshots": {"closest": fields}})


SECOND: list[Case] = [
    ("wayback", 200, JSON, closest(url=ADDRESS), "found", ""),
    ("wayback", 200, JSON, closest(), "found", ""),
    ("wayback", 200, JSON, '{"url": "mill.demo", "archived_snapshots": {}}', "unknown", EMPTY),
    ("wayback", 200, JSON, '{"archived_snapshots": []}', "unknown", EMPTY),
    ("wayback", 200, JSON, "{}", "unknown", "no-statement"),
    ("wayback", 200, JSON, '{"archived_snapshots": null}', "unknown", "no-statement"),
    ("wayback", 200, JSON, '{"archived_snapshots": ["x"]}', "unknown", "no-statement"),
    ("wayback", 200, JSON, '{"message": "slow down"}', "error", "error-object"),
    ("wayback", 200, JSON, closest(available=False), "unknown", "unavailable"),
    ("wayback", 200, JSON, closest(timestamp="2011"), "unknown", "bad-rows"),
    ("wayback", 200, JSON, '{"archived_snapshots": {', "error", "cut-short"),
    ("wayback", 200, JSON, "[]", "error", "unreadable"),
    ("wayback", 200, JSON, "", "error", "no-body"),
    ("wayback", 200, PAGE, HTML, "error", "html"),
    ("wayback", 429, PAGE, "", "error", "rate-limited"),
    ("wayback", 404, PAGE, HTML, "error", "not-found"),
    ("arquivo", 404, LINKS, "", "none", ""),
    ("arquivo", 404, PAGE, "<html><p>Collection not found: <b>x</b></p></html>", "unknown", "no-collection"),
    ("arquivo", 404, PAGE, HTML, "unknown", "not-found"),
    ("archive-it", 404, PAGE, "<p>The url could not be found in this collection.</p>", "none", ""),
    ("archive-it", 404, {}, "", "unknown", "not-found"),
    ("archive-it", 200, {**PAGE, "link": MEMENTO}, HTML, "unknown", "unproved"),
    ("archive-it", 200, {**PAGE, "link": MEMENTO.replace('"m', '"first m')}, HTML, "found", ""),
    ("archive-it", 302, {"location": f"/all/20110203040506/{URL}"}, "", "found", ""),
    ("archive-it", 302, {"location": f"https://archive.ph/20110203040506/{URL}"}, "", "unknown", "elsewhere"),
    ("archive-it", 302, {"location": "https://archive-it.org/login"}, "", "unknown", "elsewhere"),
    ("archive-it", 302, {}, "", "unknown", "elsewhere"),
    ("archive-it", 503, PAGE, HTML, "error", "server-error"),
    ("wikiwix", 200, JSON, '{"status": 404}', "unknown", "no-second-voice"),
]


def test_the_index_says() -> None:
    for name, code, headers, body, word, why in INDEX:
        listing = listing_of(SERVICES[name], ServiceReply(code, headers, body.encode("utf-8")), URL)
        assert (listing.outcome.word, listing.why) == (word, why), (name, code, headers, body)
        assert bool(listing.captures) == (word == "found"), (name, body)


def test_the_second_voice_says() -> None:
    for name, code, headers, body, word, why in SECOND:
        listing = second_listing_of(SERVICES[name], ServiceReply(code, headers, body.encode("utf-8")), URL)
        assert (listing.outcome.word, listing.why) == (word, why), (name, code, headers, body)
        assert bool(listing.captures) == (word == "found"), (name, body)


def test_a_fault_is_an_error_even_after_a_whole_reply() -> None:
    for read in [listing_of, second_listing_of]:
        for fault in ["timeout", "refused", "network", "dns", "tls", "not-public"]:
            for name in SERVICES:
                for reply in (ServiceReply(None, fault=fault), ServiceReply(200, JSON, b"[]", fault)):
                    listing = read(SERVICES[name], reply, URL)
                    assert (listing.outcome, listing.why) == (LookupOutcome.ERROR, fault), (read, name)


def test_what_was_longer_than_we_keep_is_no_none() -> None:
    for name in SERVICES:
        for body in (b"[]", b"", b'{"archived_snapshots": {}}', b'{"status": 404}', b'<a>; rel="self"'):
            for read in (listing_of, second_listing_of):
                reply = ServiceReply(200, {}, body, is_cut=True)
                assert read(SERVICES[name], reply, URL).outcome in (LookupOutcome.ERROR, LookupOutcome.UNKNOWN)


def test_the_pause_that_a_service_requests_is_reported() -> None:
    for headers, rest_s in [
        ({"retry-after": "120"}, 120.0),
        ({"retry-after": "Wed, 26 Oct 2022 22:57:17 GMT", "date": "Wed, 26 Oct 2022 22:56:17 GMT"}, 60.0),
        ({"retry-after": "999999999"}, 86_400.0), ({"retry-after": "soon"}, None), ({}, None),
    ]:  # fmt: skip
        for code in [429, 503, 403]:
            assert listing_of(SERVICES["wayback"], ServiceReply(code, headers), URL).rest_s == rest_s


_FOUND = Listing(LookupOutcome.FOUND, (Capture(datetime(2011, 2, 3, tzinfo=UTC), "http://mill.demo/"),))
_NONE = Listing(LookupOutcome.NONE)
_WEAK = Listing(LookupOutcome.UNKNOWN, why=EMPTY)
_UNKNOWN = Listing(LookupOutcome.UNKNOWN, why="no-collection")
_EXCLUDED = Listing(LookupOutcome.EXCLUDED)
_ERROR = Listing(LookupOutcome.ERROR, why="rate-limited", rest_s=60.0)


def test_two_voices_make_a_none() -> None:
    for first, second, both in [
        (_NONE, _NONE, _NONE), (_NONE, _WEAK, _NONE), (_WEAK, _NONE, _NONE), (_WEAK, _WEAK, _WEAK),
        (_NONE, None, Listing(LookupOutcome.UNKNOWN, why="one-voice")), (_WEAK, None, _WEAK),
        (_NONE, _UNKNOWN, _UNKNOWN), (_UNKNOWN, _NONE, _UNKNOWN), (_WEAK, _UNKNOWN, _UNKNOWN), (_NONE, _ERROR, _ERROR),
        (_NONE, _EXCLUDED, _EXCLUDED), (_NONE, _FOUND, _FOUND), (_UNKNOWN, _FOUND, _FOUND), (_FOUND, _NONE, _FOUND),
        (_ERROR, _NONE, _ERROR), (_EXCLUDED, _NONE, _EXCLUDED),
    ]:  # fmt: skip
        assert combined(first, second) == both


@given(st.binary(max_size=200), st.sampled_from([None, *range(100, 600)]), st.sampled_from(sorted(SERVICES)))
def test_no_reply_raises_and_only_two_codes_can_say_none(body: bytes, code: int | None, name: str) -> None:
    for headers in ({}, JSON, LINKS, {"location": body.decode("latin-1"), "link": body.decode("latin-1")}):
        reply = ServiceReply(code, headers, body)
        for read in (listing_of, second_listing_of):
            listing = read(SERVICES[name], reply, URL)
            assert bool(listing.captures) == (listing.outcome is LookupOutcome.FOUND)
            assert listing.outcome is not LookupOutcome.NONE or code in (200, 404)
