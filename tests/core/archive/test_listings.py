"""What replies of archive services mean, whatever they look like: an error never becomes NONE."""

from datetime import UTC, datetime
from string import Template

from hypothesis import given
from hypothesis import strategies as st

from weboid.assets import toml_next_to
from weboid.core.archive.captures import Capture, Listing, ServiceReply
from weboid.core.archive.dialects.replies import EMPTY
from weboid.core.archive.listings import combined, listing_of, second_listing_of
from weboid.core.archive.outcomes import LookupOutcome
from weboid.core.archive.services import SERVICES
from weboid.core.url.urls import parse

CASES = toml_next_to(__file__)
URL = parse("http://www.mill.demo/wheel?a=1")
JSON = {"content-type": "application/json"}
LINKS = {"content-type": "application/link-format"}


def test_the_index_and_the_second_voice_say() -> None:
    for read, table in ((listing_of, "index"), (second_listing_of, "second")):
        for name, code, kind, body, word, why, *more in CASES[table]:
            headers = {"content-type": CASES["types"][kind]} if kind else {}
            headers |= {header: _filled(value) for extra in more for header, value in extra.items()}
            listing = read(SERVICES[name], ServiceReply(code, headers, _filled(body).encode()), URL)
            assert (listing.outcome.word, listing.why) == (word, why), (table, name, code, headers, body)
            assert bool(listing.captures) == (word == "found"), (table, name, body)


def _filled(text: str) -> str:
    return Template(text).safe_substitute(CASES["names"])


def test_a_fault_or_a_reply_longer_than_we_keep_is_no_none() -> None:
    for read in [listing_of, second_listing_of]:
        for fault in ["timeout", "refused", "network", "dns", "tls", "not-public"]:
            for name in SERVICES:
                for reply in (ServiceReply(None, fault=fault), ServiceReply(200, JSON, b"[]", fault)):
                    listing = read(SERVICES[name], reply, URL)
                    assert (listing.outcome, listing.why) == (LookupOutcome.ERROR, fault), (read, name)
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
