"""Watches for parts of the net that are lost to us alone, and holds the failures there (C-16).

``core/verdict/partial_loss`` decides when a loss begins and ends; all workers share what they have seen, through a
`LossExchange`. A visit counts once in each group of its host, and its failure is held from the moment a group is lost.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from time import monotonic
from typing import Final, NamedTuple

from msgspec.structs import replace

from weboid.core.observe.check_request import CheckRequest
from weboid.core.observe.observation import Observation
from weboid.core.record.status import Status
from weboid.core.url.hosts import registrable_domain
from weboid.core.url.keys import host_key
from weboid.core.verdict.judge import is_host_failure
from weboid.core.verdict.partial_loss import (
    DOMAINS_KEPT,
    NAMES,
    NO_CONTACTS,
    SUSPECTED,
    WINDOW_DAYS,
    Contacts,
    Failing,
    GroupKind,
    HostGroup,
    Past,
    began_in,
    groups_of,
    loss_in,
    names_fail,
    past_of,
)
from weboid.crawl.own_faults import is_own_fault
from weboid.crawl.visit import Check
from weboid.errors import StoreAway
from weboid.mechanism.bounded import BoundedMap
from weboid.mechanism.tasks import cancel
from weboid.remote.crawl.calls import LossExchange
from weboid.store.db.rows import StoredHost, StoredUrl
from weboid.store.upkeep.loss import ContactsByDay

log = logging.getLogger(__name__)

EXCHANGE_S: Final = 60.0
"""Seconds between two exchanges with the other workers."""
_GROUPS: Final = 100_000
"""Groups and days that wait for an exchange, at most."""


class _Outgoing(NamedTuple):
    day: int
    written: dict[tuple[HostGroup, int], Contacts]
    found: dict[HostGroup, Failing]


class Losses:
    """Partial losses as one worker knows them; `addresses` and `name_servers` as in ``net/dns``."""

    def __init__(
        self,
        exchange: LossExchange,
        today: Callable[[], int],
        *,
        addresses: Callable[[str], str | None],
        name_servers: Callable[[str], Awaitable[str | None]],
    ) -> None:
        self._exchange = exchange
        self._today = today
        self._addresses = addresses
        self._name_servers = name_servers
        self._lost: dict[HostGroup, int] = {}
        self._found: dict[HostGroup, Failing] = {}
        """Lost groups of which the other workers do not know yet."""
        self._stored: ContactsByDay = {}
        self._new: BoundedMap[tuple[HostGroup, int], Contacts] = BoundedMap(_GROUPS)
        self._outgoing: _Outgoing | None = None
        """Sent again, unchanged, until it is known that the others have it."""
        self._has_news = False
        self._exchanged_at = float("-inf")

    @property
    def lost(self) -> frozenset[HostGroup]:
        """The groups that are lost, as far as this worker knows."""
        return frozenset(self._lost)

    def watched(
        self, host: StoredHost, urls: Sequence[StoredUrl], check: Check, *, is_last: bool = True
    ) -> "WatchedVisit":
        """`check` for one visit to a host with these due URLs: counts the visit, and holds failures of lost groups.

        A steady host that is visited in portions counts as answering once, with the last; it fails at one only.
        """
        checked = [url.record for url in urls if url.record.history]
        past = past_of(host.record, checked, self._today()) if checked else Past(False)
        return WatchedVisit(self, host.host, past, check, counts_answer=is_last or not past.is_steady)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Exchanges with the other workers now and then while a round is under way."""
        if monotonic() - self._exchanged_at >= EXCHANGE_S:
            await self._try_exchange()
        keeping = asyncio.create_task(self._keep())
        try:
            yield
        finally:
            await cancel(keeping)
            if self._has_news:
                await self._try_exchange()

    async def exchange(self) -> None:
        """Writes what was seen, reads what the others have seen, raises alarms and lowers them. Raises StoreAway."""
        self._exchanged_at = monotonic()
        self._has_news = False
        if self._outgoing is None:
            self._outgoing = _Outgoing(self._today(), self._take_written(), self._found)
            self._found = {}
        day, _, found = self._outgoing
        try:
            lost, stored = await self._exchange.exchange(*self._outgoing)
        except BaseException:
            self._has_news = True
            raise
        self._outgoing = None
        for group in lost.keys() - self._lost.keys() - found.keys():
            log.warning("a part of the net is lost, as other workers say: %s", group.subject)
        for group in self._lost.keys() - lost.keys() - self._found.keys():
            log.warning("a part of the net is no longer lost: %s", group.subject)
        self._lost = {**dict.fromkeys(self._found, day), **lost}
        self._stored = stored

    async def _try_exchange(self) -> None:
        try:
            await self.exchange()
        except StoreAway as error:
            log.debug("partial losses were not exchanged with other workers: %s", error)
        except Exception as error:
            if not is_own_fault(error):
                raise
            log.error("partial losses that were seen are not sent to the other workers", exc_info=error)
            self._outgoing = None  # The same would be refused again.

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(EXCHANGE_S)
            await self._try_exchange()

    def _take_written(self) -> dict[tuple[HostGroup, int], Contacts]:
        """Takes the contacts that are worth writing: most groups have nothing but answers, which stay here."""
        taken = {
            (group, day): contacts
            for (group, day), contacts in self._new.items()
            if contacts.domains or group == NAMES or group in self._stored or group in self._lost
        }
        for key in taken:
            self._new.take(key)
        return {key: contacts for key, contacts in taken.items() if key[1] > self._today() - WINDOW_DAYS}

    async def groups(self, host: str, past: Past, seen: Observation) -> list[HostGroup]:
        """The groups for which a result of a host is evidence, the narrowest first.

        Name servers are asked for where the names of steady hosts fail, and of others only while some are suspected.
        """
        fails_by_name, names = names_fail(seen), None
        are_suspected = any(group.kind is GroupKind.NAME_SERVERS for group in (*self._stored, *self._lost))
        if (fails_by_name and (past.is_steady or are_suspected)) or (are_suspected and not is_host_failure(seen)):
            names = await self._name_servers(registrable_domain(host))
        of_names = not is_host_failure(seen) or seen.status is Status.DNS_GONE
        return groups_of(host, self._addresses(host), names, of_names=of_names)

    def count(self, host: str, past: Past, groups: Sequence[HostGroup], *, failed: bool) -> None:
        """Counts one visit. What a lost group explains says nothing of wider groups that are not lost."""
        day = self._today()
        is_explained = False
        for group in groups:
            since = self._lost.get(group)
            if since is None and is_explained:
                continue
            if past.is_steady:
                self._add(group, day, self._failure(group, day, host) if failed else Contacts(answered=1))
            elif since is not None and began_in(since, past.failing_since):
                self._add(group, day, Contacts(still=1) if failed else Contacts(back=1))
            if failed and past.is_steady and since is None and (failing := loss_in(group, self._daily(group), day)):
                log.error("a part of the net is lost: %s, %d hosts fail", group.subject, failing.domains)
                self._lost[group] = day
                self._found[group] = failing
            is_explained = is_explained or (failed and group in self._lost)
            self._has_news = self._has_news or failed or group == NAMES or group in self._lost

    def _failure(self, group: HostGroup, day: int, host: str) -> Contacts:
        domain = host_key(registrable_domain(host))
        known = self._daily(group).get(day, NO_CONTACTS).failed
        is_kept = len(known) < DOMAINS_KEPT or domain in known
        return Contacts(failed=frozenset({domain})) if is_kept else Contacts(more=1)

    def _daily(self, group: HostGroup) -> dict[int, Contacts]:
        """A group's contacts as all workers have seen them, with those that this one has not written yet."""
        daily = dict(self._stored.get(group, {}))
        for day in range(self._today(), self._today() - WINDOW_DAYS, -1):
            for new in (self._new.get((group, day)), self._pending(group, day)):
                if new is not None:
                    daily[day] = daily.get(day, NO_CONTACTS) + new
        return daily

    def _add(self, group: HostGroup, day: int, contacts: Contacts) -> None:
        new = self._new[group, day] = (self._new.get((group, day)) or NO_CONTACTS) + contacts
        pending = self._pending(group, day) or NO_CONTACTS
        if group.kind is GroupKind.NAME_SERVERS and (new + pending).domains >= SUSPECTED:
            self._stored.setdefault(group, {})

    def _pending(self, group: HostGroup, day: int) -> Contacts | None:
        return self._outgoing.written.get((group, day)) if self._outgoing else None


