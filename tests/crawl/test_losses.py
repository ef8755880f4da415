"""A part of the net that is lost to us alone: no strike after it is recognised, an alarm, and an end (C-16).

Name servers that deny names that exist are in ``checking/test_connectivity``.
"""

from collections.abc import Callable, Mapping
from functools import partial

import pytest
from support.observations import FINE, NO_NAME, SILENT
from support.stored import WikiInStore, open_wiki

from weboid.core.observe.observation import Observation
from weboid.core.record.policy import DEFAULT
from weboid.core.record.reasons import Reason
from weboid.core.record.status import Status
from weboid.core.record.streak import Streak
from weboid.core.verdict.partial_loss import (
    HOLD_DAYS,
    SUSPECTED,
    WINDOW_DAYS,
    Contacts,
    Failing,
    GroupKind,
    HostGroup,
    Past,
)
from weboid.core.verdict.verdict import Verdict
from weboid.crawl.losses import Losses
from weboid.errors import StoreError, ValuesRefused
from weboid.remote.crawl.calls import Exchanged, LossExchange
from weboid.store.upkeep.alarm import Alarm, list_alarms

HOSTS = [f"h{number}.demo" for number in range(60)]
URLS = [f"http://{host}/0" for host in HOSTS]
BLOCKED = HOSTS[:20]
FAILING_NAME = Observation(Status.DNS_ERROR, Reason.DNS_ERROR)


def address_of(host: str) -> str | None:
    return "192.0.2.9" if host in BLOCKED else f"127.{host[1:].partition('.')[0]}.0.1"


async def name_servers_of(domain: str) -> str | None:
    return None if domain.endswith("kg") else "ns1.hoster.demo ns2.hoster.demo" if domain in BLOCKED else "ns.else.demo"


def losses_of(exchange: LossExchange, today: Callable[[], int]) -> Losses:
    return Losses(exchange, today, addresses=address_of, name_servers=name_servers_of)


async def live(
    wiki: WikiInStore,
    days: range,
    script: Callable[[str, int], Observation],
    addresses: Callable[[str], str | None] = address_of,
) -> list[list[Alarm]]:
    """A round on each day on which anything is due, each by a new process; the alarms after each day."""
    alarms = []
    for day in days:
        losses = Losses(LossExchange(wiki.pool), partial(int, day), addresses=addresses, name_servers=name_servers_of)
        async with losses.open():
            await wiki.rounds(script, [day], losses=losses)
        alarms.append(await wiki.do(list_alarms))
    return alarms


def host_of(url: str) -> str:
    return url.split("/")[2]


def blocking(first: int, last: int, seen: Observation = SILENT) -> Callable[[str, int], Observation]:
    return lambda url, day: seen if host_of(url) in BLOCKED and first <= day <= last else FINE


async def streaks(wiki: WikiInStore, hosts: list[str]) -> list[Streak]:
    return [(await wiki.known(f"http://{host}/0")).host.streak for host in hosts]


@pytest.mark.parametrize(
    ("seen", "addresses", "subject"),
    [
        (SILENT, address_of, "network 192.0.2.0/24"),
        pytest.param(FAILING_NAME, address_of, "network 192.0.2.0/24", marks=pytest.mark.long),
        (FAILING_NAME, lambda host: None, "name-servers ns1.hoster.demo ns2.hoster.demo"),
    ],
)
async def test_a_block_of_seventeen_days_kills_nothing_is_an_alarm_and_is_over_when_it_is_over(
    database: str, seen: Observation, addresses: Callable[[str], str | None], subject: str
) -> None:
    async with open_wiki(database, {1: URLS}) as wiki:
        alarms = await live(wiki, range(100, 136), blocking(107, 123, seen), addresses)
        raised = [100 + number for number, each in enumerate(alarms) if each]
        assert raised == list(range(107, raised[-1] + 1))
        assert 123 <= raised[-1] <= 126
        assert {alarm.subject for each in alarms for alarm in each} == {subject}
        assert alarms[7][0].since == 107
        assert "hosts that had answered before" in alarms[7][0].detail
        assert await wiki.rows("SELECT after FROM change WHERE after = 3") == []
        assert {(await wiki.finding(url)).verdict for url in URLS} == {Verdict.WORKING}
        assert sum(streak.strikes for streak in await streaks(wiki, HOSTS)) == 0


async def test_after_it_is_recognised_every_failure_is_kept_apart_also_by_another_worker(database: str) -> None:
    async with open_wiki(database, {1: URLS}) as wiki:
        await live(wiki, range(100, 118), blocking(107, 140))
        assert all(streak.evidence.held for streak in await streaks(wiki, BLOCKED))
        assert {(await wiki.finding(f"http://{host}/0")).verdict for host in BLOCKED} == {Verdict.DOUBTFUL}


