"""Servers as users of other tools have reported them: limits, cookies, redirects.

Each row has the repository and number of the report that it was rebuilt from; "a sibling" is one of our own.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from support.misbehaving import Act, Asked, Script, head_only, reply
from support.reported import site

from weboid.core.record.reasons import Outcome

PATH: Final = "/from/doc"
TARGET: Final = "/target"
TEXT: Final = "<p>" + "These are the words of a page that people read. " * 10
PAGE: Final = f"<!doctype html><html lang=en><title>Mill</title><h1>Mill</h1>{TEXT}".encode()
FINE: Final = reply(200, body=PAGE)
GONE: Final = reply(404, body=b"<title>Not found</title>")
WORKS: Final = frozenset({Outcome.WORKING})
LIVES: Final = frozenset({Outcome.WORKING, Outcome.DOUBTFUL})
OURS: Final = frozenset({Outcome.DOUBTFUL})
REFUSES: Final = frozenset({Outcome.REFUSED, Outcome.DOUBTFUL, Outcome.WORKING})
SUSPECT: Final = frozenset({Outcome.FAILING, Outcome.DOUBTFUL, Outcome.REFUSED})
DEAD: Final = frozenset({Outcome.FAILING})
at = partial(site, other=GONE)
"""A host with these pages alone."""


@dataclass(frozen=True)
class Row:
    """One behaviour: what its host does with PATH (and all else), and what a check may make of it.

    `is_read`: its document shows it, not its headers.
    """

    slug: str
    script: Script
    outcomes: frozenset[Outcome]
    is_read: bool = False


def works(
    rows: Mapping[str, Any],
    script: Callable[[Any], Script] = lambda given: given,
    outcomes: frozenset[Outcome] = WORKS,
    *,
    is_read: bool = False,
) -> list[Row]:
    """Rows of what lives: by its slug the script, or what that is made of."""
    return [Row(slug, script(given), outcomes, is_read) for slug, given in rows.items()]


def doc(first: Act, target: Act = FINE, place: str = TARGET) -> Script:
    """A host with a document at PATH, and one behind it."""
    return at({PATH: first, place: target})


def by_get(act: Callable[[], Act]) -> Script:
    """A host that streams its document; HEAD is refused."""
    pages: dict[str, Callable[[], Act]] = {PATH: act}
    return lambda asked: (
        head_only(asked, GONE)
        if asked.target not in pages
        else reply(405, "Allow: GET")
        if asked.method == "HEAD"
        else pages[asked.target]()
    )


async def stream(*pieces: bytes, pause_s: float = 0.0) -> AsyncIterator[bytes]:
    for number, piece in enumerate(pieces):
        if number and pause_s:
            await asyncio.sleep(pause_s)
        yield piece


def raw(*pieces: bytes, pause_s: float = 0.0) -> Script:
    return by_get(partial(stream, *pieces, pause_s=pause_s))


def moved(location: str, target: str = TARGET, code: int = 302, *lines: str) -> Script:
    return doc(reply(code, f"Location: {location}", *lines), place=target)


def chain(length: int, other_host: str = "") -> Script:
    def script(asked: Asked) -> Act:
        step = int(asked.target.removeprefix("/step") or 0) if asked.target.startswith("/step") else 0
        if asked.target != PATH and not step:
            return head_only(asked, GONE)
        if step == length:
            return head_only(asked, FINE)
        return reply(302, f"Location: {other_host}/step{step + 1}")

    return script


def meta(content: str, attribute: str = "refresh") -> bytes:
    return f'<!doctype html><html><head><meta http-equiv="{attribute}" content="{content}"></head></html>'.encode()


def page_of(markup: str | bytes, *lines: str) -> bytes:
    return reply(200, *lines, body=markup if isinstance(markup, bytes) else markup.encode())


def needing_cookie(asked: Asked) -> Act:
    if asked.target != PATH:
        return head_only(asked, GONE)
    return (
        head_only(asked, FINE)
        if "Cookie" in asked.headers
        else reply(302, f"Location: {PATH}", "Set-Cookie: k=1; path=/")
    )


def cookie_of_chain(asked: Asked) -> Act:
    """Three hops; the last one wants what the first and the second have set."""
    cookies = asked.headers.get("Cookie", "")
    match asked.target:
        case "/from/doc":
            return reply(
                302, "Location: /two", "Set-Cookie: a=1", "Set-Cookie: t=x; Expires=Thu, 01 Jan 1970 00:00:00 GMT"
            )
        case "/two":
            return reply(303, "Location: /three", "Set-Cookie: b=2; HttpOnly; SameSite=Lax; Max-Age=60")
        case "/three" if "a=1" in cookies and "b=2" in cookies and "t=" not in cookies:
            return head_only(asked, FINE)
        case "/three":
            return reply(302, "Location: /from/doc")
        case _:
            return head_only(asked, GONE)


def resets_after_head(asked: Asked) -> Act:
    if asked.target != PATH:
        return head_only(asked, GONE)
    return (
        reply(200, body=None) + b""
        if asked.method == "HEAD"
        else stream(reply(200, "Content-Length: 90000", body=None), PAGE)
    )


HEADERS: Final = tuple(f"X-Debug-{number}: value {number}" for number in range(300))
LONG: Final = "Content-Security-Policy: default-src " + "https://cdn.mill.example " * 4000
"""A line of 100 kB."""
CHUNKED: Final = reply(200, "Transfer-Encoding: chunked", body=None)


def until_cookie(wanted: str, *lines: str) -> Script:
    """A host that redirects to itself until a request has that cookie."""

    def script(asked: Asked) -> Act:
        if asked.target != PATH:
            return head_only(asked, GONE)
        if wanted in asked.headers.get("Cookie", "").encode("latin-1").decode(errors="replace"):
            return head_only(asked, FINE)
        return reply(302, f"Location: {PATH}", *lines)

    return script


def only_at_first(first: Act) -> Script:
    """A host that knows an address by its first request."""

    def script(asked: Asked) -> Act:
        act = first if asked.count == 1 else FINE if asked.target == PATH else GONE
        return head_only(asked, act) if isinstance(act, bytes) else act

    return script


COOKIE_HOSTS: Final = {
    "cookie-brackets AdguardTeam/CoreLibs#1843": until_cookie("mybb[last]=1", "Set-Cookie: mybb[last]=1; path=/"),
    "cookie-slash a sibling": until_cookie("a/b@c=1", "Set-Cookie: a/b@c=1"),
    "cookie-nameless httpwg/http-extensions#159": until_cookie("token", "Set-Cookie: token"),
    "cookie-utf8 js-cookie/js-cookie#623": until_cookie(
        "n=мельница", "Set-Cookie: n=мельница".encode().decode("latin-1")
    ),
    "cookie-quoted js-cookie/js-cookie#623": until_cookie('n="a, b"', 'Set-Cookie: n="a, b"; path=/'),
    "cookies-40 a sibling": until_cookie("c39=", *[f"Set-Cookie: c{n}=1" for n in range(40)]),
    "cookie-expires-2049 a sibling": until_cookie(
        "k=1", "Set-Cookie: k=1; expires=Fri, 31-Dec-2049 23:59:59 GMT; Max-Age=3600"
    ),
    "cookie-renewed fisharebest/webtrees#5445": until_cookie("k=2", "Set-Cookie: k=1", "Set-Cookie: k=2"),
    "self-at-first nanoc/nanoc#1496": only_at_first(reply(302, f"Location: {PATH}")),
    "404-at-first a sibling": only_at_first(reply(404, body=b"no")),
    "location-7-kb a sibling": moved("/target?" + "x" * 7000, "/target?" + "x" * 7000),
}
FAR_3_KB, FAR_5_KB, FAR_9_KB = ("/target?" + "x" * length for length in (3000, 5000, 9000))
COOKIES: Final[Sequence[Row]] = [
    *works(COOKIE_HOSTS),
    Row("cookies-80 a sibling", until_cookie("c79=", *[f"Set-Cookie: c{n}=1" for n in range(80)]), LIVES),
    Row("cookies-30-kb a sibling", until_cookie("c9=", *[f"Set-Cookie: c{n}={'x' * 3000}" for n in range(10)]), LIVES),
    Row("location-9-kb a sibling", moved(FAR_9_KB, FAR_9_KB), LIVES),
    Row("refresh-3-kb a sibling", doc(page_of(meta(f"0;url={FAR_3_KB}")), place=FAR_3_KB), LIVES),
    Row("refresh-header-3-kb a sibling", doc(page_of("", f"Refresh: 0;url={FAR_3_KB}"), place=FAR_3_KB), LIVES),
    Row("script-5-kb a sibling", doc(page_of(f"<script>location='{FAR_5_KB}'</script>"), place=FAR_5_KB), LIVES),
]

LIMIT_ANSWERS: Final = {
    "headers-101 python/cpython#131724": page_of(PAGE, *HEADERS[:101]),
    "headers-108-302 aio-libs/aiohttp#11955": reply(302, *HEADERS[:108], f"Location: {TARGET}"),
    "headers-300 akamai/httpie-edgegrid#12": page_of(PAGE, *HEADERS),
    "csp-11k aio-libs/aiohttp#3862": page_of(PAGE, LONG[:11_194]),
    "csp-90k xregistry/spec#518": page_of(PAGE, LONG[:90_000]),
    "csp-9k-302 raviqqe/muffet#388": reply(302, LONG[:9000], f"Location: {TARGET}"),
    "headers-41k a sibling": page_of(PAGE, *HEADERS[:4], *[f"X-{n}: {LONG[:10_000]}" for n in range(4)]),
    "cookies-60 a sibling": page_of(PAGE, *[f"Set-Cookie: c{n}={'x' * 1000}" for n in range(60)]),
    "body-3-mb a sibling": page_of(PAGE + b"<p>Mill." * 400_000),
}
LIMIT_HOSTS: Final = {
    "chain-9 tcort/link-check#12": chain(9),
    "chain-12 a sibling": chain(12),
    "chain-15 sindresorhus/got#838": chain(15),
    "chain-20 a sibling": chain(20),
    "hints-103 snoyberg/http-client#521": raw(
        b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n" * 2 + FINE
    ),
    "continue-100 a sibling": raw(b"HTTP/1.1 100 Continue\r\n\r\n", FINE),
    "slow-first-byte transitive-bullshit/check-links#4": raw(b"", FINE, pause_s=0.7),
    "slow-body a sibling": raw(reply(200, "Content-Length: 90000", body=None), *[b"<p>A mill."] * 20, pause_s=0.05),
    "reset-in-body a sibling": resets_after_head,
    "chunked-lie lunarmodules/luasocket#153": raw(CHUNKED, PAGE),
    "chunked-and-length espressif/esp-idf#2458": raw(
        reply(200, "Transfer-Encoding: chunked", "Content-Length: 7", body=None)
        + b"%x\r\n%s\r\n0\r\n\r\n" % (len(PAGE), PAGE)
    ),
    "chunked-no-end aspnet/KestrelHttpServer#1858": raw(CHUNKED + b"%x\r\n%s\r\n" % (len(PAGE), PAGE)),
    "chunked-nonsense-end w3c/feedvalidator#41": raw(CHUNKED + b"%x\r\n%s\r\nzz\r\n" % (len(PAGE), PAGE)),
}
LIMITS: Final[Sequence[Row]] = [
    *works(LIMIT_ANSWERS, doc),
    *works(LIMIT_HOSTS),
    Row("headers-300k a sibling", doc(page_of(PAGE, *[f"X-{n}: {LONG[:90_000]}" for n in range(4)])), OURS),
    Row("chain-25 nodiscc/hecat#145", chain(25), OURS),
    Row("location-empty projectdiscovery/httpx#598", doc(reply(302, "Location:", body=PAGE)), LIVES),
    Row("location-empty-bare raesene/bWAPP#6", doc(reply(302, "Location:")), OURS),
    Row("location-space guzzle/guzzle#2110", doc(reply(302, "Location: ", body=PAGE)), LIVES),
    Row("location-none-302 edicl/drakma#30", doc(reply(302, body=PAGE)), LIVES),
    Row("location-none-303 lightpanda-io/browser#2713", doc(reply(303, body=PAGE)), LIVES),
    Row("hints-100-times a sibling", raw(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100 + FINE), OURS),
    Row("http-0.9 ArchiveTeam/wpull#291", raw(PAGE), LIVES),
    Row(
        "http-0.9-lines hyperium/hyper#2468",
        raw(b"<html>\n<head><title>Mill</title></head>\n\n<body>" + TEXT.encode()),
        LIVES,
    ),
]

REDIRECT_ANSWERS: Final = {
    "location-twice-same jnunemaker/httparty#478": reply(301, f"Location: {TARGET}", f"Location: {TARGET}"),
    "location-twice-other psf/requests#2939": reply(301, f"Location: {TARGET}", "Location: /other"),
    "location-on-200 jhy/jsoup#736": page_of(PAGE, "Location: /gone"),
    "location-on-201 jhy/jsoup#736": reply(201, "Location: /gone", body=PAGE),
    "location-lower-case a sibling": reply(301, f"location:{TARGET}"),
}
REDIRECT_HOSTS: Final = {
    "location-with-space-inside whatwg/fetch#883": moved("/a mill/on the dam", "/a%20mill/on%20the%20dam"),
    "location-utf8 sqdshguy/wreq-js#218": moved("/caf\xc3\xa9", "/caf%C3%A9"),
    "location-latin1 sagebind/isahc#315": moved("/c\xe9u", "/c%E9u"),
    "location-utf8-query Norconex/crawler#199": moved("/target?n=\xd0\xb3", "/target?n=%D0%B3"),
    "location-no-slash jnunemaker/httparty#174": moved("next", "/from/next"),
    "location-colon follow-redirects/follow-redirects#206": moved("./Template:Welcome", "/from/Template:Welcome"),
    "location-fragment alphagov/cdn-acceptance-tests#102": moved("/target#top"),
    "xlsx-odd-path internetarchive/iari#879": moved("/a b (1) [c].xlsx", "/a%20b%20(1)%20[c].xlsx"),
    "location-tab a sibling": moved("\t/target\t"),
    "location-backslash a sibling": moved("\\target"),
    "location-query a sibling": moved("?page=1", f"{PATH}?page=1"),
    "location-dots a sibling": moved("../../../target"),
    "self-with-cookie encode/httpx#821": needing_cookie,
    "cookies-in-chain simplecrawler/simplecrawler#78": cookie_of_chain,
}
REDIRECTS: Final[Sequence[Row]] = [
    *works(REDIRECT_ANSWERS, doc),
    *works(REDIRECT_HOSTS),
    Row(
        "body-of-redirect-unending a sibling",
        raw(reply(302, f"Location: {PATH}?x", "Content-Length: 90000", body=None), b"<p>", pause_s=0.1),
        SUSPECT,
    ),
    Row("300-with-body a sibling", doc(reply(300, body=PAGE)), LIVES),
    Row("304-to-nothing a sibling", doc(reply(304, body=None, kind=None)), LIVES),
]
