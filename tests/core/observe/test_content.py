"""The combined judgement of an answer's content, and its effect on the observation (C-11, U-7)."""

from hypothesis import given
from hypothesis import strategies as st
from support.pages import page, prose

from weboid.core.observe.content import content_suspicion, needs_body
from weboid.core.observe.observation import Hop, Observation, RawResponse
from weboid.core.observe.observe import observation_of
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.signs.botwall import CODES

ASKED = "http://site.test/deep/story-17.html"
HTML = {"content-type": "text/html; charset=utf-8"}
LIVING = page("A story", body=f"<h1>A story</h1><p>{prose(200)}</p>")
MISSING = page("Page not found", body="<h1>Page not found</h1>")
PARKED = page("site.test is for sale", body="<p>Buy this domain</p>")
WALL = page("Just a moment...", body="<script>window._cf_chl_opt={}</script>")
LOGIN = page("Log in", body="<input type=password>")
# freelawproject/juriscraper#2130
REPAIRED = page("Website Maintenance", body="<p>The website is undergoing maintenance.</p>")
STOPPED = page("Web App - Unavailable", body="<h1>Error 403 - This web app is stopped.</h1><p>Try to reload.</p>")


def answer(code: int, body: bytes, final: str = ASKED, headers: dict[str, str] | None = None) -> RawResponse:
    """The answer to GET, after a redirect if it ended at another URL."""
    hops = (Hop(ASKED, 302, final),) if final != ASKED else ()
    return RawResponse(ASKED, final, "GET", code=code, hops=hops, headers=headers or HTML, body=body)


def observed(code: int, body: bytes, final: str = ASKED, headers: dict[str, str] | None = None) -> Observation:
    return observation_of(answer(code, body, final, headers))


def test_content_has_its_say_where_a_code_says_too_little() -> None:
    for code, body, final, reason in [
        (200, LIVING, ASKED, "ok"), (200, LIVING, "http://site.test/new.html", "moved"),
        (200, MISSING, ASKED, "soft-404"), (200, MISSING, "http://site.test/", "soft-404"),
        (200, b"", "http://site.test/404.html", "soft-404"), (200, PARKED, ASKED, "for-sale"),
        (200, PARKED, "http://site.test/", "for-sale"), (200, WALL, ASKED, "bot-wall"), (403, WALL, ASKED, "bot-wall"),
        (503, WALL, ASKED, "bot-wall"), (429, WALL, ASKED, "bot-wall"), (405, WALL, ASKED, "bot-wall"),
        (405, LIVING, ASKED, "method"), (503, page("Just a moment..."), ASKED, "bot-wall"),
        (405, page("Human Verification"), ASKED, "bot-wall"), (200, LOGIN, ASKED, "login"),
        (200, LOGIN, "http://site.test/login?next=/deep", "redirect-to-login"),
        (200, b"", "http://site.test/login?next=/deep", "redirect-to-login"),
        (200, LIVING, "http://site.test/", "redirect-to-root"),
        (200, b"", "https://consent.site.test/?continue=x", "ok"),
        (200, MISSING, "https://consent.site.test/?continue=x", "ok"), (404, MISSING, ASKED, "not-found"),
        (410, PARKED, ASKED, "gone"), (404, WALL, ASKED, "not-found"), (500, PARKED, ASKED, "server-error"),
        (403, LIVING, ASKED, "forbidden"), (403, STOPPED, ASKED, "suspended"), (402, STOPPED, ASKED, "suspended"),
        (503, STOPPED, ASKED, "unavailable"), (500, REPAIRED, ASKED, "maintenance"),
        (503, REPAIRED, ASKED, "unavailable"), (404, REPAIRED, ASKED, "not-found"),
        (404, MISSING, "http://www.site.test/login", "not-found"), (410, MISSING, "http://cas.site.test/a", "gone"),
        (404, MISSING, "http://new.test/anmeldung", "not-found"), (400, b"", "http://n.test/sso", "redirect-to-login"),
        (404, MISSING, "http://new.test/login?next=a", "redirect-to-login"), *((code, b"", "http://sso.new.test/", word)
            for code, word in [(401, "login"), (402, "payment"), (403, "forbidden"), (404, "redirect-to-login"),
                (405, "method"), (406, "bot-wall"), (429, "rate-limit"), (451, "legal"), (500, "server-error")]),
    ]:  # fmt: skip
        assert observed(code, body, final).reason.word == reason, (code, final)


