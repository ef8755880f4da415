"""Known verdicts, flags and archived copies of links when a page is repaired, by normal form (B-3, B-4).

They are read out of answers of ``/api/page``, as documented in docs/api.md, or out of cases. Anything that cannot be
read is *unknown*: it is never an exception, never *dead*, never *none*, and never a copy that goes into a page.
"""

import html
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from weboid.core.archive.configured import NAMES
from weboid.core.archive.copies import CopyOrigin, CopyState
from weboid.core.archive.dialects.replies import moment_of
from weboid.core.url.archives import snapshot_of
from weboid.core.url.hosts import InvalidUrl
from weboid.core.url.urls import Url, parse
from weboid.core.verdict.report_json import FROZEN as FROZEN
from weboid.core.verdict.verdict import Verdict
from weboid.core.wikitext.link_lists import PERMADEAD as PERMADEAD
from weboid.core.wikitext.link_lists import PERMALIVE as PERMALIVE
from weboid.core.wikitext.link_lists import SUBSCRIPTION as SUBSCRIPTION

_VERDICTS: Final = {verdict.word: verdict for verdict in Verdict}
_STATES: Final = {state.value: state for state in CopyState}
_FOUND: Final = CopyState.FOUND.value
_MOST_COPIES: Final = 100
"""Of one link; the service gives one of each archive, of which there are a few dozen."""
_ENTITY: Final = re.compile(r"&(?:amp|#\d{1,7}|#[xX][0-9A-Fa-f]{1,6});")


@dataclass(frozen=True, slots=True)
class KnownCopy:
    """An archived copy that may go into a page: its address for readers, its moment in UTC, and whether somebody chose
    it for this link."""

    address: str
    taken: datetime
    is_suggested: bool = False


@dataclass(frozen=True, slots=True)
class LinkAnswer:
    """The answer for one link; it has verified `snapshots`, the first choice first, exactly if `copies` is FOUND."""

    verdict: Verdict = Verdict.UNKNOWN
    flags: frozenset[str] = frozenset()
    copies: CopyState = CopyState.UNKNOWN
    snapshots: tuple[KnownCopy, ...] = ()


@dataclass(frozen=True, slots=True)
class KnownLinks:
    """The answers for links, by their normal form."""

    by_url: Mapping[str, LinkAnswer] = field(default_factory=dict)

    def of(self, url: str) -> LinkAnswer | None:
        """The answer for a URL as it is written; None if nothing is known."""
        key = key_of(url)
        return None if key is None else self.by_url.get(key)


def form_of(url: str) -> Url | None:
    """The normal form of a URL as written in wikitext; None if it has none."""
    try:
        return parse(meant(url))
    except (InvalidUrl, ValueError):  # ValueError: a text that is no text, such as half of a pair
        return None


def meant(url: str) -> str:
    """A URL as written in wikitext without ``{{=}}`` and references such as ``&#91;``, whose ``#`` is no fragment's."""
    return _ENTITY.sub(lambda found: html.unescape(found[0]), url.replace("{{=}}", "="))


def key_of(url: str) -> str | None:
    """The normal form as text."""
    form = form_of(url)
    return None if form is None else str(form)


def read_pages(pages: Iterable[Any], now: datetime) -> KnownLinks:
    """The answers for the links of pages, each complete: all parts' `links` in one list.

    Of a link that several pages have, the first answer counts. Copies later than `now` are ignored.
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
    state = _state_in(link.get("archived"), copies)
    is_found = state is CopyState.FOUND
    return LinkAnswer(_verdict_in(link.get("verdict")), _flags_in(link.get("flags")), state, copies if is_found else ())


def _verified(given: Any, now: datetime) -> Iterator[KnownCopy]:
    """The copies that were visited and played (A-3), in the service's order; who does not say so has not looked."""
    for each in list(_tables(given))[:_MOST_COPIES]:
        if each.get("verified") is True:
            is_suggested = each.get("origin") == CopyOrigin.SUGGESTED.value
            service = each.get("service")
            copy = _copy_in(each.get("snapshot"), each.get("stamp"), now, service=service, is_suggested=is_suggested)
            if copy is not None:
                yield copy


