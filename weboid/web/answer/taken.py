"""Which links of which pages an answer is about: from the wiki, or from the store if that does not answer (W-10).

Nothing is looked up about them yet; that is for `answers`. How much one answer takes is in `parts`.
One law: what was taken follows the order of the query without a gap, and `next` is where the rest begins.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from weboid.core.url.farms import Farm, WikiName
from weboid.core.url.keys import UrlKey
from weboid.core.url.link_kind import InterwikiLink
from weboid.core.verdict.link_report import LinkPart
from weboid.store.db.pool import Connection, Pool
from weboid.store.pages.stored_page import StoredPart, find_titled, list_page_parts
from weboid.store.pages.wiki import StoredWiki
from weboid.web.answer.parts import Cutter, check_of
from weboid.web.answer.readings import Readings, ReadPages
from weboid.web.answer.wiki_namespaces import WikiNamespaces
from weboid.web.request.parameters import BEGIN, Bookmark, PageQuery, title_of
from weboid.wiki.source import PageLinks


@dataclass(frozen=True, slots=True)
class TakenPage:
    """A page with the links that an answer is about: `urls` as the wiki has them, or `keys` and `spam` as stored."""

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

    @property
    def is_live(self) -> bool:
        """Whether the wiki has just returned them."""
        return self.urls is not None

    @property
    def said(self) -> tuple[object, ...]:
        """All that was said of it, by the wiki or the store."""
        return (
            *(self.page, self.namespace, self.title, self.revision, self.part, self.read),
            *(self.urls, self.interwiki, self.keys, tuple(self.spam.items())),
        )


@dataclass(frozen=True, slots=True)
class Taken:
    """The pages of an answer, in the order of the query; `titles` has those to which titles led, as they were given.

    `missing` are names for which there is no page; `handed_in` are the pages as the wiki returned them, without links.
    """

    name: WikiName
    wiki: StoredWiki
    farm: Farm
    day: int
    pages: tuple[TakenPage, ...]
    missing: tuple[str, ...]
    titles: Mapping[str, int] = field(default_factory=dict)
    next: Bookmark | None = None
    begin: Bookmark = BEGIN
    handed_in: tuple[PageLinks, ...] = ()

    @property
    def links(self) -> int:
        """How many links it is about."""
        return sum(page.part.end - page.part.first for page in self.pages)

    @property
    def names(self) -> int:
        """How many names of the query were looked at for it."""
        return len(self.pages) + len(self.missing)

    @property
    def is_empty(self) -> bool:
        """Whether the query names no page that exists."""
        return not self.pages and self.next is None and self.begin == BEGIN

    @property
    def revision(self) -> int | None:
        """The revision of its only page, if the wiki has just returned it (W-10)."""
        pages = self.pages
        return pages[0].revision if len(pages) == 1 and pages[0].is_live and not self.missing else None

    @property
    def state(self) -> int:
        """What the wiki has just said, or the store of its pages, in short.

        What is made of equal states is equal for as long as the store says the same of the links.
        """
        about = tuple(page.said for page in self.pages)
        return hash((self.name, about, self.missing, tuple(self.titles.items()), self.next))


class _Taking:
    """An answer's pages while they are taken one after the other."""

    def __init__(self, query: PageQuery, seen: set[int]) -> None:
        self.query = query
        self.cutter = Cutter(query.begin)
        self.index = query.begin.index
        self.pages: list[TakenPage] = []
        self.missing: list[str] = []
        self.titles: dict[str, int] = {}
        self._seen = seen

    def miss(self) -> None:
        """There is no page of the name that is next."""
        self.missing.append(str(self.query.names[self.index]))

    def is_new(self, page: int) -> bool:
        """Whether the page to which the name that is next leads was not taken by another name."""
        if page in self._seen:
            return False
        self._seen.add(page)
        return True

    def add(self, page: TakenPage) -> None:
        """Takes the page of the name that is next."""
        self.pages.append(page)
        self.lead(page.page)

    def lead(self, page: int) -> None:
        """The name that is next leads to that page, which may have been taken by another name, in another answer."""
        name = self.query.names[self.index]
        if isinstance(name, str) and any(taken.page == page for taken in self.pages):
            self.titles[name] = page

    def leads(self) -> dict[str, int]:
        """The pages to which the titles led, as they were given."""
        leads = {asked: self.titles.get(title_of(asked)) for asked in self.query.asked}
        return {asked: page for asked, page in leads.items() if page is not None}

    def go_on(self) -> None:
        """To the next name, unless its page was cut."""
        if self.cutter.cut is None:
            self.index += 1

    def end(self) -> Bookmark | None:
        """Where the next answer begins."""
        if self.cutter.cut is not None:
            return self.cutter.cut
        return Bookmark(self.index) if self.index < len(self.query.names) else None


