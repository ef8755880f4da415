"""Alarms in a real store (P-7, O-5): what raises them and what ends them, with nobody there to do either."""

import os
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from support.observations import FINE
from support.statements import nodes_of
from support.stored import WikiInStore, open_wiki

from weboid.core.url.farms import WikiName
from weboid.store.db.pool import open_pool
from weboid.store.lists.alarms import AlarmBounds, find_health, missing_processes
from weboid.store.pages.page_pass import record_end, record_start
from weboid.store.pages.spam import FARM, ListKind, SpamList, record_spam_list
from weboid.store.pages.stream import Position, record_move
from weboid.store.schedule.process import CrawlerFigure, ProcessRole, RunningProcess, SeenProcess, take_role
from weboid.store.upkeep.alarm import SQL, Alarm, AlarmKind, find_overdue, list_alarms, lower_alarm, raise_alarm
from weboid.store.upkeep.last_backup import GoodBackup, record_last_backup

LINK = "https://one.demo/"


async def alarms_on(
    stored: WikiInStore, day: int, bounds: AlarmBounds | None = None, kind: AlarmKind | None = None
) -> list[Alarm]:
    """The alarms of a day, of one kind or of all but one; to ask writes nothing, so that who asks on the next one
    hears the same first days."""
    async with stored.pool.connection() as conn:
        found = (await find_health(conn, day, patience_s=20, alarms=bounds or AlarmBounds())).alarms
        assert kind or not [alarm for alarm in await list_alarms(conn) if alarm in found]
    return [alarm for alarm in found if (alarm.kind == kind if kind else alarm.kind != AlarmKind.NO_CRAWLER)]


async def test_an_alarm_raised_again_keeps_its_first_day_and_takes_new_words(stored: WikiInStore) -> None:
    async with stored.pool.connection() as conn:
        await raise_alarm(conn, AlarmKind.SPAM_LINES, "a", 100, "first")
        await raise_alarm(conn, AlarmKind.SPAM_LINES, "a", 120, "second")
        await raise_alarm(conn, AlarmKind.SPAM_LINES, "b", 121, "other")
        await lower_alarm(conn, AlarmKind.SPAM_LINES, "b")
        await lower_alarm(conn, AlarmKind.SPAM_LINES, "never raised")
        assert await list_alarms(conn) == [Alarm("spam-lines", "a", 100, "second")]


async def test_a_pass_is_alarming_while_it_takes_over_four_weeks_and_until_a_faster_one_ends(
    stored: WikiInStore,
) -> None:
    wiki = stored.wiki.wiki
    await stored.do(record_start, wiki, "", 100)
    assert await alarms_on(stored, 127) == []
    (slow,) = await alarms_on(stored, 129)
    assert await alarms_on(stored, 130) == [slow]
    assert slow == Alarm("pass-slow", "testwiki@wmflabs", 129, "a pass has been under way since 2017-04-11")
    await stored.do(record_end, wiki, 100, 140)
    ended = Alarm("pass-slow", "testwiki@wmflabs", 140, "the last pass took 40 days")
    assert await alarms_on(stored, 141) == [ended]
    await stored.do(record_start, wiki, "", 141)
    assert len(await alarms_on(stored, 142)) == 1
    await stored.do(record_end, wiki, 141, 150)
    assert await alarms_on(stored, 151) == []


async def test_a_round_is_alarming_when_a_url_that_is_used_has_been_due_for_over_four_weeks(database: str) -> None:
    async with open_wiki(database, {1: [LINK], 2: ["https://two.demo/"]}, day=100) as stored:
        assert await alarms_on(stored, 127) == []
        words = "links that were due on 2017-04-11 have not been checked yet"
        assert await alarms_on(stored, 129) == [Alarm("round-slow", "", 129, words)]
        await stored.round(130, lambda url, day: FINE)
        assert await alarms_on(stored, 131) == []
        await stored.take_in({1: [], 2: []}, 131, latest=2)
        assert await alarms_on(stored, 300) == []


