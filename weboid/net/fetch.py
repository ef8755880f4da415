"""One check over HTTP: HEAD, then GET if HEAD is not reliable; follows redirects itself (C-1, C-2, C-8).

``core/observe/observe`` interprets the answer; ``net/engine`` sends the requests.
Nothing is called failing because of the way we requested it.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from math import inf
from typing import Final
from urllib.parse import quote_from_bytes

import ada_url
from msgspec.structs import replace

from weboid.config import NetConfig
from weboid.core.observe.content import forward_in, needs_body
from weboid.core.observe.observation import Hop, RawResponse
from weboid.core.observe.observe import observation_of
from weboid.core.observe.retry_after import asks_to_wait
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.url.hosts import InvalidUrl
from weboid.core.url.urls import MAX_URL, Url, normal, parse, parse_again
from weboid.net.exchange import MostBytes, Reply, Request, Sending
from weboid.net.faults import Fault, fault_of
from weboid.net.guard import NotPublic
from weboid.net.outbound import Outbound

Turn = Callable[[str], Awaitable[Sending | None]]
"""Awaited with the host before each request (C-17); may raise NotPublic to refuse a host. The Sending must be `sent` or
ended."""

MayRead = Callable[[str], Awaitable[bool]]
"""Awaited with a URL: whether its document may be read (C-15)."""

ANSWERS_A_CHECK: Final = 3
"""A check may take this many times `answer_s` in total, without the waiting for turns."""

COOKIES: Final = 50
"""Cookies that are kept in a check, at most (RFC 6265, 6.1), …"""
COOKIE_CHARS: Final = 4096
"""… characters of each, …"""
COOKIES_CHARS: Final = 8192
"""… and of the header that has all of them."""

_PAIR: Final = re.compile(r"[^\0-\x1f\x7f;]+")
"""Any name and any value, or a value alone, as browsers send them back (RFC 6265, 5.2)."""
_ENDED: Final = re.compile(
    r";\s*(?:max-age\s*=\s*(?:-|0+\s*(?:;|$))|expires\s*=[^;]*\b(?:19[0-9]{2}|200[0-9])\b)", re.I
)
_DOMAIN: Final = re.compile(r";\s*domain\s*=\s*\.?([a-z0-9.-]+)", re.I)

_ODD_NAME: Final = re.compile(r"(?:[a-z0-9_-]{1,63}\.)+[a-z0-9-]{2,63}\.?|localhost")
"""With labels that begin or end with ``-`` or ``_``, which browsers ask (not so L-4); or where programs are sent."""
_SCHEMES: Final = ("http:", "https:")
_FOLLOWED: Final = frozenset({301, 302, 303, 307, 308})
_ASCII: Final = bytes(range(0x80))


@dataclass(frozen=True, slots=True)
class Single:
    """The terms of a check that ends at the first answer: a redirect's target is its only hop, and not requested."""

    headers: Mapping[str, str] = field(default_factory=dict)
    """Sent in addition, such as ``If-None-Match``: a 304 is the answer then (RFC 9110, 13.1)."""
    most_bytes: MostBytes | None = None
    most_s: float = inf
    """Seconds of the request, at most."""
    method: str = "GET"
    """The only one that is tried."""


class Manner(Enum):
    """The headers of a request: the plain ones (C-2), those of a browser, or the fewest (after a 431)."""

    PLAIN = "plain"
    BROWSER = "browser"
    FEWEST = "fewest"


