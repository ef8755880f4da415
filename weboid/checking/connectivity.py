"""Whether it is we who are down (C-16): a host's failure is believed only while others answer.

One law: a failure waits until somebody has answered since, or a canary does; whatever fell into an outage of our own
is held against nobody.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Final

log = logging.getLogger(__name__)

SUSPECTS: Final = 20
"""Hosts in a row that fail while none answers, before a canary is asked though others are still being waited for."""
SUSPECTS_ALONE: Final = 50
"""The same, before a store that knows no canary at all takes itself to be cut off."""
CANARIES: Final = 8
"""Enough that not all of them die between two rounds."""

Answers = Callable[[str], Coroutine[Any, Any, bool]]
"""Whether the host of a URL gives any answer at all."""


class Connectivity:
    """The judge of our own connection during a round. Canaries are those known before, then what answered last."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
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

    def begin(self) -> None:
        """A check has begun."""
        self._asking += 1

    def end(self) -> None:
        """It has ended, one way or another."""
        self._asking -= 1
        self._consider()

    def answered(self, canary: str | None) -> None:
        """A host has given an answer of whatever kind: all that failed until now failed by itself.

        `canary` is its URL, None if it should not be asked again.
        """
        if canary:
            self._canaries.append(canary)
        self._suspects.clear()
        self._settle(believed=True)

    async def is_believed(self, host: str) -> bool:
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
        asked = [asyncio.create_task(self._answers(url)) for url in self._canaries]
        try:
            for answer in asyncio.as_completed(asked):
                if await answer:
                    return True
        finally:
            for task in asked:
                task.cancel()
            await asyncio.gather(*asked, return_exceptions=True)
        return False

    def _settle(self, *, believed: bool) -> None:
        waiting, self._waiting = self._waiting, []
        for verdict in waiting:
            if not verdict.done():
                verdict.set_result(believed)
