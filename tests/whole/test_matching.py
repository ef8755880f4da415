"""A browser and Weboid meet at a real MediaWiki: each link of a page finds its answer by the rule of docs/api.md."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final, Literal

import pytest
import pytest_asyncio
from support.awkward_articles import ARTICLES
from support.browser import needs_browser, open_browser
from support.matching import Matcher, Meeting, Parser, Script, open_articles, open_meeting, started_wiki
from support.mediawiki import MediaWiki
from support.shared import shared

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]

ARTICLES_OF: Final = {"en": 20, "ltg": 40}
"""Of how many articles one is taken."""

PARSOID: Final = {"en": 2, "ltg": 3}
"""Of how many of these one is rendered by Parsoid as well, which takes over a second for an article."""

PARSERS: Final[tuple[Parser, ...]] = ("legacy", "parsoid")
OTHERS: Final = {
    ("Encodings", "http://3sat.de/%%34%31"),  # MediaWiki decodes it once more for its tables
    ("Hosts", "http://faß.de/"),  # in its tables http://fass.de/, which is another host
    ("Images", "http://3sat.de/gallery"),  # the tables are the legacy parser's, which takes the caption for a part
    ("Interwiki", "//sofar.3sat.de/wiki/#only_fragment?x=y"),  # Parsoid: the fragment before the query, and no title
}
"""What MediaWiki itself knows under another URL."""


@pytest.fixture(scope="module")
def wiki() -> Iterator[MediaWiki]:
    with started_wiki(ARTICLES) as wiki:
        yield wiki


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def meeting(
    wiki: MediaWiki, module_database: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Meeting]:
    async with open_meeting(wiki, module_database, tmp_path_factory.mktemp("meeting")) as meeting:
        yield meeting


@pytest.mark.parametrize(
    "by",
    ["Python", pytest.param("example", marks=needs_browser), pytest.param("gadget", marks=needs_browser)],
    ids=["Python", "JavaScript", "gadget"],
)
async def test_every_link_of_awkward_articles_finds_its_answer(
    meeting: Meeting, by: Literal["Python"] | Script
) -> None:
    pages = {page: title for page, title in (await meeting.pages()).items() if title in ARTICLES}
    async with AsyncExitStack() as stack:
        matcher: Matcher = meeting.by_python
        if by != "Python":
            browser = await stack.enter_async_context(open_browser())
            matcher = await stack.enter_async_context(meeting.javascript(browser, by))
        for parser in PARSERS:
            matched = await meeting.matched(pages, parser, matcher)
            print(f"{by}, {parser}: {matched}")
            assert set(matched.missed) <= OTHERS
            assert len(matched.unseen) <= 9
            assert (matched.pages, matched.nodes > 190, matched.by["as given"] > 110) == (len(ARTICLES), True, True)
            assert matched.by["otherwise"] > 55


@pytest.mark.parametrize(
    ("name", "language", "pages", "nodes"),
    [("enwiki-2016", "en", 5, 250), ("ltgwiki-2017", "ltg", 20, 20)],
    ids=["en", "ltg"],
)
async def test_every_link_of_real_articles_finds_its_answer(
    database: str, tmp_path: Path, name: str, language: str, pages: int, nodes: int
) -> None:
    file = shared(f"articles/{name}.xml.bz2")
    async with open_articles(file, language, database, tmp_path, ARTICLES_OF[language]) as (meeting, articles):
        legacy = await meeting.matched(articles, "legacy", meeting.by_python)
        some = dict(list(articles.items())[:: PARSOID[language]])
        parsoid = await meeting.matched(some, "parsoid", meeting.by_python)
    print(f"legacy: {legacy}\nParsoid: {parsoid}")
    assert legacy.missed + parsoid.missed + legacy.unseen == []
    assert (legacy.pages >= pages, legacy.nodes >= nodes, parsoid.pages >= 3, parsoid.nodes >= 3) == (True,) * 4
