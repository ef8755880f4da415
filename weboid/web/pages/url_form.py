"""The form that a person sends before anything about a single URL is looked up and shown (W-5)."""

from dataclasses import dataclass
from typing import Any, Final

from aiohttp import web

from weboid.web.formats import html
from weboid.web.http.respond import see_other
from weboid.web.request.parameters import Parameters, url_of, wiki_of
from weboid.web.request.route import address_of
from weboid.web.service import Service, html_words

_HIDDEN: Final = ("after", "spamafter", "at", "pageid")


@dataclass(frozen=True, slots=True)
class UrlForm:
    """The form before the page of the route named `route`; it is sent to the route named `action`.

    `title` and `why` are message keys: of the page's title and of its explanation.
    """

    service: Service
    route: str
    action: str
    title: str
    why: str

    async def page(self, request: web.Request, given: Parameters) -> web.Response:
        """The form, filled in. Raises Problem for what cannot be a URL or the name of a wiki."""
        url_of(given)
        if "dbname" in given:
            wiki_of(await self.service.named(given))
        values: dict[str, Any] = {
            "title": self.title,
            "why": self.why,
            "action": address_of(self.action),
            "hidden": {name: given[name] for name in _HIDDEN if name in given},
            "token": await self.service.sessions.form_token(request, self.action),
        }
        return await self.service.form_html(request, "look.html", given, html_words(request, given), **values)

    async def sent(self, request: web.Request) -> web.Response:
        """Notes that the reader has sent the form, so is no program, and redirects to the page itself."""
        given = await self.service.posted(request, self.action)
        url_of(given)
        await self.service.sessions.note_interactive(request)
        return see_other(address_of(self.route) + html.query(given))
