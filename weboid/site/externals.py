"""Judges links that lead away from a site as ``weboid check`` does, one at a time at each host."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final

from msgspec.structs import replace

from weboid.checking.spot_checks import NO_NETWORK, SpotCheck, SpotChecks
from weboid.core.record.reasons import Outcome as Judged
from weboid.core.record.reasons import Reason
from weboid.core.url.classify import UrlClass, classify
from weboid.core.url.urls import parse
from weboid.errors import OutputClosedError, WeboidError
from weboid.mechanism.tasks import cancel
from weboid.site.keep import RunMemory
from weboid.site.ledger import LinkOutcome

log = logging.getLogger(__name__)

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
        self.known: set[str] = set()
        """URLs that are wanted, or have been `checked`."""
        self._queues: dict[str, deque[str]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._seats = asyncio.Semaphore(_AT_ONCE)
        self._ended_by: Exception | None = None
        self.own_faults = 0
        self.checked = 0
        self.no_network = ""
        """Why nothing can be said of links, if our own connection is down (C-16)."""

    def want(self, url: str) -> None:
        """Has a URL in normal form checked, once."""
        if url in self.known:
            return
        self.known.add(url)
        host = parse(url).host
        if host in self._queues:
            self._queues[host].append(url)
            return
        self._queues[host] = deque([url])
        task = asyncio.create_task(self._check_host(host))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def finish(self) -> None:
        """Waits for all checks; raises what the store raised, and what says that results cannot be written."""
        while self._tasks:
            await asyncio.gather(*self._tasks)
        if self._ended_by:
            raise self._ended_by

    async def close(self) -> None:
        """Ends the checks that are under way."""
        await cancel(*self._tasks)

    async def _check_host(self, host: str) -> None:
        queue = self._queues[host]
        while queue and not self._ended_by:
            url = queue.popleft()
            try:
                outcome = await self._outcome(url)
                self.checked += 1
                self.settle(url, outcome)
            except (WeboidError, OutputClosedError) as error:
                self._ended_by = error
            except Exception as error:
                log.error("an error of our own at %r", url, exc_info=error)
                self.own_faults += 1
                self.settle(url, LinkOutcome("not-asked", reason="own-fault"))
        del self._queues[host]

    async def _outcome(self, url: str) -> LinkOutcome:
        if self._opening is None:
            self._opening = asyncio.ensure_future(self._open_checks())
        outcome = await self._checked(await asyncio.shield(self._opening), url)
        if outcome.state == "broken" and self._find_copy:
            return outcome._replace(copy=await self._find_copy(url))
        return outcome

    async def _checked(self, checks: SpotChecks, url: str) -> LinkOutcome:
        memory = self._memory
        if memory and memory.is_done(url) and (record := (await memory.known(url)).record).reason:
            return judged(record.reason, record.http, record.target or "")
        async with self._seats:
            check = await checks.check(classify(url, None))
        self.no_network = self.no_network or check.no_network or ""
        if memory and check.seen:
            final = check.answer.final if check.answer and check.answer.hops else None
            await memory.note(url, replace(check.seen, target=final), await memory.known(url))
        return outcome_of(check)


def outcome_of(check: SpotCheck) -> LinkOutcome:
    """The outcome by a check."""
    seen, answer = check.seen, check.answer
    if seen:
        return judged(seen.reason, seen.http, answer.final if answer and answer.hops else "")
    if check.link.kind is UrlClass.INVALID:
        return LinkOutcome("broken", reason=check.reason or "")
    if check.no_network or check.error:
        return LinkOutcome("not-asked", reason=NO_NETWORK if check.no_network else "not-checked")
    return LinkOutcome("external", reason=check.link.kind.value)


def judged(reason: Reason, code: int | None, final: str) -> LinkOutcome:
    """The outcome by a reason: only what fails is broken, as who refuses us may show it to people."""
    match reason.outcome:
        case Judged.FAILING:
            return LinkOutcome("broken", code or None, reason.word, final)
        case Judged.WORKING:
            return LinkOutcome("redirect" if final else "ok", code or None, "", final)
        case _:
            return LinkOutcome("doubtful", code or None, reason.word, final)
