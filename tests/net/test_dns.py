"""DNS: the results of name servers' answers, the cache, and that the guard checks all addresses (C-5, C-13)."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from ipaddress import ip_network
from typing import cast
from unittest.mock import Mock

import pytest
from dnslib import QTYPE, RR, A, DNSRecord
from support.misbehaving import Answer as DnsAnswer
from support.misbehaving import NameServer, Zone, at_once, name_server
from support.waiting import until

from weboid.config import NetConfig
from weboid.core.observe.observe import observation_of
from weboid.core.record.reasons import Reason
from weboid.core.record.status import Status
from weboid.errors import ConfigError
from weboid.net import dns
from weboid.net.dns import LookupFailed, Resolver
from weboid.net.fetch import fetch_answer
from weboid.net.guard import Guard
from weboid.net.outbound import open_session

LOOPBACK = Guard(permit=(ip_network("127.0.0.0/8"),))


@asynccontextmanager
async def resolving(zone: Zone, guard: Guard = LOOPBACK, ttl_s: int = 60) -> AsyncIterator[tuple[Resolver, NameServer]]:
    async with name_server(zone, ttl_s) as server:
        resolver = Resolver(guard, (server.address,), 60)
        yield resolver, server
        await resolver.close()


async def addresses(resolver: Resolver, name: str) -> list[str]:
    return [result["host"] for result in await resolver.resolve(name, 80)]


@pytest.mark.parametrize(
    ("answer", "reason", "status"),
    [
        (3, Reason.DNS_GONE, Status.DNS_GONE),
        ([], Reason.DNS_GONE, Status.DNS_GONE),
        (["=nowhere.test"], Reason.DNS_GONE, Status.DNS_GONE),
        (2, Reason.DNS_ERROR, Status.DNS_ERROR),
        (5, Reason.DNS_ERROR, Status.DNS_ERROR),
        (None, Reason.DNS_ERROR, Status.DNS_ERROR),
        (["10.0.0.1"], Reason.NOT_PUBLIC, Status.NETWORK),
        (["=inside.test"], Reason.NOT_PUBLIC, Status.NETWORK),
        (["::1"], Reason.NOT_PUBLIC, Status.NETWORK),
        (["::ffff:a9fe:a9fe", "64:ff9b::a00:1", "fe80::1"], Reason.NOT_PUBLIC, Status.NETWORK),
    ],
)
async def test_what_a_name_server_says_becomes_a_reason(
    settings: NetConfig, answer: DnsAnswer, reason: Reason, status: Status
) -> None:
    zone: Zone = {"site.test": answer, "inside.test": ["192.168.1.1"], "nowhere.test": []}
    async with (
        name_server(zone) as server,
        open_session(replace(settings, dns=(server.address,), connect_s=0.4 if answer is None else 30)) as session,
    ):
        seen = await fetch_answer(session, "http://site.test/", turn=at_once)
    assert seen.fault is reason
    assert observation_of(seen).status is status


async def test_the_address_that_was_tried_is_reported_without_a_new_look_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dns, "SHORTEST_TTL_S", 0)
    zone: Zone = {"site.test": ["127.0.0.7"]}
    async with resolving(zone, ttl_s=0) as (resolver, server):
        assert resolver.address_of("site.test") is None
        await addresses(resolver, "site.test")
        asked = list(server.asked)
        assert (resolver.address_of("SITE.test."), resolver.address_of("127.0.0.9")) == ("127.0.0.7", "127.0.0.9")
        assert server.asked == asked
        zone["site.test"] = 3
        with pytest.raises(LookupFailed):
            await resolver.addresses("site.test")
        assert resolver.address_of("site.test") == "127.0.0.7"


async def test_name_servers_are_asked_for_once_and_may_be_unknown_or_have_names_too_long() -> None:
    async with resolving({"site.test": ["127.0.0.7", "@NS2.host.test", "@ns1.host.test"], "a.test": []}) as (
        resolver,
        server,
    ):
        for _ in range(2):
            assert await resolver.name_servers_of("site.test") == "ns1.host.test ns2.host.test"
            assert await resolver.name_servers_of("a.test") is None
            assert await resolver.name_servers_of("nowhere.test") is None
        assert sorted(server.asked) == ["NS a.test", "NS nowhere.test", "NS site.test"]
    bytes_as_escapes = ".".join(["\\001" * 60] * 4)
    async with resolving({"site.test": ["@ns1.host.test", f"@{bytes_as_escapes}"]}) as (resolver, _):
        assert await resolver.name_servers_of("site.test") == "ns1.host.test"


async def test_many_who_ask_at_once_are_one_look_up_which_no_one_who_gives_up_ends() -> None:
    async with resolving({"site.test": ["127.0.0.1"]}) as (resolver, server):
        found = await asyncio.gather(*(addresses(resolver, name) for name in ["site.test", "SITE.test."] * 20))
    assert found == [["127.0.0.1"]] * 40
    assert sorted(server.asked) == ["A site.test", "AAAA site.test"]
    async with resolving({"site.test": ["127.0.0.1"]}) as (resolver, _):
        hasty, patient = (asyncio.create_task(addresses(resolver, "site.test")) for _ in range(2))
        await asyncio.sleep(0)
        hasty.cancel()
        assert await patient == ["127.0.0.1"]


@pytest.mark.parametrize(
    ("answer", "first", "more", "questions"),
    [
        (["127.0.0.1"], ["127.0.0.1"], [], "A"),
        (["127.0.0.1", "::1"], ["127.0.0.1"], ["::1"], "A"),
        (["::1"], ["::1"], ["::1"], "A AAAA"),
        (["10.0.0.1", "::1"], ["::1"], ["::1"], "A AAAA"),
    ],
)
async def test_ipv6_is_asked_for_where_ipv4_will_not_do(
    answer: list[str], first: list[str], more: list[str], questions: str
) -> None:
    guard = Guard(permit=(*LOOPBACK.permit, ip_network("::1/128")))
    async with resolving({"site.test": answer}, guard) as (resolver, server):
        for _ in range(2):
            assert list(await resolver.addresses("site.test")) == first
        assert server.asked == [f"{kind} site.test" for kind in questions.split()]
        for _ in range(2):
            assert list(await resolver.more_addresses("site.test")) == more
        assert server.asked.count("AAAA site.test") == 1
        assert await addresses(resolver, "site.test") == [*first, *(each for each in more if each not in first)]


class Truncating(asyncio.DatagramProtocol):
    """Says to every question that the answer is too long for a datagram."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        response = DNSRecord.parse(data).reply()
        response.header.tc = 1
        self.transport.sendto(response.pack(), addr)