@pytest.mark.long
async def test_hosts_that_do_not_come_back_are_dead_as_soon_as_if_they_had_never_been_held(database: str) -> None:
    async with open_wiki(database, {1: URLS}) as wiki:
        alarms = await live(wiki, range(100, 107 + WINDOW_DAYS + DEFAULT.dead_span + 1), blocking(107, 300))
        assert [100 + number for number, each in enumerate(alarms) if each][-1] == 107 + HOLD_DAYS
        assert {(await wiki.finding(url)).verdict for url in URLS if host_of(url) in BLOCKED} == {Verdict.DEAD}


async def test_a_path_that_hangs_on_a_living_host_is_no_failing_host(database: str) -> None:
    def script(url: str, day: int) -> Observation:
        return SILENT if day >= 107 and url.endswith("/0") and host_of(url) in BLOCKED else FINE

    async with open_wiki(database, {1: [*URLS, *(f"http://{host}/1" for host in HOSTS)]}) as wiki:
        assert not any(await live(wiki, range(100, 118), script))


async def test_a_host_whose_front_page_answers_last_counts_as_answering(database: str) -> None:
    pages = [f"http://{host}/{path}" for host in HOSTS for path in range(4)]

    def script(url: str, day: int) -> Observation:
        return SILENT if day >= 107 and host_of(url) in BLOCKED and not url.endswith("/") else FINE

    async with open_wiki(database, {1: pages}) as wiki:
        assert not any(await live(wiki, range(100, 110), script))


async def test_a_database_that_fails_in_between_loses_no_count(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_wiki(database, {1: URLS}) as wiki:
        losses = losses_of(LossExchange(wiki.pool), lambda: 107)
        for host in BLOCKED[:9]:
            losses.count(host, Past(True), await losses.groups(host, Past(True), SILENT), failed=True)

        async def broken(conn: object) -> None:
            raise StoreError("gone")

        with monkeypatch.context() as patch:
            patch.setattr("weboid.store.upkeep.loss.lock_losses", broken)
            with pytest.raises(StoreError):
                await losses.exchange()
        assert losses.lost
        async with losses.open():
            pass
        [alarm] = await wiki.do(list_alarms)
        assert alarm.detail.startswith("9 of 9 hosts")


class Refusing(LossExchange):
    """A core that takes nothing of one group, as its name is longer than any should be."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.written: list[set[str]] = []
        self.days: list[set[int]] = []

    async def exchange(
        self, day: int, written: Mapping[tuple[HostGroup, int], Contacts], found: Mapping[HostGroup, Failing]
    ) -> Exchanged:
        self.written.append({group.name for group, _ in written})
        self.days.append({seen_on for _, seen_on in written})
        if self.name in self.written[-1]:
            raise ValuesRefused("the core refuses (400)")
        return Exchanged({}, {})


async def test_what_the_core_does_not_take_ends_no_round_and_is_sent_once() -> None:
    exchange, steady = Refusing("x" * 5_000), Past(True)
    losses = losses_of(exchange, lambda: 100)
    for name in (exchange.name, "ns.demo"):
        async with losses.open():
            losses.count("h.demo", steady, [HostGroup(GroupKind.NAME_SERVERS, name)], failed=True)
    assert exchange.written == [set(), {exchange.name}, {"ns.demo"}]


async def test_a_crawler_that_runs_for_weeks_sends_no_contacts_that_are_too_old_to_count() -> None:
    """It keeps the answers of a group until the group is suspected; the core refused them all, then."""
    exchange, steady, days = Refusing(""), Past(True), [100]
    losses = losses_of(exchange, lambda: days[0])
    group = HostGroup(GroupKind.NAME_SERVERS, "ns.demo")
    async with losses.open():
        losses.count("a.demo", steady, [group], failed=False)
        days[0] += WINDOW_DAYS
        for host in HOSTS[:SUSPECTED]:
            losses.count(host, steady, [group], failed=True)
    assert exchange.days == [set(), {days[0]}]


async def test_a_public_suffix_that_is_away_for_two_days_is_held(database: str) -> None:
    """All names below us.kg were denied for two days, as reported (FreeDomain-Issues#863)."""
    below, others = ([f"http://mill{number}{end}/" for number in range(30)] for end in (".us.kg", ".kg"))

    def script(url: str, day: int) -> Observation:
        return NO_NAME if url in below and day in (107, 108) else FINE

    async with open_wiki(database, {1: [*below, *others]}) as wiki:
        alarms = await live(wiki, range(100, 120), script, lambda host: None)
        assert {alarm.subject for raised in alarms for alarm in raised} == {"top-level-domain us.kg"}
        assert alarms[-1] == []
        streaks = [(await wiki.known(url)).host.streak for url in below]
        assert sum(streak.strikes for streak in streaks if not streak.evidence.held) == 0
