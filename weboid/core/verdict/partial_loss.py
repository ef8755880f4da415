"""Partial loss: a part of the net that is lost to us alone, recognised by the hosts' own past (C-16).

Hosts form groups: those of one network (/24, IPv6 /48), of one set of name servers, of one public suffix, of one
top-level domain, and all; all once more by their names alone, as name servers may lie about a few of them.
Only steady hosts are evidence of a loss: those that answered at their last visit and had not failed lately. A group is
lost only where so many steady hosts of different domains fail within days of each other that independent deaths (3 % of
hosts a month) cannot explain it, and never for longer than HOLD_DAYS.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import lru_cache
from ipaddress import ip_network
from typing import Final, NamedTuple

from msgspec import Struct

from weboid.core.observe.observation import Observation
from weboid.core.record.record import HostRecord, UrlRecord
from weboid.core.record.status import HOST_FAILURES, Status
from weboid.core.url.hosts import is_ip, last_label, public_suffix
from weboid.core.verdict.judge import is_host_failure

WINDOW_DAYS: Final = 7
"""Days within which hosts fail together; each shorter window that ends today is looked at, too."""
HOLD_DAYS: Final = 28
"""Days for which a loss is held at most; after that its failures are believed."""
STEADY_DAYS: Final = 14
"""Days without a failure after which a host is evidence (again): what fails now and then says nothing of its group."""
OVER_DAYS: Final = 3
"""Days in which each failing host is visited once: hosts that answer again within them end a loss."""
OVER_HOSTS: Final = 3
DOMAINS_KEPT: Final = 64
"""Failing domains kept by key in a group and day; further ones are only counted."""

SHARE_DAYS: Final = 28
"""Days before a day by which the share of names that are denied is judged."""
NAMES_LOST_AT: Final = 20
"""Unrelated domains whose names are denied on one day, at least, that make a loss of names…"""
_TIMES: Final = 5
"""…if they are more than so many times their share in the days before."""
_USUAL: Final = 143
"""So many contacts with one death are added to those days: 3 % of hosts a month, where nothing else is known."""

_NAMES_FAIL: Final = frozenset({Status.DNS_ERROR, Status.DNS_GONE})


class GroupKind(StrEnum):
    """The common ground of the hosts of a group, the narrowest first."""

    NETWORK = "network"
    NAME_SERVERS = "name-servers"
    TLD = "top-level-domain"
    ALL = "all-hosts"


LOST_AT: Final[dict[GroupKind, tuple[int, int]]] = {
    GroupKind.NETWORK: (8, 50),
    GroupKind.NAME_SERVERS: (8, 50),
    GroupKind.TLD: (12, 50),
    GroupKind.ALL: (20, 30),
}
"""The failing domains, and the percentage of the hosts that had answered before, that make a loss; ordinary deaths stay
below (D-80)."""
SUSPECTED: Final = 3
"""Failing domains from which on a group's answers are kept beyond a round."""


class HostGroup(NamedTuple):
    """A group of hosts; `name` is empty for all of them."""

    kind: GroupKind
    name: str = ""

    @property
    def subject(self) -> str:
        """The subject of its alarm, for example ``network 192.0.2.0/24``."""
        return f"{self.kind} {self.name}".rstrip()


NAMES: Final = HostGroup(GroupKind.ALL, "names")
"""All hosts by their names: it fails by those that are denied (NXDOMAIN), and answers by all that are met."""


def group_of(subject: str) -> HostGroup:
    """The group that an alarm is about; raises ValueError for a subject of another form."""
    kind, _, name = subject.partition(" ")
    return HostGroup(GroupKind(kind), name)


def groups_of(host: str, address: str | None, name_servers: str | None, *, of_names: bool) -> list[HostGroup]:
    """The groups of a host, the narrowest first, as far as its address and its name servers are known.

    `of_names`: the result says something of its name.
    """
    groups = []
    if address is not None:
        groups.append(_network_of(address))
    if name_servers:
        groups.append(HostGroup(GroupKind.NAME_SERVERS, name_servers))
    if not is_ip(host):
        groups += [HostGroup(GroupKind.TLD, each) for each in dict.fromkeys((public_suffix(host), last_label(host)))]
        groups += [NAMES] if of_names else []
    return [*groups, HostGroup(GroupKind.ALL)]