def test_a_guarded_page_that_came_is_the_page_and_a_consent_page_no_move() -> None:
    seen = observed(200, LIVING, "https://consent.site.test/?continue=x")
    assert (seen.outcome, seen.target, int(seen.status)) == (Outcome.WORKING, None, 9)
    assert observed(200, LIVING, headers=HTML | {"x-datadome": "protected"}).reason is Reason.OK
    wall, safe = "http://tollbit.site.test/a", "https://tollbit.site.test/a"
    for code, asked, final, reason in [
        (200, wall, wall, Reason.BOT_WALL), (404, ASKED, wall, Reason.BOT_WALL), (404, wall, wall, Reason.NOT_FOUND),
        (404, wall, safe, Reason.NOT_FOUND),
    ]:  # fmt: skip
        hops = (Hop(asked, 301, final),) if final != asked else ()
        assert observation_of(RawResponse(asked, final, "GET", code=code, hops=hops)).reason is reason


def test_only_pages_are_read_and_only_for_walls_where_robots_forbid_it() -> None:
    for kind in ["application/pdf", "text/plain", "image/png", "application/javascript"]:
        for body in (MISSING, PARKED, WALL, LOGIN):
            assert observed(200, body, headers={"content-type": kind}).reason is Reason.OK
        assert not answer(200, MISSING, headers={"content-type": kind}).document.is_page
    for body, final, is_seen in [(MISSING, ASKED, 0), (PARKED, ASKED, 0), (WALL, ASKED, 1), (b"", f"{ASKED}/404", 1)]:
        assert bool(content_suspicion(answer(200, body, final), read_body=False)) == is_seen


def test_a_page_that_only_sends_on_is_judged_by_where_to_and_a_missing_one_is_missing() -> None:
    for target, reason in [
        ("/", "redirect-to-root"), ("http://other.test", "redirect-to-root"), ("/404.html", "soft-404"), ("/new", "ok"),
    ]:  # fmt: skip
        head = f'<meta http-equiv="refresh" content="0; url={target}">'
        assert observed(200, page("Moved", head=head)).reason.word == reason, target
        assert observed(200, page("Moved", head=head, body=prose(100))).reason is Reason.OK, target
    head = "<meta http-equiv='refresh' content='5;url=/'>"
    assert observed(200, page("404 Page Not Found", head=head)).reason is Reason.SOFT_404


def test_suspicious_answers_are_worth_a_look_at_the_page() -> None:
    for final, headers, expected in [
        (ASKED, HTML, False), ("http://www.site.test/deep/story-17.html", HTML, False),
        ("http://other.test/deep/story-17.html", HTML, True), ("http://site.test/", HTML, True),
        ("http://other.test/", {"content-type": "application/pdf"}, False),
    ]:  # fmt: skip
        assert needs_body(answer(200, b"", final, headers)) is expected


@given(
    st.sampled_from([200, 202, 206, 299, 400, 403, 404, 405, 429, 500, 503]),
    st.binary(max_size=200) | st.sampled_from([LIVING, MISSING, PARKED, WALL, LOGIN]).map(lambda body: body[:-9]),
    st.sampled_from(
        [ASKED, "http://site.test/", "http://other.test/x", "https://dan.com/?d=site.test", "http://site.test/404"]
    ),
    st.dictionaries(st.sampled_from(["content-type", "server", "x-datadome"]), st.text(max_size=20)),
)
def test_content_never_makes_a_failure(code: int, body: bytes, final: str, headers: dict[str, str]) -> None:
    given_answer = answer(code, body, final, headers or HTML)
    seen = content_suspicion(given_answer)
    assert seen is None or (seen.reason.outcome in (Outcome.DOUBTFUL, Outcome.REFUSED) and seen.signals)
    observation_of(given_answer)


@given(st.sampled_from(sorted(CODES)), st.integers(0, 500), st.integers(0, 90_000))
def test_no_prose_is_held_against_a_page(code: int, words: int, start: int) -> None:
    living = page(prose(6, start), body=f"<h1>{prose(4, start)}</h1><p>{prose(words, start)}</p>")
    assert content_suspicion(answer(code, living)) is None
