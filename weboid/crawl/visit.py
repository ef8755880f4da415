"""One visit to one host: due URLs are checked one after the other, and judged at once (C-3, C-5).

``crawl/recorder`` writes the results. Once the host itself is found failing, it gets no more requests in this visit,
and the URLs not checked get no strike.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from math import ceil
from typing import Final

from msgspec.structs import replace

from weboid.checking.meant import find_meant
from weboid.core.document.face import NO_FACE
from weboid.core.observe.check_request import (
    CheckRequest,
    asks_again,
    disproved,
    is_thorough,
    looks,
    may_be_strange,
    portrays,
)
from weboid.core.observe.failing_codes import ALIKE, may_refuse
from weboid.core.observe.observation import Observation
from weboid.core.observe.scheme_switch import BAD_CERTIFICATES
from weboid.core.record.moment import Moment
from weboid.core.record.pace import FEW_URLS
from weboid.core.record.policy import NO_PROOF, Policy, may_prove, proven
from weboid.core.record.reasons import Outcome, Reason, needs_contrast
from weboid.core.record.record import HostEffect, HostRecord, UrlRecord
from weboid.core.record.specials import Special, believed
from weboid.core.record.status import NO_CODE, Status
from weboid.core.url.urls import front_page
from weboid.core.verdict.judge import Judgement, is_host_failure, judge, judge_host
from weboid.core.verdict.newcomers import (
    Newcomers,
    Recognition,
    has_returned,
    is_away,
    is_before_change,
    recognised,
)
from weboid.crawl.portion import portioned
from weboid.store.db.rows import StoredHost, StoredUrl
from weboid.store.results.record import Checked

Check = Callable[[CheckRequest], Awaitable[Observation | None]]
"""Makes one check; None if nothing can be concluded, since the failure may be our own."""
OnFailing = Callable[[Observation], Awaitable[Observation]]
"""Takes the failure by which a host counts as failing; returns it, held if it may be ours (C-16)."""
SecondOutcome = Callable[[str], Awaitable[Outcome | None]]
"""The outcome of a check from the second vantage point (C-14); None if unknown."""

_CALM_S: Final = 5.0
"""If a host requests a longer pause (in seconds), its other URLs are checked on another day (C-3)."""
_DAY_S: Final = 86_400.0
_LIMITED: Final = 3
"""Answers "too many requests" in a row, after which the host's other URLs are checked on another day."""
_CONTACTS: Final = 3
"""Different URLs that must fail without any answer before the host counts as failing, and its front page (C-5)."""
_CONTACTS_PROVEN: Final = 4
"""The same for a host that is proven dead: it must have every chance to come back (D-7)."""
_POSTPONED: Final = 1
"""Days until a URL that could not be requested at all is tried again."""
_POSTPONED_LIMIT: Final = 28
_WEEK: Final = 7
_WORTH_LEAVING: Final = 5
"""URLs for which it is worth the wait that another worker gets the host."""
_NAMES: Final = frozenset({Status.DNS_ERROR, Status.DNS_GONE})
"""A name without addresses needs no second URL: all of its URLs have that name."""


