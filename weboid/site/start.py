"""The start of a run: what its user has named, and may therefore be asked though it is not public."""

import asyncio
import socket
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from ipaddress import ip_network
from urllib.parse import unquote, urlsplit

from weboid.config import NetConfig
from weboid.core.url.hosts import allow_bare_names, is_ip
from weboid.core.url.urls import Url, parse
from weboid.net.guard import address_of, is_public


@dataclass(frozen=True, slots=True)
class SiteStart:
    """The first URL of a run, the addresses of its host if it is not public, and what is sent to its origin alone."""

    url: Url
    addresses: tuple[str, ...] = ()
    """Of loopback or of a private network; empty if it is public."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def is_own(self) -> bool:
        """True if it is asked without pauses, for its user is on its network."""
        return bool(self.addresses)

    @property
    def names(self) -> Mapping[str, tuple[str, ...]]:
        """Its host with its addresses, if it is not public."""
        return {} if is_ip(self.url.host) or not self.addresses else {self.url.host: self.addresses}

    def is_origin_of(self, url: Url) -> bool:
        """True if the headers may be sent to a URL."""
        return (url.scheme, url.host, url.port) == (self.url.scheme, self.url.host, self.url.port)

    def permitted(self, net: NetConfig) -> NetConfig:
        """The settings with which its host may be contacted."""
        return replace(net, permit=(*net.permit, *(ip_network(each) for each in self.addresses)))


async def find_start(url: str, headers: Mapping[str, str], net: NetConfig) -> SiteStart:
    """The start at a URL; raises InvalidUrl. A password in it becomes a header."""
    parts = urlsplit(url.strip())
    host = (parts.hostname or "").removesuffix(".")
    allow_bare_names([host] if host and "." not in host else [])
    form = parse(url)
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
        headers = {"Authorization": f"Basic {b64encode(pair).decode()}", **headers}
    found = [form.host] if is_ip(form.host) else await _addresses(form.host, net)
    own = tuple(each for each in found if not is_public(address_of(each)))
    return SiteStart(form, own if len(own) == len(found) else (), headers)


async def _addresses(host: str, net: NetConfig) -> Sequence[str]:
    """The addresses by this machine's own look-up, which knows names without a dot; none if name servers are given."""
    if net.dns and "." in host:
        return []
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return []
    return list(dict.fromkeys(str(address[0]).partition("%")[0] for *_, address in found))
