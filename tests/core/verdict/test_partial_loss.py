"""Partial loss: what is lost, what ordinary deaths never are, and when it is over."""

from math import ceil, comb

from hypothesis import given
from hypothesis import strategies as st

from weboid.core.observe.observation import Observation
from weboid.core.record.history import Entry, History
from weboid.core.record.reasons import Reason
from weboid.core.record.record import UNKNOWN_HOST, HostRecord, UrlRecord
from weboid.core.record.status import Status
from weboid.core.record.streak import Streak
from weboid.core.url.hosts import is_ip
from weboid.core.verdict.partial_loss import (
    HOLD_DAYS,
    LOST_AT,
    NAMES,
    WINDOW_DAYS,
    Contacts,
    Failing,
    GroupKind,
    HostGroup,
    Past,
    began_in,
    group_of,
    groups_of,
    is_over,
    loss_in,
    names_fail,
    past_of,
)

NETWORK = HostGroup(GroupKind.NETWORK, "192.0.2.0/24")
ALL = HostGroup(GroupKind.ALL)


def failing(*domains: int, answered: int = 0) -> Contacts:
    return Contacts(answered=answered, failed=frozenset(domains))


def test_groups_of_a_host_and_their_subjects() -> None:
    for host, address, names, subjects in [
        ("a.us.kg", None, None, ["top-level-domain us.kg", "top-level-domain kg", "all-hosts"]),
        ("a.demo", "192.0.2.7", None, ["network 192.0.2.0/24", "top-level-domain demo", "all-hosts"]),
        ("a.demo", "2001:db8:1:2::7", None, ["network 2001:db8:1::/48", "top-level-domain demo", "all-hosts"]),
        ("a.demo", None, "ns1.x ns2.x", ["name-servers ns1.x ns2.x", "top-level-domain demo", "all-hosts"]),
        ("192.0.2.7", "192.0.2.7", None, ["network 192.0.2.0/24", "all-hosts"]),
        ("a.demo", None, None, ["top-level-domain demo", "all-hosts"]),
    ]:
        groups = groups_of(host, address, names, of_names=False)
        assert [group.subject for group in groups] == subjects, host
        with_names = groups_of(host, address, names, of_names=True)
        assert with_names == (groups if is_ip(host) else [*groups[:-1], NAMES, ALL])
        assert [group_of(group.subject) for group in with_names] == with_names, host


def test_twenty_names_denied_in_a_day_are_a_loss_if_five_times_as_many_as_in_the_weeks_before() -> None:
    twenty = range(20)
    for least, now, before, is_lost in [
        # Nothing is known of the weeks before: three hosts of a hundred die in a month.
        (20, failing(*twenty, answered=550), {}, True),
        (20, failing(*twenty, answered=560), {}, False),
        (19, failing(*range(19)), {}, False),
        (20, failing(*twenty, answered=980), {93: failing(answered=3_000)}, True),
        (20, failing(*twenty, answered=980), {93: failing(*range(11), answered=2_989)}, True),
        (20, failing(*twenty, answered=980), {93: failing(*range(12), answered=2_988)}, False),
        # The day before is as old as what is 28 days old, and what is older says nothing.
        (20, failing(*twenty, answered=980), {99: failing(*twenty, answered=980)}, False),
        (20, failing(*twenty, answered=980), {72: failing(*twenty, answered=980)}, False),
        (20, failing(*twenty), {71: failing(*range(60))}, True),
    ]:
        found = loss_in(NAMES, {**before, 100: now}, 100)
        assert found == (Failing(least, least + now.answered) if is_lost else None), (now, before)


def test_eight_domains_that_fail_together_are_a_loss_but_not_many_hosts_of_one() -> None:
    assert loss_in(NETWORK, {100: failing(*range(8), answered=8)}, 100) == Failing(8, 16)
    assert loss_in(NETWORK, {100: failing(*range(8), answered=9)}, 100) is None
    assert loss_in(NETWORK, {100: failing(*range(7))}, 100) is None
    assert loss_in(ALL, {100: failing(*range(20), answered=46)}, 100) == Failing(20, 66)
    assert loss_in(ALL, {100: failing(*range(20), answered=47)}, 100) is None
    assert loss_in(NETWORK, {day: failing(1, 2) for day in range(94, 101)}, 100) is None


