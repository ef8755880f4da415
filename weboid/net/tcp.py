"""Guarded TCP connections for protocols other than HTTP (C-10, C-13).

``net/ftp`` and ``net/sftp`` use them; ``net/dial`` opens HTTP's connections.
One law: a connection is opened to an address and never to a name, and exactly this address has passed the guard.
"""

import asyncio
import errno
import ssl
from collections.abc import Awaitable, Callable, Collection
from time import monotonic
from typing import TypeVar

from weboid.config import NetConfig
from weboid.core.url.hosts import is_ip
from weboid.net.dial import NoIpv6, tls_context
from weboid.net.dns import Resolver
from weboid.net.guard import Guard, NotPublic, require_port

T = TypeVar("T")


class Dialer:
    """Opens connections with the limits of `settings`; `guard` checks all addresses, `resolver` resolves all names."""

    def __init__(self, settings: NetConfig, guard: Guard, resolver: Resolver) -> None:
        self._settings = settings
        self._guard = guard
        self._resolver = resolver
        self._tls: ssl.SSLContext | None = None

    async def reach(
        self, host: str, port: int, open_at: Callable[[str, int], Awaitable[T]], *, own: Collection[int]
    ) -> T:
        """What `open_at` returns for the first address of a host that can be connected to.

        One address after the other is tried, IPv4 first, each with its share of `connect_s`; the look-up before that
        has its own limit. `own` as in the guard. Raises exceptions that `faults.fault_of` can interpret.
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
        raise _most_telling(errors)

    def tls(self) -> ssl.SSLContext:
        """The context for ftps: as for https, but with ALPN ``ftp``. Raises ConfigError, like `tls_context`."""
        if self._tls is None:
            self._tls = tls_context(self._settings.ca)
            self._tls.set_alpn_protocols(["ftp"])
        return self._tls


def _most_telling(errors: list[OSError]) -> OSError:
    """The error that counts if no address could be connected to: a failure of the host before one of our own."""
    theirs = [error for error in errors if not isinstance(error, NotPublic | NoIpv6)]
    return next(iter(theirs or [error for error in errors if isinstance(error, NotPublic)] or errors))
