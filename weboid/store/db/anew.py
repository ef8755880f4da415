"""Transactions that are begun anew when the database ends them for another's sake (`StoreConflict`).

Each is a whole transaction of its own, so nothing of the first attempt is left. One law: what goes wrong again and
again is raised in the end, as a database that cannot do its work.
"""

from collections.abc import Awaitable, Callable
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any, Final, ParamSpec, TypeVar

from weboid.errors import StoreConflict

TRIES: Final = 5
"""How often a transaction is begun at the most. Who comes first has all of its locks by then."""

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")
_Class = TypeVar("_Class", bound=type[Any])


def begun_anew(done: Callable[_Given, Awaitable[_Result]]) -> Callable[_Given, Awaitable[_Result]]:
    """Makes a function begin anew, at once, when its transaction has ended with StoreConflict."""

    @wraps(done)
    async def tried(*given: _Given.args, **named: _Given.kwargs) -> _Result:
        for _ in range(TRIES - 1):
            try:
                return await done(*given, **named)
            except StoreConflict:
                continue
        return await done(*given, **named)

    return tried


def all_begun_anew(kind: _Class) -> _Class:
    """Makes all public methods of a class do so; each of them is one transaction, or several that may be repeated."""
    for name, method in list(vars(kind).items()):
        if not name.startswith("_") and iscoroutinefunction(method):
            setattr(kind, name, begun_anew(method))
    return kind
