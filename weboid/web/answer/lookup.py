"""Stage 3: looks up in the store what is known of the links of an answer.

The wiki is read before a connection to the database is taken.
"""

import marshal
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from typing import Any, Final

from weboid import __version__
from weboid.core.url.classify import Classified, UrlClass, classify
from weboid.core.url.farms import Farm
from weboid.core.url.keys import UrlKey
from weboid.core.url.urls import Url, suspicious
from weboid.core.verdict.hints import LinkHint
from weboid.core.verdict.link_report import Extent, KeyedLink, keyed_link, link_of, watched_keys
from weboid.core.wikitext.link_lists import PERMADEAD
from weboid.core.wikitext.settings import NOTHING_SAID, OfWiki
from weboid.core.wikitext.titles import NamespaceNames
from weboid.mechanism.bounded import BoundedMap
from weboid.mechanism.slices import Steps, batches, in_slices
from weboid.store.archives.wiki_settings import find_settings
from weboid.store.db.pool import Pool
from weboid.store.pages.linked import LinkedUrl, find_linked
from weboid.web.answer.live_hints import LiveHints
from weboid.web.answer.live_spam import LinksByPage, LiveSpam
from weboid.web.answer.query import SelectedLinks
from weboid.web.answer.wiki_namespaces import WikiNamespaces

_kept: Final[BoundedMap[tuple[tuple[str, ...], Farm], list[KeyedLink]]] = BoundedMap(16_384, weigh=len)
"""Classified links of whole pages, as the same pages are requested again and again."""
_LONGEST_KEPT: Final = 500
"""Characters, on the average of a page: all that are kept take some 30 MB at the most."""
_AT_ONCE: Final = 500
"""URLs that are looked up with one statement; its rows are converted without letting others run."""
_STEP: Final = 100
"""Links that are classified without letting others run."""


@dataclass(frozen=True, slots=True)
class LookedUp:
    """The selected links of an answer with all that is known of them; `links` and `spam` are by page, `hints` by normal
    form. Of those with the keys `working` the answer says no more than that they work."""

    selected: SelectedLinks
    names: NamespaceNames
    links: LinksByPage
    known: Mapping[UrlKey, LinkedUrl]
    working: Set[UrlKey]
    spam: Mapping[int, Mapping[UrlKey, str]]
    hints: Mapping[str, tuple[LinkHint, ...]]
    settings: OfWiki
    copies: LinksByPage
    """By page the links to archives that the answer does not have, being cut: they repair others (L-10)."""
    rows: Sequence[Sequence[Any]] | None
    """The rows from which all of that follows; None if there is more that it depends on."""
    is_late: bool = False
    """A later answer may have more hints, so this one is not kept."""

    @property
    def watched(self) -> list[UrlKey]:
        """The keys of all watched links, each time that a page has one."""
        links, watched = chain.from_iterable(self.links.values()), UrlClass.WATCHED
        return [each.key for each in links if each.key is not None and each.link.kind is watched]

    @property
    def has_unchecked(self) -> bool:
        """True if a watched link was never checked."""
        known = self.known.keys() | self.working
        return any(found.is_untried for found in self.known.values()) or not known >= set(self.watched)

    def version(self, *variant: object) -> Steps[str | None]:
        """A bare ETag of what is made of this; `variant` has all else that it is made of. None = not known yet."""
        if self.rows is None:
            return None
        selected = self.selected
        titles = [self.names.prefixed(page.namespace, page.title) for page in selected.pages]
        made_of = (
            *(__version__, variant, selected.name, selected.day, titles),
            *(selected.missing, selected.titles, selected.next),
            *([(page, sorted(urls)) for page, urls in self.spam.items() if urls], sorted(self.hints.items())),
        )
        digest = sha256(repr(made_of).encode("utf-8", "replace"))
        for page in selected.pages:
            digest.update(repr(page.content).encode("utf-8", "replace"))
            yield
        for some in batches(self.rows, _AT_ONCE):
            # A fifth of repr's time; the second version of the format has no references, so that equals stay equal.
            digest.update(marshal.dumps([tuple(row) for row in some], 2))
            yield
        return digest.hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class LinkLookup:
    """Looks up links in the store."""

    pool: Pool
    namespaces: WikiNamespaces
    spam: LiveSpam
    hints: LiveHints

    async def look_up(self, selected: SelectedLinks, extent: Extent) -> LookedUp:
        """All that the store has on these links and an answer of that extent shows; raises StoreError."""
        links: LinksByPage = await in_slices(live_links(selected))
        copies: LinksByPage = await in_slices(_live_copies(selected))
        live = {page.namespace for page in selected.pages if page.is_live}
        names = await self.namespaces.current(selected.wiki, live) if live else None
        is_stored = bool(selected.pages) and not live
        if is_stored:
            keys = sorted({key for page in selected.pages for key in page.keys})
        else:
            keys = sorted(watched_keys(chain.from_iterable([*links.values(), *copies.values()])))
        wiki, pages = selected.wiki.wiki, () if is_stored else sorted(links)
        known: dict[UrlKey, LinkedUrl] = {}
        working: set[UrlKey] = set()
        now_spam = await self.spam.find(selected.wiki, links)
        hints, is_late = await self.hints.of_targets(selected, links)
        spam = {page.page: now_spam.get(page.page, page.spam) for page in selected.pages}
        settings = NOTHING_SAID
        rows: list[Sequence[Any]] = []
        async with self.pool.viewing() as conn:
            names = names or await self.namespaces.stored(conn, selected.wiki)
            for some in batches(keys, _AT_ONCE):
                linked = await find_linked(conn, some, wiki, pages, extent, named=is_stored)
                known |= linked.urls
                working |= linked.working
                rows += linked.rows
                settings = linked.settings
                for page, urls in linked.spam.items():
                    spam[page] = {**spam[page], **urls}
            shown = sorted(working & _shown_keys(links, spam, settings, working)) if working else []
            for some in batches(shown, _AT_ONCE):
                linked = await find_linked(conn, some, wiki, (), Extent.ALL)
                known |= linked.urls
                rows += linked.rows
            working.difference_update(shown)
            if len(known) < len(rows) or any(found.is_untried for found in known.values()):
                hints |= await self.hints.of_hosts(conn, links, known, working, selected.day)
            if is_stored and not keys:
                settings = await find_settings(conn, wiki)
        if is_stored:
            links = await in_slices(_stored_links(selected, known))
            working -= _shown_keys(links, spam, settings, working)
        rows_of = None if is_stored and not keys else rows
        return LookedUp(selected, names, links, known, working, spam, hints, settings, copies, rows_of, is_late)


