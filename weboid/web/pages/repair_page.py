"""``/repair``: the repaired wikitext of a page to copy, for wikis without the gadget; it needs no scripts."""

from aiohttp import web

from weboid.mechanism.slices import in_slices
from weboid.web.pages.page_view import index_address
from weboid.web.repair.payload import repaired_steps
from weboid.web.repair.repairing import Wanted
from weboid.web.request.parameters import page_query_of
from weboid.web.request.problem import Problem
from weboid.web.request.work import LINKS
from weboid.web.service import ServiceHandlers, given_in, html_words
from weboid.web.words.phrases import visible, visible_lines


class RepairPage(ServiceHandlers):
    async def page(self, request: web.Request) -> web.Response:
        """The repaired text of a revision, what was done and why, and the summary to copy."""
        service, given = self._service, given_in(request)
        say, day = html_words(request, given), service.today()
        query = page_query_of(await service.named(given), 1)
        if query.revision is None:
            raise Problem(400, "revid")
        wiki, _ = await service.answers.wikis.find(query.wiki)
        repaired = await service.repairs.repaired(Wanted(query, query.revision, None, {}, only_chosen=False), day)
        request[LINKS] = repaired.looked
        payload = await in_slices(repaired_steps(repaired, day, say, service.public_url))
        index = index_address(wiki)
        values = {
            "repaired": payload,
            "changes": [
                {**each, **{part: each[part] and visible_lines(each[part]) for part in ("before", "after")}}
                for each in payload["changes"]
            ],
            "editor": f"{index}?action=edit&curid={repaired.page}" if index else None,
            "kept_off": None if payload["kept_off"] is None else visible(payload["kept_off"]),
        }
        return await service.html(request, "repair.html", given, say, **values)
