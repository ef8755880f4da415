"""The leases of a round: nothing is written without them, and a bucket that is given back was not taken over."""

import asyncio

from support.stored import open_wiki

from weboid.config import CrawlConfig
from weboid.core.record.moment import Moment
from weboid.core.record.policy import DEFAULT
from weboid.crawl.leases import Leases
from weboid.crawl.visit import postponed
from weboid.remote.crawl.work import Work
from weboid.store.schedule.lease import Held

CONFIG = CrawlConfig(delay=0.0, lease_s=60)


class _RenewedMeanwhile(Work):
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


async def test_a_check_is_not_written_without_the_lease_of_its_bucket(database: str) -> None:
    async with open_wiki(database, {1: ["http://a.demo/"]}) as wiki:
        work = Work(wiki.pool, "test", CONFIG, DEFAULT)
        held = await work.lease(Moment(100))
        [host] = await work.list_hosts(held, until=Moment(100), but=[], limit=10)
        checks = postponed(host, (await work.list_urls([host.key], 100))[host.key], 100)
        earlier = {bucket: epoch - 1 for bucket, epoch in held.items()}
        for worker, wrong in (("test", {}), ("test", earlier), ("other", held)):
            tally = await Work(wiki.pool, worker, CONFIG, DEFAULT).record(checks, wrong)
            assert (tally.lost, tally.postponed) == (1, 0), (worker, wrong)
        tally = await work.record(checks, held)
        assert (tally.lost, tally.postponed) == (0, 1)


async def test_no_call_of_another_worker_next_to_the_database_reaches_a_lease(database: str) -> None:
    async with open_wiki(database, {1: ["http://a.demo/"]}) as wiki:
        work, other = (Work(wiki.pool, name, CONFIG, DEFAULT) for name in ("test", "other"))
        held, until = await work.lease(Moment(100)), Moment(100)
        [host] = await work.list_hosts(held, until=until, but=[], limit=10)
        assert await other.list_hosts(held, until=until, but=[], limit=10) == []
        assert await other.list_urls([host.key], 100) == {host.key: []}
        assert await other.renew(held) == set()
        await other.release(held)
        [url] = (await work.list_urls([host.key], 100))[host.key]
        assert (await other.record(postponed(host, [url], 100), held)).lost == 1
        assert await work.renew(held) == held.keys()


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
