"""The little wiki: read whole by the real source of the Action API, however small its limits; and safe to look at."""

from collections.abc import AsyncIterator
from html.parser import HTMLParser

import aiohttp
import pytest

from weboid.demo.littlewiki import LittleWiki, open_littlewiki, page_path
from weboid.demo.story import demo_interwiki, demo_pages
from weboid.demo.wikipages import WikiPage
from weboid.wiki.api import ApiSource
from weboid.wiki.criteria.named import pages_in
from weboid.wiki.source import Members, PageLinks

PAGES = demo_pages(str)


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as one:
        yield one


async def read(wiki: LittleWiki, session: aiohttp.ClientSession) -> list[PageLinks]:
    source = ApiSource(wiki.api_url, session, user_agent="Weboid/0")
    walk = source.walk(pages_in(0))
    return await source.find_pages(ids=[page.page async for stretch in walk for page in stretch.pages])


def expected(pages: list[WikiPage]) -> dict[str, set[str]]:
    """The URLs of each page that is no redirect; interwiki links as the map says, unless local."""
    found: dict[str, set[str]] = {}
    for page in pages:
        if page.redirect is None:
            urls = {link.url for link in page.links}
            urls |= {f"http://isles.demo/wiki/{title}" for prefix, title in page.interwiki if prefix == "isles"}
            found[page.title] = urls
    return found


@pytest.mark.parametrize(("pages_at_once", "links_at_once"), [(1, 1), (2, 3), (50, 500)])
async def test_the_source_reads_the_whole_wiki_however_small_its_limits(
    session: aiohttp.ClientSession, pages_at_once: int, links_at_once: int
) -> None:
    async with open_littlewiki(
        PAGES, interwiki=demo_interwiki(str), pages_at_once=pages_at_once, links_at_once=links_at_once
    ) as wiki:
        pages = await read(wiki, session)
        assert {page.title: set(page.urls) for page in pages} == expected(PAGES)
        assert len(pages) == len({page.page for page in pages})
        assert any("elcontinue" in question for question in wiki.asked) == (links_at_once < 500)
        source = ApiSource(wiki.api_url, session, user_agent="Weboid/0")
        assert await source.list_members("Lighthouses") == Members((), ""), "it has no categories"
        texts = await source.find_texts([PAGES[0].revision, 999_999])
        assert [(each.page, each.text) for each in texts.values()] == [(PAGES[0].page, PAGES[0].text)]


class Tags(HTMLParser):
    """The elements of a page, and its addresses."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.hrefs: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.hrefs += [value or "" for name, value in attrs if name == "href"]
        assert not any(name.startswith("on") for name, _ in attrs)


async def test_articles_can_be_read_and_hostile_ones_do_no_harm(session: aiohttp.ClientSession) -> None:
    async with open_littlewiki(PAGES, weboid_url="http://127.0.0.1:8000/") as wiki:
        for url in (f"{wiki.site.server}/", *(wiki.url + page_path(page.title) for page in PAGES)):
            async with session.get(url) as response:
                text = await response.text()
                assert response.status == 200, url
                assert "default-src 'none'" in response.headers["Content-Security-Policy"]
            tags = Tags()
            tags.feed(text)
            assert not tags.names & {"script", "img", "b"}
            assert all(href.startswith(("http://", "https://", "/")) for href in tags.hrefs)
