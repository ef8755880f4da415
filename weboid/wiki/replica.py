"""The source that reads a wiki's replica by SQL: pages, links and lag as Wikimedia's wiki replicas show them.

The pages of a criterion are selected by its statement ``select_*`` in ``sql/replica``; the connection to the server
belongs to ``wiki/mariadb``. A page's state is read before its links; so if the page changes in between, its mark is the
older one, and the next pass reads the links again.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Collection, Iterator, Sequence
from itertools import islice
from typing import Final, TypeVar

from weboid.core.url.link_kind import InterwikiLink
from weboid.core.wikitext.titles import Namespace, NamespaceNames, PageSpot
from weboid.wiki import source
from weboid.wiki.interwiki import InterwikiMap
from weboid.wiki.mariadb import Access, MariaDb, QueryPatience, Refused, Row, has_statement, statement

_MOST_REDIRECTS: Final = 5
"""Redirects in a row that are followed; MediaWiki's API follows them all."""
_NO_LAG_TABLE: Final = frozenset({1044, 1049, 1142, 1146})
_BATCH_TITLES: Final = 250
_BLOCK_ROWS: Final = 4_096
_UrlsByPage = dict[int, list[str]]
_InterwikiByPage = dict[int, list[InterwikiLink]]
_Links = tuple[tuple[str, ...], tuple[InterwikiLink, ...]]
_NO_LINKS: Final[_Links] = ((), ())
_T = TypeVar("_T")


class ReplicaSource:
    """Pages and links of one wiki from its replica; everything is opened when it is first needed.

    ``namespaces`` are the names of the wiki's namespaces (SiteInfo has them). ``links`` is where the link
    tables are if they are not with the pages (Commons); ``shard`` the section, such as ``s5``, whose lag counts
    (empty: the largest of those that the server reports).
    """

    def __init__(
        self,
        access: Access,
        *,
        interwiki: InterwikiMap,
        namespaces: Sequence[Namespace],
        links: Access | None = None,
        shard: str = "",
        patience: QueryPatience | None = None,
    ) -> None:
        self._db = MariaDb(access, patience)
        self._links = MariaDb(links, patience) if links else self._db
        self._interwiki = interwiki
        self._shard = shard.encode()
        self._names = namespaces
        self._namespaces = NamespaceNames(namespaces)
        self._old_categories = (0, False)

    async def find_namespaces(self) -> Sequence[Namespace]:
        return self._names

    async def walk(self, selection: source.Selection, place: str = "") -> AsyncGenerator[source.WalkBatch, None]:
        """As in WikiSource, by page id; the place is the last id. A place of another source is ignored."""
        after = int(place) if place.isascii() and place.isdigit() else 0
        while True:
            pages, last = await self._stretch(selection, after)
            if last is None:
                return
            after = last
            yield source.WalkBatch(pages, str(after))

    async def find_states(self, ids: Sequence[int]) -> list[source.PageState]:
        found: list[source.PageState] = []
        await self._by_pages(self._db, "states", sorted(set(ids)), lambda rows: list(map(_state, rows)), found.extend)
        return found

    async def find_pages(self, *, ids: Sequence[int] = (), titles: Sequence[str] = ()) -> list[source.PageLinks]:
        """As in WikiSource; a first letter may be lower-case where the wiki's titles begin with capitals."""
        states = {state.page: state for state in await self.find_states(ids)}
        states |= {state.page: state for state in await self._titled(titles)}
        watched = [state for _, state in sorted(states.items()) if state.model == source.WIKITEXT]
        links = await self._links_of([state.page for state in watched])
        return [
            source.PageLinks(
                state.page, state.namespace, state.title, state.latest, state.mark, *links.get(state.page, _NO_LINKS)
            )
            for state in watched
        ]

    async def find_lag_s(self) -> float:
        """As in WikiSource; 0 if there is no lag table: then the database is no replica but the wiki's own."""
        return max([await self._lag_s(db) for db in {self._db, self._links}])

    async def close(self) -> None:
        for db in {self._db, self._links}:
            await db.close()

    async def _stretch(self, selection: source.Selection, after: int) -> tuple[list[source.PageState], int | None]:
        """The next pages of a walk, and the page id of the last row, if there is any."""
        name = selection.statement
        members = f"links_{name.removeprefix('select_')}"
        apart = self._links is not self._db and has_statement(members)
        db = self._links if apart else self._db
        if apart:
            name = members
        elif has_statement(f"{name}_cl_to") and await self._has_old_categories():
            name = f"{name}_cl_to"
        rows, _ = await db.fetch(
            statement(name), lambda pages: {**selection.values, "after": after, "limit": pages}, list[Row]
        )
        last = int(rows[-1][0] or 0) if rows else None
        states = await self.find_states([int(row[0] or 0) for row in rows]) if apart else list(map(_state, rows))
        return states, last

    async def _has_old_categories(self) -> bool:
        """Returns whether ``categorylinks`` has titles, not yet ids of link targets; queried once per connection."""
        known, answer = self._old_categories
        if not known or known != self._db.connects:
            rows = await self._db.list_rows(statement("columns"), {"table": "categorylinks"})
            columns = {row[0] for row in rows}
            answer = b"cl_to" in columns and b"cl_target_id" not in columns
            self._old_categories = self._db.connects, answer
        return answer

    async def _by_pages(
        self,
        db: MariaDb,
        name: str,
        pages: Sequence[int],
        read: Callable[[Iterator[Row]], _T],
        use: Callable[[_T], object],
    ) -> None:
        """Runs a query for many pages, as many at a time as the database manages."""
        left = list(pages)
        while left:
            answer, queried = await db.fetch(statement(name), lambda most: {"pages": left[:most]}, read)
            use(answer)
            del left[:queried]

    async def _links_of(self, pages: Sequence[int]) -> dict[int, _Links]:
        """All links out of the wiki that the pages have, external and interwiki."""
        urls: _UrlsByPage = {}
        interwiki: _InterwikiByPage = {}
        await self._by_pages(self._links, "externallinks", pages, _external, urls.update)
        await self._by_pages(self._links, "iwlinks", pages, self._foreign, interwiki.update)
        return await asyncio.to_thread(_merged, urls, interwiki)

    def _foreign(self, rows: Iterator[Row]) -> _InterwikiByPage:
        found: _InterwikiByPage = defaultdict(list)
        for page, prefix, title in rows:
            if link := self._interwiki.link(_text(prefix), _text(title)):
                found[int(page or 0)].append(link)
        return found

    async def _titled(self, titles: Sequence[str]) -> list[source.PageState]:
        """The pages with these titles, or those that they redirect to."""
        places = {tuple(spots) for title in titles if (spots := self._namespaces.spots(title))}
        found: dict[int, source.PageState] = {}
        for _ in range(_MOST_REDIRECTS + 1):
            states = await self._at(places)
            redirects = [state.page for state in states if state.redirect and state.page not in found]
            found |= {state.page: state for state in states}
            targets: list[PageSpot] = []
            await self._by_pages(self._db, "redirects", redirects, _targets, targets.extend)
            if not targets:
                break
            places = {(target,) for target in targets}
        return [state for state in found.values() if not state.redirect]

    async def _at(self, places: Collection[tuple[PageSpot, ...]]) -> list[source.PageState]:
        """The pages at the first of each of these spots where there is one."""
        by_namespace: dict[int, list[str]] = defaultdict(list)
        for namespace, title in sorted({spot for spots in places for spot in spots}):
            by_namespace[namespace].append(title.replace(" ", "_"))
        found: dict[PageSpot, source.PageState] = {}
        for namespace, titles in by_namespace.items():
            for begin in range(0, len(titles), _BATCH_TITLES):
                some = titles[begin : begin + _BATCH_TITLES]
                rows = await self._db.list_rows(statement("titles"), {"namespace": namespace, "titles": some})
                found |= {PageSpot(namespace, state.title): state for state in map(_state, rows)}
        first = (next((spot for spot in spots if spot in found), None) for spots in places)
        return [found[spot] for spot in first if spot is not None]

    async def _lag_s(self, db: MariaDb) -> float:
        try:
            rows = await db.list_rows(statement("lag"))
        except Refused as refused:
            if refused.code in _NO_LAG_TABLE:
                return 0.0
            raise
        own = [row for row in rows if row[0] == self._shard] or rows
        return max((float(lag or 0) for _, lag in own), default=0.0)


