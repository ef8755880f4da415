from importlib.metadata import version
from ipaddress import IPv6Address
from pkgutil import get_data

import pytest
from hypothesis import given
from hypothesis import strategies as st
from publicsuffixlist import PublicSuffixList

from weboid.core.url import hosts


@given(st.ip_addresses(v=6))
def test_ipv6_is_written_as_rfc_5952_has_it(address: IPv6Address) -> None:
    form = hosts.host_form(f"[{address.exploded}]")
    assert IPv6Address(form) == address
    assert hosts.host_form(f"[{form}]") == form


def test_ipv6_leaves_out_the_first_longest_run_of_zeros() -> None:
    for given_, form in [
        ("10:0:0:0::", "10::"), ("1:0:0:2:0:0:0:3", "1:0:0:2::3"), ("1:0:0:2:3:0:0:4", "1::2:3:0:0:4"),
        ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"), ("0:0:0:0:0:0:0:0", "::"), ("::FFFF:192.0.2.7", "::ffff:c000:207"),
    ]:  # fmt: skip
        assert hosts.host_form(f"[{given_}]") == form


def test_a_name_may_have_253_characters_and_a_label_63() -> None:
    longest = ".".join(["a" * 63, "b" * 63, "c" * 63, "d" * 57, "de"])
    assert hosts.host_form(f"{longest}x.") == f"{longest}x"
    for name, reason in (
        (f"{longest}xx", hosts.InvalidReason.TOO_LONG), (f"{'a' * 64}.de", hosts.InvalidReason.LABEL),
        (f"{'ü' * 59}.de", hosts.InvalidReason.LABEL),
    ):  # fmt: skip
        with pytest.raises(hosts.InvalidUrl) as refused:
            hosts.host_form(name)
        assert refused.value.reason is reason


def test_a_domain_and_all_below_it_share_a_prefix_that_nobody_else_has() -> None:
    prefix = hosts.reversed_name("example.org")
    others = map(hosts.reversed_name, ("a.b.example.org", "example-shop.org", "notexample.org"))
    assert [name.startswith(prefix) for name in others] == [True, False, False]


def test_suffixes_are_those_that_the_package_of_the_list_finds() -> None:
    peer = PublicSuffixList()
    lines = (get_data("publicsuffixlist", "public_suffix_list.dat") or b"").decode().splitlines()
    rules = {line.strip("!").replace("*", "x") for line in lines if line and not line.startswith("//")}
    rules |= {hosts.host_form(rule) for rule in rules if not rule.isascii() and "." in rule} | {"unheard-of-tld"}
    for host in (f"{labels}{rule}" for rule in rules for labels in ("", "a.", "c.b.a.")):
        found = hosts.public_suffix(host), hosts.registrable_domain(host)
        assert found == (peer.publicsuffix(host), peer.privatesuffix(host) or host)


def test_addresses_are_reported_from_names() -> None:
    assert [*map(hosts.is_ip, ("192.0.2.7", "::1", "3sat.de", "1.e2"))] == [True, True, False, False]
    assert [hosts.registrable_domain(host) for host in ("192.0.2.7", "2001:db8::1")] == ["192.0.2.7", "2001:db8::1"]


def test_the_installed_suffix_list_is_the_pinned_one() -> None:
    assert version("publicsuffixlist") == hosts.SUFFIX_VERSION
