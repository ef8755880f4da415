"""The guard against every known way to write or smuggle an address that is not public (C-13)."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weboid.net.guard import BAD_PORTS, BadPort, Guard, NotPublic, embedded, refusal_in

REFUSED = """
0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 100.127.255.255 127.0.0.1 127.255.255.254
168.63.129.16 169.254.0.1 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.1 192.0.0.170 192.0.2.1 192.88.99.1
192.168.0.1 198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.9 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
:: ::1 ::2 ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:0:127.0.0.1
64:ff9b::127.0.0.1 64:ff9b::10.1.2.3 64:ff9b::169.254.169.254 64:ff9b:1::8.8.8.8 64:ff9b:1::127.0.0.1 100::1 200::1
2001::1 2001:0:7f00:1::1 2001:2::1 2001:10::1 2001:20::1 2001:db8::1 2002:7f00:1::1 2002:a00:1::1 2002:808:808::1
3fff::1 4000::1 5f00::1 fc00::1 fd00:ec2::254 fdff::1 fe80::1 fe80::1%lo fec0::1 ff02::1 ff0e::1
"""
ALLOWED = """
1.1.1.1 8.8.8.8 9.9.9.9 11.0.0.1 100.63.255.255 100.128.0.1 126.255.255.255 128.0.0.1 169.253.255.255 172.15.255.255
172.32.0.1 192.0.1.1 192.167.255.255 192.169.0.1 198.17.255.255 198.20.0.1 223.255.255.255 208.80.154.224
::ffff:8.8.8.8 64:ff9b::8.8.8.8 2000::1 2001:200::1 2001:4860:4860::8888 2003::1 2620:0:861:ed1a::1 2a00::1 3ffe:ffff::1
"""


@pytest.mark.parametrize("address", REFUSED.split())
def test_addresses_that_are_not_public_are_refused(address: str) -> None:
    with pytest.raises(NotPublic):
        Guard().require(address, 80)


@pytest.mark.parametrize("address", ALLOWED.split())
def test_public_addresses_are_allowed(address: str) -> None:
    Guard().require(address, 80)


@pytest.mark.parametrize(
    "text",
    ["localhost", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "127.0.0.1.", "", "[::1]", "8.8.8.8 ", "٨.٨.٨.٨"],
)
def test_whatever_is_no_plain_address_is_refused(text: str) -> None:
    with pytest.raises(NotPublic):
        Guard().require(text, 80)


# WHATWG Fetch, "bad port", written down a second time.
BROWSERS = (
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109,
    110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531,
    532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060,
    5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
)  # fmt: skip
INNER = (445, 1433, 1521, 2375, 2379, 2380, 3306, 3389, 5432, 5900, 5984, 6379, 9200, 9300, 11211, 27017)


def test_bad_ports_are_those_of_browsers_and_inner_services_but_the_own_one_of_a_protocol() -> None:
    assert {*BROWSERS, *INNER} - BAD_PORTS == set()
    Guard().require("8.8.8.8", 21, own=(21,))
    with pytest.raises(BadPort):
        Guard().require("8.8.8.8", 6379, own=(21,))
    with pytest.raises(BadPort):
        Guard().require("10.0.0.1", 5432)


@pytest.mark.parametrize("port", [*sorted(BAD_PORTS), -1, 65_536])
def test_bad_ports_are_refused_even_where_the_address_is_permitted(port: int) -> None:
    with pytest.raises(BadPort):
        Guard(permit=(ip_network("8.0.0.0/8"),)).require("8.8.8.8", port)


@pytest.mark.parametrize("port", [80, 81, 443, 3000, 7001, 8000, 8080, 8086, 8443, 8500, 50_000, 65_535])
def test_other_ports_are_allowed(port: int) -> None:
    Guard().require("8.8.8.8", port)


def test_a_permission_opens_a_network_and_a_denial_wins_over_it_in_every_disguise() -> None:
    guard = Guard(permit=(ip_network("127.0.0.0/8"),))
    assert guard.allows(ip_address("127.0.0.9"))
    assert guard.allows(ip_address("::ffff:127.0.0.9"))
    assert not guard.allows(ip_address("10.0.0.1"))
    assert not guard.allows(ip_address("::1"))
    assert not guard.allows(ip_address("2002:7f00:1::1"))
    guard = Guard(deny=(ip_network("8.8.8.0/24"),), permit=(ip_network("8.0.0.0/8"), ip_network("::/0")))
    for address in (
        "8.8.8.8",
        "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8",
        "64:ff9b:1::8.8.8.8",
        "::8.8.8.8",
        "2002:808:808::1",
    ):
        assert not guard.allows(ip_address(address)), address
    assert guard.allows(ip_address("8.8.4.4"))


@given(st.ip_addresses())
def test_only_what_python_too_calls_global_is_allowed(address: IPv4Address | IPv6Address) -> None:
    inner = embedded(address)
    if Guard().allows(address):
        actual = inner or address
        assert actual.is_global
        assert not actual.is_multicast


@given(st.ip_addresses(v=4))
def test_an_address_inside_another_is_never_allowed_more_than_by_itself(address: IPv4Address) -> None:
    number = int(address)
    disguises = [
        number,
        0xFFFF << 32 | number,
        0x64_FF9B << 96 | number,
        0x64_FF9B_0001 << 80 | number,
        0x2002 << 112 | number << 80 | 1,
        0x2001 << 112 | (number ^ 0xFFFF_FFFF),
    ]
    for disguise in map(IPv6Address, disguises):
        assert embedded(disguise) == address
        assert not Guard().allows(disguise) or Guard().allows(address)


@pytest.mark.parametrize(
    ("deny", "host", "port", "said"),
    [
        ([], "10.1.2.3", 443, '[net] permit = ["10.1.2.3"]'),
        ([], "fd00::7", 443, '[net] permit = ["fd00::7"]'),
        ([], "fe80::1%lo", 443, '[net] permit = ["fe80::1"]'),
        ([], "::ffff:10.1.2.3", 443, '[net] permit = ["::ffff:10.1.2.3"]'),
        (["10.0.0.0/8"], "10.1.2.3", 443, "[net] deny has it"),
        (["10.0.0.0/8"], "::ffff:10.1.2.3", 443, "[net] deny has it"),
        (["198.41.0.0/24"], "198.41.0.4", 443, "[net] deny has it"),
        ([], "10.1.2.3", 22, "has a port at which no wiki is contacted"),
    ],
)
def test_what_is_refused_says_what_its_operator_can_do(deny: list[str], host: str, port: int, said: str) -> None:
    guard = Guard(deny=tuple(map(ip_network, deny)))
    with pytest.raises(NotPublic) as refused:
        guard.require(host, port)
    assert said in refusal_in(refused.value)
    if "permit" in said:
        Guard(permit=tuple(map(ip_network, refused.value.addresses))).require(host, port)


def test_other_failures_are_no_refusals() -> None:
    assert [refusal_in(error) for error in (ConnectionRefusedError(), TimeoutError(), ValueError("10.1.2.3"))] == [
        ""
    ] * 3
