"""Stage 1, from a query to links: the links of pages that one answer covers, and where the next one continues (W-8).

They come from the wiki (stage 2, `live_cache`), or from the store if that does not answer (W-10). An answer has at most
`MOST_LINKS` links; those beyond are neither parsed nor looked up for it. Links follow the order of the query without a
gap, and answers that continue each other have each link of an unchanged page once.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final
from zlib import crc32

from weboid.core.url.archives import is_archive_host
from weboid.core.url.farms import Farm, WikiName
from weboid.core.url.keys import UrlKey
from weboid.core.url.link_kind import InterwikiLink
from weboid.core.verdict.link_report import LinkPart
from weboid.errors import TooManyLinks
from weboid.mechanism.slices import Steps, batches, in_slices
from weboid.store.db.pool import Connection, Pool
from weboid.store.pages.stored_page import StoredPart, find_titled, list_page_parts
from weboid.store.pages.wiki import StoredWiki
from weboid.web.answer.live_cache import LivePageCache
from weboid.web.answer.wiki_namespaces import WikiNamespaces
from weboid.web.request.parameters import BEGIN, Bookmark, PageQuery, title_of
from weboid.wiki.source import PageLinks

MOST_LINKS: Final = 2_000
"""Of one answer, as its pages have them: of one normal form there may be several (D-167)."""
MANY_LINKS: Final = 500
"""An answer about more is made in a lane of its own: it takes megabytes, and a hundred times a small one's time."""

_STEP: Final = 500
"""URLs that are looked through without letting others run: a fifth of a millisecond."""
_Candidate = PageLinks | StoredPart | int | None
"""The target of a name: a page of the wiki or the store, the id of one that an earlier answer had, or none."""


@dataclass(frozen=True, slots=True)
class SelectedPage:
    """A page with the links that an answer covers: `urls` as the wiki has them, or `keys` and `spam` as stored.

    `copies` are links to archives among those that it does not cover, at most `MOST_LINKS`; none of stored pages.
    """

    page: int
    namespace: int
    title: str
    revision: int
    part: LinkPart
    read: int
    urls: tuple[str, ...] | None
    interwiki: tuple[InterwikiLink, ...] = ()
    keys: tuple[UrlKey, ...] = ()
    spam: Mapping[UrlKey, str] = field(default_factory=dict)
    copies: tuple[str, ...] = ()

    @property
    def is_live(self) -> bool:
        """True if the wiki has just returned them."""
        return self.urls is not None

    @property
    def content(self) -> tuple[object, ...]:
        """All values that the wiki or the store gave of it."""
        return (
            *(self.page, self.namespace, self.title, self.revision, self.part, self.read),
            *(self.urls, self.interwiki, self.keys, tuple(self.spam.items()), self.copies),
        )


@dataclass(frozen=True, slots=True)
class SelectedLinks:
    """The pages of an answer with their links, in the order of the query.

    `titles` has the pages to which titles led, by the titles as they were given; `missing` are names for which there is
    no page; `requested` are the pages as the wiki returned them, without links, for the feeder. `is_silent`: the wiki
    did not answer, or not in bounds, so that names are missing in the store alone.
    """

    name: WikiName
    wiki: StoredWiki
    farm: Farm
    day: int
    pages: tuple[SelectedPage, ...]
    missing: tuple[str, ...]
    titles: Mapping[str, int] = field(default_factory=dict)
    next: Bookmark | None = None
    begin: Bookmark = BEGIN
    requested: tuple[PageLinks, ...] = ()
    is_silent: bool = False

    @property
    def links(self) -> int:
        """The number of links."""
        return sum(page.part.end - page.part.first for page in self.pages)

    @property
    def names(self) -> int:
        """The number of names of the query that were looked at."""
        return len(self.pages) + len(self.missing)

    @property
    def is_empty(self) -> bool:
        """True if the query names no page that exists."""
        return not self.pages and self.next is None and self.begin == BEGIN

    @property
    def revision(self) -> int | None:
        """The revision of the only page, if the wiki has just returned it (W-10)."""
        pages = self.pages
        return pages[0].revision if len(pages) == 1 and pages[0].is_live and not self.missing else None

    @property
    def fingerprint(self) -> int:
        """A hash of what the wiki, or the store of its pages, gave.

        Answers with equal fingerprints are equal for as long as the store has the same data on their links.
        """
        pages = tuple(page.content for page in self.pages)
        return hash((self.name, pages, self.missing, tuple(self.titles.items()), self.next))


