"""One guarded TCP connection, for the protocols that no HTTP engine speaks (C-10, C-13).

What is said over it is `ftp`'s and `sftp`'s business; HTTP's connections are made by `dial`.
One law: a connection is opened to an address and never to a name, and that very address has passed the guard.
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
from weboid.net.guard import Guard, NotPublic

T = TypeVar("T")


class Dialer:
    """Opens connections under the bounds of `settings`; `guard` sees every address, `resolver` every name."""

    def __init__(self, settings: NetConfig, guard: Guard, resolver: Resolver) -> None:
        self._settings = settings
        self._guard = guard
        self._resolver = resolver
        self._tls: ssl.SSLContext | None = None

    async def reach(
        self, host: str, port: int, open_at: Callable[[str, int], Awaitable[T]], *, own: Collection[int]
    ) -> T:
        """What `open_at` makes of the first address of a host that lets itself be connected to.

        One address after the other is tried, IPv4 first, each with its share of `connect_s`; the look-up before that
        has a bound of its own. `own` as in the guard. Raises whatever `faults.fault_of` can read.
        """
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
        """The context for ftps: as for https, but it names the right protocol. Raises ConfigError as `tls_context`."""
        if self._tls is None:
            self._tls = tls_context(self._settings.ca)
            self._tls.set_alpn_protocols(["ftp"])
        return self._tls


def _most_telling(errors: list[OSError]) -> OSError:
    """Why none of a host's addresses could be connected to: what the host did, rather than what we lack or avoid."""
    theirs = [error for error in errors if not isinstance(error, NotPublic | NoIpv6)]
    return next(iter(theirs or [error for error in errors if isinstance(error, NotPublic)] or errors))