async def fetch_answer(
    session: Outbound,
    url: str | Url,
    *,
    turn: Turn,
    get_only: bool = False,
    referrer: str | None = None,
    trusting: bool = False,
    manner: Manner = Manner.PLAIN,
    spent_s: float = 0.0,
    may_read: MayRead | None = None,
    single: Single | None = None,
) -> RawResponse:
    """The answer to one check of an http or https URL in normal form; raises ValueError for anything else.

    `trusting`: any certificate is accepted (C-9). `spent_s`: seconds that the same check has taken before. With
    `may_read`, documents that only lead on are hops as well, as far as it allows to read them. `single`: redirects are
    answers. In the answer `method` is GET if HEAD was not enough, looked suspicious (C-11), or was not requested
    (`get_only`). Failures of servers are values. Other errors (bugs of ours, a machine out of sockets, silent name
    servers) are raised unchanged: the caller logs and counts them, and they count against no link.
    """
    if not str(url).startswith(_SCHEMES):
        raise ValueError(f"{url} is not for HTTP")
    if manner is Manner.BROWSER and "%5C" in str(url):
        path, mark, query = str(url).partition("?")
        url = normal(path.replace("%5C", "/") + mark + query)  # browsers take a backslash for a slash (WHATWG URL)
    walk = _Walk(session, url, turn, referrer, trusting, manner, spent_s, may_read, single)
    if single:
        return await walk.follow(single.method)
    if not get_only:
        head = await walk.follow("HEAD")
        is_astray = _is_astray(head)
        if not is_astray and _is_believed(head):
            return await walk.follow("GET") if needs_body(head) else head
        if is_astray or head.fault is Reason.REDIRECT_BROKEN or head.code in _FOLLOWED:
            # The redirects themselves are in doubt, so GET starts again from the first URL.
            walk = _Walk(session, url, turn, referrer, trusting, manner, walk.seconds, may_read, single)
        answer = replace(await walk.follow("GET"), head_failed=True)
        if answer.fault is Reason.OUR_LIMIT and (head.fault, head.final) == (Reason.TIMEOUT, answer.final):
            return replace(answer, fault=Reason.TIMEOUT)
        is_lost = answer.fault is Reason.OUR_LIMIT or (head.code and answer.fault and answer.final != head.final)
        return head if is_astray and is_lost else answer
    return await walk.follow("GET")


def _is_astray(head: RawResponse) -> bool:
    """True if redirects of HEAD ended where nobody answers, or in a doubt: those of GET may lead to the page (D-58)."""
    is_end = 200 <= head.code <= 299 if head.code else not head.reached
    doubt = Outcome.DOUBTFUL if head.code else Outcome.FAILING
    return bool(head.hops) and is_end and observation_of(head).outcome is doubt


def _is_believed(answer: RawResponse) -> bool:
    """Returns whether the answer to HEAD needs no GET (C-1): failures are too often about the method only (D-58)."""
    if answer.fault is not None:
        return not answer.reached and answer.fault is not Reason.REDIRECT_BROKEN
    assert answer.code is not None
    if 200 <= answer.code <= 299:
        return answer.code in (204, 205) or {"content-type", "content-length"} <= answer.headers.keys()
    return answer.code in (304, 429) or asks_to_wait(answer.code, answer.headers)


