"""Rounds over simulated days on a real database: what becomes of URLs, hosts, the log and the dead links."""

import asyncio
import itertools
from dataclasses import replace
from time import monotonic
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs
from support.observations import FINE, LIMITED, LOST, NO_NAME, SILENT, WALL
from support.store_reads import list_changes, list_dead
from support.stored import Script, key, open_wiki
from support.waiting import until

from weboid.core.document.face import NO_FACE, Answer, Face, Kind, Look, Role
from weboid.core.document.portrait import Portrait
from weboid.core.observe.observation import Observation
from weboid.core.record.moment import Moment
from weboid.core.record.policy import DEFAULT
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.specials import Special
from weboid.core.record.status import NO_CODE, Status
from weboid.core.verdict.verdict import Verdict
from weboid.crawl import leases
from weboid.maintain.consistency import check_store
from weboid.mechanism.tasks import cancel
from weboid.remote.crawl.work import Work
from weboid.store.schedule.lease import FairShare, Held, lease_buckets
from weboid.store.schedule.lease import find_share as fair_share
from weboid.store.upkeep import big_death
from weboid.store.upkeep.alarm import list_alarms

A, B = "http://a.demo/1", "http://b.demo/1"
HONEST = Face((Answer(1, Role.NEAR, 100, Look(Kind.HONEST)),))


def always(seen: Observation) -> Script:
    return lambda url, day: seen


async def test_a_host_with_more_urls_than_the_window_is_visited_again_in_the_same_round(database: str) -> None:
    async with open_wiki(database, {1: [f"http://a.demo/{n}" for n in range(150)]}) as wiki:
        assert (await wiki.round(100, always(FINE), per_host=60)).written == 150
        assert len(set(wiki.asked)) == 150


async def test_a_real_death_is_dead_after_a_fortnight_and_a_revival_found_at_the_next_check(database: str) -> None:
    async with open_wiki(database, {1: [A, B], 2: [A]}) as wiki:
        await wiki.rounds(_a_is_lost, range(100, 114))
        assert (await wiki.finding(A)).verdict is Verdict.DOUBTFUL
        assert not await wiki.dead()
        await wiki.rounds(_a_is_lost, range(114, 118))
        finding = await wiki.finding(A)
        assert (finding.verdict, finding.reason, finding.since) == (Verdict.DEAD, Reason.NOT_FOUND, 100)
        assert await wiki.dead() == {(1, key(A)), (2, key(A))}
        await wiki.rounds(always(FINE), range(118, 140))
        assert (await wiki.finding(A)).verdict is Verdict.WORKING
        assert not await wiki.dead()
        log = await wiki.do(list_changes, key(A))
        assert [(change.before, change.after) for change in log] == [
            (Verdict.DEAD, Verdict.WORKING),
            (Verdict.DOUBTFUL, Verdict.DEAD),
            (Verdict.UNKNOWN, Verdict.DOUBTFUL),
        ]


async def test_a_page_that_begins_to_use_a_dead_url_has_a_dead_link_at_once_and_loses_it_again(database: str) -> None:
    async with open_wiki(database, {1: [A]}) as wiki:
        await wiki.rounds(always(LOST), range(100, 120))
        await wiki.take_in({7: [A, B]}, 120)
        assert await wiki.do(list_dead, wiki.wiki.wiki, 7) == {key(A): 100}
        await wiki.take_in({7: [B]}, 121, latest=2)
        assert await wiki.dead() == {(1, key(A))}


async def test_the_exact_code_of_the_newest_check_is_kept(database: str) -> None:
    broken = Observation(Status.SYNTAX_OR_SERVER_ERROR, Reason.SERVER_ERROR, http=500)
    async with open_wiki(database, {1: [A]}) as wiki:
        for day, seen in (
            (100, broken),
            (103, structs.replace(broken, http=414)),
            (110, structs.replace(SILENT, http=NO_CODE)),
        ):
            await wiki.round(day, always(seen))
            assert (await wiki.known(A)).record.http == seen.http


