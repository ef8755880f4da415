"""What a token may do of a crawler's work: the store's own work, with what no token may do refused (O-1).

A token lets a machine work that may be lost to somebody else: so it reaches no lease but its own, and no day but today.
One law: a refusal comes before anything is written.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

from weboid.central.crawl.core import Exchanged
from weboid.central.crawl.on_store import StoreAlarms, StoreDays, StoreLosses
from weboid.central.crawl.store_work import StoreWork
from weboid.central.http.doing import NotAllowed
from weboid.central.lending import Lender
from weboid.config import CrawlConfig
from weboid.core.record.moment import Moment
from weboid.core.record.pace import WIDEST_INTERVAL
from weboid.core.record.policy import Policy
from weboid.core.record.record import HostRecord, UrlRecord
from weboid.core.url.keys import UrlKey
from weboid.core.verdict.partial_loss import WINDOW_DAYS, Contacts, Failing, HostGroup
from weboid.store.db.rows import HostKey, StoredHost, StoredUrl
from weboid.store.results.record import Checked, Tally
from weboid.store.schedule.lease import Held, list_foreign, list_own
from weboid.store.schedule.second_look import is_taken
from weboid.store.upkeep.alarm import AlarmKind
from weboid.store.urls.url import find_urls

_AHEAD: Final = 1
"""Days: two clocks at midnight."""

Today = Callable[[], int]


def require_day(day: int, today: int, longest: int = WIDEST_INTERVAL) -> None:
    """Raises NotAllowed for a day that is not about today: so many days ago at most, and never to come."""
    if not today - longest <= day <= today + _AHEAD:
        raise NotAllowed("day", "the day there is not that of this core: set the clock right, there or here")


def require_until(until: Moment, today: int) -> None:
    """Raises NotAllowed for work that is due on a day to come; no past day does harm."""
    require_day(max(until.day, today), today)


class TokenWork(StoreWork):
    """The work of a worker that a token lets in: `worker` begins with the name of the token."""

    def __init__(self, lender: Lender, worker: str, config: CrawlConfig, policy: Policy, today: Today) -> None:
        super().__init__(lender, worker, config, policy)
        self._today = today

    async def lease(self, until: Moment) -> Held:
        """As for any worker; not of a day to come."""
        require_until(until, self._today())
        return await super().lease(until)

    async def renew(self, held: Held) -> set[int]:
        """As for any worker; raises NotAllowed if one of these leases is another's."""
        await self._require_own(held)
        return await super().renew(held)

    async def release(self, held: Held) -> None:
        """As for any worker; raises NotAllowed if one of these leases is another's."""
        await self._require_own(held)
        await super().release(held)

    async def list_hosts(
        self, buckets: Collection[int], *, until: Moment, but: Sequence[HostKey], limit: int
    ) -> Sequence[StoredHost]:
        """As for any worker, of buckets that it holds: one may just have been taken over."""
        require_until(until, self._today())
        own = await self._list_own(buckets)
        return await super().list_hosts(own, until=until, but=but, limit=limit)

    async def list_urls(self, hosts: Sequence[HostKey], day: int) -> Mapping[HostKey, list[StoredUrl]]:
        """As for any worker, of hosts in buckets that it holds; the others have none."""
        require_until(Moment(day), self._today())
        own = await self._list_own({host.bucket for host in hosts})
        found = await super().list_urls([host for host in hosts if host.bucket in own], day)
        return {host: found.get(host, []) for host in hosts}

    async def record(self, batch: Sequence[Checked], held: Held) -> Tally:
        """As for any worker; raises NotAllowed for leases of another, and for days that are not about today.

        A record may name a later day if the stored one does: a clock has gone wrong before.
        """
        longest = await self._find_longest()
        today = self._today()
        stored = await self._find_ahead(batch, today)
        for checked in batch:
            require_day(checked.day, today, longest)
            newest = max(today, stored.get(checked.url.key, today))
            require_day(max(_newest_day(checked), today), newest)
            require_day(checked.due, newest + longest, newest - checked.day + 2 * longest)
        await self._require_own(held)
        return await super().record(batch, held)

    async def require_host(self, host: HostKey, client: str) -> None:
        """Raises NotAllowed unless this worker holds the host's bucket, or looks at a URL there for another place."""
        async with self._pool.connection() as conn:
            if host.bucket in await list_own(conn, self._worker, [host.bucket]) or await is_taken(conn, client, host):
                return
        raise NotAllowed("rest", "a host that this crawler neither holds nor looks at gets no pause from it")

    async def _find_ahead(self, batch: Sequence[Checked], today: int) -> dict[UrlKey, int]:
        """The newest stored days of those URLs whose sent record names a day to come."""
        ahead = [checked.url.key for checked in batch if _newest_day(checked) > today + _AHEAD]
        if not ahead:
            return {}
        async with self._pool.connection() as conn:
            found = await find_urls(conn, ahead)
        return {key: _newest_of(known.record, known.host) for key, known in found.items()}

    async def _find_longest(self) -> int:
        """The longest interval of any URL, in days."""
        paces = await self.find_paces()
        return max(WIDEST_INTERVAL, *(policy.longest_interval for policy in (paces.usual, *paces.of_hosts.values())))

    async def _list_own(self, buckets: Collection[int]) -> set[int]:
        async with self._pool.connection() as conn:
            return await list_own(conn, self._worker, buckets)

    async def _require_own(self, held: Held) -> None:
        async with self._pool.connection() as conn:
            if await list_foreign(conn, self._worker, held):
                raise NotAllowed("lease", "a lease of another crawler is its own: only who holds a bucket may use it")


