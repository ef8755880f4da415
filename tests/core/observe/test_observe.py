"""The observation made from a single answer (U-4, U-5, C-8)."""

from itertools import pairwise

import pytest

from weboid.assets import toml_next_to
from weboid.core.observe.observation import Hop, Observation, RawResponse
from weboid.core.observe.observe import observation_of
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.record import UNTRIED
from weboid.core.record.status import NO_CODE, Status
from weboid.core.url.urls import Url, parse
from weboid.core.verdict.judge import judge

_CASES = toml_next_to(__file__)

PAGE = "http://site.test/deep/page"
HTML = {"content-type": "text/html; charset=utf-8"}
PDF = {"content-type": "application/pdf", "content-length": "20481"}


def ended(
    code: int | None = None, headers: dict[str, str] | None = None, *, url: str = PAGE, fault: Reason | None = None
) -> Observation:
    return observation_of(
        RawResponse(url, url, "GET", code=code, fault=fault, headers=HTML if headers is None else headers)
    )


def moved(*urls: str, codes: tuple[int, ...] = (), end: int = 200, headers: dict[str, str] = HTML) -> Observation:
    """The observation of an answer that went from URL to URL and was followed to the last."""
    ways = zip(urls, codes or (301,) * (len(urls) - 1), urls[1:], strict=False)
    hops = tuple(Hop(start, code, target) for start, code, target in ways)
    return observation_of(RawResponse(urls[0], urls[-1], "HEAD", code=end, hops=hops, headers=headers))


def stopped(*urls: str) -> Observation:
    hops = tuple(Hop(start, 302, target) for start, target in pairwise(urls))
    return observation_of(
        RawResponse(urls[0], urls[-2], "GET", code=302, hops=hops, headers=HTML | {"location": urls[-1]})
    )


def test_every_code_has_its_status_and_its_reason() -> None:
    for code, status, reason, outcome in _CASES["codes"]:
        seen = ended(code)
        assert (seen.status, seen.reason.word, seen.outcome.value) == (status, reason, outcome), code


def test_faults_are_network_statuses_that_keep_their_reason() -> None:
    for fault, url, status in [
        (Reason.DNS_GONE, PAGE, 66), (Reason.DNS_ERROR, PAGE, 65), (Reason.CONNECTION_REFUSED, PAGE, 64),
        (Reason.RESET, PAGE, 64), (Reason.TIMEOUT, PAGE, 64), (Reason.UNREACHABLE, PAGE, 64),
        (Reason.PROTOCOL, PAGE, 64), (Reason.TLS, PAGE, 64), (Reason.CERTIFICATE_EXPIRED, PAGE, 64),
        (Reason.NOT_PUBLIC, PAGE, 64), (Reason.BAD_PORT, PAGE, 64), (Reason.TIMEOUT, "http://192.0.2.7/", 67),
        (Reason.CONNECTION_REFUSED, "http://[2001:db8::7]:8080/", 67), (Reason.RESET, "http://192.0.2.7/", 64),
        (Reason.REDIRECT_BROKEN, PAGE, 20),
    ]:  # fmt: skip
        seen = ended(fault=fault, url=url)
        assert (seen.status, seen.reason) == (status, fault)


def test_a_port_that_is_never_contacted_says_nothing_of_its_host_but_a_redirect_there_is_an_answer() -> None:
    assert ended(fault=Reason.BAD_PORT).not_http
    hops = (Hop(PAGE, 301, "http://other.example:6379/"),)
    seen = observation_of(RawResponse(PAGE, hops[0].location, "HEAD", fault=Reason.BAD_PORT, hops=hops))
    assert (seen.not_http, seen.on_other_host, seen.target) == (False, True, parse(hops[0].location))


def test_an_answer_without_code_or_fault_is_a_bug() -> None:
    with pytest.raises(ValueError):
        ended()


def test_a_431_with_the_fewest_headers_has_a_status_of_its_own() -> None:
    seen = observation_of(RawResponse(PAGE, PAGE, "GET", code=431, bare=True))
    assert (seen.status, seen.reason) == (Status.HEADERS_TOO_LARGE, Reason.BOT_WALL)
    assert observation_of(RawResponse(PAGE, PAGE, "GET", code=404, bare=True)).status is Status.NOT_FOUND


