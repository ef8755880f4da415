"""Living through a world: its links are taken in, then one round of the real crawler a day; and what came of it.

One law: the crawler knows of none of this. It is given a day and a way out; all that is known of what it did is what
stands in its store, and what the servers were asked.
"""

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Final

from rich.console import Console

from benchmarks.harness import temporary_folder
from benchmarks.verdicts.daily import Change, Check, Diary
from benchmarks.verdicts.simulated import Answered
from benchmarks.verdicts.stage import ANSWER_S, FIRST_DAY, PORTS, WIKI, Stage, open_simulated_stage, open_socket_stage
from benchmarks.worlds.onlooker import Onlooker
from benchmarks.worlds.sight import Sight
from benchmarks.worlds.worldfile import WorldFile
from weboid.cli.crawl import CrawlOptions, crawl
from weboid.cli.processes.stopping import stop_signals
from weboid.core.record.moment import Moment
from weboid.core.record.reasons import Reason
from weboid.core.url.farms import WMFLABS
from weboid.demo.world import outage_on
from weboid.errors import DayRefused, WeboidError
from weboid.feed.intake import page_urls
from weboid.remote.crawl.calls import Days
from weboid.remote.http.rpc import OneTransaction
from weboid.store.db.migrate import migrate
from weboid.store.db.pool import Pool, open_pool
from weboid.store.embedded import open_server
from weboid.store.pages.page import PageChanges, record_intake
from weboid.store.pages.wiki import record_wiki
from weboid.store.urls.url import count_due
from weboid.wiki.source import PageLinks

_LINKS_A_PAGE: Final = 20
_INTAKE_DAYS: Final = 7
"""Pages come in over so many days, as the rounds of a store that has lived for a while are spread over the week."""
_LOOK_S: Final = 0.005
_MOST_COUNTED: Final = 100_000


@dataclass(slots=True)
class UrlYear:
    """One URL: on which day it was taken in, what a person saw on each day, what was found, and what was reported."""

    url: str
    since: int
    sights: tuple[Sight, ...]
    walled: frozenset[int] = frozenset()
    """The days on which machines met a wall."""
    checks: list[Check] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)


@dataclass(slots=True)
class Year:
    """What became of a world. `strained` checks ran out of time though the world did not make them: ours is the fault.

    `interval` is the longest between two checks of what works, in days; `cut_off` are the days on which a round ended
    because the crawler took itself to be cut off, `refused` those on which it took the clock to be wrong. `gap_s` is
    the shortest time between two requests to one host as its server saw it, None where it is not measured.
    """

    file: WorldFile
    interval: int
    urls: list[UrlYear] = field(default_factory=list)
    requests: int = 0
    questions: int = 0
    strained: int = 0
    cut_off: list[int] = field(default_factory=list)
    refused: list[int] = field(default_factory=list)
    gap_s: float | None = None
    ports: tuple[int, int] = PORTS
    seconds: float = 0.0


Show = Callable[[int], None]
"""Hears of every day, or whatever else is counted, that is over."""


async def live(
    file: WorldFile,
    dsn: str,
    folder: Path,
    show: Show,
    *,
    answer_s: float | None = None,
    simulated: bool = False,
    ports: tuple[int, int] = PORTS,
    answered: Answered | None = None,
) -> Year:
    """Lives through all days of a world in a fresh database; `folder` is for certificates. Raises WeboidError.

    `simulated` = without sockets and in no time; `answer_s` is for sockets alone. `ports` stand in the URLs that the
    crawler gets; on sockets others are taken if these are in use. `answered` hears of every simulated reply.
    """
    begun = perf_counter()
    opened = (
        open_simulated_stage(file, folder, ports, answered)
        if simulated
        else open_socket_stage(file, folder, answer_s or ANSWER_S, ports)
    )
    async with open_pool(dsn, size=8, part="benchmark") as pool, opened as stage:
        with _interruptible():
            async with pool.connection() as conn:
                await migrate(conn)
            year = Year(file, stage.config.policy.working_interval, ports=stage.config.net.web_ports)
            await _taken_in(pool, stage, year)
            diary = Diary(stage.config, [stage.located(url) for url in file.links])
        for url, kept in zip(year.urls, diary.urls, strict=True):
            url.checks, url.changes = kept.checks, kept.changes
        for day in range(file.days):
            stage.day = day
            await _lived(pool, stage, year)
            with _interruptible():
                checks = await diary.note(pool, day, file.troubles.day_reported(day))
                if not simulated:
                    year.strained += sum(_is_strained(file, year.urls[number], check) for number, check in checks)
                stage.count()
                show(day)
        year.requests, year.questions, year.gap_s = stage.requests, stage.questions, stage.gap_s
    year.seconds = perf_counter() - begun
    return year


