"""Arguments and greetings that the calls of crawlers and of feeders share."""

from typing import Annotated, Any, Final, TypeVar

from msgspec import Meta, Struct

from weboid.errors import StoreError
from weboid.remote.http.messages import OtherScheme
from weboid.remote.http.rpc import Wire
from weboid.store.db.key_scheme import OURS
from weboid.store.schedule.process import ProcessRole, RunningProcess

_MOST_DETAIL: Final = 2_000
_MOST_SMALL: Final = 2**15 - 1


def up_to(most: int, least: int = 0) -> Wire:
    """A number that is sent as `most` if it is larger."""
    return Wire(Annotated[int, Meta(ge=least, le=most)], encode=lambda number: min(number, most))


def _fit_detail(text: str) -> str:
    return text.encode(errors="replace").decode()[:_MOST_DETAIL]


Day = Annotated[int, Meta(ge=0, le=_MOST_SMALL)]
ThisDay = Annotated[Day, Wire(check="require_day")]
"""A day that must be about the server's own."""
DETAIL: Final = Wire(Annotated[str, Meta(max_length=_MOST_DETAIL)], encode=_fit_detail)
Detail = Annotated[str, DETAIL]
"""The words of an alarm, cut off where they are too long."""


class Scheme(Struct, frozen=True):
    """The form of keys of a program (O-10)."""

    form_version: Annotated[int, Meta(ge=0, le=2**31 - 1)]
    suffix_version: Annotated[str, Meta(max_length=1_000)]


OUR_SCHEME: Final = Scheme(OURS.form_version, OURS.suffix_version)


def _of_scheme(sent: dict[str, Any]) -> int:
    if sent["scheme"] != OUR_SCHEME:
        raise OtherScheme
    limit: int = sent["limit"]
    return limit


LimitByScheme = Annotated[
    int,
    Wire(
        {"limit": Annotated[int, Meta(ge=0, le=10_000_000)], "scheme": Scheme},
        encode=lambda limit: {"limit": limit, "scheme": OUR_SCHEME},
        decode=_of_scheme,
    ),
]
"""A limit, with the scheme of the caller's keys; raises OtherScheme if it is not that of the server."""


class Life(Struct, frozen=True):
    """A sign of life of a remote process; `is_last`: it ends."""

    name: Annotated[str, Meta(max_length=100)]
    host: Annotated[str, Meta(max_length=200)]
    machine: Annotated[str, Meta(max_length=200)]
    pid: Annotated[int, Meta(ge=0, le=2**31 - 1)]
    version: Annotated[str, Meta(max_length=100)]
    doing: Annotated[str, Meta(max_length=500)] = ""
    figures: Annotated[dict[Annotated[str, Meta(max_length=100)], float], Meta(max_length=100)] = {}
    is_last: bool = False


class Greeted(Struct, frozen=True):
    """The beginning of a server's greeting."""

    version: str
    scheme: Scheme


_Greeting = TypeVar("_Greeting", bound=Greeted)


def of_our_scheme(greeting: _Greeting) -> _Greeting:
    """The greeting of a server; raises StoreError if its keys are not ours (O-10)."""
    if greeting.scheme != OUR_SCHEME:
        raise StoreError(
            f"the server (version {greeting.version}) has keys of another URL form or suffix list than this program: "
            "use the same version here"
        )
    return greeting


def process_of(role: ProcessRole, client: str, life: Life) -> RunningProcess:
    """The process that has sent a sign of life, with the name of its token."""
    return RunningProcess(role, f"{client}:{life.name}", life.host, life.machine, life.pid, life.version)