def test_a_failure_over_content_is_corrected() -> None:
    for code, headers, reason in [
        (404, PDF, "code-corrected"), (410, {"content-type": "image/png", "content-length": "9000"}, "code-corrected"),
        (404, {"content-type": "text/html", "content-length": str(900 * 1024)}, "code-corrected"),
        (500, PDF | {"server": "Apache"}, "code-corrected"), (500, PDF, "server-error"), (404, HTML, "not-found"),
        (404, HTML | {"content-length": "30000"}, "not-found"), (404, HTML | {"content-length": "9" * 30}, "not-found"),
        (404, {}, "not-found"), (404, {"content-type": "application/json"}, "not-found"),
        (404, {"content-type": "Application/Problem+JSON; charset=utf-8"}, "not-found"),
        (410, {"content-type": "application/xhtml+xml"}, "gone"),
        (404, {"content-type": "application/vnd.api+json"}, "not-found"),
        (404, {"content-type": "application/hal+json"}, "not-found"),
        (404, {"content-type": "application/atom+xml"}, "not-found"),
        (404, {"content-type": "application/octet-stream", "content-length": "0"}, "not-found"),
        (500, HTML | {"content-length": str(900 * 1024), "server": "x"}, "server-error"),
        (503, PDF | {"server": "x", "retry-after": "60"}, "rate-limit"),
    ]:  # fmt: skip
        assert ended(code, headers).reason.word == reason


def test_a_challenge_is_a_bot_wall_and_who_says_when_to_come_again_is_not_failing() -> None:
    for code, headers in [
        (403, {"cf-mitigated": "challenge"}), (503, {"cf-mitigated": "challenge"}), (403, {"x-datadome": "protected"}),
        (405, {"x-amzn-waf-action": "captcha"}), (429, {"x-datadome": "protected"}),
        (202, {"x-amzn-waf-action": "challenge"}),
    ]:  # fmt: skip
        assert ended(code, headers).reason is Reason.BOT_WALL
    for code, pause, outcome in [
        *((code, pause, Outcome.REFUSED) for code in (400, 500, 502, 503) for pause in ("60", "soon")),
        *((code, "5", Outcome.FAILING) for code in (404, 410, 500, 503)), (404, "120", Outcome.FAILING),
        (500, "0", Outcome.FAILING),
    ]:  # fmt: skip
        assert ended(code, {"retry-after": pause}).outcome is outcome, (code, pause)


def test_a_redirect_is_recorded_by_its_first_code_and_last_target_unless_it_ends_badly() -> None:
    for code, status in [(301, 8), (302, 9), (303, 10), (307, 13), (308, 13)]:
        target = "http://other.test/deep/page"
        seen = moved(PAGE, "http://site.test/x", target, codes=(code, 302))
        assert (seen.status, seen.reason, seen.target) == (status, Reason.MOVED, parse(target)), code
    for code in [404, 410, 500, 403, 305, 306]:
        seen = moved(PAGE, "http://other.test/x", end=code)
        assert (seen.status, seen.reason, seen.target) == (ended(code).status, ended(code).reason, None)
    seen = moved(PAGE, PAGE, codes=(302,))
    assert (seen.status, seen.reason, seen.target) == (Status.FINE, Reason.OK, None)


def test_where_a_redirect_leads_decides_what_it_is_worth() -> None:
    for start, end, reason in [
        (PAGE, "http://site.test/", "redirect-to-root"), (PAGE, "https://www.site.test/", "redirect-to-root"),
        ("http://site.test/?id=7", "http://site.test/", "redirect-to-root"),
        (PAGE, "http://other.test/", "redirect-to-root"), (PAGE, "http://site.test/index.html", "redirect-to-root"),
        ("http://www.site.test/a/blog/", "https://blog.site.test/", "moved"),
        ("http://data.site.test/blog", "https://blog.data.site.test/", "moved"),
        ("http://www.site.test/blog/7", "https://blog.site.test/", "redirect-to-root"),
        ("http://www.site.test/blog/", "https://blog.other.test/", "redirect-to-root"),
        ("http://site.test/", "https://www.site.test/", "moved"),
        ("http://site.test/", "http://site.test/de/start", "moved"),
        ("http://site.test/index.html", "http://site.test/", "moved"),
        ("http://site.test/default.aspx", "http://site.test/index.php", "moved"),
        (PAGE, "https://site.test/deep/page", "moved"), (PAGE, "http://site.test/?p=7", "moved"),
        (PAGE, "http://site.test/user/login?next=/deep/page", "redirect-to-login"),
        (PAGE, "http://sso.site.test/Login.aspx", "redirect-to-login"),
        ("http://site.test/login/help", "http://site.test/en/login/help", "moved"),
        (PAGE, "http://site.test/blogging", "moved"),
    ]:  # fmt: skip
        seen = moved(start, end)
        assert (seen.reason.word, seen.target is None) == (reason, reason == "redirect-to-login")


