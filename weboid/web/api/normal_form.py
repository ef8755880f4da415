"""``/api/normal``: the normal form and class of URLs (L-3 to L-6), for programs that keep URLs or match them.

The answer follows from rules alone and nothing is looked up, so anybody may request it.
"""

from typing import Any, Final

from aiohttp import hdrs, web

from weboid.core.url.classify import classify
from weboid.core.url.display import unicode_host
from weboid.core.url.farms import Farm, farm_named
from weboid.core.url.urls import FORM_VERSION
from weboid.errors import ConfigError, NotFound
from weboid.mechanism.slices import Steps, in_slices
from weboid.web.request.parameters import Parameters, wiki_of
from weboid.web.request.problem import Problem
from weboid.web.request.work import LINKS
from weboid.web.service import ServiceHandlers, given_or_sent, machine_words

MOST_URLS: Final = 1_000
_LENGTH: Final = 100
"""Characters: a longer URL counts more than once, as it takes more work."""


class NormalForm(ServiceHandlers):
    async def normal(self, request: web.Request) -> web.Response:
        """The normal form and class of one URL as it is on a page, or of many that are sent as a form, one a line.

        ``dbname`` names the wiki, whose farm matters.
        """
        given = await given_or_sent(request)
        head = {**self._service.head(self._service.today(), machine_words(given)), "form": FORM_VERSION}
        farm = self._farm(await self._service.named(given))
        if request.method == hdrs.METH_POST:
            urls = _urls_of(given)
            request[LINKS] = sum(1 + len(url) // _LENGTH for url in urls)
            return self._service.send_payload(request, {**head, "urls": await in_slices(_all_as_json(urls, farm))})
        if "url" not in given:
            raise Problem(400, "no-url")
        return self._service.send_payload(request, {**head, **_normal_as_json(given["url"], farm)})

    def _farm(self, given: Parameters) -> Farm | None:
        if "dbname" not in given:
            return None
        name = wiki_of(given)
        try:
            return farm_named(name.farm, self._service.answers.wikis.farms)
        except ConfigError:
            raise NotFound(str(name)) from None


def _urls_of(given: Parameters) -> list[str]:
    """The URLs, one a line; empty lines are none. Raises Problem."""
    if "urls" not in given:
        raise Problem(400, "no-urls")
    urls = [line.rstrip("\r") for line in given["urls"].split("\n") if line.strip()]
    if len(urls) > MOST_URLS:
        raise Problem(400, "too-many-urls", MOST_URLS)
    return urls


def _all_as_json(urls: list[str], farm: Farm | None) -> Steps[list[dict[str, Any]]]:
    found = []
    for url in urls:
        found.append(_normal_as_json(url, farm))
        yield
    return found


def _normal_as_json(url: str, farm: Farm | None) -> dict[str, Any]:
    link = classify(url, farm)
    return {
        "url": link.given,
        "normal": None if link.url is None else str(link.url),
        "host_unicode": None if link.url is None else unicode_host(link.url.host),
        "class": link.kind.value,
        "reason": None if link.reason is None else link.reason.value,
        "suspicious": link.note,
    }
