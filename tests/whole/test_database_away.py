"""The database is cut off, stalls, falls silent or turns read-only under the real commands, at any moment.

What kills a program or the embedded server is in ``test_faults``.
"""

import asyncio
import re
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Final

import aiohttp
import pytest
from support.away import URLS, Running, fed_place
from support.commands import Place
from support.repeats import IS_THOROUGH, TIMES, thorough

_GRACE_S: Final = 14.0
"""Toolforge kills 15 s after SIGTERM."""
_AWAY_S: Final = 6.5
"""So soon a command that knows that the database is away ends: 5 s, and what a busy machine takes."""
_ANSWERED_S: Final = 18.0
"""A statement is found silent after 12 s; then nobody waits longer than a second, and eight wait in lanes of two."""
TROUBLES: Final = ("cut", "stall", "swallow", "read-only")
_LONG: Final = [
    pytest.param(trouble, number, marks=pytest.mark.long)
    for trouble in TROUBLES
    for number in TIMES
    if trouble != "cut" or IS_THOROUGH
]


async def _crawling(place: Place, *words: str) -> Running:
    return Running(await place.start("crawl", "--day", "100", *words))


def _asked(place: Place, count: int) -> Callable[[], bool]:
    """Whether the little web has been asked so often."""
    return lambda: len(place.web.requests) >= count if place.web else False


def _assert_reported(running: Running, *, is_over: bool = True) -> None:
    """It said once that the database is away, and once that it is over, and has nothing else to complain about."""
    assert running.count("the database is away: ") == 1, running.said[-3000:]
    assert running.count("it is over: the database is away") == is_over, running.said[-3000:]
    assert "Traceback" not in running.said
    assert "psycopg" not in running.said


async def _assert_nothing_lost(place: Place) -> None:
    """Every due URL has one result of this day, and the store is in order."""
    lines = (await place.run("show", "--json", "demowiki@wmflabs:All")).lines()
    assert len(lines) == len(URLS)
    for line in lines:
        assert [entry["first"] for entry in line["history"]] == ["2017-04-11"], line
        assert (line["strikes"], line["verdict"]) == (0, "working")
    checked = await place.run("check-store")
    assert checked.status == 0, checked.out + checked.err


@pytest.mark.parametrize(("trouble", "number"), [("cut", 0), *_LONG])
async def test_a_round_goes_on_when_the_database_is_back(
    database: str, tmp_path: Path, trouble: str, number: int
) -> None:
    async with fed_place(tmp_path, database) as (place, away):
        crawl = await _crawling(place, "--once")
        await crawl.until(_asked(place, 15 + 17 * number))
        await away.begin(trouble)
        if trouble == "stall":
            await asyncio.sleep(0.2 * number)  # as short a stall as a slow net makes, or longer than a silence
        else:
            await crawl.until(lambda: crawl.count("the database is away: ") > 0)
        await away.end()
        assert await crawl.ended() == 0, crawl.said[-3000:]
        if trouble != "stall":
            _assert_reported(crawl)
        await _assert_nothing_lost(place)


@pytest.mark.long
@pytest.mark.parametrize("is_passed", [True, False])
@pytest.mark.parametrize("number", TIMES)
async def test_a_cut_in_the_middle_of_recording_loses_and_doubles_nothing(
    database: str, tmp_path: Path, number: int, is_passed: bool
) -> None:
    async with fed_place(tmp_path, database) as (place, away):
        crawl = await _crawling(place, "--once")
        await crawl.until(_asked(place, 10 * number))
        away.proxy.cut_at(b"COMMIT", is_passed=is_passed)
        await crawl.until(lambda: away.proxy.is_cut and crawl.count("the database is away: ") > 0)
        await away.end()
        assert await crawl.ended() == 0, crawl.said[-3000:]
        _assert_reported(crawl)
        await _assert_nothing_lost(place)


