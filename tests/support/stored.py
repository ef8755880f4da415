"""For tests that need a filled store: a pool, a wiki, pages with links, and rounds with scripted answers.

One law: everything goes through the program's own functions; no test writes a table directly.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Concatenate, ParamSpec, TypeVar

import pytest
from support.databases import LOCKED_OUT
from support.intakes import record_pages
from support.waiting import until

from weboid.checking.online import Online
from weboid.config import CrawlConfig
from weboid.core.observe.check_request import CheckRequest
from weboid.core.observe.observation import Observation, RawResponse
from weboid.core.record.moment import Moment
from weboid.core.record.policy import DEFAULT
from weboid.core.url.classify import classify
from weboid.core.url.farms import WMFLABS, WikiName
from weboid.core.url.keys import UrlKey, key_of
from weboid.core.url.urls import parse
from weboid.core.verdict.verdict import Finding, finding_of
from weboid.crawl.losses import Losses
from weboid.crawl.round import Round
from weboid.crawl.visit import SecondOutcome
from weboid.feed.intake import page_urls
from weboid.net.dns import NameAnswer
from weboid.remote.crawl.work import Work
from weboid.store.db.pool import Connection, Pool, open_pool
from weboid.store.db.rows import KnownUrl
from weboid.store.pages.page import Intake
from weboid.store.pages.wiki import StoredWiki, record_wiki
from weboid.store.results.record import Checked, Tally
from weboid.store.upkeep.alarm import list_alarms
from weboid.store.urls.url import find_urls
from weboid.wiki.source import PageLinks

# Rounds of tests have few visits, which end at once: nothing is gained by replacing those of one tick together.
pytest.MonkeyPatch().setattr("weboid.crawl.round._TICK_S", 0.001)


async def nobody(url: str) -> RawResponse:
    raise TimeoutError


async def honest(name: str) -> NameAnswer:
    """Name servers that know all names but made-up ones."""
    return NameAnswer.NO_NAME if name.endswith(".com") else NameAnswer.ADDRESSES


async def silent(name: str) -> NameAnswer:
    return NameAnswer.NOTHING


NAMES_ALONE = Online(nobody, honest)
"""Nothing but name servers shows that we are online."""
CUT_OFF = Online(nobody, silent)

_P = ParamSpec("_P")
_T = TypeVar("_T")
_Work = Callable[Concatenate[Connection, _P], Awaitable[_T]]

Script = Callable[[str, int], Observation | Awaitable[Observation]]
"""What a URL in normal form answers on a day."""


async def do(pool: Pool, work: _Work[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """What a function of the store comes to in a transaction of its own."""
    async with pool.connection() as conn:
        return await work(conn, *args, **kwargs)


@asynccontextmanager
async def open_wiki(
    dsn: str, pages: Mapping[int, Iterable[str]], day: int = 100, latest: int = 1
) -> AsyncIterator["WikiInStore"]:
    """A wiki whose pages with these links have been taken in on `day`."""
    async with open_pool(dsn, size=4, part="test") as pool:
        stored = await _in_store(pool, "testwiki")
        await stored.take_in(pages, day, latest)
        yield stored


async def _in_store(pool: Pool, dbname: str) -> "WikiInStore":
    async with pool.connection() as conn:
        return WikiInStore(pool, await record_wiki(conn, WMFLABS, WikiName(dbname, "wmflabs")))


class WikiInStore:
    """A wiki at hand, with its pool."""

    def __init__(self, pool: Pool, wiki: StoredWiki) -> None:
        self.pool = pool
        self.wiki = wiki
        self.asked: list[tuple[int, str]] = []
        self.questions: list[CheckRequest] = []

    async def do(self, work: _Work[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """What a function of the store comes to in a transaction of its own."""
        return await do(self.pool, work, *args, **kwargs)

    async def alarms(self) -> list[tuple[str, str]]:
        """The kind and the subject of each alarm."""
        return [(alarm.kind, alarm.subject) for alarm in await self.do(list_alarms)]

    async def execute(self, query: str, row: Any = None) -> None:
        """Does what no function of the program does, such as letting time pass or breaking something."""
        async with self.pool.connection() as conn:
            await conn.execute(query.encode(), row)

    async def until_locked_out(self) -> None:
        """Waits until somebody waits for a lock in this database."""
        await until(lambda: self.rows(LOCKED_OUT))

    async def another(self, dbname: str) -> "WikiInStore":
        return await _in_store(self.pool, dbname)

    async def take_in(self, pages: Mapping[int, Iterable[str]], day: int, latest: int = 1) -> Intake:
        """Takes in pages as an intake does."""
        links = [PageLinks(page, 0, f"Page {page}", latest, None, tuple(sorted(urls))) for page, urls in pages.items()]
        async with self.pool.connection() as conn:
            return await record_pages(conn, self.wiki.wiki, [page_urls(link, WMFLABS) for link in links], day)

    async def round(self, day: int, script: Script, **config: Any) -> Tally:
        """A whole round on one day; what was asked is noted in `asked`."""
        return await self.new_round(day, script, **config).run()

    async def rounds(self, script: Script, days: Iterable[int], **config: Any) -> None:
        """A whole round on each of the days on which a host is due; on others a round finds nothing to do."""
        for day in days:
            [(due,)] = await self.rows("SELECT min(next_day) FROM host")
            if isinstance(due, int) and due <= day:
                await self.round(day, script, **config)

    def new_round(
        self,
        day: int,
        script: Script,
        worker: str = "test",
        second_opinion: SecondOutcome | None = None,
        losses: Losses | None = None,
        hour: int | None = None,
        waits: bool = False,
        online: Online = NAMES_ALONE,
        count: Callable[[Sequence[Checked]], None] = lambda written: None,
        **config: Any,
    ) -> Round:
        """A round that is not running yet; `hour` and `waits` as in Moment and Round, `config` as in CrawlConfig."""

        async def ask(question: CheckRequest) -> Observation:
            self.asked.append((day, question.url))
            self.questions.append(question)
            answer = script(question.url, day)
            return answer if isinstance(answer, Observation) else await answer

        settings = CrawlConfig(**{"delay": 0.0, **config})
        return Round(
            Work(self.pool, worker, settings, DEFAULT),
            ask,
            online,
            now=lambda: Moment(day, hour),
            config=settings,
            count=count,
            connections=10,
            policy=DEFAULT,
            second_opinion=second_opinion,
            losses=losses,
            waits=waits,
        )

    async def known(self, url: str) -> KnownUrl:
        key = key_of(parse(url))
        async with self.pool.connection() as conn:
            return (await find_urls(conn, [key]))[key]

    async def finding(self, url: str) -> Finding:
        known = await self.known(url)
        return finding_of(known.record, known.host)

    async def rows(self, query: str) -> list[tuple[object, ...]]:
        async with self.pool.connection() as conn:
            return sorted(await (await conn.execute(query.encode())).fetchall())

    async def dead(self) -> set[tuple[int, UrlKey]]:
        rows = await self.rows("SELECT page, bucket, host_key, url_key FROM dead")
        return {(page, UrlKey(*key)) for page, *key in rows}  # type: ignore[misc, arg-type]


def key(url: str) -> UrlKey:
    link = classify(url, None)
    assert link.url
    return key_of(link.url)
