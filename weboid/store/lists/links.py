"""Lists of links for readers: the pages that use a URL (W-7), the dead and the doubtful links of a wiki (W-6), and some
pages of each wiki for the start page.

Pages with spam belong to ``store/pages/spam``, recent changes to ``store/lists/changes``. Every list is read in the
order of its key, and one call reads a bounded number of rows, however large the store is.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, Generic, NamedTuple, TypeVar

from weboid.core.url.archives import is_archive_host
from weboid.core.url.classify import UrlClass
from weboid.core.url.hosts import reversed_name
from weboid.core.url.keys import UrlKey
from weboid.core.verdict.kept_copies import DEFAULT_SERVICES
from weboid.core.verdict.verdict import Verdict
from weboid.core.verdict.wiki_rules import DEFAULT_RULES, WikiRules, wiki_finding
from weboid.store.db.rows import KnownUrl, columns_of
from weboid.store.db.statements import Connection, fetch_all, fetch_value, statements
from weboid.store.lists.health import Amount, Exactness
from weboid.store.pages.use import unpacked_keys
from weboid.store.pages.wiki import StoredWiki
from weboid.store.urls.url import find_urls

SQL: Final = statements("lists/links")
BUDGET: Final = 5_000
"""Links that one call reads at most, where only some of them fit."""
MOST_COUNTED: Final = 10_000
"""Dead links of a list that are counted, or sorted by day where no index does that."""
_LOOKED_AT: Final = 1_000
"""Links that are looked at together."""

_STRETCH: Final = 200
_LEAST: Final = -(2**63)
_ALL_BELOW: Final = "/"
"""The character after the dot with which a reversed name ends."""


class UsingPage(NamedTuple):
    """A page of any wiki; a list goes on after its `wiki` and `page`."""

    wiki: int
    dbname: str
    page: int
    namespace: int
    title: str


class PageTitle(NamedTuple):
    """The title of a page of the wiki at hand, without the prefix of its namespace."""

    page: int
    namespace: int
    title: str


@dataclass(frozen=True, slots=True)
class PageAtAGlance:
    """A page with the number of its `dead` links, and of those that are `repaired` there (L-10)."""

    page: int
    namespace: int
    title: str
    dead: int
    repaired: int


@dataclass(frozen=True, slots=True)
class PageLink:
    """A link of a page with all that is known of its URL."""

    page: PageTitle
    known: KnownUrl


class Spot(NamedTuple):
    """A link in the order of pages: the place after which a list goes on."""

    page: int
    key: UrlKey


class SpotBelow(NamedTuple):
    """A link in the order of a domain's hosts: the place after which a list goes on."""

    page: int
    url_key: int
    reversed: str


S = TypeVar("S", Spot, SpotBelow, "DeadSpot")
OFFERED: Final = sorted(DEFAULT_SERVICES)
"""The archives whose copies can be shown."""
START: Final = Spot(0, UrlKey(0, _LEAST, _LEAST))


@dataclass(frozen=True, slots=True)
class ListedLinks(Generic[S]):
    """Some links, and the place after which to go on; None at the end."""

    links: tuple[PageLink, ...]
    after: S | None


async def list_uses(
    conn: Connection,
    key: UrlKey,
    wiki: StoredWiki,
    *,
    as_spam: bool = False,
    after: tuple[int, int] | None = None,
    limit: int = 100,
) -> list[UsingPage]:
    """At most `limit` pages that use a URL: the wiki's own, then others of its farm, never of another farm (P-1).

    `as_spam`: the wiki's own pages on which the URL is spam (L-8); other wikis' spam lists are never shown (L-3).
    """
    after_wiki, after_page = after or (wiki.wiki, 0)
    spot = {"after_wiki": after_wiki, "after_page": after_page}
    row = {**key._asdict(), "farm": wiki.farm, "own": wiki.wiki, **spot, "limit": limit}
    return await fetch_all(conn, UsingPage, SQL["list_spam_uses" if as_spam else "list_uses"], row)