class Taker:
    """Takes what answers are about."""

    def __init__(self, pool: Pool, readings: Readings, namespaces: WikiNamespaces) -> None:
        self._pool = pool
        self._readings = readings
        self._namespaces = namespaces

    async def take(self, query: PageQuery, wiki: StoredWiki, farm: Farm, day: int) -> Taken:
        """What one answer to a query is about; raises StoreError."""
        reading = None
        if not query.is_for_store:
            reading = await self._readings.read(wiki, query, Cutter(query.begin).left)
        if reading is None:
            taking = await self._take_stored(query, wiki, len(query.names))
        elif reading.refused:
            taking = await self._take_stored(query, wiki, query.begin.index + reading.read)
        else:
            taking = self._take_live(query, wiki, day, reading)
        handed_in = () if reading is None else tuple(replace(page, urls=()) for page in reading.pages.values())
        pages, missing = tuple(taking.pages), tuple(taking.missing)
        return Taken(query.wiki, wiki, farm, day, pages, missing, taking.leads(), taking.end(), query.begin, handed_in)

    def _take_live(self, query: PageQuery, wiki: StoredWiki, day: int, reading: ReadPages) -> _Taking:
        taking = _Taking(query, self._readings.earlier(wiki, query))
        end = query.begin.index + reading.read
        while taking.index < end and not taking.cutter.is_full:
            page = reading.pages.get(query.names[taking.index])
            if page is None:
                taking.miss()
            elif taking.is_new(page.page):
                taking.add(_live_page(taking, page, day))
            else:
                taking.lead(page.page)
            taking.go_on()
        return taking

    async def _take_stored(self, query: PageQuery, wiki: StoredWiki, end: int) -> _Taking:
        """The pages as the last pass left them, up to the place `end`, until there is enough."""
        begin = query.begin.index
        async with self._pool.connection() as conn:
            titled: dict[str, int] = {}
            if titles := query.titles[:end]:
                titled = await find_titled(conn, wiki.wiki, titles, await self._namespaces.stored(conn, wiki))
            earlier = {titled[title] for title in query.titles[:begin] if title in titled}
            taking = _Taking(query, set(earlier))
            pages = [name if isinstance(name, int) else titled.get(name) for name in query.names[begin:end]]
            wanted = list(dict.fromkeys(page for page in pages if page is not None and page not in earlier))
            parts: dict[int, StoredPart] = {}
            if wanted:
                index = begin + pages.index(wanted[0])
                parts = await find_stored_parts(conn, wiki, taking.cutter, index, wanted, taking.cutter.left)
        for page in pages:
            if taking.cutter.is_full:
                break
            if page is None or (page not in parts and page not in earlier):
                taking.miss()
            elif taking.is_new(page):
                taking.add(_stored_page(taking, parts[page], wiki))
            else:
                taking.lead(page)
            taking.go_on()
        return taking


def _live_page(taking: _Taking, page: PageLinks, day: int) -> TakenPage:
    part = taking.cutter.take(taking.index, len(page.urls), page.latest, lambda: check_of(page.urls))
    urls = page.urls[part.first : part.end]
    return TakenPage(page.page, page.namespace, page.title, page.latest, part, day, urls, page.interwiki)


async def find_stored_parts(
    conn: Connection, wiki: StoredWiki, cutter: Cutter, index: int, pages: Sequence[int], limit: int
) -> dict[int, StoredPart]:
    """At most `limit` links of stored pages in this order; `index` is the place of the first one in the query.

    It goes on where the answer before ended, or begins anew if it has other links by now. Pages that are not watched,
    and those for which there is no room, are left out. Three statements at most, however many pages.
    """
    first = cutter.first_of(index)
    parts = await list_page_parts(conn, wiki.wiki, pages, first=first, limit=limit)
    part = parts.get(pages[0])
    if part is None or first == 0 or cutter.goes_on(index, part.total, part.page.latest, lambda: part.check):
        return parts
    return parts | await list_page_parts(conn, wiki.wiki, pages[:1], first=0, limit=limit)


def _stored_page(taking: _Taking, stored: StoredPart, wiki: StoredWiki) -> TakenPage:
    part = taking.cutter.take(taking.index, stored.total, stored.page.latest, lambda: stored.check)
    return stored_page(stored, part, wiki)


def stored_page(stored: StoredPart, part: LinkPart, wiki: StoredWiki) -> TakenPage:
    """The links of a page as the store has them, which are that part of it."""
    page = stored.page
    # Of the pass, not of the page: a pass writes only pages that differ, and requests touch them too.
    read = page.touched if wiki.passed is None else wiki.passed
    return TakenPage(
        page.page, page.namespace, page.title, page.latest, part, read, None, keys=page.urls, spam=stored.spam
    )
