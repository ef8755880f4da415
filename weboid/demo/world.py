"""Worlds: hosts and their addresses, each with a scripted life (``life``) of behaviours; pure data that fit into JSON.

A world is played on sockets by ``littleweb``; reading one from a file, and a person's view of it, belong to
``benchmarks/worlds``. Its answers follow from the day, the hour and the request alone.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from types import MappingProxyType
from typing import Final, NamedTuple
from urllib.parse import unquote

from weboid.demo.life import B
from weboid.demo.life import Hours as Hours
from weboid.demo.life import Life as Life
from weboid.demo.life import Spell as Spell
from weboid.demo.life import behaviour_on as behaviour_on


@dataclass(frozen=True, slots=True)
class Page:
    """A document is found: code 200, some content of a type and size.

    With `text` (paragraphs, one a line) or `html` (a whole document) that is its content; ``{host}`` in title and text
    is the host's name. `shows` = it is the content that people expect, not something else in its place.
    """

    kind: str = "text/html"
    size_kib: int = 2
    title: str = "A page"
    text: str = ""
    html: str = ""
    lang: str = "en"
    shows: bool = True


@dataclass(frozen=True, slots=True)
class Code:
    """An HTTP code with a page of text, or, if `kind` is another type, with the content itself (U-5).

    With `page` that page is sent with the code, and shown to people whatever the code is.
    """

    code: int
    retry_after_s: int | None = None
    kind: str = "text/html"
    size_kib: int = 1
    page: Page | None = None


@dataclass(frozen=True, slots=True)
class RecordedReply:
    """A reply as it was found somewhere: a code, a media type, other headers (name, value), and a body of any bytes.

    `shows` as of a page.
    """

    body: bytes
    code: int = 200
    kind: str = "text/html"
    headers: tuple[tuple[str, str], ...] = ()
    shows: bool = True


@dataclass(frozen=True, slots=True)
class Redirect:
    """A redirect to a path of the same host, or to an absolute URL (a port is put in for hosts of the world)."""

    to: str
    code: int = 301


@dataclass(frozen=True, slots=True)
class Chain:
    """So many redirects in a row on the same path, then a page."""

    hops: int = 3
    code: int = 302


@dataclass(frozen=True, slots=True)
class Loop:
    """Redirects in a loop."""

    code: int = 302


@dataclass(frozen=True, slots=True)
class NoHead:
    """HEAD gets a code, or for code 0 a closed connection (C-1); other methods get the behaviour `inside`."""

    code: int = 405
    title: str = "A page"
    inside: "Behaviour | None" = None


@dataclass(frozen=True, slots=True)
class BotWall:
    """The behaviour `inside` for browsers, recognised by ``Mozilla/`` in their User-Agent; for others a code, perhaps
    with a challenge.

    `how` = others get no answer at all instead; `page` = they get that page. With `referrer` not browsers are let in,
    but requests with a referrer on the same host (C-7).
    """

    code: int = 403
    challenge: bool = False
    title: str = "A page"
    inside: "Behaviour | None" = None
    how: "Trouble | None" = None
    page: Page | None = None
    referrer: bool = False


@dataclass(frozen=True, slots=True)
class Slow:
    """The behaviour `inside`, after so many seconds."""

    seconds: float
    inside: "Behaviour | None" = None


@dataclass(frozen=True, slots=True)
class ByMethod:
    """One behaviour for HEAD, another for GET and all other methods: for servers that answer one of them wrongly."""

    head: "Behaviour"
    get: "Behaviour"


@dataclass(frozen=True, slots=True)
class Drip:
    """A page byte by byte: its body, or with `tarpit` even its status line."""

    pause_s: float = 0.05
    tarpit: bool = False


class Trouble(Enum):
    """No HTTP answer at all, although the connection was made."""

    RESET = "reset"
    HANG_UP = "hang-up"
    SILENCE = "silence"


Plain = Page | Code | RecordedReply | Redirect | Chain | Loop | NoHead | BotWall | Drip | Trouble
"""A behaviour without anything inside; NoHead and BotWall as they are to those whom they refuse."""
Wrapper = NoHead | BotWall | Slow
"""Behaviours around another one: for a host, around those of its addresses; otherwise, with nothing inside, a page."""
Behaviour = Plain | Slow | ByMethod
"""The behaviour of one address."""


class HostState(Enum):
    """The state of a whole host; only if it answers do the lives of its addresses count.

    REFUSED: its name leads to a loopback address on which nothing listens. TLS_BROKEN, NO_HTTP: it answers over the
    other scheme only. DNS_EMPTY: its name has no address. DNS_SILENT: the name server does not answer for it.
    """

    UP = "up"
    DNS_GONE = "dns-gone"
    DNS_SERVFAIL = "dns-servfail"
    DNS_EMPTY = "dns-empty"
    DNS_SILENT = "dns-silent"
    REFUSED = "refused"
    TLS_BROKEN = "tls-broken"
    NO_HTTP = "no-http"


HostBehaviour = HostState | Behaviour
"""A state of the host, or one behaviour of all its addresses; a wrapper with nothing inside is put around theirs."""


class Certificate(Enum):
    """The state of a host's certificate (C-9). The caller of the little web has to make the certificates."""

    FINE = "fine"
    EXPIRED = "expired"
    WRONG_HOST = "wrong-host"
    SELF_SIGNED = "self-signed"
    UNKNOWN_ISSUER = "unknown-issuer"


