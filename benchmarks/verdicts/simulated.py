"""A way out into a world without sockets: replies and failures as the little web's sockets would give them, at once.

What a server does comes from the same world and the same replies; time is counted, not waited for.
One law: a request ends as it does over sockets, whatever the machine is doing meanwhile.
"""

import asyncio
import errno
import re
import ssl
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final, NamedTuple

from pycares import errno as ares

from benchmarks.verdicts.authority import certificate_on
from benchmarks.worlds.sight import PATIENCE_S
from weboid.config import NetConfig
from weboid.core.url.hosts import is_ip
from weboid.demo.replies import ReceivedRequest, Replying, plain_of, reply_of
from weboid.demo.world import (
    Certificate,
    Drip,
    HostState,
    Lost,
    Plain,
    Redirect,
    Trouble,
    World,
    answer_of,
    host_state,
    located,
    lost_on,
    outage_on,
    portal_answer,
)
from weboid.net.connection import BODY_S
from weboid.net.dial import NotConnected
from weboid.net.dns import LookupFailed
from weboid.net.engine import parser_of, reply_from
from weboid.net.exchange import Reply, Request
from weboid.net.guard import Guard

_AMPLE: Final = 3
"""A look-up ends by its own limit if there is time for so many, as in ``net/engine``."""
_PROBE_S: Final = 3.0
"""How long the root is waited for when a name server is silent."""
_TURNS: Final = 6
"""Other checks get their answers sooner than one that waits: so many turns of the loop at most."""
_URL: Final = re.compile(r"(https?)://(([^\s/?#:]+)(?::([0-9]+))?)([/?][^#]*)?")
_VERIFY_CODES: Final = {
    Certificate.EXPIRED: 10,
    Certificate.WRONG_HOST: 62,
    Certificate.SELF_SIGNED: 18,
    Certificate.UNKNOWN_ISSUER: 20,
}
_PORTS: Final = {"http": 80, "https": 443}
ERROR_OF_NAME: Final = {
    None: ares.ARES_ENOTFOUND,
    HostState.DNS_GONE: ares.ARES_ENOTFOUND,
    HostState.DNS_EMPTY: ares.ARES_ENODATA,
    HostState.DNS_SERVFAIL: ares.ARES_ESERVFAIL,
}
"""c-ares' errors for names that have no address."""
elapsed: ContextVar[float] = ContextVar("elapsed", default=0.0)
"""The seconds that the requests of a task have taken."""


class _Ended(NamedTuple):
    """How a request ends: a reply or an exception, after so many seconds."""

    end: Reply | Exception
    seconds: float = 0.0


Answered = Callable[[ReceivedRequest, Reply], None]
"""Hears of every reply to a request."""


@dataclass(slots=True)
class SimulatedWeb:
    """A world as it is played now: on which day, at which hour for each host; and how often it was asked.

    `heard` is called at each request, `answered` with what came of it. `ports` are those of http and https in URLs.
    """

    world: World
    ports: tuple[int, int]
    day: Callable[[], int]
    hour: Callable[[str], int]
    heard: Callable[[], None] = lambda: None
    answered: Answered = lambda request, reply: None
    requests: int = 0
    questions: int = 0

    def located(self, url: str) -> str:
        """A URL of the world with the port at which it is played; other URLs unchanged."""
        return located(self.world, url, http_port=self.ports[0], https_port=self.ports[1])


