"""From a `PageQuery` to the values of its answer: the links of pages as they are now, and their reports (W-10).

Which links are taken is decided in `taken`, how a wiki is read live in `live_pages`; what the formats write is in
`payload`. An answer is made in three stages: taken from the wiki, looked up in the store, reported.
One law: the wiki is read before a connection to the database is taken, and at most `_AT_ONCE` URLs come with one
statement; only few answers about many links are made at the same time.
"""

import asyncio
import marshal
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import sha256
from itertools import chain
from typing import Any, Final

from weboid import __version__
from weboid.core.record.policy import DEFAULT, Policy
from weboid.core.url.classify import Classified, UrlClass, classify
from weboid.core.url.farms import Farm
from weboid.core.url.keys import UrlKey, key_of
from weboid.core.url.urls import Url, suspicious
from weboid.core.verdict.kept_copies import Services
from weboid.core.verdict.link_report import (
    Extent,
    KeyedLink,
    KnownLink,
    LinkReport,
    PageReport,
    cited_on,
    is_included,
    keyed_link,
    keyed_reports,
    place,
    watched_keys,
)
from weboid.core.wikitext.settings import WikiSettings
from weboid.core.wikitext.titles import NamespaceNames
from weboid.mechanism.slices import Steps, batches, in_slices
from weboid.store.archives.wiki_settings import find_settings
from weboid.store.db.pool import Connection, Pool
from weboid.store.pages.linked import LinkedUrl, find_linked
from weboid.store.pages.wiki import StoredWiki
from weboid.web.answer.large_answers import LargeAnswers
from weboid.web.answer.live_pages import LiveReader
from weboid.web.answer.notify_feeder import FeederNotifier
from weboid.web.answer.parts import shown_part
from weboid.web.answer.taken import Taken, TakenPage, Taker
from weboid.web.answer.wiki_names import Wikis
from weboid.web.answer.wiki_namespaces import WikiNamespaces
from weboid.web.request.parameters import Bookmark, PageQuery

_LINKS_KEPT: Final = 16_384
_LONGEST_KEPT: Final = 500
"""Characters: all that are kept take some 30 MB at the most."""

_AT_ONCE: Final = 500
"""URLs that are looked up with one statement; what comes back is converted without letting others run."""
_STEP: Final = 100
"""Links that are reported on without letting others run."""


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """Reports on the pages that were found, in the order of the query; `missing` names the others. Made on `day`.

    `titles` has the titles by which pages were requested, as they were given, with the ids of their pages; `next` is
    where the query goes on, None at its end.
    """

    wiki: StoredWiki
    pages: tuple[PageReport, ...]
    missing: tuple[str, ...]
    day: int
    titles: Mapping[str, int] = field(default_factory=dict)
    next: Bookmark | None = None
    settings: WikiSettings | None = None
    """Those of the wiki, None where it has none."""
    policy: Policy = DEFAULT
    """By which the verdicts were found."""

    def cited_on(self, day: int) -> "PageAnswer":
        """The same with the distances of copies to a citation on that day."""
        pages = [replace(page, links=tuple(cited_on(link, day) for link in page.links)) for page in self.pages]
        return replace(self, pages=tuple(pages))


