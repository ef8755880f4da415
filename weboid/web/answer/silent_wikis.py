"""Wikis that are silent at the moment, and reads that take too long: live reads do not wait for them.

A wiki is silent after three failures in a row, of different reads, in which it answered nothing. A read that a wiki
began to answer, but not in time, counts a third against the wiki, and two failures of the same one rest it alone.
A wiki that falls silent is one line in the log, and one that is back another; a single failed read is none.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Final

from weboid.mechanism.bounded import BoundedMap
from weboid.mechanism.breaker import Admission, Breaker
from weboid.store.pages.wiki import StoredWiki

log = logging.getLogger(__name__)

_FIRST_REST_S: Final = 10.0
_LONGEST_REST_S: Final = 45.0
"""With a probe that fails before it, less than a minute: then a wiki that is back is noticed."""
_CALM_S: Final = 2.0
"""A wiki that answered so short a time ago is not silent: every third read of one that is flaky fails (D-177)."""
_SILENT: Final = 3
_LATE: Final = 1
_LIMIT: Final = 9
_LONG_S: Final = 1.0
"""A read that has waited so long for a wiki that falls silent is ended."""
_LATE_TIMER: Final = 0.1
"""A timer that is late by so much of its time says that this process was busy, not that the wiki was silent."""
_LONG_FAILURES: Final = 2
_MOST_SLOW: Final = 10_000
"""Reads that took too long, over all wikis."""


@dataclass(slots=True)
class _Wiki:
    """The state of a wiki, and the time limits of the reads under way with the moments at which they began."""

    breaker: Breaker = field(
        default_factory=lambda: Breaker(_LIMIT, first_s=_FIRST_REST_S, longest_s=_LONGEST_REST_S, calm_s=_CALM_S)
    )
    heard_s: float = float("-inf")
    under_way: dict[asyncio.Timeout, float] = field(default_factory=dict)


class SilentWikis:
    """The states of all wikis; `freed` is called with the number of one that has fallen silent."""

    def __init__(self, freed: Callable[[int], None]) -> None:
        self._freed = freed
        self._wikis: dict[int, _Wiki] = {}
        self.slow_reads: BoundedMap[Hashable, Breaker] = BoundedMap(_MOST_SLOW)
        """Those that took too long the last time, by their keys."""

    @property
    def count(self) -> int:
        """The number of silent wikis."""
        return sum(wiki.breaker.opened_s is not None for wiki in self._wikis.values())

    def will_fail(self, wiki: StoredWiki, key: Hashable) -> bool:
        """True if it is known already that the wiki will not answer this read in time."""
        now_s = asyncio.get_running_loop().time()
        known, slow = self._wikis.get(wiki.wiki), self.slow_reads.get(key)
        return (known is not None and known.breaker.is_shut(now_s)) or (slow is not None and slow.is_shut(now_s))

    def is_stalled(self, wiki: StoredWiki) -> bool:
        """True if a read has been under way for a second, and the wiki has answered none since it began: others that
        need a slot then do not wait for one."""
        known = self._wikis.get(wiki.wiki)
        if known is None or not known.under_way:
            return False
        oldest_s = next(iter(known.under_way.values()))
        return known.heard_s < oldest_s <= asyncio.get_running_loop().time() - _LONG_S

    def attempt(self, wiki: StoredWiki, key: Hashable) -> "Attempt | None":
        """One read, which may begin now; None if it may not."""
        now_s = asyncio.get_running_loop().time()
        known = self._wikis.setdefault(wiki.wiki, _Wiki())
        slow = self.slow_reads.get(key)
        if slow is not None and slow.admit(now_s) is Admission.NO:
            return None
        admission = known.breaker.admit(now_s)
        if admission is Admission.NO:
            if slow is not None:
                slow.undecided(Admission.PROBE)
            return None
        return Attempt(self, wiki, known, key, admission, now_s)

    def end_waiting(self, wiki: StoredWiki, known: _Wiki, now_s: float) -> None:
        """Ends all waiting for a wiki that has fallen silent."""
        self._freed(wiki.wiki)
        for limit, begun_s in known.under_way.items():
            until_s = max(now_s, begun_s + _LONG_S)
            if not limit.expired() and until_s < (limit.when() or 0.0):
                limit.reschedule(until_s)


class Attempt:
    """One read of a wiki. As a context manager it is undecided unless `succeeded` or `failed` is called in it."""

    def __init__(
        self, owner: SilentWikis, wiki: StoredWiki, known: _Wiki, key: Hashable, admission: Admission, begun_s: float
    ) -> None:
        self._owner = owner
        self._wiki = wiki
        self._known = known
        self._key = key
        self._admission = admission
        self._begun_s = begun_s
        self._is_decided = False
        self._was_busy = False

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._is_decided:
            self._known.breaker.undecided(self._admission)
        if (slow := self._owner.slow_reads.get(self._key)) is not None:
            slow.undecided(Admission.PROBE)

    @asynccontextmanager
    async def limited(self, until_s: float) -> AsyncIterator[None]:
        """TimeoutError at that moment, or a second after it began if the wiki falls silent during it."""
        async with asyncio.timeout_at(until_s) as limit:
            self._known.under_way[limit] = self._begun_s
            try:
                yield
            finally:
                del self._known.under_way[limit]
                late_s = asyncio.get_running_loop().time() - (limit.when() or until_s)
                self._was_busy = limit.expired() and late_s > _LATE_TIMER * (until_s - self._begun_s)

    def succeeded(self) -> None:
        """Records that the wiki has answered all of it."""
        now_s = asyncio.get_running_loop().time()
        self._known.heard_s = now_s
        self._owner.slow_reads.take(self._key)
        self._is_decided = True
        silent_s = self._known.breaker.succeeded(now_s)
        if silent_s is not None:
            log.warning("%s answers again, after %.0f s", self._wiki.dbname, silent_s)

    def failed(self, error: Exception, answered: int) -> None:
        """Records that it has ended with an error after so many answers of the wiki."""
        now_s, known = asyncio.get_running_loop().time(), self._known
        reason = str(error) or f"no answer within {now_s - self._begun_s:.1f} s"
        log.debug("%s was not read: %s", self._wiki.dbname, reason)
        if self._was_busy:
            return
        is_silent = answered == 0 and known.heard_s < self._begun_s
        if now_s - self._begun_s >= _LONG_S and known.breaker.opened_s is None:
            self._rest(now_s)
        if not is_silent and self._admission is Admission.PROBE:
            return
        self._is_decided = True
        weight = _SILENT if is_silent else _LATE
        if known.breaker.failed(now_s, self._admission, self._key, weight):
            log.warning(
                "%s does not answer: its stored links are served at once until it does (%s)", self._wiki.dbname, reason
            )
            self._owner.end_waiting(self._wiki, known, now_s)

    def _rest(self, now_s: float) -> None:
        """Records a long failure of this read: after two of them the third caller does not wait for it."""
        slow = self._owner.slow_reads.get(self._key)
        if slow is None:
            slow = Breaker(_LONG_FAILURES, first_s=_FIRST_REST_S, longest_s=_LONGEST_REST_S)
            self._owner.slow_reads[self._key] = slow
        admission = Admission.USUAL if slow.opened_s is None else Admission.PROBE
        slow.failed(now_s, admission, object())
