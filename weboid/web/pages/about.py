"""The pages that explain: help, the bot (C-17), privacy, the policy for programs (W-14); and files: the style sheet,
the icon, our own source (W-2), robots.txt, toolinfo.json, security.txt (RFC 9116).

Every figure on the pages is taken from the configuration or from the module that uses it, never written twice.
"""

from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from aiohttp import hdrs, web

import weboid
from weboid.config import PROJECT_CONTACT, PROJECT_URL, Config
from weboid.core.record.days import date_of
from weboid.core.verdict.report_json import VERSION
from weboid.mechanism.fair_slots import aside
from weboid.mechanism.single_flight import SingleFlight
from weboid.web.formats import html
from weboid.web.formats.static_files import files, icon
from weboid.web.http import source_archive
from weboid.web.http.respond import OPEN_TO_ALL, SharedBody, body_of, has_tag, sent
from weboid.web.request.parameters import MOST_PAGES, MOST_SENT
from weboid.web.request.route import address_of
from weboid.web.service import Service, given_in, html_words

_IMMUTABLE: Final = "public, max-age=31536000, immutable"
_A_DAY: Final = "public, max-age=86400"
_PIECE: Final = 256 * 1024
_FRESH_DAYS: Final = 180
"""The days for which security.txt says that it holds: less than a year, as RFC 9116 §2.5.5 wants."""
_INDEXED: Final = ("help", "bot", "privacy", "policy", "data", "status")
"""Pages that search engines may read; the others show the current state of wikis and the store, of any URL."""


@dataclass(frozen=True, slots=True)
class AboutPages:
    service: Service
    config: Config
    _packing: SingleFlight[SharedBody] = field(default_factory=SingleFlight)
    _source: list[SharedBody] = field(default_factory=list)

    async def help(self, request: web.Request) -> web.Response:
        """For editors: the meaning of the words, and what they can do."""
        return await self._page(request, "help.html", policy=self.config.policy)

    async def bot(self, request: web.Request) -> web.Response:
        """For site owners who found us in their logs: what the crawler does, and how to get fewer requests or none."""
        net = self.config.net
        return await self._page(
            request,
            "bot.html",
            user_agent=net.user_agent,
            contact=self.config.contact or PROJECT_CONTACT,
            crawl=self.config.crawl,
            body_kib=max(net.body_bytes, net.text_bytes) // 1024,
        )

    async def privacy(self, request: web.Request) -> web.Response:
        """The data that are kept of people, and for how long."""
        return await self._page(request, "privacy.html", contact=self.config.contact)

    async def policy(self, request: web.Request) -> web.Response:
        """For authors of programs: what they may rely on, and what is expected of them."""
        return await self._page(
            request,
            "policy.html",
            contact=self.config.contact,
            form_version=VERSION,
            web=self.config.web,
            most=MOST_PAGES,
            most_sent=MOST_SENT,
        )

    async def security(self, request: web.Request) -> web.Response:
        """The file that names to whom a hole is reported."""
        contact = self.config.contact or PROJECT_CONTACT
        lines = [
            f"Contact: {contact if ':' in contact else f'mailto:{contact}'}",
            f"Expires: {date_of(self.service.today() + _FRESH_DAYS).isoformat()}T00:00:00Z",
            "Preferred-Languages: en, de",
            f"Canonical: {self.service.public_url}{address_of('security')}",
        ]
        return sent(request, "\n".join([*lines, ""]), "text/plain", cache=_A_DAY)

    async def tool_info(self, request: web.Request) -> web.Response:
        """The file that directories of tools read, with the addresses of this service."""
        text = _tool_info().replace(PROJECT_URL, f"{self.service.public_url}/")
        return sent(request, text, "application/json", cache=_A_DAY)

    async def source(self, request: web.Request) -> web.StreamResponse:
        """The source of the running version, as a zip (W-2), in pieces: whole it would wait in memory for each."""
        if request.match_info["name"] != source_archive.NAME:
            raise web.HTTPNotFound
        if not self._source:
            async with aside():
                self._source[:] = [await self._packing.result(None, source_archive.packed)]
        (body,) = self._source
        headers = {hdrs.CACHE_CONTROL: "public, max-age=3600", hdrs.ETAG: f'W/"{body.tag}"', **OPEN_TO_ALL}
        if has_tag(request, body.tag):
            return web.Response(status=304, headers=headers)
        response = web.StreamResponse(headers={**headers, hdrs.CONTENT_TYPE: "application/zip"})
        response.content_length = len(body.data)
        await response.prepare(request)
        if request.method != hdrs.METH_HEAD:
            for first in range(0, len(body.data), _PIECE):
                async with aside():
                    await response.write(body.data[first : first + _PIECE])
        return response

    async def _page(self, request: web.Request, template: str, **values: object) -> web.Response:
        given = given_in(request)
        say, rendered = html_words(request, given), self.service.rendered
        key = (template, say.language.code, tuple(given.items()))
        if (page := rendered.find(key)) is None:
            page = rendered.keep(key, html.render(template, say, given, self.service.source, (), **values))
        return sent(request, page, html.CONTENT_TYPE, vary="Accept-Language")


@lru_cache(32)
def _kept(data: bytes) -> SharedBody:
    return body_of(data)


@cache
def _tool_info() -> str:
    return source_archive.source_files(Path(weboid.__file__).parent)["toolinfo.json"].read_text(encoding="utf-8")


async def favicon(_: web.Request) -> web.Response:
    """The icon, at the address that programs guess."""
    return web.Response(status=308, headers={hdrs.LOCATION: address_of("static", name=icon().name)})


async def static(request: web.Request) -> web.Response:
    """One of the files that pages load."""
    if (file := files().get(request.match_info["name"])) is None:
        raise web.HTTPNotFound
    return sent(request, _kept(file.body), file.content_type, cache=_IMMUTABLE)


async def robots(request: web.Request) -> web.Response:
    """Rules for robots (RFC 9309): they may fetch pages that explain, with their style sheet, and no others."""
    allowed = [f"{address_of('start')}$", *map(address_of, _INDEXED), address_of("static", name="")]
    lines = ["User-agent: *", *(f"Allow: {path}" for path in allowed), "Disallow: /", ""]
    return sent(request, "\n".join(lines).encode(), "text/plain", cache=_A_DAY)