async def test_however_much_is_due_a_look_for_the_oldest_reads_a_few_rows_of_each_bucket(database: str) -> None:
    async with await psycopg.AsyncConnection.connect(database, autocommit=True) as connection:
        for statement in (
            "INSERT INTO host (bucket, host_key, host, reversed, next_day)"
            " SELECT number / 25, number, 'h' || number || '.demo', 'demo.h' || number || '.', 100 + number % 28"
            " FROM generate_series(0, 999) AS number",
            "INSERT INTO url (bucket, host_key, url_key, scheme, port, path, due, status, since, asked, reason)"
            " SELECT bucket, host_key, number, 1, 443, '/' || number, next_day + number, 1, 90, 90, 1"
            " FROM host CROSS JOIN generate_series(0, 3) AS number",
            "VACUUM ANALYZE host",
            "VACUUM ANALYZE url",
        ):
            await connection.execute(statement.encode())
    async with open_pool(database, size=1) as pool, pool.connection() as conn:
        row = {"day": 200, "days": 0}
        explained = await conn.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {SQL['find_oldest_due']}".encode(), row)
        ((found,),) = await explained.fetchall()
        read = [
            (table, node["Actual Rows"] * node["Actual Loops"])
            for node in nodes_of(found[0]["Plan"])
            if (table := node.get("Relation Name", "").partition("_")[0]) in ("host", "url")
        ]
        assert {table for table, _ in read} == {"host", "url"}
        assert sum(rows for _, rows in read) <= (
            240 if os.environ.get("WEBOID_TEST_PARTITIONS") else 120
        )  # of 5,000, in 40 buckets
        assert await find_overdue(conn, 200, days=0) == 100


async def test_events_are_alarming_when_the_newest_is_over_an_hour_old_or_none_has_ever_come(
    stored: WikiInStore,
) -> None:
    await take(stored, ProcessRole.EVENTS, "a", began_s=3_590)
    assert await alarms_on(stored, 100) == []
    await take(stored, ProcessRole.EVENTS, "a", began_s=2 * 86_400)
    none = "no event has come in the 48 hours since they are followed"
    assert await alarms_on(stored, 100) == [Alarm("stream-behind", "events", 99, none)]
    before = None
    for minutes, words in [(55, []), (150, ["the newest event is 2 hours old"]), (1, [])]:
        moment = datetime.now(UTC) - timedelta(minutes=minutes)
        assert await stored.do(record_move, before, Position("a,b", "[]", moment))
        before = ("a,b", "[]")
        alarms = await alarms_on(stored, 100)
        assert [alarm.detail for alarm in alarms] == words
        assert all((alarm.kind, alarm.subject) == ("stream-behind", "a,b") for alarm in alarms)


async def test_spam_lines_that_cannot_be_run_are_alarming_until_they_are_repaired(stored: WikiInStore) -> None:
    unusable = ("a(: no closing bracket", "b\\1: no back references")
    for dbname, about in [("testwiki", "testwiki@wmflabs black"), (FARM, "wmflabs black")]:
        for lines, words in [(unusable, [f"2 lines cannot be run, the first: {unusable[0]}"]), ((), [])]:
            await stored.do(record_spam_list, SpamList(0, dbname, ListKind.BLACK, 100, ("c",), lines))
            alarms = await alarms_on(stored, 100)
            assert [alarm.detail for alarm in alarms] == words
            assert all((alarm.kind, alarm.subject) == ("spam-lines", about) for alarm in alarms)


async def take(
    stored: WikiInStore, role: ProcessRole, name: str, *, silent_s: float = 0, began_s: float = 86_400
) -> None:
    async with stored.pool.connection() as conn:
        await take_role(conn, RunningProcess(role, name, "host", "machine", 7, "1"))
        await conn.execute(
            "UPDATE part SET seen = now() - make_interval(secs => %s), since = now() - make_interval(secs => %s)"
            " WHERE name = %s",
            (silent_s, began_s, name),
        )


async def test_a_wiki_that_no_pass_goes_over_is_alarming_until_one_begins(stored: WikiInStore) -> None:
    bounds = AlarmBounds(period_days=5, late_days=2)
    async with stored.pool.connection() as conn:
        await record_start(conn, stored.wiki.wiki, "", 100)
        await record_end(conn, stored.wiki.wiki, 100, 101)
    assert await alarms_on(stored, 108, bounds, AlarmKind.NO_PASS) == []
    words = "the last one ended on 2017-04-12, and none is under way"
    for day in (109, 180):
        assert await alarms_on(stored, day, bounds, AlarmKind.NO_PASS) == [
            Alarm("no-pass", "testwiki@wmflabs", 109, words)
        ]
    await stored.do(record_start, stored.wiki.wiki, "", 180)
    assert await alarms_on(stored, 180, bounds, AlarmKind.NO_PASS) == []


