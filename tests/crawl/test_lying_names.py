"""Name servers that deny names that exist (C-16): what fails by them alone is no strike, and an alarm says so.

The whole way, with the command's own crawler over weeks, on a real name server and real hosts.
"""

from collections.abc import Collection
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from io import StringIO
from ipaddress import ip_network

import pytest
from rich.console import Console
from support.misbehaving import Act, Asked, NameServer, Site, Zone, name_server, reply, serve
from support.stored import WikiInStore, open_wiki

from weboid.cli.crawl import CrawlOptions, crawl
from weboid.config import Config, CrawlConfig, load_config
from weboid.core.record.moment import Moment
from weboid.core.verdict.verdict import Verdict
from weboid.errors import WeboidError
from weboid.store.upkeep.alarm import Alarm, AlarmKind, list_alarms

BEGIN = 100
LIES = 107
"""The day from which name servers deny names."""
CANARY = "canary.demo"
ROOT: Zone = {"": ["@ns.demo"]}
"""Servers that know the root at least, whatever else they deny."""


def page(request: Asked) -> Act:
    return reply(200, body=b"<p>A mill.")


@dataclass
class Scene:
    """A wiki whose links are at hosts with names, and one at an address."""

    wiki: WikiInStore
    site: Site
    zone: Zone
    names: NameServer
    canaries: tuple[str, ...]

    def url(self, host: str) -> str:
        return self.site.url("/", host=host)

    @property
    def config(self) -> Config:
        config = load_config(None, {})
        net = replace(config.net, permit=(ip_network("127.0.0.0/8"),), dns=(self.names.address,), connections=50)
        return replace(config, contact="tests", net=net, crawl=CrawlConfig(delay=0.0, canaries=self.canaries))

    async def live(self, days: range) -> dict[int, list[Alarm]]:
        """Rounds on the days on which anything is due, each by a process of its own; the alarms after each."""
        alarms = {}
        for day in days:
            [(due,)] = await self.wiki.rows("SELECT min(next_day) FROM host")
            if not isinstance(due, int) or due > day:
                continue
            options = CrawlOptions(True, Console(file=StringIO()), confirmed=True)
            with suppress(WeboidError):  # a round that was given up, as its alarm says
                await crawl(self.config, self.wiki.pool, partial(Moment, day, day % 24), options)
            alarms[day] = await self.wiki.do(list_alarms)
        return alarms

    async def dead(self, hosts: Collection[str]) -> set[str]:
        return {host for host in hosts if (await self.wiki.finding(self.url(host))).verdict is Verdict.DEAD}

    async def strikes(self, hosts: Collection[str]) -> int:
        """The strikes of these hosts that count: not those that are held."""
        streaks = [(await self.wiki.known(self.url(host))).host.streak for host in hosts]
        return sum(streak.strikes for streak in streaks if not streak.evidence.held)


async def open_scene(stack: AsyncExitStack, database: str, hosts: Collection[str], *canaries: str) -> Scene:
    site = await stack.enter_async_context(serve(page))
    zone: Zone = {host: [site.ip] for host in (*hosts, CANARY)} | ROOT
    names = await stack.enter_async_context(name_server(zone))
    urls = [site.url("/", host=host) for host in hosts]
    wiki = await stack.enter_async_context(open_wiki(database, {1: [*urls, site.url("/by-address")]}))
    return Scene(wiki, site, zone, names, tuple(site.url("/", host=canary) for canary in canaries))


FEW = ["mill.demo", "dam.org", "weir.net"]


@pytest.mark.long
async def test_servers_that_deny_every_name_kill_no_site_though_links_by_address_work(database: str) -> None:
    async with AsyncExitStack() as stack:
        scene = await open_scene(stack, database, FEW)
        await scene.live(range(BEGIN, LIES))
        scene.zone.clear()
        alarms = await scene.live(range(LIES, LIES + 40))
        assert await scene.dead(FEW) == set()
        assert await scene.strikes(FEW) == 0
        assert all([alarm.kind for alarm in raised] == [AlarmKind.OFFLINE] for raised in alarms.values())
        scene.zone |= {host: [scene.site.ip] for host in FEW} | ROOT
        alarms = await scene.live(range(LIES + 40, LIES + 50))
        assert [*alarms.values()][-1] == []
        assert {(await scene.wiki.finding(scene.url(host))).verdict for host in FEW} == {Verdict.WORKING}


@pytest.mark.long
async def test_servers_that_deny_the_name_of_a_canary_are_not_believed_but_addresses_are(database: str) -> None:
    async with AsyncExitStack() as stack:
        scene = await open_scene(stack, database, FEW, CANARY)
        await scene.live(range(BEGIN, LIES))
        # One is still answered; a resolver that filters knows the root, too.
        for host in (*FEW[1:], CANARY):
            del scene.zone[host]
        alarms = await scene.live(range(LIES, LIES + 40))
        assert await scene.dead(FEW) == set()
        assert await scene.strikes(FEW) == 0
        raised_all = [alarm for raised in alarms.values() for alarm in raised]
        assert {alarm.kind for alarm in raised_all} == {AlarmKind.OFFLINE}
        assert all(CANARY in alarm.detail and "WEBOID_NET_DNS" in alarm.detail for alarm in raised_all)
        by_address = await scene.wiki.known(scene.site.url("/by-address"))
        assert by_address.record.checked is not None
        assert by_address.record.checked >= LIES + 33
        scene.zone |= {host: [scene.site.ip] for host in (*FEW, CANARY)}
        alarms = await scene.live(range(LIES + 40, LIES + 50))
        assert [*alarms.values()][-1] == []


async def test_a_public_suffix_that_is_away_for_two_days_is_held(database: str) -> None:
    """All names below us.kg were denied for two days, as reported (FreeDomain-Issues#863)."""
    below = [f"mill{number}.us.kg" for number in range(18)]
    others = [f"mill{number}.kg" for number in range(30)]
    async with AsyncExitStack() as stack:
        scene = await open_scene(stack, database, [*below, *others])
        await scene.live(range(BEGIN, BEGIN + 1))
        for host in below:
            del scene.zone[host]
        alarms = await scene.live(range(LIES, LIES + 2))
        assert {alarm.subject for raised in alarms.values() for alarm in raised} == {"top-level-domain us.kg"}
        scene.zone |= {host: [scene.site.ip] for host in below}
        alarms = await scene.live(range(LIES + 2, LIES + 12))
        assert [*alarms.values()][-1] == []
        assert await scene.strikes(below) == 0
