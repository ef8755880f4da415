"""Judges links that lead away from a site as ``weboid check`` does, one at a time at each host."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final

from weboid.checking.spot_checks import NO_NETWORK, SpotCheck, SpotChecks
from weboid.core.record.reasons import Outcome as Judged
from weboid.core.record.reasons import Reason
from weboid.core.url.classify import UrlClass, classify
from weboid.core.url.urls import parse
from weboid.site.keep import RunMemory
from weboid.site.ledger import LinkOutcome

_AT_ONCE: Final = 100
"""Hosts."""

FindCopy = Callable[[str], Awaitable[str]]
"""A copy of a dead URL in an archive; empty if there is none."""


class Externals:
    """Checks URLs as they are found; `open_checks` is awaited at the first one."""

    def __init__(
        self,
        open_checks: Callable[[], Awaitable[SpotChecks]],
        find_copy: FindCopy | None = None,
        memory: RunMemory | None = None,
    ) -> None:
        self._open_checks = open_checks
        self._find_copy = find_copy
        self._memory = memory
        self._opening: asyncio.Future[SpotChecks] | None = None
        self.settle: Callable[[str, LinkOutcome], None] = lambda _url, _outcome: None
        """Gets each outcome."""
        self._known: set[str] = set()
        self._queues: dict[str, deque[str]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._seats = asyncio.Semaphore(_AT_ONCE)
        self.no_network = ""
        """Why nothing can be said of links, if our own connection is down (C-16)."""

    def want(self, url: str) -> None:
        """Has a URL in normal form checked, once."""
        if url in self._known:
            return
        self._known.add(url)
        host = parse(url).host
        if host in self._queues:
            self._queues[host].append(url)
            return
        self._queues[host] = deque([url])
        task = asyncio.create_task(self._check_host(host))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def finish(self) -> None:
        """Waits for all checks; cancelled, it ends them."""
        try:
            while self._tasks:
                await asyncio.gather(*self._tasks)
        finally:
            for task in self._tasks:
                task.cancel()

    async def _check_host(self, host: str) -> None:
        queue = self._queues[host]
        if self._opening is None:
            self._opening = asyncio.ensure_future(self._open_checks())
        checks = await asyncio.shield(self._opening)
        while queue:
            url = queue.popleft()
            outcome = await self._outcome(checks, url)
            if outcome.state == "broken" and self._find_copy:
                outcome = outcome._replace(copy=await self._find_copy(url))
            self.settle(url, outcome)
        del self._queues[host]

    async def _outcome(self, checks: SpotChecks, url: str) -> LinkOutcome:
        memory = self._memory
        if memory and memory.is_done(url) and (record := (await memory.known(url)).record).reason:
            return _judged(record.reason, record.http, record.target or "")
        async with self._seats:
            check = await checks.check(classify(url, None))
        self.no_network = self.no_network or check.no_network or ""
        if memory and check.seen:
            final = check.answer.final if check.answer and check.answer.hops else None
            await memory.note(url, replace(check.seen, target=final), await memory.known(url))
        return outcome_of(check)


def outcome_of(check: SpotCheck) -> LinkOutcome:
    """The outcome by a check: what refuses us may show it to people, so it is a doubt."""
    seen, answer = check.seen, check.answer
    if seen is None:
        if check.link.kind is UrlClass.INVALID:
            return LinkOutcome("broken", reason=check.reason or "")
        reason = NO_NETWORK if check.no_network else "not-checked" if check.error else check.link.kind.value
        return LinkOutcome("not-asked" if check.no_network or check.error else "external", reason=reason)
    return _judged(seen.reason, seen.http, answer.final if answer and answer.hops else "")


def _judged(reason: Reason, code: int | None, final: str) -> LinkOutcome:
    match reason.outcome:
        case Judged.FAILING:
            return LinkOutcome("broken", code or None, reason.word, final)
        case Judged.WORKING:
            return LinkOutcome("redirect" if final else "ok", code or None, "", final)
        case _:
            return LinkOutcome("doubtful", code or None, reason.word, final)
