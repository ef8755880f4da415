"""The day of a crawler, and whether it can be right (C-16).

It is that of the database's clock, so that all workers agree, or a given one (simulation). No day is worked on that
lies more than JUMP_DAYS from the newest day on which a crawler worked, unless an operator confirms it or, for the real
clock, other hosts do.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from time import monotonic
from typing import Final

from weboid.core.record.days import day_of, iso
from weboid.core.record.moment import Moment
from weboid.errors import DayRefused, StoreAway
from weboid.remote.crawl.calls import Days

log = logging.getLogger(__name__)

JUMP_DAYS: Final = 2
"""Days without a worker, or back, that need no confirmation."""
READ_S: Final = 60.0
"""Seconds for which this machine's own monotonic clock is believed before the database's is read again."""


class WorkerDay:
    """The day of one worker, known after `require` or `confirm`.

    `given` names it instead of the database's clock, `hour` the hour alone. `witnessed` asks other hosts whether it is
    a certain day.
    """

    def __init__(
        self,
        days: Days,
        given: Callable[[], Moment] | None = None,
        witnessed: Callable[[int], Awaitable[bool]] | None = None,
        *,
        hour: int | None = None,
    ) -> None:
        self._days = days
        self._given = given
        self._witnessed = witnessed
        self._hour = hour
        self._moment: datetime | None = None
        self._read_at = float("-inf")
        self._accepted: int | None = None

    def now(self) -> Moment:
        if self._given:
            return self._given()
        if self._moment is None:
            raise RuntimeError("the day was not read yet")
        moment = self._moment + timedelta(seconds=monotonic() - self._read_at)
        return Moment(day_of(moment), moment.hour if self._hour is None else self._hour)

    def today(self) -> int:
        return self.now().day

    async def require(self) -> None:
        """Finds out the day, unless it was just found out, and records it as lived.

        Raises DayRefused if it cannot be right: the alarm is raised, and `now` goes on as before. Raises StoreAway
        (D-81).
        """
        if self._given:
            if self._accepted != (day := self._given().day):
                await self._accept(day)
        elif monotonic() - self._read_at >= READ_S:
            moment, read_at, day = await self._read()
            await self._accept(day)
            self._moment, self._read_at = moment, read_at

    async def confirm(self) -> None:
        """Takes the day as right, whatever was lived before. Raises StoreAway, and DayRefused for no day of ours."""
        if self._given:
            day = self._given().day
        else:
            self._moment, self._read_at, day = await self._read()
        await self._days.confirm(day)
        self._accepted = day

    async def keep(self) -> None:
        """Follows the database's clock until cancelled; a day that cannot be right is left to the next `require`."""
        while True:
            await asyncio.sleep(READ_S)
            try:
                await self.require()
            except StoreAway as error:
                log.debug("the clock is not followed: %s", error)
            except DayRefused as error:
                log.warning("the clock is not followed: %s", error)

    async def _read(self) -> tuple[datetime, float, int]:
        moment = await self._days.find_moment()
        read_at = monotonic()
        try:
            return moment, read_at, day_of(moment)
        except ValueError as error:
            fault = f"the clock of the database's server is wrong: {error}"
            await self._days.refuse(await self._days.find_lived() or 0, fault)
            self._accepted = None
            raise DayRefused(fault) from error

    async def _accept(self, day: int) -> None:
        lived = await self._days.find_lived()
        if (
            lived is not None
            and abs(day - lived) > JUMP_DAYS
            and not (day > lived and self._witnessed and await self._witnessed(day))
        ):
            self._accepted = None
            fault = f"it would be {iso(day)}, but crawlers last worked on {iso(lived)}"
            todo = (
                f"if {iso(day)} is right, run `weboid crawl --once --confirm-day` where the database is; else set "
                "right the clock of its server"
            )
            await self._days.refuse(lived, f"{fault}; {todo}")
            raise DayRefused(f"{fault}; nothing is checked: {todo}")
        await self._days.accept(day, is_over=self._accepted is None)
        self._accepted = day
