"""A small site over real HTTP, and a run over it in this process."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from ipaddress import ip_network
from math import inf
from typing import Any

from support.misbehaving import Act, Asked, Script, Site, reply, serve

from weboid.config import CrawlConfig, NetConfig
from weboid.net.outbound import open_session
from weboid.robot.orders import Orders
from weboid.site.place import Place, Summary
from weboid.site.start import find_start
from weboid.site.walk import SiteSessions, SiteWalk, SiteWishes

NET = NetConfig(user_agent="Weboid/0 (+https://tools.example/weboid; weboid@tools.example)", answer_s=30.0)
"""Loopback is permitted only where a start names it."""
Pages = Mapping[str, str | bytes]
"""Pages by target, or whole replies; all else is missing."""
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
        """The first place of a target."""
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
    **wishes: Any,
) -> Walked:
    """Walks over pages, from a path."""
    async with serve(script_of(pages) if isinstance(pages, Mapping) else pages) as site:
        begin = await find_start(site.url(start), headers or {}, NET)
        begin = replace(begin, addresses=()) if is_far else begin
        async with (
            open_session(FAR if is_far else begin.permitted(NET)) as own,
            open_session(FAR if is_far else NET) as public,
        ):
            places: list[Place] = []

            def take(place: Place) -> None:
                places.append(place)
                emit(place)

            made = SiteWishes(orders or Orders(inf), **wishes)
            run = SiteWalk(SiteSessions(begin, own, public), made, CrawlConfig(delay=0.3), take)
            return Walked(places, await run.run([str(begin.url)]), site)


def linked(*targets: str) -> str:
    """A page with links."""
    return "<!DOCTYPE html><title>t</title>" + "\n".join(f'<a href="{target}">to {target}</a>' for target in targets)
