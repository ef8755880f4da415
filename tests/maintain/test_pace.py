"""How often links are checked, once a day in a real store: as the crawl manages; and for hosts too big (C-3, C-4)."""

from support.observations import FINE, LOST
from support.stored import WikiInStore, key, open_wiki

from weboid.core.observe.observation import Observation
from weboid.core.record.pace import Pace
from weboid.core.record.policy import DEFAULT
from weboid.maintain.pace import keep_pace
from weboid.store.lists.alarms import find_health
from weboid.store.lists.health import find_status
from weboid.store.schedule.pace import find_checks_a_day, find_pace, list_big_hosts, record_checked, record_pace
from weboid.store.upkeep.alarm import AlarmKind

HOSTS = [f"http://h{number}.demo/" for number in range(30)]
BIG = [f"http://big.demo/{number}" for number in range(80)]
SLOW_S = 28_800.0
"""Two checks a day at the most: 56 in four weeks."""


def fine(url: str, day: int) -> Observation:
    return FINE


async def kept(wiki: WikiInStore, day: int, delay_s: float = 1.0) -> Pace:
    return await wiki.do(keep_pace, day, DEFAULT, delay_s=delay_s)


async def test_checks_are_counted_by_day_and_those_of_the_last_week_are_the_usual_day(database: str) -> None:
    async with open_wiki(database, {1: HOSTS}) as wiki:
        await wiki.round(100, fine)
        async with wiki.pool.connection() as conn:
            assert await find_checks_a_day(conn, 100) is None
            assert await find_checks_a_day(conn, 101) == 30
            await record_checked(conn, {102: 50})
            await record_checked(conn, {102: 20})
            assert await find_checks_a_day(conn, 103) == 50
            assert await find_checks_a_day(conn, 108) == 70
            assert await find_checks_a_day(conn, 110) is None


async def test_where_hosts_wait_and_a_turn_is_too_long_links_are_checked_less_often(database: str) -> None:
    async with open_wiki(database, {1: HOSTS}) as wiki:
        await wiki.round(100, fine)
        assert (await kept(wiki, 101)).interval == 7
        for day in range(110, 116):
            # Two of thirty links a day: a turn takes fifteen days, and all hosts are late.
            await wiki.do(record_checked, {day - 1: 2})
            pace = await kept(wiki, day)
            assert await kept(wiki, day) == pace
        assert pace.interval == 7 + 6
        assert (await wiki.do(find_status, 115, patience_s=20)).interval == 13
        await wiki.round(116, fine)
        assert {(await wiki.known(url)).due for url in HOSTS} <= {116 + 12, 116 + 13}


async def test_failing_links_keep_their_interval_whatever_the_pace_is(database: str) -> None:
    async with open_wiki(database, {1: HOSTS}) as wiki:
        await wiki.do(record_pace, Pace(28, 100, 100))
        await wiki.round(100, lambda url, day: LOST if url == HOSTS[0] else FINE)
        assert (await wiki.known(HOSTS[0])).due == 103
        assert {(await wiki.known(url)).due for url in HOSTS[1:]} <= {127, 128}


async def test_a_host_with_more_links_than_fit_gets_an_interval_of_its_own(database: str) -> None:
    async with open_wiki(database, {1: HOSTS, 2: BIG}) as wiki:
        await kept(wiki, 100, SLOW_S)
        async with wiki.pool.connection() as conn:
            (big,) = await list_big_hosts(conn)
            assert (big.host, big.urls, big.days) == ("big.demo", 80, 40)
            assert (await find_status(conn, 100, patience_s=20)).big_hosts == (big,)
        await wiki.round(100, fine)
        assert {(await wiki.known(url)).due for url in BIG} <= {139, 140}
        assert {(await wiki.known(url)).due for url in HOSTS} <= {106, 107}
        await wiki.take_in({2: BIG[:50]}, 101, latest=2)
        await kept(wiki, 101, SLOW_S)
        assert await wiki.do(list_big_hosts) == []


async def test_a_host_with_more_links_than_fit_raises_no_alarm_and_slows_nobody_down(database: str) -> None:
    async with open_wiki(database, {1: HOSTS, 2: BIG}) as wiki:
        await wiki.round(100, fine)
        for url in HOSTS:
            assert (await wiki.known(url)).due >= 106
        async with wiki.pool.connection() as conn:
            await conn.execute(b"UPDATE url SET due = 130 WHERE host_key <> %(key)s", {"key": key(BIG[0]).host_key})
            await conn.execute(
                b"UPDATE host SET next_day = 130 WHERE host_key <> %(key)s", {"key": key(BIG[0]).host_key}
            )
            alarms = (await find_health(conn, 140, patience_s=20)).alarms
            assert [alarm.kind for alarm in alarms] == [AlarmKind.NO_CRAWLER, AlarmKind.ROUND_SLOW]
        await kept(wiki, 140, SLOW_S)
        async with wiki.pool.connection() as conn:
            alarms = (await find_health(conn, 140, patience_s=20)).alarms
            assert [alarm.kind for alarm in alarms] == [AlarmKind.NO_CRAWLER]  # of the other hosts
            assert (await find_pace(conn) or Pace(0, 0, 0)).interval == 7