@dataclass(slots=True)
class SimulatedEngine:
    """An engine (the protocol of ``net/exchange``) whose requests never leave this process."""

    web: SimulatedWeb
    settings: NetConfig
    _names: set[str] = field(default_factory=set)
    _begun: set[str] = field(default_factory=set)
    """Names that were looked up before the first request, so that the look-up ends before the request does."""
    _guard: Guard = field(init=False)
    _pace: float = field(init=False)

    def __post_init__(self) -> None:
        self._guard = Guard(self.settings.deny, self.settings.permit)
        self._pace = self.settings.answer_s / PATIENCE_S

    async def send(self, request: Request, timeout_s: float) -> Reply:
        """The reply to a request; raises what sockets would raise."""
        ended = self.ended(request, timeout_s)
        for _ in range(1 + min(_TURNS, int(_TURNS * ended.seconds / self.settings.answer_s))):
            await asyncio.sleep(0)
        elapsed.set(elapsed.get() + ended.seconds)
        if isinstance(ended.end, Exception):
            raise ended.end
        return ended.end

    def ended(self, request: Request, timeout_s: float) -> _Ended:
        """How a request ends, and after how many seconds."""
        match = _URL.fullmatch(request.url)
        if match is None:
            raise ValueError(f"{request.url!r} is not an absolute, escaped http or https URL")
        scheme, authority, host, port, target = match.groups()
        target = target or "/"
        if target[0] != "/":
            target = f"/{target}"
        host = host.lower()
        failed = self._unresolved(host, timeout_s) or self._unconnected(
            scheme, host, int(port or _PORTS[scheme]), timeout_s, trusting=request.trusting
        )
        if failed is not None:
            return failed
        self.web.requests += 1
        self.web.heard()
        headers = {name.lower(): value for name, value in request.headers.items()}
        headers["host"] = authority
        received = ReceivedRequest(request.method, host, target, headers, keeps=True)
        ended = self._answered(received, timeout_s, secure=scheme == "https")
        if isinstance(ended.end, Reply):
            self.web.answered(received, ended.end)
        return ended

    async def find_address(self, host: str) -> None:
        """Begins to look a name up; here no address has a share of the places."""
        self._begun.add(host.lower())

    def _unresolved(self, host: str, timeout_s: float) -> _Ended | None:
        if is_ip(host.rstrip(".")):
            return None
        web = self.web
        day = web.day()
        outage = outage_on(web.world, host, day)
        state = host_state(web.world, host, day, web.hour(host))
        if outage and outage.lost is Lost.NAMES_FAIL:
            state = HostState.DNS_SERVFAIL
        if outage and outage.lost is Lost.CAPTIVE:
            return None
        is_silent = state is HostState.DNS_SILENT or (outage and outage.lost in (Lost.ALL, Lost.NAMES))
        code = ERROR_OF_NAME.get(state)
        if host not in self._names:
            self._names.add(host)
            web.questions += 1 if code is None or is_silent else 2
        if is_silent:
            lookup_s = self.settings.connect_s / 2
            if timeout_s <= _AMPLE * lookup_s and host not in self._begun:
                return _Ended(_unmade(TimeoutError()), timeout_s)
            if outage and outage.is_total and outage.lost in (Lost.ALL, Lost.NAMES):
                return _Ended(LookupFailed(ares.ARES_ECONNREFUSED), lookup_s + _PROBE_S)
            return _Ended(LookupFailed(ares.ARES_ETIMEOUT), lookup_s)
        return None if code is None else _Ended(LookupFailed(code))

    def _unconnected(self, scheme: str, host: str, port: int, timeout_s: float, *, trusting: bool) -> _Ended | None:
        web = self.web
        day, hour = web.day(), web.hour(host)
        if is_ip(host.rstrip(".")):
            try:
                self._guard.require(host, port)
            except OSError as refused:
                return _Ended(_unmade(refused))
            return _Ended(_unmade(TimeoutError()), timeout_s)
        state = host_state(web.world, host, day, hour)
        outage = outage_on(web.world, host, day)
        if outage and outage.lost is Lost.CAPTIVE:
            state = HostState.UP
        if state is HostState.REFUSED or port != web.ports[scheme == "https"]:
            return _Ended(_unmade(ConnectionRefusedError(errno.ECONNREFUSED, "refused")))
        if outage and outage.lost in (Lost.ALL, Lost.SERVERS):
            # A plain connection is made over sockets, too; a handshake is never begun.
            lost: Exception = _unmade(TimeoutError()) if scheme == "https" else TimeoutError()
            open_s = min(self.settings.connect_s, timeout_s) if scheme == "https" else timeout_s
            return _Ended(lost, open_s)
        if scheme == "https":
            if state is HostState.TLS_BROKEN:
                return _Ended(_unmade(ssl.SSLError(1, "wrong version number")))
            code = _VERIFY_CODES.get(certificate_on(web.world, host, day, hour))
            if code is not None and not trusting:
                wrong = ssl.SSLCertVerificationError(1, "certificate verify failed")
                wrong.verify_code = code
                return _Ended(_unmade(wrong))
        return None

    def _answered(self, request: ReceivedRequest, timeout_s: float, *, secure: bool) -> _Ended:
        web = self.web
        day = web.day()
        if lost_on(web.world, request.host, day) is Lost.CAPTIVE:
            return self._reply(plain_of(portal_answer(request.host, web.ports[0]), request)[0], request, timeout_s)
        behaviour = answer_of(web.world, request.host, request.target, day, web.hour(request.host), secure=secure)
        plain, waits_s = plain_of(behaviour, request)
        waits_s *= self._pace
        if waits_s >= timeout_s:
            return _Ended(TimeoutError(), timeout_s)
        ended = self._reply(plain, request, timeout_s - waits_s)
        return ended._replace(seconds=ended.seconds + waits_s)

    def _reply(self, plain: Plain, request: ReceivedRequest, timeout_s: float) -> _Ended:
        if isinstance(plain, Redirect):
            plain = replace(plain, to=self.web.located(plain.to))
        match plain:
            case Trouble.SILENCE:
                return _Ended(TimeoutError(), timeout_s)
            case Trouble():
                return _Ended(ConnectionResetError(errno.ECONNRESET, "reset"))
            case Drip(pause_s, tarpit):
                return self._dripped(plain, request, pause_s * self._pace, timeout_s, tarpit=tarpit)
            case _:
                reply = _read(plain, request.method, request.host, request.target, self.settings)
                return _Ended(reply or ConnectionResetError(errno.ECONNRESET, "reset"))

    def _dripped(
        self, plain: Drip, request: ReceivedRequest, pause_s: float, timeout_s: float, *, tarpit: bool
    ) -> _Ended:
        """A reply as far as it came in time; with its head it is one, however little of the body came."""
        head, end, body = (reply_of(plain, request) or b"").partition(b"\r\n\r\n")
        head_s = (len(head + end) - 1) * pause_s if tarpit else 0.0
        if head_s >= timeout_s:
            return _Ended(TimeoutError(), timeout_s)
        body_s = min(timeout_s - head_s, BODY_S)
        came = body[: int(body_s / pause_s) + 1] if pause_s else body
        coming = parser_of(request.method, self.settings)
        coming.take(head + end + came)
        return _Ended(reply_from(coming), head_s + min(body_s, len(came) * pause_s))


def _unmade(error: Exception) -> NotConnected:
    return NotConnected((error,))


@lru_cache(maxsize=8192)
def _read(plain: Replying, method: str, host: str, target: str, settings: NetConfig) -> Reply | None:
    """The reply as a client reads it; None = the server hangs up instead."""
    data = reply_of(plain, ReceivedRequest(method, host, target, {}, keeps=True))
    if data is None:
        return None
    coming = parser_of(method, settings)
    if not coming.take(data):
        coming.take(b"")
    return reply_from(coming)
