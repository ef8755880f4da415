"""The little wiki on loopback: articles to read at ``/wiki/…`` and the Action API at ``/w/api.php``.

The answers of its API are made in ``wikipages``. Its pages may be changed at any moment while it runs, and the next
answer has the change. No text of a page gets into HTML unescaped, and only http and https links can be clicked.
"""

from collections import deque
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from html import escape
from typing import Final
from urllib.parse import quote, urlencode

from aiohttp import web

from weboid.demo.serving import SAFE_HEADERS, open_application
from weboid.demo.wikipages import InterwikiEntry, Site, WikiLink, WikiPage, answer_of

QUESTIONS_KEPT: Final = 10_000

_STYLE: Final = """
body { margin: 0 auto; max-width: 46rem; padding: 1.5rem; font: 1.05rem/1.6 Georgia, serif; color: #202122; }
header, footer, .note { font: .875rem/1.5 system-ui, sans-serif; color: #54595d; }
h1 { font-weight: normal; line-height: 1.2; border-bottom: 1px solid #a2a9b1; overflow-wrap: anywhere; }
a { color: #36c; overflow-wrap: anywhere; } li { margin: .2rem 0; } footer { border-top: 1px solid #a2a9b1; }
@media (prefers-color-scheme: dark) { body { background: #101418; color: #eaecf0; } a { color: #88a3e8; }
  header, footer, .note { color: #a2a9b1; } }
"""
_NOTE: Final = (
    "A made-up wiki. Hosts that end in .demo exist only inside this demonstration, so a browser cannot open them."
)


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
        return _html(_index(little.site))

    async def article(request: web.Request) -> web.Response:
        page = little.pages.get(request.match_info["title"].replace("_", " "))
        if page is None:
            return web.Response(status=404, text="There is no such article.", headers=SAFE_HEADERS)
        return _html(_article(little.site, page, little.weboid_url))

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
    return web.Response(text=text, content_type="text/html", headers=SAFE_HEADERS)


def page_path(title: str) -> str:
    """The path of an article on the wiki's server."""
    return "/wiki/" + quote(title.replace(" ", "_"), safe="")


def _index(site: Site) -> str:
    pages = sorted(
        (page for page in site.pages.values() if not page.namespace and page.redirect is None),
        key=lambda page: page.title,
    )
    items = "".join(
        f'<li><a href="{escape(page_path(page.title))}"><bdi>{escape(page.title)}</bdi></a></li>\n' for page in pages
    )
    return _document(site, site.name, f"<ul>\n{items}</ul>\n", "")


def _article(site: Site, page: WikiPage, weboid_url: str | None) -> str:
    """`weboid_url` is linked for the state of the article's links (G-2), if given."""
    text = "".join(f"<p>{escape(part)}</p>\n" for part in page.text.split("\n") if part)
    if page.redirect is not None:
        text = f'<p>See <a href="{escape(page_path(page.redirect))}"><bdi>{escape(page.redirect)}</bdi></a>.</p>\n'
    items = "".join(f"<li>{_link(link)}</li>\n" for link in page.links)
    links = f"<h2>External links</h2>\n<ul>\n{items}</ul>\n" if page.links else ""
    tool = ""
    if weboid_url is not None:
        query = urlencode({"dbname": f"{site.dbname}@{site.farm}", "pageid": page.page})
        about = f"{weboid_url.rstrip('/')}/externalLinkInfo?{query}"
        tool = f'<p><a href="{escape(about)}">What Weboid knows about the links of this page</a></p>\n'
    return _document(site, page.title, text + links, tool)


def _link(link: WikiLink) -> str:
    words = f"<bdi>{escape(link.caption or link.url)}</bdi>"
    if not link.url.lower().startswith(("http://", "https://")):
        return f"{words} <span class=note>(<bdi>{escape(link.url)}</bdi>)</span>"
    return f'<a rel="nofollow" href="{escape(link.url)}" title="{escape(link.url)}">{words}</a>'


def _document(site: Site, title: str, body: str, foot: str) -> str:
    return (
        f'<!doctype html>\n<html lang="{escape(site.lang)}">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{escape(title)} – {escape(site.name)}</title>\n<style>{_STYLE}</style>\n"
        f'<header><a href="/">{escape(site.name)}</a></header>\n'
        f"<main>\n<h1><bdi>{escape(title)}</bdi></h1>\n{body}</main>\n"
        f"<footer>\n{foot}<p>{_NOTE}</p>\n</footer>\n</html>\n"
    )
