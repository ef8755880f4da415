"""How a browser's links find their answers: the links of a rendered page that lead away from its wiki, and the rule of
docs/api.md by which each finds its link among those that ``/api/page`` tells.
"""

import asyncio
import bz2
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple
from urllib.parse import urlencode, urlsplit
from urllib.request import urlopen

import aiohttp
from lxml import html
from playwright.async_api import Browser
from support.awkward_articles import INTERWIKIS, TEMPLATES, dot
from support.commands import Place
from support.gadget_modules import add_require
from support.mediawiki import MediaWiki, make_mediawiki

from weboid.core.url.hosts import InvalidReason, InvalidUrl
from weboid.core.url.urls import parse

Link = Mapping[str, Any]
Parser = Literal["legacy", "parsoid"]
Script = Literal["example", "gadget"]
"""What matches in a browser: the example of docs/api.md in JavaScript, or gadget/core.js."""
WIKI: Final = "testwiki@wmflabs"
NAMESPACES: Final = [0, 1, 3, 4, 100]
DAY: Final = 120
_SETTINGS: Final = """
$wgEnableMagicLinks = [ "ISBN" => true, "RFC" => true, "PMID" => true ];
$wgMetaNamespace = "Über_uns";
$wgNamespaceAliases["WT"] = NS_PROJECT;
$wgExtraNamespaces[100] = "Wort";
$wgCapitalLinkOverrides[100] = false;
"""
_PAGES: Final = 50
"""The most that a request may name."""
_AT_ONCE: Final = 2
_DOCUMENT: Final = Path(__file__).resolve().parents[2] / "docs" / "api.md"
_IN_BROWSER: Final = """async ( [ html, links, service, wiki ] ) => {
    %s
    const root = new DOMParser().parseFromString( html, 'text/html' ).body;
    const found = await matchLinks( root, links, service, wiki );
    return [ ...root.querySelectorAll( 'a' ) ].map( ( a ) =>
        [ a.getAttribute( 'href' ) || '', a.className, a.title, links.indexOf( found.get( a ) ) ] );
}"""
_BY_GADGET: Final = """
    function matchLinks( root, links ) {
        const index = require( './core.js' ).createIndex( [ location.host ] );
        root.querySelectorAll( 'a[href]' ).forEach( ( element ) => index.add( element ) );
        return index.find( links );
    }
"""
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_OWN_FARM: Final = {urlsplit(entry.url).hostname for entry in INTERWIKIS if entry.local} | {"en.wikipedia.org"}
"""Prefixes that MediaWiki flags as local lead to wikis of the same farm, which are not watched (L-1)."""


class Node(NamedTuple):
    """An ``a``: its attributes as they stand in the HTML."""

    href: str
    classes: str = ""
    title: str = ""

    @property
    def url(self) -> str:
        return f"https:{self.href}" if self.href.startswith("//") else self.href

    def leads_away_from(self, origin: str) -> bool:
        """Whether it has a scheme, and does not lead to that origin."""
        return bool(_SCHEME.match(self.url)) and not f"{self.url}/".startswith(f"{origin}/")


Reported = list[tuple[Node, Link | None]]
"""Nodes of a page, each with the link that it is."""

Matcher = Callable[[str, Sequence[Link]], Awaitable[Reported]]
"""From a rendered page and its links as Weboid tells them to all nodes that lead away, each with its link, if any."""


def foreign_hrefs(rendered: str, origin: str) -> list[str]:
    """The href of all nodes of a rendered page that lead away from its wiki at `origin`."""
    nodes = [Node(anchor.get("href", "")) for anchor in html.document_fromstring(f"<body>{rendered}").iter("a")]
    return [node.href for node in nodes if node.leads_away_from(origin)]


def why_nobody(node: Node) -> str | None:
    """Why Weboid need not know the link of a node; None if it should."""
    if "mw-magiclink" in node.classes:
        return "magic: MediaWiki has it in no table of links"
    try:
        host = parse(node.url).host
    except InvalidUrl as error:
        return "no resource" if error.reason is InvalidReason.PROTOCOL else "invalid"
    return "own farm" if host in _OWN_FARM else None


