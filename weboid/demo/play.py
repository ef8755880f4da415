"""Plays the story: a pass over the wiki, then one round a day with look-ups of copies, all by the program itself.

Only the pauses are shorter; requests, judgements and writes are the same as in operation.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time
from ipaddress import ip_network
from typing import Final

from weboid.archive.lookups.queue_round import QueueRound
from weboid.archive.service.client import open_archive_client
from weboid.archive.service.shared_limits import SharedLimiter
from weboid.archive.visits.copy_rounds import CopyRounds
from weboid.checking.checker import Checker
from weboid.checking.online import Online
from weboid.checking.turns import LocalTurns
from weboid.config import SETTINGS_TITLE, ArchiveConfig, Config
from weboid.core.archive.configured import configured
from weboid.core.record.days import date_of
from weboid.core.record.moment import Moment
from weboid.core.url.farms import WMFLABS, parse_wiki_name
from weboid.core.url.keys import key_of
from weboid.core.url.urls import parse
from weboid.crawl.round import Round
from weboid.demo import story
from weboid.demo.littlearchive import LittleArchive, open_littlearchive
from weboid.demo.littleweb import LittleWeb, open_littleweb
from weboid.demo.littlewiki import LittleWiki, open_littlewiki
from weboid.feed.page_pass import PagePass, PassProgress
from weboid.maintain.settings_pages import refresh_settings
from weboid.net.outbound import open_client, open_session
from weboid.remote.crawl.work import Work
from weboid.remote.feed.calls import local_feed_store
from weboid.store.archives.copy_queue import follow_changes
from weboid.store.archives.snapshot import list_snapshots, record_visit
from weboid.store.db.pool import Pool
from weboid.store.pages.wiki import StoredWiki, record_wiki
from weboid.store.results.record import Tally
from weboid.wiki.action import ActionApi, ApiPatience
from weboid.wiki.api import ApiSource
from weboid.wiki.criteria import read_criteria

ANSWER_S: Final = 0.3
"""The time limit for an answer of the little web, instead of a minute."""


@dataclass(slots=True)
class Stage:
    """The running little web, wiki and archive. `day` is the day at which the servers play the world; it may be set."""

    days: range
    day: int
    web: LittleWeb
    wiki: LittleWiki
    archive: LittleArchive
    config: Config


@asynccontextmanager
async def open_stage(config: Config, last_day: int, *, weboid_url: str | None = None) -> AsyncIterator[Stage]:
    """The web, wiki and archive of a story that ends on `last_day`, and a configuration that contacts only them."""
    days = story.demo_days(last_day)
    stage: Stage | None = None

    def today() -> int:
        return stage.day if stage else days[0]

    async with AsyncExitStack() as stack:
        web = await stack.enter_async_context(open_littleweb(story.demo_world(days[0]), day=today))
        pages, interwiki = (
            [*story.demo_pages(web.located), story.demo_settings_page()],
            story.demo_interwiki(web.located),
        )
        wiki = await stack.enter_async_context(open_littlewiki(pages, interwiki=interwiki, weboid_url=weboid_url))
        captures, excluded = story.demo_captures(days[0], web.located), story.demo_excluded(days[0], web.located)
        archive = await stack.enter_async_context(open_littlearchive(captures, day=today, excluded=excluded))
        stage = Stage(days, days[0], web, wiki, archive, _config(config, web, archive))
        yield stage


def _config(config: Config, web: LittleWeb, archive: LittleArchive) -> Config:
    net = replace(
        config.net,
        permit=(ip_network("127.0.0.0/8"),),
        dns=(web.name_server,),
        web_ports=(web.http_port, web.https_port),
        answer_s=ANSWER_S,
        connect_s=ANSWER_S,
        connections=200,
    )
    # The little archive stands for the Wayback Machine, has no limit of its own and is the only one that is asked.
    service = {"base": archive.url, "public": archive.url, "per_minute": 0, "replay_per_minute": 0}
    services = configured(["wayback"], {"wayback": service})
    return replace(config, net=net, crawl=replace(config.crawl, delay=0.0), archive=ArchiveConfig(services))


async def feed_story(stage: Stage, pool: Pool) -> PassProgress:
    """Reads the little wiki's settings, and runs a pass over it, through its API."""
    async with pool.connection() as conn:
        wiki = await record_wiki(conn, WMFLABS, parse_wiki_name(story.WIKI), api=stage.wiki.api_url)
    async with open_client(stage.config.net) as client:
        api = ActionApi(stage.wiki.api_url, client, stage.config.net.user_agent, ApiPatience())
        await refresh_settings(pool, api, wiki, name=story.WIKI, title=SETTINGS_TITLE, day=stage.days[0])
    return await _pass_over(stage, pool, wiki, stage.days[0])