class _Walk:
    """The walk along redirects: its current URL, hops and cookies so far, and the headers to send."""

    def __init__(
        self,
        session: Outbound,
        url: str | Url,
        turn: Turn,
        referrer: str | None,
        trusting: bool,
        manner: Manner,
        seconds: float,
        may_read: MayRead | None,
        single: Single | None,
    ) -> None:
        self._may_read = may_read
        self._single = single
        self.seconds = seconds
        self._session = session
        self._turn = turn
        self._referrer = referrer
        self._trusting = trusting
        self._manner = manner
        self._go(url)
        self._start = self._url
        self._hops: list[Hop] = []
        self._cookies = CookieJar()
        self._visited: set[tuple[str, str, str]] = set()

    async def follow(self, method: str) -> RawResponse:
        """Follows redirects from the current URL; a second call requests the last URL again, by another method."""
        while True:
            reply = await self._reply(method)
            if isinstance(reply, Fault):
                return self._end(method, reply)
            is_redirect = reply.code in _FOLLOWED and bool(reply.location)
            if is_redirect:
                target = _target(self._url, reply.location or "", self._session.bare)
                if isinstance(target, Reason):
                    return self._end(method, Fault(target, reached=target is Reason.OUR_LIMIT))
            else:
                end = self._end(method, reply)
                forward = self._forward(method, end) if self._may_read else None
                if forward is None or not (self._may_read and await self._may_read(self._normal)):
                    return end
                target = forward
            if len(target) > MAX_URL:
                return self._end(method, Fault(Reason.OUR_LIMIT, reached=True))
            self._hops.append(Hop(self._url, reply.code, target))
            if self._single:
                return self._end(method, reply)
            if not target.startswith(_SCHEMES):
                return self._end(method, Fault(Reason.REDIRECT_TO_SCHEME))
            if self._key(method, target) in self._visited:
                # With a cookie that was not kept the server may have led on.
                return self._end(method, Fault(Reason.OUR_LIMIT, reached=True) if self._cookies.is_full else reply)
            if len(self._hops) > self._session.settings.redirects:
                return self._end(method, reply if is_redirect else Fault(Reason.TOO_MANY_REDIRECTS))
            self._go(target)

    def _forward(self, method: str, end: RawResponse) -> str | None:
        """The URL to which a document only leads on; None if it is the page, or leads back to where we were."""
        forward = forward_in(end)
        target = _target(self._url, forward, self._session.bare) if forward else None
        if not isinstance(target, str) or len(target) > MAX_URL or not target.startswith(_SCHEMES):
            return None
        return None if self._key(method, target) in self._visited else target

    def _go(self, url: str | Url) -> None:
        """Moves to another URL, which is reported in normal form but requested as it is."""
        bare, self._url = self._session.bare, str(url)
        form = url if isinstance(url, Url) else parse_again(url, bare) if bare else parse_again(url)
        self._host = form.host
        self._normal = self._url if form is url else str(form)

    async def _reply(self, method: str) -> Reply | Fault:
        """The reply to one request for the current URL, after waiting for its turn."""
        try:
            sending = await self._turn(self._host)
        except NotPublic:
            return Fault(Reason.NOT_PUBLIC)
        try:
            reply = await self._send(method, sending)
        finally:
            if sending and not sending.is_sent:
                sending.end()
        if isinstance(reply, Fault):
            return reply
        if reply.code < 200:
            return Fault(Reason.PROTOCOL, reached=True)
        for line in reply.cookies:
            self._cookies.take(self._host, line)
        return reply

    async def _send(self, method: str, sending: Sending | None) -> Reply | Fault:
        """Sends one request once there is a seat for it; the waiting for that is not the server's time."""
        settings = self._session.settings
        left_s = ANSWERS_A_CHECK * settings.answer_s - self.seconds
        if left_s <= 0:
            return Fault(Reason.OUR_LIMIT)
        key = self._key(method, self._url)
        self._visited.add(key)
        headers = _headers(settings, self._manner, key[2])
        if self._referrer:
            headers["Referer"] = self._referrer
        most_bytes = None
        if self._single:
            headers |= self._single.headers
            left_s, most_bytes = min(left_s, self._single.most_s), self._single.most_bytes
        request = Request(method, self._url, headers, self._trusting, sending.sent if sending else None, most_bytes)
        async with self._session.seats:
            begun = self._session.now()
            try:
                return await self._session.engine.send(request, min(left_s, settings.answer_s))
            except Exception as exc:
                fault = fault_of(exc)
                if fault is None:
                    raise
                if fault.reason is Reason.TIMEOUT and left_s < (
                    settings.answer_s if fault.reached else settings.connect_s
                ):
                    return Fault(Reason.OUR_LIMIT, fault.reached)
                return fault
            finally:
                self.seconds += self._session.now() - begun

    def _key(self, method: str, url: str) -> tuple[str, str, str]:
        """Identifies a request, to detect loops: with a new cookie, the same URL is another request."""
        host = self._host if url == self._url else parse(url, self._session.bare).host
        return method, url, self._cookies.header(host, COOKIES_CHARS if self._manner is Manner.PLAIN else COOKIE_CHARS)

    def _end(self, method: str, result: Reply | Fault) -> RawResponse:
        start, normal, hops, seconds = self._start, self._normal, tuple(self._hops), self.seconds
        if isinstance(result, Fault):
            fault, reached = result.reason, result.reached
            return RawResponse(start, normal, method, fault=fault, hops=hops, seconds=seconds, reached=reached)
        code, headers, body, reading = result.code, result.headers, result.body, result.reading
        bare = self._manner is Manner.FEWEST
        return RawResponse(start, normal, method, code, None, hops, headers, body, seconds, bare=bare, reading=reading)