class TokenDays(StoreDays):
    """The day, which a token may not set."""

    def __init__(self, lender: Lender, today: Today) -> None:
        super().__init__(lender)
        self._today = today

    async def accept(self, day: int, *, is_over: bool) -> None:
        """As for any worker; raises NotAllowed for a day that is not about today."""
        require_day(day, self._today())
        await super().accept(day, is_over=is_over)

    async def confirm(self, day: int) -> None:
        """Raises NotAllowed: after a jump an operator looks at the clock of the database's server."""
        raise NotAllowed(
            "confirm-day",
            "a day is confirmed on the machine of the core alone: if it is right, run there "
            "`weboid crawl --once --confirm-day`",
        )


class TokenLosses(StoreLosses):
    """The exchange of losses, of days about today."""

    def __init__(self, lender: Lender, today: Today) -> None:
        super().__init__(lender)
        self._today = today

    async def exchange(
        self, day: int, written: Mapping[tuple[HostGroup, int], Contacts], found: Mapping[HostGroup, Failing]
    ) -> Exchanged:
        """As for any worker; raises NotAllowed for a day that is not about today, and for contacts of a day to come.

        Contacts that are too old to count any more are left out.
        """
        today = self._today()
        require_day(day, today)
        require_day(max([today, *(seen_on for _, seen_on in written)]), today)
        counting = {key: contacts for key, contacts in written.items() if key[1] > today - WINDOW_DAYS}
        return await super().exchange(day, counting, found)


class TokenAlarms(StoreAlarms):
    """The alarms of a crawler, of days about today."""

    def __init__(self, lender: Lender, today: Today) -> None:
        super().__init__(lender)
        self._today = today

    async def raise_alarm(self, kind: AlarmKind, day: int, detail: str) -> None:
        """As for any worker; raises NotAllowed for a day that is not about today."""
        require_day(day, self._today())
        await super().raise_alarm(kind, day, detail)


def _newest_day(checked: Checked) -> int:
    return max(_newest_of(checked.record, host) for host in (checked.host_before, checked.host_after))


def _newest_of(record: UrlRecord, host: HostRecord) -> int:
    """The newest day that a record or its host's names."""
    return max(record.checked or 0, record.streak.until or 0, host.streak.until or 0)