class WatchedVisit:
    """One visit: its host counts as answering with its first answer, as failing when the visit has found it so."""

    def __init__(self, losses: Losses, host: str, past: Past, check: Check, *, counts_answer: bool = True) -> None:
        self._losses = losses
        self._host = host
        self._past = past
        self._check = check
        self._counts_answer = counts_answer
        self._is_counted = False

    async def check(self, request: CheckRequest) -> Observation | None:
        """The observation of one check, held if its host is in a group that is lost."""
        seen = await self._check(request)
        if seen is None or seen.not_http:
            return seen
        failed = is_host_failure(seen)
        if not failed and (self._is_counted or not (self._past.is_steady or self._losses.lost)):
            return seen
        groups = await self._losses.groups(self._host, self._past, seen)
        if not failed:
            self._count(groups, failed=False)
            return seen
        return self._held(seen, groups)

    async def failing(self, seen: Observation) -> Observation:
        """Counts the host as failing by its last failure; that is held if a group of its host is lost by it."""
        groups = await self._losses.groups(self._host, self._past, seen)
        self._count(groups, failed=True)
        return self._held(seen, groups)

    def _count(self, groups: Sequence[HostGroup], *, failed: bool) -> None:
        if not self._is_counted:
            self._is_counted = True
            if failed or self._counts_answer:
                self._losses.count(self._host, self._past, groups, failed=failed)

    def _held(self, seen: Observation, groups: Sequence[HostGroup]) -> Observation:
        return replace(seen, held=True) if is_host_failure(seen) and not self._losses.lost.isdisjoint(groups) else seen
