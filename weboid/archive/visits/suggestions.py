"""Checks suggested replacements and snapshots: each before it is shown, and again now and then (A-3, A-4).

Replacements are checked by ``checking/checker``, as every link is; snapshots are played raw by ``service/replays``, as
all copies are, whatever their archive's pages for people say. The records of URLs are not changed. A suggestion is
shown only if it works without restriction; after three checks in a row that did not find it working it is deleted.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from weboid.archive.service.client import Resting
from weboid.archive.service.replays import Replays
from weboid.checking.connectivity import CANARIES, Ask, Connectivity
from weboid.checking.online import Online
from weboid.core.archive.replay import ReplayResult
from weboid.core.archive.visits import QUARTER_DAYS
from weboid.core.document.face import NO_FACE
from weboid.core.observe.check_request import CheckRequest
from weboid.core.observe.observation import Observation
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.status import Status
from weboid.core.url.archives import snapshot_of
from weboid.core.url.urls import parse
from weboid.errors import StoreAway
from weboid.mechanism.patience import ending, sweep_until_stopped
from weboid.store.db.pool import Connection, Pool
from weboid.store.people.audit import NOBODY, Action, record_audit
from weboid.store.people.replacement import PLAIN, Replacement, delete_replacement, lease_replacements, record_checked
from weboid.store.urls.url import find_urls, list_canaries

log = logging.getLogger(__name__)

WORKING_DAYS: Final = 28
ARCHIVE_DAYS: Final = QUARTER_DAYS
"""Snapshots are checked every quarter (A-3)."""
DOUBTFUL_DAYS: Final = 7
FAILING_DAYS: Final = 3
STRIKES: Final = 3
"""Checks in a row that did not find it working, after which a suggestion is deleted."""
UNASKED_DAYS: Final = 28
"""So many days after it was due, a suggestion that cannot be requested at all is deleted."""

_AT_ONCE: Final = 4
_LEASED: Final = 20
_PAUSE_S: Final = 30.0

# 404s of archives may be temporary; with these answers the snapshot has been withdrawn.
_DEPUBLISHED: Final = frozenset({Reason.GONE, Reason.LEGAL})
# Readers come from another site, under the scheme that was suggested, so these would not work for them.
_WITH_A_BUT: Final = frozenset({Reason.NEEDS_HTTP, Reason.NEEDS_HTTPS, Reason.NEEDS_REFERRER})


class SuggestionFate(Enum):
    """The fate of a suggestion after a check."""

    WORKS = "works"
    STRIKE = "strike"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class JudgedSuggestion:
    """A suggestion's fate and, if it stays, the day of its next check and its strikes."""

    fate: SuggestionFate
    due: int
    strikes: int


def judged(suggestion: Replacement, seen: Observation, day: int) -> JudgedSuggestion:
    """The fate of a suggestion after a check on `day`."""
    is_archived = suggestion.archive != PLAIN
    if _is_fine(seen):
        return JudgedSuggestion(SuggestionFate.WORKS, day + (ARCHIVE_DAYS if is_archived else WORKING_DAYS), 0)
    strikes = suggestion.strikes + 1
    if strikes >= STRIKES or (is_archived and seen.reason in _DEPUBLISHED):
        return JudgedSuggestion(SuggestionFate.GONE, day, strikes)
    # Outages of archives last for a week, so three strikes of a snapshot take two.
    is_soon = seen.outcome is Outcome.FAILING and not is_archived
    return JudgedSuggestion(SuggestionFate.STRIKE, day + (FAILING_DAYS if is_soon else DOUBTFUL_DAYS), strikes)


def _is_fine(seen: Observation) -> bool:
    """Returns whether it works as it is, and does not redirect to an archive to which people may not be sent."""
    if seen.outcome is not Outcome.WORKING or seen.reason in _WITH_A_BUT:
        return False
    end = snapshot_of(seen.target) if seen.target else None
    return end is None or end.archive.is_offered


def is_given_up(suggestion: Replacement, day: int) -> bool:
    """Returns whether a suggestion that could not be requested has waited too long."""
    kept = 0 if not suggestion.works else WORKING_DAYS if suggestion.archive == PLAIN else ARCHIVE_DAYS
    since = suggestion.day if suggestion.asked is None else suggestion.asked
    return day - since > kept + UNASKED_DAYS


async def record_judged(pool: Pool, suggestion: Replacement, result: JudgedSuggestion, word: str, day: int) -> None:
    """Writes what became of a suggestion by a check on `day`, `word` saying why. Raises StoreError."""
    async with pool.connection() as conn:
        if result.fate is not SuggestionFate.GONE:
            works = result.fate is SuggestionFate.WORKS
            is_there = await record_checked(
                conn, suggestion, asked=day, due=result.due, strikes=result.strikes, works=works
            )
            if is_there and works is not suggestion.works:
                await _note(conn, Action.CHECK_REPLACEMENT, suggestion, word)
        elif await delete_replacement(conn, suggestion.key, archive=suggestion.archive, target=suggestion.target):
            await _note(conn, Action.DROP_REPLACEMENT, suggestion, word)


