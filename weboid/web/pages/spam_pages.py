"""The list of a wiki's pages with spam: by id, those with the most of it first, or the newest (W-6)."""

from typing import Any, Final

from aiohttp import web

from weboid.core.record.days import iso
from weboid.store.lists.health import Amount, Exactness
from weboid.store.pages import spam
from weboid.web.pages.list_answer import Row, list_csv, list_html, list_payload
from weboid.web.request.accept import Format
from weboid.web.request.cursor import PAGES, Cursor
from weboid.web.request.parameters import Parameters, namespace_of
from weboid.web.request.problem import Problem
from weboid.web.request.route import format_of
from weboid.web.service import ServiceHandlers, given_in, html_words, machine_words
from weboid.web.words.phrases import amount_words

ROWS: Final = 100
"""Pages in one answer."""
_COLUMNS: Final = ("page", "namespace", "title", "spam", "day")
SORTS: Final = ("most", "newest")
_PAGE: Final = Cursor(PAGES)
_MOST: Final = Cursor(PAGES, PAGES)
"""The number of a page's links, and the page."""


class PagesWithSpam(ServiceHandlers):
    async def page(self, request: web.Request) -> web.StreamResponse:
        """The pages of a wiki with spam, each with the number of such links."""
        given, service = given_in(request), self._service
        wanted = format_of(request)
        say = html_words(request, given) if wanted is Format.HTML else machine_words(given)
        sort, namespace, begin = given.get("sort"), namespace_of(given), _after_of(given)
        name, wiki = await service.find_wiki(given)
        async with service.pool.viewing() as conn:
            count, is_all = await spam.count_spam_pages(conn, wiki.wiki, namespace)
        if sort == "most" and not is_all:
            raise Problem(409, "sort-many", spam.MOST_PAGES)

        async def read(after: spam.SpamSpot, limit: int) -> tuple[list[spam.SpamPage], spam.SpamSpot | None]:
            async with service.pool.viewing() as conn:
                if sort == "newest":
                    return await spam.list_newest_spam(conn, wiki.wiki, namespace=namespace, limit=limit), None
                rest: dict[str, Any] = {"namespace": namespace, "after": after, "limit": limit}
                return await spam.list_spam_pages(conn, wiki.wiki, by_links=sort == "most", **rest)

        async def read_rows(after: spam.SpamSpot, limit: int) -> tuple[list[Row], spam.SpamSpot | None]:
            pages, spot = await read(after, limit)
            return [(page.page, page.namespace, page.title, page.links, _day(page)) for page in pages], spot

        def text_of(spot: spam.SpamSpot) -> str:
            return _MOST.text_of(*spot) if sort == "most" else _PAGE.text_of(spot.page)

        if wanted is Format.CSV:
            return await list_csv(service, request, f"spam-{name}", _COLUMNS, begin, read_rows, text_of)
        pages, spot = await read(begin, ROWS)
        after = None if spot is None else text_of(spot)
        is_begin = "after" not in given and sort != "newest"
        total = Amount(count, Exactness.EXACT if is_all else Exactness.AT_LEAST) if is_begin else None
        values: dict[str, Any] = {"wiki": str(name), "namespace": namespace, "sort": sort}
        if wanted is Format.HTML:
            values |= {"total": None if total is None else amount_words(total, say), "is_all": is_all}
            views = [(page, None if page.day is None else say.date(page.day)) for page in pages]
            return await list_html(service, request, "spam.html", given, say, after, **values, pages=views)
        values["total"] = None if total is None else {"value": total.value, "exactness": total.exactness.value}
        rows = [
            {"id": page.page, "namespace": page.namespace, "title": page.title, "spam": page.links, "day": _day(page)}
            for page in pages
        ]
        return list_payload(service, request, say, {**values, "pages": rows}, after)


def _day(page: spam.SpamPage) -> str | None:
    return None if page.day is None else iso(page.day)


def _after_of(given: Parameters) -> spam.SpamSpot:
    """The place after which the list goes on; raises Problem, also for an order that it does not have."""
    sort = given.get("sort")
    if sort not in (None, *SORTS):
        raise Problem(400, "sort", ", ".join(SORTS))
    if sort == "newest" and "after" in given:
        raise Problem(404, "after", "after")
    parts = (_MOST if sort == "most" else _PAGE).parts_in(given)
    return spam.SpamSpot(0, 0) if parts is None else spam.SpamSpot(*((0, *parts.numbers)[-2:]))
