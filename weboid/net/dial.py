"""Opens connections: the guard at the socket, and the demands on a server's TLS (C-9, C-13).

`Dial` is for our own engine (``net/engine``), `Dialer` for protocols other than HTTP, `open_connector` for aiohttp,
which requests the APIs of wikis. All pass the exact address to the guard immediately before they connect to it,
wherever it came from.
"""

import asyncio
import errno
import os
import socket
import ssl
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from functools import partial
from math import inf
from pathlib import Path
from time import monotonic
from typing import Final, TypeVar

import aiohttp
from aiohttp.abc import AbstractResolver

from weboid.config import NetConfig
from weboid.core.url.hosts import is_ip
from weboid.errors import ConfigError
from weboid.net.dns import Resolver
from weboid.net.guard import Guard, NotPublic, require_port
from weboid.net.watch import WRITE, Watch

_Opened = TypeVar("_Opened")

KEEP_ALIVE_S: Final = 2.5
"""Seconds for which an idle connection is kept: for the GET after a HEAD, or for a host's next URL a second later."""
STAGGER_S: Final = 0.25
"""If an address has not answered after so many seconds, the next one is tried as well (RFC 8305, 5)."""
AT_ONCE: Final = 8
"""Addresses of a name that are tried at the same time, at most: the longest attempt ends for the next one."""

_LEGACY_RENEGOTIATION: Final = 0x4  # OpenSSL's SSL_OP_LEGACY_SERVER_CONNECT; the ssl module names it from 3.12 on


class NoIpv6(OSError):
    """This machine has no route to IPv6: our own problem, never counted against a host with IPv6 only (C-16)."""

    def __init__(self) -> None:
        super().__init__("this machine has no route to IPv6")


class NotConnected(OSError):
    """No connection could be made. `errors`: the errors of the addresses, or of the handshake, in order."""

    def __init__(self, errors: Sequence[Exception]) -> None:
        super().__init__("; ".join(map(repr, errors)))
        self.errors = tuple(errors)


