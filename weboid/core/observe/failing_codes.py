"""Doubts about failing codes: which are asked for again, and what the host's front page says of them (C-2, D-2)."""

from typing import Final, NamedTuple

from weboid.core.observe.content import document_in
from weboid.core.observe.observation import Observation, RawResponse
from weboid.core.record.reasons import Outcome, Reason, needs_contrast
from weboid.core.signs.botwall import wall_by_content
from weboid.core.signs.soft404 import document_suspicion
from weboid.core.signs.suspicion import Suspicion

REFUSING: Final = frozenset({401, 403, 406, 418})
"""Refusals; with a document that is no text the document was sent all the same (U-5)."""
_SHELL_WORDS: Final = 40
"""A document with more words is no mere frame that scripts fill in."""


class FrontPage(NamedTuple):
    """The front page of a host, as it is compared with an answer: its code and what fills it in."""

    code: int | None
    outcome: Outcome
    sources: tuple[str, ...]


def calls_for_second_asking(answer: RawResponse, seen: Observation) -> bool:
    """True if a failing code should be asked for once more, by other headers; 406 as well (U-4)."""
    if seen.outcome is Outcome.FAILING:
        return answer.code is not None or answer.fault is Reason.REDIRECT_BROKEN
    return answer.code == 406 and seen.outcome is Outcome.REFUSED


def calls_for_front(answer: RawResponse) -> bool:
    """True if the front page may show that a failing code is no evidence."""
    if answer.code is None or needs_contrast(answer.code):
        return answer.code is not None
    return bool(_application(answer)) or _is_wall_in_404(answer)


def front_of(answer: RawResponse, seen: Observation) -> FrontPage:
    """The front page as it was answered."""
    return FrontPage(answer.code, seen.outcome, _shell_sources(answer))


def front_suspicion(answer: RawResponse, front: FrontPage | None) -> Suspicion | None:
    """The suspicion against a failing code; `front` is None if there is no other place, or none could be asked.

    A code about the request is a refusal unless the front page has an answer of another kind (D-2).
    """
    if answer.code is not None and needs_contrast(answer.code):
        if front is not None and front.code is not None:
            is_there = front.outcome in (Outcome.WORKING, Outcome.DOUBTFUL)
            if is_there or (front.outcome is Outcome.FAILING and not needs_contrast(front.code)):
                return None
        return Suspicion(Reason.BOT_WALL, (f"code:{answer.code}", "same-everywhere"))
    if front is not None and front.code == answer.code and _is_wall_in_404(answer):
        return Suspicion(Reason.BOT_WALL, ("same-everywhere",))
    if front is not None and front.outcome is Outcome.WORKING and front.sources == _application(answer) != ():
        return Suspicion(Reason.SOFT_404, ("application",))
    return None


def _is_wall_in_404(answer: RawResponse) -> bool:
    """True if a 404 has the words of a wall: then it is one if the front page is missing, too."""
    return answer.code in (404, 410) and wall_by_content(403, answer.body, document_in(answer)) is not None


def _application(answer: RawResponse) -> tuple[str, ...]:
    """The scripts of a 404 that may be an application's frame for every path; empty if it says what is missing."""
    if answer.code != 404 or document_suspicion(answer.url, document_in(answer)):
        return ()
    return _shell_sources(answer)


def _shell_sources(answer: RawResponse) -> tuple[str, ...]:
    document = document_in(answer)
    return document.sources if len(document.words) <= _SHELL_WORDS else ()
