"""Playing the story: a pass over the wiki, then one round a day, all with the program's own parts.

One law: only the pauses are shorter; requests, judgements and writes are the same as in operation.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from ipaddress import ip_network
from typing import Final

from weboid.checking.checker import Checker
from weboid.checking.online import Online
from weboid.checking.turns import LocalTurns
from weboid.config import Config
from weboid.core.record.moment import Moment
from weboid.core.url.farms import WMFLABS, parse_wiki_name
from weboid.crawl.round import Round
from weboid.crawl.work import StoreWork
from weboid.demo.littleweb import LittleWeb, open_littleweb
from weboid.demo.littlewiki import LittleWiki, open_littlewiki
from weboid.demo.story import WIKI, demo_days, demo_interwiki, demo_pages, demo_world
from weboid.feed.page_pass import PagePass, PassProgress
from weboid.net.outbound import open_client, open_session
from weboid.store.db.pool import Pool
from weboid.store.pages.wiki import record_wiki
from weboid.store.results.record import Tally
from weboid.wiki.api import ApiSource
from weboid.wiki.criteria import read_criteria

ANSWER_S: Final = 0.3
"""The time limit for an answer of the little web, instead of a minute."""


@dataclass(slots=True)
class Stage:
    """The running little web and wiki. `day` is the day at which the servers play the world; it may be set."""

    days: range
    day: int
    web: LittleWeb
    wiki: LittleWiki
    config: Config


@asynccontextmanager
async def open_stage(config: Config, last_day: int, *, weboid_url: str | None = None) -> AsyncIterator[Stage]:
    """The web and the wiki of a story that ends on `last_day`, and a configuration that contacts only them."""
    days = demo_days(last_day)
    stage: Stage | None = None

    def today() -> int:
        return stage.day if stage else days[0]

    async with open_littleweb(demo_world(days[0]), day=today) as web:
        pages = demo_pages(web.located)
        async with open_littlewiki(pages, interwiki=demo_interwiki(web.located), weboid_url=weboid_url) as wiki:
            net = replace(
                config.net,
                permit=(ip_network("127.0.0.0/8"),),
                dns=(web.name_server,),
                web_ports=(web.http_port, web.https_port),
                answer_s=ANSWER_S,
                connect_s=ANSWER_S,
                connections=200,
            )
            stage = Stage(days, days[0], web, wiki, replace(config, net=net, crawl=replace(config.crawl, delay=0.0)))
            yield stage


async def feed_story(stage: Stage, pool: Pool) -> PassProgress:
    """Runs a pass over the little wiki through its API."""
    async with pool.connection() as conn:
        wiki = await record_wiki(conn, WMFLABS, parse_wiki_name(WIKI), api=stage.wiki.api_url)
    async with open_client(stage.config.net) as client:
        source = ApiSource(stage.wiki.api_url, client, user_agent=stage.config.net.user_agent)
        criteria = read_criteria({}, {})
        today = stage.days[0]
        return await PagePass(
            pool, source, wiki, WMFLABS, criteria, today=lambda: today, untouched_days=stage.config.feed.untouched_days
        ).run()


async def play_story(stage: Stage, pool: Pool, show: Callable[[int, Tally], None]) -> None:
    """Runs one round on each day of the story; `show` is called with the day and what its round has done."""
    for day in stage.days:
        stage.day = day
        show(day, await _round(stage, pool, day))


async def _round(stage: Stage, pool: Pool, day: int) -> Tally:
    # A new session every day, as a resolver's cache would have expired overnight.
    async with open_session(stage.config.net) as session:
        checker = Checker(session, LocalTurns(stage.config.crawl.delay), stage.config.crawl)
        work = Round(
            StoreWork(pool, "demo", stage.config.crawl, stage.config.policy),
            checker.ask,
            Online(checker.fetch, session.look_up, apis=[stage.wiki.api_url], http_port=stage.config.net.web_ports[0]),
            now=lambda: Moment(day),
            config=stage.config.crawl,
            connections=stage.config.net.connections,
            policy=stage.config.policy,
        )
        return await work.run()
