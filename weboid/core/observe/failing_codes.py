"""Doubts about failing codes: which are asked for again, and what the host's front page says of them (C-2, D-2)."""

import re
from collections.abc import Collection
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

from msgspec.structs import replace

from weboid.core.document.folding import folded
from weboid.core.observe.content import content_suspicion
from weboid.core.observe.observation import Observation, RawResponse
from weboid.core.record.reasons import Outcome, Reason, needs_contrast
from weboid.core.record.status import NO_CODE
from weboid.core.signs.botwall import wall_by_content
from weboid.core.signs.missing_words import SEPARATOR
from weboid.core.signs.soft404 import document_suspicion, hints_at_missing
from weboid.core.signs.suspicion import Suspicion

REFUSING: Final = frozenset({401, 403, 406, 418})
"""Refusals; with a document that is no text the document was sent all the same (U-5)."""
ALIKE: Final = 2
"""So many other URLs with the same kind of code say more than the front page, which may be let through alone."""
_SHOWING: Final = frozenset({404, 500, 504})
"""Codes with which some servers send the page itself: 500 and 504 to programs, for which they finish it first."""
_FRAME_WORDS: Final = 40
"""A document with more words is no mere frame that scripts fill in, …"""
_NAMING_CHARS: Final = 4
"""A shorter word in a URL names nothing."""
_EMPTY_WORDS: Final = 3
"""… and one with no more is empty."""
_MOUNT: Final = re.compile(
    rb"\bid=[\"']?(?:root|app|__next|__nuxt|___gatsby|q-app|svelte)\b|<app-root|__sveltekit|config/environment|"
    rb"flutter_bootstrap\.js|flutter\.js",
    re.IGNORECASE,
)
"""The places that the programs of applications fill in."""
_IMPORTED: Final = re.compile(rb"\bimport\(\s*[\"']([^\"'\s]+)")


class FrontPage(NamedTuple):
    """The front page of a host, as it is compared with an answer: its code and the scripts that fill it in.

    `is_frame`: these are all there is of it. `may_refuse`: its code may be for programs alone.
    """

    code: int | None
    outcome: Outcome
    sources: frozenset[str]
    is_frame: bool
    may_refuse: bool


def may_refuse(code: int | None) -> bool:
    """True if a host may answer a code to programs alone (D-2)."""
    return bool(code) and needs_contrast(code or NO_CODE)


def calls_for_second_asking(answer: RawResponse, seen: Observation) -> bool:
    """True if a failing code, 406 (U-4), a mute server, or what a limit of ours ended is to be asked for again by other
    headers.
    """
    if seen.outcome is Outcome.FAILING:
        return answer.code is not None or answer.fault is Reason.REDIRECT_BROKEN or _is_mute(answer)
    return seen.reason is Reason.OUR_LIMIT or (answer.code == 406 and seen.outcome is Outcome.REFUSED)


def _is_mute(answer: RawResponse) -> bool:
    """True if a server hung up, or said nothing sensible: some do so to headers that no browser sends (D-2). Silence
    takes the time that the other scheme needs.
    """
    return answer.reached and answer.fault in (Reason.RESET, Reason.PROTOCOL)


def takes_place(again: RawResponse, seen: Observation, answer: RawResponse) -> bool:
    """True if what was seen at the second asking counts in place of `answer`: any life of a server that was mute."""
    if again.bare or _is_mute(answer):
        return again.code is not None and (again.bare or seen.outcome is not Outcome.FAILING)
    return seen.outcome is not Outcome.FAILING and seen.reason is not Reason.RATE_LIMIT


def calls_for_front(answer: RawResponse) -> bool:
    """True if the front page may show that a failing code is no evidence."""
    return _may_refuse(answer) or bool(_frame(answer)) or _is_wall_in_404(answer)


def may_show(answer: RawResponse) -> bool:
    """True if a 404, 500 or 504 may show the page itself: with a title and a text, which say of nothing missing."""
    document = answer.document
    has_text = answer.code in _SHOWING and bool(document.title) and len(document.words) > _FRAME_WORDS
    is_page = has_text and not hints_at_missing(document) and content_suspicion(replace(answer, code=200)) is None
    return is_page and (answer.code == 404 or _is_named(answer))


