"""``/api/normal``: the normal form and class of a URL (L-3 to L-6), for programs that keep URLs themselves.

One law: the answer follows from rules alone and nothing is looked up, so anybody may request it.
"""

from typing import Any

from aiohttp import web

from weboid.core.url.classify import classify
from weboid.core.url.display import unicode_host
from weboid.core.url.farms import Farm, farm_named
from weboid.core.url.urls import FORM_VERSION
from weboid.errors import ConfigError, NotFound
from weboid.web.request.parameters import Parameters, wiki_of
from weboid.web.request.problem import Problem
from weboid.web.service import Service, given_in, machine_words


class NormalForm:
    def __init__(self, service: Service) -> None:
        self._service = service

    async def normal(self, request: web.Request) -> web.Response:
        """The normal form and class of one URL as it is on a page; ``dbname`` names the wiki, whose farm matters."""
        given = given_in(request)
        say = machine_words(given)
        if "url" not in given:
            raise Problem(400, "no-url")
        link = classify(given["url"], self._farm(given))
        payload: dict[str, Any] = {
            **self._service.head(self._service.today(), say),
            "form": FORM_VERSION,
            "url": link.given,
            "normal": None if link.url is None else str(link.url),
            "host_unicode": None if link.url is None else unicode_host(link.url.host),
            "class": link.kind.value,
            "reason": None if link.reason is None else link.reason.value,
            "suspicious": link.note,
        }
        return self._service.send_payload(request, payload)

    def _farm(self, given: Parameters) -> Farm | None:
        if "dbname" not in given:
            return None
        name = wiki_of(given)
        try:
            return farm_named(name.farm, self._service.answers.wikis.farms)
        except ConfigError:
            raise NotFound(str(name)) from None