@dataclass(frozen=True, slots=True)
class Host:
    """One host: its own life, those of its paths (with the query if it matters, not percent-encoded), and its
    certificate's.

    `others` is what all other paths do; None = they are not found, but ``/`` is a page. Hosts of the same `network`
    have their addresses in one /24.
    """

    life: Life[HostBehaviour] = (Spell(0, HostState.UP),)
    paths: Mapping[str, Life[Behaviour]] = field(default_factory=lambda: MappingProxyType({}))
    others: Life[Behaviour] | None = None
    certificate: Life[Certificate] = (Spell(0, Certificate.FINE),)
    network: int = 0


class Lost(Enum):
    """Failures of our own network (C-16): DNS queries get no answer or failures, servers are silent.

    CAPTIVE: every name leads to a portal that wants a login, with a certificate of its own.
    """

    ALL = "all"
    NAMES = "names"
    NAMES_FAIL = "names-fail"
    SERVERS = "servers"
    CAPTIVE = "captive"


PORTAL: Final = "login.portal.hotel"
"""The host of the portal."""


class Outage(NamedTuple):
    """Days of an outage of our own, both included. With `hosts` or `networks` only these are lost to us."""

    first: int
    last: int
    lost: Lost = Lost.ALL
    hosts: frozenset[str] = frozenset()
    networks: frozenset[int] = frozenset()

    @property
    def is_total(self) -> bool:
        """Returns whether all hosts are lost."""
        return not (self.hosts or self.networks)


@dataclass(frozen=True, slots=True)
class World:
    """Hosts by their names, in lower case; and the outages of our own network."""

    hosts: Mapping[str, Host]
    outages: tuple[Outage, ...] = ()


def host_state(world: World, host: str, day: int, hour: int = 0) -> HostState | None:
    """The state of a host on a day, for DNS and TLS; None for a host that is not in the world."""
    if (known := world.hosts.get(host.lower())) is None:
        return None
    state = behaviour_on(known.life, day, hour)
    return state if isinstance(state, HostState) else HostState.UP


def outage_on(world: World, host: str, day: int) -> Outage | None:
    """The outage of our own network that a host is lost to us by on a day; None if there is none."""
    for outage in world.outages:
        if outage.first <= day <= outage.last:
            if outage.is_total or host.lower() in outage.hosts:
                return outage
            known = world.hosts.get(host.lower())
            if known is not None and known.network in outage.networks:
                return outage
    return None


def lost_on(world: World, host: str, day: int) -> Lost | None:
    """The failure of our own network that concerns a host on a day; None if there is none."""
    outage = outage_on(world, host, day)
    return outage.lost if outage else None


def portal_answer(host: str, http_port: int) -> Behaviour:
    """The answer of a captive portal in place of a host."""
    return Page(title="Log in") if host == PORTAL else Redirect(f"http://{PORTAL}:{http_port}/", 302)


def address_of(world: World, host: str, *, refusing: bool = False) -> str:
    """The loopback address of a host; `refusing` = one on which nothing listens, in the same network."""
    known = world.hosts.get(host.lower())
    return f"127.{known.network if known else 0}.0.{2 if refusing else 1}"


def answer_of(world: World, host: str, target: str, day: int, hour: int = 0, *, secure: bool = False) -> Behaviour:
    """The behaviour for a request of a path and query at a moment, once it has reached a server; `secure` = over TLS.

    Outages of our own are ignored: they do not change the world for others.
    """
    if (known := world.hosts.get(host.lower())) is None:
        return Code(421)
    state = behaviour_on(known.life, day, hour)
    if isinstance(state, Wrapper) and state.inside is None:
        return replace(state, inside=_answer_of_path(known, host, target, day, hour))
    if not isinstance(state, HostState):
        return state
    match state:
        case HostState.NO_HTTP if not secure:
            return Trouble.RESET
        case HostState.UP | HostState.TLS_BROKEN | HostState.NO_HTTP:
            return _answer_of_path(known, host, target, day, hour)
        case _:
            # Only a client with a cached address from before gets here.
            return Trouble.RESET


HOP: Final = re.compile(r"[?&]hop=([0-9]{1,3})$")
"""The end of a path after redirects in a row."""


def _answer_of_path(host: Host, name: str, target: str, day: int, hour: int) -> Behaviour:
    target = HOP.sub("", target)
    for key in (unquote(target), unquote(target.partition("?")[0])):
        if life := host.paths.get(key):
            return behaviour_on(life, day, hour)
    if host.others:
        return behaviour_on(host.others, day, hour)
    return Page(title=name) if target.partition("?")[0] == "/" else Code(404)


def shifted(world: World, days: int) -> World:
    """The same world with all its days later by `days`."""
    hosts = {
        name: replace(
            host,
            life=_later(host.life, days),
            paths={path: _later(life, days) for path, life in host.paths.items()},
            others=_later(host.others, days) if host.others else None,
            certificate=_later(host.certificate, days),
        )
        for name, host in world.hosts.items()
    }
    outages = (outage._replace(first=outage.first + days, last=outage.last + days) for outage in world.outages)
    return World(hosts, tuple(outages))


def _later(life: Life[B], days: int) -> Life[B]:
    return tuple(Spell(spell.from_day + days, spell.behaviour) for spell in life)


_PLAIN: Final = re.compile(r"(https?)://([^/:?#@\[]+)(?=[/?#]|$)", re.I)


def located(world: World, url: str, *, http_port: int, https_port: int) -> str:
    """A URL with the port put in at which the world is played; URLs of other hosts, or with a port, are unchanged."""
    match = _PLAIN.match(url)
    if match is None or match[2].lower() not in world.hosts:
        return url
    port = https_port if match[1].lower() == "https" else http_port
    return f"{url[: match.end()]}:{port}{url[match.end() :]}"