async def _record(pool: Pool, suggestion: Replacement, seen: Observation | None, day: int) -> None:
    if seen is not None:
        await record_judged(pool, suggestion, judged(suggestion, seen, day), seen.reason.word, day)
    elif is_given_up(suggestion, day):
        gone = JudgedSuggestion(SuggestionFate.GONE, day, suggestion.strikes)
        await record_judged(pool, suggestion, gone, "not-asked", day)


async def _note(conn: Connection, action: Action, suggestion: Replacement, word: str) -> None:
    """Records what the program did to a suggestion: those who keep answers follow that, too."""
    known = (await find_urls(conn, [suggestion.key])).get(suggestion.key)
    about = str(known.url) if known else ""
    await record_audit(conn, action, NOBODY, "Weboid", about, f"{suggestion.target} ({word})")


class Suggestions:
    """One worker's checks of suggestions, alongside its rounds; `today` is called at every check, `stopped` ends it."""

    def __init__(
        self, pool: Pool, ask: Ask, online: Online, *, today: Callable[[], int], stopped: asyncio.Event
    ) -> None:
        self._pool = pool
        self._ask = ask
        self._today = today
        self._stopped = stopped
        self._online = online
        self._connectivity = Connectivity(self._ask, online)

    async def run(self) -> None:
        await sweep_until_stopped(self.sweep, self._stopped, what="suggestions", log=log, idle_s=_PAUSE_S)

    async def sweep(self) -> int:
        """Checks all that are due, a few at a time; returns how many. Ends early if stopped or if we are offline."""
        self._connectivity = Connectivity(self._ask, self._online)
        count = 0
        try:
            while not self._stopped.is_set() and not self._connectivity.is_down:
                async with self._pool.connection() as conn:
                    leased = await lease_replacements(conn, self._today(), limit=_LEASED, archived=False)
                    if leased and not count:
                        self._connectivity.know(await list_canaries(conn, limit=CANARIES))
                if leased and not count:
                    await self._connectivity.look()
                if not leased:
                    break
                count += len(leased)
                await self._check_all(leased)
        finally:
            await self._connectivity.close()
        return count

    async def _check_all(self, leased: Sequence[Replacement]) -> None:
        """Checks a few at a time. Those that a stop leaves unchecked are due again a day after they were leased."""
        waiting = iter(leased)

        async def work() -> None:
            for suggestion in waiting:
                if self._stopped.is_set() or self._connectivity.is_down:
                    return
                await self._check(suggestion)

        async with ending(self._stopped), asyncio.TaskGroup() as group:
            for _ in range(_AT_ONCE):
                group.create_task(work())

    async def _check(self, suggestion: Replacement) -> None:
        seen = await self._seen(suggestion)
        if seen is None and self._connectivity.is_down:
            return
        try:
            await _record(self._pool, suggestion, seen, self._today())
        except StoreAway as error:
            log.debug("a suggestion will be checked again tomorrow: %s", error)

    async def _seen(self, suggestion: Replacement) -> Observation | None:
        """One check; None if it says nothing about the suggestion, as if the failure may be our own (C-16)."""
        # The document itself is examined (C-11).
        seen = await self._connectivity.check(CheckRequest(suggestion.target, looks=True, face=NO_FACE))
        # A server that requests a pause has said nothing about the document.
        is_resting = seen is not None and (seen.retry_after_s or seen.reason is Reason.RATE_LIMIT)
        return None if is_resting else seen


class SuggestedCopies:
    """One worker's visits to suggested snapshots; `today` is called at every visit, `stopped` ends them in order."""

    def __init__(self, pool: Pool, replays: Replays, *, today: Callable[[], int], stopped: asyncio.Event) -> None:
        self._pool = pool
        self._replays = replays
        self._today = today
        self._stopped = stopped

    async def run(self) -> None:
        await sweep_until_stopped(self.sweep, self._stopped, what="suggested copies", log=log, idle_s=_PAUSE_S)

    async def sweep(self) -> int:
        """Visits all that are due, one after another; returns how many. Ends early if stopped. Raises StoreError."""
        count = 0
        async with ending(self._stopped):
            while not self._stopped.is_set():
                async with self._pool.connection() as conn:
                    leased = await lease_replacements(conn, self._today(), limit=_LEASED, archived=True)
                if not leased:
                    break
                for suggestion in leased:
                    if self._stopped.is_set():
                        break
                    await _record(self._pool, suggestion, await self._played(suggestion), self._today())
                    count += 1
        return count

    async def _played(self, suggestion: Replacement) -> Observation | None:
        """The archive's playback of the copy; None if it proves nothing, or the archive is not to be asked now."""
        try:
            play = await self._replays.play_cited(parse(suggestion.target))
        except Resting as rests:
            log.debug("not visited now: %s", rests)
            return None
        if play is None or play.seen is None:
            return None
        if play.replayed is not None and play.replayed.result is ReplayResult.MOVED_FAR:
            # This copy was suggested, and its readers would come to another one.
            return Observation(Status.NOT_FOUND, Reason.NOT_FOUND, http=play.seen.http)
        return play.seen
