"""Lenders of connections to the store: the pool, or one transaction in which several things are done."""

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from weboid.store.db.pool import Connection

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


class Lender(Protocol):
    """Lends connections in a transaction, as `Pool` does."""

    def connection(self) -> AbstractAsyncContextManager[Connection]:
        """A connection until the block ends; raises StoreAway."""
        ...


class OneTransaction:
    """Lends one connection again and again: all that is done with it is one transaction."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """The connection."""
        yield self._conn


class OnStore:
    """An implementation on the store, with the connections of a lender."""

    def __init__(self, lender: Lender) -> None:
        self._lender = lender


def alone(
    done: Callable[Concatenate[Connection, _Given], Awaitable[_Result]],
) -> Callable[Concatenate[Any, _Given], Coroutine[Any, Any, _Result]]:
    """A method of an `OnStore` that does this and nothing else, in a transaction."""

    async def method(self: Any, /, *given: _Given.args, **named: _Given.kwargs) -> _Result:
        async with self._lender.connection() as conn:
            return await done(conn, *given, **named)

    return method
