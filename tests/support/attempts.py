"""Ways to lead a checker to an address that must not be contacted, and the results of trying them all.

Which addresses may be contacted is decided in ``net/guard``; the tests say how many attempts must fail.
One law: every attempt would reach the address that it aims at, or states why it never can.
"""

import asyncio
import contextlib
import json
import socket
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from ipaddress import ip_network
from itertools import chain
from typing import Any
from unittest.mock import patch

import aiohttp
from support.misbehaving import Act, Asked, Zone, at_once, name_server, reply, serve

import weboid.net.dns
import weboid.net.guard
import weboid.net.outbound
from weboid.assets import toml_next_to
from weboid.config import NetConfig
from weboid.net.dns import Resolver
from weboid.net.fetch import fetch_answer
from weboid.net.guard import BAD_PORTS, Guard
from weboid.net.outbound import Outbound, open_client, open_session

HONEST = "127.0.0.2"
"""Where the honest server is, the only one that may be asked."""
HONEST_TWICE = [HONEST, "::ffff:7f00:2"]
"""In both families: c-ares would remember that there was no address in one of them."""
EVERYTHING = (ip_network("0.0.0.0/0"), ip_network("::/0"))

_CASES = toml_next_to(__file__)
AIMS: list[str] = _CASES["aims"]
"""Addresses of this machine, of its network, or of nobody: any of them can be made to lead to a server nearby."""
NOWHERE: list[str] = _CASES["nowhere"]
"""Multicast, broadcast and link-local addresses: no TCP connection leads there, so only the dialling tells."""
FEW: list[str] = _CASES["few"]

LOOPBACK_SPELLED: list[str] = _CASES["loopback_spelled"]
"""One and the same address, as browsers and resolvers have been seen to read it."""
ZERO_SPELLED: list[str] = _CASES["zero_spelled"]
BRACKETED: dict[str, str] = _CASES["bracketed"]
SHUT: list[str] = _CASES["shut"]
"""What is no address to anybody, though it looks like one."""
LOCAL_NAMES: list[str] = _CASES["local_names"]
PLAIN_NAMES: list[str] = _CASES["plain_names"]
"""Names without a dot: only a resolver's guess would find them, so they are no hosts of URLs (L-4)."""
CODES = (301, 302, 303, 307, 308)


@dataclass(frozen=True)
class Attempt:
    """One URL to ask, without its last path segment; the answers of name servers, and the honest server's, on the way.

    `how` it is asked: by `fetch`, by the `client` for APIs, which follows redirects itself, or by `fetch` with a
    resolver that was taken over (`lied`). `arrives`: whether that leads to the aim where everything is permitted; None
    where it may or may not.
    """

    kind: str
    aim: str
    url: str
    zone: Zone = field(default_factory=dict)
    replies: tuple[bytes, ...] = ()
    how: str = "fetch"
    arrives: bool | None = True


@dataclass
class Outcome:
    """What was tried, which of it arrived at the secret server, how often that was called, and who was dialled."""

    attempts: list[Attempt]
    arrived: set[int] = field(default_factory=set)
    connections: int = 0
    dialled: set[tuple[str, int]] = field(default_factory=set)

    @property
    def strange(self) -> list[Attempt]:
        """Attempts that arrived though they should not be able to, or did not though nothing should hinder them."""
        return [
            attempt
            for number, attempt in enumerate(self.attempts)
            if attempt.arrives is not None and attempt.arrives != (number in self.arrived)
        ]

    def by_kind(self) -> dict[str, int]:
        return dict(Counter(attempt.kind for attempt in self.attempts))


def plan(port: int) -> list[Attempt]:
    """All attempts on secret servers at the port, at which the honest one is, too."""
    parts = (_literals, _spellings, _names, _rebindings, _redirects, _tricks, _false_redirects, _ports, _by_client)
    return list(chain.from_iterable(part(port) for part in parts))


def listeners(port: int) -> Iterator[tuple[str, int]]:
    """Where secret servers must listen for every attempt to arrive; ``::`` stands for all IPv6 addresses."""
    yield "::", port
    for aim in AIMS:
        if ":" not in aim and aim != "0.0.0.0":  # which leads to 127.0.0.1
            yield aim, port
    for bad in sorted(BAD_PORTS - {0}):
        yield HONEST, bad
    yield from (("127.0.0.1", 80), ("127.0.0.1", 443))


def _aim_of(host: str) -> str:
    return BRACKETED.get(host) or ("0.0.0.0" if host in ZERO_SPELLED else "127.0.0.1")


