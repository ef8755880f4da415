"""What waits in the queue is looked up once, in its order, and nothing of it is lost (A-1, A-2)."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from support.archives import NET, PAGE_FOR_PEOPLE, TEXT, Copy, failing, open_made_archive, rate_limited
from support.misbehaving import Act, Asked, Silence, reply
from support.observations import FINE, LOST
from support.stored import WikiInStore, key, open_wiki
from support.waiting import until

from weboid.archive.lookups.look_up_result import LookUpResult
from weboid.archive.lookups.queue_round import QueueRound, QueueTally
from weboid.archive.lookups.queue_rows import wish_of as real_wish_of
from weboid.archive.service.client import open_archive_client
from weboid.archive.service.shared_limits import SharedLimiter
from weboid.core.archive.outcomes import LookupOutcome
from weboid.core.archive.rows.fitness import Wish
from weboid.core.archive.services import ArchiveService
from weboid.core.url.farms import WMFLABS, WikiName
from weboid.errors import StoreAway
from weboid.store.archives.changing_page import list_changing, record_lifted
from weboid.store.archives.copy_queue import Rank, WantedCopy, count_queue, record_done, record_wanted
from weboid.store.archives.lookup import StoredLookup, list_lookups
from weboid.store.archives.service_limit import list_services
from weboid.store.archives.snapshot import Origin, StoredSnapshot, list_snapshots
from weboid.store.db.pool import Pool
from weboid.store.pages.wiki import record_wiki

CAME, DAY = 100, 130
OLD, LATE = 20170401120000, 20170601120000
URLS = [f"http://site{number}.demo/page" for number in range(6)]
URL = URLS[0]


@pytest.fixture
async def wiki(database: str) -> AsyncIterator[WikiInStore]:
    """A wiki with six links that worked on day 100 and are doubtful since day 130."""
    async with open_wiki(database, {1: URLS}, day=CAME) as wiki:
        await lose(wiki)
        yield wiki


async def lose(wiki: WikiInStore, urls: Sequence[str] = URLS) -> None:
    await wiki.round(CAME, lambda url, day: FINE)
    await wiki.round(DAY, lambda url, day: LOST if url in urls else FINE)


@asynccontextmanager
async def worker(
    pool: Pool,
    services: Sequence[ArchiveService],
    day: int = DAY,
    *,
    at_once: int = 4,
    lease_s: float = 900,
    waits_s: float = 0,
) -> AsyncIterator[tuple[QueueRound, asyncio.Event]]:
    stopped = asyncio.Event()
    async with open_archive_client(NET, SharedLimiter(pool, lambda: day, patience_s=0.2)) as client:
        limits = {"at_once": at_once, "lease_s": lease_s, "waits_s": waits_s}
        yield QueueRound(pool, client, services, today=lambda: day, stopped=stopped, **limits), stopped  # type: ignore[arg-type]  # of several types


async def sweep(wiki: WikiInStore, *services: ArchiveService, day: int = DAY, at_once: int = 4) -> QueueTally:
    async with worker(wiki.pool, services, day, at_once=at_once) as (queue, _):
        return await queue.sweep()


async def snapshots(wiki: WikiInStore, url: str = URL) -> tuple[StoredSnapshot, ...]:
    return (await wiki.do(list_snapshots, [key(url)])).get(key(url), ())


async def lookups(wiki: WikiInStore, url: str = URL) -> dict[int, StoredLookup]:
    return {each.archive: each for each in (await wiki.do(list_lookups, [key(url)])).get(key(url), ())}


async def waiting(wiki: WikiInStore) -> int:
    return sum(length.count for length in (await wiki.do(count_queue)).values())


async def test_a_copy_from_before_the_death_is_kept_after_two_requests(wiki: WikiInStore) -> None:
    async with open_made_archive({url: [Copy(OLD), Copy(LATE)] for url in URLS}) as archive:
        tally = await sweep(wiki, archive.service())
        assert (tally.outcomes, tally.requests) == ({LookupOutcome.FOUND: 6}, 12)
        [kept] = await snapshots(wiki)
        assert (kept.stamp, kept.origin, kept.asked, kept.due) == (OLD, Origin.CHOSEN, DAY, DAY + 91)
        assert kept.wanted == CAME
        assert (await lookups(wiki))[kept.archive].outcome is LookupOutcome.FOUND
        for day in (DAY + 1, DAY + 91, DAY + 400):
            assert (await sweep(wiki, archive.service(), day=day)).requests == 0
        assert await waiting(wiki) == 0
        # It died again, was queued again, and what was chosen stays chosen.
        await wiki.round(DAY + 3, lambda url, day: FINE)
        assert (await sweep(wiki, archive.service(), day=DAY + 3)).done == 0
        await wiki.round(DAY + 40, lambda url, day: LOST)
        tally = await sweep(wiki, archive.service(), day=DAY + 40)
        assert (tally.spared, tally.requests) == (6, 0)


async def test_none_takes_two_voices_and_is_asked_again_after_ninety_days(wiki: WikiInStore) -> None:
    async with open_made_archive() as archive:
        tally = await sweep(wiki, archive.service())
        assert (archive.count("/cdx"), archive.count("/wayback/available")) == (6, 6)
        # An empty availability proves nothing of itself; an empty listing and it do.
        assert tally.outcomes == {LookupOutcome.NONE: 6}
        assert (await sweep(wiki, archive.service(), day=DAY + 89)).requests == 0
        archive.copies |= {URL: [Copy(OLD)]}
        tally = await sweep(wiki, archive.service(), day=DAY + 90)
        assert tally.outcomes == {LookupOutcome.FOUND: 1, LookupOutcome.NONE: 5}


@pytest.mark.parametrize("act", [failing(500), PAGE_FOR_PEOPLE, reply(200, body=b'[["timestamp"')], ids=range(3))
async def test_an_error_is_asked_again_after_one_day_two_and_four_and_never_none(database: str, act: Act) -> None:
    async with open_wiki(database, {1: [URL]}, day=CAME) as wiki, open_made_archive() as archive:
        await lose(wiki)
        archive.act = lambda asked: act
        day, dues = DAY, []
        for _ in range(4):
            assert (await sweep(wiki, archive.service(), day=day)).outcomes == {LookupOutcome.ERROR: 1}
            [lookup] = (await lookups(wiki)).values()
            assert lookup.outcome is LookupOutcome.ERROR
            dues.append(lookup.due - day)
            assert (await sweep(wiki, archive.service(), day=lookup.due - 1)).requests == 0
            day = lookup.due
        assert dues == [1, 2, 4, 8]
        archive.act = lambda asked: None
        assert (await sweep(wiki, archive.service(), day=day)).outcomes == {LookupOutcome.NONE: 1}
        assert [lookup.failures for lookup in (await lookups(wiki)).values()] == [0]


async def test_while_a_service_throttles_everything_waits_with_an_alarm_and_nothing_is_lost(wiki: WikiInStore) -> None:
    async with open_made_archive({url: [Copy(OLD)] for url in URLS}) as archive:
        archive.act = lambda asked: rate_limited("600") if asked.count == 4 else None
        assert ((await sweep(wiki, archive.service(), at_once=1)).done, len(archive.site.asked)) == (1, 4)
        assert await waiting(wiki) == 5
        assert await wiki.alarms() == [("archive-rests", "wayback")]
        assert {(state.why, state.rest_s) for state in await wiki.do(list_services)} == {("rate-limited", 600)}
        # Another worker knows of it.
        assert ((await sweep(wiki, archive.service())).requests, len(archive.site.asked)) == (0, 4)
        await wiki.execute("UPDATE archive_service SET rest_until = now()")
        assert (await sweep(wiki, archive.service())).outcomes == {LookupOutcome.FOUND: 5}
        assert (await wiki.alarms(), await waiting(wiki)) == ([], 0)


async def test_a_slow_service_does_not_hold_the_look_ups_at_the_first(wiki: WikiInStore) -> None:
    async with open_made_archive() as archive, open_made_archive({url: [Copy(OLD)] for url in URLS}) as slow:
        service = slow.service("arquivo", per_minute=1)  # a minute apart: one in line, the others are put off
        async with worker(wiki.pool, [archive.service(), service]) as (queue, stopped):
            sweeping = asyncio.create_task(queue.sweep())
            await until(lambda: archive.count("/cdx") >= 6 and slow.count("/cdx"))
            stopped.set()
            sweeping.cancel()
            await asyncio.gather(sweeping, return_exceptions=True)
        assert slow.count("/cdx") == 1


async def test_what_one_archive_excludes_is_looked_for_in_the_next(wiki: WikiInStore) -> None:
    def script(asked: Asked) -> Act | None:
        return reply(403, "X-Archive-Wayback-Runtime-Error: AdministrativeAccessControlException: Blocked Site Error")

    async with open_made_archive() as archive, open_made_archive({URL: [Copy(OLD)]}) as second:
        archive.act = script
        tally = await sweep(wiki, archive.service(), second.service("arquivo"))
        assert tally.outcomes == {LookupOutcome.FOUND: 1, LookupOutcome.EXCLUDED: 5}
        outcomes = {number: each.outcome for number, each in (await lookups(wiki)).items()}
        assert set(outcomes.values()) == {LookupOutcome.EXCLUDED, LookupOutcome.FOUND}


async def test_an_archive_of_a_language_is_asked_only_for_what_wikis_in_it_cite(wiki: WikiInStore) -> None:
    async with open_made_archive() as empty, open_made_archive({url: [Copy(OLD)] for url in URLS}) as archive:
        services = [empty.service(), archive.service("wikiwix", languages=("fr",))]
        async with wiki.pool.connection() as conn:
            french = WikiInStore(wiki.pool, await record_wiki(conn, WMFLABS, WikiName("frwiki", "wmflabs")))
        await french.take_in({1: [URL]}, CAME)
        assert (await sweep(wiki, *services)).outcomes == {LookupOutcome.FOUND: 1, LookupOutcome.NONE: 5}
        assert len(await snapshots(wiki)) == 1


async def test_a_sweep_waits_for_a_short_pause_and_leaves_nothing_undone(wiki: WikiInStore) -> None:
    async with open_made_archive({url: [Copy(OLD)] for url in URLS}) as archive:
        archive.act = lambda asked: rate_limited("1") if asked.count == 4 else None
        async with worker(wiki.pool, [archive.service()], at_once=1, waits_s=2) as (queue, _):
            assert ((await queue.sweep()).outcomes, await waiting(wiki)) == ({LookupOutcome.FOUND: 6}, 0)


async def test_what_could_not_be_given_back_while_the_store_was_away_is_looked_up_by_the_next_attempt(
    wiki: WikiInStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_away = True

    async def record(*args: Any) -> None:
        if is_away:
            raise StoreAway("the database restarts")
        await record_done(*args)

    monkeypatch.setattr("weboid.archive.lookups.queue_round.record_done", record)
    monkeypatch.setattr("weboid.archive.lookups.queue_round._WRITE_S", -1.0)
    async with (
        open_made_archive({url: [Copy(OLD)] for url in URLS}) as archive,
        worker(wiki.pool, [archive.service()], at_once=2) as (queue, _),
    ):
        with pytest.raises(StoreAway):
            await queue.sweep()
        is_away = False
        await queue.sweep()
        assert await waiting(wiki) == 0


async def test_a_worker_that_hears_nothing_of_its_cancellation_holds_nobody_up(
    wiki: WikiInStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []

    async def look(*args: Any, **more: Any) -> LookUpResult:
        begun.append("")
        if len(begun) == 2:
            raise StoreAway("the database restarts")
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        return LookUpResult([])

    monkeypatch.setattr("weboid.archive.lookups.queue_round.look_up", look)
    async with open_made_archive() as archive, worker(wiki.pool, [archive.service()], at_once=2) as (queue, _):
        with pytest.raises(StoreAway):
            await asyncio.wait_for(queue.sweep(), 20)


async def test_a_stop_lets_what_is_under_way_end_and_gives_the_rest_back(wiki: WikiInStore) -> None:
    async with open_made_archive({url: [Copy(OLD)] for url in URLS}) as archive:
        async with worker(wiki.pool, [archive.service()], at_once=2) as (queue, stopped):

            def act(asked: Asked) -> None:
                stopped.set()

            archive.act = act
            tally = await queue.sweep()
        assert 1 <= tally.done <= 2
        assert await waiting(wiki) == 6 - tally.done
        assert (await sweep(wiki, archive.service())).done == 6 - tally.done


async def test_after_a_crash_what_was_begun_is_looked_up(wiki: WikiInStore, monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing() -> None:
        """A killed process gives nothing back."""

    async with open_made_archive({url: [Copy(OLD)] for url in URLS}) as archive:
        archive.act = lambda asked: Silence()
        async with worker(wiki.pool, [archive.service()], lease_s=0.3) as (queue, _):
            crashing = asyncio.create_task(queue.sweep())
            monkeypatch.setattr(queue, "_release", nothing)
            await until(lambda: archive.site.asked)
            crashing.cancel()
            await asyncio.gather(crashing, return_exceptions=True)
        archive.act = lambda asked: None
        await asyncio.sleep(0.3)
        assert (await sweep(wiki, archive.service())).outcomes == {LookupOutcome.FOUND: 6}


async def test_of_a_page_that_always_changes_nothing_is_chosen_until_somebody_lifts_that(database: str) -> None:
    front = "http://news.demo/"
    copies = [Copy(20170101000000 + day * 1_000_000, body=TEXT + b"<p>%d" % day) for day in range(30)]
    async with open_wiki(database, {1: [front]}, day=CAME) as wiki, open_made_archive({front: copies}) as archive:
        await lose(wiki, [front])
        assert (await sweep(wiki, archive.service())).outcomes == {LookupOutcome.UNSUITABLE: 1}
        async with wiki.pool.connection() as conn:
            assert list(await list_changing(conn, [key(front)])) == [key(front)]
            await record_wanted(conn, [key(front)], DAY, Rank.AGAIN)
        assert (await sweep(wiki, archive.service())).spared == 1
        async with wiki.pool.connection() as conn:
            await record_lifted(conn, key(front), is_lifted=True, subject="1", name="Ann")
            await record_wanted(conn, [key(front)], DAY, Rank.AGAIN)
        assert (await sweep(wiki, archive.service())).outcomes == {LookupOutcome.FOUND: 1}


async def test_a_fault_of_ours_puts_off_one_url_for_a_day(wiki: WikiInStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def wish_of(wanted: WantedCopy, day: int) -> Wish:
        if str(wanted.url) == URL:
            raise ZeroDivisionError
        return real_wish_of(wanted, day)

    async with open_made_archive({url: [Copy(OLD)] for url in URLS}) as archive:
        with monkeypatch.context() as patch:
            patch.setattr("weboid.archive.lookups.queue_rows.wish_of", wish_of)
            assert (await sweep(wiki, archive.service())).outcomes[LookupOutcome.FOUND] == 5
        assert (await waiting(wiki), await lookups(wiki)) == (0, {})
        assert (await sweep(wiki, archive.service(), day=DAY + 1)).outcomes == {LookupOutcome.FOUND: 1}