def _shown_keys(
    links: LinksByPage, spam: Mapping[int, Mapping[UrlKey, str]], settings: OfWiki, working: Set[UrlKey]
) -> set[UrlKey | None]:
    """The keys of links that may be more than counted although their URLs are among the working ones."""
    watched, spam_keys = UrlClass.WATCHED, set(chain.from_iterable(spam.values()))
    flags_of = settings.links.flags_of if settings.links.permadead else None
    return {
        key
        for (_, kind, url, _, note), _, key in chain.from_iterable(links.values())
        if key in working
        and (note or kind is not watched or key in spam_keys or (flags_of and url and PERMADEAD in flags_of(url)))
    }


def live_links(selected: SelectedLinks) -> Steps[dict[int, list[KeyedLink]]]:
    """The links of pages that the wiki returned, classified; none of stored pages."""
    links: dict[int, list[KeyedLink]] = {}
    farm = selected.farm
    for page in selected.pages:
        keyed = yield from _keyed_links(page.urls or (), farm)
        if local := {link.url for link in page.interwiki if link.is_local and not link.is_external}:
            keyed = [_local(each) if each.link.given in local else each for each in keyed]
        links[page.page] = keyed
    return links


def _local(keyed: KeyedLink) -> KeyedLink:
    """A local interwiki link, which is never watched (L-1), whatever domains are its farm's."""
    link = keyed.link
    return keyed._replace(link=link._replace(kind=UrlClass.OWN_FARM)) if link.kind is UrlClass.WATCHED else keyed


def _live_copies(selected: SelectedLinks) -> Steps[dict[int, list[KeyedLink]]]:
    copies: dict[int, list[KeyedLink]] = {}
    for page in selected.pages:
        if page.copies:
            copies[page.page] = yield from _keyed_links(page.copies, selected.farm)
    return copies


def _keyed_links(urls: tuple[str, ...], farm: Farm) -> Steps[list[KeyedLink]]:
    if (kept := _kept.use((urls, farm))) is not None:
        return kept
    keyed: list[KeyedLink] = []
    for some in batches(urls, _STEP):
        keyed += [link_of(url, farm) for url in some]
        yield
    if sum(map(len, urls)) <= _LONGEST_KEPT * len(urls):
        _kept[urls, farm] = keyed
    return keyed


def _stored_links(selected: SelectedLinks, known: Mapping[UrlKey, LinkedUrl]) -> Steps[dict[int, list[KeyedLink]]]:
    """The links of stored pages, those that are watched and those that are spam."""
    links: dict[int, list[KeyedLink]] = {}
    for page in selected.pages:
        keyed = links[page.page] = []
        for keys in batches(page.keys, _STEP):
            urls = (known[key].url for key in keys if key in known)
            keyed += [keyed_link(watched_link(url)) for url in urls if url is not None]
            yield
        for some in batches(list(page.spam.values()), _STEP):
            keyed += [keyed_link(classify(url, None)) for url in some]
            yield
    return links


def watched_link(url: Url) -> Classified:
    """The link to a watched URL, in its normal form."""
    return Classified(str(url), UrlClass.WATCHED, url, note=suspicious(url.path))