def _state(row: Row) -> source.PageState:
    page, namespace, title, latest, redirect, updated, model = row
    number, name = int(namespace or 0), _text(title)
    return source.PageState(
        page=int(page or 0),
        namespace=number,
        title=source.clean_text(name.replace("_", " ")),
        latest=int(latest or 0),
        mark=int(updated or 0) or None,
        model=source.clean_text(_text(model)) or source.default_model(number, name),
        redirect=int(redirect or 0) != 0,
    )


def _external(rows: Iterator[Row]) -> _UrlsByPage:
    """The URLs by page, in the order of the rows."""
    by_page: dict[bytes | None, list[str]] = defaultdict(list)
    while block := list(islice(rows, _BLOCK_ROWS)):
        pages, indexes, paths = zip(*block, strict=True)
        for page, url in zip(pages, source.stored_urls(indexes, list(map(_text, paths))), strict=True):
            by_page[page].append(url)
    return {int(page or 0): urls for page, urls in by_page.items()}


def _merged(urls: _UrlsByPage, interwiki: _InterwikiByPage) -> dict[int, _Links]:
    pages = urls.keys() | interwiki.keys()
    return {page: source.all_links(urls.get(page, ()), interwiki.get(page, ())) for page in pages}


def _targets(rows: Iterator[Row]) -> list[PageSpot]:
    return [PageSpot(int(namespace or 0), _text(title).replace("_", " ")) for _, namespace, title in rows]


def _text(value: bytes | None) -> str:
    return (value or b"").decode(errors="replace")
