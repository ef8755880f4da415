"""``/api/repair``: the text of a page with its dead links repaired, for people who save it themselves (B-1, W-8)."""

import json
from collections.abc import Mapping
from typing import Final

from aiohttp import hdrs, web

from weboid.mechanism.slices import in_slices
from weboid.web.formats.json import CONTENT_TYPE, bytes_steps
from weboid.web.http.respond import sent
from weboid.web.repair.payload import repaired_steps
from weboid.web.repair.repairing import MOST_TEXT, Wanted
from weboid.web.request.fields import fields_of
from weboid.web.request.parameters import Parameters, page_query_of
from weboid.web.request.problem import Problem
from weboid.web.request.work import LINKS
from weboid.web.service import ServiceHandlers, given_in, machine_words

_MOST_CHOICES: Final = 512 * 1024
"""Characters of JSON."""


class PageRepair(ServiceHandlers):
    async def repair(self, request: web.Request) -> web.Response:
        """The repaired text of one revision, which is sent, or read from the wiki. Nothing is saved."""
        is_form = request.method == hdrs.METH_POST and request.body_exists
        fields = await fields_of(request) if is_form else []
        texts = [value for name, value in fields if name == "text"]
        given = given_in(request, [field for field in fields if field[0] != "text"])
        say, service = machine_words(given), self._service
        wanted = _wanted(await service.named(given), texts)
        day = service.today()
        repaired = await service.repairs.repaired(wanted, day)
        request[LINKS] = repaired.looked
        payload = {**service.head(day, say), **await in_slices(repaired_steps(repaired, day, say, service.public_url))}
        return sent(request, await in_slices(bytes_steps(payload)), CONTENT_TYPE, cache="no-store")


def _wanted(given: Parameters, texts: list[str]) -> Wanted:
    """The repair that is wanted; raises Problem."""
    query = page_query_of(given, 1)
    if query.revision is None:
        raise Problem(400, "revid")
    if len(texts) > 1:
        raise Problem(400, "twice", "text")
    if texts and len(texts[0].encode()) > MOST_TEXT:
        raise Problem(413, "form-too-long")
    if given.get("only", "chosen") != "chosen":
        raise Problem(400, "only")
    return Wanted(query, query.revision, texts[0] if texts else None, _choices_of(given), "only" in given)


def _choices_of(given: Parameters) -> Mapping[str, str]:
    """The choices, by URL: JSON of a page of ours or of anybody. Raises Problem."""
    text = given.get("choices", "{}")
    try:
        choices = json.loads(text) if len(text) <= _MOST_CHOICES else None
        if isinstance(choices, dict) and all(isinstance(choice, str) for choice in choices.values()):
            json.dumps(choices, ensure_ascii=False).encode()
            return choices
    except UnicodeEncodeError:  # half of a pair, which is no text, so it names nothing
        raise Problem(409, "choice-refused", "") from None
    except (ValueError, RecursionError):
        pass
    raise Problem(400, "choices")
