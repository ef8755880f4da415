"""A hot standby of the database, from which the webservice reads what it only shows (`Pool.viewing`).

How far it is behind is found by no clock: the primary's place in the log of writes is noted each second, and the lag is
the age of the newest place that the standby has reached. Beyond `most_lag_s`, or while it is away, all is read from the
primary. While the primary is away the standby goes on; one that was promoted while the primary goes on does not.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from math import inf
from time import monotonic
from typing import Any, Final

from weboid.errors import StoreAway, StoreError
from weboid.mechanism.disturbance import Disturbance
from weboid.mechanism.tasks import in_background
from weboid.store.db.pool import Pool, open_pool
from weboid.store.db.statements import fetch_value, statements

log = logging.getLogger(__name__)

SQL: Final = statements("db/standby")
_PAUSE_S: Final = 1.0
_PATIENCE_S: Final = 1.0
_MOST_MARKS: Final = 3_600


class ReadStandby:
    """The standby at an address, of the server behind `primary`, to be read while it is at most `most_lag_s` behind.

    `options` are those of `open_pool`.
    """

    def __init__(self, dsn: str, primary: Pool, *, most_lag_s: float, **options: Any) -> None:
        self.lag_s = inf
        """The seconds that it is behind the primary; endless while that is not known."""
        self._most_lag_s = most_lag_s
        self._dsn = dsn
        self._primary = primary
        self._options = options
        self._pool: Pool | None = None
        self._marks: deque[tuple[float, float]] = deque(maxlen=_MOST_MARKS)
        """Moments with the primary's place then, from the newest on that the standby has reached."""
        self._late = Disturbance(log, "read from the primary, for the standby cannot be used", calm_s=0)

    @property
    def pool(self) -> Pool | None:
        """Its connections, if it is there and up to date."""
        return self._pool if self.lag_s <= self._most_lag_s else None

    @asynccontextmanager
    async def followed(self) -> AsyncIterator[None]:
        """Lets the primary's pool read from it until the block ends."""
        self._primary.standby = self
        async with in_background(self._follow()):
            yield
        self._primary.standby = None

    def leave(self, reason: object) -> None:
        """Reads from the primary until the standby is seen to be well."""
        self.lag_s = inf
        self._late.met(reason)

    async def _follow(self) -> None:
        away = Disturbance(log, "the standby is away")
        while True:
            try:
                async with open_pool(self._dsn, part="web standby", away=away, **self._options) as self._pool:
                    while True:
                        await self._look(self._pool)
                        await asyncio.sleep(_PAUSE_S)
            except StoreError as error:
                self.leave(error)
            finally:
                self._pool = None
            await asyncio.sleep(_PAUSE_S)

    async def _look(self, pool: Pool) -> None:
        """Measures the lag; raises StoreError if the standby does not answer."""
        now, has_primary = monotonic(), False
        with suppress(StoreAway):
            async with self._primary.reading(_PATIENCE_S) as conn:
                self._marks.append((now, await fetch_value(conn, SQL["find_end"]) or 0.0))
            has_primary = True
        async with pool.reading(_PATIENCE_S) as conn:
            is_standby, replayed = await (await conn.execute(SQL["find_replayed"])).fetchone() or (False, 0.0)
        if has_primary and not is_standby:
            self.leave("it is no standby")
            return
        while len(self._marks) > 1 and self._marks[1][1] <= replayed:
            self._marks.popleft()
        if not self._marks or self._marks[0][1] > replayed:
            self.leave("it is not known how far it is behind")
            return
        self.lag_s = self._marks[-1][0] - self._marks[0][0]
        if self.lag_s <= self._most_lag_s:
            self._late.passed()
        else:
            self._late.met(f"it is {self.lag_s:.0f} s behind")
