"""Living through a world: its links are taken in, then one round of the real crawler a day; and what came of it.

One law: the crawler knows of none of this. It is given a day and a way out; all that is known of what it did is what
stands in its store, and what the little web was asked.
"""

import asyncio
import shutil
import socket
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from ipaddress import ip_network
from pathlib import Path
from time import perf_counter
from typing import Final

from rich.console import Console

from benchmarks.verdicts.authority import new_authority
from benchmarks.worlds.sight import PATIENCE_S, Sight, is_walled, sight_of
from benchmarks.worlds.worldfile import WorldFile
from weboid.cli.crawl import crawl
from weboid.cli.runtime import stop_signals
from weboid.config import Config, load_config
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.status import Status
from weboid.core.url.farms import WMFLABS, WikiName
from weboid.core.url.keys import UrlKey, key_of
from weboid.core.url.urls import parse
from weboid.core.verdict.verdict import Verdict
from weboid.demo.littleweb import LittleWeb, open_littleweb
from weboid.demo.world import behaviour_on
from weboid.errors import WeboidError
from weboid.feed.intake import page_urls
from weboid.store.db.migrate import migrate
from weboid.store.db.pool import Pool, open_pool
from weboid.store.embedded.server import open_server
from weboid.store.pages.page import record_pages
from weboid.store.pages.wiki import record_wiki
from weboid.store.schedule.lease import is_due
from weboid.store.urls.url import find_urls
from weboid.store.urls.verdict_log import list_changes
from weboid.wiki.source import PageLinks

FIRST_DAY: Final = 3_000
"""The day of the store on which the world's day 0 is."""
ANSWER_S: Final = 0.4
"""How long a server is waited for, instead of a minute: the world's seconds are as much shorter."""
PORTS: Final = (28_080, 28_443)
"""Of http and https, if they are free. They are part of the URLs, by which some of what a crawler does is spread over
its days: with the same ports a year is the same again."""
_CONNECTIONS: Final = 40
"""Few: the little web lives in the same process, and what waits for its turn there looks slow."""
_LINKS_A_PAGE: Final = 20
_INTAKE_DAYS: Final = 7
"""Pages come in over so many days, as the rounds of a store that has lived for a while are spread over the week."""


@dataclass(frozen=True, slots=True)
class Check:
    """One check as it was written into the store, on a day of the world."""

    day: int
    outcome: Outcome
    reason: Reason
    status: Status


@dataclass(frozen=True, slots=True)
class Change:
    """One change of verdict, told on a day of the world."""

    day: int
    verdict: Verdict
    reason: Reason | None


@dataclass(slots=True)
class UrlYear:
    """One URL: on which day it was taken in, what a person saw on each day, what was found, and what was told."""

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
    because the crawler took itself to be cut off.
    """

    file: WorldFile
    interval: int
    urls: list[UrlYear] = field(default_factory=list)
    requests: int = 0
    questions: int = 0
    strained: int = 0
    cut_off: list[int] = field(default_factory=list)
    seconds: float = 0.0


Show = Callable[[int], None]
"""Hears of every day that is over."""


async def live(file: WorldFile, dsn: str, folder: Path, show: Show, *, answer_s: float = ANSWER_S) -> Year:
    """Lives through all days of a world in a fresh database; `folder` is for certificates. Raises WeboidError."""
    begun = perf_counter()
    async with open_pool(dsn, size=8, part="benchmark") as pool, _open_stage(file, folder, answer_s) as stage:
        with _interruptible():
            async with pool.connection() as conn:
                await migrate(conn)
            year = Year(file, stage.config.policy.working_interval)
            keys = await _taken_in(pool, stage, year)
        for day in range(file.days):
            stage.day = day
            if not await _round(pool, stage):
                year.cut_off.append(day)
            with _interruptible():
                await _note_checks(pool, stage, year, keys)
                show(day)
        await _note_changes(pool, year, keys)
    year.seconds = perf_counter() - begun
    return year


@contextmanager
def _interruptible() -> Iterator[None]:
    """Rounds take signals as the order to stop; what lies between them ends, too, and in order."""
    stopped = asyncio.Event()
    with stop_signals(stopped.set):
        yield
    if stopped.is_set():
        raise KeyboardInterrupt


async def _round(pool: Pool, stage: "_Stage") -> bool:
    """One day's round of the crawler as ``weboid crawl --once`` runs it; False if it took itself to be cut off."""
    day = FIRST_DAY + stage.day
    try:
        await crawl(stage.config, pool, lambda: day, once=True, console=Console(quiet=True))
    except WeboidError as error:
        if "cut off" not in str(error):
            raise
        return False
    async with pool.connection() as conn:
        if await is_due(conn, day):
            raise KeyboardInterrupt  # what ends with something still due was ended by a signal
    return True


