"""The little wiki on loopback: articles to read at ``/wiki/…`` and the Action API at ``/w/api.php``.

Its answers are made in ``wikipages`` and ``wikihtml``.
One law: its pages may be changed at any moment while it runs, and the next answer has the change.
"""

from collections import deque
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Final

from aiohttp import web

from weboid.demo.serving import open_application
from weboid.demo.wikihtml import article_html, index_html, page_path
from weboid.demo.wikipages import InterwikiEntry, Site, WikiLink, WikiPage, answer_of

QUESTIONS_KEPT: Final = 10_000

_SAFE_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


@dataclass(slots=True)
class LittleWiki:
    """A running little wiki; `asked` has the newest QUESTIONS_KEPT queries to its API, oldest first."""

    site: Site
    weboid_url: str | None = None
    asked: deque[Mapping[str, str]] = field(default_factory=lambda: deque(maxlen=QUESTIONS_KEPT))

    @property
    def api_url(self) -> str:
        """The address of the Action API."""
        return f"{self.site.server}/w/api.php"

    @property
    def url(self) -> str:
        """The address of the wiki's start page."""
        return self.site.server

    @property
    def pages(self) -> dict[str, WikiPage]:
        """The pages by title; they may be changed."""
        return self.site.pages

    def page_url(self, title: str) -> str:
        """The address of an article."""
        return self.site.server + page_path(title)

    def record_edit(self, title: str, links: Iterable[WikiLink]) -> WikiPage:
        """Makes a new revision of a page, with other links; raises KeyError if there is no such page."""
        page = self.pages[title]
        self.pages[title] = replace(page, links=tuple(links), revision=1 + max(p.revision for p in self.pages.values()))
        return self.pages[title]


@asynccontextmanager
async def open_littlewiki(
    pages: Iterable[WikiPage],
    *,
    interwiki: Sequence[InterwikiEntry] = (),
    weboid_url: str | None = None,
    pages_at_once: int = 5,
    links_at_once: int = 20,
) -> AsyncIterator[LittleWiki]:
    """Serves pages on 127.0.0.1 until the block ends.

    `weboid_url` is linked from every article, if given. The limits are the wiki's own: small, so that a client must
    follow its continuations.
    """
    site = Site(
        pages={page.title: page for page in pages},
        interwiki=interwiki,
        pages_at_once=pages_at_once,
        links_at_once=links_at_once,
    )
    little = LittleWiki(site, weboid_url)
    async with open_application(_application(little)) as site.server:
        yield little


def _application(little: LittleWiki) -> web.Application:
    async def index(_: web.Request) -> web.Response:
        return _html(index_html(little.site))

    async def article(request: web.Request) -> web.Response:
        page = little.pages.get(request.match_info["title"].replace("_", " "))
        if page is None:
            return web.Response(status=404, text="There is no such article.", headers=_SAFE_HEADERS)
        return _html(article_html(little.site, page, little.weboid_url))

    async def api(request: web.Request) -> web.Response:
        posted = await request.post()
        question = {name: str(value) for name, value in (*request.query.items(), *posted.items())}
        little.asked.append(question)
        return web.json_response(answer_of(little.site, question))

    application = web.Application()
    application.router.add_get("/", index)
    application.router.add_get("/wiki/{title:.+}", article)
    application.router.add_route("GET", "/w/api.php", api)
    application.router.add_route("POST", "/w/api.php", api)
    return application


def _html(text: str) -> web.Response:
    return web.Response(text=text, content_type="text/html", headers=_SAFE_HEADERS)
