"""Judges an answer by its content rather than its code: combines all detectors of ``core/signs`` (C-11).

Bot walls come first, since nothing is known of what is behind them; then domains and servers without a site, then
logins and soft 404s. Content leads to a doubt or a refusal at most, never to a failure (U-7, D-14).
"""

from typing import Final
from urllib.parse import urlsplit

from weboid.core.document.document import Document, header_forward, is_html
from weboid.core.observe.observation import RawResponse
from weboid.core.record.reasons import Outcome, Reason, code_reason
from weboid.core.signs.botwall import CODES, wall_by_content, wall_by_headers
from weboid.core.signs.hosting import hosting_suspicion
from weboid.core.signs.login_walls import is_consent_url, is_foreign_login, is_login_url, login_suspicion
from weboid.core.signs.parked import parked_suspicion
from weboid.core.signs.scripts import script_suspicion
from weboid.core.signs.services import service_suspicion
from weboid.core.signs.soft404 import document_suspicion, redirect_suspicion
from weboid.core.signs.suspicion import Suspicion
from weboid.core.signs.trades import trade_suspicion
from weboid.core.url.hosts import registrable_domain

_IN_PLACE: Final = {402: Reason.SUSPENDED, 403: Reason.SUSPENDED, 500: Reason.MAINTENANCE}
"""What is shown in the place of a site with codes that say something else."""
_SENT_ON_WORDS: Final = 40
"""A document with more words that forwards after a while has content of its own."""


def content_suspicion(answer: RawResponse, *, read_body: bool = True) -> Suspicion | None:
    """The suspicion that an answer is not the requested document, by its headers, redirects and body; None if genuine.

    Without `read_body` the document's text is not analysed (C-15: robots.txt may forbid it), except for bot walls.
    """
    code = answer.code
    if code is None or (code not in CODES and 300 <= code <= 399):
        return None
    is_led = code in CODES or (answer.hops and not wall_by_headers(200, {}, answer.url))
    if found := wall_by_headers(code, answer.headers, answer.final if is_led else ""):
        return found
    if not answer.body and answer.final == answer.url:
        return None  # there is nothing else to examine; nearly every answer is of this kind
    document = answer.document
    if (code > 299 or document.is_page) and (found := wall_by_content(code, answer.body, document)):
        return found
    to_login = is_login_url(answer.final) and not is_login_url(answer.url)
    if code > 299:
        found = hosting_suspicion(answer.url, document, answer.body) if read_body and code in _IN_PLACE else None
        if found and found.reason is _IN_PLACE[code]:
            return found
        if code_reason(code).outcome is not Outcome.FAILING:
            return None
        if to_login and code <= 499 and is_foreign_login(answer.url, answer.final, code):
            return Suspicion(Reason.REDIRECT_TO_LOGIN, ("redirect",))
        found = script_suspicion(code, answer.headers, answer.body, document, reads=read_body)
        return found or (login_suspicion(answer.url, document) if read_body and code <= 499 else None)
    if is_consent_url(answer.final):
        return None
    if to_login:
        return None  # a redirect to a login, with or without body: ``core/observe/observe`` reports it
    if not read_body:
        document = Document(url=answer.final)
    body = answer.body if document.is_page else b""
    return (
        script_suspicion(code, answer.headers, body, document)
        or service_suspicion(answer.final, document, body)
        or parked_suspicion(answer.url, answer.final, document, body)
        or hosting_suspicion(answer.url, document, body)
        or redirect_suspicion(answer.url, answer.final)
        or login_suspicion(answer.url, document)
        or document_suspicion(answer.url, document)
        or trade_suspicion(answer.url, document)
        or _refresh_suspicion(answer.url, document)
    )


def signals_of(answer: RawResponse, reason: Reason) -> tuple[str, ...]:
    """The signals for a reason that is not working: signs of the content, a redirect or a code."""
    if reason.outcome is Outcome.WORKING or answer.code is None:
        return ()
    if (found := content_suspicion(answer)) and found.reason is reason:
        return found.signals
    if reason in (Reason.REDIRECT_TO_ROOT, Reason.REDIRECT_TO_LOGIN):
        return ("redirect",)
    return (f"code:{answer.code}",)


def _refresh_suspicion(asked: str, document: Document) -> Suspicion | None:
    """The suspicion by a document that only forwards: judged by its target, like a redirect."""
    if document.refresh is None or len(document.words) > _SENT_ON_WORDS or document.refresh == document.url:
        return None
    if found := redirect_suspicion(asked, document.refresh):
        return Suspicion(found.reason, (*found.signals, "meta-refresh"))
    start, end = urlsplit(asked), urlsplit(document.refresh)
    if start.path not in ("", "/") and end.path in ("", "/") and not end.query and end.scheme.startswith("http"):
        return Suspicion(Reason.REDIRECT_TO_ROOT, ("meta-refresh",))
    return None


def forward_in(answer: RawResponse) -> str | None:
    """The target to which browsers go on at once from a document that seems to be fine; None if they show it.

    Its target is judged in its place (D-471).
    """
    if answer.code is None or not 200 <= answer.code <= 299:
        return None
    target = header_forward(answer.headers.get("refresh", ""))
    if target is None and answer.body:
        target = answer.document.forward
    return None if target is None or content_suspicion(answer) else target


def needs_body(answer: RawResponse) -> bool:
    """True if an answer to HEAD is HTML, and a redirect led to it from another domain, or to a root (C-11)."""
    if answer.code is None or answer.final == answer.url or not 200 <= answer.code <= 299:
        return False
    if not is_html(answer.headers.get("content-type", ""), b""):
        return False
    start, end = urlsplit(answer.url), urlsplit(answer.final)
    if registrable_domain(start.hostname or "") != registrable_domain(end.hostname or ""):
        return True
    return start.path not in ("", "/") and end.path in ("", "/")
