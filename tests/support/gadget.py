"""The gadget in a real wiki: MediaWiki with the gadget's pages, a running Weboid whose store knows what has become of
the links, and Chromium in which an article is read.

One law: a page that was opened here tells at its end whatever went wrong in it: errors of scripts, lines on the
console, what its Content Security Policy refused, and requests to anybody but the wiki and Weboid.
"""

import asyncio
import zlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlencode

from playwright.async_api import Browser, BrowserContext, Error, Page, Request, Route
from support.browser import DESK
from support.matching import Meeting, Parser
from support.mediawiki import PASSWORD, MediaWiki
from support.observations import FINE, LOST, WALL
from support.webservice import record_weeks

from weboid.assets import asset
from weboid.core.observe.observation import Observation
from weboid.core.record.reasons import Reason
from weboid.core.record.status import Status
from weboid.core.url.keys import UrlKey
from weboid.store.db.pool import open_pool
from weboid.store.urls.url import find_urls
from weboid.wiki.gadget.build import BuiltGadget, built_gadget

Skin = Literal["vector-2022", "vector", "minerva", "monobook", "timeless"]
SKINS: Final[Sequence[Skin]] = ("vector-2022", "vector", "minerva", "monobook", "timeless")
FARM: Final = "wmflabs"
SETTINGS: Final = Path(__file__).with_name("gadget_settings.php").read_text(encoding="utf-8")
"""Night mode and live previews for everybody; by request Parsoid's pages, as the extension ParserMigration gives them,
and a policy."""

_OWN: Final = "default-src 'self' data: blob:; style-src 'self' data: blob: 'unsafe-inline'; object-src 'none'"
_SCRIPTS: Final = "script-src 'self' blob: 'unsafe-eval' 'unsafe-inline'"
_DEPRECATED: Final = "warning: This page is using the deprecated ResourceLoader module"
_VERDICTS_AT_ONCE: Final = 1_000
_LIMIT_S: Final = 30.0
_NODES: Final = Path(__file__).with_name("gadget_marks.js").read_text(encoding="utf-8")
_CONTENT: Final = """() => [ ...document.querySelectorAll( '#mw-content-text .mw-parser-output' ) ]
    .map( ( root ) => root.innerHTML ).join( '' )"""
_READY: Final = "() => window.mw && mw.hook"
_SETTLED: Final = """() => document.readyState === 'complete' && window.mw && mw.loader
    && [ 'ready', 'registered', null ].includes( mw.loader.getState( 'ext.gadget.weboid' ) )"""
_MARKED: Final = "() => new Promise( ( resolve ) => mw.hook( 'weboid.marked' ).add( () => resolve() ) )"
_IDLE: Final = "() => new Promise( ( resolve ) => mw.requestIdleCallback( () => setTimeout( resolve, 50 ) ) )"

Answer = Callable[[str], Observation]


def announced_policy(weboid: str) -> str:
    """Wikimedia's Content Security Policy as it is announced: today's, but for scripts from outside."""
    return f"{_OWN}; {_SCRIPTS}; connect-src 'self' {weboid}"


def answer_by_chance(url: str) -> Observation:
    """Of ten URLs four are gone, two behind a wall, one is moved, one a document, two fine; the same in every run."""
    match zlib.crc32(url.encode()) % 10:
        case 0 | 1 | 2 | 3:
            return LOST
        case 4 | 5:
            return WALL
        case 6:
            return Observation(Status.MOVED_PERMANENTLY, Reason.MOVED, target="http://3sat.de/moved")
        case 7:
            return Observation(Status.FINE, Reason.OK, mime="pdf", size_kib=2_048)
    return FINE


async def record_answers(database: str, answer: Answer = answer_by_chance) -> None:
    """Fills the store with what some weeks of checks find if each watched URL answers so."""
    async with open_pool(database, size=2, part="test") as pool, pool.connection() as conn:
        rows = await (await conn.execute(b"SELECT bucket, host_key, url_key FROM url")).fetchall()
        keys = sorted(UrlKey(*row) for row in rows)
        for begin in range(0, len(keys), _VERDICTS_AT_ONCE):
            known = await find_urls(conn, keys[begin : begin + _VERDICTS_AT_ONCE])
            await record_weeks(conn, [str(url.url) for url in known.values()], answer)