async def test_a_configured_wiki_without_any_pass_is_alarming_while_no_feeder_runs_and_others_have_run_for_a_while(
    stored: WikiInStore,
) -> None:
    names = ("newwiki", "testwiki")
    bounds = AlarmBounds(wikis=frozenset(WikiName(name, "wmflabs") for name in names))

    async def shown() -> list[str]:
        return [alarm.subject for alarm in await alarms_on(stored, 100, bounds, AlarmKind.NO_PASS)]

    both = [f"{name}@wmflabs" for name in names]
    assert await shown() == both
    assert await alarms_on(stored, 100, AlarmBounds(), AlarmKind.NO_PASS) == []
    for role, name, ages, expected in (
        (ProcessRole.WEB, "a", {"began_s": 200}, []),
        (ProcessRole.CRAWL, "b", {"began_s": 301}, both),
        (ProcessRole.FEED, "c", {}, []),
        (ProcessRole.FEED, "c", {"silent_s": 301}, both),
    ):
        await take(stored, role, name, **ages)
        assert await shown() == expected


async def test_a_wiki_that_is_no_longer_configured_is_no_alarm(stored: WikiInStore) -> None:
    others = AlarmBounds(wikis=frozenset({WikiName("newwiki", "wmflabs")}))
    await stored.do(record_start, stored.wiki.wiki, "", 100)
    kinds = (AlarmKind.PASS_SLOW, AlarmKind.NO_PASS)
    assert [len(await alarms_on(stored, 180, AlarmBounds(), kind)) for kind in kinds] == [1, 0]
    for kind in kinds:
        assert [each.subject for each in await alarms_on(stored, 180, others, kind)] == ["newwiki@wmflabs"] * (
            kind is AlarmKind.NO_PASS
        )
    await stored.do(record_end, stored.wiki.wiki, 100, 101)
    assert len(await alarms_on(stored, 180, AlarmBounds(), AlarmKind.NO_PASS)) == 1
    assert [each.subject for each in await alarms_on(stored, 180, others, AlarmKind.NO_PASS)] == ["newwiki@wmflabs"]


async def test_a_process_whose_place_was_taken_is_shown_no_more_once_it_counts_as_gone(stored: WikiInStore) -> None:
    await take(stored, ProcessRole.CRAWL, "killed", silent_s=59)
    await take(stored, ProcessRole.CRAWL, "new", began_s=58)
    await take(stored, ProcessRole.ARCHIVE, "gone", silent_s=61)
    await take(stored, ProcessRole.WEB, "lively", silent_s=59)
    for shown in (["gone", "killed", "new", "lively"], ["gone", "new", "lively"]):
        async with stored.pool.connection() as conn:
            found = await find_health(conn, 100, patience_s=20)
            await conn.execute("UPDATE part SET seen = now() - interval '61 seconds' WHERE name = 'killed'")
            await conn.execute("UPDATE part SET since = now() - interval '60 seconds' WHERE name = 'new'")
        assert [part.name for part in found.processes] == shown
        assert found.alarms == ()


async def test_links_that_nobody_checks_are_alarming(database: str) -> None:
    bounds = AlarmBounds(idle_s=3_600)
    async with open_wiki(database, {1: [LINK]}, day=100) as stored:
        assert await alarms_on(stored, 101, bounds, AlarmKind.NO_CRAWLER) == []
        (alarm,) = await alarms_on(stored, 102, bounds, AlarmKind.NO_CRAWLER)
        assert (alarm.since, alarm.detail) == (102, "links have been due since 2017-04-11, and no crawler runs")
        await take(stored, ProcessRole.CRAWL, "a")
        assert await alarms_on(stored, 102, bounds, AlarmKind.NO_CRAWLER) == []
        await stored.round(102, lambda url, day: FINE)
        await take(stored, ProcessRole.CRAWL, "a", silent_s=3_601)
        assert await alarms_on(stored, 103, bounds, AlarmKind.NO_CRAWLER) == []


@pytest.mark.parametrize(("idle_s", "silent_s", "is_alarming"), [(3_590, 0, False), (3_590, 20, True), (0, 300, False)])
async def test_a_crawler_that_finishes_no_check_is_alarming(
    database: str, idle_s: float, silent_s: float, is_alarming: bool
) -> None:
    async with open_wiki(database, {1: [LINK]}, day=100) as stored:
        await take(stored, ProcessRole.CRAWL, "a", silent_s=silent_s)
        async with stored.pool.connection() as conn:
            row = {"figures": f'{{"{CrawlerFigure.IDLE}": {idle_s}}}'}
            await conn.execute("UPDATE part SET figures = %(figures)s::jsonb", row)
        found = await alarms_on(stored, 101, AlarmBounds(), AlarmKind.NO_CRAWLER)
        assert [alarm.detail for alarm in found] == [
            "links have been due since 2017-04-11, and for 60 minutes no crawler has finished a check"
        ] * is_alarming
        # Nothing is due today: there is nothing to finish.
        assert await alarms_on(stored, 100, AlarmBounds(), AlarmKind.NO_CRAWLER) == []


