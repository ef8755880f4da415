"""A world: hosts and their addresses, each with a scripted life of behaviours by day. Pure data, plain enough for JSON.

Who plays it on sockets is `littleweb`'s business.
One law: what a world answers follows from the day and the request alone.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise
from types import MappingProxyType
from typing import Final, Generic, NamedTuple, TypeVar, assert_never
from urllib.parse import unquote

B = TypeVar("B")


class Spell(NamedTuple, Generic[B]):
    """A behaviour and the day on which it begins."""

    from_day: int
    behaviour: B


Life = tuple[Spell[B], ...]
"""Spells in the order of their days; the first one also holds for all days before it."""


def behaviour_on(life: Life[B], day: int) -> B:
    """What a life is like on a day; raises ValueError if it is empty or its days do not rise."""
    if not life or any(one.from_day >= other.from_day for one, other in pairwise(life)):
        raise ValueError("a life needs at least one spell, and each must begin after the one before")
    begun = [spell.behaviour for spell in life if spell.from_day <= day]
    return begun[-1] if begun else life[0].behaviour


@dataclass(frozen=True, slots=True)
class Page:
    """It is there: code 200, some content of a type and size."""

    kind: str = "text/html"
    size_kib: int = 2
    title: str = "A page"


@dataclass(frozen=True, slots=True)
class Status:
    """An HTTP code over a page of text, or, if `kind` is another type, over the content itself (U-5)."""

    code: int
    retry_after_s: int | None = None
    kind: str = "text/html"
    size_kib: int = 1


@dataclass(frozen=True, slots=True)
class Redirect:
    """Sends elsewhere: to a path of the same host, or to an absolute URL (a port is put in for hosts of the world)."""

    to: str
    code: int = 301


@dataclass(frozen=True, slots=True)
class Chain:
    """As many redirects in a row on the same path, then a page."""

    hops: int = 3
    code: int = 302


@dataclass(frozen=True, slots=True)
class Loop:
    """Redirects in a circle."""

    code: int = 302


@dataclass(frozen=True, slots=True)
class NoHead:
    """A page by GET; HEAD gets a code, or for code 0 a hang-up (C-1)."""

    code: int = 405
    title: str = "A page"


@dataclass(frozen=True, slots=True)
class BotWall:
    """A page for browsers, known by ``Mozilla/`` in their User-Agent; a code, perhaps with a challenge, for others."""

    code: int = 403
    challenge: bool = False
    title: str = "A page"


@dataclass(frozen=True, slots=True)
class Drip:
    """A page byte by byte: its body, or with `tarpit` even its status line."""

    pause_s: float = 0.05
    tarpit: bool = False


class Trouble(Enum):
    """No HTTP answer at all, though the connection stands."""

    RESET = "reset"
    HANG_UP = "hang-up"
    SILENCE = "silence"


Behaviour = Page | Status | Redirect | Chain | Loop | NoHead | BotWall | Drip | Trouble
"""What one address does."""


class HostState(Enum):
    """What a host as a whole does; only when UP (or TLS_BROKEN, over plain http) have its addresses lives of their own.

    REFUSED: its name leads to a loopback address where nobody listens.
    """

    UP = "up"
    DNS_GONE = "dns-gone"
    DNS_SERVFAIL = "dns-servfail"
    REFUSED = "refused"
    TLS_BROKEN = "tls-broken"


HostBehaviour = HostState | Behaviour
"""A state of the host, or one behaviour of all its addresses."""


@dataclass(frozen=True, slots=True)
class Host:
    """One host: its own life, and those of its paths (with the query if it matters, not percent-encoded).

    Other paths are not found, but ``/`` is always a page.
    """

    life: Life[HostBehaviour] = (Spell(0, HostState.UP),)
    paths: Mapping[str, Life[Behaviour]] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class World:
    """Hosts by their names, in lower case."""

    hosts: Mapping[str, Host]


def host_state(world: World, host: str, day: int) -> HostState | None:
    """What name servers and TLS know of a host on a day; None for a host that is not in the world."""
    if (known := world.hosts.get(host.lower())) is None:
        return None
    state = behaviour_on(known.life, day)
    return state if isinstance(state, HostState) else HostState.UP


def answer_of(world: World, host: str, target: str, day: int) -> Behaviour:
    """How a request for a path and query is treated on a day, once it has come through to a server."""
    if (known := world.hosts.get(host.lower())) is None:
        return Status(421)
    state = behaviour_on(known.life, day)
    if not isinstance(state, HostState):
        return state
    match state:
        case HostState.UP | HostState.TLS_BROKEN:
            return _answer_of_path(known, host, target, day)
        case HostState.DNS_GONE | HostState.DNS_SERVFAIL | HostState.REFUSED:
            # Only somebody who still remembers the address of yesterday comes here.
            return Trouble.RESET
        case _ as never:
            assert_never(never)


def _answer_of_path(host: Host, name: str, target: str, day: int) -> Behaviour:
    for key in (unquote(target), unquote(target.partition("?")[0])):
        if life := host.paths.get(key):
            return behaviour_on(life, day)
    return Page(title=name) if target.partition("?")[0] == "/" else Status(404)


def shifted(world: World, days: int) -> World:
    """The same world with all its days so much later."""
    return World(
        {
            name: Host(_later(host.life, days), {path: _later(life, days) for path, life in host.paths.items()})
            for name, host in world.hosts.items()
        }
    )


def _later(life: Life[B], days: int) -> Life[B]:
    return tuple(Spell(spell.from_day + days, spell.behaviour) for spell in life)


_PLAIN: Final = re.compile(r"(https?)://([^/:?#@\[]+)(?=[/?#]|$)", re.I)


def located(world: World, url: str, *, http_port: int, https_port: int) -> str:
    """A URL with the port put in at which the world is played; other hosts', and URLs with a port, stay as they are."""
    match = _PLAIN.match(url)
    if match is None or match[2].lower() not in world.hosts:
        return url
    port = https_port if match[1].lower() == "https" else http_port
    return f"{url[: match.end()]}:{port}{url[match.end() :]}"
