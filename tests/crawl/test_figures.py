"""What a crawler counts of itself (O-5): what was written, how long checks took, what is under way."""

import asyncio
from dataclasses import replace

import pytest
from msgspec import structs
from support.observations import FINE, LOST
from support.stored import open_wiki

from weboid.checking.turns import NotAsked
from weboid.config import NetConfig
from weboid.core.observe.check_request import CheckRequest
from weboid.core.observe.observation import Observation
from weboid.crawl.figures import CrawlFigures
from weboid.mechanism.loop_lag import LoopLag
from weboid.net.outbound import open_session
from weboid.store.schedule.process import BUCKETS_S, CrawlerFigure, bucket_figure, reason_figure

QUESTION = CheckRequest("https://one.demo/", frozenset())
SETTINGS = NetConfig(connections=7)


async def test_what_is_written_is_counted_by_its_reason(database: str) -> None:
    links = [f"https://h{number}.demo/" for number in range(5)]
    held = structs.replace(LOST, held=True)
    async with open_wiki(database, {1: links}, day=100) as stored, open_session(SETTINGS) as session:
        figures = CrawlFigures(session, LoopLag())
        answers = {links[0]: held, links[1]: LOST}
        await stored.new_round(100, lambda url, day: answers.get(url, FINE), count=figures.count).run()
        values = figures.read()
    assert (values[reason_figure(FINE.reason)], values[reason_figure(LOST.reason)]) == (3, 2)
    assert values[CrawlerFigure.HELD] == 1
    assert 0 <= values[CrawlerFigure.IDLE] < 60
    assert values.get(CrawlerFigure.POSTPONED, 0) == 0


async def test_checks_under_way_and_seats_are_reported_while_they_are() -> None:
    going = asyncio.Event()

    async def ask(_: CheckRequest) -> Observation:
        await going.wait()
        return FINE

    async with open_session(SETTINGS) as session:
        figures = CrawlFigures(session, LoopLag())
        async with session.seats:
            checks = [asyncio.ensure_future(figures.timed(ask)(QUESTION)) for _ in range(3)]
            await asyncio.sleep(0)
            values = figures.read()
            assert (values[CrawlerFigure.OPEN], values[CrawlerFigure.SEATS_USED], values[CrawlerFigure.SEATS]) == (
                3,
                1,
                7,
            )
            going.set()
            await asyncio.gather(*checks)
        values = figures.read()
        assert (values[CrawlerFigure.OPEN], values[CrawlerFigure.SEATS_USED]) == (0, 0)
        assert sum(values.get(bucket_figure(place), 0) for place in range(len(BUCKETS_S) + 1)) == 3


async def test_a_check_that_was_not_made_is_counted_as_such() -> None:
    async def refuse(_: CheckRequest) -> Observation:
        raise NotAsked("no turn")

    async with open_session(SETTINGS) as session:
        figures = CrawlFigures(session, LoopLag())
        with pytest.raises(NotAsked):
            await figures.timed(refuse)(QUESTION)
        values = figures.read()
    assert (values[CrawlerFigure.NOT_ASKED], values[CrawlerFigure.OPEN], values[CrawlerFigure.SECONDS]) == (1, 0, 0)


async def test_a_wait_for_a_seat_that_is_given_up_takes_none() -> None:
    async with open_session(replace(SETTINGS, connections=1)) as session:
        async with session.seats:
            waiting = asyncio.create_task(session.seats.acquire())
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            assert session.seats.used == 1
        assert session.seats.used == 0
        async with session.seats:
            assert session.seats.used == 1


async def test_queries_to_name_servers_that_nobody_answers_are_failures() -> None:
    async with open_session(NetConfig(dns=("127.0.0.1:9",))) as session:
        await session.resolver.find_address("nobody.demo")
        assert session.resolver.queries == session.resolver.failures >= 1
