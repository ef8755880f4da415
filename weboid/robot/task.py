"""A task of the robot: what it has found, in the order and by the laws of R-9."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Final, NamedTuple

from weboid.core.url.hosts import NO_NAMES, InvalidUrl
from weboid.core.url.urls import Url, parse, parse_again
from weboid.robot.orders import Orders, Scope
from weboid.robot.plugins import Plugin, RobotLink, RobotPage, plugin
from weboid.robot.queues import WantedDocument
from weboid.robot.statistics import Outcome, Statistics

_MOST_HOPS: Final = 10
"""Redirects in a row."""
_EXCLUDE: Final = "exclude"
"""The filter that is asked before the restriction, so that it holds of what is not followed, too."""


class OutgoingLink(NamedTuple):
    """A link of a document; `url` is absolute, without its fragment."""

    url: str
    text: str = ""
    rel: str = ""


class Loaded(NamedTuple):
    """Result of an open entry."""

    outcome: Outcome
    links: Iterable[OutgoingLink] = ()
    redirect: str = ""
    """Its target: a URL of its own, as far from the start as the redirect."""
    content_hash: bytes = b""
    """Of the whole decoded body; empty if there is none."""
    not_modified: bool = False
    source: str = ""
    """The decoded text of the document, if the task needs it."""


class Task:
    """Knows which URLs a task has found; the robot queues them. `number` is its own within the robot."""

    def __init__(
        self,
        number: int,
        starts: Iterable[str],
        orders: Orders,
        given: Mapping[str, Plugin] = MappingProxyType({}),
        bare: frozenset[str] = NO_NAMES,
    ) -> None:
        """`given`: filters of links by name, asked first unless the orders name them. `bare`: as of `parse`."""
        self.number = number
        self._bare = bare
        self.starts = [parse(url, bare) for url in starts]
        self.scope = Scope(self.starts)
        self.refusals: list[str] = []
        """Of the document that has ended last, for its redirect and each of its links in order, why it is not followed:
        the name of a filter of links, else ``depth``, ``same-content`` or the name of a filter of pages; else empty."""
        self._given = given
        self._made = dict(given)
        """Filters and classifiers by name: those that count go on if the orders change."""
        self.statistics = Statistics()
        self.is_cancelled = False
        self._distances: dict[str, int] = {}
        """Of each URL that was queued the fewest links from a start."""
        self._contents: dict[bytes, str] = {}
        self.loaded: set[str] = set()
        """URLs of which the load has ended: none is loaded again in this task."""
        self.loading: set[str] = set()
        self.order(orders)

    def order(self, orders: Orders) -> None:
        """Changes the orders, from the next document on; raises ConfigError for an unknown name."""
        self._page_classifiers = self._named(orders.page_classifiers)
        self._page_filters = self._named(orders.page_filters)
        self._link_classifiers = self._named(orders.link_classifiers)
        others = [name for name in self._given if name not in orders.link_filters]
        filters = self._named([*others, *orders.link_filters])
        self._excluding = [each for each in filters if each[0] == _EXCLUDE]
        self._link_filters = [each for each in filters if each[0] != _EXCLUDE]
        self.orders = orders

    def _named(self, names: Sequence[str]) -> list[tuple[str, Plugin]]:
        self._made |= {name: plugin(name) for name in names if name not in self._made}
        return [(name.partition(":")[0], self._made[name]) for name in names]

    @property
    def is_finished(self) -> bool:
        """True if nothing is queued and nothing open."""
        return not self.statistics.waiting and not self.statistics.open

    def begin(self) -> list[WantedDocument]:
        """The entries of the starts, each checked and queued."""
        return [entry for url in self.starts if (entry := self._queued(url, 0, 0, ""))]

    def end(self, entry: WantedDocument, loaded: Loaded) -> list[WantedDocument]:
        """The entries of what a document leads to, after its outcome is counted."""
        self.statistics.end(loaded.outcome)
        self.statistics.not_modified += loaded.not_modified
        self.refusals = []
        if self.is_cancelled:
            return []
        page = RobotPage(entry.url, entry.distance, loaded.source)
        found: list[WantedDocument | None] = []
        if loaded.redirect:
            if not entry.distance:
                self._take_as_start(loaded.redirect)
            found.append(self._follow(page, OutgoingLink(loaded.redirect), entry.distance, entry.hops + 1))
        if why := self._why_not_followed(page, loaded):
            self.refusals += [self._judged(page, link) or why for link in loaded.links]
        else:
            found += [self._follow(page, link, entry.distance + 1, 0) for link in loaded.links]
        return [entry for entry in found if entry]

    def _take_as_start(self, redirect: str) -> None:
        """Takes the target for a start, too: it is the site that is meant."""
        with suppress(InvalidUrl):
            self.scope.add(parse(redirect, self._bare))

    def _judged(self, page: RobotPage, found: OutgoingLink) -> str:
        """The filter that would refuse a link; empty if none does."""
        try:
            return self._filter_of(self._classified(page, found), 0)
        except InvalidUrl:
            return "invalid"

    def _classified(self, page: RobotPage, found: OutgoingLink) -> RobotLink:
        link = RobotLink(page, parse_again(found.url, self._bare), found.text, found.rel)
        for _name, classify in self._link_classifiers:
            classify(link)
        return link

    def _why_not_followed(self, page: RobotPage, loaded: Loaded) -> str:
        for _name, classify in self._page_classifiers:
            classify(page)
        if page.distance >= self.orders.reach:
            return "depth"
        for name, keeps in self._page_filters:
            if not keeps(page):
                self.statistics.stopped_by[name] += 1
                return name
        same = bool(loaded.content_hash) and self._contents.setdefault(loaded.content_hash, page.url) != page.url
        self.statistics.same_content += same
        return "same-content" if same and self.orders.tests_content else ""

    def _follow(self, page: RobotPage, found: OutgoingLink, distance: int, hops: int) -> WantedDocument | None:
        try:
            link = self._classified(page, found)
        except InvalidUrl:
            self._refuse("invalid")
            return None
        if name := self._filter_of(link, hops):
            self._refuse(name)
            return None
        self.refusals.append("")
        return self._queued(link.url, distance, hops, page.url)

    def _refuse(self, name: str) -> None:
        self.statistics.find(name, is_new=False)
        self.refusals.append(name)

    def _filter_of(self, link: RobotLink, hops: int) -> str:
        """The name of the first filter that refuses a link; empty if none does."""
        if hops > _MOST_HOPS:
            return "redirects"
        if not all(keeps(link) for _name, keeps in self._excluding):
            return _EXCLUDE
        if not self.scope.allows(self.orders.restriction, link.url):
            return "restriction"
        return next((name for name, keeps in self._link_filters if not keeps(link)), "")

    def _queued(self, url: Url, distance: int, hops: int, parent: str) -> WantedDocument | None:
        """The entry of a URL; None if it was found as near to the start before."""
        written = str(url)
        is_new = distance < self._distances.get(written, distance + 1)
        self.statistics.find(None, is_new=is_new)
        if not is_new:
            return None
        self._distances[written] = distance
        return WantedDocument(self, written, url.host, distance, hops, parent)
