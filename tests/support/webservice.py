"""For tests: a webservice on loopback with a real database; its one wiki has had some weeks of rounds."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import aiohttp
from support.observations import FINE, LOST, WALL
from support.stored import WikiInStore

from weboid.checking.looks import Look
from weboid.config import Config, load_config
from weboid.core.observe.observation import Observation
from weboid.core.record.reasons import Reason
from weboid.core.record.status import Status
from weboid.core.url.classify import classify
from weboid.core.url.farms import WMFLABS, WikiName
from weboid.core.verdict.judge import judge
from weboid.core.verdict.link_report import keyed_link, watched_keys
from weboid.core.verdict.verdict import Change, Verdict, finding_of
from weboid.core.wikitext.titles import Namespace
from weboid.errors import SourceError, TooManyLinks
from weboid.feed.intake import SpamFilters
from weboid.remote.feed.calls import SpamLists
from weboid.store.db.pool import Connection, Pool, open_pool
from weboid.store.pages.wiki import find_wiki, record_wiki
from weboid.store.urls.check import CheckedUrl, record_changes, record_checks
from weboid.store.urls.url import find_urls
from weboid.web.answer.target_pages import TargetSources
from weboid.web.app import make_app
from weboid.web.http.server import open_site
from weboid.wiki.interwiki import Interwiki, InterwikiMap
from weboid.wiki.source import ListedEdit, Members, PageLinks, RevisionText

TODAY = 120
UNLIMITED = {"WEBOID_WEB_RATE": "1000000", "WEBOID_WEB_BURST": "1000000"}
DEAD = "http://dead.demo/gone?a=1&b=%22x%22"
MOVED = "http://a.demo/old"
PDF = "https://b.demo:8443/paper.pdf"
WALLED = "http://b.demo/wall"
SPOOFED = "http://a.demo/%E2%80%AEfdp.exe"
BROKEN = "http://no-dot/</script><script>alert(1)</script>"
MAIL = "mailto:nobody@nowhere.demo"
SCRIPT = "javascript:alert(1)"
EXAMPLE = "http://example.org/"
HOSTILE_TITLE = '"><script>alert(1)</script>\u202egnp.\u2028 & <b>'


_NAME: Final = WikiName("testwiki", "wmflabs")
_LINKS: Final = {
    1: sorted([DEAD, MOVED, PDF, WALLED, SPOOFED, BROKEN, MAIL, SCRIPT, EXAMPLE, f"{WALLED}#part"]),
    2: ["http://fine.demo/"],
    3: [BROKEN],
}
"""Page -> its links."""

_WIKI = "dbname=testwiki@wmflabs"
PAGES: Final = {
    "start": "/",
    "links": f"/externalLinkInfo?{_WIKI}&pageid=1&all=1",
    "hostile": f"/externalLinkInfo?{_WIKI}&pageid=3",
    "problem": "/externalLinkInfo?dbname=nowiki@wmflabs&pageid=1",
    "url": f"/url?url={DEAD.replace('&', '%26')}&{_WIKI}",
    "wiki": "/wiki/testwiki@wmflabs",
    "domain": f"/domain/dead.demo?{_WIKI}",
    "dead": f"/lists/dead?{_WIKI}",
    "doubtful": f"/lists/dead?{_WIKI}&verdict=doubtful",
    "spam": f"/lists/spam?{_WIKI}",
    "search": "/search",
    "report": f"/report?url={DEAD.replace('&', '%26')}&{_WIKI}",
    "replacement": f"/replacement?url={DEAD.replace('&', '%26')}&{_WIKI}",
    "account": "/account",
    "admin": "/admin",
    "status": "/status",
    "data": "/data",
    "help": "/help",
    "bot": "/bot",
    "privacy": "/privacy",
    "policy": "/policy",
}
"""The addresses of all pages for people."""


@dataclass
class FixedSource:
    """A wiki that says what it is asked to say, after a pause, or not at all. Titles in `redirects` lead to pages."""

    found: dict[int, PageLinks] = field(default_factory=dict)
    redirects: dict[str, int] = field(default_factory=dict)
    members: dict[str, tuple[int, ...]] = field(default_factory=dict)
    members_at_once: int = 500
    namespaces: Sequence[Namespace] = ()
    asked: int = 0
    answered: int = 0
    pause_s: float = 0.0
    silent: bool = False
    entries: tuple[Interwiki, ...] = ()
    interwiki: InterwikiMap | None = field(default=None, compare=False)
    texts: dict[int, RevisionText] = field(default_factory=dict)

    async def find_texts(self, revisions: Sequence[int]) -> dict[int, RevisionText]:
        await self._answer()
        return {revision: self.texts[revision] for revision in revisions if revision in self.texts}

    titles: list[str] = field(default_factory=list)

    async def list_titles(self, beginning: str) -> list[str]:
        await self._answer()
        return [title for title in self.titles if title.startswith(beginning)]

    edits: list[ListedEdit] = field(default_factory=list)

    async def list_edits(self, page: int, first: int) -> list[ListedEdit]:
        await self._answer()
        ours = [each for each in self.edits if each.revision in self.texts and self.texts[each.revision].page == page]
        return [each for each in ours if each.revision >= first]

    async def find_pages(
        self, *, ids: Sequence[int] = (), titles: Sequence[str] = (), most_links: int | None = None
    ) -> list[PageLinks]:
        await self._answer()
        wanted = {*ids, *(self.redirects[title] for title in titles if title in self.redirects)}
        found = [page for page in self.found.values() if page.page in wanted or page.title in titles]
        if most_links is not None and sum(len(page.urls) for page in found) > most_links:
            raise TooManyLinks("these are too many")
        return found

    async def find_titled(self, titles: Sequence[str], *, most_links: int | None = None) -> dict[str, PageLinks]:
        found = {page.title: page for page in await self.find_pages(titles=titles, most_links=most_links)}
        redirected = {title: self.found[page] for title, page in self.redirects.items() if title in titles}
        return {title: found[title] for title in titles if title in found} | redirected

    async def find_namespaces(self) -> Sequence[Namespace]:
        await self._answer()
        return self.namespaces

    async def find_interwiki(self) -> InterwikiMap:
        await self._answer()
        return InterwikiMap(self.entries)

    async def list_members(self, category: str, *, place: str = "", limit: int = 500) -> Members:
        await self._answer()
        begin = int(place) if place.isdecimal() else 0
        end = begin + min(limit, self.members_at_once)
        pages = self.members.get(category, ())
        return Members(pages[begin:end], str(end) if end < len(pages) else "")

    async def close(self) -> None:
        pass

    async def _answer(self) -> None:
        self.asked += 1
        await asyncio.sleep(self.pause_s)
        if self.silent:
            raise SourceError("it does not answer")


@dataclass
class Site:
    """The running service, and what stands behind it."""

    url: str
    client: aiohttp.ClientSession
    source: FixedSource
    wiki: WikiInStore
    config: Config

    async def fetch(self, path: str, *, method: str = "GET", **headers: str) -> tuple[int, str, aiohttp.ClientResponse]:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        async with self.client.request(method, self.url + path, headers=given) as response:
            return response.status, await response.text(), response

    async def text(self, path: str, **headers: str) -> str:
        return (await self.fetch(path, **headers))[1]


def answer_of(url: str) -> Observation:
    match url:
        case _ if url.startswith("http://dead.demo/"):
            return LOST
        case _ if url == WALLED:
            return WALL
        case _ if url == MOVED:
            return Observation(Status.MOVED_PERMANENTLY, Reason.MOVED, target="javascript:alert(2)")
        case _ if url == PDF:
            return Observation(Status.FINE, Reason.OK, mime="pdf", size_kib=1234)
    return FINE


async def record_weeks(
    conn: Connection, urls: Iterable[str], answer: Callable[[str], Observation] | None = None
) -> None:
    """What rounds every third day would have left behind; the rounds themselves take half a second a test.

    `answer` is what a URL in normal form answers on all these days; without it, what `answer_of` says.
    """
    answer = answer or answer_of
    known = await find_urls(conn, sorted(watched_keys([keyed_link(classify(url, WMFLABS)) for url in urls])))
    checks, changes = [], []
    for key, stored in known.items():
        record, due = stored.record, stored.due
        for day in range(100, TODAY, 3):
            record, due = judge(record, answer(str(stored.url)), day)
        found = finding_of(record)
        checks.append(CheckedUrl(key, record, due))
        changes.append(Change(key, TODAY - 1, Verdict.UNKNOWN, found.verdict, found.reason, found.since))
    await record_checks(conn, checks)
    await record_changes(conn, changes)


async def fill(database: str) -> None:
    """Fills an empty store with the wiki of the service and what some weeks found of it."""
    async with open_pool(database, size=4, part="test") as pool:
        await _filled(pool)


async def _filled(pool: Pool) -> WikiInStore:
    """The wiki of the service; fills a store that has nothing of it yet."""
    async with pool.connection() as conn:
        if found := await find_wiki(conn, WMFLABS, _NAME):
            return WikiInStore(pool, found)
        wiki = WikiInStore(pool, await record_wiki(conn, WMFLABS, _NAME, api="http://wiki.demo/w/api.php"))
    await wiki.take_in({page: _LINKS[page] for page in (1, 2)}, 100)
    async with pool.connection() as conn:
        await record_weeks(conn, {*_LINKS[1], *_LINKS[2]})
    return wiki


@asynccontextmanager
async def open_service(
    database: str,
    folder: Path,
    *,
    budget_s: float = 0.5,
    environ: Mapping[str, str] | None = None,
    way: aiohttp.ClientSession | None = None,
    public_url: str = "https://weboid.demo/",
    port: int = 0,
    source: FixedSource | None = None,
    targets: TargetSources | None = None,
    look: Look | None = None,
) -> AsyncIterator[Site]:
    """The service over a wiki of three pages; page 3 is new and has not been taken in. The store is empty, or what the
    fixture `site_database` gives: that is filled already.

    `environ` is its configuration; unless that says otherwise, no test reaches the limits. `way` is that to the OAuth
    provider: without it nobody can sign in. It says that it is at `public_url` and is at `port`, 0 = any free one.
    """
    source = FixedSource() if source is None else source
    source.found |= {
        page: PageLinks(page, 0, HOSTILE_TITLE if page == 3 else f"Page {page}", 7, None, tuple(urls))
        for page, urls in _LINKS.items()
    }
    config = load_config(None, {**UNLIMITED, **(environ or {})}, data=folder)
    async with open_pool(database, size=4, part="test") as pool:
        wiki = await _filled(pool)
        app = make_app(
            config,
            wiki.pool,
            today=lambda: TODAY,
            sources=lambda _: source,
            spam=SpamFilters(SpamLists(wiki.pool)).filter_of,
            targets=targets,
            live_budget_s=budget_s,
            public_url=public_url,
            client=way,
            look=look,
        )
        async with open_site(app, "127.0.0.1", port) as url, aiohttp.ClientSession() as client:
            yield Site(url, client, source, wiki, config)
