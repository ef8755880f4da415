"""A browser and Weboid meet at a real MediaWiki: each link of a page finds its answer by the rule of docs/api.md."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final, Literal

import pytest
import pytest_asyncio
from support.awkward_articles import ARTICLES, dot
from support.browser import needs_browser, open_browser
from support.matching import Matcher, Meeting, Parser, Script, make_wiki, open_articles, open_meeting
from support.mediawiki import MediaWiki
from support.shared import shared

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]

TITLED: Final = {
    "Harbour light": "[http://light.3sat.de/ x]",
    "Talk:Äpfel": "[http://talk.3sat.de/ x]",
    "Project:About this": "[http://about.3sat.de/ x]",
    "User talk:Foo bar": "[http://user.3sat.de/ x]",
    "Wort:wort": "[http://word.3sat.de/ x]",
    "Old name": "#REDIRECT [[Harbour light]]",
    "Older name": "#REDIRECT [[Old name]]",
    "Talk:Old": "#REDIRECT [[WT:About this]]",
}
ASKED: Final = {
    "Harbour light": "Harbour light",
    "harbour_light": "Harbour light",
    "_Harbour  light_": "Harbour light",
    ":Harbour light": "Harbour light",
    "talk:äpfel": "Talk:Äpfel",
    "TALK : äpfel": "Talk:Äpfel",
    "project:about this": "Über uns:About this",
    "über_uns:About_this": "Über uns:About this",
    "wt:about this": "Über uns:About this",
    "user_TALK:foo_bar": "User talk:Foo bar",
    "wort:wort": "Wort:wort",
}
REDIRECTED: Final = {"Old name": "Harbour light", "older_name": "Harbour light", "talk:old": "Über uns:About this"}
ARTICLES_OF: Final = {"en": 20, "ltg": 40}
"""Of how many articles one is taken."""

PARSOID: Final = {"en": 2, "ltg": 3}
"""Of how many of these one is rendered by Parsoid as well, which takes over a second for an article."""

PARSERS: Final[tuple[Parser, ...]] = ("legacy", "parsoid")
NOWHERE: Final = ("Nowhere", "Wort:Wort", "talk:Harbour light", "wx:About this", "Harbour%20light")
OTHERS: Final = {
    ("Encodings", "http://3sat.de/%%34%31"),  # MediaWiki decodes it once more for its tables
    ("Hosts", "http://faß.de/"),  # in its tables http://fass.de/, which is another host
    ("Images", "http://3sat.de/gallery"),  # the tables are the legacy parser's, which takes the caption for a part
    ("Interwiki", "//sofar.3sat.de/wiki/#only_fragment?x=y"),  # Parsoid: the fragment before the query, and no title
}
"""What MediaWiki itself knows under another URL."""


@pytest.fixture(scope="module")
def wiki() -> Iterator[MediaWiki]:
    with make_wiki() as wiki:
        wiki.import_images({"Dot.png": dot()})
        wiki.save_pages(ARTICLES | TITLED)
        wiki.start()
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


async def test_titles_lead_to_the_pages_to_which_they_lead_on_the_wiki(meeting: Meeting) -> None:
    asked = ASKED | REDIRECTED
    said = await meeting.ask_wiki(action="query", titles="|".join(asked), redirects=1)
    ids = {page["title"]: page["pageid"] for page in said["query"]["pages"]}
    answer = await meeting.ask("/api/page", title="|".join([*asked, *NOWHERE]), all=1)
    assert {page["live"] for page in answer["pages"]} == {True}
    assert {each["given"]: (each["title"], each["page"]) for each in answer["titles"]} == {
        given: (title, ids[title]) for given, title in asked.items()
    }
    assert {page["prefixed_title"]: page["id"] for page in answer["pages"]} == ids
    assert answer["missing"] == list(NOWHERE)