class Visit:
    """Checks the URLs of a host, the next one when `report` has written the last. Those left by `stopping` stay due,
    and so do those left by `leaving`, to which no visit with a failure yields: its URLs are compared with each other.

    URLs that answered the last time come first: one that does so again shows that the host is up, whatever its other
    URLs do. Of the others those come first that have not been contacted themselves for the longest time. The host
    counts as failing when `_CONTACTS` of its URLs (or all that are due) and its front page fail without any answer;
    502 and 504 are no answer as long as nothing else is (C-5). What had failed before it is asked nevertheless.

    At most `most` URLs are asked (``crawl/portion``); what else is due stays so, but shares a failure of the host, and
    so does what `more` then reads of a day.
    """

    def __init__(
        self,
        host: StoredHost,
        urls: Sequence[StoredUrl],
        *,
        check: Check,
        second_opinion: SecondOutcome | None,
        on_failing: OnFailing | None = None,
        report: Callable[[Checked], Awaitable[None]],
        now: Callable[[], Moment],
        policy: Policy,
        stopping: Callable[[], bool],
        leaving: Callable[[], bool] = lambda: False,
        most: int | None = None,
        more: Callable[[int], Awaitable[Sequence[StoredUrl]]] | None = None,
    ) -> None:
        self._host = host
        self._most = len(urls) if most is None else most
        self._queue = deque(portioned(urls, now().day, self._most) if len(urls) > 1 else urls)
        self._check = check
        self._second_opinion = second_opinion
        self._on_failing = on_failing
        self._write = report
        self._now = now
        self._policy = policy
        self._stopping = stopping
        self._leaving = leaving
        self._more = more
        self._was_away = is_away(host.record, policy)
        self._is_plain = not (host.record.streak.strikes or self._was_away)
        self._state = self._reported = host.record
        self._left = {url.key: url for url in urls}
        """The URLs for which nothing was reported yet."""
        self.at = host.host  # or the URL that is being checked, for the log
        self._has_returned = False
        self._is_up = False
        self._failures = 0
        self._limited = 0
        self._codes: list[int] = []
        """Codes that say whether the host refuses us: not those of walls that show it otherwise, nor within streaks."""
        self._struck: list[tuple[StoredUrl, Observation]] = []
        self._second_outcome: Outcome | None = None
        self._newcomers = Newcomers([(url.key.url_key, url.portrait) for url in urls])
        self._others: list[tuple[StoredUrl, Observation]] = []
        self._shown: set[Special] = set()
        # What it said of made-up URLs before it was away is not believed after.
        self._face = NO_FACE if self._was_away else host.face
        self._asked: set[str] = set()

    async def run(self) -> None:
        """Returns when all URLs are checked or put off, or when stopping."""
        while self._asked_next and not self._stopping() and not (self._leaving() and self._may_be_left()):
            url = self._queue.popleft()
            self._most -= 1
            self.at = str(url.url)
            request = self._request(url)
            seen = await self._check(request)
            self._is_plain = self._is_plain and seen is not None and seen.outcome is Outcome.WORKING
            if seen is None or self._awaits_others(url, seen):
                if not self._stopping():
                    await self._put_off([url], self._now().day, _POSTPONED)
                continue
            await self._conclude(url, request, seen)

    @property
    def _asked_next(self) -> int:
        """The number of URLs that are still to be asked."""
        return min(len(self._queue), self._most)

    def _may_be_left(self) -> bool:
        """Returns whether no failure is known, of what was checked nor of what is left."""
        left = {url.record.reason.outcome for url in self._queue if url.record.reason}
        return self._is_plain and self._asked_next >= _WORTH_LEAVING and left <= {Outcome.WORKING}

    async def give_up(self) -> None:
        """Puts off all URLs for which nothing was reported, after an error of our own: nothing is concluded from it."""
        await self._report_all(postponed(self._host, self._left.values(), self._now().day, state=self._reported))

    async def _conclude(self, url: StoredUrl, request: CheckRequest, seen: Observation) -> None:
        """Judges one check, and the host if it was the last that this takes."""
        seen, gone = self._compared(url, seen)
        self._shown |= seen.needs
        self._note_code(url, seen)
        self._face = seen.face or self._face
        failed = is_host_failure(seen)
        self._is_up = self._is_up or not (failed or seen.not_http)
        self._failures += failed and not self._is_up
        is_down = failed and not self._is_up and await self._is_down(url, seen)
        if is_down and self._on_failing:
            seen = await self._on_failing(seen)
        if seen.outcome is Outcome.FAILING and not (is_down or url.record.streak.strikes):
            seen = replace(seen, meant=await find_meant(url.url, self._check, request))
        moment = self._now()
        seen = await self._confirmed(url, seen, moment, of_host=is_down)
        effect, before = HostEffect.NONE, self._state
        if is_down or not is_host_failure(seen):
            effect = HostEffect.SEEN
        elif self._is_up:
            # The URL has failed, but the front page has answered, which ends the host's streak as any answer does.
            effect = HostEffect.ANSWERED
        self._state = judge_host(self._state, seen, moment.day, self._policy, effect)
        gone |= disproved(self._host.sights, request, seen)
        if not self._has_returned and has_returned(self._host.record, seen, self._policy):
            self._has_returned = True
            seen = replace(seen, needs=seen.needs | {Special.RETURNED}, face=self._face)
        (record, due), state = self._judged(url, seen, moment), self._state
        checked = Checked(url, self._host, moment.day, seen, record, due, before, state, gone, effect)
        await self._report(checked)
        for each in (*self._others_again(checked, moment), *self._strikes_back(checked, moment)):
            await self._report(each)
        if is_down:
            await self._infer_rest(Observation(seen.status, seen.reason, http=NO_CODE, inferred=True), moment.day)
        elif days := self._pause_days(seen):
            await self._put_off(self._queue, moment.day, days)
            self._queue.clear()

    def _has_changed(self, url: StoredUrl) -> bool:
        """Returns whether the host has come back, or was found to have a new owner, since the URL was checked."""
        return self._was_away or is_before_change(url.record, self._host.sights)

    def _compared(self, url: StoredUrl, seen: Observation) -> tuple[Observation, frozenset[Special]]:
        """The observation after comparing the document with the one that is known, and what this disproves (C-11)."""
        gone: frozenset[Special] = frozenset()
        if (now := seen.portrait) is None:
            return seen, gone
        if may_be_strange(url.record, returned=self._has_changed(url)):
            # It is a doubt until the document is recognised; of a stranger nothing is remembered.
            recognition, memory = recognised(url.portrait, now), None
            is_replaced = recognition is Recognition.OTHER
        else:
            recognition, memory = self._newcomers.take(url.key.url_key, url.portrait, now, self._now().day)
            is_replaced = recognition is Recognition.OTHER and self._newcomers.has_new_owner
            if is_replaced:
                if Special.NEW_OWNER not in self._host.sights.keys() | self._shown:
                    # What the owner before said of made-up URLs is not believed any more.
                    self._face = NO_FACE
                    seen = replace(seen, face=NO_FACE)
                seen = replace(seen, needs=seen.needs | {Special.NEW_OWNER})
        if recognition is Recognition.SAME and Special.NEW_OWNER in self._host.sights:
            gone = frozenset({Special.NEW_OWNER})
        seen = replace(seen, portrait=memory)
        return (replace(seen, reason=Reason.REPLACED) if is_replaced else seen), gone

    def _others_again(self, checked: Checked, moment: Moment) -> list[Checked]:
        """The checks of this visit that are judged anew once the host is found to have a new owner."""
        seen, number = checked.seen, checked.url.key.url_key
        if not self._newcomers.has_new_owner:
            if seen and self._newcomers.has_changed(number):
                self._others.append((replace(checked.url, record=checked.record), seen))
            return []
        others, self._others = self._others, []
        return [self._checked(url, replace(found, reason=Reason.REPLACED), moment) for url, found in others]

    def _note_code(self, url: StoredUrl, seen: Observation) -> None:
        """Keeps the code of a URL if it says whether the host refuses us."""
        if not seen.http or seen.on_other_host:
            return
        if needs_contrast(seen.http):
            is_news = seen.outcome is not Outcome.FAILING or not url.record.streak.strikes
        else:
            is_news = seen.outcome is not Outcome.REFUSED and seen.reason not in NO_PROOF
        if is_news:
            self._codes.append(seen.http)

    def _strikes_back(self, checked: Checked, moment: Moment) -> list[Checked]:
        """The strikes of this visit, taken back if three URLs, and no other, show that the host refuses us (D-2)."""
        seen = checked.seen
        if seen and seen.outcome is Outcome.FAILING and may_refuse(seen.http):
            self._struck.append((replace(checked.url, record=checked.record), seen))
        if len(self._codes) <= ALIKE or not all(map(needs_contrast, self._codes)):
            return []
        struck, self._struck = self._struck, []
        return [self._checked(url, replace(found, reason=Reason.BOT_WALL), moment) for url, found in struck]

    def _awaits_others(self, url: StoredUrl, seen: Observation) -> bool:
        """Returns whether a streak waits, for a week at most, for a visit in which other URLs of the host are due.

        Its first strike counted since the host answered otherwise; now the front page is like it (D-2).
        """
        streak, policy = url.record.streak, self._policy
        if seen.reason is not Reason.BOT_WALL or not may_refuse(seen.http) or not streak.strikes:
            return False
        limit = _WEEK + (policy.dead_interval_limit if proven(streak, policy) else 0)
        return len(self._codes) + self._asked_next < ALIKE and self._now().day - (url.record.checked or 0) < limit

    async def _is_down(self, url: StoredUrl, seen: Observation) -> bool:
        """Returns whether the host counts as failing after one more failure: its front page is asked at last."""
        if seen.status in _NAMES:
            return True
        host = self._host.record
        needed = _CONTACTS_PROVEN if proven(host.streak, self._policy) else _CONTACTS
        if self._asked_next and self._failures < needed:
            return False
        front = str(front_page(url.url))
        if front in self._asked:
            return True
        self._asked.add(front)
        day = self._now().day
        thorough = may_prove(host.streak, day, self._policy)
        found = await self._check(CheckRequest(front, self._believed(day), thorough=thorough, asks_again=False))
        self._is_up = found is not None and not is_host_failure(found)
        return found is not None and not self._is_up

    def _believed(self, day: int) -> frozenset[Special]:
        return believed(self._host.sights, day, self._host.key.host_key) | self._shown

    def _request(self, url: StoredUrl) -> CheckRequest:
        day, record, key = self._now().day, url.record, url.key.url_key
        needs, earlier, returned = self._believed(day), url.portrait, self._has_changed(url)
        suspected = self._newcomers.are_suspected
        self._asked.add(self.at)
        return CheckRequest(
            self.at,
            needs,
            known=frozenset(self._host.sights.keys() - needs),
            looks=looks(record, key, day, earlier=earlier, returned=returned, suspected=suspected),
            # What is wrong with the host itself, the first of its URLs has shown in every way, but for a proof.
            thorough=is_thorough(record, key, day, self._policy)
            and (self._is_up or not self._failures or may_prove(record.streak, day, self._policy)),
            asks_again=asks_again(record, key, day, self._policy),
            earlier=earlier,
            portrays=portrays(record, key, day, earlier=earlier, returned=returned)
            # Where others are suspected, those that are recognised must say so.
            or suspected
            or Special.NEW_OWNER in self._host.sights,
            follows=self._is_up,
            others=(*self._codes, *(other.record.http or NO_CODE for other in self._queue if _is_refused(other))),
            warned=record.reason if record.reason in BAD_CERTIFICATES else None,
            face=self._face,
            day=day,
            parts=url.url,
        )

    async def _confirmed(self, url: StoredUrl, seen: Observation, moment: Moment, *, of_host: bool) -> Observation:
        """The observation; a doubt if it would make the URL or its host dead and the second opinion differs (C-14).

        Failures of the host are asked for once a visit (D-19).
        """
        if self._second_opinion is None or seen.outcome is not Outcome.FAILING:
            return seen
        key = self._host.key.host_key
        judged = judge(url.record, seen, moment.day, self._policy, host_key=key)
        records: list[tuple[UrlRecord | HostRecord, UrlRecord | HostRecord]] = [(url.record, judged.record)]
        if of_host:
            records.append((self._state, judge_host(self._state, seen, moment.day, self._policy)))
        if not any(self._proves(new) and not self._proves(old) for old, new in records):
            return seen
        outcome = self._second_outcome if is_host_failure(seen) else None
        outcome = outcome or await self._second_opinion(str(url.url))
        if is_host_failure(seen):
            self._second_outcome = outcome
        return seen if outcome in (None, Outcome.FAILING) else replace(seen, reason=Reason.DISPUTED)

    def _proves(self, record: UrlRecord | HostRecord) -> bool:
        return proven(record.streak, self._policy)

    async def _infer_rest(self, inferred: Observation, day: int) -> None:
        """Records the host's failure for its remaining URLs without contact (C-5), but for those that had begun to fail
        before it: their proof would wait for that of the host, which began later."""
        begun = 0 if self._proves(self._state) else self._state.streak.since or day
        older = [
            url for url in self._queue if (url.record.streak.since or begun) < begun and not self._proves(url.record)
        ]
        rest = [url for url in self._queue if url not in older[:FEW_URLS]]
        self._queue = deque(older[:FEW_URLS])
        while rest:
            await self._report_all([self._checked(url, inferred, Moment(day)) for url in rest])
            rest = list(await self._more(day)) if self._more and not self._stopping() else []
            rest = [url for url in rest if url.key not in self._left]

    def _pause_days(self, seen: Observation) -> int:
        """Days for which the host gets no further requests, 0 = go on (C-3)."""
        self._limited = self._limited + 1 if seen.reason is Reason.RATE_LIMIT else 0
        if seen.retry_after_s and seen.retry_after_s > _CALM_S:
            return min(ceil(seen.retry_after_s / _DAY_S), _POSTPONED_LIMIT)
        return _POSTPONED if self._limited >= _LIMITED else 0

    async def _put_off(self, urls: Iterable[StoredUrl], day: int, days: int) -> None:
        await self._report_all(postponed(self._host, urls, day, days, state=self._state))

    async def _report(self, checked: Checked) -> None:
        await self._write(checked)
        self._left.pop(checked.url.key, None)
        self._reported = checked.host_after

    async def _report_all(self, checks: Sequence[Checked]) -> None:
        """Reports all at once; raises what one of them raises when it is known of all whether they were written."""
        for error in await asyncio.gather(*map(self._report, checks), return_exceptions=True):
            if error is not None:
                raise error

    def _judged(self, url: StoredUrl, seen: Observation, moment: Moment) -> Judgement:
        key = self._host.key.host_key
        return judge(url.record, seen, moment.day, self._policy, self._state, host_key=key)

    def _checked(self, url: StoredUrl, seen: Observation, moment: Moment) -> Checked:
        (record, due), state = self._judged(url, seen, moment), self._state
        return Checked(url, self._host, moment.day, seen, record, due, state, state)


def postponed(
    host: StoredHost, urls: Iterable[StoredUrl], day: int, days: int = _POSTPONED, *, state: HostRecord | None = None
) -> list[Checked]:
    """URLs of a host put off for so many days: nothing was concluded. `state`: the host's record, if it has changed."""
    state = state or host.record
    return [Checked(url, host, day, None, url.record, day + days, state, state) for url in urls]


def _is_refused(url: StoredUrl) -> bool:
    reason = url.record.reason
    return reason is not None and reason.outcome is Outcome.REFUSED and may_refuse(url.record.http)
