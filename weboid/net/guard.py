"""Decides which addresses and ports may be contacted (C-13). Pure; used for every socket and every resolved name.

An address that is not known to be public unicast is refused, and so is a port on which no public page lives; a
configured denial overrides every permission.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final

Network = IPv4Network | IPv6Network
Address = IPv4Address | IPv6Address

_PARSED: Final = 4096
"""Addresses that are kept parsed, at most."""


class NotPublic(OSError):
    """An address that must not be contacted. An OSError, so that a connector tries the host's next address.

    Its text is always the same: connectors join different texts into an error without a type. `addresses` are those
    that would be contacted if they were permitted.
    """

    def __init__(self, text: str = "not a public address", *, addresses: Sequence[str] = ()) -> None:
        super().__init__(text)
        self.addresses = tuple(addresses)


class BadPort(NotPublic):
    """A port of another protocol, or of services that are nobody's public page."""

    def __init__(self) -> None:
        super().__init__("not a port of public pages")


@dataclass(frozen=True, slots=True)
class Guard:
    """Allows public unicast addresses and those in `permit`, but nothing in `deny` and no bad port."""

    deny: tuple[Network, ...] = ()
    permit: tuple[Network, ...] = ()

    def allows(self, address: Address) -> bool:
        """Returns whether an address may be contacted. An IPv4 address inside an IPv6 one is checked as well."""
        if self.deny and self._denies(address):
            return False
        inner = embedded(address)
        actual = inner if inner is not None and _leads_to_inner(address) else address
        return any(actual in each or address in each for each in self.permit) or is_public(actual)

    def require(self, host: str, port: int, *, own: Collection[int] = ()) -> None:
        """Raises NotPublic unless an address, as written in a socket's address, and its port may be contacted.

        `own` as in `require_port`.
        """
        require_port(port, own=own)
        try:
            address = address_of(host)
        except ValueError:
            raise NotPublic from None
        if not self.allows(address):
            raise self.refusal([host])

    def refusal(self, addresses: Iterable[str]) -> NotPublic:
        """The error for addresses none of which is allowed; those that are denied could not be permitted."""
        # Without the name of an interface (fe80::1%eth0), as a network is written.
        return NotPublic(addresses=[each.partition("%")[0] for each in addresses if not self._denies(address_of(each))])

    def _denies(self, address: Address) -> bool:
        return any(_within(each, self.deny) for each in (address, embedded(address)))


def refusal_in(error: BaseException) -> str:
    """Explains to an operator why the guard refused a client's request, and what to do; empty = it did not refuse."""
    match getattr(error, "os_error", error):  # as aiohttp wraps it
        case BadPort():
            return "has a port at which no wiki is contacted: let its web server listen at another one"
        case NotPublic(addresses=()):
            return "is in a network that must not be contacted: [net] deny has it"
        case NotPublic(addresses=addresses):
            wanted = ", ".join(f'"{address}"' for address in addresses)
            return f"is in a private network: [net] permit = [{wanted}] lets Weboid contact it (docs/operating.md)"
        case _:
            return ""


@lru_cache(_PARSED)
def address_of(text: str) -> Address:
    """An address in its text form, parsed once for the answer of a name server and for the sockets; raises ValueError.

    What may be contacted is decided anew each time.
    """
    return ip_address(text)


def require_port(port: int, *, own: Collection[int] = ()) -> None:
    """Raises BadPort unless a port may be contacted, whatever the address: no name need be looked up for others.

    `own`: ports that belong to the protocol in use, and are bad only for other protocols (C-10).
    """
    if (port in BAD_PORTS and port not in own) or not 0 < port < 65_536:
        raise BadPort


def is_public(address: Address) -> bool:
    """Returns whether an address is globally routable unicast, by IANA's special-purpose registries (RFC 6890).

    Written out because `ipaddress.is_global` differs between Python versions and allows multicast and tunnels.
    """
    if isinstance(address, IPv4Address):
        return not _inside(_SPECIAL_V4, int(address))
    return address in _GLOBAL_V6 and not _inside(_SPECIAL_V6, int(address))


def embedded(address: Address) -> IPv4Address | None:
    """The IPv4 address inside an IPv6 address: mapped, compatible, 6to4, Teredo (the client's) or NAT64."""
    if isinstance(address, IPv4Address):
        return None
    if address.teredo is not None:
        return address.teredo[1]
    if address.sixtofour is not None:
        return address.sixtofour
    if any(address in network for network in _V4_IN_LAST_BITS):
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return None


def _leads_to_inner(address: Address) -> bool:
    """True for mapped and NAT64, which reach the IPv4 host itself; the other forms are unused and refused."""
    return address in _MAPPED or address in _NAT64


def _within(address: Address | None, networks: tuple[Network, ...]) -> bool:
    return address is not None and any(address in network for network in networks)


_MAPPED: Final = IPv6Network("::ffff:0:0/96")
_NAT64: Final = IPv6Network("64:ff9b::/96")
_V4_IN_LAST_BITS: Final = (_MAPPED, _NAT64, IPv6Network("::/96"), IPv6Network("64:ff9b:1::/48"))
_GLOBAL_V6: Final = IPv6Network("2000::/3")


def _ranges(networks: Iterable[Network]) -> tuple[list[int], list[int]]:
    """First and last addresses, sorted: a search in them takes a microsecond, one in a list of networks twenty."""
    ordered = sorted((int(network[0]), int(network[-1])) for network in networks)
    return [first for first, _ in ordered], [last for _, last in ordered]


def _inside(ranges: tuple[list[int], list[int]], number: int) -> bool:
    firsts, lasts = ranges
    place = bisect_right(firsts, number)
    return place > 0 and number <= lasts[place - 1]


_SPECIAL_V4: Final = _ranges(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "168.63.129.16/32",  # a public address that inside Azure is a service of the virtual machine's host
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
)
_SPECIAL_V6: Final = _ranges(
    IPv6Network(network)
    for network in (
        "2001::/23",  # Teredo, benchmarking, ORCHID and other protocols; never a web server
        "2001:db8::/32",
        "2002::/16",
        "3fff::/20",
    )
)

_BROWSERS: Final = frozenset(
    {
        *(0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103),
        *(104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514),
        *(515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723),
        *(2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080),
    }
)
"""Ports of other protocols that browsers refuse for http and https (WHATWG Fetch, "bad port")."""
_INNER: Final = frozenset(
    {
        *(445, 873, 3268, 3269),  # SMB, rsync, directories
        *(623, 3389, 5900, 5901, 5985, 5986),  # remote control of machines: IPMI, RDP, VNC, WinRM
        *(1433, 1434, 1521, 2483, 2484, 3050, 3306, 5432),  # SQL Server, Oracle, Firebird, MySQL, PostgreSQL
        *(5984, 6379, 9042, 9200, 9300, 11211),  # CouchDB, Redis, Cassandra, Elasticsearch, memcached
        *(27017, 27018, 27019),  # MongoDB
        *(2181, 4369, 5671, 5672, 9092),  # ZooKeeper, Erlang, AMQP, Kafka
        *(2375, 2376, 2377, 2379, 2380, 10250, 10255),  # Docker, etcd, Kubernetes
    }
)
"""Ports of databases and other inner services: some understand HTTP or take its lines for commands, and none of them
has pages for the public. Ports that public web servers use as well (7001, 8086, 8500, 50000 …) are not among them
(D-91)."""
BAD_PORTS: Final = _BROWSERS | _INNER
"""Ports that are refused on every address, also permitted ones."""
