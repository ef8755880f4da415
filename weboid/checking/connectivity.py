"""Detects whether our own connection is down (C-16): a host's failure is believed only while other hosts answer.

One law: a failure is held back until another host has answered since, or a canary does; failures during an outage of
our own do not count.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from typing import Final

from weboid.checking.turns import NotAsked
from weboid.core.observe.check_request import CheckRequest
from weboid.core.observe.observation import Observation
from weboid.core.verdict.judge import is_host_failure

log = logging.getLogger(__name__)

SUSPECTS: Final = 20
"""Hosts that fail in a row before the canaries are checked, even while other checks are still under way."""
SUSPECTS_ALONE: Final = 50
"""The same without any known canary, before our connection is taken to be down."""
CANARIES: Final = 8
"""Number of canaries: enough that not all of them die between two rounds."""

Ask = Callable[[CheckRequest], Awaitable[Observation]]
"""Makes one check; raises NotAsked, and errors of our own."""


class Connectivity:
    """Makes checks and watches our own connection. Canaries are the given URLs, then those that answered last."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._canaries: deque[str] = deque(maxlen=CANARIES)
        self._suspects: set[str] = set()
        self._waiting: list[asyncio.Future[bool]] = []
        self._asking = 0
        self._deciding: asyncio.Task[None] | None = None
        self.is_down = False
        """Set for good when our connection is found to be down."""

    def know(self, canaries: Iterable[str]) -> None:
        """Adds canaries: URLs that answered when they were last checked."""
        self._canaries.extend(canaries)

    async def check(self, request: CheckRequest) -> Observation | None:
        """The observation of one check; None if nothing was requested, or if the failure may be our own."""
        seen = None
        self._asking += 1
        try:
            seen = await self._ask(request)
        except NotAsked as why:
            log.debug("not checked now: %s", why)
            return None
        except Exception as error:
            # Failures of our own sockets and name servers need no stack trace; bugs do.
            log.warning("could not check %r: %r", request.url, error, exc_info=not isinstance(error, OSError))
        finally:
            self._asking -= 1
            self._consider()
        if seen is not None and not is_host_failure(seen):
            # A host that requested a pause is not used as a canary.
            self._answered(None if seen.retry_after_s else request.url)
            return seen
        return seen if await self._is_believed(request.url.split("/", 3)[2]) else None

    def _answered(self, canary: str | None) -> None:
        """Records that a host has answered in any way: all failures until now were the hosts' own.

        `canary` is its URL, None if it must not be used as a canary.
        """
        if canary:
            self._canaries.append(canary)
        self._suspects.clear()
        self._settle(believed=True)

    async def _is_believed(self, host: str) -> bool:
        """Whether a failure is the host's own. Waits until another host or a canary answers."""
        if self.is_down:
            return False
        self._suspects.add(host)
        verdict: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append(verdict)
        self._consider()
        return await verdict

    async def close(self) -> None:
        """Cancels a decision under way."""
        if self._deciding:
            self._deciding.cancel()
            await asyncio.gather(self._deciding, return_exceptions=True)

    def _consider(self) -> None:
        """Starts a decision if no check under way can bring an answer, or if too many hosts have failed in a row."""
        if self._waiting and not self._deciding and (not self._asking or len(self._suspects) >= self._limit()):
            self._deciding = asyncio.create_task(self._decide())

    def _limit(self) -> int:
        return SUSPECTS if self._canaries else SUSPECTS_ALONE

    async def _decide(self) -> None:
        try:
            known = bool(self._canaries)
            believed = await self._a_canary_answers() if known else len(self._suspects) < SUSPECTS_ALONE
            if not believed and not self.is_down:
                self.is_down = True
                log.error("%d hosts in a row cannot be reached, and no canary answers", len(self._suspects))
            if believed:
                self._suspects.clear()
            self._settle(believed=believed)
        finally:
            self._deciding = None

    async def _a_canary_answers(self) -> bool:
        checks = [asyncio.create_task(self._is_answered(url)) for url in self._canaries]
        try:
            for answer in asyncio.as_completed(checks):
                if await answer:
                    return True
        finally:
            for task in checks:
                task.cancel()
            await asyncio.gather(*checks, return_exceptions=True)
        return False

    async def _is_answered(self, url: str) -> bool:
        """Whether the host of a URL gives any answer at all."""
        try:
            return not is_host_failure(await self._ask(CheckRequest(url)))
        except Exception as error:
            log.warning("could not check the canary %r: %r", url, error)
            return False

    def _settle(self, *, believed: bool) -> None:
        waiting, self._waiting = self._waiting, []
        for verdict in waiting:
            if not verdict.done():
                verdict.set_result(believed)
