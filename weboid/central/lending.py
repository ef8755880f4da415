"""Who lends connections to the store: the pool, or one transaction in which several things are done."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

from weboid.store.db.pool import Connection


class Lender(Protocol):
    """Lends connections in a transaction, as `Pool` does."""

    def connection(self) -> AbstractAsyncContextManager[Connection]:
        """A connection until the block ends; raises StoreAway."""
        ...


class OneTransaction:
    """Lends one connection again and again: all that is done with it is one transaction, of whoever has begun it."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """The connection."""
        yield self._conn