def written(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def _literals(port: int) -> Iterator[Attempt]:
    for aim in AIMS + NOWHERE:
        yield Attempt("literal", aim, f"http://{written(aim)}:{port}/", arrives=aim in AIMS)
    for aim in FEW:
        yield Attempt("literal, https", aim, f"https://{written(aim)}:{port}/")


def _spellings(port: int) -> Iterator[Attempt]:
    for host in (*LOOPBACK_SPELLED, *ZERO_SPELLED, *BRACKETED, *SHUT, *PLAIN_NAMES):
        # Numbers that are no plain address are no hosts of URLs (L-4); redirects are read as browsers read them.
        arrives = host in BRACKETED or host in ("127。0。0。1", "127．0．0．1", "127｡0｡0｡1")
        aim = _aim_of(host)
        zone: Zone = {host.lower().rstrip("."): ["127.0.0.1", "::1"]}
        yield Attempt("spelled", aim, f"http://{host}:{port}/", zone, arrives=arrives)
        yield Attempt("spelled, lied", aim, f"http://{host}:{port}/", how="lied", arrives=arrives)


def _names(port: int) -> Iterator[Attempt]:
    for number, aim in enumerate(AIMS + NOWHERE):
        answered, lied = f"n{number}.dns.test", f"n{number}.lied.test"
        leads = aim in AIMS
        yield Attempt("DNS answer", aim, f"http://{answered}:{port}/", {answered: [aim]}, arrives=leads)
        yield Attempt("DNS lie", aim, f"http://{lied}:{port}/", {lied: [aim]}, how="lied", arrives=leads)
    for number, aim in enumerate(FEW):
        first, second, last, both = (f"{place}{number}.dns.test" for place in ("first", "second", "last", "both"))
        zone: Zone = {first: [f"={second}"], second: [f"={last}"], last: [f"=localhost{number}"]}
        yield Attempt("CNAME", aim, f"http://{first}:{port}/", zone | {f"localhost{number}": [aim]})
        # Of two addresses that are permitted it may be the honest one that is taken.
        yield Attempt("DNS answer, mixed", aim, f"http://{both}:{port}/", {both: [aim, HONEST]}, arrives=None)
    for name in LOCAL_NAMES:
        zone = {name.lower().rstrip("."): ["127.0.0.1", "::1"]}
        yield Attempt("local name", "127.0.0.1", f"http://{name}:{port}/", zone)


def _rebindings(port: int) -> Iterator[Attempt]:
    """The name leads to the honest server at first, to another one for the GET or the redirect after it."""
    back = reply(302, "Location: ?1", "Connection: close")
    for number, aim in enumerate(AIMS + NOWHERE):
        name = f"n{number}.rebound.test"
        leads = aim in AIMS
        yield Attempt("rebinding", aim, f"http://{name}:{port}/", {name: [HONEST_TWICE, [aim]]}, arrives=leads)
        name = f"n{number}.again.test"
        zone: Zone = {name: [HONEST_TWICE, [aim]]}
        yield Attempt("rebinding in a redirect", aim, f"http://{name}:{port}/", zone, (back,), arrives=leads)


def _redirects(port: int) -> Iterator[Attempt]:
    for code in CODES:
        for host in (*LOOPBACK_SPELLED, *ZERO_SPELLED, *BRACKETED, *SHUT, *PLAIN_NAMES):
            arrives = host not in (*SHUT, *PLAIN_NAMES)
            yield _sent(f"redirect {code}", _aim_of(host), f"http://{host}:{port}/", port, code=code, arrives=arrives)
    for aim in AIMS + NOWHERE:
        yield _sent("redirect", aim, f"//{written(aim)}:{port}/", port, arrives=aim in AIMS)
    for number, aim in enumerate(FEW):
        name = f"n{number}.target.test"
        yield _sent(
            "redirect to a name", aim, f"http://{name}:{port}/", port, zone={name: [f"=in.{name}"], f"in.{name}": [aim]}
        )
        last = reply(301, f"Location: //{written(aim)}:{port}/")
        far = (reply(302, "Location: ?1"), reply(307, "Location: ?2"), last)
        yield Attempt("redirect, the third", aim, f"http://{HONEST}:{port}/", replies=far)


def _tricks(port: int) -> Iterator[Attempt]:
    """What one reader takes for the honest server and another one for the secret one."""
    secret = f"127.0.0.1:{port}"
    for location in _placed("tricks", port):
        yield _sent("trick in a redirect", "127.0.0.1", location, port)
        if location.startswith("http://") and "[" not in location:
            # What is read as the honest server by its normal form is asked as it was given.
            arrives = location.endswith(f"@{secret}/") or "#" in location or "?" in location or "/@" in location
            yield Attempt("trick", "127.0.0.1", location, arrives=arrives or ":0" in location)
    for location in _placed("tricks_that_lead_nowhere", port):
        yield _sent("trick that leads nowhere", "127.0.0.1", location, port, arrives=False)


def _placed(table: str, port: int) -> Iterator[str]:
    """Locations with both servers put in: `alone` is the honest one without its port, `beyond` no port at all."""
    places = {"secret": f"127.0.0.1:{port}", "honest": f"{HONEST}:{port}", "alone": HONEST}
    return (each.format(**places, port=port, beyond=port + 65536) for each in _CASES[table])


def _false_redirects(port: int) -> Iterator[Attempt]:
    """What a browser or a proxy might follow, and a checker must not."""
    to = f"http://127.0.0.1:{port}/"
    body = f'<!doctype html><meta http-equiv="refresh" content="0; url={to}"><base href="{to}"><img src="{to}">'
    replies = [
        reply(code, f"Location: {to}") for code in (200, 201, 202, 300, 304, 305, 306, 401, 403, 404, 407, 421, 503)
    ]
    for line in (
        f"Refresh: 0; url={to}",
        f"Content-Location: {to}",
        f"Link: <{to}>; rel=canonical",
        f"Link: <{to}>; rel=preload",
        f'Alt-Svc: http/1.1="127.0.0.1:{port}"',
        f"X-Accel-Redirect: {to}",
        f"Proxy: {to}",
        f"Set-Cookie: a=b; Domain=127.0.0.1; Path={to}",
    ):
        replies.append(reply(200, line, body=body.encode()))
        replies.append(reply(404, line, body=body.encode()))
    for each in replies:
        yield Attempt("no redirect", "127.0.0.1", f"http://{HONEST}:{port}/", replies=(each,), arrives=False)


def _ports(port: int) -> Iterator[Attempt]:
    for bad in sorted(BAD_PORTS):
        yield Attempt("bad port", HONEST, f"http://{HONEST}:{bad}/", arrives=bad > 0)
    for bad in (22, 25, 6379 if 6379 in BAD_PORTS else 6667, 2049, 10080):
        yield _sent("redirect to a bad port", HONEST, f"http://{HONEST}:{bad}/", port)
    for scheme in ("http", "https"):
        yield Attempt("the scheme's own port", "127.0.0.1", f"{scheme}://127.0.0.1/")


def _by_client(port: int) -> Iterator[Attempt]:
    """The client for APIs reads URLs by itself, and would follow redirects if it were let."""
    for aim in AIMS + NOWHERE:
        yield Attempt("API", aim, f"http://{written(aim)}:{port}/", how="client", arrives=aim in AIMS)
    for aim in FEW:
        yield _sent("API, redirect", aim, f"http://{written(aim)}:{port}/", port, how="client")
    for host in (*LOOPBACK_SPELLED, *ZERO_SPELLED, *BRACKETED):
        # What is made of a spelling is the engine's business.
        yield Attempt("API, spelled", _aim_of(host), f"http://{host}:{port}/", how="client", arrives=None)


def _sent(
    kind: str,
    aim: str,
    location: str,
    port: int,
    *,
    code: int = 302,
    zone: Zone | None = None,
    how: str = "fetch",
    arrives: bool = True,
) -> Attempt:
    line = f"Location: {location}".encode().decode("latin-1")
    return Attempt(kind, aim, f"http://{HONEST}:{port}/", zone or {}, (reply(code, line),), how, arrives)


class _Rebinding(dict[str, Any]):
    """A zone whose names with two answers give the first at the first question and the second at all later ones.

    A look-up that finds an IPv4 address is one question.
    """

    def __init__(self, zone: Zone) -> None:
        super().__init__(zone)
        self._questions: Counter[str] = Counter()

    def get(self, name: str, default: Any = None) -> Any:
        answer = super().get(name, default)
        if isinstance(answer, list) and answer and isinstance(answer[0], list):
            self._questions[name] += 1
            return answer[0 if self._questions[name] <= 1 else 1]
        return answer


Secrets = Callable[[int], Iterable[tuple[str, int]]]


async def try_all(settings: NetConfig, secrets: Secrets, only: Callable[[Attempt], bool] = lambda _: True) -> Outcome:
    """Makes the attempts one by one, under these settings but for the name servers.

    `secrets` are the addresses and ports of the secret servers, given the port that the attempts are made on.
    """
    replies: dict[str, bytes] = {}

    def honest(asked: Asked) -> Act:
        return replies.get(asked.target, reply(404, "Connection: close"))

    async with AsyncExitStack() as stack:
        site = await stack.enter_async_context(serve(honest, ip=HONEST))
        attempts = [attempt for attempt in plan(site.port) if only(attempt)]
        for number, attempt in enumerate(attempts):
            replies |= {f"/{number}{'?' * bool(at)}{at or ''}": sent for at, sent in enumerate(attempt.replies)}
        calls = await stack.enter_async_context(secret_servers(secrets(site.port)))
        zone = _Rebinding({name: answer for attempt in attempts for name, answer in attempt.zone.items()})
        dns = await stack.enter_async_context(name_server(zone, ttl_s=0))
        asking = await stack.enter_async_context(_asking(replace(settings, dns=(dns.address,))))
        outcome = Outcome(attempts, dialled=stack.enter_context(_dialling()))
        for number, attempt in enumerate(attempts):
            before = len(calls)
            # What cannot even be asked is an attempt that failed; ClientError has members that are no OSErrors.
            with contextlib.suppress(OSError, ValueError, aiohttp.ClientError):
                await asking[attempt.how](f"{attempt.url}{number}")
            if len(calls) > before:
                outcome.arrived.add(number)
        await asyncio.sleep(0.05)
        outcome.connections = len(calls)
    return outcome


@asynccontextmanager
async def _asking(settings: NetConfig) -> AsyncIterator[dict[str, Callable[[str], Awaitable[None]]]]:
    """The ways to ask, by the name that an attempt gives them."""
    async with open_session(settings) as honest, _open_lied_to(settings) as lied_to, open_client(settings) as client:

        async def fetch(url: str) -> None:
            await fetch_answer(honest, url, turn=at_once)

        async def lied(url: str) -> None:
            await fetch_answer(lied_to, url, turn=at_once)

        async def by_client(url: str) -> None:
            async with client.get(url) as response:
                await response.read()

        yield {"fetch": fetch, "lied": lied, "client": by_client}


class _Liar(Resolver):
    """A resolver that lets through whatever the name servers say."""

    def __init__(self, guard: Guard, name_servers: tuple[str, ...], lookup_s: float) -> None:
        super().__init__(Guard(permit=EVERYTHING), name_servers, lookup_s)


@asynccontextmanager
async def _open_lied_to(settings: NetConfig) -> AsyncIterator[Outbound]:
    """A session whose resolver lies: what is left is the guard at the socket."""
    opening = open_session(settings)
    with patch.object(weboid.net.outbound, "Resolver", _Liar):
        opened = await opening.__aenter__()
    try:
        yield opened
    finally:
        await opening.__aexit__(None, None, None)


class Calls(list[str]):
    """The address of each call that secret servers got; `port` is that of the last server."""

    port = 0


@asynccontextmanager
async def secret_servers(places: Iterable[tuple[str, int]]) -> AsyncIterator["Calls"]:
    """Servers that nobody may call, at these addresses and ports (0 = any that is free)."""
    calls = Calls()

    async def called(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        calls.append(writer.get_extra_info("sockname")[0])
        with contextlib.suppress(OSError):
            await reader.read(4096)
            writer.write(reply(200, "Connection: close", body=b"secret"))
            await writer.drain()
        writer.close()

    async with AsyncExitStack() as stack:
        for address, port in places:
            listening = stack.enter_context(socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET))
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if ":" in address:
                listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listening.bind((address, port))
            calls.port = listening.getsockname()[1]
            stack.callback((await asyncio.start_server(called, sock=listening)).close)
        yield calls


_dialled: set[tuple[str, int]] | None = None
_hooks: list[bool] = []


@contextmanager
def _dialling() -> Iterator[set[tuple[str, int]]]:
    """Every address and port to which a TCP connection is begun, whether or not anybody is there."""
    global _dialled
    if not _hooks:  # an audit hook can never be taken away again
        _hooks.append(True)
        sys.addaudithook(_note_dialling)
    _dialled = set()
    try:
        yield _dialled
    finally:
        _dialled = None


def _note_dialling(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "socket.connect" and _dialled is not None:
        sock, address = arguments
        if isinstance(address, tuple) and sock.type == socket.SOCK_STREAM:
            _dialled.add((str(address[0]), int(address[1])))


async def _in_a_network_of_its_own(*, open_to_all: bool) -> dict[str, Any]:
    """All attempts, where every address is this machine's and has a secret server: what came of it, fit for JSON."""
    settings = NetConfig(user_agent="test", permit=(ip_network(HONEST),), connect_s=2, answer_s=2)
    with contextlib.ExitStack() as stack:
        stack.enter_context(patch.object(weboid.net.dns, "SHORTEST_TTL_S", 0))
        if open_to_all:
            stack.enter_context(patch.object(weboid.net.guard, "BAD_PORTS", frozenset()))
            settings = replace(settings, permit=EVERYTHING)
        outcome = await try_all(settings, listeners)
    return {
        "by_kind": outcome.by_kind(),
        "arrived": len(outcome.arrived),
        "connections": outcome.connections,
        "dialled": sorted({address for address, _ in outcome.dialled}),
        "strange": [str(attempt) for attempt in outcome.strange],
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_in_a_network_of_its_own(open_to_all=sys.argv[1:] == ["open"]))))
