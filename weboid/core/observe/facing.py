"""Judges a document by its host's not-found face: the conclusions if made-up URLs are answered like it (C-11).

A document is doubted only if a URL that shares nothing with its own gets the same answer, and what is real on the host
gets another; everything else is genuine.
"""

import re
from dataclasses import replace
from enum import Enum
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from weboid.core.document.document import Words
from weboid.core.document.face import Face, Kind, Look, Role, Seen, look_of
from weboid.core.observe.observation import RawResponse
from weboid.core.record.reasons import Outcome, Reason, code_reason
from weboid.core.signs.botwall import wall_by_content
from weboid.core.signs.login_walls import is_consent_url
from weboid.core.signs.parked import offers_trade
from weboid.core.signs.suspicion import Suspicion
from weboid.core.url.made_up import MadeUp, Probes
from weboid.core.url.urls import Url

_HONEST_CODES: Final = (404, 410)
_REFUSAL: Final = 403
_WALL_WORDS: Final = 120
_LOGIN_WORDS: Final = 60
"""A template with more words has a form next to its message."""
_TEXT_WORDS: Final = 25
_PLACEHOLDER_WORDS: Final = 300
"""The pages that server programs and hosters bring along have fewer."""
_WIDGETS: Final = (b'class="g-recaptcha', b'class="h-captcha', b'class="cf-turnstile', b"data-sitekey=")
_COMMON_VENDORS: Final = frozenset({"vendor:captcha", "vendor:cloudflare"})
"""Their scripts are in living pages, too."""
_LATIN: Final = re.compile("[A-Za-z]{4}")


class Asking(NamedTuple):
    """A URL whose answer is needed for a judgement."""

    made_up: MadeUp
    role: Role


class Likeness(Enum):
    """The answers that a document is like."""

    NONE = "none"
    TEMPLATE = "template"
    """It is like the answers for what is missing, and unlike what is there."""
    EVERYTHING = "everything"
    """It is like the front page, too."""


def likeness_of(seen: Seen, probes: Probes, face: Face, day: int) -> Likeness | Asking:
    """The likeness of a document by what is known of its host, or the URL that is still to be asked (D-111)."""
    if not seen.is_comparable:
        return Likeness.NONE
    wide = seen.is_like(face.look(probes.far, day))
    if not wide:
        near = face.look(probes.near, day)
        if near is None:
            return Asking(probes.near, Role.NEAR) if face.takes_more(day) else Likeness.NONE
        if not seen.is_like(near):
            return Likeness.NONE
    for real in (probes.bare, probes.root):
        if real is not None and not (wide and real == probes.bare):
            look = face.look(real, day)
            if look is None:
                return Asking(real, Role.REAL)
            if look.kind is Kind.UNCLEAR:
                return Likeness.NONE
            if not seen.is_like(look, wherever=True):
                return _unlike(real, seen, probes, face, day)
    if probes.bare is not None and probes.far is not None and not wide:
        # So far only one program is known to answer everything alike.
        far = face.look(probes.far, day)
        return Asking(probes.far, Role.FAR) if far is None else Likeness.NONE
    return Likeness.EVERYTHING


def _unlike(real: MadeUp, seen: Seen, probes: Probes, face: Face, day: int) -> Likeness | Asking:
    """The likeness of a document that is like what was made up, and unlike something real."""
    if probes.far is None or real == probes.bare:
        return Likeness.TEMPLATE
    far = face.look(probes.far, day)
    if far is None:
        return Asking(probes.far, Role.FAR)
    if seen.is_like(far):
        return Likeness.TEMPLATE
    # A program that ignores its parameters shows what its path alone names.
    return Likeness.NONE if probes.bare is not None or _may_be_named(seen, probes) else Likeness.TEMPLATE


def answer_of(answer: RawResponse, made_up: MadeUp) -> Look:
    """The look of the answer for a made-up URL."""
    if answer.code in _HONEST_CODES:
        return Look(Kind.HONEST)
    if answer.code is None or code_reason(answer.code).outcome is not Outcome.WORKING:
        return Look(Kind.UNCLEAR)
    return look_of(answer.document, made_up, answer.body)


def face_suspicion(
    url: Url, seen: Seen, probes: Probes, likeness: Likeness, body: bytes, *, is_newcomer: bool = False
) -> Suspicion | None:
    """The suspicion that follows for the document of a URL; None if it is genuine or nothing can be concluded.

    What answers everything alike is named by what it shows: a wall, a login, or a placeholder, unless it says a word
    by which the URL names its document. An application that scripts fill in answers everything alike as well, and what
    people see there is not known, unless it is a newcomer: title and text of a known document are lost, too
    (D-489).
    """
    document = seen.document
    if likeness is Likeness.NONE or is_consent_url(document.url):
        return None
    if document.asks_password and len(document.words) <= _LOGIN_WORDS and not probes.is_front:
        return Suspicion(Reason.LOGIN, ("password-field", "same-as-made-up"))
    if likeness is Likeness.TEMPLATE:
        return Suspicion(Reason.SOFT_404, ("same-as-made-up",))
    return _everywhere(seen, probes, body, is_newcomer=is_newcomer)


def _everywhere(seen: Seen, probes: Probes, body: bytes, *, is_newcomer: bool) -> Suspicion | None:
    """The suspicion against a document that a host sends for everything, its front page included (D-112)."""
    document, page = seen.document, body.lower()
    is_fixed = not document.sources and b"<script" not in page
    # Whatever its length: a wall is at no other place on a host that has documents.
    wall = wall_by_content(_REFUSAL, body, replace(document, words=Words()))
    if wall and (is_fixed or _COMMON_VENDORS.isdisjoint(wall.signals)):
        return Suspicion(Reason.BOT_WALL, (*wall.signals, "same-everywhere"))
    if len(document.words) <= _WALL_WORDS and any(mark in page for mark in _WIDGETS):
        return Suspicion(Reason.BOT_WALL, ("vendor:captcha", "same-everywhere"))
    if probes.is_front:
        return None
    if seen.moved and len(document.words) >= _TEXT_WORDS:
        return Suspicion(Reason.REDIRECT_TO_ROOT, ("same-everywhere",))
    if is_newcomer and document.title and not seen.names(probes.named | probes.shared):
        return Suspicion(Reason.SAME_EVERYWHERE, ("same-everywhere", "newcomer"))
    is_short = document.title and len(document.words) <= _PLACEHOLDER_WORDS
    if not is_fixed or not is_short or seen.mentions(probes.named | probes.shared):
        return None
    reason = Reason.PARKED if offers_trade(document) else Reason.SAME_EVERYWHERE
    return Suspicion(reason, ("same-everywhere",))


def _may_be_named(seen: Seen, probes: Probes) -> bool:
    """True if the top directory may be the document's id, so that all that stands behind it leads to the document.

    It may if the document says a word of its URL in the title, or is titled in another script than the URL, or if
    everything is sent to one place in the directory.
    """
    if seen.moved:
        path = urlsplit(seen.document.url).path
        return path.startswith(probes.top) and path != probes.top
    title = seen.document.title
    return seen.names(probes.named | probes.shared) or not (title.isascii() or _LATIN.search(title))
