"""The database is cut off, stalls, falls silent or turns read-only under the real commands, at any moment.

So that nothing of a round is lost or doubled; nor is it where the round is ended.
"""

import asyncio
import re
import time
from collections import Counter
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Final

import aiohttp
import pytest
from support.away import AWAY, URLS, Running, fed_place
from support.commands import Place
from support.ports import free_port
from support.repeats import IS_THOROUGH, TIMES, thorough
from support.systemd import Systemd
from support.toolforge import REPOSITORY

from weboid.web.formats.static_files import style

_GRACE_S: Final = 14.0
"""Toolforge kills 15 s after SIGTERM."""
_ANSWERED_S: Final = 18.0
"""A statement is found silent after 12 s; then nobody waits longer than a second, and eight wait in lanes of two."""
_PAGE: Final = "api/page?dbname=demowiki@wmflabs&pageid=2"
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
    return lambda: len(place.web.requests) >= count if place.web else False


def _assert_reported(running: Running) -> None:
    """It said once that the database is away, and once that it is over, and has nothing else to complain about."""
    assert running.count(AWAY) == 1, running.said[-3000:]
    assert running.count(f"it is over: {AWAY[:-2]}") == 1, running.said[-3000:]
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


async def _status(client: aiohttp.ClientSession, url: str) -> tuple[int, str | None]:
    async with client.get(url) as answer:
        return answer.status, answer.headers.get("Retry-After")


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
            await crawl.until_away()
        await away.end()
        assert await crawl.ended() == 0, crawl.said[-3000:]
        if trouble != "stall":
            _assert_reported(crawl)
        await _assert_nothing_lost(place)


async def test_a_round_that_is_ended_in_the_middle_goes_on_where_it_was(database: str, tmp_path: Path) -> None:
    async with fed_place(tmp_path, database) as (place, _):
        assert place.web
        first = await _crawling(place, "--once")
        await first.until(_asked(place, 30))
        await first.stop()
        assert len(place.web.requests) < len(URLS)
        assert await (await _crawling(place, "--once")).ended() == 0
        await _assert_nothing_lost(place)
        times = Counter((asked.host, asked.target) for asked in place.web.requests if asked.method == "HEAD")
        assert (len(times), times.total()) == (len(URLS), len(URLS))


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
        await crawl.until(lambda: away.proxy.is_cut and crawl.count(AWAY) > 0)
        await away.end()
        assert await crawl.ended() == 0, crawl.said[-3000:]
        _assert_reported(crawl)
        await _assert_nothing_lost(place)


@pytest.mark.long
@pytest.mark.parametrize(
    ("trouble", "workers"),
    [("cut", 1), ("swallow", 2), *thorough(("cut", 2), ("swallow", 1), *product(("stall", "read-only"), (1, 2)))],
)
async def test_the_webservice_answers_503_promptly_and_recovers(
    database: str, tmp_path: Path, trouble: str, workers: int
) -> None:
    async with fed_place(tmp_path, database) as (place, away), aiohttp.ClientSession() as client:
        serve = Running(await place.start("serve", "--port=0", f"--workers={workers}"))
        url = await serve.url()

        async def is_answered(page: int) -> bool:
            async with client.get(f"{url}api/page?dbname=demowiki@wmflabs&pageid={page}") as answer:
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
        # Each worker says it once each time.
        assert serve.count(AWAY) <= 2 * workers
        assert "psycopg" not in serve.said


@pytest.mark.parametrize(("trouble", "workers"), [("cut", 1), pytest.param("swallow", 2, marks=pytest.mark.long)])
async def test_a_webservice_without_its_database_listens_and_goes_on_when_it_is_there(
    database: str, tmp_path: Path, trouble: str, workers: int
) -> None:
    async with fed_place(tmp_path, database) as (place, away), aiohttp.ClientSession() as client:
        await away.begin(trouble)
        place.environ["NOTIFY_SOCKET"] = str(tmp_path / "notify")
        with Systemd(place.environ["NOTIFY_SOCKET"]) as systemd:
            serve = Running(await place.start("serve", f"--port={free_port()}", f"--workers={workers}"))
            url = await serve.url("listens")
            assert await systemd.until("READY=1")
        (health,) = re.findall(r"^health-check-path: /(.+)$", (REPOSITORY / "service.template").read_text(), re.M)
        for path in (health, f"static/{style().name}"):
            assert (await _status(client, url + path))[0] == 200
        assert await _status(client, url + _PAGE) == (503, "30")
        assert (await _status(client, url + "healthz"))[0] == 503
        assert serve.count("Weboid answers at ") == 0
        await away.end()
        async with asyncio.timeout(40):
            # No connection is refused meanwhile.
            while (answered := await _status(client, url + _PAGE))[0] != 200:
                assert answered == (503, "30")
                await asyncio.sleep(0.1)
        assert (await _status(client, url + "healthz"))[0] == 200
        assert serve.count(AWAY) == 1, serve.said
        assert serve.process.returncode is None
        await serve.stop()
