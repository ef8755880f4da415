"""The pool of a database that has not answered yet: for a program that does what it can without one meanwhile."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from psycopg import AsyncConnection
from psycopg.rows import TupleRow

from weboid.errors import StoreAway
from weboid.mechanism.disturbance import Disturbance
from weboid.store.db.pool import Pool

log = logging.getLogger(__name__)


class AbsentPool(Pool):
    """Lends no connection: whoever asks for one gets StoreAway at once."""

    def __init__(self) -> None:
        super().__init__(open=False)
        self.away = Disturbance(log, "the database is away")

    @asynccontextmanager
    async def connection(
        self,
        timeout: float | None = None,  # noqa: ASYNC109 (as in Pool)
    ) -> AsyncIterator[AsyncConnection[TupleRow]]:
        """Raises StoreAway."""
        raise StoreAway("the database has not answered yet")
        yield
