"""The start page: an introduction, the form, and the wikis with some of their pages.

It reads from the store no more than fits on one screen, however many wikis and pages there are.
"""

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from aiohttp import web

from weboid.store.lists.links import list_first_pages
from weboid.web.answer.wiki_names import Wikis
from weboid.web.formats import html
from weboid.web.service import Service, given_in, html_words

_WIKIS_SHOWN: Final = 20
_PAGES_SHOWN: Final = 60
"""Over all wikis."""


@dataclass(frozen=True, slots=True)
class StartPage:
    service: Service
    wikis: Wikis

    async def wikis_page(self, request: web.Request) -> web.Response:
        """All known wikis."""
        given = given_in(request)
        say, day = html_words(request, given), self.service.today()
        listed = [
            {
                "name": name,
                "host": urlsplit(wiki.article or wiki.api or "").hostname,
                "passed": None if wiki.passed is None else html.time_html(wiki.passed, day, say),
            }
            for name, wiki in (await self.wikis.list_known()).items()
        ]
        return await self.service.html(request, "wikis.html", given, say, listed=listed)

    async def page(self, request: web.Request) -> web.Response:
        """The start page; its form is filled in with the parameters of the address."""
        given = given_in(request)
        shown = dict(list((await self.wikis.list_known()).items())[:_WIKIS_SHOWN])
        limit = _PAGES_SHOWN // len(shown) if shown else 0
        async with self.service.pool.connection() as conn:
            pages = await list_first_pages(conn, [wiki.wiki for wiki in shown.values()], limit=limit)
        listed = [{"name": name, "pages": pages[wiki.wiki]} for name, wiki in shown.items()]
        return await self.service.html(request, "start.html", given, html_words(request, given), listed=listed)
