"""Judges a visit to a copy (A-3): the copy is kept, struck, dropped, or visited again soon; and when.

How the reply is read is in ``replay``; the visits are made by ``archive/visits/snapshot_rounds`` and its neighbours.
One law: what proves nothing never changes the strikes (`test_what_proves_nothing_changes_no_outcome`).
"""

import re
from datetime import datetime
from enum import Enum
from typing import Final, NamedTuple

from weboid.core.archive.replay import Replayed, ReplayResult
from weboid.core.observe.observation import Observation
from weboid.core.record.moment import shuffled
from weboid.core.record.reasons import Reason
from weboid.core.record.status import Status, status_of

QUARTER_DAYS: Final = 91
"""Each kept snapshot is visited again after so many days at most, while its service answers (A-3)."""
SPREAD_DAYS: Final = 14
"""The visit comes up to so many days earlier, so that snapshots found on one day are not visited together for ever."""
STRIKE_DAYS: Final = 7
STRIKES: Final = 3
"""Visits in a row that did not find it, a week or more apart, after which a snapshot is dropped."""
MOST_WAIT_DAYS: Final = 14
"""A snapshot whose visits prove nothing is visited again after so many days at most."""

CANARIES: Final = 20
"""Copies that could be replayed before, and are replayed together with those that fail."""
_CANARY_SHARE: Final = 5
"""If more than one in so many of them fail, the service is at fault and not the copy."""
_FEW: Final = 2
"""Failures that say nothing about the service, unless nothing else can be replayed either."""

DROP_SHARE: Final = 100
"""At most one in so many of a service's snapshots may be dropped in a quarter, as U-8 has it for URLs."""
HANDFUL: Final = 5
"""Snapshots that may be dropped in any case."""


_WITHDRAWN_NOTE: Final = re.compile(r"withdrawn ([0-9]{14})(?![0-9])")
_STAMP: Final = re.compile(r"https?://[^/]+(?:/[^/:*?]+)*?/([0-9]{1,14})(?:[a-z]{2}_)?/")


class VisitOutcome(Enum):
    """The outcome of a visit for the snapshot."""

    KEPT = "kept"
    STRUCK = "struck"
    DROPPED = "dropped"
    WAITING = "waiting"


class VisitJudgement(NamedTuple):
    """A snapshot's outcome and, if it stays, its strikes and the day of its next visit."""

    outcome: VisitOutcome
    due: int
    strikes: int


def visit_judgement(
    result: ReplayResult, day: int, *, strikes: int, asked: int | None, spread: int = 0
) -> VisitJudgement:
    """Judges a visit to a snapshot that has `strikes` and was last visited with a result on day `asked`.

    `spread` is any number that differs from snapshot to snapshot.
    """
    match result:
        case ReplayResult.PLAYS | ReplayResult.MOVED:
            return VisitJudgement(VisitOutcome.KEPT, day + quarter(day, spread), 0)
        case ReplayResult.WITHDRAWN:
            return VisitJudgement(VisitOutcome.DROPPED, day, strikes)
        case ReplayResult.NOTHING:
            return VisitJudgement(VisitOutcome.WAITING, day + _wait(day, strikes, asked), strikes)
        case ReplayResult.ABSENT | ReplayResult.MOVED_FAR:
            struck = strikes + 1
            outcome = VisitOutcome.DROPPED if struck >= STRIKES else VisitOutcome.STRUCK
            return VisitJudgement(outcome, day + STRIKE_DAYS, struck)


def quarter(day: int, spread: int) -> int:
    """Days until the next visit of what plays."""
    return QUARTER_DAYS - shuffled(spread, day) % SPREAD_DAYS


def _wait(day: int, strikes: int, asked: int | None) -> int:
    """Days until a visit that proved nothing is repeated: as many as it is late already, so they double."""
    late = 0 if asked is None else day - asked - (STRIKE_DAYS if strikes else QUARTER_DAYS)
    return min(max(late, 1), MOST_WAIT_DAYS)


def is_down(failed: int, played: int, unproven: int = 0) -> bool:
    """True if a service as a whole is at fault: of the copies that were just visited, `played` could be replayed,
    `failed` could be before but not now, and `unproven` others could not either."""
    if not played:
        return failed >= _FEW or failed + unproven > _FEW
    return failed > _FEW and _CANARY_SHARE * failed > failed + played


def most_drops(kept: int) -> int:
    """The number of a service's `kept` snapshots that may be dropped in a quarter without an operator (U-8)."""
    return max(kept // DROP_SHARE, HANDFUL)


def withdrawn_note(stamp: int) -> str:
    """The note in a look-up that the snapshot with this stamp was dropped."""
    return f"withdrawn {stamp}"


def withdrawn_stamp(passed: str | None) -> int | None:
    """The stamp of the snapshot that was dropped, if a look-up has such a note; else None."""
    found = _WITHDRAWN_NOTE.fullmatch(passed or "")
    return int(found[1]) if found else None


def cited_observation(replayed: Replayed, code: int | None, target: str | None = None) -> Observation | None:
    """The observation of a copy that pages cite, for ``core/verdict/judge``; None if the visit proved nothing.

    `code` is the reply's; `target` the reader's address of the capture that the archive leads to, if it does. A copy
    that the archive has withdrawn is gone, whatever the code. The reader of one that it leads away from arrives at the
    same page at another time, which works as well as a redirect does.
    """
    match replayed.result:
        case ReplayResult.PLAYS:
            return Observation(Status.FINE, Reason.OK, http=code)
        case ReplayResult.MOVED | ReplayResult.MOVED_FAR if target is not None:
            return Observation(status_of(code or 302), Reason.MOVED, target, http=code)
        case ReplayResult.WITHDRAWN:
            return Observation(Status.GONE, Reason.GONE, http=code)
        case ReplayResult.ABSENT | ReplayResult.MOVED | ReplayResult.MOVED_FAR:
            return Observation(Status.NOT_FOUND, Reason.NOT_FOUND, http=code)
        case ReplayResult.NOTHING:
            return None


def is_within(taken: datetime | None, text: str) -> bool:
    """True if a moment lies in the period that a shortened stamp in an archive's URL names (``2009`` = that year).

    False if the URL has all 14 digits, or none.
    """
    found = _STAMP.match(text)
    if taken is None or not found or not 4 <= len(found[1]) < 14:
        return False
    return f"{taken:%Y%m%d%H%M%S}".startswith(found[1][: len(found[1]) // 2 * 2])