@dataclass
class View:
    """A page in the browser, and what it did."""

    page: Page
    wiki: str
    weboid: str
    console: list[str] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)

    @contextmanager
    def noting(self) -> Iterator[None]:
        listeners: dict[Any, Callable[[Any], None]] = {
            "console": lambda message: self.console.append(f"{message.type}: {message.text}"),
            "pageerror": lambda error: self.console.append(f"error: {error.message}"),
            "request": lambda request: self.requests.append(request),
        }
        for event, listener in listeners.items():
            self.page.on(event, listener)
        yield
        for event, listener in listeners.items():
            self.page.remove_listener(event, listener)

    @property
    def asked(self) -> list[str]:
        return [request.url for request in self.requests if request.url.startswith(self.weboid)]

    @property
    def foreign_requests(self) -> list[str]:
        known = (self.weboid, self.wiki, "data:", "blob:")
        return [request.url for request in self.requests if not request.url.startswith(known)]

    @property
    def complaints(self) -> list[str]:
        """Lines of the console that speak of something wrong, but for what MediaWiki's skins are warned of."""
        wrong = [line for line in self.console if line.startswith(("error", "warning"))]
        return [line for line in wrong if not line.startswith(_DEPRECATED)]

    async def marked(self) -> None:
        """Waits until the gadget has marked the links of the content."""
        await self.page.wait_for_function(_READY)
        async with asyncio.timeout(_LIMIT_S):
            await self.page.evaluate(_MARKED)

    async def marks(self) -> list[tuple[str, str]]:
        """What is marked: the href of each link in the content with a mark right behind it, and the mark's kind."""
        return [(href, kind) for href, kind in await self.page.evaluate(_NODES) if kind is not None]

    async def content(self) -> str:
        rendered: str = await self.page.evaluate(_CONTENT)
        return rendered

    async def idle(self) -> None:
        """Waits until the gadget, if it has nothing to ask or is not loaded here, has come to an end."""
        await self.page.wait_for_function(_SETTLED)
        async with asyncio.timeout(_LIMIT_S):
            for _ in range(5):
                await self.page.evaluate(_IDLE)


@dataclass
class GadgetWiki:
    """A wiki that has the gadget, Weboid next to it, and a browser. `pages` are the ids of its articles by title."""

    meeting: Meeting
    browser: Browser
    pages: Mapping[str, int]
    _idle: Page | None = None

    @asynccontextmanager
    async def _reader(self) -> AsyncIterator[Page]:
        """The page of a reader who changes nothing that a session keeps: what the wiki serves is loaded once only, and
        the browser starts one process for it.
        """
        page, self._idle = self._idle, None
        if page is None:
            session = await self.browser.new_context(viewport={"width": DESK, "height": 900})
            session.set_default_timeout(_LIMIT_S * 1000)
            page = await session.new_page()
        yield page
        await page.goto("about:blank")
        self._idle = page

    @asynccontextmanager
    async def context(
        self, *, width: int = DESK, height: int = 900, night: bool = False, user: str | None = None, **options: Any
    ) -> AsyncIterator[BrowserContext]:
        """A session of somebody who reads the wiki; of `user` if somebody is to sign in. `options` are Playwright's."""
        context = await self.browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if night else "light", **options
        )
        context.set_default_timeout(_LIMIT_S * 1000)
        try:
            if night:
                name = f"{self.meeting.wiki.dbname}mwclientpreferences"
                await context.add_cookies(
                    [{"name": name, "value": "skin-theme-clientpref-night", "url": self.meeting.wiki.url}]
                )
            if user:
                await self._sign_in(context, user)
            yield context
        finally:
            await context.close()

    @asynccontextmanager
    async def view(
        self,
        title: str,
        *,
        skin: Skin = "vector-2022",
        parser: Parser = "legacy",
        language: str | None = None,
        policy: str | None = None,
        query: Mapping[str, str | int] | None = None,
        context: BrowserContext | None = None,
        **reader: Any,
    ) -> AsyncIterator[View]:
        """A page of the wiki in the browser; `query` are more parameters of its address, `reader` is for `context`.

        On a page that many use in turn, unless a context is given, or something is said of the reader.
        """
        parameters: dict[str, str | int] = {"title": title, "useskin": skin}
        if parser == "parsoid":
            parameters["useparsoid"] = 1
        if language:
            parameters["uselang"] = language
        if policy:
            parameters["contentpolicy"] = policy
        if skin == "minerva" and reader.get("night"):
            # Only MobileFrontend lets it heed the cookie.
            parameters["minervanightmode"] = "night"
        parameters |= query or {}
        address = f"{self.meeting.wiki.url}/w/index.php?{urlencode(parameters)}"
        async with AsyncExitStack() as stack:
            if reader and context is None:
                context = await stack.enter_async_context(self.context(**reader))
            opening = self._reader() if context is None else _new_page(context)
            view = View(await stack.enter_async_context(opening), self.meeting.wiki.url, self.meeting.weboid)
            stack.enter_context(view.noting())
            await view.page.goto(address, wait_until="domcontentloaded")
            yield view

    async def _sign_in(self, context: BrowserContext, user: str) -> None:
        """Signs a user in, by the wiki's API."""
        api = self.meeting.wiki.api
        shown = await context.request.get(f"{api}?action=query&meta=tokens&type=login&format=json")
        token = (await shown.json())["query"]["tokens"]["logintoken"]
        form = {
            "action": "clientlogin",
            "loginreturnurl": self.meeting.wiki.url,
            "logintoken": token,
            "username": user,
            "password": PASSWORD,
            "format": "json",
        }
        done = await (await context.request.post(api, form=form)).json()
        assert done["clientlogin"]["status"] == "PASS", done


