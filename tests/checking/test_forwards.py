"""Documents that only lead on are hops of a check, as redirects are (C-8): behaviours of servers in public reports."""

import pytest
from support.misbehaving import Act, Asked, Script, head_only, reply, serve

from weboid.core.observe.check_request import CheckRequest
from weboid.core.observe.observation import Observation
from weboid.core.record.reasons import Outcome, Reason

from .test_checker import NET, checking

TEXT = "<p>" + "These are the words of a page that people read. " * 10
GONE = reply(404, body=b"<title>Not found</title>")
WORKING, FAILING, DOUBTFUL = Outcome.WORKING, Outcome.FAILING, Outcome.DOUBTFUL


def meta(content: str) -> str:
    return f'<!doctype html><html><head><meta http-equiv="refresh" content="{content}"></head></html>'


def script_of(first: str, target: str, *lines: str) -> Script:
    """A server whose /from/doc has a document; only `target` is there besides."""
    pages = {
        "/from/doc": reply(200, *lines, body=first.encode()),
        target: reply(200, body=b"<!doctype html><title>Mill</title><h1>Mill</h1>" + TEXT.encode()),
    }
    return lambda asked: head_only(asked, pages.get(asked.target, GONE))


async def observed(script: Script) -> tuple[Observation, list[str]]:
    async with serve(script) as site, checking(NET) as checker:
        seen = await checker().ask(CheckRequest(site.url("/from/doc"), looks=True, face=None))
        return seen, [line for line in site.lines() if "robots" not in line]


LEADS_ON = [
    ("refresh-trailing-text", meta("0; URL='/target' at once")),
    ("refresh-newline", meta("0; URL=\n/target")),
    ("refresh-blank", meta("0 url=/target")),
    ("refresh-semicolons", meta("0;;url=/target")),
    ("refresh-with-text", meta("0; url=/target") + TEXT),
    (
        "script-and-noscript",
        f"<script>window.location.replace('/target')</script><noscript>{meta('0;/target')}</noscript>",
    ),
    ("script-href-and-refresh", meta("0; url=/target") + "<script>window.location.href = '/target'</script>"),
    ("script-escaped", r'<html><script>document.location.href="\/target";</script></html>'),
]


@pytest.mark.parametrize(("slug", "first"), LEADS_ON)
async def test_what_leads_on_at_once_is_judged_by_its_target(slug: str, first: str) -> None:
    seen, asked = await observed(script_of(first, "/target"))
    assert (seen.outcome, seen.reason, asked) == (WORKING, Reason.MOVED, ["GET /from/doc", "GET /target"]), slug
    seen, asked = await observed(script_of(first, "/another"))
    # What fails is asked once more, from the first hop.
    assert (seen.outcome, seen.reason, asked) == (FAILING, Reason.NOT_FOUND, 2 * ["GET /from/doc", "GET /target"]), slug


@pytest.mark.parametrize("looks", [True, False])
async def test_the_header_leads_on_as_well_by_either_method(looks: bool) -> None:
    for target, outcome in (("/target", WORKING), ("/another", FAILING)):
        async with serve(script_of("", target, "Refresh: 0; url=/target")) as site, checking(NET) as checker:
            seen = await checker().ask(CheckRequest(site.url("/from/doc"), looks=looks, face=None))
            assert seen.outcome is outcome
            assert site.lines()[0] == ("GET /from/doc" if looks else "HEAD /from/doc")


@pytest.mark.parametrize(
    ("slug", "first"),
    [
        ("refresh-separator-missing", meta("0url=/gone")),
        ("refresh-self", "<META HTTP-EQUIV=Refresh CONTENT=0.1>" + TEXT),
        ("refresh-self-url", meta("0; url=/from/doc") + TEXT),
        ("refresh-app", meta("0; url=weboid://open") + TEXT),
        ("refresh-broken", meta("0; url=http://[") + TEXT),
        ("refresh-noscript-404", f"{TEXT}<noscript>{meta('0; url=?noscript=true')}</noscript>"),
        ("script-replace-input", "<input type=hidden value=/gone><script>location.replace(target)</script>"),
        ("script-conditional-alone", "<script>if (top != self) location.href='/gone'</script>"),
        ("script-onclick", f"<button onclick=\"window.location='/gone'\">Go</button>{TEXT}"),
        ("script-cookie", "<script>document.cookie='a=1';location.href='/gone'</script>"),
        ("script-with-text", f"{TEXT}<script>location.href='/gone'</script>"),
    ],
)
async def test_what_browsers_show_is_the_page(slug: str, first: str) -> None:
    seen, asked = await observed(script_of(first, "/target"))
    assert (seen.outcome, asked) == (WORKING, ["GET /from/doc"]), slug


async def test_an_apostrophe_ends_no_url_that_no_quote_began() -> None:
    seen, asked = await observed(script_of(meta("0; url=/it's-here"), "/it's-here"))
    assert (seen.outcome, asked[1:]) == (WORKING, ["GET /it's-here"])


async def test_an_endless_row_of_documents_ends_at_our_limit_and_a_circle_is_no_failure() -> None:
    def endless(asked: Asked) -> Act:
        return head_only(asked, reply(200, body=meta(f"0; url=/{asked.count}").encode()))

    seen, asked = await observed(endless)
    assert (seen.reason, seen.outcome, len(asked)) == (Reason.TOO_MANY_REDIRECTS, DOUBTFUL, 21)

    def circle(asked: Asked) -> Act:
        if asked.target == "/back":
            return reply(302, "Location: /from/doc")
        return head_only(asked, reply(200, body=meta("0; url=/back").encode()))

    seen, asked = await observed(circle)
    assert (seen.reason, seen.outcome, len(asked)) == (Reason.OUR_LIMIT, DOUBTFUL, 4)


async def test_neither_what_robots_txt_forbids_nor_what_is_not_public_is_led_to() -> None:
    first = reply(200, body=meta("0; url=/gone").encode())
    robots = reply(200, body=b"User-agent: *\nDisallow: /from", kind="text/plain")
    pages = {"/from/doc": first, "/robots.txt": robots}
    seen, asked = await observed(lambda asked: head_only(asked, pages.get(asked.target, GONE)))
    assert (seen.outcome, asked) == (WORKING, ["GET /from/doc"])
    for inward in (meta("0; url=http://10.0.0.1/x"), "<script>location='http://169.254.169.254/latest/'</script>"):
        seen, asked = await observed(script_of(inward, "/target"))
        assert (seen.outcome, seen.reason, len(asked)) == (DOUBTFUL, Reason.NOT_PUBLIC, 1)
