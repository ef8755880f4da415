"""Which address is connected to, and which error is reported if none can be (C-13, C-16)."""

import asyncio
import errno
from dataclasses import replace
from ipaddress import ip_network

import pytest
from support.misbehaving import Zone, name_server

from weboid.config import NetConfig
from weboid.core.record.reasons import Reason
from weboid.net.dial import Dialer, NoIpv6
from weboid.net.dns import Resolver
from weboid.net.faults import fault_of
from weboid.net.guard import Guard, NotPublic

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
