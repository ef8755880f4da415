"""Crawlers as each other's second vantage point: looks that are wanted from another place, and looks for others (C-14).

Both meet at the server (``remote``). Neither waits for the other for longer than `ANSWER_S`, and a look without an
outcome changes nothing.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from time import monotonic
from typing import Final
from uuid import UUID, uuid4

from weboid.checking.connectivity import CANARIES, Ask, Connectivity
from weboid.checking.online import Online
from weboid.checking.second_opinion import ANSWER_S, Silences
from weboid.core.observe.check_request import CheckRequest
from weboid.core.record.reasons import Outcome
from weboid.core.url.keys import key_of
from weboid.core.url.urls import parse
from weboid.errors import StoreAway, StoreError
from weboid.mechanism.disturbance import Disturbance
from weboid.mechanism.patience import is_stopped_within
from weboid.mechanism.tasks import cancel
from weboid.remote.crawl.calls import SecondLooks
from weboid.store.schedule.second_look import LookState, TakenLook

log = logging.getLogger(__name__)

AT_ONCE: Final = 20
"""Looks that a crawler waits for at once, and that it makes for others."""
_ASK_S: Final = 1.0
_TAKE_S: Final = 2.0
_LOOK_S: Final = 110.0
"""Seconds for one look: after a little more another crawler may take it."""


class CrawlersOpinion:
    """Crawlers of another place, asked through the server. If there are none, verdicts go by the first place alone."""

    def __init__(self, looks: SecondLooks, *, answer_s: float = ANSWER_S, ask_s: float = _ASK_S) -> None:
        self._looks = looks
        self._answer_s = answer_s
        self._ask_s = ask_s
        self._seats = asyncio.Semaphore(AT_ONCE)
        self._silences = Silences()
        self._alone = Disturbance(log, "no crawler of another place is there to look before links are called dead")

    async def outcome(self, url: str) -> Outcome | None:
        """The outcome in another place; None if there is none, or with a warning if it does not answer in time."""
        async with self._seats:
            if self._silences.is_resting:
                return None
            try:
                state = await self._answered(uuid4(), url)
            except (TimeoutError, StoreError) as error:
                self._silences.met(url, error)
                return None
        if state.outcome is None and state.is_alone:
            self._alone.met()
        else:
            self._alone.passed()
            self._silences.passed()
        return state.outcome

    async def _answered(self, look: UUID, url: str) -> LookState:
        """The final state of the look; raises TimeoutError, and StoreError if the server refuses us."""
        key, end = key_of(parse(url)), monotonic() + self._answer_s
        while monotonic() < end:
            try:
                if not (state := await self._looks.ask(look, key)).is_open:
                    return state
            except StoreAway as error:
                log.debug("the second look is asked for again: %s", error)
            await asyncio.sleep(self._ask_s)
        raise TimeoutError(f"no other place has answered within {self._answer_s:.0f} s")

    def close(self) -> None:
        """Logs what is over."""
        self._alone.close()


class LookTaker:
    """Makes the looks that other places want, all the time: between rounds and in the middle of them.

    `list_canaries` as in `Work`: what proves that our own connection is not to blame (C-16).
    """

    def __init__(
        self,
        looks: SecondLooks,
        ask: Ask,
        online: Online,
        list_canaries: Callable[[int], Awaitable[Sequence[str]]],
        *,
        take_s: float = _TAKE_S,
    ) -> None:
        self._looks = looks
        self._ask = ask
        self._online = online
        self._list_canaries = list_canaries
        self._take_s = take_s
        self._open: set[asyncio.Task[None]] = set()
        self._connectivity: Connectivity | None = None

    async def run(self, stopped: asyncio.Event) -> None:
        """Looks until `stopped`; no failure ends it."""
        try:
            while not stopped.is_set():
                try:
                    for taken in await self._looks.take(AT_ONCE - len(self._open)):
                        await self._begin(taken)
                except StoreError as error:
                    log.debug("no second looks are taken now: %s", error)
                except Exception as error:
                    log.error("no second looks are taken now, by an error of our own", exc_info=error)
                await is_stopped_within(stopped, self._take_s)
        finally:
            await cancel(*self._open)
            if self._connectivity:
                await self._connectivity.close()

    async def _begin(self, taken: TakenLook) -> None:
        if self._connectivity is None or self._connectivity.is_down:
            if self._connectivity:
                await self._connectivity.close()
            self._connectivity = Connectivity(self._ask, self._online)
            self._connectivity.know(await self._list_canaries(CANARIES))
        task = asyncio.create_task(self._look(taken, self._connectivity))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def _look(self, taken: TakenLook, connectivity: Connectivity) -> None:
        """Makes one look and answers it; without an outcome it is left to the crawler that takes it next."""
        outcome = None
        try:
            async with asyncio.timeout(_LOOK_S):
                seen = await connectivity.check(CheckRequest(taken.url, thorough=True))
                outcome = seen.outcome if seen else None
        except TimeoutError:
            log.debug("the second look at %r takes too long", taken.url)
        except Exception as error:
            log.error("the second look at %r has ended by an error of our own", taken.url, exc_info=error)
        try:
            await self._looks.answer(taken.look, outcome)
        except StoreError as error:
            log.debug("the second look at %r is not answered: %s", taken.url, error)
