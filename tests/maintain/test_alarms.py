"""Alarms in a real store (P-7): what raises them, what lowers them, and that watching twice changes nothing."""

from datetime import UTC, datetime, timedelta

from support.observations import FINE
from support.stored import WikiInStore, open_wiki

from weboid.maintain.alarms import watch
from weboid.store.pages.page_pass import record_end, record_start
from weboid.store.pages.spam import FARM, ListKind, SpamList, record_spam_list
from weboid.store.pages.stream import Position, record_position
from weboid.store.upkeep.alarm import Alarm, AlarmKind, list_alarms, lower_alarm, raise_alarm

LINK = "https://one.demo/"


async def watched(stored: WikiInStore, day: int) -> list[Alarm]:
    """The alarms after a look on that day, and after a second one."""
    async with stored.pool.connection() as conn:
        await watch(conn, day)
        once = await list_alarms(conn)
        await watch(conn, day + 1)
        assert [(alarm.kind, alarm.subject, alarm.since) for alarm in once] == [
            (alarm.kind, alarm.subject, alarm.since) for alarm in await list_alarms(conn)
        ]
    return once


async def test_where_all_is_well_there_is_no_alarm(database: str) -> None:
    async with open_wiki(database, {1: [LINK]}, day=100) as stored:
        assert await watched(stored, 101) == []


async def test_an_alarm_raised_again_keeps_its_first_day_and_takes_new_words(database: str) -> None:
    async with open_wiki(database, {}) as stored, stored.pool.connection() as conn:
        await raise_alarm(conn, AlarmKind.SPAM_LINES, "a", 100, "first")
        await raise_alarm(conn, AlarmKind.SPAM_LINES, "a", 120, "second")
        await raise_alarm(conn, AlarmKind.SPAM_LINES, "b", 121, "other")
        await lower_alarm(conn, AlarmKind.SPAM_LINES, "b")
        await lower_alarm(conn, AlarmKind.SPAM_LINES, "never raised")
        assert await list_alarms(conn) == [Alarm("spam-lines", "a", 100, "second")]


async def test_a_pass_is_alarming_while_it_takes_over_four_weeks_and_until_a_faster_one_is_over(database: str) -> None:
    async with open_wiki(database, {}) as stored:
        wiki = stored.wiki.wiki

        async def start(day: int) -> None:
            async with stored.pool.connection() as conn:
                await record_start(conn, wiki, "", day)

        async def end(started: int, day: int) -> None:
            async with stored.pool.connection() as conn:
                await record_end(conn, wiki, started, day)

        await start(100)
        assert await watched(stored, 127) == []
        (slow,) = await watched(stored, 129)
        assert slow == Alarm("pass-slow", "testwiki@wmflabs", 129, "a pass has been under way since 2017-04-11")
        await end(100, 140)
        assert await watched(stored, 141) == [Alarm("pass-slow", "testwiki@wmflabs", 129, "the last pass took 40 days")]
        await start(141)
        assert len(await watched(stored, 142)) == 1
        await end(141, 150)
        assert await watched(stored, 151) == []


async def test_a_round_is_alarming_when_a_url_has_been_due_for_over_four_weeks(database: str) -> None:
    async with open_wiki(database, {1: [LINK], 2: ["https://two.demo/"]}, day=100) as stored:
        assert await watched(stored, 127) == []
        (slow,) = await watched(stored, 129)
        assert (slow.kind, slow.since, slow.detail) == (
            "round-slow",
            129,
            "links that were due on 2017-04-11 have not been checked yet",
        )
        await stored.round(130, lambda url, day: FINE)
        assert await watched(stored, 131) == []


async def test_what_nobody_uses_any_more_is_not_overdue(database: str) -> None:
    async with open_wiki(database, {1: [LINK]}, day=100) as stored:
        await stored.take_in({1: []}, 101, latest=2)
        assert await watched(stored, 200) == []


async def test_events_are_alarming_when_the_newest_is_over_an_hour_old(database: str) -> None:
    now = datetime.now(UTC)
    async with open_wiki(database, {}) as stored:
        for minutes, words in [(55, []), (150, ["the newest event is 2 hours old"]), (1, [])]:
            async with stored.pool.connection() as conn:
                await record_position(conn, Position("a,b", "[]", now - timedelta(minutes=minutes)))
            alarms = await watched(stored, 100)
            assert [alarm.detail for alarm in alarms] == words
            assert all((alarm.kind, alarm.subject) == ("stream-behind", "a,b") for alarm in alarms)


async def test_spam_lines_that_cannot_be_run_are_alarming_until_they_are_mended(database: str) -> None:
    unusable = ("a(: no closing bracket", "b\\1: no back references")
    async with open_wiki(database, {}) as stored:
        for dbname, about in [("testwiki", "testwiki@wmflabs black"), (FARM, "wmflabs black")]:
            for lines, words in [(unusable, [f"2 lines cannot be run, the first: {unusable[0]}"]), ((), [])]:
                async with stored.pool.connection() as conn:
                    await record_spam_list(conn, SpamList(0, dbname, ListKind.BLACK, 100, ("c",), lines))
                alarms = await watched(stored, 100)
                assert [alarm.detail for alarm in alarms] == words
                assert all((alarm.kind, alarm.subject) == ("spam-lines", about) for alarm in alarms)