class LinkPager:
    """Selects links of one page after the other, from a bookmark on, until an answer is full."""

    def __init__(self, begin: Bookmark) -> None:
        self._begin = begin
        self.left = MOST_LINKS
        self.cut: Bookmark | None = None
        """The place where the page that was cut continues, None while none was."""

    @property
    def is_full(self) -> bool:
        """True if there is no room for another page."""
        return self.left == 0 or self.cut is not None

    def offset_of(self, index: int) -> int:
        """The number of the link at which the page of this place may continue: 0 unless the bookmark lies in it."""
        return self._begin.offset if index == self._begin.index else 0

    def continues(self, index: int, total: int, revision: int, check: Callable[[], str]) -> bool:
        """True if the page still is as it was when the bookmark was made; otherwise it begins anew."""
        begin = self._begin
        return 0 < self.offset_of(index) < total and begin.revision == revision and begin.check == check()

    def select(self, index: int, total: int, revision: int, check: Callable[[], str]) -> LinkPart:
        """The links that the answer has of a page with `total` links, whose `check` differs if they do."""
        first = self.offset_of(index) if self.continues(index, total, revision, check) else 0
        end = min(total, first + self.left)
        self.left -= end - first
        if end < total:
            self.cut = Bookmark(index, end, revision, check())
        return LinkPart(first, end, total)


class LinkSelector:
    """Selects the links that answers cover."""

    def __init__(self, pool: Pool, cache: LivePageCache, namespaces: WikiNamespaces) -> None:
        self._pool = pool
        self._cache = cache
        self._namespaces = namespaces

    async def select(
        self, query: PageQuery, wiki: StoredWiki, farm: Farm, day: int, many: Callable[[], Awaitable[None]] | None
    ) -> SelectedLinks:
        """The links of one answer to a query, in pages of which `many` is awaited first. Raises StoreError."""
        pager, begin = LinkPager(query.begin), query.begin.index
        live, end, is_silent = None, len(query.names), False
        if not query.is_for_store:
            try:
                live = await self._cache.read(wiki, query, pager.left)
                is_silent = live is None
            except TooManyLinks:
                end, is_silent = begin + 1, True
        if live is None:
            candidates, seen = await self._stored(query, wiki, pager, end)
        else:
            candidates, seen = list(live.values()), self._cache.earlier(wiki, query)
        found = (each for each in candidates if each is not None and not isinstance(each, int))
        counts = (len(each.urls) if isinstance(each, PageLinks) else each.total for each in found)
        if many is not None and sum(counts) > MANY_LINKS:
            await many()
        pages: list[SelectedPage] = []
        missing: list[str] = []
        titles: dict[str, int] = {}
        index = begin
        for candidate in candidates:
            if pager.is_full:
                break
            name = query.names[index]
            if candidate is None:
                missing.append(str(name))
            else:
                number = _id_of(candidate)
                if not isinstance(candidate, int) and number not in seen:
                    seen.add(number)
                    pages.append(await in_slices(_selected(candidate, pager, index, wiki, day)))
                # Two titles may lead to one page, also if an earlier answer had it.
                if isinstance(name, str) and any(page.page == number for page in pages):
                    titles[name] = number
            if pager.cut is None:
                index += 1
        rest = Bookmark(index) if index < len(query.names) else None
        given = {title: page for title in query.given if (page := titles.get(title_of(title))) is not None}
        requested = tuple(replace(page, urls=(), local=()) for page in (live or {}).values() if page is not None)
        return SelectedLinks(
            *(query.wiki, wiki, farm, day, tuple(pages), tuple(missing), given, pager.cut or rest, query.begin),
            requested=requested,
            is_silent=is_silent,
        )

    async def _stored(
        self, query: PageQuery, wiki: StoredWiki, pager: LinkPager, end: int
    ) -> tuple[list[_Candidate], set[int]]:
        """The pages up to the place `end` as the last pass left them, as many as fit; and the ids of earlier ones."""
        begin = query.begin.index
        async with self._pool.viewing() as conn:
            titled: dict[str, int] = {}
            if titles := query.titles[:end]:
                titled = await find_titled(conn, wiki.wiki, titles, await self._namespaces.stored(conn, wiki))
            earlier = {titled[title] for title in query.titles[:begin] if title in titled}
            ids = [name if isinstance(name, int) else titled.get(name) for name in query.names[begin:end]]
            new = list(dict.fromkeys(page for page in ids if page is not None and page not in earlier))
            parts: dict[int, StoredPart] = {}
            if new:
                parts = await find_stored_parts(conn, wiki, pager, begin + ids.index(new[0]), new, pager.left)
        return [page if page in earlier else None if page is None else parts.get(page) for page in ids], earlier