@lru_cache(65_536)
def _network_of(address: str) -> HostGroup:
    return HostGroup(GroupKind.NETWORK, str(ip_network((address, 48 if ":" in address else 24), strict=False)))


class Past(NamedTuple):
    """A host before a visit: steady, or failing since a day, or neither (new, or failing now and then)."""

    is_steady: bool
    failing_since: int | None = None


def past_of(host: HostRecord, urls: Iterable[UrlRecord], day: int) -> Past:
    """The past of a host by its record and those of its due URLs.

    One URL that answered and did not fail for STEADY_DAYS makes a host steady, whatever its other URLs do.
    """
    checked = [url.history for url in urls if url.history]
    failing = [history[0].first for history in checked if history[0].status in HOST_FAILURES]
    if not host.streak.strikes and any(
        history[0].status not in HOST_FAILURES
        and not any(each.status in HOST_FAILURES and each.last > day - STEADY_DAYS for each in history)
        for history in checked
    ):
        return Past(True)
    return Past(False, max(failing, default=None))


def names_fail(seen: Observation) -> bool:
    """True if a host failed because its name could not be resolved."""
    return seen.status in _NAMES_FAIL and is_host_failure(seen)


class Contacts(Struct, frozen=True):
    """The visits of a day to the hosts of a group.

    `answered`: steady hosts that answered again; `failed`: the keys of the domains of steady hosts that failed, and
    `more` beyond those; `still` and `back`: hosts that had been failing before, and did so again or answered.
    """

    answered: int = 0
    failed: frozenset[int] = frozenset()
    more: int = 0
    still: int = 0
    back: int = 0

    def __add__(self, other: "Contacts") -> "Contacts":
        return Contacts(
            self.answered + other.answered,
            self.failed | other.failed,
            self.more + other.more,
            self.still + other.still,
            self.back + other.back,
        )

    @property
    def domains(self) -> int:
        """Domains with a steady host that failed."""
        return len(self.failed) + self.more

    @property
    def contacted(self) -> int:
        """Hosts that had answered before."""
        return self.domains + self.answered + self.back


NO_CONTACTS: Final = Contacts()
DailyContacts = Mapping[int, Contacts]
"""The contacts of one group by day."""


class Failing(NamedTuple):
    """So many domains fail, of so many hosts contacted that had answered before."""

    domains: int
    contacted: int


def loss_in(group: HostGroup, contacts: DailyContacts, day: int) -> Failing | None:
    """The failures if the group is lost on `day`: in the whole window or in any shorter one, so that answers from
    before the loss began hide nothing. None if it is not lost.
    """
    if group == NAMES:
        return _denied_in(contacts, day)
    least, percent = LOST_AT[group.kind]
    seen = NO_CONTACTS
    for earlier in range(day, day - WINDOW_DAYS, -1):
        seen += contacts.get(earlier, NO_CONTACTS)
        if seen.domains >= least and 100 * seen.domains >= percent * seen.contacted:
            return Failing(seen.domains, seen.contacted)
    return None


def _denied_in(contacts: DailyContacts, day: int) -> Failing | None:
    """The names that are denied on `day` if they are many, and many more than in the four weeks before."""
    now = contacts.get(day, NO_CONTACTS)
    before = sum((contacts.get(day - ago, NO_CONTACTS) for ago in range(1, SHARE_DAYS + 1)), NO_CONTACTS)
    is_jump = now.domains * (before.contacted + _USUAL) > _TIMES * (before.domains + 1) * now.contacted
    return Failing(now.domains, now.contacted) if now.domains >= NAMES_LOST_AT and is_jump else None


def is_over(contacts: DailyContacts, since: int, day: int) -> bool:
    """True if a loss since a day is over: its hosts answer again, or it was held for long enough."""
    if day - since > HOLD_DAYS:
        return True
    lately = sum((contacts.get(day - ago, NO_CONTACTS) for ago in range(OVER_DAYS)), NO_CONTACTS)
    failing = lately.domains + lately.still
    return lately.back >= max(OVER_HOSTS, failing)


def began_in(loss_since: int, failing_since: int | None) -> bool:
    """True if a host that has been failing since a day is one of those that a loss took away."""
    return failing_since is not None and failing_since >= loss_since - WINDOW_DAYS
