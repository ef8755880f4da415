"""Arguments and greetings that the calls of crawlers and of feeders share."""

from collections.abc import Collection
from typing import Annotated, Any, Final

from msgspec import Meta, Struct

from weboid.core.url.display import plain
from weboid.remote.http.messages import BadMessage
from weboid.remote.http.rpc import Wire
from weboid.store.db.key_scheme import OURS
from weboid.store.db.pool import Pool
from weboid.store.pages.pending import NO_CONTROLS
from weboid.store.schedule import process as processes
from weboid.store.schedule.process import EXPIRY_S, ProcessRole, RunningProcess, SeenProcess

MOST_PROCESSES: Final = 200
"""Processes of one token that are remembered."""
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
DETAIL: Final = Wire(Annotated[str, Meta(max_length=_MOST_DETAIL)], encode=_fit_detail, decode=plain)
Detail = Annotated[str, DETAIL]
"""The words of an alarm, cut off where they are too long; what nobody sees is written out."""


class Scheme(Struct, frozen=True):
    """The form of keys of a program (O-10)."""

    form_version: Annotated[int, Meta(ge=0, le=2**31 - 1)]
    suffix_version: Annotated[str, Meta(max_length=1_000)]


OUR_SCHEME: Final = Scheme(OURS.form_version, OURS.suffix_version)


def _of_scheme(sent: dict[str, Any]) -> int:
    if sent["scheme"] != OUR_SCHEME:
        raise BadMessage("the keys are of another scheme", 409)
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
"""A limit, with the scheme of the caller's keys; refused with 409 if it is not that of the server (O-10)."""


class Life(Struct, frozen=True):
    """A sign of life of a remote process; `is_last`: it ends."""

    name: Annotated[str, Meta(max_length=100, pattern=NO_CONTROLS)]
    host: Annotated[str, Meta(max_length=200, pattern=NO_CONTROLS)]
    machine: Annotated[str, Meta(max_length=200, pattern=NO_CONTROLS)]
    pid: Annotated[int, Meta(ge=0, le=2**31 - 1)]
    version: Annotated[str, Meta(max_length=100, pattern=NO_CONTROLS)]
    doing: Annotated[str, Meta(max_length=500)] = ""
    figures: Annotated[dict[Annotated[str, Meta(max_length=100)], float], Meta(max_length=100)] = {}
    is_last: bool = False


class Greeted(Struct, frozen=True):
    """The beginning of a server's greeting."""

    version: str
    scheme: Scheme


async def record_life(
    pool: Pool,
    role: ProcessRole,
    client: str,
    life: Life,
    *,
    takes: bool = False,
    gone: Collection[str] = (),
    expiry_s: float = EXPIRY_S,
) -> SeenProcess | None:
    """Writes a sign of life, or takes it away; a client is the name of a token, `gone` are processes that have ended.

    Returns the process that has the exclusive role, if this one may not have it; `takes`: it wants it.
    """
    own = f"{client}:"
    process = RunningProcess(role, own + life.name, life.host, life.machine, life.pid, life.version)
    async with pool.connection() as conn:
        if life.is_last:
            await processes.delete_process(conn, process, own)
        elif takes or not await processes.record_seen(conn, process, life.doing, life.figures):
            if await processes.count_named(conn, own) >= MOST_PROCESSES:
                raise BadMessage("a token has only so many processes", 429)
            known = dict[str, Any](expiry_s=expiry_s, beginning=own)
            if other := await processes.take_role(conn, process, lambda other: other.name in gone, **known):
                return other
            await processes.record_seen(conn, process, life.doing, life.figures)
    return None
