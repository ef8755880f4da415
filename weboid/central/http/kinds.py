"""What a call over HTTP is: its name, what it takes, what it returns, and whether it is done once only.

The calls themselves are in ``central/crawl/calls`` and ``central/feed/feed_calls``. One law: whatever is not the same
when it is done twice has `is_once`, and so is noted with its answer (``store/schedule/done_request``).
"""

from dataclasses import dataclass
from math import inf
from typing import Annotated, Any, Final, Generic, TypeVar
from uuid import UUID

from msgspec import Meta, Raw, Struct

from weboid.store.db.key_scheme import OURS

MOST_DETAIL: Final = 2_000
_MOST_SMALL: Final = 2**15 - 1

Day = Annotated[int, Meta(ge=0, le=_MOST_SMALL)]
Detail = Annotated[str, Meta(max_length=MOST_DETAIL)]


class Call(Struct, frozen=True):
    """A request: who makes it, the number that it has (for a call that `is_once`), and what it takes, by the call."""

    worker: Annotated[str, Meta(min_length=1, max_length=200)]
    request: UUID
    arguments: Raw


class Nothing(Struct, frozen=True):
    """No arguments, or no result."""


class Scheme(Struct, frozen=True):
    """The form of keys of a program (O-10)."""

    form_version: int
    suffix_version: str


OUR_SCHEME: Final = Scheme(OURS.form_version, OURS.suffix_version)


class Life(Struct, frozen=True):
    """A sign of life of a part elsewhere; `is_last`: it ends."""

    name: Annotated[str, Meta(max_length=100)]
    host: Annotated[str, Meta(max_length=200)]
    machine: Annotated[str, Meta(max_length=200)]
    pid: Annotated[int, Meta(ge=0, le=2**31 - 1)]
    version: Annotated[str, Meta(max_length=100)]
    doing: Annotated[str, Meta(max_length=500)] = ""
    figures: Annotated[dict[Annotated[str, Meta(max_length=100)], float], Meta(max_length=100)] = {}
    is_last: bool = False


_Given = TypeVar("_Given")
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class CallKind(Generic[_Given, _Result]):
    """A kind of call, by its word in the address."""

    name: str
    given: type[_Given]
    result: Any
    """The type of the result: a class or a generic alias."""
    is_once: bool = False
    fresh_s: float = inf
    """Seconds after which it is another call, even if it was not answered: its answer would be worth nothing."""


def fit_detail(text: str) -> str:
    """The words of an alarm, as they may be sent."""
    return text.encode(errors="replace").decode()[:MOST_DETAIL]
