"""Newcomers: other documents where known ones were, and when that means that a host has a new owner (C-11).

Pages change for many reasons that end or do not matter: repairs, walls, notices, front pages with the news of the day,
a new design. So one look proves nothing. A host has a new owner if its documents have changed together, title and text
of each, if the new ones are still there some days later, and if all that was looked at has changed. While one document
of a visit is recognised, no other one makes a new owner. A stranger may also answer for a host that comes back after
its name or it was gone: nothing that was known of its face before its return is believed after it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

from weboid.core.document.face import SAME_BITS
from weboid.core.document.fingerprint import distance
from weboid.core.document.language import UNKNOWN
from weboid.core.document.portrait import BLANK, Newcomer, Portrait, is_alike, is_replaced
from weboid.core.observe.observation import Observation
from weboid.core.record.policy import DEFAULT, Policy, proven
from weboid.core.record.reasons import Reason
from weboid.core.record.record import HostRecord, UrlRecord
from weboid.core.record.specials import Sights, Special
from weboid.core.verdict.judge import is_host_failure

CONFIRMED_DAYS: Final = 5
"""Days after which a newcomer that is still there is no passing notice."""
TOGETHER_DAYS: Final = 21
"""Documents whose newcomers were found within so many days have changed together: a look takes a fortnight to come."""
ACCEPTED_DAYS: Final = 56
"""After so many days a newcomer that made no new owner is what the owner has put there."""
SEVERAL: Final = 3
"""So many documents must have changed if neither language nor trade is another."""
ONE_PAGE: Final = 2
"""So many are enough that have all become one page."""
_CONFIRMED: Final = 2
"""And for so many of them the newcomer must be confirmed: of two that are unrelated one in fifty is alike by chance."""
_NAMES: Final = frozenset({Reason.DNS_GONE, Reason.DNS_ERROR})


class Recognition(Enum):
    """The comparison of a document with the one that was remembered; UNKNOWN if one of the two shows too little, or
    they are neither alike nor far from each other."""

    UNKNOWN = 0
    SAME = 1
    OTHER = 2


@dataclass(frozen=True, slots=True)
class Jump:
    """The change from one document to a newcomer, found first on day `since`.

    `in_trade`: it is now of a trade of which it was not; `is_foreign`: in another language; `is_own` as in Portrait.
    """

    since: int
    in_trade: bool
    is_foreign: bool
    is_own: bool
    shown: Portrait = BLANK


def recognised(earlier: Portrait | None, now: Portrait) -> Recognition:
    """The comparison of a document with the earlier portrait."""
    if earlier is None or not (earlier.title and now.title):
        return Recognition.UNKNOWN
    if is_replaced(earlier, now):
        return Recognition.OTHER
    return Recognition.SAME if is_alike(earlier, now) else Recognition.UNKNOWN


def remembered(earlier: Portrait | None, now: Portrait, day: int) -> Portrait | None:
    """The portrait to keep after a look at a document that nothing speaks against; None = the same as before.

    A document that is another one each time cannot be compared with anything: then BLANK.
    """
    match recognised(earlier, now):
        case Recognition.UNKNOWN:
            return now if earlier in (None, BLANK) else None
        case Recognition.SAME:
            return now
        case Recognition.OTHER:
            assert earlier is not None
            if (known := earlier.newcomer) is None:
                return replace(earlier, newcomer=Newcomer(now, day))
            if not _is_still_there(earlier, known.portrait, now):
                return BLANK
            return now if day - known.since >= ACCEPTED_DAYS else None


def jump_of(portrait: Portrait | None) -> Jump | None:
    """The change that is remembered with a portrait."""
    if portrait is None or portrait.newcomer is None:
        return None
    now = portrait.newcomer.portrait
    return Jump(
        portrait.newcomer.since,
        now.in_trade and not portrait.in_trade,
        UNKNOWN not in (now.language, portrait.language) and now.language != portrait.language,
        now.is_own,
        now,
    )


def is_new_owner(jumps: Iterable[Jump], confirmed: int) -> bool:
    """True if the changes of a host's documents, of which none was recognised, mean a new owner.

    `confirmed` is for how many of them the newcomer was still there after some days (D-117).
    """
    jumps = list(jumps)
    newest = max((jump.since for jump in jumps), default=0)
    together = [jump for jump in jumps if newest - jump.since <= TOGETHER_DAYS]
    speaking = sum(jump.in_trade or (jump.is_foreign and jump.is_own) for jump in together)
    if 2 * speaking >= len(together):
        return confirmed >= 1
    several = ONE_PAGE if _are_one_page(together) else SEVERAL
    return len(together) >= several and all(jump.is_own for jump in together) and confirmed >= _CONFIRMED


def _are_one_page(jumps: Sequence[Jump]) -> bool:
    """True if all documents have become the same: in its title, and nearly in its text."""
    first = jumps[0].shown
    return first != BLANK and all(
        jump.shown.title == first.title and distance(jump.shown.fingerprint, first.fingerprint) <= SAME_BITS
        for jump in jumps
    )


def is_away(host: HostRecord, policy: Policy = DEFAULT) -> bool:
    """True if somebody else may be the next to answer for a host: its name does not resolve, or it is proven dead."""
    return host.reason in _NAMES or proven(host.streak, policy)


def has_returned(host: HostRecord, seen: Observation, policy: Policy = DEFAULT) -> bool:
    """True if a check shows that a host is back that was away before: it answers, or its name resolves again (D-83)."""
    if seen.inferred or seen.held or seen.not_http or not is_away(host, policy):
        return False
    return not is_host_failure(seen) or (host.reason in _NAMES and seen.reason not in _NAMES)


def is_before_change(record: UrlRecord, sights: Sights) -> bool:
    """True if a URL was not checked since its host came back, or since the day on which it was found to have a new
    owner."""
    if record.checked is None:
        return False
    returned, new_owner = sights.get(Special.RETURNED), sights.get(Special.NEW_OWNER)
    is_before_return = returned is not None and record.checked < returned.until
    return is_before_return or (new_owner is not None and record.checked <= new_owner.until)


class Newcomers:
    """The looks of one visit to a host together; begun with the portraits of the URLs that are due."""

    def __init__(self, portraits: Sequence[tuple[int, Portrait | None]]) -> None:
        self._jumps = {key: jump for key, portrait in portraits if (jump := jump_of(portrait))}
        self._confirmed: set[int] = set()
        self._changed: set[int] = set()
        self._is_living = False
        self.has_new_owner = False

    @property
    def are_suspected(self) -> bool:
        """True if all other documents of the visit should be looked at, too."""
        return bool(self._jumps)

    def has_changed(self, key: int) -> bool:
        """True if a look of this visit has shown a newcomer there."""
        return key in self._changed

    def take(self, key: int, earlier: Portrait | None, now: Portrait, day: int) -> tuple[Recognition, Portrait | None]:
        """Takes a look at a document; returns whether it is recognised, and what is to be remembered (None = as is)."""
        memory, recognition = remembered(earlier, now, day), recognised(earlier, now)
        jump = jump_of(earlier if memory is None else memory)
        if jump is None:
            self._jumps.pop(key, None)
        else:
            self._jumps[key] = jump
        if recognition is Recognition.OTHER and jump is not None:
            self._changed.add(key)
            if day - jump.since >= CONFIRMED_DAYS:
                self._confirmed.add(key)
        # A document that is another one each time speaks against a new owner like one that is recognised.
        is_changing = recognition is Recognition.OTHER and memory == BLANK
        self._is_living |= is_changing or recognition is Recognition.SAME
        self.has_new_owner = not self._is_living and is_new_owner(self._jumps.values(), len(self._confirmed))
        return recognition, memory


def _is_still_there(earlier: Portrait, known: Portrait, now: Portrait) -> bool:
    """True if a newcomer is still there, or another document that is as strange as it was."""
    is_foreign = known.language == now.language and UNKNOWN not in (known.language, earlier.language)
    is_as_strange = (known.in_trade and now.in_trade) or (is_foreign and known.language != earlier.language)
    return is_as_strange or not is_replaced(known, now)
