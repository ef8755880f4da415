"""What is known of links when a page is repaired: verdicts, flags and archived copies, by normal form (B-3, B-4).

One law: what cannot be read is *unknown*, never *dead* and never *none*.
"""

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from weboid.core.archive.copies import CopyState
from weboid.core.archive.dialects.replies import moment_of
from weboid.core.url.archives import snapshot_of
from weboid.core.url.hosts import InvalidUrl
from weboid.core.url.urls import parse
from weboid.core.verdict.verdict import Verdict

FROZEN: Final = "frozen"
"""Nothing is done: a repair was reverted, and nobody has reviewed that yet (B-6)."""
PERMALIVE: Final = "permalive"
PERMADEAD: Final = "permadead"
SUBSCRIPTION: Final = "subscription"

_VERDICTS: Final = {verdict.word: verdict for verdict in Verdict}
_STATES: Final = {state.value: state for state in CopyState}
_ENTITY: Final = re.compile(r"&(?:amp|#\d{1,7}|#[xX][0-9A-Fa-f]{1,6});")


@dataclass(frozen=True, slots=True)
class KnownCopy:
    """An archived copy that may go into a page: its address for readers, and its moment in UTC."""

    address: str
    taken: datetime


@dataclass(frozen=True, slots=True)
class LinkAnswer:
    """What is known of one link; `copy` is there exactly if `copies` is FOUND."""

    verdict: Verdict = Verdict.UNKNOWN
    flags: frozenset[str] = frozenset()
    copies: CopyState = CopyState.UNKNOWN
    copy: KnownCopy | None = None


@dataclass(frozen=True, slots=True)
class KnownLinks:
    """What is known of links, by their normal form."""

    by_url: Mapping[str, LinkAnswer] = field(default_factory=dict)

    def of(self, url: str) -> LinkAnswer | None:
        """What is known of a URL as it is written; None if nothing is."""
        key = key_of(url)
        return None if key is None else self.by_url.get(key)


def key_of(url: str) -> str | None:
    """The normal form of a URL as written in wikitext; None if it has none."""
    try:
        return str(parse(_ENTITY.sub(lambda found: html.unescape(found[0]), url)))
    except (InvalidUrl, ValueError):  # ValueError: a text that is no text, such as half of a pair
        return None


def read_answers(verdicts: Mapping[str, Any], archives: Mapping[str, Any], now: datetime) -> KnownLinks:
    """KnownLinks out of JSON.

    A verdict is its word, or ``{"verdict": …, "flags": […]}``. An archive is ``{"url": …, "stamp": …}``, null for
    *none*, or the word of another state; it may have ``state`` and ``verified``. Copies later than `now` are noise.
    """
    answers: dict[str, LinkAnswer] = {}
    for url in dict.fromkeys((*verdicts, *archives)):
        key = key_of(url)
        if key is not None:
            verdict, flags = _verdict(verdicts.get(url))
            state, copy = _copy(archives[url], now) if url in archives else (CopyState.UNKNOWN, None)
            answers[key] = LinkAnswer(verdict, flags, state, copy)
    return KnownLinks(answers)


def _verdict(given: Any) -> tuple[Verdict, frozenset[str]]:
    if isinstance(given, str):
        return _VERDICTS.get(given, Verdict.UNKNOWN), frozenset()
    if not isinstance(given, dict):
        return Verdict.UNKNOWN, frozenset()
    word, flags = given.get("verdict"), given.get("flags")
    verdict = _VERDICTS.get(word, Verdict.UNKNOWN) if isinstance(word, str) else Verdict.UNKNOWN
    return verdict, frozenset(flag for flag in flags if isinstance(flag, str)) if isinstance(
        flags, list
    ) else frozenset()


def _copy(given: Any, now: datetime) -> tuple[CopyState, KnownCopy | None]:
    if given is None:
        return CopyState.NONE, None
    if isinstance(given, str):
        state = _STATES.get(given, CopyState.UNKNOWN)
        return (CopyState.UNKNOWN if state is CopyState.FOUND else state), None
    if not isinstance(given, dict):
        return CopyState.UNKNOWN, None
    state = _STATES.get(str(given.get("state", CopyState.FOUND.value)), CopyState.UNKNOWN)
    address = given.get("url")
    if state is not CopyState.FOUND:
        return state, None
    if not isinstance(address, str) or given.get("verified") is False:
        return CopyState.UNKNOWN, None
    snapshot = snapshot_of(address)
    taken = snapshot.taken if snapshot is not None and snapshot.taken else moment_of(str(given.get("stamp")))
    if taken is None or taken.astimezone(UTC) > now or (snapshot is not None and not snapshot.archive.is_offered):
        return CopyState.UNKNOWN, None
    return CopyState.FOUND, KnownCopy(address, taken)