async def test_of_a_host_that_is_down_three_urls_and_the_front_page_are_asked_and_dns_once(database: str) -> None:
    many = [f"http://a.demo/{n}" for n in range(30)]
    async with open_wiki(database, {1: many}) as wiki:
        tally = await wiki.round(100, always(SILENT))
        assert (tally.written, tally.inferred, len(wiki.asked)) == (30, 27, 4)
        assert len(set(wiki.asked)) == 4
        assert (100, "http://a.demo/") in wiki.asked
        assert [(await wiki.known(url)).record.http for url in many].count(NO_CODE) == 27
        wiki.asked.clear()
        tally = await wiki.round(103, always(NO_NAME))
        assert (tally.written, len(wiki.asked)) == (30, 1)


async def test_a_dead_host_makes_its_urls_dead_as_one_fact_and_revives_them_as_one(database: str) -> None:
    many, dead = [f"http://a.demo/{n}" for n in range(30)], 100 + DEFAULT.dead_span
    async with open_wiki(database, {1: many}) as wiki:
        await wiki.rounds(always(NO_NAME), range(100, dead))
        assert not await wiki.dead()
        await wiki.rounds(always(NO_NAME), range(dead, dead + 4))
        findings = [await wiki.finding(url) for url in many]
        assert {finding.verdict for finding in findings} == {Verdict.DEAD}
        assert Reason.HOST_DOWN in {finding.reason for finding in findings}
        assert await wiki.dead() == {(1, key(url)) for url in many}
        contacts = len(wiki.asked)
        assert contacts <= 18  # one each on every third day, on the last six before it is dead, and on that day
        # One URL answers: the host is no longer dead, so all its other URLs are asked anew the same day.
        await wiki.rounds(always(FINE), range(dead + 4, dead + 9))
        assert {(await wiki.finding(url)).verdict for url in many} == {Verdict.WORKING}
        assert not await wiki.dead()


