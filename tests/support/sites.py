"""A small site over real HTTP, and a run over it in this process."""

from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from ipaddress import ip_network
from math import inf
from typing import Any

from support.misbehaving import Act, Asked, Script, Site, reply, serve

from weboid.config import CrawlConfig, NetConfig
from weboid.core.record.moment import Moment
from weboid.net.outbound import open_session
from weboid.robot.orders import Orders
from weboid.site.keep import RunMemory
from weboid.site.place import Place, Summary
from weboid.site.start import SiteSessions, find_start
from weboid.site.walk import SiteWalk
from weboid.store.db.pool import Pool

NET = NetConfig(user_agent="Weboid/0 (+https://tools.example/weboid; weboid@tools.example)", answer_s=30.0)
"""Loopback is permitted only where a start names it."""
Pages = Mapping[str, str | bytes]
"""Pages by target, or whole replies; all else is missing."""
EXAMPLE = {
    1: (2, 3, 4, 5, 6), 2: (7,), 3: (8, 1), 4: (9, 1, 2), 5: (10, 11, 3), 6: (12, 13, 14), 8: (), 9: (), 10: (1,),
    11: (15, 1), 12: (), 13: (), 14: (1,), 15: (),
}  # fmt: skip
"""The links of the documents of the source's example task."""
ROWS = [
    (6, 6, 0, 1, 0), (7, 6, 1, 2, 0), (9, 7, 1, 3, 0), (12, 8, 1, 4, 0), (15, 10, 1, 5, 0), (18, 13, 1, 5, 1),
    (18, 13, 1, 6, 1), (18, 13, 1, 7, 1), (19, 13, 1, 8, 1), (21, 14, 1, 9, 1), (21, 14, 1, 9, 2), (21, 14, 1, 9, 3),
    (22, 14, 1, 9, 4), (22, 14, 1, 10, 4),
]  # fmt: skip
"""Checked, queued, filtered, downloaded, cache hits after each document of the source's example task."""
FAR = replace(NET, permit=(ip_network("127.0.0.0/8"),))
"""As if loopback were the web."""


@dataclass
class Walked:
    """What a run gave, and what the server was asked for."""

    places: list[Place]
    summary: Summary
    site: Site

    @property
    def asked(self) -> list[str]:
        """Targets in the order of requests, robots.txt apart."""
        return [each.target for each in self.site.asked if each.target != "/robots.txt"]

    @property
    def states(self) -> dict[str, str]:
        """The state of each link by its target, without the origin, as it was said last."""
        origin = self.site.url("")
        links = [place for place in self.places if place.parent]
        return {
            place.url.removeprefix(origin) + (f"#{place.fragment}" if place.fragment else ""): place.state
            for place in links
        }

    def place(self, target: str) -> Place:
        return next(place for place in self.places if place.parent and place.url == self.site.url(target))


def script_of(pages: Pages) -> Script:
    """A server of pages, some of them whole replies; all else is missing."""

    def script(asked: Asked) -> Act:
        page = pages.get(asked.target, reply(404, body=b"<title>No such page</title>"))
        return page if isinstance(page, bytes) else reply(200, body=page.encode())

    return script


async def walked(
    pages: Pages | Script,
    start: str = "/",
    *,
    headers: Mapping[str, str] | None = None,
    emit: Callable[[Place], None] = lambda _: None,
    is_far: bool = False,
    orders: Orders | None = None,
    pool: Pool | None = None,
    **wishes: Any,
) -> Walked:
    """Walks over pages, from a path; with a pool it remembers what it loaded."""
    orders = orders or Orders(inf)
    async with AsyncExitStack() as stack:
        site = await stack.enter_async_context(serve(script_of(pages) if isinstance(pages, Mapping) else pages))
        begin = await find_start(site.url(start), headers or {}, NET)
        begin = replace(begin, is_own=False) if is_far else begin
        own = await stack.enter_async_context(open_session(FAR if is_far else begin.permitted(NET), begin.names))
        public = await stack.enter_async_context(open_session(FAR if is_far else NET))
        memory = None
        if pool:
            memory = RunMemory(pool, "docs", Moment(100), site.url(""))
            await stack.enter_async_context(memory.run(["folder:"], orders))
        places: list[Place] = []

        def take(place: Place) -> None:
            places.append(place)
            emit(place)

        sessions, crawl = SiteSessions(begin, own, public), CrawlConfig(delay=0.3)
        summary = await SiteWalk(sessions, orders, crawl, take, memory=memory, **wishes).run([str(begin.url)])
        if memory:
            await memory.end({}, is_whole=not summary.is_interrupted)
        return Walked(places, summary, site)


def linked(*targets: str) -> str:
    return "<!DOCTYPE html><title>t</title>" + "\n".join(f'<a href="{target}">to {target}</a>' for target in targets)
