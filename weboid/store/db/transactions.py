"""Special transactions: repeated after a conflict, of one moment, with values that the database may refuse."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any, Final, ParamSpec, TypeVar

import psycopg

from weboid.errors import StoreConflict
from weboid.store.db.pool import Pool
from weboid.store.db.statements import Connection

TRIES: Final = 5
"""The most times a transaction is begun. The transaction that came first has all of its locks by then."""

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")
_Class = TypeVar("_Class", bound=type[Any])


class RefusedValues(Exception):
    """Values from outside that cannot be stored, too large or of a form that no column takes; none of them was."""


def repeated(function: Callable[_Parameters, Awaitable[_Result]]) -> Callable[_Parameters, Awaitable[_Result]]:
    """Makes a function, which is a whole transaction, begin again at once when that ended with StoreConflict.

    What fails again and again is raised in the end, as a database that cannot do its work.
    """

    @wraps(function)
    async def repeating(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        for _ in range(TRIES - 1):
            try:
                return await function(*args, **kwargs)
            except StoreConflict:
                continue
        return await function(*args, **kwargs)

    return repeating


def all_repeated(kind: _Class) -> _Class:
    """Makes all public methods of a class do so; each of them is one transaction, or several that may be repeated."""
    for name, method in list(vars(kind).items()):
        if not name.startswith("_") and iscoroutinefunction(method):
            setattr(kind, name, repeated(method))
    return kind


@contextmanager
def refused_values() -> Iterator[None]:
    """A block in which values from outside are written: raises RefusedValues if the database refuses them."""
    try:
        yield
    except (psycopg.DataError, psycopg.IntegrityError) as error:
        raise RefusedValues(type(error).__name__) from error


async def is_read_only(pool: Pool) -> bool:
    """Returns whether nothing can be written there now, as on a hot standby. Raises StoreAway."""
    async with pool.connection() as conn:
        return await (await conn.execute("SHOW transaction_read_only")).fetchone() == ("on",)


@asynccontextmanager
async def one_moment(pool: Pool) -> AsyncIterator[Connection]:
    """Lends a connection whose statements all see the database as it is at the first of them. Raises StoreAway."""
    async with pool.connection() as conn:
        await conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield conn
