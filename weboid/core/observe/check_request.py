"""Requests for checks: a URL, and the ways of checking it by what is known beforehand (C-1, C-6, C-11).

``checking/checker`` follows the request alone; what it finds out about the host is in the observation.
"""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from weboid.core.document.face import NO_FACE, Face
from weboid.core.document.portrait import BLANK, Portrait, is_replaced
from weboid.core.observe.observation import Observation
from weboid.core.record.policy import Policy, may_prove, proven
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.record import UrlRecord
from weboid.core.record.specials import Sights, Special
from weboid.core.url.made_up import near_place
from weboid.core.url.urls import Url, parse_again

LOOK_DAYS: Final = 14
"""Once in so many days the document itself is examined, not only headers: nothing else shows a soft 404 (C-11)."""
_RENEWAL_DAYS: Final = 13 * LOOK_DAYS
"""Once in so many days the portrait is taken anew, for documents change."""
_REVIEW_DAYS: Final = 4 * LOOK_DAYS
"""Once in so many days the code of a dead URL is asked for once more as a browser would."""


class CheckRequest(Struct, frozen=True):
    """One check of a URL in normal form.

    `needs` are the specials to rely on, `known` those that were seen before and are tried anew. `looks`: the document
    itself is examined. `thorough`: all other ways are tried before a failure is reported. `earlier` is the stored
    portrait: a new one is returned if it differs; `portrays`: also if it is the same.
    `asks_again`: a failing code is asked for once more as a browser would, and compared with the front page (C-2).
    `follows`: other URLs of its host have just answered; `others` are the codes of other watched URLs, as they answer
    now. `warned` is the certificate's fault that the newest check found. `face` is what is known on `day` of the host's
    answers for made-up URLs; None = none is to be asked for. `parts` are those of the URL, if they are known.
    """

    url: str
    needs: frozenset[Special] = frozenset()
    known: frozenset[Special] = frozenset()
    looks: bool = False
    thorough: bool = False
    asks_again: bool = True
    earlier: Portrait | None = None
    portrays: bool = False
    follows: bool = False
    others: tuple[int, ...] = ()
    warned: Reason | None = None
    face: Face | None = NO_FACE
    day: int = 0
    parts: Url | None = None

    @property
    def examines(self) -> bool:
        """True if a document that seems to be fine is examined all the same (C-11)."""
        return self.looks and (self.recognises or self.faces)

    @property
    def recognises(self) -> bool:
        """True if the document is compared with its earlier portrait, or a new one is taken."""
        return self.portrays or self.earlier is not None

    @property
    def faces(self) -> bool:
        """True if the document is judged by its host's face: the host's answers for what is missing are not known."""
        return self.face is not None and not self.face.is_settled(near_place(parse_again(self.url)), self.day)

    def after_look(self, now: Portrait | None) -> "CheckRequest":
        """The request once the portrait was taken. A newcomer is judged by its host's face of today: where a domain is
        parked or taken at once, no failure shows it."""
        return replace(self, face=self.face.of_day(self.day)) if self.face and self.meets_newcomer(now) else self

    def meets_newcomer(self, now: Portrait | None) -> bool:
        """Returns whether the portrait `now` is of another document than the one that was known."""
        return self.earlier is not None and now is not None and is_replaced(self.earlier, now)

    def tries(self, special: Special) -> bool:
        """True if a failure is checked in the way that the special calls for, too (C-6).

        A special that was known explains the failure; without trying it, the verdict would change at each retry.
        """
        return self.thorough or special in self.known


def looks(
    record: UrlRecord,
    url_key: int,
    day: int,
    *,
    earlier: Portrait | None = BLANK,
    returned: bool = False,
    suspected: bool = False,
) -> bool:
    """True if the document itself is examined: always if who answers may be a stranger, else now and then.

    `suspected`: other documents than the known ones have been found at its host. Never at the first check; but at the
    second one that finds it working, if there is no portrait `earlier`.
    """
    if record.reason is None:
        return False
    return (suspected or may_be_strange(record, returned=returned)) or (
        (earlier is None and record.history[0].first == record.history[0].last)
        or _is_turn(record, url_key, day, LOOK_DAYS)
    )


def may_be_strange(record: UrlRecord, *, returned: bool) -> bool:
    """True if another document than the known one may be there now: the newest check did not find it plainly working.

    `returned`: the host has come back since that check, or was found to have a new owner.
    """
    return returned or record.reason is None or record.reason.outcome is not Outcome.WORKING


def portrays(record: UrlRecord, url_key: int, day: int, *, earlier: Portrait | None, returned: bool) -> bool:
    """True if a portrait is taken in any case: until there is one, then now and then; never of a stranger."""
    if may_be_strange(record, returned=returned):
        return False
    return earlier in (None, BLANK) or _is_turn(record, url_key, day, _RENEWAL_DAYS)


def is_thorough(record: UrlRecord, url_key: int, day: int, policy: Policy) -> bool:
    """True if other ways are tried, too: now and then, at the third failure, and always before the URL may be dead."""
    third = record.streak.strikes == policy.dead_strikes - 1
    return third or _is_turn(record, url_key, day, LOOK_DAYS) or may_prove(record.streak, day, policy)


def asks_again(record: UrlRecord, url_key: int, day: int, policy: Policy) -> bool:
    """True if a failing code is asked for once more: at the first strike, before the one that may prove the death, and
    now and then after it.
    """
    streak = record.streak
    if not streak.strikes or may_prove(streak, day, policy):
        return True
    return proven(streak, policy) and _is_turn(record, url_key, day, _REVIEW_DAYS)


def disproved(sights: Sights, request: CheckRequest, seen: Observation) -> frozenset[Special]:
    """Specials that were known but not relied on, and that the URL turned out not to need (C-6)."""
    if not sights or seen.outcome is not Outcome.WORKING:
        return frozenset()
    scheme = request.url.partition(":")[0]
    tried = {
        Special.NEEDS_GET: not request.looks,
        Special.NEEDS_HTTPS: scheme == "http",
        Special.NEEDS_HTTP: scheme == "https",
        Special.NEEDS_REFERRER: True,
        Special.NEEDS_BROWSER: True,
    }
    return frozenset(special for special in sights.keys() - request.needs - seen.needs if tried.get(special))


def _is_turn(record: UrlRecord, url_key: int, day: int, period: int) -> bool:
    """True if the URL's day of the period is after its newest check, up to `day`. Nothing is stored for it."""
    phase = url_key % period
    return record.checked is None or (day + phase) // period > (record.checked + phase) // period