@pytest.mark.parametrize("role", [ProcessRole.FEED, ProcessRole.CRAWL])
async def test_a_part_that_ended_without_a_word_is_alarming_until_it_is_back(
    stored: WikiInStore, role: ProcessRole
) -> None:
    bounds = AlarmBounds(gone_s=300)
    await take(stored, role, "a", silent_s=299)
    assert await alarms_on(stored, 100, bounds, AlarmKind.PART_GONE) == []
    await take(stored, role, "a", silent_s=301)
    assert len(await alarms_on(stored, 100, bounds, AlarmKind.PART_GONE)) == 1
    await take(stored, role, "a", silent_s=2 * 86_400)
    (alarm,) = await alarms_on(stored, 100, bounds, AlarmKind.PART_GONE)
    assert (alarm.subject, alarm.since) == (role.value, 98)
    assert alarm.detail.startswith("1 ended without a word and did not come back; last seen ")
    await take(stored, role, "b", began_s=1)
    assert await alarms_on(stored, 100, bounds, AlarmKind.PART_GONE) == []


def seen(name: str, began_s: float, silent_s: float, *, role: str = "crawl") -> SeenProcess:
    now = datetime(2020, 1, 1, tzinfo=UTC)
    began, last = now - timedelta(seconds=began_s), now - timedelta(seconds=silent_s)
    return SeenProcess(role, name, "host", "machine", 7, "1", began, last, silent_s, "", {})


@pytest.mark.parametrize(
    ("parts", "missing"),
    [
        ([seen("a", 900, 0)], []),
        ([seen("a", 900, 301)], ["a"]),
        # One that ran alongside it is no successor, nor is one of another role.
        ([seen("a", 900, 400), seen("b", 900, 0)], ["a"]),
        ([seen("a", 900, 400), seen("b", 390, 0, role="web")], ["a"]),
        ([seen("a", 900, 400), seen("b", 390, 0)], []),
        # A successor of one only.
        ([seen("a", 900, 400), seen("b", 900, 395), seen("c", 390, 0)], ["a"]),
        # Two that began in time for two, whichever for whom.
        ([seen("a", 900, 410), seen("b", 900, 400), seen("c", 395, 0), seen("d", 345, 0)], []),
        # One that took its place and was killed as well: it is one part that is missing, or none if a third one runs.
        ([seen("a", 900, 600), seen("b", 590, 400)], ["b"]),
        ([seen("a", 900, 400), seen("b", 399, 399), seen("c", 398, 0)], []),
        ([seen("a", 400, 400)], ["a"]),
        # It began so much later that it has deleted another row instead.
        ([seen("a", 900, 400), seen("b", 300, 0)], ["a"]),
    ],
)
def test_a_part_is_missing_unless_another_one_has_taken_its_place(parts: list[SeenProcess], missing: list[str]) -> None:
    assert [part.name for part in missing_processes(parts, 300)] == missing


async def test_a_backup_that_grows_old_is_alarming_although_nobody_makes_one(stored: WikiInStore) -> None:
    bounds = AlarmBounds(backup_days=2)
    await stored.do(record_last_backup, GoodBackup(100, datetime.now(UTC), 7, "file"))
    assert await alarms_on(stored, 102, bounds, AlarmKind.BACKUP_OLD) == []
    (alarm,) = await alarms_on(stored, 103, bounds, AlarmKind.BACKUP_OLD)
    assert (alarm.since, alarm.detail) == (103, "the newest backup is of 2017-04-11")
    assert await alarms_on(stored, 103, AlarmBounds(), AlarmKind.BACKUP_OLD) == []
    await stored.do(raise_alarm, AlarmKind.BACKUP_OLD, "", 102, "the last try failed")
    (alarm,) = await alarms_on(stored, 104, bounds, AlarmKind.BACKUP_OLD)
    assert (alarm.since, alarm.detail) == (102, "the last try failed")
