"""Before a failing code counts: asked once more as a browser would, and compared with the host's front page.

Each behaviour has the slug and the repository of the report that it was rebuilt from; servers are real ones.
"""

import re
from collections.abc import Callable
from typing import Any

import pytest
from support.misbehaving import Act, Asked, Script, head_only, reply, serve

from weboid.core.observe.check_request import CheckRequest
from weboid.core.observe.observation import Observation
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.specials import Special
from weboid.core.record.status import Status

from .test_checker import checking, page

PATH = "/a/the-mill.html"
FINE = reply(200, body=page("The mill on the dam"))
HOME = reply(200, body=page("The society of millers"))
MISSING = reply(404, body=page("Page not found", "Sorry, nothing is here."))
PDF = b"%PDF-1.7\n" + bytes(range(256)) * 20
PICTURE = b"\x89PNG\r\n" + bytes(range(256)) * 20

SHELL = b"<!doctype html><title>Mills</title><div id=root></div><script src=/app.5f3.js></script>"
HUMAN = page("Access denied", "Please verify you are a human to continue.")
APP, FRAME, OLD = reply(200, body=SHELL), SHELL + b"<i>...</i>", page("Update your browser")
TO_LOGIN = b"<script>window.location.href = '/login?next=' + encodeURIComponent(document.URL)</script>"
COOKIE = b"<html><script>document.cookie='k=7';location.reload()</script></html>"
ROUTER = (
    b"<title>Mills</title><script>var l=window.location;l.replace(l.protocol+'//'+l.host+'/?p='+l.pathname);"
    b"window.location.replace('/?p=/'+l.pathname.slice(1))</script>"
)
SWITCH = (
    b"<title>Moved</title><script>switch (location.href) { case 'http://a.test/old': location.href = '/new' }</script>"
)
SCRIPT = b"<html><script>" + b"$_ts={};$_ts.nsd=1;" * 30 + b"</script></html>"
Condition = Callable[[Asked], bool]


def accepts(asked: Asked) -> str:
    return asked.headers.get("Accept", "")


def speaks(asked: Asked) -> str:
    return asked.headers.get("Accept-Language", "")


def unless(is_fine: Condition, code: int, *lines: str, body: bytes = b"no", fine: bytes = FINE) -> Script:
    """A host that answers all of its URLs with a code unless a request is as it wants it."""
    return lambda asked: head_only(asked, fine if is_fine(asked) else reply(code, *lines, body=body))


def everywhere(code: int, *lines: str, body: bytes = b"no") -> Script:
    """A host that answers everything with one code."""
    return unless(lambda asked: False, code, *lines, body=body)


def only_here(act: bytes, front: bytes = HOME) -> Script:
    """A host whose front page is `front`; everything else is `act`."""
    return lambda asked: head_only(asked, {"/": front, "/robots.txt": reply(404)}.get(asked.target, act))


def names_html(asked: Asked) -> bool:
    return "text/html" in accepts(asked)


def star_redirect(asked: Asked) -> Act:
    lang = speaks(asked).partition(",")[0] or "en"
    if asked.target == f"/en{PATH}":
        return head_only(asked, FINE)
    if asked.target == PATH:
        return reply(302, f"Location: /{lang}{PATH}")
    return head_only(asked, MISSING)


def rdf_or_html(asked: Asked) -> Act:
    if asked.target == "/page":
        return head_only(asked, FINE)
    return reply(303, "Location: /page") if names_html(asked) else head_only(asked, MISSING)


def few_lines(asked: Asked) -> Act:
    if len(asked.headers) > 5:
        return reply(431)
    return head_only(asked, FINE if accepts(asked) else reply(403, body=b"no"))


def heavy_cookies(asked: Asked) -> Act:
    if len(asked.headers.get("Cookie", "")) > 4096:
        return reply(400, body=b"Request Header Or Cookie Too Large")
    step = int(asked.target[-1]) if asked.target[-1].isdigit() else 0
    if step == 3:
        return head_only(asked, FINE)
    lines = [f"Set-Cookie: c{step}{n}={'x' * 3000}" for n in range(2)]
    return reply(302, f"Location: /s{step + 1}", *lines)


def cookie_then_400(asked: Asked) -> Act:
    if "Cookie" in asked.headers:
        return head_only(asked, reply(400, body=SCRIPT))
    return head_only(asked, reply(412, "Set-Cookie: k=1", body=SCRIPT))


def once_then_529() -> Script:
    asked_before: list[str] = []

    def script(asked: Asked) -> Act:
        asked_before.append(asked.target)
        return head_only(asked, FINE if len(asked_before) == 1 and asked.method == "GET" else reply(529, body=b""))

    return script