class Dial:
    """The opening of one connection: tries one address after the other, the next once one fails or is slow (RFC 8305).

    After `begin` either `connected` or `failed` is called, once, unless `close` comes first. `connected` gets a socket
    that does not block and is still watched for writing. `more` finds further addresses if the first ones fail.
    """

    def __init__(
        self,
        guard: Guard,
        addresses: Iterable[str],
        port: int,
        *,
        watch: Watch,
        ipv6: bool,
        connected: Callable[[socket.socket], None],
        failed: Callable[[NotConnected], None],
        more: Callable[[], Awaitable[Iterable[str]]] | None = None,
    ) -> None:
        self._loop = watch.loop  # to ask for the running one is a system call in Python 3.11
        self._guard = guard
        self._left = deque(addresses)
        self._port = port
        self._watch = watch
        self._ipv6 = ipv6
        self._connected = connected
        self._failed = failed
        self._more = more
        self._errors: list[Exception] = []
        self._open: dict[int, socket.socket] = {}
        self._next_at = inf
        """When the next address is tried as well, by the loop's time."""
        self._finding: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Tries the next allowed address; if there is none, looks for more addresses, or gives up."""
        self._next_at = inf
        while self._left:
            try:
                self._dial(self._left.popleft())
            except OSError as error:
                self._errors.append(error)
                continue
            if self._left or self._more:
                self._next_at = self._loop.time() + STAGGER_S
                self._watch.deadlines.add(self, self._next_at)
            return
        if self._more:
            more, self._more = self._more, None
            self._finding = self._loop.create_task(self._find(more))
        elif not self._open and self._finding is None:
            self._failed(NotConnected(self._errors))

    def expire(self) -> None:
        """Tries the next address as well, unless what was waited for has come."""
        if self._next_at <= self._loop.time():
            self.begin()

    def close(self) -> None:
        """Cancels all attempts under way."""
        self._next_at = inf
        if self._finding:
            self._finding.cancel()
        for fd, sock in self._open.items():
            self._watch.forget(fd)
            sock.close()
        self._open.clear()

    def _dial(self, address: str) -> None:
        self._guard.require(address, self._port)
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        if family == socket.AF_INET6 and not self._ipv6:
            raise NoIpv6
        if len(self._open) == AT_ONCE:
            self._end_attempt(next(iter(self._open)), TimeoutError())
        sock = socket.socket(family, socket.SOCK_STREAM)
        sock.setblocking(False)
        code = sock.connect_ex((address, self._port))
        if code not in (0, errno.EINPROGRESS):
            sock.close()
            raise OSError(code, os.strerror(code))
        fd = sock.fileno()
        self._open[fd] = sock
        self._watch.set(fd, WRITE, partial(self._decided, fd))

    def _decided(self, fd: int) -> None:
        code = self._open[fd].getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if not code:
            sock = self._open.pop(fd)
            self.close()
            self._connected(sock)
            return
        self._end_attempt(fd, OSError(code, os.strerror(code)))
        self.begin()

    def _end_attempt(self, fd: int, error: OSError) -> None:
        self._watch.forget(fd)
        self._open.pop(fd).close()
        self._errors.append(error)

    async def _find(self, more: Callable[[], Awaitable[Iterable[str]]]) -> None:
        try:
            self._left.extend(await more())
        except Exception as error:
            # A fault of ours: it must not end as the silence of a server, which would be held against the host.
            self._errors.append(error)
        self._finding = None
        self.begin()


class Dialer:
    """Opens connections for protocols other than HTTP (C-10): to one address after the other."""

    def __init__(self, settings: NetConfig, guard: Guard, resolver: Resolver) -> None:
        self._settings = settings
        self._guard = guard
        self._resolver = resolver
        self._tls: ssl.SSLContext | None = None

    async def reach(
        self, host: str, port: int, open_at: Callable[[str, int], Awaitable[_Opened]], *, own: Collection[int]
    ) -> _Opened:
        """Returns what `open_at` returns for the first address of a host that can be connected to.

        IPv4 comes first; each address has its share of `connect_s`, the look-up before that has its own limit. `own` as
        in the guard. Raises exceptions that `faults.fault_of` can interpret: a failure of the host before one of ours.
        """
        require_port(port, own=own)
        addresses = [host] if is_ip(host) else [each["host"] for each in await self._resolver.resolve(host, port)]
        end = monotonic() + self._settings.connect_s
        errors: list[OSError] = []
        for tried, address in enumerate(sorted(addresses, key=lambda text: ":" in text)):
            try:
                self._guard.require(address, port, own=own)
                async with asyncio.timeout((end - monotonic()) / (len(addresses) - tried)):
                    return await open_at(address, port)
            except OSError as error:  # TimeoutError is one, too
                no_way = ":" in address and error.errno == errno.ENETUNREACH
                errors.append(NoIpv6() if no_way else error)
        raise min(errors, key=lambda error: (isinstance(error, NotPublic | NoIpv6), isinstance(error, NoIpv6)))

    def tls(self) -> ssl.SSLContext:
        """Returns the context for ftps: as for https, but with ALPN ``ftp``. Raises ConfigError, like `tls_context`."""
        if self._tls is None:
            self._tls = tls_context(self._settings.ca)
            self._tls.set_alpn_protocols(["ftp"])
        return self._tls


def open_connector(guard: Guard, resolver: AbstractResolver, tls: ssl.SSLContext) -> aiohttp.TCPConnector:
    """An aiohttp connector whose every socket passes the guard: IP literals, DNS answers, redirects and retries.

    It does not limit the number of connections: waiting in its queue would count as the server's time.
    """
    ipv6 = ipv6_is_routed()

    def guarded_socket(info: aiohttp.AddrInfoType) -> socket.socket:
        family, kind, protocol, _, address = info
        guard.require(str(address[0]), int(address[1]))
        if family == socket.AF_INET6 and not ipv6:
            raise NoIpv6
        return socket.socket(family, kind, protocol)

    return aiohttp.TCPConnector(
        resolver=resolver,
        use_dns_cache=False,
        ssl=tls,
        limit=0,
        keepalive_timeout=KEEP_ALIVE_S,
        socket_factory=guarded_socket,
    )


def tls_context(ca_file: Path | None) -> ssl.SSLContext:
    """A verifying context that is otherwise as tolerant as OpenSSL allows; raises ConfigError if nothing is trusted.

    Old protocols, short keys and unsafe renegotiation are accepted: we send no secret, and calling a working server
    dead because of its age would be a false alarm. Certificates are verified, since their faults are distinguished
    (C-9).
    """
    paths = ssl.get_default_verify_paths()
    if ca_file is None and paths.cafile is None and paths.capath is None:
        raise ConfigError("No certificate authorities found: install ca-certificates or set WEBOID_NET_CA.")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_default_certs()
    if ca_file is not None:
        try:
            context.load_verify_locations(ca_file)
        except (OSError, ssl.SSLError) as error:
            raise ConfigError(f"The CA file {ca_file} cannot be read: {error}") from error
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return _tolerant(context)


def trusting_context() -> ssl.SSLContext:
    """The same context without verification, to see the answer behind a bad certificate (C-9): proves no identity."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return _tolerant(context)


def _tolerant(context: ssl.SSLContext) -> ssl.SSLContext:
    # We call nobody dead for being old (D-59).
    context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
    context.set_ciphers("DEFAULT:!aNULL:!eNULL:@SECLEVEL=0")
    context.options |= _LEGACY_RENEGOTIATION
    context.set_alpn_protocols(["http/1.1"])
    return context


def ipv6_is_routed() -> bool:
    """Returns whether the system has a route for IPv6. Connecting a datagram socket sends nothing."""
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
            probe.connect(("2000::1", 443))
    except OSError:
        return False
    return True