def _is_named(answer: RawResponse) -> bool:
    """True if a title begins with a word of the last part of a URL that its host has not; errors have paths in it."""
    place, title = urlsplit(answer.final), answer.document.title
    last = unquote(place.path).rstrip("/").rpartition("/")[2]
    shared = {*folded(last).split()} & {*folded(SEPARATOR.split(title)[0]).split()} - {*folded(place.netloc).split()}
    return f"/{last}" not in title and any(len(word) >= _NAMING_CHARS for word in shared)


def is_other(answer: RawResponse, other: RawResponse) -> bool:
    """True if a document has another title and other words than what a URL that nobody has is answered: 404, or so."""
    one, two = answer.document, other.document
    has_failed = other.code in (404, answer.code)
    return has_failed and one.title != two.title and len({*one.words} - {*two.words}) > _FRAME_WORDS


def front_of(answer: RawResponse, seen: Observation) -> FrontPage:
    """The front page as it was answered."""
    is_frame = len(answer.document.words) <= _FRAME_WORDS
    return FrontPage(answer.code, seen.outcome, _sources(answer), is_frame, _may_refuse(answer))


def front_suspicion(answer: RawResponse, front: FrontPage | None, others: Collection[int] = ()) -> Suspicion | None:
    """The suspicion against a failing code; `front` is None if there is no other place, or none could be asked.

    A code about the request, or a redirect to itself, is a refusal unless the front page has an answer of another kind
    (D-2). What `others`, watched URLs of the host, answer now goes before it: one of another kind, or `ALIKE` of the
    same kind alone.
    """
    if _may_refuse(answer):
        if not all(map(needs_contrast, others)):
            return None
        if front is not None and front.code is not None and len(others) < ALIKE:
            is_there = front.outcome in (Outcome.WORKING, Outcome.DOUBTFUL)
            # A bare 503 says no more than a refusal (D-78).
            if is_there or (front.outcome is Outcome.FAILING and not (front.may_refuse or front.code == 503)):
                return None
        return Suspicion(Reason.BOT_WALL, (f"code:{answer.code}", "same-everywhere"))
    if front is not None and front.code == answer.code and _is_wall_in_404(answer):
        return Suspicion(Reason.BOT_WALL, ("same-everywhere",))
    if _is_application(answer, front):
        return Suspicion(Reason.SOFT_404, ("application",))
    return None


def _may_refuse(answer: RawResponse) -> bool:
    """True if a code is about the request, or a redirect leads to its own URL: of a whole host that is a refusal."""
    hop = answer.hops[-1] if answer.hops else None
    return may_refuse(answer.code) or (hop is not None and hop.code == answer.code and hop.url == hop.location)


def _is_wall_in_404(answer: RawResponse) -> bool:
    """True if a 404 has the words of a wall: then it is one if the front page is missing, too."""
    return answer.code in (404, 410) and wall_by_content(403, answer.body, answer.document) is not None


def _frame(answer: RawResponse) -> frozenset[str]:
    """The scripts of a 404 that may be an application's frame for every path; empty if it says what is missing."""
    document = answer.document
    if answer.code != 404 or len(document.words) > _FRAME_WORDS or document_suspicion(answer.url, document):
        return frozenset()
    return _sources(answer)


def _is_application(answer: RawResponse, front: FrontPage | None) -> bool:
    """True if a 404 is the frame of the front page, which a server may have filled in, or empty where none is seen."""
    sources = _frame(answer)
    is_empty = len(answer.document.words) <= _EMPTY_WORDS and _MOUNT.search(answer.body) is not None
    if front is None or front.outcome is not Outcome.WORKING:
        return bool(sources) and is_empty
    if front.is_frame:
        return bool(sources) and sources == front.sources
    return bool(sources) and is_empty and sources <= front.sources


def _sources(answer: RawResponse) -> frozenset[str]:
    """The scripts that a document loads, or imports; in a coding that we do not read, its length."""
    length = answer.headers.get("content-length", "0")
    if not answer.body and "content-encoding" in answer.headers and length != "0":
        return frozenset({length})
    imported = (name.decode("latin-1") for name in _IMPORTED.findall(answer.body))
    return frozenset((*answer.document.sources, *imported))
