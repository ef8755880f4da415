"""``/api/ping``: hands pages to the feeder; nothing of them is read or returned (W-8, W-9).

It never waits for a wiki, unless a trusted client hands in a whole category.
"""

from typing import Any, Final

from aiohttp import web

from weboid.store.db.pool import Connection
from weboid.store.pages.pending import has_room, record_asked, record_asked_titles
from weboid.store.pages.wiki import StoredWiki
from weboid.web.api.bulk import find_part, require_trusted
from weboid.web.request.parameters import PageQuery, Parameters, page_query_of
from weboid.web.request.problem import Problem
from weboid.web.service import ServiceHandlers, given_or_sent, machine_words

_ROWS: Final = 500
"""Pages of a namespace or category that are handed in at once."""

_MOST_PAGE: Final = 2**31
"""No wiki has pages with greater ids, and the store cannot hold them."""


class Ping(ServiceHandlers):
    async def ping(self, request: web.Request) -> web.Response:
        """Hands in pages by id or title, or for trusted clients those of a namespace or category."""
        given = await self._service.named(await given_or_sent(request))
        say = machine_words(given)
        if is_whole := bool({"namespace", "category"} & given.keys()):
            require_trusted(request)
            if {"pageid", "curid", "title"} & given.keys():
                raise Problem(409, "whole")
        query = None if is_whole else page_query_of(given)
        name, wiki = await self._service.find_wiki(given)
        if query is None:
            accepted, after = await self._hand_in_part(wiki, given)
        else:
            accepted, after = await self._hand_in(wiki, query), None
        head = self._service.head(self._service.today(), say)
        payload: dict[str, Any] = {**head, "wiki": str(name), "accepted": accepted, "next": after}
        return self._service.send_payload(request, payload, http=202, cache="no-store")

    async def _hand_in(self, wiki: StoredWiki, query: PageQuery) -> list[str]:
        ids = [page for page in query.ids if page < _MOST_PAGE]
        async with self._service.pool.connection() as conn:
            await _require_room(conn, wiki)
            if query.titles:
                await record_asked_titles(conn, wiki.wiki, query.titles, self._service.today())
            else:
                await record_asked(conn, wiki.wiki, ids, self._service.today())
        return [*map(str, ids), *query.titles]

    async def _hand_in_part(self, wiki: StoredWiki, given: Parameters) -> tuple[list[str], str | None]:
        part = await find_part(self._service, wiki, given, limit=_ROWS)
        ids = [page.page for page in part.pages] + [page for page in part.missing if page < _MOST_PAGE]
        async with self._service.pool.connection() as conn:
            await _require_room(conn, wiki)
            await record_asked(conn, wiki.wiki, ids, self._service.today())
        return list(map(str, ids)), part.next


async def _require_room(conn: Connection, wiki: StoredWiki) -> None:
    """Raises Problem while too many pages of the wiki are pending for more to be added."""
    if not await has_room(conn, wiki.wiki):
        raise Problem(503, "queue-full")
