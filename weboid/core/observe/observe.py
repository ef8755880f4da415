"""Makes an observation from the raw response of one check: status byte, reason, target, type, size (U-4, U-5, C-8).

Only a single response is judged here; ``core/verdict/judge`` judges a series of them. A doubt is never turned into a
failure here.
"""

import re
from typing import Final
from urllib.parse import urlsplit

from msgspec.structs import replace

from weboid.core.observe.content import content_suspicion
from weboid.core.observe.failing_codes import REFUSING
from weboid.core.observe.observation import Observation, RawResponse
from weboid.core.observe.retry_after import asks_to_wait, retry_after_s
from weboid.core.record import mime
from weboid.core.record.reasons import Outcome, Reason, code_reason, network_status
from weboid.core.record.specials import Special
from weboid.core.record.status import NO_CODE, Status, status_of
from weboid.core.signs.login_walls import is_consent_url, is_login_url
from weboid.core.url.hosts import InvalidUrl, is_ip, registrable_domain
from weboid.core.url.urls import Url, parse_again, text_form

_FOLLOWED: Final = frozenset({301, 302, 303, 307, 308})
_UNENDED: Final = frozenset({Reason.REDIRECT_LOOP, Reason.TOO_MANY_REDIRECTS, Reason.OUR_LIMIT})
"""Reasons for which the last response is a redirect."""
_TEXT_WORDS: Final = 40
"""The body of a redirect without a target that has so many words is a page; fewer say that something has moved."""
_ROOT: Final = re.compile(r"/?|/(?:index|default|home)\.[a-z]{2,5}")
_CONTENT_TYPES: Final = ("application/", "image/", "audio/", "video/", "font/")
# Types of machine-readable error messages; all others under application/ are content (U-5).
_ERROR_TYPES: Final = frozenset({"application/json", "application/xml", "application/javascript"})
_ERROR_SUFFIXES: Final = ("+json", "+xml")
_ERROR_PAGE_KIB: Final = 512
"""A longer body is taken for content. Set high: too low would call error pages content, too high only misses some."""

_LONGEST_PAUSE_S: Final = 28 * 86_400.0
_DEFAULT_PAUSE_S: Final = 3_600.0
"""The pause if a Retry-After cannot be read."""


def observation_of(answer: RawResponse, *, read_body: bool = True) -> Observation:
    """The observation made from an answer; without `read_body` the document's text is not considered (C-15)."""
    if answer.fault is not None:
        return replace(_fault_observation(answer, answer.fault), http=_code_before(answer, answer.fault))
    if answer.code is None:
        raise ValueError("an answer has either a code or a fault")
    return replace(_code_observation(answer, answer.code, read_body=read_body), http=answer.code)


def _code_before(answer: RawResponse, fault: Reason) -> int:
    """The code behind a fault: a redirect out of the web is an answer, all others are the lack of one."""
    return answer.hops[-1].code if fault is Reason.REDIRECT_TO_SCHEME and answer.hops else NO_CODE


def _code_observation(answer: RawResponse, code: int, *, read_body: bool) -> Observation:
    reason = _reason(answer, code, read_body=read_body)
    if reason.outcome in (Outcome.WORKING, Outcome.DOUBTFUL) and reason not in _UNENDED:
        seen = _arrived(answer, code, reason)
        needs_get = answer.head_failed and seen.outcome is Outcome.WORKING
        return replace(seen, needs=frozenset({Special.NEEDS_GET})) if needs_get else seen
    return replace(_refused_or_failed(answer, code, reason), retry_after_s=_pause_s(answer))


def _refused_or_failed(answer: RawResponse, code: int, reason: Reason) -> Observation:
    last = status_of(508 if reason in _UNENDED else code)
    status = Status.HEADERS_TOO_LARGE if code == 431 and answer.bare else last
    return Observation(status, reason, on_other_host=_is_on_other_host(answer))


def _pause_s(answer: RawResponse) -> float | None:
    """The pause in seconds that the URL's own host requests, within bounds; None if it requests none."""
    if "retry-after" not in answer.headers or _is_on_other_host(answer):
        return None
    pause_s = retry_after_s(answer.headers)
    return _DEFAULT_PAUSE_S if pause_s is None else min(pause_s, _LONGEST_PAUSE_S)


def _fault_observation(answer: RawResponse, fault: Reason) -> Observation:
    """The observation without a final answer. A broken redirect is no network problem: its sender answered."""
    on_other_host = _is_on_other_host(answer)
    if fault in (Reason.REDIRECT_BROKEN, Reason.TOO_MANY_REDIRECTS):
        return Observation(status_of(508), fault, on_other_host=on_other_host)
    if fault is Reason.REDIRECT_TO_SCHEME and answer.hops:
        out = _typed(answer.hops[-1].location)
        return Observation(status_of(answer.hops[0].code), fault, out, on_other_host=on_other_host)
    status = network_status(fault, host_is_ip=is_ip(_host(answer.final)))
    target = _typed(answer.final) if answer.hops and fault.outcome is Outcome.DOUBTFUL else None
    unasked = fault is Reason.BAD_PORT and not answer.hops
    return Observation(status, fault, target, on_other_host=on_other_host, not_http=unasked)