@asynccontextmanager
async def _new_page(context: BrowserContext) -> AsyncIterator[Page]:
    page = await context.new_page()
    try:
        yield page
    finally:
        await page.close()


async def findings(meeting: Meeting, rendered: str, page: int) -> list[tuple[str, str]]:
    """What is to be marked in the HTML of a page by the rule of docs/api.md: href and verdict, in the page's order."""
    shown = await meeting.by_python(rendered, (await meeting.links(page))[page])
    return [(node.href, link["verdict"]) for node, link in shown if link and link["verdict"] in {"dead", "doubtful"}]


@dataclass
class StandIn:
    """A server in Weboid's place that answers every request with the same bytes, after a pause, and hangs up.

    `seen` are the heads of the requests that came.
    """

    answer: bytes = b""
    pause_s: float = 0.0
    url: str = ""
    seen: list[str] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            self.seen.append((await reader.readuntil(b"\r\n\r\n")).decode())
            await asyncio.sleep(self.pause_s)
            writer.write(self.answer)
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def says(self, body: str) -> None:
        """Lets it answer with this body."""
        lines = ["HTTP/1.1 200 OK", "Access-Control-Allow-Origin: *", "Content-Type: application/json"]
        self.answer = "\r\n".join(
            [*lines, f"Content-Length: {len(body.encode())}", "Connection: close", "", body]
        ).encode()


@asynccontextmanager
async def open_stand_in(context: BrowserContext, weboid: str) -> AsyncIterator[StandIn]:
    """In this context the gadget takes another server for Weboid."""
    stand_in = StandIn()
    server = await asyncio.start_server(stand_in.serve, "127.0.0.1", 0)
    stand_in.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"

    async def redirect(route: Route) -> None:
        with suppress(Error):  # what is still loading when the test has seen enough
            response = await route.fetch()
            body = (await response.text()).replace(weboid, stand_in.url)
            await route.fulfill(response=response, body=body)

    await context.route("**/load.php?*", redirect)
    async with server:
        yield stand_in


def install_gadget(wiki: MediaWiki, weboid: str, *, consent: bool = False) -> BuiltGadget:
    """Saves the gadget's pages on a wiki, for a Weboid at that address; every reader has it."""
    gadget = built_gadget(asset("gadget"), asset("i18n"), service=weboid, farm=FARM, consent=consent)
    wiki.save_pages(gadget.pages)
    # Last, and as an edit: what is known of gadgets is kept by the wiki until then.
    wiki.save(
        "MediaWiki:Gadgets-definition",
        "\n".join(gadget.definitions).replace("ResourceLoader|", "ResourceLoader|default|", 1),
    )
    return gadget