async def _pass_over(stage: Stage, pool: Pool, wiki: StoredWiki, day: int) -> PassProgress:
    days = stage.config.feed.untouched_days
    async with open_client(stage.config.net) as client:
        source = ApiSource(stage.wiki.api_url, client, user_agent=stage.config.net.user_agent)
        criteria = read_criteria({}, {})
        work = PagePass(
            *(local_feed_store(pool), source, wiki, WMFLABS, criteria),
            today=lambda: day,
            now=lambda: datetime.combine(date_of(day), time(), UTC),
            untouched_days=days,
        )
        return await work.run()


async def play_story(stage: Stage, pool: Pool, show: Callable[[int, Tally], None]) -> None:
    """Runs one round on each day of the story, and looks copies up; `show` is called with the day and its round's
    counts."""
    for day in stage.days:
        stage.day = day
        tally = await _round(stage, pool, day)
        await _look_at_copies(stage, pool, day)
        show(day, tally)
    # Weekly passes would find nothing else: the last of them stands for all.
    async with pool.connection() as conn:
        wiki = await record_wiki(conn, WMFLABS, parse_wiki_name(story.WIKI), api=stage.wiki.api_url)
    await _pass_over(stage, pool, wiki, stage.days[-1])


async def _look_at_copies(stage: Stage, pool: Pool, day: int) -> None:
    """Does the work of ``weboid archive`` of a day: look-ups of failed links, visits to kept and cited copies."""
    stopped = asyncio.Event()
    services = stage.config.archive.services
    async with open_archive_client(stage.config.net, SharedLimiter(pool, lambda: day)) as client:
        await CopyRounds(pool, client, services, now=lambda: Moment(day), stopped=stopped).sweep()
        if day <= stage.days[0] + story.LOOKED_UP_UNTIL:
            await QueueRound(pool, client, services, today=lambda: day, stopped=stopped).sweep()
    async with pool.connection() as conn:
        await follow_changes(conn)
    await _hasten(stage, pool, day)


async def _hasten(stage: Stage, pool: Pool, day: int) -> None:
    """Makes the next visits to kept copies due soon: the story has not the time for a quarter."""
    keys = [key_of(parse(stage.web.located(url))) for url in story.EXPECTED]
    async with pool.connection() as conn:
        for kept in (await list_snapshots(conn, keys)).values():
            for snapshot in kept:
                if snapshot.due > day + story.QUARTER_DAYS:
                    due = day + story.QUARTER_DAYS
                    await record_visit(conn, snapshot, asked=snapshot.asked, due=due, strikes=snapshot.strikes)


async def _round(stage: Stage, pool: Pool, day: int) -> Tally:
    # A new session every day, as a resolver's cache would have expired overnight.
    async with open_session(stage.config.net) as session:
        checker = Checker(session, LocalTurns(stage.config.crawl.delay), stage.config.crawl)
        work = Round(
            Work(pool, "demo", stage.config.crawl, stage.config.policy),
            checker.ask,
            Online(checker.fetch, session.resolver.look_up, apis=[stage.wiki.api_url], http_port=stage.web.http_port),
            now=lambda: Moment(day),
            config=stage.config.crawl,
            connections=stage.config.net.connections,
            policy=stage.config.policy,
        )
        return await work.run()