async def test_a_host_on_which_much_hangs_is_dead_a_week_later_and_an_alarm_says_so_before(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(big_death, "MANY_USES", 2)
    urls, dead = ["http://a.demo/1", "http://a.demo/2", "http://a.demo/3"], 100 + DEFAULT.server_span
    async with open_wiki(database, {1: [*urls, "http://b.demo/"]}) as wiki:
        await wiki.rounds(always(NO_NAME), range(100, dead))
        assert await wiki.dead() == {(1, key("http://b.demo/"))}
        [alarm] = await wiki.do(list_alarms)
        assert (alarm.kind, alarm.subject) == ("host-dying", "a.demo")
        assert alarm.since <= dead - 7
        await wiki.rounds(always(NO_NAME), range(dead, dead + 3))
        assert {(await wiki.finding(url)).reason for url in urls} == {Reason.HOST_DOWN}
        assert await wiki.do(list_alarms) == []


async def test_an_orphaned_url_is_not_asked_and_comes_back_with_its_memory(database: str) -> None:
    async with open_wiki(database, {1: [A, B]}) as wiki:
        await wiki.rounds(always(LOST), range(100, 104))
        await wiki.take_in({1: [B]}, 104, latest=2)
        assert (await wiki.known(A)).orphaned == 104
        wiki.asked.clear()
        await wiki.rounds(always(LOST), range(104, 110))
        assert {url for _, url in wiki.asked} == {B}
        await wiki.take_in({1: [A, B]}, 110, latest=3)
        known = await wiki.known(A)
        assert (known.orphaned, known.record.streak.since) == (None, 100)
        await wiki.round(110, always(LOST))
        assert (110, A) in wiki.asked


async def test_a_stopped_round_ends_and_writes_what_is_under_way_and_leaves_the_rest_due(database: str) -> None:
    urls = [f"http://h{host}.demo/{path}" for host in range(10) for path in range(10)]
    async with open_wiki(database, {1: urls}) as wiki:
        thirty = asyncio.Event()

        async def slow(url: str) -> Observation:
            if len(wiki.asked) >= 30:
                thirty.set()
            await asyncio.sleep(0.01)
            return FINE

        work = wiki.new_round(100, lambda url, day: slow(url))
        running = asyncio.create_task(work.run())
        await thirty.wait()
        work.stop()
        tally = await running
        asked = {url for _, url in wiki.asked}
        assert tally.written == len(wiki.asked) == len(asked) < 100
        rest = await wiki.round(100, always(FINE))
        assert tally.written + rest.written == 100
        assert len(wiki.asked) == len({url for _, url in wiki.asked}) == 100


async def test_visits_to_hosts_whose_lease_is_lost_end_at_once(database: str) -> None:
    async with open_wiki(database, {1: [A, "http://a.demo/2"]}) as wiki:
        started, ended = asyncio.Event(), asyncio.Event()

        async def hangs(url: str) -> Observation:
            started.set()
            try:
                await asyncio.sleep(3600)
            finally:
                ended.set()
            return FINE

        late = asyncio.create_task(wiki.new_round(100, lambda url, day: hangs(url), worker="late", lease_s=0.3).run())
        async with asyncio.timeout(60):
            await started.wait()
            # A lease that runs out might be its own again before it has noticed that it was another's.
            await wiki.execute("UPDATE lease SET worker = 'other', epoch = epoch + 1, until = 'infinity'")
            await ended.wait()
            await wiki.execute("UPDATE lease SET until = '-infinity'")
            await until(lambda: len(wiki.asked) >= 2)
        late.cancel()
        await asyncio.gather(late, return_exceptions=True)


@pytest.mark.parametrize("late", [0.0, 0.4])
async def test_each_of_ten_workers_checks_half_of_its_share_of_few_hosts(
    database: str, monkeypatch: pytest.MonkeyPatch, late: float
) -> None:
    """However late one of them comes: a tenth of the hosts is its share, although others have begun with all."""
    monkeypatch.setattr(leases, "_SHARE_S", 0.1)
    monkeypatch.setattr(leases, "_GIVE_S", 0.02)
    hosts, paths, workers, busy = 60, 20, 10, set[str]()

    async def answer(url: str) -> Observation:
        host = url.split("/")[2]
        assert host not in busy, "two requests to one host at a time"
        busy.add(host)
        await asyncio.sleep(0.15)  # on busy cores their statements take a while
        busy.remove(host)
        return FINE

    async def work(number: int) -> int:
        await asyncio.sleep(late * (number == 0))
        return (await wiki.new_round(100, lambda url, day: answer(url), worker=f"w{number}").run()).written

    async with open_wiki(database, {1: [f"http://h{n}.demo/{p}" for n in range(hosts) for p in range(paths)]}) as wiki:
        written = await asyncio.gather(*map(work, range(workers)))
        assert sum(written) == len(wiki.asked) == len(set(wiki.asked)) == hosts * paths
        assert min(written) >= hosts * paths / workers / 2


async def test_hosts_that_must_be_left_to_another_worker_keep_no_place_in_the_window(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "_SHARE_S", 0.02)
    monkeypatch.setattr(leases, "_GIVE_S", 0.02)
    listed, shared, looked, full, busy = Work.list_urls, Work.find_share, asyncio.Event(), asyncio.Event(), set[str]()

    async def list_urls(self: Work, *asked: Any) -> Any:
        due = await listed(self, *asked)
        if asked[0] and not looked.is_set():
            async with wiki.pool.connection() as conn:
                await fair_share(conn, "other", Moment(100))
            await looked.wait()
        return due

    async def find_share(self: Work, until: Any) -> FairShare:
        share = await shared(self, until)
        if 0 < share.most < share.own:
            looked.set()  # half of the buckets are to be the other worker's from now on
        return share

    async def answer(url: str) -> Observation:
        busy.add(url)
        if len(busy) == 12:  # of 16 places; the others are filled when more than a quarter is free
            full.set()
        await full.wait()
        return FINE

    monkeypatch.setattr(Work, "list_urls", list_urls)
    monkeypatch.setattr(Work, "find_share", find_share)
    async with open_wiki(database, {1: [f"http://h{n}.demo/" for n in range(60)]}) as wiki:
        rounding = asyncio.create_task(wiki.new_round(100, lambda url, day: answer(url), worker="one").run())
        try:
            await asyncio.wait_for(full.wait(), 15)  # the wish of the other one ends after 20 s
        finally:
            await cancel(rounding)


async def test_leases_of_a_vanished_worker_are_taken_over_and_its_late_results_are_refused(database: str) -> None:
    async with open_wiki(database, {1: [A]}) as wiki:
        started, go_on = asyncio.Event(), asyncio.Event()

        async def hangs(url: str) -> Observation:
            started.set()
            await go_on.wait()
            return LOST

        late = asyncio.create_task(wiki.new_round(100, lambda url, day: hangs(url), worker="late", lease_s=600).run())
        await started.wait()
        other = asyncio.create_task(wiki.round(100, always(FINE)))
        while not other.done():  # as if its machine had hung for longer than the lease; it may be about to lease more
            await wiki.execute("UPDATE lease SET until = now() - interval '1 second' WHERE worker = 'late'")
            await asyncio.sleep(0.01)
        assert other.result().written == 1
        go_on.set()
        tally = await late
        assert (tally.written, (await wiki.finding(A)).verdict) == (0, Verdict.WORKING)


async def test_a_bucket_rests_before_another_worker_asks_its_hosts(database: str) -> None:
    async with open_wiki(database, {1: [f"http://a.demo/{n}" for n in range(4)]}) as wiki:
        times: list[float] = []

        async def timed() -> Observation:
            times.append(monotonic())
            await asyncio.sleep(0.05)
            return FINE

        first = wiki.new_round(100, lambda url, day: timed(), worker="one", delay=0.4)
        running = asyncio.create_task(first.run())
        await until(lambda: times)
        first.stop()
        await running
        done = len(times)
        await wiki.new_round(100, lambda url, day: timed(), worker="two", delay=0.4).run()
        assert times[done] - times[done - 1] >= 0.4
        assert len(times) == 4


async def test_a_lease_that_runs_out_in_between_ends_no_round(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_wiki(database, {1: [A]}) as wiki:
        await wiki.do(lease_buckets, "killed", until=Moment(100), limit=10, lease_s=60, rest_s=0)
        lease = Work.lease

        async def just_too_early(work: Work, until: Moment) -> Held:
            held = await lease(work, until)
            await wiki.execute("UPDATE lease SET until = '-infinity' WHERE worker = 'killed'")
            return held

        monkeypatch.setattr(Work, "lease", just_too_early)
        await wiki.round(100, always(FINE))
        assert wiki.asked == [(100, A)]


async def test_leases_run_out_and_are_given_anew_with_an_epoch_that_nobody_can_guess(database: str) -> None:
    given: dict[str, Any] = {"until": Moment(100), "limit": 10, "lease_s": 60, "rest_s": 0}
    async with open_wiki(database, {1: [A]}) as wiki:
        first = await wiki.do(lease_buckets, "one", **given)
        assert await wiki.do(lease_buckets, "two", **given) == {}
        await wiki.execute("UPDATE lease SET until = now()")
        second = await wiki.do(lease_buckets, "two", **given)
        assert first.keys() == second.keys() == {key(A).bucket}
        assert second[key(A).bucket] != first[key(A).bucket]
        assert min(second[key(A).bucket], first[key(A).bucket]) > 2**32


@pytest.mark.long
@settings(max_examples=2, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lives=st.lists(
        st.lists(st.sampled_from([FINE, LOST, WALL, SILENT]), min_size=40, max_size=40), min_size=12, max_size=12
    ),
    gone=st.lists(st.integers(0, 40), min_size=4, max_size=4),
)
async def test_the_log_and_the_dead_links_always_agree_with_the_records(
    database: str, lives: list[list[Observation]], gone: list[int]
) -> None:
    example = next(_examples)  # the database is the same in all examples, the hosts are not
    urls = [f"http://h{n}-{example}.demo/{path}" for n in range(4) for path in range(3)]
    pages = {1: urls[:8], 2: urls[4:]}
    fronts = [f"http://h{n}-{example}.demo/" for n in range(4)]  # what is asked whether a host is away
    last = {url: gone[n // 3] for n, url in enumerate(urls)} | dict(zip(fronts, gone, strict=True))
    life = dict(zip([*urls, *fronts], [*lives, *lives[::3]], strict=True))
    async with open_wiki(database, pages, latest=example) as wiki:
        for day in range(100, 140):
            await wiki.round(day, lambda url, day: NO_NAME if day - 100 >= last[url] else life[url][day - 100])
            if day % 4 == 3:  # what is wrong stays so for days
                found = await check_store(wiki.pool, day)
                assert not found.found, (day, found.described)


_examples = itertools.count(1)


@pytest.mark.parametrize(
    ("seen", "asked", "days"),
    [
        (Observation(Status.UNAVAILABLE, Reason.RATE_LIMIT, retry_after_s=3_600), 1, 1),
        (Observation(Status.UNAVAILABLE, Reason.RATE_LIMIT, retry_after_s=1.5 * 86_400), 1, 2),
        (LIMITED, 3, 1),
    ],
    ids=["an hour", "one and a half days", "three limits in a row"],
)
async def test_a_host_that_wants_a_rest_has_its_other_urls_asked_on_the_day_it_names(
    database: str, seen: Observation, asked: int, days: int
) -> None:
    async with open_wiki(database, {1: [f"http://a.demo/{number}" for number in range(5)]}) as wiki:
        tally = await wiki.round(100, always(seen))
        assert (tally.written, tally.postponed, len(wiki.asked)) == (asked, 5 - asked, asked)
        assert (await wiki.round(99 + days, always(FINE))).written == 0
        assert (await wiki.round(100 + days, always(FINE))).written == 5 - asked


@pytest.mark.parametrize("outcome", [Outcome.WORKING, Outcome.FAILING, None])
async def test_what_another_place_finds_working_is_never_called_dead_and_what_fails_there_or_gets_no_answer_is(
    database: str, outcome: Outcome | None
) -> None:
    asked: list[str] = []

    async def second_opinion(url: str) -> Outcome | None:
        asked.append(url)
        return outcome

    async with open_wiki(database, {1: [A, B]}) as wiki:
        await wiki.rounds(_a_is_lost, range(100, 130), second_opinion=second_opinion)
        deaths = await wiki.rows("SELECT FROM change WHERE after = 3")
        assert len(deaths) == (outcome is not Outcome.WORKING)
        # Asked only where a strike would be the last, which from then on is no strike.
        assert set(asked) == {A}
        assert 1 <= len(asked) < 5


async def test_a_need_that_was_tried_anew_and_has_gone_is_forgotten(database: str) -> None:
    switched = Observation(Status.SCHEME_SWITCHED, Reason.NEEDS_HTTPS, needs=frozenset({Special.NEEDS_HTTPS}))
    async with open_wiki(database, {1: [A, B]}) as wiki:
        await wiki.round(100, lambda url, day: switched if url == A else FINE)
        assert await wiki.rows("SELECT kind, since FROM special") == [(Special.NEEDS_HTTPS.value, 100)]
        await wiki.round(107, always(FINE))
        assert Special.NEEDS_HTTPS in next(each.needs for each in reversed(wiki.questions) if each.url == A)
        assert await wiki.rows("SELECT kind FROM special")
        await wiki.round(140, always(FINE))
        assert await wiki.rows("SELECT kind FROM special") == []


PORTRAIT = Portrait((1, 2), 3, 5, 1)
OTHER = Portrait((7, 8), 0, 2**64 - 6, 2, is_own=True)


async def test_a_portrait_is_kept_and_not_overwritten_by_a_stranger(database: str) -> None:
    """After a failure who answers may be one: a doubt at once, until the document is there again."""
    other = structs.replace(FINE, portrait=OTHER)
    missing = Observation(Status.NOT_FOUND, Reason.NOT_FOUND)
    seen = {100: FINE, 107: structs.replace(FINE, portrait=PORTRAIT), 115: missing}
    async with open_wiki(database, {1: [A]}) as wiki:
        for day in (100, 107, 115, 118, 126, 134):
            await wiki.round(day, always(seen.get(day, other)))
        assert [question.earlier for question in wiki.questions] == [None, None, *[PORTRAIT] * 4]
        assert [question.looks for question in wiki.questions[3:]] == [True, True, True]
        assert not any(question.portrays for question in wiki.questions[3:])
        finding = await wiki.finding(A)
        assert (finding.verdict, finding.reason) == (Verdict.DOUBTFUL, Reason.REPLACED)
        await wiki.round(142, always(structs.replace(FINE, portrait=PORTRAIT)))
        assert (await wiki.finding(A)).verdict is Verdict.WORKING


async def test_a_new_owner_is_a_fact_of_the_host_and_ends_where_a_document_is_recognised(database: str) -> None:
    urls = [f"http://a.demo/{number}" for number in range(4)]
    own = {url: replace(PORTRAIT, title=(number, 100)) for number, url in enumerate(urls)}
    kinds = "SELECT kind FROM special"

    def before(url: str, day: int) -> Observation:
        return structs.replace(FINE, portrait=own[url])

    async with open_wiki(database, {1: urls}) as wiki:
        await wiki.rounds(before, range(100, 140))
        await wiki.rounds(always(structs.replace(FINE, portrait=OTHER)), range(140, 161))
        found = [await wiki.finding(url) for url in urls]
        assert {(finding.verdict, finding.reason) for finding in found} == {(Verdict.DOUBTFUL, Reason.REPLACED)}
        assert await wiki.rows(kinds) == [(Special.NEW_OWNER.value,)]
        await wiki.rounds(before, range(161, 175))
        assert {(await wiki.finding(url)).verdict for url in urls} == {Verdict.WORKING}
        assert await wiki.rows(kinds) == []


@pytest.mark.parametrize("away", [SILENT, NO_NAME])
async def test_a_host_that_was_away_is_trusted_in_nothing_when_it_is_back(database: str, away: Observation) -> None:
    """What it said of made-up addresses is forgotten, and all that is due is looked at."""
    urls = [f"http://a.demo/{number}" for number in range(4)]
    honest = structs.replace(FINE, face=HONEST, portrait=PORTRAIT)
    async with open_wiki(database, {1: [*urls, B]}) as wiki:
        await wiki.rounds(always(honest), range(100, 118))
        await wiki.rounds(lambda url, day: FINE if url == B else away, range(118, 160))
        faces = [each.face for each in wiki.questions if each.url == urls[0] and 100 < each.day < 118]
        assert faces[-1] == HONEST
        wiki.questions.clear()
        await wiki.rounds(always(FINE), range(160, 193))
        first = {url: next(each for each in wiki.questions if each.url == url) for url in urls}
        for question in first.values():
            assert (question.looks, question.portrays) == (True, False)
            assert question.face == NO_FACE
            assert question.earlier == PORTRAIT
        assert await wiki.rows("SELECT host FROM face JOIN host USING (bucket, host_key)") == [("b.demo",)]
        assert await wiki.rows(
            "SELECT DISTINCT kind FROM special JOIN host USING (bucket, host_key) WHERE host.host = 'a.demo'"
        ) == [(Special.RETURNED.value,)]


async def test_a_url_that_was_not_due_while_its_host_was_away_is_looked_at_at_its_next_check(database: str) -> None:
    """It last worked, and its host's record has been cleared by the answer of another one."""
    urls = [f"http://a.demo/{number}" for number in range(2)]
    async with open_wiki(database, {1: [urls[0], B]}) as wiki:
        await wiki.rounds(always(FINE), range(100, 120))
        due = (await wiki.known(urls[0])).due

        def script(url: str, day: int) -> Observation:
            return NO_NAME if day == due and "a.demo" in url else structs.replace(FINE, portrait=PORTRAIT)

        await wiki.rounds(script, range(120, due - 1))
        await wiki.take_in({1: [*urls, B]}, due - 1, latest=2)
        await wiki.round(due - 1, script)
        checked = (await wiki.known(urls[1])).record.checked
        assert checked is not None
        assert checked < due
        await wiki.rounds(script, range(due, due + 4))
        assert (await wiki.known(urls[0])).record.checked == due + 3
        wiki.questions.clear()
        await wiki.rounds(script, range(due + 4, due + 12))
        question = next(each for each in wiki.questions if each.url == urls[1])
        assert (question.looks, question.portrays) == (True, False)


def _a_is_lost(url: str, day: int) -> Observation:
    return LOST if url == A else FINE