def _arrived(answer: RawResponse, code: int, reason: Reason) -> Observation:
    """The observation of a usable answer: the first redirect gives the status, the last URL is the target (U-4)."""
    keyword = mime.keyword(answer.headers.get("content-type", ""), answer.body)
    size_kib = _length_kib(answer) if keyword else None
    moved = _has_moved(answer)
    is_shown = moved and not _awaits_consent(answer) and reason is not Reason.REDIRECT_TO_LOGIN
    target = _typed(answer.final) if is_shown else None
    if reason is Reason.CODE_CORRECTED:
        return Observation(Status.CORRECTED, reason, target, keyword, size_kib)
    first = next((hop.code for hop in answer.hops if hop.code in _FOLLOWED), code) if moved else code
    return Observation(status_of(first), reason, target, keyword, size_kib)


def _reason(answer: RawResponse, code: int, *, read_body: bool) -> Reason:
    if 300 < code < 400 and code != 304 and (code not in _FOLLOWED or not answer.headers.get("location")):
        return _untargeted_reason(answer, read_body=read_body)
    if code in _FOLLOWED and answer.hops:
        # The last redirect was not followed: ``net/fetch`` returns it as the final response then.
        is_loop = answer.hops[-1].location in {hop.url for hop in answer.hops}
        if is_loop and any(hop.code not in _FOLLOWED for hop in answer.hops):
            return Reason.OUR_LIMIT  # scripts may lead out of a circle in which a document took part
        return Reason.REDIRECT_LOOP if is_loop else Reason.TOO_MANY_REDIRECTS
    reason = code_reason(code)
    if code == 431 and answer.bare:
        return Reason.BOT_WALL
    if code in REFUSING and _is_document(answer):
        return Reason.CODE_CORRECTED
    if (found := content_suspicion(answer, read_body=read_body)) is not None:
        return found.reason
    if reason.outcome is Outcome.WORKING and _has_moved(answer):
        return Reason.OK if _awaits_consent(answer) else _redirect_reason(answer)
    if reason.outcome is Outcome.FAILING or reason is Reason.METHOD:
        if asks_to_wait(code, answer.headers):
            return Reason.RATE_LIMIT
        if _is_content(answer, code):
            return Reason.CODE_CORRECTED
    return reason


def _untargeted_reason(answer: RawResponse, *, read_body: bool) -> Reason:
    """The reason for a redirect without a target: browsers show its body."""
    if not read_body or len(answer.document.words) < _TEXT_WORDS:
        return Reason.OUR_LIMIT
    found = content_suspicion(replace(answer, code=200))
    return found.reason if found else Reason.CODE_CORRECTED


def _redirect_reason(answer: RawResponse) -> Reason:
    """The reason for a redirect that ended well (C-8)."""
    start, end = urlsplit(answer.url), urlsplit(answer.final)
    if _ROOT.fullmatch(start.path) and not start.query:
        return Reason.MOVED
    if _ROOT.fullmatch(end.path) and not end.query:
        # A part of a site that has a name of its own now: www.site.test/blog/ is blog.site.test.
        name, host = start.path.rstrip("/").rpartition("/")[2].lower(), start.hostname or ""
        is_own = end.hostname in (f"{name}.{host}", f"{name}.{registrable_domain(host)}")
        return Reason.MOVED if is_own else Reason.REDIRECT_TO_ROOT
    if is_login_url(answer.final) and not is_login_url(answer.url):
        return Reason.REDIRECT_TO_LOGIN
    return Reason.MOVED


def _awaits_consent(answer: RawResponse) -> bool:
    """True if a redirect led to a consent page: then the document itself has not moved (C-8)."""
    return is_consent_url(answer.final) and not is_consent_url(answer.url)


def _has_moved(answer: RawResponse) -> bool:
    """True if redirects led to another URL; one that only sets a cookie leads back to the same URL."""
    return bool(answer.hops) and answer.final != answer.url


def _typed(target: str) -> Url | str:
    """A target as a Url, or as text if it is none that can be watched (L-3, L-4): nobody has to parse it again."""
    try:
        return parse_again(target)
    except InvalidUrl:
        return text_form(target)


def _is_on_other_host(answer: RawResponse) -> bool:
    return bool(answer.hops) and _host(answer.final) != _host(answer.url)


def _is_document(answer: RawResponse) -> bool:
    """True if a picture, a sound, a PDF and the like was sent, whatever the code."""
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not kind.startswith(_CONTENT_TYPES) or kind in _ERROR_TYPES or kind.endswith(_ERROR_SUFFIXES):
        return False
    return bool(_length_kib(answer) or answer.body)


def _is_content(answer: RawResponse, code: int) -> bool:
    """True if an answer with a failure code is clearly the content itself (U-5): never 404 or 410 with a text."""
    if _is_document(answer):
        # A 5xx is taken for content only with a Server header: gateways answer without one (U-5).
        return 400 <= code <= 499 or "server" in answer.headers
    return 400 <= code <= 499 and (_length_kib(answer) or 0) > _ERROR_PAGE_KIB


def _length_kib(answer: RawResponse) -> int | None:
    """The size that the server states in KiB, rounded up; None if it states none, or that of a compressed body."""
    text = answer.headers.get("content-length", "")
    if answer.headers.get("content-encoding", "identity") != "identity":
        return None
    return -(-int(text) // 1024) if text.isascii() and text.isdigit() and len(text) <= 15 else None


def _host(url: str) -> str:
    return urlsplit(url).hostname or ""