@dataclass
class Matched:
    """What became of the nodes of some pages."""

    pages: int = 0
    nodes: int = 0
    by: Counter[str] = field(default_factory=Counter)
    """How many nodes found their link ``as given`` or otherwise, or need none, and why."""
    missed: list[tuple[str, str]] = field(default_factory=list)
    """Titles and hrefs of nodes that should have found a link and did not."""
    unseen: list[tuple[str, str]] = field(default_factory=list)
    """Titles and forms of links to which no node leads."""

    def add(self, title: str, shown: Reported, links: Sequence[Link]) -> None:
        """Adds what was found for the nodes of a page."""
        self.pages += 1
        seen: set[int] = set()
        for node, link in shown:
            self.nodes += 1
            if link is not None:
                seen.add(id(link))
                self.by["as given" if node.url in link["given"] else "otherwise"] += 1
            elif why := why_nobody(node):
                self.by[why] += 1
            else:
                self.missed.append((title, node.href))
        self.unseen += [(title, link["given"][0]) for link in links if id(link) not in seen]

    def __str__(self) -> str:
        found = ", ".join(f"{count:,} {what}" for what, count in self.by.most_common())
        shown = f"{self.nodes:,} nodes on {self.pages:,} pages: {found}; {len(self.missed):,} missed"
        return f"{shown}, {len(self.unseen):,} links without a node"


@dataclass
class Meeting:
    """A running wiki, and a running Weboid that watches it."""

    wiki: MediaWiki
    weboid: str
    client: aiohttp.ClientSession
    place: Place
    answers: int = 0
    """Weboid's answers about links so far."""

    async def ask_wiki(self, **question: str | int) -> dict[str, Any]:
        given = {"format": "json", "formatversion": "2", **{name: str(value) for name, value in question.items()}}
        async with self.client.get(self.wiki.api, params=given) as response:
            answer: dict[str, Any] = await response.json()
            return answer

    async def ask(self, path: str, **question: str | int) -> dict[str, Any]:
        given = {"dbname": WIKI, **{name: str(value) for name, value in question.items()}}
        async with self.client.get(self.weboid + path, params=given) as response:
            answer: dict[str, Any] = await response.json()
            if "error" in answer:
                raise AssertionError(answer["error"])
            return answer

    async def pages(self) -> dict[int, str]:
        """All articles that are no redirects, id -> title."""
        going_on: dict[str, str] = {}
        found: dict[int, str] = {}
        while True:
            answer = await self.ask_wiki(
                action="query", list="allpages", aplimit="max", apfilterredir="nonredirects", **going_on
            )
            found |= {page["pageid"]: page["title"] for page in answer["query"]["allpages"]}
            if "continue" not in answer:
                return found
            going_on = answer["continue"]

    async def rendered(self, page: int, parser: Parser) -> str:
        more = {"parsoid": 1} if parser == "parsoid" else {}
        answer = await self.ask_wiki(action="parse", pageid=page, prop="text", disablelimitreport=1, **more)
        text: str = answer["parse"]["text"]
        return text

    async def links(self, *pages: int) -> dict[int, list[Link]]:
        """All links of up to fifty pages as Weboid tells them now, put together by the example of docs/api.md."""
        names: dict[str, Any] = {}
        exec(example("python", "links_of"), names)

        def ask(question: Mapping[str, str]) -> dict[str, Any]:
            with urlopen(f"{self.weboid}/api/page?{urlencode(question)}") as response:
                answer: dict[str, Any] = json.load(response)
            self.answers += 1
            if stale := [page["id"] for page in answer["pages"] if not page["live"]]:
                raise AssertionError(f"not read from their wiki: {stale}")
            return answer

        query = {"dbname": WIKI, "pageid": "|".join(map(str, pages)), "all": "1"}
        links: dict[int, list[Link]] = await asyncio.to_thread(names["links_of"], ask, query)
        return links

    async def matched(self, pages: Mapping[int, str], parser: Parser, matcher: Matcher) -> Matched:
        """What becomes of all nodes of these pages."""
        matched = Matched()
        turns = asyncio.Semaphore(_AT_ONCE)

        async def rendered(page: int) -> str:
            async with turns:
                return await self.rendered(page, parser)

        ids = list(pages)
        for start in range(0, len(ids), _PAGES):
            some = ids[start : start + _PAGES]
            links = await self.links(*some)
            for page, text in zip(some, await asyncio.gather(*map(rendered, some)), strict=True):
                shown = [each for each in await matcher(text, links[page]) if each[0].leads_away_from(self.wiki.url)]
                if Counter(node.href for node, _ in shown) != Counter(foreign_hrefs(text, self.wiki.url)):
                    raise AssertionError(f"not the foreign links of {pages[page]}: {shown}")
                matched.add(pages[page], shown, links[page])
        return matched

    async def by_python(self, rendered: str, links: Sequence[Link]) -> Reported:
        """The matcher in Python that stands in docs/api.md."""
        names: dict[str, Any] = {}
        exec(example("python", "match_links"), names)
        own_host = urlsplit(self.wiki.url).netloc
        found = await asyncio.to_thread(names["match_links"], rendered, links, self.weboid, WIKI, own_host)
        return [(Node(a["href"], a.get("class", ""), a.get("title", "")), link) for a, link in found]

    @asynccontextmanager
    async def javascript(self, browser: Browser, by: Script) -> AsyncIterator[Matcher]:
        """A matcher in JavaScript, run on a page of the wiki."""
        page = await browser.new_page()
        await page.goto(f"{self.wiki.url}/wiki/Main_Page?safemode=1")
        await add_require(page)
        script = _IN_BROWSER % (example("js", "matchLinks") if by == "example" else _BY_GADGET)

        async def matcher(rendered: str, links: Sequence[Link]) -> Reported:
            found = await page.evaluate(script, [rendered, list(links), self.weboid, WIKI])
            return [(Node(*node), links[place] if place >= 0 else None) for *node, place in found]

        try:
            yield matcher
        finally:
            await page.close()


