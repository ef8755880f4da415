"""From a row of the queue of copies to its look-up, and from the result to the rows that the store keeps. Pure.

After an error the service is asked again in a day, then two, then four …; it never becomes anything else by waiting.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, date, datetime, time
from typing import Final

from weboid.archive.lookups.look_up_result import FoundCopy, GivenCopy, LookUpResult, ServiceTry
from weboid.core.archive.addresses import taken_of
from weboid.core.archive.choice import CHANGING, is_kept
from weboid.core.archive.outcomes import LookupOutcome
from weboid.core.archive.rows.fitness import Wish
from weboid.core.archive.services import ArchiveService
from weboid.core.archive.visits import QUARTER_DAYS
from weboid.core.record.days import LAST_DAY, NEVER_DUE, date_of
from weboid.core.url.archives import snapshot_of
from weboid.core.url.keys import UrlKey
from weboid.store.archives.copy_queue import WantedCopy
from weboid.store.archives.lookup import StoredLookup
from weboid.store.archives.snapshot import Origin, StoredSnapshot

_UNASKED_DAYS: Final = 90
"""A URL for which no service can be asked is looked at again after so many days."""
_DOUBLINGS: Final = 6
"""An error is asked for again after 64 days at the latest."""
_MOST_WORDS: Final = 12
"""So many reasons for which captures were passed over are kept of a look-up."""


def wish_of(wanted: WantedCopy, day: int) -> Wish:
    """The page to be found: as it was when the link came, as far as that is known, else when it last worked."""
    moment = datetime.combine(cited_on(wanted, day), time(23, 59, 59), UTC)
    alive = None if wanted.last_alive is None else date_of(wanted.last_alive)
    return Wish(wanted.url, moment, date_of(day), alive, wanted.known.portrait, wanted.known.record.mime)


def given_copies(
    wanted: WantedCopy, services: Mapping[int, ArchiveService], known: Collection[int]
) -> tuple[GivenCopy, ...]:
    """The cited copy to be played: the one nearest to the wanted moment, at a service that can play it raw."""
    copies = []
    for cited, url in wanted.cited:
        service = services.get(cited.archive)
        snapshot = snapshot_of(str(url))
        if service is None or not service.is_raw or cited.archive in known or snapshot is None:
            continue
        if cited.stamp is not None and snapshot.original is not None:
            copies.append(GivenCopy(service, taken_of(cited.stamp), snapshot.original))
    moment = wish_of(wanted, wanted.day).cited
    return tuple(sorted(copies, key=lambda copy: abs(copy.taken - moment))[:1])


def is_settled(wanted: WantedCopy, snapshots: Sequence[StoredSnapshot], lookups: Sequence[StoredLookup]) -> bool:
    """Returns whether a copy was chosen already for about the same moment: a choice is made once.

    For a cited copy none is taken: of what it is a copy of, copies are looked for under that URL.
    """
    if wanted.known.due == NEVER_DUE:
        return True
    cited = cited_on(wanted, wanted.day)
    looked_at = {lookup.archive for lookup in lookups if lookup.outcome is LookupOutcome.FOUND}
    return any(
        kept.archive in looked_at
        and kept.asked is not None
        and not kept.strikes
        and (kept.wanted is None or is_kept(date_of(kept.wanted), cited))
        for kept in snapshots
    )


def lookup_rows(key: UrlKey, result: LookUpResult, earlier: Sequence[StoredLookup], day: int) -> list[StoredLookup]:
    """The row of each service that was asked to the end; what was asked last of one counts."""
    failures = {lookup.archive: lookup.failures for lookup in earlier}
    rows: dict[int, StoredLookup] = {}
    for tried in result.tries:
        if tried.rest_s is not None:
            continue
        number = tried.service.archive.number
        failed = failures.get(number, 0) + 1 if tried.outcome is LookupOutcome.ERROR else 0
        due = min(day + kept_days(tried.outcome, failed), LAST_DAY - 1)
        rows[number] = StoredLookup(key, number, tried.outcome, day, due, failed, _passed(tried))
    return list(rows.values())


def kept_days(outcome: LookupOutcome, failures: int) -> int:
    """The days for which the reply of a service holds, after `failures` errors in a row, this one included."""
    return outcome.kept_days << min(max(failures - 1, 0), _DOUBLINGS)


def says_changing(lookup: StoredLookup) -> bool:
    """Returns whether nothing was chosen because the page always changes."""
    return CHANGING in (lookup.passed or "").split(",")


def snapshot_row(key: UrlKey, found: FoundCopy, day: int, *, wanted: int, origin: Origin) -> StoredSnapshot:
    """The snapshot that was found, which has just been played; `wanted` is the day of the citation."""
    return StoredSnapshot(
        key,
        found.service.archive.number,
        found.stamp,
        origin,
        due=day + QUARTER_DAYS,
        asked=day,
        wanted=wanted,
        note=int(found.note),
        address=found.own_address,
        preview=found.preview or None,
    )


def again_day(result: LookUpResult, rows: Sequence[StoredLookup], earlier: Sequence[StoredLookup], day: int) -> int:
    """The day of the next look-up: when the first answer is old; never while there is a snapshot."""
    if result.found is not None:
        return NEVER_DUE
    if result.is_broken:
        return day + 1
    new = {row.archive: row.due for row in rows}
    dues = [*new.values(), *(old.due for old in earlier if old.archive not in new and old.due > day)]
    return min(dues, default=day + _UNASKED_DAYS)


def cited_on(wanted: WantedCopy, day: int) -> date:
    """The day of the citation, as far as the store knows it."""
    known = (wanted.first_checked, wanted.last_alive, day)
    return date_of(next(one for one in known if one is not None))


def _passed(tried: ServiceTry) -> str | None:
    """The reasons for which nothing was chosen: the service's reason first, then those of captures, each once."""
    words = dict.fromkeys(word for word in (tried.why, *(one.why for one in tried.passed)) if word)
    return ",".join(list(words)[:_MOST_WORDS]) or None
