"""For tests of lists: more wikis, pages and dead links in the store of a service, and reading a list to its end."""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from lxml import html
from support.intakes import record_pages
from support.webservice import Site, record_weeks

from weboid.core.url.farms import WMFLABS, Farm, WikiName
from weboid.feed.intake import page_urls
from weboid.store.pages.wiki import StoredWiki, record_wiki
from weboid.wiki.source import PageLinks

WIKI = "dbname=testwiki@wmflabs"
Pages = Mapping[int, tuple[str, list[str]]]
"""Title and links by page id."""


async def add_pages(site: Site, pages: Pages, dbname: str = "testwiki", farm: Farm = WMFLABS) -> StoredWiki:
    """Takes pages of a wiki in; what is on dead.demo is dead, as if rounds had been."""
    links = [PageLinks(page, 0, title, 1, None, tuple(sorted(urls))) for page, (title, urls) in pages.items()]
    async with site.wiki.pool.connection() as conn:
        wiki = await record_wiki(conn, farm, WikiName(dbname, farm.name))
        await record_pages(conn, wiki.wiki, [page_urls(link, farm) for link in links], 100)
        await record_weeks(conn, {url for _, urls in pages.values() for url in urls})
    return wiki


async def answer_to(site: Site, path: str, http: int = 200, **headers: str) -> Any:
    status, body, _ = await site.fetch(path, **headers)
    assert status == http, body
    return json.loads(body)


async def key_of_error(site: Site, path: str) -> tuple[int, str]:
    """The status of an error and its key, of whatever format the address has."""
    status, body, response = await site.fetch(path + "&lang=qqx")
    assert response.headers["Cache-Control"] == "no-store", body
    text = json.loads(body)["error"]["text"] if response.content_type == "application/json" else body
    return status, text.partition("(weboid-error-")[2].partition(")")[0].partition(":")[0]


async def walked(site: Site, path: str, between: Callable[[int], Awaitable[None]] | None = None) -> list[Any]:
    """The documents of a list from its beginning to its end, going on by `next`; `between` is done after each part."""
    documents, after = [], ""
    while True:
        documents.append(await answer_to(site, path + after))
        if documents[-1]["next"] is None:
            return documents
        after = f"&after={documents[-1]['next']}"
        assert len(documents) < 100
        if between:
            await between(len(documents))


def nodes(body: str, path: str) -> Any:
    """What an XPath finds in a page; the stubs know no better type."""
    return html.document_fromstring(body).xpath(path)


def texts(body: str, path: str) -> list[str]:
    """The texts of what an XPath finds in a page."""
    return [node if isinstance(node, str) else node.text_content().strip() for node in nodes(body, path)]


async def walked_pages(site: Site, path: str, rows: str, between: Callable[[int], Awaitable[None]]) -> list[list[str]]:
    """What an XPath finds in each part of a list of HTML, going on by its link to the next part."""
    parts: list[list[str]] = []
    while True:
        _, body, _ = await site.fetch(path)
        parts.append(texts(body, rows))
        match texts(body, '//a[@rel="next"]/@href'):
            case []:
                return parts
            case [path]:
                assert len(parts) < 100
                await between(len(parts))
