"""The start page: an introduction, the form, and the wikis with some of their pages.

It reads from the store no more than fits on one screen, however many wikis and pages there are.
"""

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from aiohttp import web

from weboid.store.lists.links import list_first_pages
from weboid.web.answer.wiki_names import Wikis
from weboid.web.formats import html
from weboid.web.pages.suggested_titles import SuggestedTitles
from weboid.web.request.parameters import title_of
from weboid.web.service import Service, given_in, machine_words
from weboid.web.words.messages import Messages

_WIKIS_SHOWN: Final = 20
_PAGES_SHOWN: Final = 60
"""Over all wikis."""
_KEPT: Final = "max-age=300"


@dataclass(frozen=True, slots=True)
class StartPage:
    service: Service
    wikis: Wikis
    suggested: SuggestedTitles

    async def wikis_page(self, request: web.Request) -> web.Response:
        """All known wikis."""
        return await self.service.shared_html(request, "wikis.html", given_in(request), self._wikis)

    async def _wikis(self, say: Messages) -> dict[str, Any]:
        day = self.service.today()
        listed = [
            {
                "name": name,
                "host": urlsplit(wiki.article or wiki.api or "").hostname,
                "passed": None if wiki.passed is None else html.time_html(wiki.passed, day, say),
            }
            for name, wiki in (await self.wikis.list_known()).items()
        ]
        return {"listed": listed}

    async def titles(self, request: web.Request) -> web.Response:
        """Titles for what somebody has typed into the form, as the wiki's own search offers them."""
        given, service = given_in(request), self.service
        name, wiki = await service.find_wiki(given)
        titles = await self.suggested.list(wiki, title_of(given.get("title", "")))
        head = service.head(service.today(), machine_words(given))
        return service.send_payload(request, {**head, "wiki": str(name), "titles": list(titles)}, cache=_KEPT)

    async def page(self, request: web.Request) -> web.Response:
        """The start page; its form is filled in with the parameters of the address."""
        return await self.service.shared_html(request, "start.html", given_in(request), self._first_pages)

    async def _first_pages(self, _: Messages) -> dict[str, Any]:
        shown = dict(list((await self.wikis.list_known()).items())[:_WIKIS_SHOWN])
        limit = _PAGES_SHOWN // len(shown) if shown else 0
        async with self.service.pool.viewing() as conn:
            pages = await list_first_pages(conn, [wiki.wiki for wiki in shown.values()], limit=limit)
        return {"listed": [{"name": name, "pages": pages[wiki.wiki]} for name, wiki in shown.items()]}