@dataclass(slots=True)
class _Stage:
    file: WorldFile
    web: LittleWeb
    config: Config
    day: int = 0


@asynccontextmanager
async def _open_stage(file: WorldFile, folder: Path, answer_s: float) -> AsyncIterator[_Stage]:
    stage: _Stage | None = None

    def today() -> int:
        return stage.day if stage else 0

    authority = new_authority(folder)
    tls = authority.server_context(file.world, today)
    http, https = PORTS if all(map(_is_free, PORTS)) else (0, 0)
    async with open_littleweb(
        file.world, day=today, tls=tls, http_port=http, https_port=https, pace=answer_s / PATIENCE_S
    ) as web:
        config = load_config(None, {}, data=folder)
        net = replace(
            config.net,
            permit=(ip_network("127.0.0.0/8"),),
            dns=(web.name_server,),
            web_ports=(web.http_port, web.https_port),
            ca=authority.ca_file,
            answer_s=answer_s,
            connect_s=2 * answer_s,
            connections=_CONNECTIONS,
        )
        crawl_config = replace(config.crawl, delay=0.0)
        stage = _Stage(file, web, replace(config, contact="nobody@example.org", net=net, crawl=crawl_config))
        yield stage


def _is_free(port: int) -> bool:
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


async def _taken_in(pool: Pool, stage: _Stage, year: Year) -> list[UrlKey]:
    """Takes in the links as pages of a wiki; the keys of the URLs in the order of the year's."""
    file = stage.file
    located = [stage.web.located(url) for url in file.links]
    async with pool.connection() as conn:
        wiki = await record_wiki(conn, WMFLABS, WikiName("yearwiki", "wmflabs"))
        for number, start in enumerate(range(0, len(located), _LINKS_A_PAGE)):
            since = number % min(_INTAKE_DAYS, file.days)
            texts = tuple(located[start : start + _LINKS_A_PAGE])
            page = PageLinks(number + 1, 0, f"Page {number + 1}", 1, None, texts)
            await record_pages(conn, wiki.wiki, [page_urls(page, WMFLABS)], FIRST_DAY + since)
            year.urls += [_new_url(file, url, since) for url in file.links[start : start + _LINKS_A_PAGE]]
    return [key_of(parse(url)) for url in located]


def _new_url(file: WorldFile, url: str, since: int) -> UrlYear:
    days = range(file.days)
    if life := file.truth.get(url):
        sights = tuple(behaviour_on(life, day) for day in days)
    else:
        sights = tuple(sight_of(file.world, url, day) for day in days)
    return UrlYear(url, since, sights, frozenset(day for day in days if is_walled(file.world, url, day)))


async def _note_checks(pool: Pool, stage: _Stage, year: Year, keys: Sequence[UrlKey]) -> None:
    """Reads from the store what was checked today."""
    async with pool.connection() as conn:
        known = await find_urls(conn, list(keys))
    for url, key in zip(year.urls, keys, strict=True):
        record = known[key].record
        if record.checked == FIRST_DAY + stage.day and record.reason:
            check = Check(stage.day, record.reason.outcome, record.reason, record.history[0].status)
            url.checks.append(check)
            was_there = url.sights[stage.day] is Sight.SEEN and stage.day not in url.walled
            year.strained += was_there and check.reason is Reason.TIMEOUT
    year.requests += len(stage.web.requests)
    year.questions += len(stage.web.questions)
    stage.web.requests.clear()
    stage.web.questions.clear()


async def _note_changes(pool: Pool, year: Year, keys: Sequence[UrlKey]) -> None:
    async with pool.connection() as conn:
        for url, key in zip(year.urls, keys, strict=True):
            log = await list_changes(conn, key, limit=10_000)
            url.changes = [Change(each.day - FIRST_DAY, each.after, each.reason) for each in reversed(log)]


@contextmanager
def new_database() -> Iterator[tuple[str, Path]]:
    """A database server of its own for one year, and a folder; both gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="weboid-year-"))
    folder.chmod(0o711)
    try:
        with open_server(folder / "data") as server:
            # Nothing here outlives the run: no transaction has to wait for a disk.
            yield f"{server.dsn} options='-c synchronous_commit=off'", folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
