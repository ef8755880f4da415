"""``/api/unrepaired``: which of some pages, such as those of a watchlist, have dead links that are not repaired (W-8).

One statement answers it, and no wiki is contacted. Which pages somebody asked for is kept nowhere.
"""

from typing import Any, Final

from aiohttp import web

from weboid.store.lists.links import PageAtAGlance, list_dead_of_pages
from weboid.web.request.cursor import PAGES
from weboid.web.request.parameters import MOST_SENT, page_query_of
from weboid.web.request.problem import Problem
from weboid.web.request.work import LINKS
from weboid.web.service import ServiceHandlers, given_or_sent, machine_words

_PAGES_A_UNIT: Final = 2
"""A page costs half as much as a link: its dead links are only counted."""


class UnrepairedPages(ServiceHandlers):
    async def pages(self, request: web.Request) -> web.Response:
        """The pages with dead links that are not repaired, those with most of them first."""
        service, given = self._service, await given_or_sent(request)
        given = await service.named(given)
        query = page_query_of(given, MOST_SENT)
        if query.titles:
            raise Problem(400, "page-id")
        name, wiki = await service.find_wiki(given)
        request[LINKS] = len(query.ids) // _PAGES_A_UNIT
        async with service.pool.viewing() as conn:
            found = await list_dead_of_pages(conn, wiki.wiki, [page for page in query.ids if page in PAGES])
            names = await service.answers.namespaces.stored(conn, wiki)
        unrepaired = sorted((each for each in found if each.dead > each.repaired), key=_order)
        known = {each.page for each in found}
        payload: dict[str, Any] = {
            **service.head(service.today(), machine_words(given)),
            "wiki": str(name),
            "pages": [
                {
                    "id": each.page,
                    "namespace": each.namespace,
                    "title": each.title,
                    "prefixed_title": names.prefixed(each.namespace, each.title),
                    "dead": each.dead,
                    "repaired": each.repaired,
                }
                for each in unrepaired
            ],
            "missing": [page for page in query.ids if page not in known],
        }
        return service.send_payload(request, payload)


def _order(page: PageAtAGlance) -> tuple[int, int]:
    return page.repaired - page.dead, page.page