def plain_tag(asked: Asked) -> bool:
    return bool(re.fullmatch(r"[a-z]{2}(-[A-Z]{2})?", speaks(asked)))


front_or_html = unless(lambda asked: asked.target == "/" or names_html(asked), 415)
BROWSER = frozenset({Special.NEEDS_BROWSER})
WORKS, DOUBTFUL, REFUSED = {Outcome.WORKING}, {Outcome.DOUBTFUL}, {Outcome.REFUSED}

LIVING: list[tuple[str, Script, set[Outcome]]] = [
    # Our request headers.
    ("langstar500 internetarchive/infogami#207", unless(lambda a: "*" not in speaks(a), 500), WORKS),
    ("accept404 getzola/zola#384", unless(names_html, 404), WORKS),
    ("nextintl500 amannn/next-intl#192", unless(lambda a: speaks(a) not in ("", "*"), 500), WORKS),
    ("accept-html-json404 becheran/mlc#20", unless(names_html, 404, "Set-Cookie: a=1", body=b"{}"), WORKS),
    ("accept-html-415 pearsonlab/pearsonlab.github.io#52", front_or_html, WORKS),
    ("accept-html-400 a sibling", unless(names_html, 400), WORKS),
    ("accept-html-410 a sibling", unless(names_html, 410), WORKS),
    ("accept-html-406 SonarSource/rspec#1194", unless(names_html, 406), WORKS),
    ("accept-rdf-or-html-404 MyProfile/myprofile#20", rdf_or_html, WORKS),
    ("accept-browser-406 rust-lang/rustc-dev-guide#1586", unless(lambda a: accepts(a) == "*/*", 406), WORKS),
    ("accept-431-then-accept LAW-Unimi/BUbiNG#1", few_lines, WORKS),
    ("lang-tag-404 mozilla/bedrock#11538", unless(lambda a: speaks(a)[:2] in ("en", "fr", "de"), 404), WORKS),
    ("lang-first-enfr-500 ocaml/ocaml.org#205", unless(lambda a: speaks(a)[:2] in ("en", "fr"), 500), WORKS),
    ("lang-star-redirect vercel/next.js#58556", star_redirect, WORKS),
    ("lang-star-locale-500 FusionAuth/fusionauth-issues#1958", unless(lambda a: "*" not in speaks(a), 500), WORKS),
    ("lang-malformed-400 dropwizard/dropwizard#2103", unless(plain_tag, 400), WORKS),
    ("lang-none-406 belgif/rest-guide#205", unless(lambda a: "en" in speaks(a), 406), WORKS),
    ("lang-missing-500 tinganho/express-request-language#8", unless(lambda a: bool(speaks(a)), 500), WORKS),
    ("many-header-fields-400 ninenines/cowboy#1063", unless(lambda a: len(a.headers) <= 6, 400), WORKS),
    ("cookie-too-large-400 mozilla/glam#1070", heavy_cookies, WORKS),
    ("lang-503 a sibling", unless(lambda a: "*" not in speaks(a), 503), WORKS),
    ("accept-wall a sibling", unless(names_html, 404, fine=reply(403, body=b"no")), REFUSED),
    # Refusals in codes that count as failures.
    ("meta400 WenyuChiou/awesome-agentic-ai-zh#101", everywhere(400), REFUSED),
    ("rs412 jae-jae/QueryList#150", everywhere(412, "Set-Cookie: k=1", body=SCRIPT), REFUSED),
    ("rs412-then-400 zaxtyson/CDUT_SelectCourse#1", cookie_then_400, REFUSED),
    ("rate-412 iiicebearrr/spiders-for-all#36", everywhere(412, body=b'{"code":-412}'), REFUSED),
    ("h2only505 jprante/netty-http#1", everywhere(505), REFUSED),
    ("variant-506 a sibling", everywhere(506), REFUSED),
    ("ua-sniff-400-all stevenvachon/broken-link-checker#210", everywhere(400, body=OLD), REFUSED),
    ("prog-415-all attune-io/attune#162", everywhere(415), REFUSED),
    ("cdn-409-all getlantern/lantern#1739", everywhere(409), REFUSED),
    ("expectation-417-all a sibling", everywhere(417), REFUSED),
    ("sni-421-all ros2/ros2_documentation#6092", everywhere(421), REFUSED),
    ("busy-425 setnicka/ulozto-downloader#137", everywhere(425), REFUSED),
    ("upgrade-426-all a sibling", everywhere(426), REFUSED),
    ("edge-423-418 edgeone.ai/document/58009", everywhere(423), REFUSED),
    ("431-all a sibling", everywhere(431), REFUSED),
    ("edge-567 reqable/reqable-app#2045", everywhere(567), REFUSED),
    ("prog-529-days ssllabs/ssllabs-scan#1011", once_then_529(), REFUSED | WORKS),
    ("custom-441 gjtorikian/html-proofer#584", everywhere(441), REFUSED),
    ("ua-404-all webrecorder/browsertrix-crawler#719", everywhere(404, body=HUMAN), REFUSED),
    ("ua-410-all a sibling", everywhere(410, body=HUMAN), REFUSED),
    ("404-login a sibling", only_here(reply(404, body=TO_LOGIN)), REFUSED),
    ("404-cookie tempesta-tech/tempesta#536", only_here(reply(404, body=COOKIE)), REFUSED),
    ("412-cookie a sibling", only_here(reply(412, body=COOKIE)), REFUSED),
    ("503-cookie a sibling", only_here(reply(503, body=COOKIE)), REFUSED),
    ("spa-404-index-copy rafgraph/spa-github-pages#30", only_here(reply(404, body=SHELL), APP), DOUBTFUL),
    ("spa-404-frontend JustinBeckwith/linkinator#24", only_here(reply(404, body=FRAME), APP), DOUBTFUL),
    ("spa-404-script isaacs/github#408", only_here(reply(404, body=ROUTER)), DOUBTFUL),
    ("moved-404-switch checkstyle/checkstyle#15949", only_here(reply(404, body=SWITCH)), DOUBTFUL),
    # Documents with a code of refusal.
    *(
        (f"pdf-{code} a sibling", only_here(reply(code, body=PDF, kind="application/pdf"), HOME), REFUSED)
        for code in (401, 403, 406, 418)
    ),
]  # fmt: skip