def test_a_redirect_that_was_not_followed_is_a_loop_or_too_many() -> None:
    a, b, c = (f"http://site.test/{letter}" for letter in "abc")
    for urls in ((a, a), (a, b, a), (a, b, c, b)):
        assert stopped(*urls).reason is Reason.REDIRECT_LOOP
    seen = stopped(*(f"http://site.test/{n}" for n in range(12)))
    assert (seen.status, seen.reason, seen.target) == (Status.STRANGE, Reason.TOO_MANY_REDIRECTS, None)


def test_the_size_is_stated_in_full_kib_of_what_is_remarkable() -> None:
    seen = ended(200, HTML | {"content-length": "5000"})
    assert (seen.mime, seen.size_kib) == (None, None)
    for length, kib in [("0", 0), ("1", 1), ("1024", 1), ("1025", 2), ("-1", None), ("²", None)]:
        assert ended(200, {"content-type": "application/pdf", "content-length": length}).size_kib == kib
    seen = ended(404, PDF)
    assert (seen.status, seen.mime, seen.size_kib) == (Status.CORRECTED, "pdf", 21)


def test_the_exact_code_is_that_of_the_last_answer() -> None:
    for seen, http in [
        (ended(500), 500), (ended(404, PDF), 404), (ended(799), 799),
        (moved(PAGE, "http://site.test/deep/other", codes=(308,)), 200),
        (moved(PAGE, "http://site.test/x", end=410), 410), (stopped(PAGE, "http://site.test/a", PAGE), 302),
        (ended(fault=Reason.TIMEOUT), NO_CODE), (ended(fault=Reason.REDIRECT_BROKEN), NO_CODE),
    ]:  # fmt: skip
        assert seen.http == http


def test_a_redirect_to_another_scheme_is_recorded_as_a_redirect_with_its_target() -> None:
    hops = (Hop(PAGE, 302, "mailto:somebody@site.test"),)
    seen = observation_of(RawResponse(PAGE, PAGE, "GET", fault=Reason.REDIRECT_TO_SCHEME, hops=hops))
    assert (seen.status, seen.target, seen.outcome) == (Status.FOUND, "mailto:somebody@site.test", Outcome.DOUBTFUL)
    assert seen.http == 302


def test_a_failure_behind_a_redirect_to_another_host_is_that_hosts() -> None:
    hop = (Hop(PAGE, 302, "http://other.test/x"),)
    seen = observation_of(RawResponse(PAGE, "http://other.test/x", "GET", fault=Reason.TIMEOUT, hops=hop))
    assert seen.on_other_host
    assert not moved(PAGE, "http://site.test/gone", end=502).on_other_host


def test_a_target_that_is_no_url_stays_text_and_one_that_is_needs_no_parsing_again() -> None:
    for location in [
        "tel:1", "intent://a.test/#Intent;end", "javascript:alert(1)", "data:,x", "app://open", "ftp://no-dot/",
        "ftp:x", "x:",
    ]:  # fmt: skip

        def seen(target: str) -> Observation:
            hops = (Hop(PAGE, 302, target),)
            return observation_of(RawResponse(PAGE, PAGE, "GET", fault=Reason.REDIRECT_TO_SCHEME, hops=hops))

        assert seen(location).target == location
        assert judge(UNTRIED, seen(location), 100).record.target == location
        assert seen("ftp://FILES.test/a").target == Url("ftp", "files.test", 0, "/a"), location
        assert judge(UNTRIED, seen("ftp://FILES.test/a"), 100).record.target == "ftp://files.test/a", location
