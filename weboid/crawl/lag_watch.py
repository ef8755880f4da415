"""Raises an alarm when a crawler's event loop is late for most of a minute, since failures by time do not count then.

``mechanism/loop_lag`` measures, ``checking/checker`` holds the failures back.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from time import monotonic
from typing import Final

from weboid.errors import StoreAway
from weboid.mechanism.loop_lag import LATE_S, LoopLag
from weboid.mechanism.patience import is_stopped_within
from weboid.remote.crawl.calls import Alarms
from weboid.store.upkeep.alarm import AlarmKind

log = logging.getLogger(__name__)

LOOK_S: Final = 60.0
"""Seconds between two looks, of which each is at the time since the last one."""
MOST: Final = 0.5
"""The share of that time in which the loop must have been late."""
_DETAIL: Final = (
    "a crawler is up to {worst_s:.0f} s late, so that what fails by time is not counted, but checked another day. Set "
    "WEBOID_NET_CONNECTIONS lower (now {connections}), or give it more processor time and memory: other programs may "
    "take them"
)


class LagWatch:
    """Raises the alarm of one crawler and lowers it: its own, and once that of a crawler that was here before."""

    def __init__(self, alarms: Alarms, lag: LoopLag, today: Callable[[], int], connections: int) -> None:
        self._alarms = alarms
        self._lag = lag
        self._today = today
        self._connections = connections
        self._may_be_raised = True
        self._is_raised = False

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Looks now and then while a round is under way, and at its end."""
        ended = asyncio.Event()
        watching = asyncio.create_task(self._keep_looking(ended))
        try:
            yield
        finally:
            ended.set()
            # Never cancelled in a statement: awaiting the task itself would pass a cancellation on to it.
            await asyncio.wait([watching])
            watching.result()

    async def _keep_looking(self, ended: asyncio.Event) -> None:
        while not await is_stopped_within(ended, LOOK_S):
            await self.look()
        await self.look()

    async def look(self) -> None:
        """Raises the alarm if the loop was late for most of the last minute; lowers it if it was not late at all.

        If the database does not answer, the next look does it.
        """
        worst_s = self._lag.worst_since(monotonic() - LOOK_S)
        try:
            if self._lag.late_share(LOOK_S) >= MOST:
                if not self._is_raised:
                    log.error("this program was up to %.0f s late: failures by time do not count", worst_s)
                self._may_be_raised = self._is_raised = True
                detail = _DETAIL.format(worst_s=worst_s, connections=self._connections)
                await self._alarms.raise_alarm(AlarmKind.LOOP_LAG, self._today(), detail)
            elif self._may_be_raised and worst_s <= LATE_S:
                await self._alarms.lower_alarm(AlarmKind.LOOP_LAG)
                self._may_be_raised = self._is_raised = False
        except StoreAway as error:
            log.debug("the alarm of a late event loop is not up to date: %s", error)