def _tables(given: Any) -> Iterator[dict[str, Any]]:
    if isinstance(given, list):
        yield from (each for each in given if isinstance(each, dict))


def read_answers(verdicts: Mapping[str, Any], archives: Mapping[str, Any], now: datetime) -> KnownLinks:
    """The answers of a case out of JSON.

    A verdict is its word, or ``{"verdict": …, "flags": […]}``. An archive is ``{"url": …, "stamp": …}`` or a list of
    such, null for *none*, or the word of another state; each may have ``state``, ``verified`` and ``service``. Copies
    later than `now` are ignored.
    """
    answers: dict[str, LinkAnswer] = {}
    for url in dict.fromkeys((*verdicts, *archives)):
        key = key_of(url)
        if key is not None:
            verdict, flags = _verdict(verdicts.get(url))
            state, copies = _copies(archives[url], now) if url in archives else (CopyState.UNKNOWN, ())
            answers[key] = LinkAnswer(verdict, flags, state, copies)
    return KnownLinks(answers)


def _verdict_in(word: Any) -> Verdict:
    return _VERDICTS.get(word, Verdict.UNKNOWN) if isinstance(word, str) else Verdict.UNKNOWN


def _flags_in(given: Any) -> frozenset[str]:
    return frozenset(flag for flag in given if isinstance(flag, str)) if isinstance(given, list) else frozenset()


def _state_in(word: Any, copies: Collection[KnownCopy]) -> CopyState:
    """The state of a word and of the copies that were read: FOUND exactly if there are any."""
    state = _STATES.get(word, CopyState.UNKNOWN) if isinstance(word, str) else CopyState.UNKNOWN
    if state is CopyState.FOUND:
        return state if copies else CopyState.UNKNOWN
    return CopyState.UNKNOWN if copies else state


def _copy_in(
    address: Any, stamp: Any, now: datetime, *, service: Any = None, is_suggested: bool = False
) -> KnownCopy | None:
    """The copy at an address, of the moment that this says, else of a stamp of 14 digits.

    `service` is the word of the archive, which an operator may have at an address of their own. None for copies without
    a moment, or later than `now`, at services to which nobody may be sent, and at addresses of no known archive.
    """
    if not isinstance(address, str):
        return None
    snapshot = snapshot_of(address)
    if snapshot is None and service not in NAMES:
        return None
    taken = snapshot.taken if snapshot is not None and snapshot.taken else moment_of(str(stamp))
    if taken is None or taken.astimezone(UTC) > now or (snapshot is not None and not snapshot.archive.is_offered):
        return None
    return KnownCopy(address, taken, is_suggested)


def _verdict(given: Any) -> tuple[Verdict, frozenset[str]]:
    if isinstance(given, dict):
        return _verdict_in(given.get("verdict")), _flags_in(given.get("flags"))
    return _verdict_in(given), frozenset()


def _copies(given: Any, now: datetime) -> tuple[CopyState, tuple[KnownCopy, ...]]:
    if given is None:
        return CopyState.NONE, ()
    if isinstance(given, list):
        read = [_copies(each, now) for each in given if isinstance(each, dict)]
        copies = tuple(copy for _, found in read for copy in found)
        return _state_in(_FOUND, copies), copies
    if not isinstance(given, dict):
        return _state_in(given, ()), ()
    word = given.get("state", _FOUND)
    is_usable = word == _FOUND and given.get("verified") is not False
    copy = _copy_in(given.get("url"), given.get("stamp"), now, service=given.get("service")) if is_usable else None
    copies = () if copy is None else (copy,)
    return _state_in(word, copies), copies