async def test_an_answer_too_long_for_a_datagram_is_fetched_by_tcp() -> None:
    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError):
            while length := int.from_bytes(await reader.readexactly(2), "big"):
                question = DNSRecord.parse(await reader.readexactly(length))
                response = question.reply()
                for number in range(1, 200):
                    response.add_answer(RR(question.q.qname, QTYPE.A, rdata=A(f"127.0.0.{number}"), ttl=60))
                packed = response.pack()
                writer.write(len(packed).to_bytes(2, "big") + packed)
        writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    address = server.sockets[0].getsockname()
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(Truncating, local_addr=address)
    addresses = tuple(f"127.0.0.{number}" for number in range(1, dns.ADDRESSES + 1))
    async with server:
        resolver = Resolver(LOOPBACK, (f"127.0.0.1:{address[1]}",), 10)
        for name in ("one.test", "two.test"):
            assert await resolver.addresses(name) == addresses
        await resolver.close()
        transport.close()
        await asyncio.sleep(0.01)


async def test_no_more_questions_are_under_way_than_answers_fit_into_a_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dns, "_BURST_S", 60)
    zone: Zone = {f"{n}.silent.test": None for n in range(3 * dns._BURST)}
    async with resolving(zone) as (resolver, server):
        waiting = [asyncio.create_task(resolver.addresses(name)) for name in zone]
        await until(lambda: len(server.asked) >= dns._BURST)
        await asyncio.sleep(0.1)
        assert len({*server.asked}) == dns._BURST
        await resolver.close()
        await asyncio.gather(*waiting, return_exceptions=True)


