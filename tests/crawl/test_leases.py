"""The leases of a round: nothing is written without them, and a bucket that is given back was not taken over."""

import asyncio

import pytest
from support.observations import FINE, LOST
from support.stored import open_wiki

from weboid.config import CrawlConfig
from weboid.core.observe.check_request import CheckRequest
from weboid.core.observe.observation import Observation
from weboid.core.record.moment import Moment
from weboid.core.record.policy import DEFAULT
from weboid.crawl.leases import Leases
from weboid.crawl.visit import Visit, postponed
from weboid.remote.crawl.work import Work
from weboid.store.results.record import Checked
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


@pytest.mark.parametrize(("first", "checked"), [(FINE, 1), (LOST, 9)])
async def test_a_visit_yields_to_another_worker_unless_it_has_seen_a_failure(
    database: str, first: Observation, checked: int
) -> None:
    """The URLs of a host that fail are compared with its others: whether it refuses us is seen from all of them."""
    async with open_wiki(database, {1: [f"http://a.demo/{n}" for n in range(9)]}) as wiki:
        work, done = Work(wiki.pool, "test", CONFIG, DEFAULT), list[Checked]()
        [host] = await work.list_hosts(await work.lease(Moment(100)), until=Moment(100), but=[], limit=10)

        async def check(_: CheckRequest) -> Observation:
            return FINE if done else first

        async def report(one: Checked) -> None:
            done.append(one)

        visit = Visit(
            host,
            (await work.list_urls([host.key], 100))[host.key],
            check=check,
            second_opinion=None,
            report=report,
            now=lambda: Moment(100),
            policy=DEFAULT,
            stopping=lambda: False,
            leaving=lambda: bool(done),
        )
        await visit.run()
        assert len({each.url.key for each in done}) == checked


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