class Order(IntEnum):
    """The orders of a list of dead links: by page, with a domain by host; or by the day since when they are dead."""

    PLACE = 0
    OLDEST = 1
    NEWEST = -1


class DeadSpot(NamedTuple):
    """A dead link in any order: where a list goes on. `reversed` is its host, in a list by host only."""

    reversed: str
    since: int
    page: int
    bucket: int
    host_key: int
    url_key: int

    @property
    def key(self) -> UrlKey:
        """The key of its URL."""
        return UrlKey(self.bucket, self.host_key, self.url_key)


@dataclass(frozen=True, slots=True)
class DeadFilter:
    """The dead links of a list: on a `domain` (in normal form, no bare public suffix) and all below it, on these
    `pages` only, whose paths begin with `path`, in a `namespace`, with an archived copy or without, `repaired` on
    their page or not; None or empty = any.
    """

    domain: str = ""
    pages: tuple[int, ...] | None = None
    path: str = ""
    namespace: int | None = None
    copied: bool | None = None
    repaired: bool | None = None

    @property
    def has_conditions(self) -> bool:
        """True if the links have to be looked at one by one."""
        return bool(self.path) or (self.namespace, self.copied, self.repaired) != (None, None, None)


ALL_DEAD: Final = DeadFilter()
_BEFORE: Final = DeadSpot("", 0, 0, 0, _LEAST, _LEAST)
_BEFORE_NEWEST: Final = DeadSpot("", 2**15 - 1, 2**31 - 1, 2**15 - 1, 2**63 - 1, 2**63 - 1)