def _id_of(candidate: PageLinks | StoredPart | int) -> int:
    if isinstance(candidate, int):
        return candidate
    return candidate.page if isinstance(candidate, PageLinks) else candidate.page.page


def _selected(
    found: PageLinks | StoredPart, pager: LinkPager, index: int, wiki: StoredWiki, day: int
) -> Steps[SelectedPage]:
    """The page at this place of the query, with the links for which there is room."""
    if isinstance(found, StoredPart):
        return stored_page(found, pager.select(index, found.total, found.page.latest, lambda: found.check), wiki)
    every, interwiki = found.all_urls, (*found.interwiki, *found.local)
    check = yield from _checksum(every)
    part = pager.select(index, len(every), found.latest, lambda: check)
    urls = every[part.first : part.end]
    copies: list[str] = []
    for some in batches((*every[: part.first], *every[part.end :]), _STEP):
        yield
        copies += filter(_is_archived, some)
    return SelectedPage(
        *(found.page, found.namespace, found.title, found.latest, part, day, urls, interwiki),
        copies=tuple(copies[:MOST_LINKS]),
    )


def _is_archived(url: str) -> bool:
    """Returns whether a URL, as the wiki has it, may be that of a copy in an archive."""
    parts = url.split("/", 3)
    return len(parts) > 3 and is_archive_host(parts[2].partition(":")[0].lower())


def _checksum(urls: Sequence[str]) -> Steps[str]:
    """A checksum of a page's links: templates and the store change them without a new revision (D-168)."""
    check = 0
    for some in batches(urls, _STEP):
        check = crc32("\n".join(("", *some)).encode("utf-8", "replace"), check)
        yield
    return f"{check:x}"


async def find_stored_parts(
    conn: Connection, wiki: StoredWiki, pager: LinkPager, index: int, pages: Sequence[int], limit: int
) -> dict[int, StoredPart]:
    """At most `limit` links of stored pages in this order; `index` is the place of the first one in the query.

    It continues where the answer before ended, or begins anew if it has other links by now. Pages that are not watched,
    and those for which there is no room, are left out. Three statements at most, however many pages.
    """
    first = pager.offset_of(index)
    parts = await list_page_parts(conn, wiki.wiki, pages, first=first, limit=limit)
    part = parts.get(pages[0])
    if part is None or first == 0 or pager.continues(index, part.total, part.page.latest, lambda: part.check):
        return parts
    return parts | await list_page_parts(conn, wiki.wiki, pages[:1], first=0, limit=limit)


def stored_page(stored: StoredPart, part: LinkPart, wiki: StoredWiki) -> SelectedPage:
    """That part of a page, with its links as the store has them."""
    page = stored.page
    # Of the pass, not of the page: a pass writes only pages that differ, and requests touch them too.
    read = page.touched if wiki.passed is None else wiki.passed
    return SelectedPage(
        page.page, page.namespace, page.title, page.latest, part, read, None, keys=page.urls, spam=stored.spam
    )
