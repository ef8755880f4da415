"""No domain and no address has more than its share of a round's places (C-3)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from ipaddress import ip_network

import pytest
from support.misbehaving import NameServer, Silence, Zone, name_server, reply, serve
from support.observations import FINE
from support.stored import NAMES_ALONE, WikiInStore, key, open_wiki

from weboid.checking.checker import Checker
from weboid.checking.turns import LocalTurns
from weboid.config import CrawlConfig, NetConfig
from weboid.core.observe.observation import Observation
from weboid.core.record.moment import Moment
from weboid.core.record.policy import DEFAULT
from weboid.core.record.record import UNKNOWN_HOST
from weboid.crawl import round as rounds
from weboid.crawl.round import Round
from weboid.crawl.shares import ASIDE, LEAST_ADDRESS, LEAST_DOMAIN, Shares, Waiting
from weboid.net.outbound import open_session
from weboid.remote.crawl.work import Work
from weboid.store.db.rows import HostKey, StoredHost

NET = NetConfig(user_agent="test", permit=(ip_network("127.0.0.0/8"),), connect_s=30.0, answer_s=30.0, connections=100)
PLACES = 151


def host(name: str, number: int = 0) -> StoredHost:
    return StoredHost(HostKey(number % 4096, number), name, UNKNOWN_HOST)


def test_a_domain_and_an_address_have_their_shares_and_the_address_the_larger_one() -> None:
    shares = Shares(1_600)
    names = [host(f"h{number}.wild.demo", number) for number in range(300)]
    assert len([each for each in names if shares.take(each)]) == shares.most_of_domain == 4
    others = [host(f"www.site{number}.demo", 1_000 + number) for number in range(900)]
    assert all(shares.take(each) for each in others)
    assert sum(shares.take_at(each.key, "192.0.2.1") for each in others) == shares.most_of_address == 50
    assert all(shares.take_at(each.key, None) for each in others)


def test_a_small_round_leaves_everybody_some_places() -> None:
    shares = Shares(3)
    assert (shares.most_of_domain, shares.most_of_address) == (LEAST_DOMAIN, LEAST_ADDRESS)


def test_who_waited_longest_tries_again_when_one_of_the_group_gives_its_place_back() -> None:
    shares = Shares(3)
    names = [host(f"h{number}.wild.demo", number) for number in range(LEAST_DOMAIN + 3)]
    first = [each for each in names if shares.take(each)]
    later = [Waiting(each, 1) for each in names[LEAST_DOMAIN:]]
    assert all(shares.set_aside(each) for each in later)
    assert shares.aside == [each.host.key for each in later]
    assert shares.give_back(first[0].key) == [later[0]]
    assert shares.take(later[0].host)
    assert not shares.take(host("another.wild.demo", 99))
    assert shares.give_back(first[1].key) == [later[1]]
    # Meanwhile a place is free, so a host that was refused need not wait.
    assert not shares.set_aside(Waiting(host("another.wild.demo", 99), 1))
    for each in (*first[2:], later[0].host):
        shares.give_back(each.key)
    assert shares.aside == []


def test_who_waits_is_not_forgotten_when_the_next_in_line_has_gone_to_another_worker() -> None:
    shares = Shares(3)
    *first, gone, kept = [host(f"h{number}.wild.demo", number) for number in range(LEAST_DOMAIN + 2)]
    assert all(shares.take(each) for each in first)
    for waiting in (gone, kept):
        assert not shares.take(waiting)
        assert shares.set_aside(Waiting(waiting, 1))
    assert shares.take_back() == []
    assert shares.give_back(first[0].key) == [Waiting(gone, 1)]
    assert shares.take_back() == [Waiting(kept, 1)]
    assert shares.aside == []


def test_the_hosts_set_aside_are_bounded() -> None:
    shares = Shares(3)
    kept = 0
    for number in range(ASIDE + 100):
        each = host(f"h{number}.wild.demo", number)
        if not shares.take(each):
            kept += shares.set_aside(Waiting(each, 1))
    assert kept == len(shares.aside) == ASIDE
    assert not shares.has_room


@asynccontextmanager
async def crawling(
    wiki: WikiInStore, names: NameServer, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[Round, asyncio.Task[object]]]:
    """A round over real sockets, ended at once whatever is still under way."""
    monkeypatch.setattr(rounds, "_GRACE_S", 0.1)
    async with open_session(replace(NET, dns=(names.address,))) as session:
        checker = Checker(session, LocalTurns(0.0), CrawlConfig(delay=0.0))
        config = CrawlConfig(delay=0.0)
        work = Round(
            Work(wiki.pool, "test", config, DEFAULT),
            checker.ask,
            NAMES_ALONE,
            now=lambda: Moment(100),
            config=config,
            connections=NET.connections,
            policy=DEFAULT,
            find_address=checker.find_address,
        )
        running = asyncio.create_task(work.run())
        try:
            yield work, running
        finally:
            work.stop()
            await running


async def written(wiki: WikiInStore, suffix: str) -> int:
    rows = await wiki.rows("SELECT host.host FROM url JOIN host USING (bucket, host_key) WHERE asked IS NOT NULL")
    return sum(str(name).endswith(suffix) for (name,) in rows)


@pytest.mark.parametrize("kind", ["domain", "address"])
async def test_silent_names_take_at_most_their_share(database: str, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    pattern = "h{}.wild.demo" if kind == "domain" else "www.wild{}.demo"
    silent = [pattern.format(number) for number in range(400)]
    lively = [f"www.site{number}.lively" for number in range(150)]
    zone: Zone = {name: ["127.0.0.2"] for name in silent}
    zone |= {name: [f"127.0.0.{3 + number % 5}"] for number, name in enumerate(lively)}
    shares = Shares(PLACES)
    share = shares.most_of_domain if kind == "domain" else shares.most_of_address
    fine = reply(200, "Connection: close", body=b"<html><title>A page</title>Some words</html>")
    async with serve(lambda asked: Silence(), "127.0.0.2") as trap, name_server(zone) as names:
        links = {f"http://{name}:{trap.port}/" for name in silent}
        servers = [
            serve(lambda asked: fine if asked.method == "GET" else reply(405), f"127.0.0.{n}") for n in range(3, 8)
        ]
        ports = [(await server.__aenter__()).port for server in servers]
        links |= {f"http://{name}:{ports[number % 5]}/" for number, name in enumerate(lively)}
        async with open_wiki(database, {1: sorted(links)}) as wiki, crawling(wiki, names, monkeypatch):
            async with asyncio.timeout(60):
                while await written(wiki, ".lively") < len(lively):
                    await asyncio.sleep(0.05)
            assert 0 < trap.connections <= share
            assert await written(wiki, ".demo") == 0
        for server in servers:
            await server.__aexit__(None, None, None)


async def test_hosts_set_aside_are_visited_in_the_same_round(database: str) -> None:
    urls = [f"http://h{number}.wild.demo/" for number in range(120)]
    most = 0
    open_now: set[str] = set()

    async def slow(url: str) -> Observation:
        nonlocal most
        open_now.add(url)
        most = max(most, len(open_now))
        await asyncio.sleep(0.002)
        open_now.discard(url)
        return FINE

    async with open_wiki(database, {1: urls}) as wiki:
        assert (await wiki.round(100, lambda url, day: slow(url))).written == len(urls)
        assert sorted(url for _, url in wiki.asked) == sorted(urls)
        assert most <= LEAST_DOMAIN


async def test_too_many_hosts_of_a_domain_are_put_off_a_day(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weboid.crawl.shares.ASIDE", 20)
    urls = [f"http://h{number}.wild.demo/" for number in range(100)]

    async def until_some_are_put_off(url: str) -> Observation:
        while not await wiki.rows("SELECT FROM host WHERE next_day = 101"):
            await asyncio.sleep(0.05)
        return FINE

    async with open_wiki(database, {1: urls}) as wiki:
        tally = await wiki.round(100, lambda url, day: until_some_are_put_off(url))
        assert tally.written + tally.postponed == len(urls)
        assert tally.postponed >= 20
        assert [(await wiki.known(url)).due for url in urls].count(101) == tally.postponed
        assert len({key(url).bucket for url in urls}) == 1
