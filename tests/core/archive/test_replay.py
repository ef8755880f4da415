"""Whether a copy still plays: by Memento-Datetime at its raw address, never by the status."""

from string import Template
from time import process_time

from hypothesis import given
from hypothesis import strategies as st

from weboid.assets import toml_next_to
from weboid.core.archive.captures import ServiceReply
from weboid.core.archive.replay import ReplayResult, replay_of
from weboid.core.archive.services import SERVICES
from weboid.core.url.urls import parse

CASES = toml_next_to(__file__)
URL = parse("http://www.mill.demo/wheel")
STAMP = 20110203040506
THEN = {"memento-datetime": "Thu, 03 Feb 2011 04:05:06 GMT"}
SOON = {"memento-datetime": "Thu, 03 Feb 2011 20:05:06 GMT"}
LATE = {"memento-datetime": "Sat, 05 Feb 2011 04:05:07 GMT"}
WEB = "https://web.archive.org/web"
BLOCKED = "org.archive.wayback.exception.AdministrativeAccessControlException: Blocked Site Error"
CHALLENGE = "<html><head><title>Just a moment...</title></head></html>"
EXCLUDED = "<html>" + "<p>x</p>" * 7_000 + "<p>This URL has been excluded from the Wayback Machine.</p></html>"
FAR_DOWN = "<p>x</p>" * 600 + "<p>Internal Error</p>"


def test_a_replay_says() -> None:
    words = {"BLOCKED": BLOCKED, "CHALLENGE": CHALLENGE, "EXCLUDED": EXCLUDED, "FAR_DOWN": FAR_DOWN}

    def filled(text: str) -> str:
        return Template(text).safe_substitute(URL=URL, WEB=WEB, **words)

    for code, when, more, body, result, why in CASES["replays"]:
        headers = {"THEN": THEN, "SOON": SOON, "LATE": LATE}.get(when, {}) | {
            name: filled(value) for name, value in more.items()
        }
        reply = ServiceReply(code, headers, filled(body).encode())
        replayed = replay_of(reply, stamp=STAMP, url=URL, service=SERVICES["wayback"])
        assert (replayed.result.value, replayed.why) == (result, why), (code, headers, body)
        assert (replayed.status == code) == ("memento-datetime" in headers and why != "bad-moment")


def test_an_answer_of_brackets_takes_milliseconds() -> None:
    begun = process_time()
    for text in (">" * 65_536, "> " * 32_768, "<title>" + " " * 65_529, "<p>too many" * 6_000):
        replay_of(ServiceReply(404, {}, text.encode()), stamp=STAMP, url=URL, service=SERVICES["wayback"])
    assert process_time() - begun < 0.3


def test_what_may_be_another_page_is_neither_held_against_a_copy_nor_taken_for_it() -> None:
    """Archives whose index knows no letter case lead from the one to the other."""
    for asked, named in [
        ("https://youtu.be/dQw4w9WgXcQ", "https://youtu.be/DQW4W9WGXcQ"),
        ("https://mill.demo/story?sid=0123456789abcdef01", "https://mill.demo/story?sid=abcdef0123456789ff"),
        ("http://www1.mill.demo/wheel", "http://www2.mill.demo/wheel"),
        ("http://mill.demo/M%C3%BChle", "http://mill.demo/M\udcfchle"),
    ]:
        link, led = {"link": f'<{named}>; rel="original"'}, {"location": f"{WEB}/20110203040507id_/{named}"}
        for reply in (ServiceReply(200, {**SOON, **link}, b"text"), ServiceReply(302, led)):
            replayed = replay_of(reply, stamp=STAMP, url=parse(asked), service=SERVICES["wayback"])
            assert (replayed.result, replayed.why) == (ReplayResult.NOTHING, "unsure-page"), asked


def test_a_fault_says_nothing() -> None:
    for fault in ["timeout", "refused", "network", "dns", "tls", "not-public"]:
        for reply in (ServiceReply(None, fault=fault), ServiceReply(404, {}, b"", fault), ServiceReply(None)):
            replayed = replay_of(reply, stamp=STAMP, url=URL, service=SERVICES["wayback"])
            assert replayed.result is ReplayResult.NOTHING, fault


def test_a_captured_redirect_tells_where_it_leads_and_a_limit_how_long_to_rest() -> None:
    for written, location in [
        (f"/web/20110203040506id_/{URL}2", f"{WEB}/20110203040506id_/{URL}2"),
        ("https://mill.demo/new", "https://mill.demo/new"),
        ("", None),
    ]:
        reply = ServiceReply(301, {**THEN, "location": written})
        replayed = replay_of(reply, stamp=STAMP, url=URL, service=SERVICES["wayback"])
        assert (replayed.status, replayed.location) == (301, location), written
    reply = ServiceReply(429, {"retry-after": "30"})
    assert replay_of(reply, stamp=STAMP, url=URL, service=SERVICES["wayback"]).rest_s == 30


def test_a_service_without_memento_is_believed_its_status() -> None:
    for code, body, result in [
        (200, "<html>the page</html>", "plays"), (200, "can't connect db", "nothing"), (200, "", "nothing"),
        (404, "", "absent"), (503, "", "nothing"), (200, "<iframe src='/_Incapsula_Resource?a'></iframe>", "plays"),
    ]:  # fmt: skip
        replayed = replay_of(ServiceReply(code, {}, body.encode()), stamp=STAMP, url=URL, service=SERVICES["wikiwix"])
        assert replayed.result.value == result, code


@given(
    st.binary(max_size=100),
    st.integers(100, 599),
    st.dictionaries(st.sampled_from(["location", "link", "memento-datetime"]), st.text(max_size=60)),
    st.integers(-5, 10**15),
)
def test_nothing_raises_or_plays_without_a_moment(body: bytes, code: int, headers: dict[str, str], stamp: int) -> None:
    replayed = replay_of(ServiceReply(code, headers, body), stamp=stamp, url=URL, service=SERVICES["arquivo"])
    assert replayed.result is not ReplayResult.PLAYS or "memento-datetime" in headers
