"""The leases of a round: what is given back while leases are renewed was not taken over by anybody."""

import asyncio

from support.stored import open_wiki

from weboid.config import CrawlConfig
from weboid.core.record.moment import Moment
from weboid.core.record.policy import DEFAULT
from weboid.crawl.leases import Leases
from weboid.remote.crawl.on_store import StoreWork
from weboid.store.schedule.lease import Held

CONFIG = CrawlConfig(delay=0.0, lease_s=60)


class _RenewedMeanwhile(StoreWork):
    """The store as it is; leases are renewed between the end of each and the moment at which that is known."""

    renewals = 0

    async def renew(self, held: Held) -> set[int]:
        ours = await super().renew(held)
        self.renewals += 1
        return ours

    async def release(self, held: Held) -> None:
        await super().release(held)
        before = self.renewals
        async with asyncio.timeout(60):
            while self.renewals < before + 2:
                await asyncio.sleep(0.01)


async def test_what_is_given_back_was_not_taken_over(database: str) -> None:
    async with open_wiki(database, {1: [f"http://h{host}.demo/" for host in range(5)]}) as wiki:
        lost: list[int] = []
        leases = Leases(_RenewedMeanwhile(wiki.pool, "test", CONFIG, DEFAULT), lease_s=0.06, lost=lost.append)
        assert await leases.add(Moment(100))
        keeping = asyncio.create_task(leases.keep())
        busy = next(iter(leases.held))
        await leases.release_all_but([busy])
        assert leases.held.keys() == {busy}
        await leases.release_all_but()
        assert (dict(leases.held), lost) == ({}, [])
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