class CookieJar:
    """The cookies of one check (C-2), by domain and name: for servers that set one and redirect to the same URL.

    Paths, dates and flags are not kept: the jar exists for seconds and contains no secret of ours. `is_full`: there
    were more cookies than are kept or sent.
    """

    def __init__(self) -> None:
        self._cookies: dict[tuple[str, str], str] = {}
        self.is_full = False

    def take(self, host: str, line: str) -> None:
        """Keeps, replaces or deletes a cookie by a Set-Cookie line from `host`; invalid lines are ignored."""
        pair = line.partition(";")[0].strip()
        if len(pair) > COOKIE_CHARS or not _PAIR.fullmatch(pair):
            return
        name, equals, _ = pair.partition("=")
        name = name if equals else ""
        domain = _DOMAIN.search(line)
        scope = f".{domain[1].lower()}" if domain and "." in domain[1] else host
        if scope != host and not f".{host}".endswith(scope):
            return
        if _ENDED.search(line):
            self._cookies.pop((scope, name), None)
        elif len(self._cookies) < COOKIES or (scope, name) in self._cookies:
            self._cookies[scope, name] = pair
        else:
            self.is_full = True

    def header(self, host: str, limit: int = COOKIES_CHARS) -> str:
        """The value of the Cookie header for a host, in at most `limit` characters; empty if there is none."""
        pairs: list[str] = []
        chars = 0
        for (scope, _), pair in self._cookies.items():
            if scope == host or (scope.startswith(".") and f".{host}".endswith(scope)):
                chars += len(pair) + 2
                if chars <= limit:
                    pairs.append(pair)
                else:
                    self.is_full = True
        return "; ".join(pairs)


def _headers(settings: NetConfig, manner: Manner, cookies: str) -> dict[str, str]:
    """The request headers: those of C-2, or fewer with nothing that a browser does not send (D-2)."""
    if manner is Manner.PLAIN:
        headers = {
            "User-Agent": settings.user_agent,
            "Accept": "*/*",
            "Accept-Language": "*",
            "Accept-Encoding": "gzip, deflate",
            "Connection": "keep-alive",
            "Cache-Control": "max-age=0",
        }
        if settings.sender:
            headers["From"] = settings.sender
    else:
        headers = {"User-Agent": settings.user_agent, "Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
        if manner is not Manner.FEWEST:
            headers |= {"Accept-Language": "en", "Accept-Encoding": "gzip, deflate"}
    if cookies:
        headers["Cookie"] = cookies
    return headers


def _target(current: str, location: str, bare: frozenset[str]) -> str | Reason:
    """The target of a Location, absolute and as a browser would request it (WHATWG URL); if it is invalid, the reason.

    It may be longer than MAX_URL. It is requested as resolved, not in normal form: a server may insist on an escape
    that the normal form removes.
    """
    # Raw bytes outside ASCII are sent as received, escaped; in a host the parser reads them as UTF-8.
    escaped = quote_from_bytes(location.encode("utf-8", "surrogateescape"), safe=_ASCII)
    try:
        url = ada_url.URL(escaped, base=current)
    except ValueError:
        return Reason.REDIRECT_BROKEN
    if url.href.startswith(_SCHEMES):
        url.username = url.password = url.hash = ""
        if len(url.href) > MAX_URL:
            return url.href
        try:
            parse(url.href, bare)
        except InvalidUrl:
            return Reason.OUR_LIMIT if _ODD_NAME.fullmatch(url.hostname) else Reason.REDIRECT_BROKEN
    return url.href[:MAX_URL]
