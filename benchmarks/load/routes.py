"""The loads: requests for every route of the table, by themselves, and for addresses that the table does not have.

One law: a new route is in `loads` without anybody's doing, once `EXAMPLES` has a value for each of its placeholders.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlencode

from benchmarks.load.service import LARGE, LINKS, PAGES, SILENT, SMALL
from benchmarks.pages.load import request_of
from benchmarks.pages.seed import World
from weboid.web.formats.static_files import icon
from weboid.web.http import source_archive
from weboid.web.request.route import ROUTES, Route

EXAMPLES: Final = {
    "wiki": f"{SMALL}@wmflabs",
    "title": "Page {page}",
    "domain": "{domain}",
    "page": "{page}",
    "revision": "2",
    "task": "1",
    "call": "lease",
    "static name": icon().name,
    "source name": source_archive.NAME,
    "data-file name": "urls-wmflabs-2026-01-01.csv.gz",
    "robot-file name": "log.txt",
}
"""By placeholder, where its name alone does not say enough by route and placeholder."""
_GIVEN: Final = {
    "dbname": f"{SMALL}@wmflabs",
    "pageid": "{page}",
    "url": "{url}",
    "urls": "{url}\n" * 20,
    "all": "1",
    "pattern": "*.{domain}/*no*where*",
    "text": "== Sources ==\n" + "* [{url} A source]\n" * 20,
    "choices": json.dumps([]),
    "why": "not_dead",
    "reverter": "human",
    "task": "1",
    "starts": "https://www.example.org/",
}
"""Values of parameters; one that is not here is not given."""
_VARIED: Final = 40
CLIENTS: Final = 50


@dataclass(frozen=True, slots=True)
class Load:
    """Requests of some clients, by path, method and body; `is_form` where they are those of people's forms."""

    name: str
    asked: tuple[tuple[str, str, str], ...]
    clients: int = CLIENTS
    is_form: bool = False

    def requests(self, senders: list[str], token: str = "", cookie: str = "") -> list[str]:
        """Whole requests, from each of the senders in turn, with the token and cookie of a form if they are given."""
        made = []
        for number, (path, method, body) in enumerate(self.asked):
            headers = {"X_Forwarded_For": senders[number % len(senders)]}
            if method == "POST":
                headers |= {"Content_Type": "application/x-www-form-urlencoded", "Sec_Fetch_Site": "same-origin"}
            if token:
                body, headers["Cookie"] = f"{body}&token={token}", cookie
            made.append(request_of(path, method, body.encode(), **headers).decode())
        return made


def loads(world: World) -> Iterator[Load]:
    """Every method of every route, and what else can be asked."""
    for route in ROUTES:
        for method in set(route.methods) & {"GET", "POST"}:
            name = route.name if method == "GET" else f"{route.name} POST"
            is_form = method == "POST" and not route.is_described
            yield Load(name, tuple(_asked(world, route, method)), is_form=is_form)
    yield _same("no such address", *(f"/no/such/address/{number}" for number in range(_VARIED)))
    yield _same("OPTIONS", "/api/page", method="OPTIONS")
    yield _same("method not allowed", "/help", method="DELETE")
    yield _same("not the right parameters", *(f"/api/page?pageid={'x' * number}" for number in range(1, _VARIED)))
    yield _same("20 of large pages", *(_page(LARGE, number) for number in range(1, PAGES + 1)), clients=20)
    yield _same("1,000 of one page", _page(SMALL, 1), clients=1_000)
    yield _same("100 of a silent wiki", *(_page(SILENT, number) for number in range(1, _VARIED)), clients=100)


def _page(dbname: str, page: int) -> str:
    return f"/api/page?dbname={dbname}@wmflabs&pageid={page}&all=1&format=json"


def _same(name: str, *paths: str, method: str = "GET", clients: int = CLIENTS) -> Load:
    return Load(name, tuple((path, method, "") for path in paths), clients)


def _asked(world: World, route: Route, method: str) -> Iterator[tuple[str, str, str]]:
    """Requests that differ by page and URL."""
    for page in range(1, _VARIED + 1):
        url = world.url(world.numbers_of(page, LINKS[SMALL])[page % LINKS[SMALL]])
        made = {"page": str(page), "url": str(url), "domain": url.host.partition(".")[2]}

        def example(match: re.Match[str], made: dict[str, str] = made) -> str:
            found = EXAMPLES.get(f"{route.name} {match[1]}") or EXAMPLES[match[1]]
            return quote(_filled(found, made))

        path = re.sub(r"\{(\w+)\}", example, route.path)
        names = route.parameters if method == "GET" else route.fields
        given = urlencode({name: _filled(value, made) for name, value in _GIVEN.items() if name in names})
        yield (f"{path}?{given}" if given else path, method, "") if method == "GET" else (path, method, given)


def _filled(text: str, made: Mapping[str, str]) -> str:
    for name, value in made.items():
        text = text.replace(f"{{{name}}}", value)
    return text