DEAD: list[tuple[str, Script, Reason]] = [
    ("a 404 of a host that works", only_here(MISSING), Reason.NOT_FOUND),
    ("a 404 of a host that is all 404", everywhere(404), Reason.NOT_FOUND),
    ("a 404 with a wall's words of a host that works", only_here(reply(404, body=HUMAN)), Reason.NOT_FOUND),
    ("a 410", only_here(reply(410, body=b"gone")), Reason.GONE),
    *(
        (f"{code} on all paths", everywhere(code), reason)
        for code, reason in [
            (500, Reason.SERVER_ERROR), (502, Reason.GATEWAY), (504, Reason.GATEWAY), (503, Reason.UNAVAILABLE),
            *((code, Reason.SERVER_ERROR) for code in (507, 508, 510, 511, *range(520, 528), 530)),
        ]
    ),
    *(
        (f"a {code} of a host that works", only_here(reply(code, body=b"no")), reason)
        for code, reason in [
            (400, Reason.BAD_REQUEST), (409, Reason.STRANGE_CODE), (412, Reason.STRANGE_CODE), (408, Reason.TIMEOUT),
            (505, Reason.SERVER_ERROR), (529, Reason.SERVER_ERROR),
        ]
    ),
    ("a 400 of a host whose front page is missing", only_here(reply(400, body=b"no"), MISSING), Reason.BAD_REQUEST),
    ("a 404 with the site's scripts", only_here(
        reply(404, body=SHELL + b"<h1>Page not found</h1>"), reply(200, body=SHELL)), Reason.NOT_FOUND),
    ("a 404 that leads to the front page", only_here(
        reply(404, body=b"<script>location.href='/'</script>")), Reason.NOT_FOUND),
    ("a 404 of a site with other scripts", only_here(reply(404, body=SHELL)), Reason.NOT_FOUND),
    ("a 404 with a form to log in", only_here(
        reply(404, body=page("Not found") + b"<script>location.hash=1</script><a href=/login>")), Reason.NOT_FOUND),
    ("a 404 that throttles who asks again", lambda asked: head_only(
        asked, reply(429, "Retry-After: 1") if names_html(asked) else MISSING), Reason.NOT_FOUND),
]  # fmt: skip


async def seen_of(script: Script, path: str = PATH, **request: Any) -> tuple[Observation, list[str]]:
    async with serve(script) as site, checking() as checker:
        found = await checker().check(CheckRequest(site.url(path), **request))
        return found.seen, site.lines()


@pytest.mark.parametrize("thorough", [True, False], ids=["by hand", "in a round"])
@pytest.mark.parametrize(("script", "outcomes"), [case[1:] for case in LIVING], ids=[case[0] for case in LIVING])
async def test_no_living_page_fails_because_of_our_headers_or_by_a_code_of_a_refusal(
    script: Script, outcomes: set[Outcome], thorough: bool
) -> None:
    seen, _ = await seen_of(script, thorough=thorough, looks=thorough)
    if seen.reason is not Reason.UNAVAILABLE or thorough:  # which proves nothing in rounds
        assert seen.outcome in outcomes