async def list_dead_links(
    conn: Connection,
    wiki: int,
    wanted: DeadFilter = ALL_DEAD,
    order: Order = Order.PLACE,
    *,
    rules: WikiRules = DEFAULT_RULES,
    after: DeadSpot | None = None,
    limit: int = 100,
) -> ListedLinks[DeadSpot]:
    """The dead links of a wiki, at most `limit` after `after`.

    Where conditions are to be met at most `BUDGET` links are looked at, so a call may return few or none and yet a
    place after which to go on. By day, and of given pages, only a list of up to `MOST_COUNTED` links is complete.
    """
    # What no index has in this order is sorted anew for each stretch.
    stretch = BUDGET if wanted.domain or wanted.pages is not None else min(BUDGET, _LOOKED_AT)
    spot, size = after, stretch if wanted.has_conditions else limit + 1
    found: list[DeadSpot] = []
    last: DeadSpot | None = None
    for _ in range(-(-BUDGET // size)):
        candidates = await _list_candidates(conn, wiki, wanted, order, spot, size)
        found += await _list_fitting(conn, wiki, candidates, wanted)
        last = spot = candidates[-1] if len(candidates) == size else None
        if len(found) > limit or spot is None:
            break
    if len(found) > limit:
        last = found[limit - 1]
    spots = found[:limit]
    links = await _list_links(conn, wiki, [Spot(spot.page, spot.key) for spot in spots])
    return ListedLinks(_still_dead(links, rules), last)


async def list_newest_dead(conn: Connection, wiki: int, wanted: DeadFilter) -> list[DeadSpot]:
    """The places of dead links, those first that are dead since the newest day; `MOST_COUNTED` are looked at."""
    candidates = await _list_candidates(conn, wiki, wanted, Order.NEWEST, None, MOST_COUNTED)
    return await _list_fitting(conn, wiki, candidates, wanted)


async def count_dead_links(conn: Connection, wiki: int, wanted: DeadFilter = ALL_DEAD) -> Amount:
    """The number of dead links that a list has; of more than `MOST_COUNTED` so many are looked at."""
    if not wanted.has_conditions:
        name = "count_dead_links_below" if wanted.domain else "count_dead_links"
        name = name if wanted.pages is None else "count_dead_links_of_pages"
        row = {"wiki": wiki, **_bounds_of(wanted), "limit": MOST_COUNTED + 1}
        count = await fetch_value(conn, SQL[name], row) or 0
        return Amount(min(count, MOST_COUNTED), Exactness.AT_LEAST if count > MOST_COUNTED else Exactness.EXACT)
    candidates = await _list_candidates(conn, wiki, wanted, Order.PLACE, None, MOST_COUNTED + 1)
    fitting = await _list_fitting(conn, wiki, candidates[:MOST_COUNTED], wanted)
    return Amount(len(fitting), Exactness.AT_LEAST if len(candidates) > MOST_COUNTED else Exactness.EXACT)


async def _list_candidates(
    conn: Connection, wiki: int, wanted: DeadFilter, order: Order, after: DeadSpot | None, size: int
) -> list[DeadSpot]:
    """The next dead links whose place is the wanted one, whatever the conditions."""
    spot = after or (_BEFORE_NEWEST if order is Order.NEWEST else _BEFORE)
    match wanted, order:
        case DeadFilter(pages=tuple()), _:
            name = "list_dead_links_of_pages"
        case DeadFilter(domain=""), _:
            name = {Order.PLACE: "list_dead_links", Order.OLDEST: "list_oldest", Order.NEWEST: "list_newest"}[order]
        case _, Order.PLACE:
            name = "list_dead_links_below"
        case _:
            name = "list_below_by_day"
    bounds = {"begins": after is None, "sign": order.value, "most": MOST_COUNTED + 1, "limit": size}
    row = {"wiki": wiki, **spot._asdict(), **_bounds_of(wanted), **bounds}
    return await fetch_all(conn, DeadSpot, SQL[name], row)


def _bounds_of(wanted: DeadFilter) -> dict[str, Any]:
    """The domain as a range of reversed names, and the pages."""
    first = reversed_name(wanted.domain) if wanted.domain else ""
    return {"first": first, "end": first[:-1] + _ALL_BELOW, "pages": list(wanted.pages or ())}


async def _list_fitting(conn: Connection, wiki: int, candidates: list[DeadSpot], wanted: DeadFilter) -> list[DeadSpot]:
    """Those of these links that meet the conditions, in their order."""
    if not candidates or not wanted.has_conditions:
        return candidates
    conditions = {"path": wanted.path, "namespace": wanted.namespace, "repaired": wanted.repaired}
    links = {"wiki": wiki, **columns_of(candidates, "page bucket host_key url_key")}
    row = {**links, **conditions, "copied": wanted.copied, "offered": OFFERED}
    return [candidates[place - 1] for (place,) in await (await conn.execute(SQL["list_fitting"], row)).fetchall()]


async def list_doubtful_links(
    conn: Connection,
    wiki: int,
    wanted: DeadFilter = ALL_DEAD,
    *,
    rules: WikiRules = DEFAULT_RULES,
    after: Spot = START,
    limit: int = 100,
) -> ListedLinks[Spot]:
    """The doubtful links of a wiki in the order of pages; at most 200 pages, and at most `BUDGET` links, are read.
    Of the filter pages, namespace and copies count.

    Doubt is not stored, so it is derived from the URLs that the pages use: a call may return few or none and yet a
    place after which to go on.
    """
    pages = await list_stretch(conn, wiki, after.page, of=wanted.pages, limit=_STRETCH)
    there = {page for page, _ in pages}
    if wanted.namespace is not None:
        titles = await list_titles(conn, wiki, there)
        there = {page for page, title in titles.items() if title.namespace == wanted.namespace}
    spots = [Spot(page, key) for page, keys in pages if page in there for key in keys]
    unseen = [spot for spot in spots if spot > after][:BUDGET]
    known = await find_urls(conn, sorted({spot.key for spot in unseen}), wiki)
    doubtful = [spot for spot in unseen if spot.key in known and _is_doubtful(known[spot.key], rules, wanted.copied)]
    links = await _list_links(conn, wiki, doubtful[:limit], known)
    if len(doubtful) > limit:
        return ListedLinks(links, doubtful[limit - 1])
    if unseen and unseen[-1] != spots[-1]:
        return ListedLinks(links, unseen[-1])
    at_end = len(pages) < _STRETCH
    return ListedLinks(links, None if at_end else Spot(pages[-1][0] + 1, START.key))


async def list_stretch(
    conn: Connection, wiki: int, page: int, *, of: Sequence[int] | None = None, limit: int
) -> list[tuple[int, list[UrlKey]]]:
    """At most `limit` pages of a wiki by id, from `page` on, with the URLs that they use; `of`: of these pages only."""
    name = "list_stretch" if of is None else "list_stretch_of"
    row = {"wiki": wiki, "page": page, "limit": limit} | ({} if of is None else {"pages": list(of)})
    rows = await conn.execute(SQL[name], row)
    return [(number, unpacked_keys(urls)) async for number, urls in rows]


async def list_titles(conn: Connection, wiki: int, pages: Iterable[int]) -> dict[int, PageTitle]:
    """The titles of pages, by page id; pages that are not watched are missing."""
    row = {"wiki": wiki, "pages": sorted(set(pages))}
    return {columns[0]: PageTitle(*columns) async for columns in await conn.execute(SQL["list_titles"], row)}


async def list_dead_of_pages(conn: Connection, wiki: int, pages: Sequence[int]) -> list[PageAtAGlance]:
    """Those of these pages of a wiki that are watched, with their dead links by the last pass and the newest checks."""
    row = {"wiki": wiki, "pages": sorted(pages)}
    return await fetch_all(conn, PageAtAGlance, SQL["list_dead_of_pages"], row)


async def list_first_pages(conn: Connection, wikis: Sequence[int], *, limit: int) -> dict[int, list[PageAtAGlance]]:
    """For each of these wikis at most `limit` of its pages, those with the lowest ids."""
    found: dict[int, list[PageAtAGlance]] = {wiki: [] for wiki in wikis}
    async for wiki, *row in await conn.execute(SQL["list_first_pages"], {"wikis": list(wikis), "limit": limit}):
        found[wiki].append(PageAtAGlance(*row))
    return found


async def _list_links(
    conn: Connection, wiki: int, spots: Sequence[Spot], known: dict[UrlKey, KnownUrl] | None = None
) -> tuple[PageLink, ...]:
    """The links with what is known of their URLs; links that are deleted meanwhile are left out."""
    if not spots:
        return ()
    titles = await list_titles(conn, wiki, (spot.page for spot in spots))
    if known is None:
        known = await find_urls(conn, sorted({spot.key for spot in spots}), wiki)
    return tuple(
        PageLink(titles[spot.page], known[spot.key]) for spot in spots if spot.page in titles and spot.key in known
    )


def _still_dead(links: Iterable[PageLink], rules: WikiRules) -> tuple[PageLink, ...]:
    """Without links that are shown otherwise by now: as probably reachable (H-3), or as the wiki has lately said."""
    return tuple(link for link in links if verdict_on(link.known, rules) is Verdict.DEAD)


def verdict_on(known: KnownUrl, rules: WikiRules) -> Verdict:
    """The verdict on a watched URL for a wiki with these rules, as it is shown."""
    flags = rules.flags_of(known.url)
    return wiki_finding(UrlClass.WATCHED, rules, flags, known.record, known.host, known.claims).verdict


def _is_doubtful(known: KnownUrl, rules: WikiRules, copied: bool | None) -> bool:
    if verdict_on(known, rules) is not Verdict.DOUBTFUL:
        return False
    return copied is None or fits_copied(known, copied)


def fits_copied(known: KnownUrl, copied: bool) -> bool:
    """Returns whether a URL has an archived copy, or needs one and has none."""
    has = any(each.archive in OFFERED for each in known.kept.snapshots) or bool(known.claims.archives)
    return has is copied and not is_archive_host(known.url.host)