def test_what_answered_before_it_began_hides_no_loss() -> None:
    contacts = {day: failing(answered=50) for day in range(94, 99)}
    contacts |= {99: failing(1, 2, 3, 4), 100: failing(5, 6, 7, 8)}
    assert loss_in(NETWORK, contacts, 100) == Failing(8, 8)
    assert loss_in(NETWORK, contacts, 99 + WINDOW_DAYS) is None


def test_ordinary_deaths_make_no_loss_in_a_thousand_years_of_a_hundred_thousand_groups() -> None:
    a_week = 0.03 * WINDOW_DAYS / 30

    def chance(hosts: int, least: int, percent: float) -> float:
        """That of so many hosts enough fail within a week."""
        first = max(least, ceil(hosts * percent / 100))
        return sum(comb(hosts, n) * a_week**n * (1 - a_week) ** (hosts - n) for n in range(first, hosts + 1))

    for kind in GroupKind:
        least, percent = LOST_AT[kind]
        # Larger groups are less and less likely; each day has windows of seven lengths.
        worst = max(chance(hosts, least, percent) for hosts in range(least, 200))
        groups = 1 if kind is GroupKind.ALL else 12_000 if kind is GroupKind.TLD else 100_000
        assert worst * groups * WINDOW_DAYS * 365 * 1_000 < 0.02, kind


def test_a_loss_is_over_when_its_hosts_answer_again() -> None:
    assert not is_over({}, 100, 110)
    assert not is_over({110: Contacts(answered=5, still=4)}, 100, 110)
    assert not is_over({110: Contacts(still=4, back=3)}, 100, 110)
    assert not is_over({110: Contacts(back=2, still=1)}, 100, 110)
    assert is_over({110: Contacts(still=3, back=3)}, 100, 110)
    assert is_over({109: Contacts(back=2), 110: Contacts(answered=1, back=2)}, 100, 110)
    assert not is_over({110: Contacts(back=2)}, 100, 110)
    assert not is_over({106: Contacts(back=9)}, 100, 110)


@given(st.dictionaries(st.integers(100, 129), st.builds(Contacts, still=st.integers(0, 9), back=st.integers(0, 9))))
def test_no_loss_is_held_for_longer_than_four_weeks(contacts: dict[int, Contacts]) -> None:
    assert is_over(contacts, 100, 100 + HOLD_DAYS + 1)


def record(*entries: Entry) -> UrlRecord:
    history: History = entries
    return UrlRecord(history=history, reason=Reason.OK)


STEADY = record(Entry(Status.FINE, 50, 100))
MISSING = record(Entry(Status.NOT_FOUND, 50, 100))
SILENT = record(Entry(Status.NETWORK, 95, 100), Entry(Status.FINE, 50, 90))
RECOVERED = record(Entry(Status.FINE, 100, 100), Entry(Status.NETWORK, 97, 97))
LONG_RECOVERED = record(Entry(Status.FINE, 80, 100), Entry(Status.NETWORK, 70, 77))


def test_only_hosts_that_answered_and_did_not_fail_lately_are_steady() -> None:
    for urls, past in [
        ([], Past(False)), ([UrlRecord()], Past(False)), ([STEADY], Past(True)), ([MISSING], Past(True)),
        ([SILENT], Past(False, 95)), ([SILENT, STEADY], Past(True)), ([RECOVERED], Past(False)),
        ([LONG_RECOVERED], Past(True)),
    ]:  # fmt: skip
        assert past_of(UNKNOWN_HOST, urls, 105) == past


def test_a_host_that_fails_already_is_not_steady_and_one_long_dead_has_no_part_in_a_loss() -> None:
    assert not past_of(HostRecord(Streak(1, 100, 100), Reason.TIMEOUT), [STEADY, SILENT], 105).is_steady
    assert began_in(100, 93)
    assert not began_in(100, 92)
    assert not began_in(100, None)


def test_names_fail_by_dns_alone() -> None:
    assert names_fail(Observation(Status.DNS_ERROR, Reason.DNS_ERROR))
    assert not names_fail(Observation(Status.NETWORK, Reason.TIMEOUT))
    assert not names_fail(Observation(Status.DNS_GONE, Reason.DNS_GONE, on_other_host=True))
