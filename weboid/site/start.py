"""The start of a run: what its user has named, and may therefore be asked though it is not public."""

import asyncio
import socket
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from ipaddress import ip_network
from typing import Final
from urllib.parse import unquote, urlsplit

from weboid.config import NetConfig
from weboid.core.url.hosts import is_ip
from weboid.core.url.urls import Url, parse, parse_again
from weboid.net.guard import address_of, is_public
from weboid.net.outbound import Outbound

LOCAL: Final = "localhost"


@dataclass(frozen=True)
class SiteStart:
    """The first URL of a run, the addresses of its host, and what is sent to its origin alone."""

    url: Url
    addresses: tuple[str, ...] = ()
    is_own: bool = False
    """They are of loopback or of a private network: its user is there, and it is asked without pauses."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    asked: Callable[[str], str] = str
    """The URL that is asked for where one in normal form is linked: in a folder that of its page."""

    @cached_property
    def hosts(self) -> frozenset[str]:
        """Its host, and what else names the same machine: that of the user."""
        is_loopback = self.is_own and all(address_of(each).is_loopback for each in self.addresses)
        return frozenset((self.url.host, *((LOCAL, *self.addresses) if is_loopback else ())))

    @property
    def names(self) -> Mapping[str, tuple[str, ...]]:
        """Names with their addresses: of those that are not public, or have no dot."""
        return {host: self.addresses for host in self.hosts if not is_ip(host) and (self.is_own or "." not in host)}

    @cached_property
    def bare(self) -> frozenset[str]:
        """Names without a dot that are valid, as the user has named them."""
        return frozenset(name for name in self.names if "." not in name)

    def parse(self, url: str) -> Url:
        """The URL in normal form; raises InvalidUrl."""
        return parse_again(url, self.bare)

    def is_origin_of(self, url: Url) -> bool:
        """True if the headers may be sent to a URL."""
        return (url.scheme, url.host, url.port) == (self.url.scheme, self.url.host, self.url.port)

    def permitted(self, net: NetConfig) -> NetConfig:
        """The settings with which its host may be contacted."""
        return replace(net, permit=(*net.permit, *(ip_network(each) for each in self.addresses if self.is_own)))


@dataclass(slots=True)
class SiteSessions:
    """Ways out: to the hosts that the user named, and to all others."""

    start: SiteStart
    own: Outbound
    public: Outbound

    def of(self, url: Url) -> Outbound:
        """The one by which a URL may be asked."""
        return self.own if url.host in self.start.hosts else self.public


async def find_start(url: str, headers: Mapping[str, str], net: NetConfig) -> SiteStart:
    """The start at a URL; raises InvalidUrl. A password in it becomes a header."""
    parts = urlsplit(url.strip())
    host = (parts.hostname or "").removesuffix(".")
    form = parse(url, frozenset((host,) if "." not in host else ()))
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
        headers = {"Authorization": f"Basic {b64encode(pair).decode()}", **headers}
    found = [form.host] if is_ip(form.host) else await _addresses(form.host, net)
    is_own = bool(found) and not any(is_public(address_of(each)) for each in found)
    return SiteStart(form, tuple(found), is_own, headers)


async def _addresses(host: str, net: NetConfig) -> Sequence[str]:
    """The addresses by this machine's own look-up, which knows names without a dot; none if name servers are given."""
    if net.dns and "." in host:
        return []
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return []
    return list(dict.fromkeys(str(address[0]).partition("%")[0] for *_, address in found))