@pytest.mark.parametrize("thorough", [True, False], ids=["by hand", "in a round"])
@pytest.mark.parametrize(("script", "reason"), [case[1:] for case in DEAD], ids=[case[0] for case in DEAD])
async def test_what_is_dead_still_fails(script: Script, reason: Reason, thorough: bool) -> None:
    seen, _ = await seen_of(script, thorough=thorough)
    assert (seen.reason, seen.outcome) == (reason, Outcome.FAILING)


async def test_a_431_that_stays_has_a_status_of_its_own_and_is_a_refusal() -> None:
    seen, _ = await seen_of(everywhere(431))
    assert (seen.status, seen.reason) == (Status.HEADERS_TOO_LARGE, Reason.BOT_WALL)


async def test_a_front_page_alone_proves_nothing_by_a_code_about_the_request() -> None:
    seen, asked = await seen_of(everywhere(400), "/")
    assert (seen.reason, asked) == (Reason.BOT_WALL, ["HEAD /", "GET /", "GET /"])


@pytest.mark.parametrize(
    ("script", "request_of", "asked"),
    [
        (only_here(FINE), {}, ["HEAD"]),
        (only_here(MISSING), {}, ["HEAD", "GET", "GET"]),
        (only_here(MISSING), {"asks_again": False}, ["HEAD", "GET"]),
        (only_here(reply(503, body=b"no")), {}, ["HEAD", "GET"]),
        (unless(names_html, 404), {"needs": BROWSER}, ["HEAD"]),
        (unless(names_html, 404), {"known": BROWSER, "asks_again": False}, ["HEAD", "GET", "GET"]),
        (unless(lambda a: accepts(a) == "*/*", 406), {"needs": BROWSER}, ["HEAD", "GET", "GET"]),
    ],
    ids=["living", "missing", "within a streak", "unavailable", "as a browser", "tried anew", "plain"],
)  # fmt: skip
async def test_no_more_requests_than_it_takes(script: Script, request_of: dict[str, Any], asked: list[str]) -> None:
    _, lines = await seen_of(script, **request_of)
    assert lines == [f"{method} {PATH}" for method in asked]


async def test_a_host_that_wants_a_browser_is_remembered() -> None:
    seen, _ = await seen_of(unless(names_html, 404))
    assert (seen.reason, seen.needs) == (Reason.OK, BROWSER)


async def test_the_front_page_is_asked_once_for_all_urls_of_a_host_and_only_where_robots_txt_allows_it() -> None:
    async with serve(everywhere(400)) as site, checking() as checker:
        for path in "abc":
            assert (await checker().ask(CheckRequest(site.url(f"/{path}")))).reason is Reason.BOT_WALL
        assert [site.lines().count(line) for line in ("GET /", "GET /robots.txt")] == [1, 1]

    def barred(asked: Asked) -> Act:
        rules = reply(200, body=b"User-agent: *\nDisallow: /", kind="text/plain")
        return head_only(asked, rules if asked.target == "/robots.txt" else reply(400, body=b"no"))

    seen, asked = await seen_of(barred)
    assert (seen.reason, asked.count("GET /")) == (Reason.BOT_WALL, 0)


@pytest.mark.parametrize("code", [401, 403, 406, 418])
async def test_a_document_that_comes_with_a_refusal_is_content_unless_it_comes_everywhere(code: int) -> None:
    refusal = reply(code, body=PICTURE, kind="image/png")

    def document(asked: Asked) -> Act:
        return head_only(asked, reply(code, body=PDF, kind="application/pdf") if asked.target == PATH else MISSING)

    seen, _ = await seen_of(document)
    assert (seen.status, seen.reason) == (Status.CORRECTED, Reason.CODE_CORRECTED)
    seen, _ = await seen_of(lambda asked: head_only(asked, refusal if asked.target != "/" else HOME))
    assert seen.outcome is Outcome.REFUSED


async def test_the_headers_of_the_second_asking_are_those_of_a_browser_with_an_honest_name() -> None:
    async with serve(only_here(MISSING)) as site, checking() as checker:
        await checker().ask(CheckRequest(site.url(PATH)))
        assert list(site.asked[-1].headers.items()) == [
            ("Host", f"127.0.0.1:{site.port}"),
            ("User-Agent", "test"),
            ("Accept", "text/html,application/xhtml+xml,*/*;q=0.8"),
            ("Accept-Language", "en"),
            ("Accept-Encoding", "gzip, deflate"),
        ]
    async with serve(everywhere(431)) as site, checking() as checker:
        await checker().ask(CheckRequest(site.url(PATH)))
        assert [*site.asked[2].headers] == ["Host", "User-Agent", "Accept"]
