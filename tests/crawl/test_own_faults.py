"""An error of our own within a visit: it concerns one host, is counted, and never ends a round."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from support.observations import FINE, LOST
from support.remote import crawler_client, open_server, server_config
from support.stored import NAMES_ALONE, WikiInStore, open_wiki

from weboid.config import CrawlConfig
from weboid.core.observe.check_request import CheckRequest
from weboid.core.observe.observation import Observation
from weboid.core.record.moment import Moment
from weboid.core.record.policy import DEFAULT
from weboid.core.record.reasons import Reason
from weboid.core.record.status import Status
from weboid.core.url.urls import parse
from weboid.crawl import visit
from weboid.crawl.own_faults import ALARMING, OwnFaults, kind_of
from weboid.crawl.round import Round
from weboid.errors import DayRefused, StoreError, StoreRefuses, ValuesRefused
from weboid.remote.crawl.calls import CrawlStore, local_crawl_store, remote_crawl_store
from weboid.remote.crawl.work import Work
from weboid.store.db.rows import HostKey
from weboid.store.results.record import Checked, Tally
from weboid.store.schedule.lease import Held
from weboid.store.upkeep.alarm import Alarm, AlarmKind, list_alarms

BAD = [f"http://bad.demo/{number}" for number in range(4)]
GOOD = [f"http://h{host}.demo/{path}" for host in range(6) for path in range(2)]
DAY = 100
CONFIG = server_config().crawl


class Broken(RuntimeError):
    """A planted error."""


class Crawl:
    """A store with due links, a crawler of it, and what it does where `broken` says so."""

    def __init__(self, wiki: WikiInStore, core: CrawlStore) -> None:
        self.wiki = wiki
        self.core = core
        self.day = DAY
        self.counted = 0
        self.asked: list[str] = []
        self.faults = OwnFaults(core.alarms, lambda: self.day, self.count)

    def count(self) -> None:
        self.counted += 1

    async def round(self, answer: Callable[[str], Observation]) -> Tally:
        async def ask(request: CheckRequest) -> Observation:
            self.asked.append(request.url)
            await asyncio.sleep(0)
            return answer(request.url)

        return await Round(
            self.core.work,
            ask,
            NAMES_ALONE,
            now=lambda: Moment(self.day),
            config=CONFIG,
            connections=10,
            policy=DEFAULT,
            failed=self.faults.met,
        ).run()

    async def alarms(self) -> list[Alarm]:
        return [alarm for alarm in await self.wiki.do(list_alarms) if alarm.kind == AlarmKind.OWN_FAULT]


@pytest.fixture(params=["store", "http"])
async def crawl(request: pytest.FixtureRequest, database: str) -> AsyncIterator[Crawl]:
    async with AsyncExitStack() as stack:
        wiki = await stack.enter_async_context(open_wiki(database, {1: [*BAD, *GOOD]}))
        if request.param == "store":
            core = local_crawl_store(wiki.pool, "one", CONFIG, DEFAULT)
        else:
            url = await stack.enter_async_context(open_server(wiki.pool))
            core = remote_crawl_store(await stack.enter_async_context(crawler_client(url, "one")))
        yield Crawl(wiki, core)


def breaking(at: str, seen: Observation = FINE) -> Callable[[str], Observation]:
    def answer(url: str) -> Observation:
        if url.startswith(at):
            raise Broken(f"planted at {url}")
        return seen

    return answer


async def test_an_error_within_a_visit_puts_its_host_alone_off(crawl: Crawl, caplog: pytest.LogCaptureFixture) -> None:
    tally = await crawl.round(breaking("http://bad."))
    assert (tally.written, tally.postponed) == (len(GOOD), len(BAD))
    assert sum(url in BAD for url in crawl.asked) == 1
    for url in BAD:
        known = await crawl.wiki.known(url)
        assert (known.record.history, known.record.streak.strikes, known.due) == ((), 0, DAY + 1)
        assert known.host.streak.strikes == 0
    assert {(await crawl.wiki.known(url)).record.checked for url in GOOD} == {DAY}
    (line,) = [each for each in caplog.records if each.name.endswith("own_faults")]
    assert (line.levelno, crawl.counted, crawl.faults.total) == (logging.ERROR, 1, 1)
    assert "'http://bad.demo/" in line.getMessage()
    assert line.exc_info
    assert isinstance(line.exc_info[1], Broken)


async def test_what_a_visit_had_recorded_before_its_error_stays(crawl: Crawl) -> None:
    seen = 0

    def answer(url: str) -> Observation:
        nonlocal seen
        if url in BAD:
            seen += 1
            if seen == 3:
                raise Broken
        return LOST

    tally = await crawl.round(answer)
    assert (tally.written, tally.postponed) == (len(GOOD) + 2, 2)
    records = [(await crawl.wiki.known(url)).record for url in BAD]
    assert sorted(record.streak.strikes for record in records) == [0, 0, 1, 1]
    crawl.day += 1
    assert (await crawl.round(lambda _: FINE)).written == 2


@pytest.mark.parametrize("name", ["judge", "portioned"])
async def test_an_error_at_the_beginning_or_in_the_middle_of_a_visit_is_its_hosts_alone(
    crawl: Crawl, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    real, host_key = getattr(visit, name), (await crawl.wiki.known(BAD[0])).key.host_key

    def broken(*given: object, **named: object) -> object:
        if "bad.demo" in repr(given) or named.get("host_key") == host_key:
            raise Broken
        return real(*given, **named)

    monkeypatch.setattr(visit, name, broken)
    tally = await crawl.round(lambda _: FINE)
    assert (tally.written, tally.postponed, crawl.faults.total) == (len(GOOD), len(BAD), 1)


async def test_failures_of_our_sockets_are_no_errors_of_the_program(crawl: Crawl) -> None:
    def answer(url: str) -> Observation:
        if url in BAD:
            raise OSError(24, "too many open files")
        return FINE

    tally = await crawl.round(answer)
    assert (tally.written, tally.postponed, crawl.faults.total) == (len(GOOD), len(BAD), 0)


async def test_what_ends_a_round_on_purpose_still_does(crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise DayRefused("the clock has jumped")

    monkeypatch.setattr(visit, "judge", refused)
    with pytest.raises(DayRefused):
        await crawl.round(lambda _: FINE)
    assert crawl.faults.total == 0


async def test_rounds_of_a_day_count_together_and_a_short_one_does_not_lower_the_alarm(crawl: Crawl) -> None:
    faults = crawl.faults

    def meet(hosts: range) -> None:
        for number in hosts:
            try:
                breaking("")(f"http://s{number}.demo/")
            except Broken as error:
                faults.met(HostKey(1, number), f"http://s{number}.demo/", error)

    meet(range(ALARMING - 1))
    meet(range(ALARMING - 1))
    await faults.look(is_whole_day=False)
    assert await crawl.alarms() == []
    meet(range(ALARMING, ALARMING + 1))
    for _ in range(2):
        await faults.look(is_whole_day=False)
        assert len(await crawl.alarms()) == 1
    crawl.day += 1
    await faults.look(is_whole_day=False)  # The day before was one with the alarm.
    assert len(await crawl.alarms()) == 1
    crawl.day += 1
    await faults.look(is_whole_day=False)
    assert await crawl.alarms() == []


def test_errors_are_the_same_by_type_and_by_our_innermost_line() -> None:
    def caught(url: str) -> BaseException:
        try:
            parse(url)
        except ValueError as error:
            return error
        raise AssertionError

    assert kind_of(caught("mailto:a")) == kind_of(caught("tel:1"))
    assert kind_of(caught("mailto:a")) != kind_of(caught("http://"))
    assert kind_of(caught("mailto:a")).startswith("InvalidUrl in weboid.core.url.urls:")
    assert str(Path.cwd()) not in kind_of(caught("mailto:a"))
    assert kind_of(Broken()) == "Broken in nowhere"


class Unwritable(Work):
    """The store, which refuses the results of some URLs, or all with `refusal`."""

    def __init__(self, wiki: WikiInStore, refusal: Exception, *, also_put_off: bool = False) -> None:
        super().__init__(wiki.pool, "test", CrawlConfig(delay=0.0), DEFAULT)
        self.refusal = refusal
        self.also_put_off = also_put_off

    async def record(self, checks: Sequence[Checked], held: Held) -> Tally:
        if any(str(each.url.url) == BAD[1] and (each.seen or self.also_put_off) for each in checks):
            raise self.refusal
        return await super().record(checks, held)


def unwritable(wiki: WikiInStore, refusal: Exception, *, also_put_off: bool = False) -> Crawl:
    crawl = Crawl(wiki, local_crawl_store(wiki.pool, "one", CONFIG, DEFAULT))
    work: dict[str, object] = {"work": Unwritable(wiki, refusal, also_put_off=also_put_off)}
    crawl.core = CrawlStore(**{**{name: getattr(crawl.core, name) for name in CrawlStore.__slots__}, **work})
    return crawl


@pytest.mark.parametrize("refusal", [Broken(), ValuesRefused("no values"), StoreRefuses("a day to come (day)")])
async def test_a_result_that_cannot_be_written_keeps_no_other_unwritten(database: str, refusal: Exception) -> None:
    async with open_wiki(database, {1: [*BAD, *GOOD]}) as wiki:
        crawl = unwritable(wiki, refusal)
        await crawl.round(lambda _: FINE)
        assert {(await wiki.known(url)).record.checked for url in GOOD} == {DAY}
        assert (await wiki.known(BAD[1])).record.checked is None
        assert (await wiki.known(BAD[1])).due == DAY + 1
        assert crawl.faults.total == 1


@pytest.mark.parametrize(("refusal", "also_put_off"), [(StoreError("the core refuses us"), False), (Broken(), True)])
async def test_a_store_that_takes_nothing_from_us_ends_the_round(
    database: str, monkeypatch: pytest.MonkeyPatch, refusal: Exception, also_put_off: bool
) -> None:
    monkeypatch.setattr("weboid.crawl.round._GRACE_S", 0.1)
    async with open_wiki(database, {1: [*BAD, *GOOD]}) as wiki:
        with pytest.raises(type(refusal)):
            await unwritable(wiki, refusal, also_put_off=also_put_off).round(lambda _: FINE)


async def test_a_remote_crawler_survives_a_result_that_the_core_does_not_take(database: str) -> None:
    impossible = Observation(Status.FINE, Reason.OK, "no://target", http=200)
    async with (
        open_wiki(database, {1: [*BAD, *GOOD]}) as wiki,
        open_server(wiki.pool) as url,
        crawler_client(url, "one") as caller,
    ):
        crawl = Crawl(wiki, remote_crawl_store(caller))
        tally = await crawl.round(lambda url: impossible if url in BAD else FINE)
        assert (tally.written, tally.postponed, crawl.faults.total) == (len(GOOD), len(BAD), 1)