@dataclass(frozen=True, slots=True)
class LookedUp:
    """What was taken, with all that the store says of it; `links` and `spam` are by page."""

    taken: Taken
    names: NamespaceNames
    links: Mapping[int, Sequence[KeyedLink]]
    known: Mapping[UrlKey, KnownLink]
    spam: Mapping[int, Mapping[UrlKey, str]]
    settings: WikiSettings | None
    rows: Sequence[Sequence[Any]] | None
    """What the store said, from which all of that follows; None if it is not all."""

    @property
    def watched(self) -> list[UrlKey]:
        """The keys of all watched links, each time that a page has one."""
        links = chain.from_iterable(self.links.values())
        return [each.key for each in links if each.key is not None and each.link.kind is UrlClass.WATCHED]

    def version(self, *variant: object) -> str | None:
        """A bare ETag of what is made of this; `variant` has all else that it is made of. None = not known yet."""
        if self.rows is None:
            return None
        taken = self.taken
        about = [page.said for page in taken.pages]
        named = [self.names.prefixed(page.namespace, page.title) for page in taken.pages]
        made_of = (__version__, variant, taken.name, taken.day, about, named, taken.missing, taken.titles, taken.next)
        told = sha256(repr(made_of).encode("utf-8", "replace"))
        # A fifth of the time of repr; the second version of the format has no references, so that equals stay equal.
        told.update(marshal.dumps([tuple(row) for row in self.rows], 2))
        return told.hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Answers:
    """Finds the answers to queries; has all that it takes."""

    pool: Pool
    live: LiveReader
    taker: Taker
    wikis: Wikis
    notifier: FeederNotifier
    policy: Policy
    today: Callable[[], int]
    services: Services
    """They make the addresses of archived copies."""
    namespaces: WikiNamespaces
    large: LargeAnswers
    setup: str = field(init=False)
    """Differs with the settings on which answers depend."""

    def __post_init__(self) -> None:
        setup = repr((self.policy, sorted(self.services.items()), self.wikis.farms))
        object.__setattr__(self, "setup", sha256(setup.encode()).hexdigest())

    async def find_link(self, query: PageQuery, url: Url) -> tuple[PageAnswer, int]:
        """The answer about the part of a page that has this link, the last part if none has; and the links looked at.

        Raises NotFound, StoreError.
        """
        normal, key, looked = str(url), key_of(url), 0
        while True:
            taken = await self.take(query)
            looked += taken.links
            links = chain.from_iterable((await in_slices(_keyed_links(taken))).values())
            stored = (key in page.keys or key in page.spam for page in taken.pages)
            if taken.next is None or any(stored) or any(keyed.normal == normal for keyed in links):
                answer = await self.report(await self.look_up(taken))
                return replace(answer, next=None), looked
            query = replace(query, begin=taken.next)

    async def take(self, query: PageQuery) -> Taken:
        """What the answer to a query is about; raises NotFound for a wiki that is not known, StoreError."""
        wiki, farm = await self.wikis.find(query.wiki)
        return await self.taker.take(query, wiki, farm, self.today())

    async def look_up(self, taken: Taken) -> LookedUp:
        """What the store says of it; pages that the wiki returned are handed in. Raises StoreError."""
        links = await in_slices(_keyed_links(taken))
        if not taken.handed_in:
            return await self._look_up(taken, links)
        looked_up, _ = await asyncio.gather(self._look_up(taken, links), self.hand_in(taken))
        return looked_up

    async def hand_in(self, taken: Taken) -> None:
        """Hands in the pages that the wiki returned."""
        await self.notifier.notify(taken.wiki.wiki, taken.handed_in, taken.day)

    async def report(self, found: LookedUp, extent: Extent = Extent.ALL) -> PageAnswer:
        """The answer that is made of what was found."""
        taken = found.taken
        pages = [await in_slices(self._report(found, page, extent)) for page in taken.pages]
        return PageAnswer(
            *(taken.wiki, tuple(pages), taken.missing, taken.day, taken.titles, taken.next, found.settings),
            policy=self.policy,
        )

    async def _look_up(self, taken: Taken, links: dict[int, list[KeyedLink]]) -> LookedUp:
        live = [page for page in taken.pages if page.is_live]
        names = await self.namespaces.current(taken.wiki, {page.namespace for page in live}) if live else None
        async with self.pool.reading() as conn:
            names = names or await self.namespaces.stored(conn, taken.wiki)
            if len(live) < len(taken.pages):
                return await self._look_up_stored(conn, taken, names)
            keys = sorted(watched_keys(chain.from_iterable(links.values())))
            known: dict[UrlKey, KnownLink] = {}
            spam: dict[int, dict[UrlKey, str]] = {}
            settings = None
            rows: list[Sequence[Any]] = []
            for some in batches(keys, _AT_ONCE):
                linked = await find_linked(conn, some, taken.wiki.wiki, sorted(links))
                known |= linked.urls
                rows += linked.rows
                settings = linked.settings
                for page, there in linked.spam.items():
                    spam.setdefault(page, {}).update(there)
        return LookedUp(taken, names, links, known, spam, settings, rows)

    async def _look_up_stored(self, conn: Connection, taken: Taken, names: NamespaceNames) -> LookedUp:
        """The same of pages that are told as stored: of their links the keys were taken, and what is spam."""
        wiki, keys = taken.wiki.wiki, sorted({key for page in taken.pages for key in page.keys})
        known: dict[UrlKey, LinkedUrl] = {}
        rows: list[Sequence[Any]] = []
        settings = None if keys else await find_settings(conn, wiki)
        for some in batches(keys, _AT_ONCE):
            linked = await find_linked(conn, some, wiki, (), named=True)
            known |= linked.urls
            rows += linked.rows
            settings = linked.settings
        links = await in_slices(_stored_links(taken, known))
        spam = {page.page: page.spam for page in taken.pages}
        return LookedUp(taken, names, links, known, spam, settings, rows if keys else None)

    def _report(self, found: LookedUp, page: TakenPage, extent: Extent) -> Steps[PageReport]:
        spam = found.spam.get(page.page, {})
        interwiki = {link.url: link for link in page.interwiki} if page.is_live else None

        def reports(links: Iterable[KeyedLink]) -> tuple[LinkReport, ...]:
            return keyed_reports(
                links,
                found.known,
                self.policy,
                spam=spam,
                services=self.services,
                extent=extent,
                interwiki=interwiki,
                is_sorted=len(groups) == 1,
            )

        made: list[LinkReport] = []
        groups = _groups(found.links[page.page])
        for some in groups:
            made += reports(some)
            yield
        if len(groups) > 1:
            told = [link for link in made if is_included(link, extent)]
            made = [*sorted(told, key=place), *(link for link in made if not is_included(link, extent))]
        return PageReport(
            wiki=found.taken.name,
            page=page.page,
            namespace=page.namespace,
            title=page.title,
            revision=page.revision,
            links=tuple(made),
            read=page.read,
            live=page.is_live,
            prefixed_title=found.names.prefixed(page.namespace, page.title),
            part=shown_part(page.part),
        )


