"""Answers of ``/api/page`` as what is known of links: verdicts, flags and verified copies, by normal form (B-3, B-4).

The keys are those of docs/api.md.
One law: what is not as documented there is *unknown*; it is never an exception, never *dead*, never *none*, and never a
copy that goes into a page.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Final

from weboid.bot.answers import KnownCopy, KnownLinks, LinkAnswer, copy_in, flags_in, key_of, state_in, verdict_in
from weboid.core.archive.copies import CopyOrigin, CopyState

_MOST_COPIES: Final = 100
"""Of one link; the service gives one of each archive, of which there are a few dozen."""


def read_pages(pages: Iterable[Any], now: datetime) -> KnownLinks:
    """What is known of the links of pages, each complete: all parts' `links` in one list.

    Of a link that several pages have, the first answer counts. Copies later than `now` are noise.
    """
    answers: dict[str, LinkAnswer] = {}
    for page in pages:
        for link in _tables(page.get("links") if isinstance(page, dict) else None):
            normal = link.get("normal")
            if isinstance(normal, str) and normal not in answers and key_of(normal) == normal:
                answers[normal] = _answer(link, now)
    return KnownLinks(answers)


def _answer(link: dict[str, Any], now: datetime) -> LinkAnswer:
    copies = tuple(_verified(link.get("snapshots"), now))
    state = state_in(link.get("archived"), copies)
    is_found = state is CopyState.FOUND
    return LinkAnswer(verdict_in(link.get("verdict")), flags_in(link.get("flags")), state, copies if is_found else ())


def _verified(given: Any, now: datetime) -> Iterator[KnownCopy]:
    """The copies that were visited and played (A-3), in the service's order (D-272)."""
    for each in list(_tables(given))[:_MOST_COPIES]:
        if each.get("verified") is True:
            is_suggested = each.get("origin") == CopyOrigin.SUGGESTED.value
            service = each.get("service")
            copy = copy_in(each.get("snapshot"), each.get("stamp"), now, service=service, is_suggested=is_suggested)
            if copy is not None:
                yield copy


def _tables(given: Any) -> Iterator[dict[str, Any]]:
    """The tables of a list; of anything else none."""
    if isinstance(given, list):
        yield from (each for each in given if isinstance(each, dict))