def example(language: str, name: str) -> str:
    """The example of docs/api.md in a language that defines the function of that name."""
    blocks: list[str] = re.findall(
        rf"^```{language}\n(.*?)^```", _DOCUMENT.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    return next(block for block in blocks if re.search(rf"(?:def|function) {name}\(", block))


@contextmanager
def make_wiki(language: str = "en", settings: str = "") -> Iterator[MediaWiki]:
    """A wiki with templates, interwiki map and unusual namespaces, not started yet.

    `settings` are more lines of its LocalSettings.php.
    """
    with make_mediawiki(language=language, settings=_SETTINGS + settings) as wiki:
        wiki.add_interwikis(INTERWIKIS)
        wiki.save_pages(TEMPLATES)
        yield wiki


@contextmanager
def started_wiki(pages: Mapping[str, str], settings: str = "") -> Iterator[MediaWiki]:
    """Such a wiki that runs, with these pages and the picture that the awkward articles show."""
    with make_wiki(settings=settings) as wiki:
        wiki.import_images({"Dot.png": dot()})
        wiki.save_pages(pages)
        wiki.start()
        yield wiki


@asynccontextmanager
async def open_articles(
    file: Path, language: str, database: str, folder: Path, every: int
) -> AsyncIterator[tuple[Meeting, dict[int, str]]]:
    """Weboid and a wiki with one of `every` of the articles of an export (XML, bzip2); and these, id -> title."""
    export = folder / "export.xml"
    export.write_text(_some_of(bz2.decompress(file.read_bytes()).decode(), every), encoding="utf-8")
    with make_wiki(language) as wiki:
        wiki.import_pages(export, linked=False)
        wiki.start()
        async with open_meeting(wiki, database, folder) as meeting:
            articles = await meeting.pages()
            await asyncio.to_thread(wiki.update_links, articles)
            yield meeting, articles


def _some_of(export: str, every: int) -> str:
    """An export with one of `every` of its articles, and with all of its templates and modules."""
    head, *pages = re.split("(?=<page>)", export.partition("</mediawiki>")[0])
    articles = [page for page in pages if "<ns>0</ns>" in page and "<redirect " not in page]
    used = [page for page in pages if "<ns>10</ns>" in page or "<ns>828</ns>" in page]
    return "".join([head, *used, *articles[::every], "</mediawiki>"])


@asynccontextmanager
async def open_meeting(
    wiki: MediaWiki, database: str, folder: Path, *, first_day: int = DAY, day: int = DAY
) -> AsyncIterator[Meeting]:
    """Weboid in processes of its own: a pass over the running wiki on `first_day`, then the webservice on `day`."""
    environ = {
        "WEBOID_DATABASE": database,
        "WEBOID_NET_PERMIT": "127.0.0.0/8",
        "WEBOID_CONTACT": "tests@weboid.example",
        "WEBOID_WEB_RATE": "1000000",
        "WEBOID_WEB_BURST": "1000000",
    }
    place = Place(folder, environ=environ)
    (folder / "weboid.toml").write_text(
        f'[wiki."{WIKI}"]\napi = "{wiki.api}"\nnamespaces = {NAMESPACES}\n', encoding="utf-8"
    )
    passed = await place.run("feed", "pass", "--day", str(first_day))
    if passed.status:
        raise AssertionError(passed.err)
    process, url = await place.serve("--day", str(day))
    try:
        async with aiohttp.ClientSession() as client:
            yield Meeting(wiki, url, client, place)
    finally:
        process.terminate()
        await process.communicate()
