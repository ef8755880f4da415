"""For tests of what people do: browsers that keep cookies and send forms, and a service at which they have signed in.

The provider at which they do is that of the demo (``demo/littleprovider``): real HTTP on its own port.
"""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import aiohttp
from lxml import html
from support.ports import free_port
from support.webservice import Site, open_service
from yarl import URL

from weboid.config import PeopleConfig
from weboid.demo.littleprovider import CLIENT, Editor, LittleProvider, open_littleprovider
from weboid.store.db.pool import Pool
from weboid.web.identity.confirmation import Confirmations
from weboid.web.identity.session import Sessions

PUBLIC_URL = "https://weboid.demo"
NOBODY = Confirmations(PeopleConfig(), None, "")
"""No way to the wiki of the provider."""
SECRET = "for tests only, and the same one in all their processes"
HOSTILE_NAME = '<b onmouseover="alert(1)">&amp;'
EDITORS = (
    Editor(7, "Anna"),
    Editor(8, "Bert"),
    Editor(9, "New", editcount=3),
    Editor(10, HOSTILE_NAME),
    Editor(11, "Boss"),
)
BOSS = "11"


@dataclass(frozen=True)
class Seen:
    """An answer as a browser has it."""

    status: int
    text: str
    headers: Mapping[str, str]
    cookies: tuple[str, ...]
    """``Set-Cookie``, one a header."""

    @property
    def location(self) -> str:
        return self.headers.get("Location", "")

    def form(self, action: str) -> dict[str, str]:
        """The hidden fields and preset values of the form that goes there; raises LookupError."""
        for form in html.document_fromstring(self.text).iter("form"):
            if form.get("action") == action:
                return _fields(form)
        raise LookupError(action)

    def link(self, beginning: str) -> str:
        """The first link to an address that begins like this; raises LookupError."""
        for link in html.fromstring(self.text).iter("a"):
            if str(link.get("href")).startswith(beginning):
                return str(link.get("href"))
        raise LookupError(beginning)


@dataclass
class Browser:
    """Somebody's browser at a service that says it is at PUBLIC_URL and is really at `url`. It follows nothing."""

    url: str
    client: aiohttp.ClientSession
    origin: str = PUBLIC_URL
    last: list[Seen] = field(default_factory=list)

    async def open(self, path: str, **headers: str) -> Seen:
        return await self._seen("GET", path, None, headers)

    async def send(self, path: str, fields: Mapping[str, str], **headers: str) -> Seen:
        return await self._seen(
            "POST", path, fields, {"Origin": self.origin, "Sec-Fetch-Site": "same-origin"} | headers
        )

    async def send_form(self, page: str, action: str, **fields: str) -> Seen:
        """The form of a page that goes to `action`, with these fields filled in."""
        return await self.send(action, (await self.open(page)).form(action) | fields)

    async def go(self, provider: LittleProvider, name: str, *, back: str = "", at: Self | None = None) -> Seen:
        """Begins signing in, agrees at the provider as `name` (or refuses, if empty) and comes back."""
        page = f"/account?back={back}" if back else "/account"
        if "/account/out" in (await self.open(page)).text:
            await self.send_form(page, "/account/out")
        going = await self.send_form(page, "/account/in")
        return await (at or self).open(await self.agree(provider, going.link(provider.url), name))

    async def agree(self, provider: LittleProvider, address: str, name: str) -> str:
        """Agrees at the provider; gives the path of ours that it sends the browser back to."""
        asked = dict(URL(address).query)
        async with self.client.get(address) as response:
            assert response.status == 200, await response.text()
            (form,) = [_fields(found) for found in html.document_fromstring(await response.text()).iter("form")]
        assert form == asked, "the page of consent keeps what was asked"
        at = provider.url + "/authorize"
        async with self.client.post(at, data=form | {"editor": name}, allow_redirects=False) as response:
            assert response.status == 303, await response.text()
            location = response.headers["Location"]
        assert location.startswith(PUBLIC_URL + "/account/back?")
        return location.removeprefix(PUBLIC_URL)

    def let_hours_pass(self, hours: float = 1.1) -> None:
        """As if it were so long ago that the wiki was asked who signed in."""
        (cookie,) = [cookie for cookie in self.client.cookie_jar if cookie.key.endswith("weboid")]
        fernet = Sessions(SECRET, PeopleConfig(), PUBLIC_URL, Pool(), NOBODY)._fernet
        values = json.loads(fernet.decrypt(cookie.value))
        values["confirmed"] -= int(hours * 3600)
        dated = fernet.encrypt_at_time(json.dumps(values).encode(), fernet.extract_timestamp(cookie.value))
        self.client.cookie_jar.update_cookies({cookie.key: dated.decode()}, URL(self.url))

    async def _seen(self, method: str, path: str, fields: Mapping[str, str] | None, headers: Mapping[str, str]) -> Seen:
        given = {name.replace("_", "-"): value for name, value in headers.items() if value}
        address = URL(self.url + path, encoded=True)
        async with self.client.request(method, address, data=fields, headers=given, allow_redirects=False) as response:
            text = await response.text()
            cookies = tuple(response.headers.getall("Set-Cookie", ()))
            self.last.append(seen := Seen(response.status, text, dict(response.headers), cookies))
        return seen


