"""How it goes, from a real store: what is exact, what is bounded, and what an empty store says (O-5)."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from support.stored import WikiInStore, key, open_wiki

from weboid.core.record.history import Entry
from weboid.core.record.reasons import Reason
from weboid.core.record.record import UrlRecord
from weboid.core.record.status import Status
from weboid.core.url.farms import WMF, WMFLABS, WikiName
from weboid.core.url.spam_lines import MAX_REPORTED, parse_lines
from weboid.core.verdict.verdict import Change, Verdict
from weboid.errors import StoreError
from weboid.store.db.rows import HostKey
from weboid.store.lists.health import DEFAULT_BOUNDS, Amount, Bounds, Exactness, Health, find_status
from weboid.store.pages.page_pass import PassPosition, record_end, record_place, record_start
from weboid.store.pages.pending import Pending, record_pending
from weboid.store.pages.spam import FARM, ListKind, record_spam_list, spam_list
from weboid.store.pages.stream import Position, record_move
from weboid.store.pages.wiki import record_farms, record_wiki
from weboid.store.urls.check import CheckedUrl, record_changes, record_checks, record_due, record_next_days

DAY = 200
ONE, TWO, THREE = "https://one.demo/", "https://one.demo/two", "https://three.demo/"
UNUSED = "https://unused.demo/"


async def status_of(stored: WikiInStore, day: int = DAY, bounds: Bounds = DEFAULT_BOUNDS) -> Health:
    return await stored.do(find_status, day, patience_s=20, bounds=bounds)


async def log(stored: WikiInStore, *lines: tuple[int, Verdict, int]) -> None:
    """Writes so many changes to a verdict on a day, in this order; the URL has no uses."""
    async with stored.pool.connection() as conn:
        for day, verdict, count in lines:
            change = Change(key(UNUSED), day, Verdict.UNKNOWN, verdict, None, day)
            await record_changes(conn, [change] * count)


async def due_on(stored: WikiInStore, days: dict[str, int]) -> None:
    async with stored.pool.connection() as conn:
        await record_due(conn, {key(url): day for url, day in days.items()})
        await record_next_days(conn, [HostKey(key(url).bucket, key(url).host_key) for url in days])


async def test_a_wiki_tells_its_last_pass_the_one_under_way_and_what_waits(database: str) -> None:
    async with open_wiki(database, {1: [ONE], 2: [THREE]}) as stored:
        wiki = stored.wiki.wiki
        async with stored.pool.connection() as conn:
            await record_wiki(conn, WMFLABS, WikiName("otherwiki", "wmflabs"))
            await record_start(conn, wiki, "", 190)
            await record_end(conn, wiki, 190, 193)
            await record_start(conn, wiki, "", 199)
            await record_place(conn, wiki, PassPosition(), PassPosition(2, "x"))
            await record_pending(conn, wiki, [Pending(7, "", datetime.now(UTC)), Pending(0, "T", datetime.now(UTC))])
        other, ours = (await status_of(stored)).wikis
        assert (ours.name, other.name) == (WikiName("testwiki", "wmflabs"), WikiName("otherwiki", "wmflabs"))
        assert (ours.pages, ours.waiting, ours.passed, ours.pass_days) == (Amount(2), Amount(2), 193, 3)
        assert ours.pass_s is not None
        assert 0 <= ours.pass_s < 100
        assert (ours.started, ours.step) == (199, 2)
        assert (other.pages, other.waiting) == (Amount(0), Amount(0))
        assert (other.passed, other.pass_s, other.started) == (None, None, None)


async def test_beyond_the_bound_numbers_are_estimates_or_at_least(database: str) -> None:
    async with open_wiki(database, {page: [f"https://h{page}.demo/"] for page in range(1, 41)}) as stored:
        small = replace(DEFAULT_BOUNDS, rows=10, due=15)
        status = await status_of(stored, bounds=small)
        assert status.urls == status.hosts == status.wikis[0].pages == Amount(10, Exactness.AT_LEAST)
        assert status.due == Amount(15, Exactness.AT_LEAST)
        await stored.execute("ANALYZE url, host, page")
        status = await status_of(stored, bounds=small)
        assert status.urls == status.hosts == status.wikis[0].pages == Amount(40, Exactness.ESTIMATE)
        assert (await status_of(stored)).wikis[0].pages == Amount(40)


async def test_what_has_been_unavailable_for_six_weeks_is_counted(database: str) -> None:
    async with open_wiki(database, {1: [ONE, TWO, THREE]}, day=100) as stored:
        for url, days in ((ONE, 42), (TWO, 41), (THREE, 50)):
            reason = Reason.SERVER_ERROR if url == THREE else Reason.UNAVAILABLE
            record = UrlRecord((Entry(Status.UNAVAILABLE, DAY - days, DAY),), reason=reason)
            await stored.do(record_checks, [CheckedUrl(key(url), record, DAY + 3)])
        assert (await status_of(stored)).unavailable == Amount(1)


async def test_due_urls_are_counted_and_the_oldest_day_is_found(database: str) -> None:
    async with open_wiki(database, {1: [ONE, TWO, THREE]}, day=100) as stored:
        await due_on(stored, {ONE: 190, TWO: 195, THREE: 201})
        status = await status_of(stored)
        assert (status.due, status.oldest_due) == (Amount(2), 190)
        await due_on(stored, {ONE: 201, TWO: 200, THREE: 180})
        status = await status_of(stored)
        assert (status.due, status.oldest_due) == (Amount(2), 180)
        await stored.take_in({1: [ONE, TWO]}, 101, latest=2)
        status = await status_of(stored)
        assert (status.due, status.oldest_due) == (Amount(1), 200), "what nobody uses is not due"
        await due_on(stored, {ONE: 201, TWO: 202, THREE: 203})
        status = await status_of(stored)
        assert (status.due, status.oldest_due) == (Amount(0), None)


async def test_changes_are_reported_by_day_and_verdict_for_thirty_days(database: str) -> None:
    async with open_wiki(database, {1: [ONE]}) as stored:
        await log(
            stored,
            (150, Verdict.DEAD, 3),
            (170, Verdict.DEAD, 5),
            (171, Verdict.DEAD, 2),
            (171, Verdict.WORKING, 4),
            (199, Verdict.DOUBTFUL, 1),
            (200, Verdict.DEAD, 1),
        )
        assert (await status_of(stored)).changes == {
            171: {Verdict.DEAD: Amount(2), Verdict.WORKING: Amount(4)},
            199: {Verdict.DOUBTFUL: Amount(1)},
            200: {Verdict.DEAD: Amount(1)},
        }
        assert (await status_of(stored, day=400)).changes == {}


async def test_a_day_with_many_changes_is_reported_from_slices_spread_over_it(database: str) -> None:
    async with open_wiki(database, {1: [ONE]}) as stored:
        # A little out of order, as rounds write them.
        await log(stored, *((day, Verdict.DEAD, 1) for day in (194, 195, 194, 195, 196, 195, 196)))
        changes = (await status_of(stored)).changes
        assert {day: shown[Verdict.DEAD].value for day, shown in changes.items()} == {194: 2, 195: 3, 196: 2}
        await log(stored, (198, Verdict.WORKING, 7), (199, Verdict.WORKING, 600), (199, Verdict.DEAD, 200))
        status = await status_of(stored, bounds=replace(DEFAULT_BOUNDS, slices=40, slice_rows=5))
        assert status.changes[198] == {Verdict.WORKING: Amount(7)}
        assert status.changes[199] == {
            Verdict.WORKING: Amount(600, Exactness.ESTIMATE),
            Verdict.DEAD: Amount(200, Exactness.ESTIMATE),
        }


async def test_streams_lag_by_the_databases_clock_and_a_database_that_is_too_slow_is_given_up(
    stored: WikiInStore,
) -> None:
    async with stored.pool.connection() as conn:
        moment = (await status_of(stored)).moment - timedelta(seconds=5_000)
        await record_move(conn, None, Position("recentchange", "[]", moment))
    (lag_s,) = (await status_of(stored)).streams.values()
    assert 5_000 <= lag_s < 5_100
    async with stored.pool.connection() as blocker:
        await blocker.execute("LOCK TABLE change")
        with pytest.raises(StoreError):
            await stored.do(find_status, DAY, patience_s=0.2)


async def test_spam_lists_tell_how_many_lines_they_have_and_the_first_unusable_ones(stored: WikiInStore) -> None:
    async with stored.pool.connection() as conn:
        await record_farms(conn, [WMF])
        for farm, dbname, text in [
            (WMF.code, FARM, "a\nb\n(\n(?=x)"),
            (WMFLABS.code, "testwiki", ""),
            (WMFLABS.code, "otherwiki", "\n".join(f"({line}" for line in range(MAX_REPORTED + 5))),
        ]:
            await record_spam_list(conn, spam_list(farm, dbname, ListKind.BLACK, 190, parse_lines(text)))
    lists = {each.wiki: each for each in (await status_of(stored)).spam_lists}
    farms, own, other = (
        lists[name] for name in (None, WikiName("testwiki", "wmflabs"), WikiName("otherwiki", "wmflabs"))
    )
    assert (farms.farm, farms.kind, farms.day, farms.usable, farms.unusable) == (
        "WMF",
        ListKind.BLACK,
        190,
        2,
        Amount(2),
    )
    assert len(farms.faults) == 2
    assert farms.faults[0].startswith("(: ")
    assert (own.usable, own.unusable, own.faults) == (0, Amount(0), ())
    assert other.unusable == Amount(MAX_REPORTED + 1, Exactness.AT_LEAST)
    assert len(other.faults) == DEFAULT_BOUNDS.lines
