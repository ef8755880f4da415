import asyncio
import logging
from itertools import pairwise
from typing import Never
from unittest.mock import AsyncMock, Mock

import pytest
from aiohttp.test_utils import make_mocked_request
from support.webservice import Site

from weboid.web.errors import Errors, Held
from weboid.web.request.problem import Problem

REQUESTS = 40


async def test_a_database_that_is_away_costs_a_line_and_not_one_a_request(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    await site.wiki.pool.close()
    caplog.clear()
    paths = [f"/lists/dead?dbname=testwiki@wmflabs&after={number}.0" for number in range(REQUESTS // 2)]
    paths += ["/api/page?dbname=testwiki@wmflabs&pageid=2"] * (REQUESTS // 2)
    assert {(await site.fetch(path))[0] for path in paths} == {503}
    logged = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(logged) == len({line.partition(":")[0] for line in logged}) < 6
    assert [line for line in logged if line.startswith("the database is away: ")]


async def test_refusals_are_sent_a_few_in_a_turn_of_the_loop_and_in_their_order() -> None:
    held, turns = Held(0.01, 3), list[list[int]]()
    tasks = [asyncio.create_task(held.wait()) for _ in range(10)]
    await asyncio.sleep(0)
    tasks[4].cancel()
    while not all(task.done() for task in tasks):
        turns.append([number for number, task in enumerate(tasks) if task.done()])
        await asyncio.sleep(0)
    assert sorted({len(turn) for turn in turns}) == [0, 1, 4, 6, 9]
    assert turns[-1] == list(range(9))


async def test_errors_are_made_and_sent_a_few_in_a_turn_of_the_loop() -> None:
    async def fail(*_: object) -> Never:
        raise Problem(400, "method")

    page, counts = AsyncMock(return_value=""), {0, REQUESTS}
    middleware = Errors(page).middleware
    asked = [make_mocked_request("GET", "/", writer=Mock(output_size=0)) for _ in range(REQUESTS)]
    tasks = [asyncio.ensure_future(middleware(each, fail)) for each in asked]
    while not all(task.done() for task in tasks):
        counts.add(page.call_count)
        await asyncio.sleep(0)
    assert {task.result().status for task in tasks} == {400}
    assert max(after - before for before, after in pairwise(sorted(counts))) <= 4


async def test_an_address_with_slashes_at_its_end_leads_to_the_one_without(site: Site) -> None:
    for path in ("/help/?lang=de", "/wiki/testwiki//", "/api/page/?dbname=testwiki&pageid=2&lang=de"):
        http, _, answer = await site.fetch(path)
        assert (http, [each.status for each in answer.history]) == (200, [308])
        address, _, query = path.partition("?")
        assert answer.history[0].headers["Location"] == address.rstrip("/") + (query and f"?{query}")
    for path in ("/", "//", "////", "/nothing/", "//example.org/", "/help/x/", "/page/testwiki/"):
        assert [each.status for each in (await site.fetch(path))[2].history] == []
    assert [(await site.fetch(path, method="PUT"))[0] for path in ("/help/", "/page/testwiki/A/")] == [405, 405]
