"""Opening connections: every address passes the guard, and one that fails or hangs does not block the next one. Which
address is connected to, and which error is reported if none can be (C-13, C-16).
"""

import asyncio
import errno
import socket
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from ipaddress import ip_network

import pytest
from support.misbehaving import Zone, name_server, reply, serve

from weboid.config import NetConfig
from weboid.core.record.reasons import Reason
from weboid.net import dial
from weboid.net.dial import Dial, Dialer, NoIpv6, NotConnected
from weboid.net.dns import Resolver
from weboid.net.faults import fault_of
from weboid.net.guard import BadPort, Guard, NotPublic
from weboid.net.watch import open_watch

LOOPBACK = Guard(permit=(ip_network("127.0.0.0/8"),), deny=(ip_network("127.0.0.66/32"),))
ONE, TWO, DENIED = "127.0.0.11", "127.0.0.12", "127.0.0.66"


async def dialled(
    addresses: Sequence[str],
    port: int,
    *,
    guard: Guard = LOOPBACK,
    ipv6: bool = False,
    more: Callable[[], Awaitable[Sequence[str]]] | None = None,
) -> str | NotConnected:
    ended: asyncio.Future[str | NotConnected] = asyncio.get_running_loop().create_future()

    watch = open_watch()

    def connected(sock: socket.socket) -> None:
        watch.forget(sock.fileno())
        with sock:
            ended.set_result(str(sock.getpeername()[0]))

    way = Dial(guard, addresses, port, watch=watch, ipv6=ipv6, connected=connected, failed=ended.set_result, more=more)
    way.begin()
    try:
        async with asyncio.timeout(60):
            return await ended
    finally:
        way.close()
        watch.close()
        await asyncio.sleep(0.01)  # the server of the test takes what was connected before it ends


@contextmanager
def silent(ip: str) -> Iterator[int]:
    """A port that takes no connection and refuses none."""
    with socket.socket() as listening, socket.socket() as first, socket.socket() as second:
        listening.bind((ip, 0))
        listening.listen(0)
        for filling in (first, second):
            filling.setblocking(False)
            filling.connect_ex(listening.getsockname())
        yield listening.getsockname()[1]


async def test_the_first_address_that_takes_us_is_taken_and_no_more_are_looked_for() -> None:
    async with serve(lambda _: reply(200), ip=ONE) as site:
        assert await dialled([ONE, TWO], site.port) == ONE

    async def more() -> list[str]:
        raise AssertionError

    async with serve(lambda _: reply(200), ip=ONE) as site:
        assert await dialled([ONE], site.port, more=more) == ONE


async def test_the_next_address_is_dialled_as_soon_as_one_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dial, "STAGGER_S", 60)
    async with serve(lambda _: reply(200), ip=TWO) as site:
        assert await dialled([ONE, ONE, TWO], site.port) == TWO


async def test_an_address_that_hangs_gets_company(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dial, "STAGGER_S", 0.01)
    with silent(ONE) as port, socket.create_server((TWO, port)):
        assert await dialled([ONE, TWO], port) == TWO


async def test_an_address_that_may_not_be_dialled_is_passed_over() -> None:
    async with serve(lambda _: reply(200), ip=DENIED) as secret:
        with socket.create_server((ONE, secret.port)):
            assert await dialled([DENIED, ONE], secret.port) == ONE
        failed = await dialled([DENIED, ONE], secret.port)
        assert secret.connections == 0
    assert isinstance(failed, NotConnected)
    assert [type(error) for error in failed.errors] == [NotPublic, ConnectionRefusedError]


async def test_neither_what_is_no_plain_address_nor_a_bad_port_is_dialled() -> None:
    failed = await dialled(["localhost", "127.1", "2130706433", "0x7f.1", "127.0.0.1.", ""], 8080)
    assert isinstance(failed, NotConnected)
    assert {type(error) for error in failed.errors} == {NotPublic}
    failed = await dialled([ONE], 25)
    assert isinstance(failed, NotConnected)
    assert [type(error) for error in failed.errors] == [BadPort]


async def test_why_each_address_failed_is_reported() -> None:
    guard = Guard(permit=(*LOOPBACK.permit, ip_network("::1/128")))
    with socket.create_server((ONE, 0)) as server:
        port = server.getsockname()[1]
    failed = await dialled([ONE, "::1", TWO], port, guard=guard)
    assert isinstance(failed, NotConnected)
    assert sorted(type(error).__name__ for error in failed.errors) == ["ConnectionRefusedError"] * 2 + ["NoIpv6"]
    refusals = [error for error in failed.errors if not isinstance(error, NoIpv6)]
    assert {getattr(error, "errno", None) for error in refusals} == {errno.ECONNREFUSED}


@pytest.mark.parametrize("stagger_s", [0.01, 60])
async def test_more_addresses_are_found_if_the_first_fail(monkeypatch: pytest.MonkeyPatch, stagger_s: float) -> None:
    monkeypatch.setattr(dial, "STAGGER_S", stagger_s)
    asked: list[str] = []

    async def more() -> list[str]:
        asked.append("more")
        await asyncio.sleep(0)
        return [TWO]

    async with serve(lambda _: reply(200), ip=TWO) as site:
        assert await dialled([ONE, ONE], site.port, more=more) == TWO
    if stagger_s < 1:
        with silent(ONE) as port, socket.create_server((TWO, port)):
            assert await dialled([ONE], port, more=more) == TWO
    assert set(asked) == {"more"}


