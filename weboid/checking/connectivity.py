"""Whether it is we who are down (C-16): a host's failure is believed only while others answer.

One law: a failure waits until somebody has answered since, or a canary does; whatever fell into an outage of our own
is held against nobody.
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
"""Hosts in a row that fail while none answers, before a canary is asked though others are still being waited for."""
SUSPECTS_ALONE: Final = 50
"""The same, before a store that knows no canary at all takes itself to be cut off."""
CANARIES: Final = 8
"""Enough that not all of them die between two rounds."""

Ask = Callable[[CheckRequest], Awaitable[Observation]]
"""One check; raises NotAsked, and what is a fault of ours."""


class Connectivity:
    """Checks, and whether we are connected meanwhile. Canaries are those known before, then what answered last."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._canaries: deque[str] = deque(maxlen=CANARIES)
        self._suspects: set[str] = set()
        self._waiting: list[asyncio.Future[bool]] = []
        self._asking = 0
        self._deciding: asyncio.Task[None] | None = None
        self.is_down = False
        """Set once and for all when the round is found cut off."""

    def know(self, canaries: Iterable[str]) -> None:
        """URLs that answered when they were last asked."""
        self._canaries.extend(canaries)

    async def check(self, request: CheckRequest) -> Observation | None:
        """One check, believed only if it is not we who are down; None for whatever is no fault of theirs."""
        seen = None
        self._asking += 1
        try:
            seen = await self._ask(request)
        except NotAsked as why:
            log.debug("not asked now: %s", why)
            return None
        except Exception as error:
            # Sockets and name servers of our own need no stack trace; a bug does.
            log.warning("could not check %r: %r", request.url, error, exc_info=not isinstance(error, OSError))
        finally:
            self._asking -= 1
            self._consider()
        if seen is not None and not is_host_failure(seen):
            # Who wants to be left alone is not asked again to see whether we are down.
            self._answered(None if seen.retry_after_s else request.url)
            return seen
        return seen if await self._is_believed(request.url.split("/", 3)[2]) else None

    def _answered(self, canary: str | None) -> None:
        """A host has given an answer of whatever kind: all that failed until now failed by itself.

        `canary` is its URL, None if it should not be asked again.
        """
        if canary:
            self._canaries.append(canary)
        self._suspects.clear()
        self._settle(believed=True)

    async def _is_believed(self, host: str) -> bool:
        """Whether a failure to reach a host is the host's. Waits for others to answer, or for a canary."""
        if self.is_down:
            return False
        self._suspects.add(host)
        verdict: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append(verdict)
        self._consider()
        return await verdict

    async def close(self) -> None:
        """Ends what is still undecided."""
        if self._deciding:
            self._deciding.cancel()
            await asyncio.gather(self._deciding, return_exceptions=True)

    def _consider(self) -> None:
        """Decides when nobody is left who could answer by himself, or too many have failed in a row."""
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
                log.error("%d hosts in a row cannot be reached, nor any canary", len(self._suspects))
            if believed:
                self._suspects.clear()
            self._settle(believed=believed)
        finally:
            self._deciding = None

    async def _a_canary_answers(self) -> bool:
        asked = [asyncio.create_task(self._is_answered(url)) for url in self._canaries]
        try:
            for answer in asyncio.as_completed(asked):
                if await answer:
                    return True
        finally:
            for task in asked:
                task.cancel()
            await asyncio.gather(*asked, return_exceptions=True)
        return False

    async def _is_answered(self, url: str) -> bool:
        """Whether the host of a URL gives any answer at all."""
        try:
            return not is_host_failure(await self._ask(CheckRequest(url)))
        except Exception as error:
            log.warning("could not ask the canary %r: %r", url, error)
            return False

    def _settle(self, *, believed: bool) -> None:
        waiting, self._waiting = self._waiting, []
        for verdict in waiting:
            if not verdict.done():
                verdict.set_result(believed)
