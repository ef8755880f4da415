"""The pages of the own farm to which links lead: which of them are missing in their wikis at this moment (L-1, L-3).

A wiki is asked for fifty titles at a time, once for all simultaneous readers, and its answer is kept for five minutes.
An answer waits a second for all of them; what is not known by then is not hinted, and known to the next reader. It is
the API that is asked: a replica is behind, so its "missing" would need the API's word, as would the namespaces of the
other wiki, and each wiki a connection, of which a tool has ten for all its processes. Of 2,313 real pages four in five
have no such link, and none needs more than nine requests; one for fifty titles takes a wiki 13 ms of processor time.
"""

import asyncio
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Final, NamedTuple, Protocol
from urllib.parse import urlsplit

from weboid.core.url.farms import Farm, WikiName
from weboid.core.url.urls import Url
from weboid.errors import SourceError, StoreError
from weboid.mechanism.bounded import BoundedMap
from weboid.mechanism.breaker import Admission, Breaker
from weboid.mechanism.bulkhead import Bulkhead
from weboid.mechanism.fair_slots import aside
from weboid.mechanism.single_flight import SingleFlight
from weboid.mechanism.slices import batches
from weboid.store.pages.wiki import StoredWiki
from weboid.web.answer.live import LiveReader
from weboid.web.answer.wiki_names import Wikis
from weboid.wiki.interwiki import LocalWiki

_LONGEST_S: Final = 1.0
_KEPT_S: Final = 300.0
_MOST_KEPT: Final = 50_000
_MOST_ASKED: Final = 500
"""Titles that are asked for in one answer; the next answer goes on."""
_BATCH: Final = 50
_MOST_REQUESTS: Final = 20
"""At one time over all wikis."""
_MOST_OF_A_WIKI: Final = 4
_FEW_OF_A_WIKI: Final = 1
_MOST_WIKIS: Final = 1_000
_FAILURES: Final = 3
_FIRST_REST_S: Final = 10.0
_LONGEST_REST_S: Final = 300.0


class MissingTitles(Protocol):
    """A wiki that says which of its pages are missing."""

    async def find_missing(self, titles: Sequence[str]) -> set[str]:
        """Those of at most 50 titles, with their prefixes, for which it has no page; raises SourceError."""


TargetSources = Callable[[str], MissingTitles]
"""The wiki at an address of the Action API."""


class _Target(NamedTuple):
    """A page, by its wiki's API and its title."""

    api: str
    title: str


class MissingPages(NamedTuple):
    """The URLs whose pages are missing; `is_late`: there may be more, as not all wikis have answered in time."""

    urls: frozenset[Url] = frozenset()
    is_late: bool = False


class TargetPages:
    """Looks for the pages to which links of other wikis of the farm lead; for none without `sources`."""

    def __init__(self, sources: TargetSources | None, live: LiveReader, wikis: Wikis) -> None:
        self._sources = sources
        self._live = live
        self._wikis = wikis
        self._known: BoundedMap[_Target, tuple[float, bool]] = BoundedMap(_MOST_KEPT)
        """Until when it is kept, and whether the page is missing."""
        self._breakers: BoundedMap[str, Breaker] = BoundedMap(_MOST_WIKIS)
        self._slots = Bulkhead(_MOST_REQUESTS, each=_MOST_OF_A_WIKI, scarce=_FEW_OF_A_WIKI)
        self._flights: SingleFlight[None] = SingleFlight()

    async def find_missing(self, wiki: StoredWiki, farm: Farm, urls: Collection[Url]) -> MissingPages:
        """Those of the URLs, linked from a page of that wiki, whose page the wiki that should have it calls missing."""
        if (sources := self._sources) is None or not urls:
            return MissingPages()
        targets: dict[Url, _Target] = {}
        is_late = False
        try:
            async with aside(), asyncio.timeout(_LONGEST_S):
                if (interwiki := await self._live.find_interwiki(wiki)) is None:
                    return MissingPages()
                named = await self._wikis.list_known()
                for url in urls:
                    if (page := interwiki.page_at(url)) and (api := _api_of(page[0], wiki, farm, named)):
                        targets[url] = _Target(api, page[1])
                asked = self._questions(targets.values())
                looks = [self._flights.result(some, partial(self._ask, sources, *some)) for some in asked]
                await asyncio.gather(*looks)
        except TimeoutError:
            is_late = True
        except StoreError:
            pass
        return MissingPages(frozenset([url for url, target in targets.items() if self._kept(target)]), is_late)

    async def close(self) -> None:
        """Ends all looks."""
        await self._flights.close()

    def _questions(self, targets: Collection[_Target]) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The titles that are not known, in batches: in one order for all who ask for the same ones."""
        unknown = islice((target for target in sorted({*targets}) if self._kept(target) is None), _MOST_ASKED)
        by_api: dict[str, list[str]] = {}
        for api, title in unknown:
            by_api.setdefault(api, []).append(title)
        return ((api, tuple(some)) for api, titles in by_api.items() for some in batches(titles, _BATCH))

    async def _ask(self, sources: TargetSources, api: str, titles: tuple[str, ...]) -> None:
        """Asks the wiki, unless it is silent at the moment; what it answers is kept."""
        loop = asyncio.get_running_loop()
        if (breaker := self._breakers.use(api)) is None:
            breaker = self._breakers[api] = Breaker(_FAILURES, first_s=_FIRST_REST_S, longest_s=_LONGEST_REST_S)
        async with self._slots.slot(api, wait_s=_LONGEST_S) as has_slot:
            admission = breaker.admit(loop.time()) if has_slot else Admission.NO
            if admission is Admission.NO:
                return
            try:
                missing = await sources(api).find_missing(titles)
            except SourceError:
                breaker.failed(loop.time(), admission, object())
                return
            breaker.succeeded(loop.time())
        until_s = loop.time() + _KEPT_S
        for title in titles:
            self._known[_Target(api, title)] = until_s, title in missing

    def _kept(self, target: _Target) -> bool | None:
        """Returns whether the page is missing; None if that is not known."""
        until_s, is_missing = self._known.get(target) or (0.0, None)
        return is_missing if asyncio.get_running_loop().time() < until_s else None


def _api_of(target: LocalWiki, wiki: StoredWiki, farm: Farm, named: dict[str, StoredWiki]) -> str | None:
    """The address of the API of a wiki in the map: as it is known, as the map says, or as that of the linking wiki."""
    entry = target.entry
    known = named.get(str(WikiName(entry.wikiid, farm.name)))
    if known is not None and known.api:
        return known.api
    if entry.api.startswith(f"{target.origin}/"):
        return entry.api
    path = urlsplit(wiki.api or farm.api).path
    return None if "{" in path else f"{target.origin}{path}"
