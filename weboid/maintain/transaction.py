"""Steps of long work that are one transaction each (``mechanism/again``)."""

from collections.abc import Awaitable, Callable
from typing import Concatenate, ParamSpec, TypeVar

from weboid.store.db.pool import Connection, Pool

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


def in_transaction(
    pool: Pool,
    function: Callable[Concatenate[Connection, _Given], Awaitable[_Result]],
    *given: _Given.args,
    **named: _Given.kwargs,
) -> Callable[[], Awaitable[_Result]]:
    """The step that calls a function with a connection in a transaction of its own."""

    async def step() -> _Result:
        async with pool.connection() as conn:
            return await function(conn, *given, **named)

    return step