@asynccontextmanager
async def open_browser(url: str, *others: str) -> AsyncIterator[Browser]:
    """A browser with an empty jar, which takes this address (and others) for secure places."""
    jar = aiohttp.CookieJar(unsafe=True, treat_as_secure_origin=[URL(place) for place in (url, *others)])
    async with aiohttp.ClientSession(cookie_jar=jar) as client:
        yield Browser(url, client)


def environ_at(provider: LittleProvider, *, administrators: str = "", secret: str = "") -> dict[str, str]:
    """The configuration under which editors of this provider sign in; it also tells the provider where we are."""
    provider.addresses.add(PUBLIC_URL + "/account/back")
    provider.secret = secret
    return {
        "WEBOID_WEB_SECRET": SECRET,
        "WEBOID_PEOPLE_PROVIDER": provider.url,
        "WEBOID_PEOPLE_CLIENT": CLIENT,
        "WEBOID_PEOPLE_CLIENT_SECRET": secret,
        "WEBOID_PEOPLE_ADMINISTRATORS": administrators,
    }


def _fields(form: html.HtmlElement) -> dict[str, str]:
    """The fields of a form with the values they have; buttons have none until somebody presses one."""
    fields = {}
    for field_ in form.iter("input", "textarea", "select"):
        if (name := field_.get("name")) and (field_.get("type") != "checkbox" or "checked" in field_.attrib):
            fields[str(name)] = str(field_.get("value") or field_.text or "")
    return fields


@dataclass
class People:
    """The service, the provider, and a way to let somebody in."""

    site: Site
    provider: LittleProvider
    stack: AsyncExitStack

    async def browser(self, name: str = "") -> Browser:
        """The browser of somebody who has signed in by this name, or of nobody."""
        browser = await self.stack.enter_async_context(open_browser(self.site.url))
        if name:
            assert (await browser.go(self.provider, name)).status == 303
        return browser

    async def later(self, seconds: int = 61) -> None:
        """As if so much time had gone by since all that people did."""
        async with self.site.wiki.pool.connection() as conn:
            await conn.execute("UPDATE audit SET moment = moment - make_interval(secs => %s)", (seconds,))


@asynccontextmanager
async def open_people(
    database: str, folder: Path, environ: Mapping[str, str] | None = None, *, real_address: bool = False
) -> AsyncIterator[People]:
    """All of it; nobody has signed in. For real browsers the service says with `real_address` where it really is."""
    async with AsyncExitStack() as stack:
        provider = await stack.enter_async_context(open_littleprovider(EDITORS))
        way = await stack.enter_async_context(aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()))
        given = {**environ_at(provider, administrators=BOSS), **(environ or {})}
        port = free_port() if real_address else 0
        address = f"http://127.0.0.1:{port}" if real_address else PUBLIC_URL
        provider.addresses.add(address + "/account/back")
        site = await stack.enter_async_context(
            open_service(database, folder, environ=given, way=way, public_url=address, port=port)
        )
        yield People(site, provider, stack)