@pytest.mark.long
@pytest.mark.parametrize(
    ("trouble", "is_known"),
    [
        ("cut", True),
        ("swallow", False),
        *thorough(
            ("stall", True),
            ("swallow", True),
            ("read-only", True),
            *((each, False) for each in TROUBLES if each != "swallow"),
        ),
    ],
)
async def test_a_round_is_stopped_while_the_database_is_away_and_the_next_one_goes_on(
    database: str, tmp_path: Path, trouble: str, is_known: bool
) -> None:
    async with fed_place(tmp_path, database) as (place, away):
        if not is_known:
            place.environ["WEBOID_DATABASE_SILENCE_S"] = "10"
        crawl = await _crawling(place)
        await crawl.until(_asked(place, 40))
        await away.begin(trouble)
        if is_known:
            await crawl.until(lambda: crawl.count("the database is away: ") > 0)
        assert await crawl.stop() < (_AWAY_S if is_known else _GRACE_S), crawl.said[-3000:]
        assert crawl.count("the database is away: ") <= 1
        assert "Traceback" not in crawl.said
        await away.end()
        again = await _crawling(place, "--once")
        assert await again.ended() == 0, again.said[-3000:]
        await _assert_nothing_lost(place)


@pytest.mark.parametrize(
    ("command", "trouble"),
    [
        ("crawl", "cut"),
        pytest.param("crawl", "swallow", marks=pytest.mark.long),
        pytest.param("archive", "read-only", marks=pytest.mark.long),
        pytest.param("serve --port=0", "stall", marks=pytest.mark.long),
        pytest.param("serve --port=0 --workers=2", "cut", marks=pytest.mark.long),
    ],
)
async def test_a_part_whose_database_is_away_at_its_start_waits_and_can_be_stopped(
    database: str, tmp_path: Path, command: str, trouble: str
) -> None:
    async with fed_place(tmp_path, database) as (place, away):
        await away.begin(trouble)
        before = away.proxy.connected
        part = Running(await place.start(*command.split(), "--day", "100"))
        if trouble == "cut" or trouble == "read-only":
            await part.until(lambda: part.count("the database is away: ") > 0)
        else:
            await part.until(lambda: away.proxy.connected > before)
            await asyncio.sleep(0.3)  # it is in the middle of connecting
        assert await part.stop() < _AWAY_S, part.said[-3000:]
        assert part.count("the database is away: ") <= 1
        assert "Traceback" not in part.said


@pytest.mark.long
@pytest.mark.parametrize("trouble", ["read-only", *thorough("cut", "swallow")])
async def test_a_crawler_that_starts_without_its_database_does_its_work_when_it_is_there(
    database: str, tmp_path: Path, trouble: str
) -> None:
    async with fed_place(tmp_path, database) as (place, away):
        await away.begin(trouble)
        crawl = await _crawling(place)
        await crawl.until(lambda: crawl.count("the database is away: ") > 0)
        await away.end()
        await crawl.until(lambda: crawl.count("100 checks in") > 0)
        await crawl.until(lambda: crawl.count("it is over: ") > 0)
        assert await crawl.stop() < _GRACE_S
        _assert_reported(crawl)
        await _assert_nothing_lost(place)


@pytest.mark.long
@pytest.mark.parametrize(
    ("trouble", "workers"),
    [
        ("cut", 1),
        ("swallow", 2),
        *thorough(("cut", 2), ("swallow", 1), *product(("stall", "read-only"), (1, 2))),
    ],
)
async def test_the_webservice_answers_503_promptly_and_recovers(
    database: str, tmp_path: Path, trouble: str, workers: int
) -> None:
    async with fed_place(tmp_path, database) as (place, away), aiohttp.ClientSession() as client:
        serve = Running(await place.start("serve", "--port=0", f"--workers={workers}"))
        await serve.until(lambda: serve.count("Weboid answers at ") > 0)
        url = re.search(r"http://\S+/", serve.said)
        assert url

        async def is_answered(page: int) -> bool:
            async with client.get(f"{url[0]}api/page?dbname=demowiki@wmflabs&pageid={page}") as answer:
                assert answer.status in (200, 503)
                return answer.status == 200

        async def find_answers(pages: range) -> set[bool]:
            return set(await asyncio.gather(*map(is_answered, pages)))

        assert await find_answers(range(1, 5)) == {True}
        await away.begin(trouble)
        begun = time.monotonic()
        # Answers are kept for a while: other pages than before.
        assert await find_answers(range(5, 13)) == {trouble == "read-only"}
        assert time.monotonic() - begun < _ANSWERED_S
        await away.end()
        limit = time.monotonic() + 30
        while await find_answers(range(5, 13)) != {True}:
            assert time.monotonic() < limit, serve.said[-3000:]
        await away.begin(trouble)
        assert await serve.stop() < _GRACE_S
        assert "Traceback" not in serve.said
        assert "psycopg" not in serve.said
