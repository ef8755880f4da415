"""One visit to one host: its due URLs are checked one after the other, and judged at once (C-3, C-5).

``crawl/recorder`` writes the results.
One law: once the host itself is found failing, it gets no more requests in this visit, and the URLs not checked get no
strike.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import ceil
from typing import Final

from weboid.core.document.likeness import Portrait
from weboid.core.observe.check_request import CheckRequest, disproved, is_sampled, is_thorough, looks
from weboid.core.observe.observation import Observation
from weboid.core.record.policy import Policy
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.record import HostRecord
from weboid.core.record.specials import Special, believed
from weboid.core.record.status import HOST_FAILURES, NO_CODE, Status
from weboid.core.url.keys import UrlKey
from weboid.core.verdict.judge import is_host_failure, judge, judge_host
from weboid.core.verdict.verdict import proven
from weboid.store.db.rows import StoredHost, StoredUrl
from weboid.store.results.record import Checked

Check = Callable[[CheckRequest], Awaitable[Observation | None]]
"""Makes one check; None if nothing can be concluded, since the failure may be our own."""
SecondOutcome = Callable[[str], Awaitable[Outcome | None]]
"""The outcome of a check from the second vantage point (C-14); None if unknown."""

_CALM_S: Final = 5.0
"""If a host requests a longer pause (in seconds), its other URLs are checked on another day (C-3)."""
_DAY_S: Final = 86_400.0
_LIMITED: Final = 3
"""Answers "too many requests" in a row, after which the host's other URLs are checked on another day."""
_CONTACTS: Final = 2
"""Network failures of different URLs without any answer, before the others count as failing; DNS needs one (C-5)."""
_POSTPONED: Final = 1
"""Days until a URL that could not be requested at all is tried again."""
_POSTPONED_LIMIT: Final = 28


class Visit:
    """Checks the URLs of a host, the next one when `report` has written the last. Those left by `stopping` stay due.

    URLs that answered the last time come first: one that does so again shows that the host is up, whatever its other
    URLs do. A URL whose last check found its host failing, while the host's own record has no failure, is no evidence
    against the host (C-5).
    """

    def __init__(
        self,
        host: StoredHost,
        urls: Sequence[StoredUrl],
        portraits: Mapping[UrlKey, Portrait],
        *,
        check: Check,
        second_opinion: SecondOutcome | None,
        report: Callable[[Checked], Awaitable[None]],
        today: Callable[[], int],
        policy: Policy,
        stopping: Callable[[], bool],
    ) -> None:
        self._host = host
        self._queue = deque(sorted(urls, key=_hung))
        self._portraits = portraits
        self._check = check
        self._second_opinion = second_opinion
        self._report = report
        self._today = today
        self._policy = policy
        self._stopping = stopping
        self._state = host.record
        self._is_up = False
        self._failures = 0
        self._limited = 0
        self._shown: set[Special] = set()

    async def run(self) -> None:
        """Returns when all URLs are checked or put off, or when stopping."""
        while self._queue and not self._stopping():
            url = self._queue.popleft()
            question = self._question(url)
            seen = await self._check(question)
            day = self._today()
            if seen is None:
                if not self._stopping():
                    await self._put_off([url], day, _POSTPONED)
                continue
            seen = await self._confirmed(url, seen, day)
            self._shown |= seen.needs
            failed = is_host_failure(seen)
            self._is_up = self._is_up or not (failed or seen.not_http)
            before = self._state
            if not (self._is_up and failed):
                self._state = judge_host(before, seen, day)
            gone = disproved(self._host.sights, question, seen)
            await self._report(self._checked(url, seen, day, before, gone))
            self._failures += not self._is_up and (not _hung(url) or self._host.record.streak.strikes > 0)
            if self._failures >= _CONTACTS or (self._failures and seen.status in (Status.DNS_ERROR, Status.DNS_GONE)):
                await self._take_over(Observation(seen.status, seen.reason, http=NO_CODE, inferred=True), day)
            elif days := self._rest_days(seen):
                await self._put_off(self._queue, day, days)
                self._queue.clear()

    def _question(self, url: StoredUrl) -> CheckRequest:
        day = self._today()
        key = url.key.url_key
        return CheckRequest(
            str(url.url),
            believed(self._host.sights, day, url.key.host_key) | self._shown,
            looks=looks(url.record, key, day),
            thorough=is_thorough(url.record, key, day, self._policy.dead_strikes),
            sampled=is_sampled(key),
            earlier=self._portraits.get(url.key),
            follows=self._is_up,
        )

    async def _confirmed(self, url: StoredUrl, seen: Observation, day: int) -> Observation:
        """The observation; a doubt if it would make the URL or its host dead and the second opinion differs (C-14)."""
        if self._second_opinion is None or seen.outcome is not Outcome.FAILING:
            return seen
        after = judge(url.record, seen, day, self._policy).record.streak, judge_host(self._state, seen, day).streak
        before = url.record.streak, self._state.streak
        if not any(
            proven(new, self._policy) and not proven(old, self._policy) for new, old in zip(after, before, strict=True)
        ):
            return seen
        outcome = await self._second_opinion(str(url.url))
        return seen if outcome in (None, Outcome.FAILING) else replace(seen, reason=Reason.DISPUTED)

    async def _take_over(self, hearsay: Observation, day: int) -> None:
        """Records the host's failure for its remaining URLs without contact (C-5)."""
        rest = [self._checked(url, hearsay, day, self._state) for url in self._queue]
        self._queue.clear()
        await asyncio.gather(*map(self._report, rest))

    def _rest_days(self, seen: Observation) -> int:
        """For how many days the host gets no further requests, 0 = go on (C-3)."""
        self._limited = self._limited + 1 if seen.reason is Reason.RATE_LIMIT else 0
        if seen.retry_after_s and seen.retry_after_s > _CALM_S:
            return min(ceil(seen.retry_after_s / _DAY_S), _POSTPONED_LIMIT)
        return _POSTPONED if self._limited >= _LIMITED else 0

    async def _put_off(self, urls: Iterable[StoredUrl], day: int, days: int) -> None:
        put_off = [
            Checked(url, self._host, day, None, url.record, day + days, self._state, self._state) for url in urls
        ]
        await asyncio.gather(*map(self._report, put_off))

    def _checked(
        self,
        url: StoredUrl,
        seen: Observation,
        day: int,
        before: HostRecord,
        gone: frozenset[Special] = frozenset(),
    ) -> Checked:
        record, due = judge(url.record, seen, day, self._policy, self._state)
        return Checked(url, self._host, day, seen, record, due, before, self._state, gone)


def _hung(url: StoredUrl) -> bool:
    """Whether the newest check of a URL found its host failing."""
    return bool(url.record.history) and url.record.history[0].status in HOST_FAILURES
