"""Shares of a round's places that the hosts of one registrable domain, or of one address, may have (C-3).

A host is asked once a second, a server of many names would be asked by as many visits at a time (D-497); and a thousand
names of one domain, or a thousand domains of one address, whose server accepts and is silent would hold all places for
a minute and more, again and again. Hosts of one domain are mostly one site: at 60 s a visit, four at a time are 5,760
silent ones a day. Behind the largest shared hosters and gateways are some hundredths of all hosts, so that an address
has a thirty-second.
"""

from collections import deque
from typing import Final, NamedTuple

from weboid.core.url.hosts import registrable_domain
from weboid.store.db.rows import HostKey, StoredHost

DOMAIN_PART: Final = 1024
ADDRESS_PART: Final = 32
LEAST_DOMAIN: Final = 4
"""Places that a domain may have in any case; a small round has few."""
LEAST_ADDRESS: Final = 8
ASIDE: Final = 20_000
"""Hosts that may be set aside at a time, a kilobyte each; beyond that they are put off for a day."""


class _Group(NamedTuple):
    is_address: bool
    name: str


class Waiting(NamedTuple):
    """A host that was read, with the epoch of the lease under which it was."""

    host: StoredHost
    epoch: int


class Shares:
    """The hosts that have the `places` of a round, and those that wait for one of the same group."""

    def __init__(self, places: int) -> None:
        self.most_of_domain = max(LEAST_DOMAIN, places // DOMAIN_PART)
        self.most_of_address = max(LEAST_ADDRESS, places // ADDRESS_PART)
        self._held: dict[_Group, int] = {}
        self._groups: dict[HostKey, list[_Group]] = {}
        self._aside: dict[_Group, deque[Waiting]] = {}
        self._full: dict[HostKey, _Group] = {}
        self._count = 0

    @property
    def aside(self) -> list[HostKey]:
        return [each.host.key for waiting in self._aside.values() for each in waiting]

    @property
    def has_room(self) -> bool:
        return self._count < ASIDE

    def take(self, host: StoredHost) -> bool:
        """Gives a host a place as one of its domain, unless that has its share."""
        return self._take(host.key, _Group(False, registrable_domain(host.host)))

    def take_at(self, key: HostKey, address: str | None) -> bool:
        """Lets a host keep its place as one of its address, too, unless that has its share; None = not known."""
        return address is None or self._take(key, _Group(True, address))

    def set_aside(self, waiting: Waiting) -> bool:
        """Keeps a host that was given no place until another one of the group that was full gives back its own.

        False if the host is not kept: there is a place by now, or too many are set aside.
        """
        group = self._full.pop(waiting.host.key)
        if self._held.get(group, 0) < self._most_of(group) or not self.has_room:
            return False
        self._aside.setdefault(group, deque()).append(waiting)
        self._count += 1
        return True

    def give_back(self, key: HostKey) -> list[Waiting]:
        """Ends a host's places; returns the hosts that may try again, which have waited longest."""
        again = []
        for group in self._groups.pop(key, ()):
            if held := self._held[group] - 1:
                self._held[group] = held
            else:
                del self._held[group]
            if waiting := self._aside.get(group):
                again.append(waiting.popleft())
                self._count -= 1
                if not waiting:
                    del self._aside[group]
        return again

    def take_back(self) -> list[Waiting]:
        """Ends the waiting of hosts whose group has room: those that were to have it may be another worker's by now."""
        again: list[Waiting] = []
        for group, waiting in list(self._aside.items()):
            room = self._most_of(group) - self._held.get(group, 0)
            again += [waiting.popleft() for _ in range(min(room, len(waiting)))]
            if not waiting:
                del self._aside[group]
        self._count -= len(again)
        return again

    def _take(self, key: HostKey, group: _Group) -> bool:
        held = self._held.get(group, 0)
        if held >= self._most_of(group):
            self._full[key] = group
            return False
        self._held[group] = held + 1
        self._groups.setdefault(key, []).append(group)
        return True

    def _most_of(self, group: _Group) -> int:
        return self.most_of_address if group.is_address else self.most_of_domain
