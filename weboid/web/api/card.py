"""``GET /api/card``: what is known of one link of a page, of its document, and who else links to it (R-8, R-12, W-7).

Words of the document are a stranger's: they stand in keys of their own, and who shows them says whose they are. The
page must have the link, as everywhere (W-5, U-9).
"""

from typing import Any, Final

from aiohttp import web

from weboid.core.document.card import CardText
from weboid.core.record.days import iso
from weboid.core.url.hosts import registrable_domain
from weboid.core.url.keys import key_of
from weboid.core.url.urls import Url
from weboid.core.verdict.link_report import LinkReport
from weboid.store.lists.links import list_uses
from weboid.store.site.entry import list_leading
from weboid.store.urls.card import StoredCard
from weboid.web.answer.cards import Cards, FoundCard
from weboid.web.answer.page import link_payload
from weboid.web.request.cursor import PAGES, Cursor
from weboid.web.request.parameters import url_of
from weboid.web.service import Service, given_in, machine_words

_OTHERS: Final = 100
_LEADING: Final = 20
_CURSOR: Final = Cursor(PAGES, PAGES)
"""A wiki and a page."""


class LinkCards:
    def __init__(self, service: Service, cards: Cards) -> None:
        self._service = service
        self._cards = cards

    async def card(self, request: web.Request) -> web.Response:
        """The card of a link of a page; a later one may have more, if a look at the URL is still under way."""
        given = await self._service.named(given_in(request))
        say, parts = machine_words(given), _CURSOR.parts_in(given, "after")
        answer, page, link = await self._service.find_link(request, given)
        found = await self._cards.find(link)
        after = None if parts is None else (parts.numbers[0], parts.numbers[1])
        key = key_of(url_of(given))
        async with self._service.pool.viewing() as conn:
            uses = await list_uses(conn, key, answer.wiki, after=after, limit=_OTHERS + 1)
            leading = await list_leading(conn, str(link.normal), limit=_LEADING)
        last = uses[_OTHERS - 1] if len(uses) > _OTHERS else None
        payload = {
            **self._service.head(answer.day, say),
            "wiki": str(page.wiki),
            "page": page.page,
            "link": link_payload(link, answer.day, say, answer.settings),
            "card": card_as_json(link, found, given.get("pagelang", "")),
            "others": [
                {
                    "wiki": f"{use.dbname}@{page.wiki.farm}",
                    "page": use.page,
                    "namespace": use.namespace,
                    "title": use.title,
                }
                for use in uses[:_OTHERS]
                if (use.wiki, use.page) != (answer.wiki.wiki, page.page)
            ],
            "mapped": [page._asdict() for page in leading],
            "continue": None if last is None else _CURSOR.text_of(last.wiki, last.page),
        }
        return self._service.send_payload(request, payload)


def card_as_json(link: LinkReport, found: FoundCard, page_language: str) -> dict[str, Any]:
    """The dictionary form of a card."""
    card, text = found.card, found.card.text
    return {
        "state": found.state.value,
        "looked": None if found.looked is None else iso(found.looked),
        "title": text.title or None,
        "author": text.author or None,
        "description": text.description or None,
        "language": text.language or None,
        "mime": card.mime or link.record.mime,
        "size_kib": link.record.size_kib if card.size_kib is None else card.size_kib,
        "http": card.http,
        "holds": None
        if text == CardText()
        else {"headings": text.headings, "links": text.links, "pictures": text.pictures, "whole": card.is_whole},
        "click": _click(link, card, page_language),
    }


def _click(link: LinkReport, card: StoredCard, page_language: str) -> dict[str, Any]:
    """The effects of a click, as far as they are known."""
    final = card.final or str(link.record.target or link.normal)
    target = link.record.target if isinstance(link.record.target, Url) else link.url
    host = card.final.split("/")[2].partition(":")[0] if card.final else target.host if target else ""
    is_other = link.url is not None and bool(host) and registrable_domain(host) != registrable_domain(link.url.host)
    language, own = (tag.lower().partition("-")[0] for tag in (card.text.language, page_language))
    return {
        "download": card.is_download or (card.mime or link.record.mime) is not None,
        "other_site": host if is_other else None,
        "other_language": language != own if language and own else None,
        "leaves_https": final.startswith("http:"),
    }