def _groups(links: Sequence[KeyedLink]) -> list[list[KeyedLink]]:
    """The links in groups of about `_STEP`, those of one normal form in one of them."""
    if len(links) <= _STEP:
        return [list(links)]
    forms: dict[str, list[KeyedLink]] = {}
    for keyed in links:
        forms.setdefault(keyed.normal or keyed.link.given, []).append(keyed)
    return [list(chain.from_iterable(some)) for some in batches(list(forms.values()), _STEP)]


def _keyed_links(taken: Taken) -> Steps[dict[int, list[KeyedLink]]]:
    """The links of pages that the wiki returned, classified."""
    links: dict[int, list[KeyedLink]] = {}
    for page in taken.pages:
        keyed = links[page.page] = []
        for urls in batches(page.urls or (), _STEP):
            keyed += [_keyed(url, taken.farm) for url in urls]
            yield
    return links


def _keyed(url: str, farm: Farm) -> KeyedLink:
    """A link of a page of that farm. Classified links are cached, as the same ones are requested again and again."""
    return _kept_link(url, farm) if len(url) <= _LONGEST_KEPT else keyed_link(classify(url, farm))


@lru_cache(_LINKS_KEPT)
def _kept_link(url: str, farm: Farm) -> KeyedLink:
    return keyed_link(classify(url, farm))


def _stored_links(taken: Taken, known: Mapping[UrlKey, LinkedUrl]) -> Steps[dict[int, list[KeyedLink]]]:
    """The links of stored pages, those that are watched and those that are spam."""
    links: dict[int, list[KeyedLink]] = {}
    for page in taken.pages:
        keyed = links[page.page] = []
        for keys in batches(page.keys, _STEP):
            urls = (known[key].url for key in keys if key in known)
            keyed += [_stored_link(url) for url in urls if url is not None]
            yield
        for some in batches(list(page.spam.values()), _STEP):
            keyed += [keyed_link(classify(url, None)) for url in some]
            yield
    return links


def _stored_link(url: Url) -> KeyedLink:
    """A watched link of a page as it was stored."""
    return keyed_link(Classified(str(url), UrlClass.WATCHED, url, note=suspicious(url.path)))
