"""The sender of a request for limits and fair turns: the account of its address range, person or program (W-9).

Nothing that a caller could simply claim identifies an account.
"""

from collections.abc import Collection, Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final

from aiohttp import hdrs, web

from weboid.config import Network
from weboid.web.request.route import lane_of

_ACCOUNT: Final = web.RequestKey("account", bytes)
_MOST_HOPS: Final = 16
_REMEMBERED: Final = 500
"""Callers whose ranges are remembered for a moment, in memory alone: to find one is a tenth of a refusal's work."""
_NOBODY: Final = b"-"
_INNER: Final[tuple[Network, ...]] = (
    *map(IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "127.0.0.0/8")),
    IPv4Network("169.254.0.0/16"),
    *map(IPv6Network, ("::1/128", "fc00::/7", "fe80::/10")),
)
"""Addresses inside of networks: of a platform's own proxy, if that passes on no address of callers."""

Address = IPv4Address | IPv6Address


def note_account(
    request: web.Request, proxies: tuple[Network, ...], *, client: str | None, person: str | None
) -> bytes:
    """Notes and returns the account of a request. `client` is the trusted one that sent it, `person` who has signed in.

    A trusted client has its own. Otherwise it is the address range's; where that is an inner one, it may be all of the
    world's, and so has an account for each person and, for all others, one for each lane.
    """
    forwarded = tuple(request.headers.getall(hdrs.X_FORWARDED_FOR, ()))
    account, is_hidden = range_at(request.remote or "", forwarded, proxies)
    if client is not None:
        account = b"client " + client.encode()
    elif is_hidden and person is not None:
        account = b"person " + person.encode("utf-8", "replace")
    elif is_hidden:
        account += b" " + lane_of(request).value.encode()
    request[_ACCOUNT] = account
    return account


def account_of(request: web.Request) -> bytes:
    """The account that was noted for a request."""
    account: bytes = request.get(_ACCOUNT, _NOBODY)
    return account


@lru_cache(_REMEMBERED)
def range_at(peer: str, forwarded: tuple[str, ...], proxies: tuple[Network, ...]) -> tuple[bytes, bool]:
    """The range of a caller, and whether that may be all of the world's."""
    address = caller_address(peer, forwarded, proxies)
    return range_of(address), address is None or any(address in network for network in _INNER)


def caller_address(peer: str, forwarded: Sequence[str], proxies: Collection[Network]) -> Address | None:
    """The caller's address; the proxy's if that does not say it, None if there is none.

    `forwarded` are the headers ``X-Forwarded-For``. They are read from the right: what a configured proxy has added is
    believed, and nothing to the left of the first sender that is not such a proxy, or of what is not an address.
    """
    address = _address(peer)
    senders = ",".join(forwarded).rsplit(",", _MOST_HOPS)[-_MOST_HOPS:] if forwarded else []
    while address is not None and senders and any(address in network for network in proxies):
        before = _address(senders.pop().strip())
        if before is None:
            break
        address = before
    return address


def range_of(address: Address | None) -> bytes:
    """The range of an address: /24 of IPv4, /48 of IPv6."""
    if address is None:
        return _NOBODY
    if isinstance(address, IPv4Address):
        return f"{IPv4Address(int(address) >> 8 << 8)}/24".encode()
    return f"{IPv6Address(int(address) >> 80 << 80)}/48".encode()


def _address(text: str) -> Address | None:
    """The address in a text, with or without a port; an IPv4-mapped IPv6 address is taken as IPv4."""
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text)
    except ValueError:
        return None
    if isinstance(address, IPv6Address):
        return address.ipv4_mapped or IPv6Address(int(address))
    return address