async def test_a_fault_of_ours_while_more_addresses_are_found_is_reported_and_not_waited_for() -> None:
    async def more() -> list[str]:
        raise ValueError("a bug")

    guard = Guard()  # which allows nothing here: of the host itself nothing is known
    failed = await dialled([], 8080, guard=guard, more=more)
    assert isinstance(failed, NotConnected)
    assert [str(error) for error in failed.errors] == ["a bug"]
    assert fault_of(failed) is None


async def test_finding_no_more_ends_it() -> None:
    async def more() -> list[str]:
        return []

    with socket.create_server((ONE, 0)) as server:
        port = server.getsockname()[1]
    failed = await dialled([ONE], port, more=more)
    assert isinstance(failed, NotConnected)
    assert len(failed.errors) == 1


async def test_giving_up_leaves_nothing_behind() -> None:
    found = asyncio.Event()

    async def more() -> list[str]:
        found.set()
        await asyncio.sleep(3600)
        return []

    def surprised(_: object) -> None:
        raise AssertionError

    with silent(ONE) as port:
        way = Dial(LOOPBACK, [ONE], port, watch=open_watch(), ipv6=False, connected=surprised, failed=surprised)
        way.begin()
        await asyncio.sleep(0)
        way.close()
    way = Dial(
        LOOPBACK, [DENIED], port, watch=open_watch(), ipv6=False, connected=surprised, failed=surprised, more=more
    )
    way.begin()
    await found.wait()
    way.close()
    await asyncio.sleep(0.01)


OPEN = Guard(permit=(ip_network("127.0.0.0/8"), ip_network("2001:db8::/32")))


async def tried(
    settings: NetConfig, addresses: list[str], behaviour: dict[str, int | None], guard: Guard = OPEN, port: int = 2121
) -> tuple[list[str], OSError | None]:
    """Which addresses of a host are tried, and what comes of it. None = never answers, 0 = lets itself be connected."""
    opened: list[str] = []

    async def open_at(address: str, _: int) -> None:
        opened.append(address)
        code = behaviour[address]
        if code is None:
            await asyncio.sleep(3600)
        elif code:
            raise OSError(code, "no")

    zone: Zone = {"site.test": addresses}
    async with name_server(zone) as server:
        resolver = Resolver(guard, (server.address,), 30)
        try:
            await Dialer(settings, guard, resolver).reach("site.test", port, open_at, own=(21,))
        except OSError as error:
            return opened, error
        finally:
            await resolver.close()
    return opened, None


async def test_the_old_protocol_is_tried_first_and_the_first_answer_is_taken(settings: NetConfig) -> None:
    opened, error = await tried(settings, ["2001:db8::7", "127.0.0.7"], {"127.0.0.7": 0, "2001:db8::7": 0})
    assert (opened, error) == (["127.0.0.7"], None)


async def test_an_address_that_never_answers_leaves_time_for_the_next_and_none_may_answer_in_time(
    hasty: NetConfig,
) -> None:
    opened, error = await tried(hasty, ["127.0.0.7", "2001:db8::7"], {"127.0.0.7": None, "2001:db8::7": 0})
    assert (opened, error) == (["127.0.0.7", "2001:db8::7"], None)
    _, error = await tried(hasty, ["127.0.0.7", "127.0.0.8"], {"127.0.0.7": None, "127.0.0.8": None})
    assert isinstance(error, TimeoutError)


async def test_what_the_host_did_counts_rather_than_what_we_lack_for_which_it_is_not_to_blame(
    settings: NetConfig,
) -> None:
    behaviour: dict[str, int | None] = {"127.0.0.7": errno.ECONNREFUSED, "2001:db8::7": errno.ENETUNREACH}
    opened, error = await tried(settings, list(behaviour), behaviour)
    assert opened == list(behaviour)
    assert error
    fault = fault_of(error)
    assert fault
    assert fault.reason is Reason.CONNECTION_REFUSED
    _, error = await tried(settings, ["2001:db8::7"], {"2001:db8::7": errno.ENETUNREACH})
    assert isinstance(error, NoIpv6)
    assert fault_of(error) is None


async def test_addresses_that_are_denied_are_not_tried(settings: NetConfig) -> None:
    guard = replace(OPEN, deny=(ip_network("127.0.0.7/32"),))
    behaviour: dict[str, int | None] = {"127.0.0.7": 0, "127.0.0.8": errno.ECONNREFUSED}
    opened, error = await tried(settings, list(behaviour), behaviour, guard)
    assert opened == ["127.0.0.8"]
    assert isinstance(error, ConnectionRefusedError)


@pytest.mark.parametrize(("port", "is_open"), [(21, True), (2121, True), (22, False), (80, True), (25, False)])
async def test_a_port_bad_for_others_is_open_to_its_protocol(settings: NetConfig, port: int, is_open: bool) -> None:
    opened, error = await tried(settings, ["127.0.0.7"], {"127.0.0.7": 0}, port=port)
    assert bool(opened) == is_open
    assert isinstance(error, NotPublic) != is_open