async def test_names_that_nobody_answers_do_not_keep_others_waiting() -> None:
    names = [f"{n}.silent.test" for n in range(dns._BURST + 1)]
    zone: Zone = {"site.test": ["127.0.0.1"], **dict.fromkeys(names)}
    async with resolving(zone) as (resolver, _):
        waiting = [asyncio.create_task(resolver.addresses(name)) for name in names]
        async with asyncio.timeout(50):
            assert await resolver.addresses("site.test") == ("127.0.0.1",)
        await resolver.close()
        await asyncio.gather(*waiting, return_exceptions=True)


async def test_answers_and_failures_are_remembered_and_of_many_addresses_some() -> None:
    async with resolving({"site.test": ["127.0.0.1"]}) as (resolver, server):
        for _ in range(3):
            assert await addresses(resolver, "site.test") == ["127.0.0.1"]
            with pytest.raises(LookupFailed):
                await addresses(resolver, "gone.test")
    assert len(server.asked) == 4
    zone: Zone = {f"{count}.test": [f"127.0.0.{n}" for n in range(count)] for count in (10, 60)}
    async with resolving(zone) as (resolver, _):
        assert [len(await addresses(resolver, name)) for name in zone] == [10, dns.ADDRESSES]


async def test_the_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dns, "NAMES", 3)
    monkeypatch.setattr(dns, "LOOKUPS_A_CHANNEL", 4)
    zone: Zone = {f"{n}.test": ["127.0.0.1"] for n in range(10)}
    async with resolving(zone) as (resolver, server):
        for n in range(10):
            await addresses(resolver, f"{n}.test")
        assert list(resolver._known) == ["7.test", "8.test", "9.test"]
        # c-ares' own memory went with its old channel: an evicted name is asked for anew.
        await addresses(resolver, "0.test")
    assert server.asked.count("A 0.test") == 2


async def test_a_query_waits_for_the_next_channel_if_one_cannot_be_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dns, "LOOKUPS_A_CHANNEL", 0)
    async with resolving({"site.test": ["127.0.0.1"]}) as (resolver, _), asyncio.timeout(10):
        open_channel = resolver._new_channel
        monkeypatch.setattr(resolver, "_new_channel", Mock(side_effect=ConfigError("no open file is left")))
        with pytest.raises(ConfigError):
            await addresses(resolver, "site.test")
        monkeypatch.setattr(resolver, "_new_channel", open_channel)
        assert await addresses(resolver, "site.test") == ["127.0.0.1"]


@pytest.mark.parametrize("name", ["localhost", "printer", "127.1", "0x7f.1", "a..b.test", "x" * 70 + ".test", "\u3002"])
async def test_no_name_is_answered_by_the_machine_itself(name: str) -> None:
    async with resolving({}) as (resolver, _):
        with pytest.raises(LookupFailed) as failed:
            await resolver.resolve(name, 80)
    assert failed.value.code in dns.NO_NAME


async def test_silent_name_servers_of_our_own_are_held_against_nobody(settings: NetConfig) -> None:
    async with name_server({}) as server:
        closed = server.address
    async with open_session(replace(settings, dns=(closed,))) as session:
        with pytest.raises(LookupFailed) as raised:
            await fetch_answer(session, "http://site.test/", turn=at_once)
    assert raised.value.code in dns.NO_SERVER


@pytest.mark.parametrize(("root", "is_ours"), [(None, True), ([], False)])
async def test_a_look_up_without_an_answer_is_our_own_fault_unless_others_are_answered(
    monkeypatch: pytest.MonkeyPatch, root: DnsAnswer, is_ours: bool
) -> None:
    monkeypatch.setattr(dns, "_TRY_S", 0.3 if is_ours else 30.0)
    async with name_server({"site.test": None, "": root}) as server:
        resolver = Resolver(LOOPBACK, (server.address,), 0.1)
        with pytest.raises(LookupFailed) as raised:
            await resolver.addresses("site.test")
        await resolver.close()
    assert (raised.value.code in dns.NO_SERVER) == is_ours


async def test_a_name_server_that_is_none_is_a_configuration_error(settings: NetConfig) -> None:
    with pytest.raises(ConfigError, match=r"not-an-address"):
        async with open_session(replace(settings, dns=("not-an-address",))):
            pass
