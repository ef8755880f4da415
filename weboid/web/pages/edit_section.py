"""``/edit``: leads to the wiki's editor of the section in which a link of a page stands; it needs no scripts.

The address is made of that of a wiki that is known here and of numbers, so it leads nowhere else.
"""

import re
from typing import Final

from aiohttp import web

from weboid.core.wikitext.sections import section_at
from weboid.web.http.respond import see_other
from weboid.web.pages.page_view import index_address
from weboid.web.request.problem import Problem
from weboid.web.service import ServiceHandlers, given_in

_END: Final = r"(?![\w/?&=%#-])"
"""What ends an address, so that it is not the beginning of a longer one."""


class SectionEditor(ServiceHandlers):
    async def lead(self, request: web.Request) -> web.Response:
        """The way to the editor; of the whole page where its text does not have the link as it is written."""
        service = self._service
        given = await service.named(given_in(request))
        answer, page, link = await service.find_link(request, given)
        if (index := index_address(answer.wiki)) is None:
            raise Problem(404, "unknown-wiki", str(page.wiki))
        read = (await service.answers.live.find_texts(answer.wiki, (page.revision,)) or {}).get(page.revision)
        text = "" if read is None or read.page != page.page else read.text or ""
        forms = "|".join(re.escape(form.partition(":")[2]) for form in (*link.given, link.normal or "") if form)
        place = re.search(f"(?:{forms}){_END}", text)
        section = "" if place is None else f"&section={section_at(text, place.start())}"
        return see_other(f"{index}?curid={page.page}&action=edit{section}")
