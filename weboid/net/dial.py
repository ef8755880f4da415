"""How a connection is opened: the guard at the socket, and what is asked of a server's TLS (C-9, C-13).

One law: no connection is made except by `open_connector`, which lets the guard see the very address that is dialled.
"""

import socket
import ssl
from pathlib import Path
from typing import Final

import aiohttp
from aiohttp.abc import AbstractResolver

from weboid.errors import ConfigError
from weboid.net.guard import Guard

KEEP_ALIVE_S: Final = 2.5
"""An idle connection is kept for the GET after a HEAD, or a host's next URL a second later; most hosts come once."""

_LEGACY_RENEGOTIATION: Final = 0x4  # OpenSSL's SSL_OP_LEGACY_SERVER_CONNECT; the ssl module names it from 3.12 on


class NoIpv6(OSError):
    """This machine has no route to IPv6: our own lack, never held against a host that has nothing else (C-16)."""

    def __init__(self) -> None:
        super().__init__("this machine has no route to IPv6")


def open_connector(guard: Guard, resolver: AbstractResolver, tls: ssl.SSLContext) -> aiohttp.TCPConnector:
    """A connector whose every socket passed the guard: literals, DNS answers, redirects and retries alike.

    It does not limit the number of connections: waiting in its queue would count as the server's time.
    """
    ipv6 = _ipv6_is_routed()

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

    Old protocols, short keys and unsafe renegotiation pass: we send no secret, and to call a living server dead for
    its age would be a false alarm. Certificates are verified, for their faults are told apart (C-9).
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
    context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
    context.set_ciphers("DEFAULT:!aNULL:!eNULL:@SECLEVEL=0")
    context.options |= _LEGACY_RENEGOTIATION
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    context.set_alpn_protocols(["http/1.1"])
    return context


def _ipv6_is_routed() -> bool:
    """Whether the system would know where to send IPv6; connecting a datagram socket sends nothing."""
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
            probe.connect(("2000::1", 443))
    except OSError:
        return False
    return True