def _is_strained(file: WorldFile, url: UrlYear, check: Check) -> bool:
    """Whether a check ran out of time though neither the world nor an outage of our own made it."""
    is_open = url.sights[check.day] is Sight.SEEN and check.day not in url.walled
    host = url.url.split("/")[2]
    return is_open and check.reason is Reason.TIMEOUT and not outage_on(file.world, host, check.day)


@contextmanager
def _interruptible() -> Iterator[None]:
    """Rounds take signals as the order to stop; what lies between them ends, too, and in order."""
    stopped = asyncio.Event()
    with stop_signals(stopped.set):
        yield
    if stopped.is_set():
        raise KeyboardInterrupt


async def _lived(pool: Pool, stage: Stage, year: Year) -> None:
    """One day of the crawler, with what befalls our machine on it."""
    day, troubles = stage.day, stage.file.troubles
    if day in troubles.paused:
        return
    reported = troubles.day_reported(day)
    try:
        if day in troubles.killed:
            await _killed(pool, stage, reported)
        is_whole = await _round(pool, stage, reported)
    except DayRefused:
        year.refused.append(day)
        if reported != day:
            return
        await _confirmed(pool, FIRST_DAY + day)
        is_whole = await _round(pool, stage, reported)
    if not is_whole:
        year.cut_off.append(day)


async def _confirmed(pool: Pool, day: int) -> None:
    """What an operator does who confirms a day that was refused though it is right."""
    async with pool.connection() as conn:
        await Days(OneTransaction(conn)).confirm(day)


async def _round(pool: Pool, stage: Stage, reported: int) -> bool:
    """One day's round of the crawler as ``weboid crawl --once`` runs it; False if it took itself to be cut off.

    Raises KeyboardInterrupt if a signal stopped it.
    """
    is_whole, was_stopped = await _crawled(pool, stage, reported)
    if was_stopped:
        raise KeyboardInterrupt
    return is_whole


async def _crawled(pool: Pool, stage: Stage, reported: int) -> tuple[bool, bool]:
    """Whether a round was not cut off, and whether a signal stopped it."""
    out, turns = stage.open_outbound, stage.open_turns
    options = CrawlOptions(once=True, console=Console(quiet=True), open_outbound=out, open_turns=turns)
    try:
        return True, await crawl(stage.config, pool, lambda: Moment(FIRST_DAY + reported), options)
    except WeboidError as error:
        if "cut off" not in str(error):
            raise
        return False, False


async def _killed(pool: Pool, stage: Stage, reported: int) -> None:
    """A round that a signal stops when about half of its checks are made."""
    async with pool.connection() as conn:
        half = await count_due(conn, FIRST_DAY + reported, limit=_MOST_COUNTED) // 2
    stopping = asyncio.create_task(_stop_at(stage, half))
    try:
        await _crawled(pool, stage, reported)
    finally:
        stopping.cancel()
        await asyncio.gather(stopping, return_exceptions=True)


async def _stop_at(stage: Stage, requests: int) -> None:
    """Sends this process the signal to stop once servers got so many requests."""
    while stage.asked() < requests:  # noqa: ASYNC110 (sockets tell nobody that they were asked)
        await asyncio.sleep(0 if stage.simulated else _LOOK_S)
    # Without the handler of a round under way the signal would end this process.
    if requests and signal.getsignal(signal.SIGTERM) not in (signal.SIG_DFL, signal.default_int_handler):
        os.kill(os.getpid(), signal.SIGTERM)


async def _taken_in(pool: Pool, stage: Stage, year: Year) -> None:
    file = stage.file
    onlooker = Onlooker(file)
    located = [stage.located(url) for url in file.links]
    async with pool.connection() as conn:
        wiki = await record_wiki(conn, WMFLABS, WIKI)
        for number, start in enumerate(range(0, len(located), _LINKS_A_PAGE)):
            since = number % min(_INTAKE_DAYS, file.days)
            texts = tuple(located[start : start + _LINKS_A_PAGE])
            page = PageLinks(number + 1, 0, f"Page {number + 1}", 1, None, texts)
            await record_intake(conn, {wiki.wiki: PageChanges(read=[page_urls(page, WMFLABS)])}, FIRST_DAY + since)
            for url in file.links[start : start + _LINKS_A_PAGE]:
                year.urls.append(UrlYear(url, since, onlooker.sights(url), onlooker.walled(url)))


def daily_as_json(year: Year) -> dict[str, list[list[object]]]:
    """What was shown of each URL, ``[day, verdict, reason, since]`` for each day on which one of these changed."""
    return {url.url: [each.as_json() for each in url.changes] for url in year.urls}


@contextmanager
def new_database() -> Iterator[tuple[str, Path]]:
    """A database server of its own for one year, and a folder; both gone afterwards, also after SIGTERM."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with temporary_folder() as folder, open_server(folder / "data") as server:
        # Nothing here outlives the run: no transaction has to wait for a disk.
        yield f"{server.dsn} options='-c synchronous_commit=off'", folder
