"""From the raw answer of one check to its observation: status byte, reason, target, type and size (U-4, U-5, C-8).

Here stands what one answer says by itself; what a row of them says is `judge`'s business.
One law: a doubt is never turned into a failure here.
"""

import ipaddress
from typing import Final
from urllib.parse import urlsplit

from weboid.core import mime
from weboid.core.observation import Answer, Observation
from weboid.core.reasons import Outcome, Reason, code_reason, network_status
from weboid.core.status import Status, status_of

_LOGIN_WORDS: Final = frozenset({"login", "log-in", "signin", "sign-in", "logon", "anmelden", "anmeldung", "sso"})
_CONTENT_TYPES: Final = ("application/", "image/", "audio/", "video/", "font/")
# What error pages of APIs are made of; everything else under application/ is content (U-5).
_ERROR_TYPES: Final = frozenset(
    {
        "application/json",
        "application/problem+json",
        "application/problem+xml",
        "application/xml",
        "application/xhtml+xml",
        "application/javascript",
    }
)
_ERROR_PAGE_KIB: Final = 512
"""No error page is longer than this; the longest seen carry inlined scripts and pictures of some 300 KiB."""


def observation_of(answer: Answer) -> Observation:
    """The observation that an answer stands for."""
    if answer.fault is not None:
        return Observation(network_status(answer.fault, host_is_ip=_is_ip(answer.final)), answer.fault)
    if answer.code is None:
        raise ValueError("an answer has either a code or a fault")
    reason = _reason(answer, answer.code)
    if reason.outcome in (Outcome.WORKING, Outcome.DOUBTFUL):
        return _arrived(answer, answer.code, reason)
    if reason is Reason.REDIRECT_LOOP or reason is Reason.TOO_MANY_REDIRECTS:
        return Observation(status_of(508), reason)
    if answer.code == 431 and answer.bare:
        return Observation(Status.HEADERS_TOO_LARGE, reason)
    return Observation(status_of(answer.code), reason)


def _arrived(answer: Answer, code: int, reason: Reason) -> Observation:
    """Something answered as it should: the first redirect gives the status, its end the target (U-4)."""
    keyword = mime.keyword(answer.headers.get("content-type", ""), answer.body)
    size = _length_kib(answer) if keyword else None
    target = answer.final if answer.hops else None
    if reason is Reason.CODE_CORRECTED:
        return Observation(Status.CORRECTED, reason, target, keyword, size)
    status = status_of(answer.hops[0].code) if answer.hops else status_of(code)
    return Observation(status, reason, target, keyword, size)


def _reason(answer: Answer, code: int) -> Reason:
    """The reason of an answer that has a code."""
    if 300 <= code <= 399 and answer.hops and code not in (300, 304):
        # The last redirect was not followed: `fetch` says so by ending on it.
        return Reason.REDIRECT_LOOP if _loops(answer) else Reason.TOO_MANY_REDIRECTS
    reason = code_reason(code)
    match reason.outcome:
        case Outcome.WORKING:
            return _redirect_reason(answer) if answer.hops else reason
        case Outcome.FAILING if _is_wall(answer, code):
            return Reason.BOT_WALL
        case Outcome.FAILING if "retry-after" in answer.headers:
            return Reason.RATE_LIMIT
        case Outcome.REFUSED if _is_challenge(answer):
            return Reason.BOT_WALL
        case Outcome.FAILING if _is_content(answer, code):
            return Reason.CODE_CORRECTED
        case _:
            return reason


def _redirect_reason(answer: Answer) -> Reason:
    """What a redirect that ended well is worth (C-8)."""
    start, end = urlsplit(answer.url), urlsplit(answer.final)
    if start.path.rstrip("/") or start.query:
        if end.path in ("", "/") and not end.query:
            return Reason.REDIRECT_TO_ROOT
        words = set(end.path.lower().replace(".", "/").split("/"))
        if words & _LOGIN_WORDS and not set(start.path.lower().replace(".", "/").split("/")) & _LOGIN_WORDS:
            return Reason.REDIRECT_TO_LOGIN
    return Reason.MOVED


def _loops(answer: Answer) -> bool:
    visited = {hop.url for hop in answer.hops}
    return answer.hops[-1].location in visited


def _is_challenge(answer: Answer) -> bool:
    """A page that tries to tell people from machines, known by its own marks."""
    headers = answer.headers
    return headers.get("cf-mitigated") == "challenge" or "x-datadome" in headers or "x-amzn-waf-action" in headers


def _is_wall(answer: Answer, code: int) -> bool:
    """A refusal that looks like a failure: challenge pages come as 503 too."""
    return _is_challenge(answer) and code in (405, 500, 503)


def _is_content(answer: Answer, code: int) -> bool:
    """U-5: a failure code over what is plainly the content itself. Never for 404 and 410 with a page of text."""
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind.startswith(_CONTENT_TYPES) and kind not in _ERROR_TYPES:
        # A 5xx is believed to be content only if a server names itself: gateways answer nameless (U-5).
        return 400 <= code <= 499 or (code >= 500 and "server" in answer.headers)
    size = _length_kib(answer)
    return 400 <= code <= 499 and size is not None and size > _ERROR_PAGE_KIB


def _length_kib(answer: Answer) -> int | None:
    """The size that the server states, in full KiB, rounded up; None if it states none."""
    text = answer.headers.get("content-length", "")
    return -(-int(text) // 1024) if text.isascii() and text.isdigit() and len(text) <= 15 else None


def _is_ip(url: str) -> bool:
    try:
        ipaddress.ip_address(urlsplit(url).hostname or "")
    except ValueError:
        return False
    return True
