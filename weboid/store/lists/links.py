"""Lists of links for readers: the pages that use a URL (W-7), the dead and the doubtful links of a wiki (W-6), and some
pages of each wiki for the start page.

Pages with spam belong to ``store/pages/spam``, recent changes to ``store/lists/changes``. Every list is read in the
order of its key, and one call reads a bounded number of rows, however large the store is.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, NamedTuple, TypeVar

from weboid.core.url.archives import is_archive_host
from weboid.core.url.classify import UrlClass
from weboid.core.url.hosts import reversed_name
from weboid.core.url.keys import UrlKey
from weboid.core.verdict.kept_copies import DEFAULT_SERVICES
from weboid.core.verdict.verdict import Verdict
from weboid.core.verdict.wiki_rules import DEFAULT_RULES, WikiRules, wiki_finding
from weboid.store.db.rows import KnownUrl
from weboid.store.db.statements import Connection, fetch_all, statements
from weboid.store.pages.use import unpacked_keys
from weboid.store.pages.wiki import StoredWiki
from weboid.store.urls.url import find_urls

SQL: Final = statements("lists/links")
BUDGET: Final = 5_000
"""Links that one call reads at most, where only some of them fit."""

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


S = TypeVar("S", Spot, SpotBelow)
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


async def list_dead_links(
    conn: Connection,
    wiki: int,
    *,
    copied: bool | None = None,
    rules: WikiRules = DEFAULT_RULES,
    after: Spot = START,
    limit: int = 100,
) -> ListedLinks[Spot]:
    """The dead links of a wiki in the order of pages, at most `limit` after `after`.

    `copied`: only those with an archived copy, or only those without; then at most `BUDGET` links are read, so a call
    may return few or none and yet a place after which to go on.
    """
    row = {"wiki": wiki, "page": after.page, **after.key._asdict(), "limit": limit + 1}
    if copied is not None:
        row |= {"copied": copied, "offered": OFFERED, "budget": BUDGET}
        found = [columns async for columns in await conn.execute(SQL["list_dead_links_by_copy"], row)]
        fitting = [columns for columns in found if columns[4]]
        last = fitting[limit - 1] if len(fitting) > limit else found[-1] if found and found[-1][5] else None
        spots = [Spot(page, UrlKey(*key)) for page, *key, _, _ in fitting[:limit]]
        links = _still_dead(await _list_links(conn, wiki, spots), rules)
        return ListedLinks(links, None if last is None else Spot(last[0], UrlKey(*last[1:4])))
    spots = [Spot(page, UrlKey(*key)) async for page, *key in await conn.execute(SQL["list_dead_links"], row)]
    links = _still_dead(await _list_links(conn, wiki, spots[:limit]), rules)
    return ListedLinks(links, spots[limit - 1] if len(spots) > limit else None)


async def list_dead_links_below(
    conn: Connection,
    wiki: int,
    domain: str,
    *,
    path: str = "",
    copied: bool | None = None,
    rules: WikiRules = DEFAULT_RULES,
    after: SpotBelow | None = None,
    limit: int = 100,
) -> ListedLinks[SpotBelow]:
    """The dead links of a wiki on a domain (in normal form, no bare public suffix) and all below it, host by host.

    `path` is what their paths begin with, `copied` as for `list_dead_links`; with one of them, at most `BUDGET` links
    are read, so a call may return few or none and yet a place after which to go on.
    """
    first = reversed_name(domain)
    spot = after or SpotBelow(0, 0, "")
    place = {"after": spot.reversed, "after_page": spot.page, "after_url_key": spot.url_key}
    below = {"first": first, "end": first[:-1] + _ALL_BELOW, "path": path}
    bounds = {"budget": BUDGET if path or copied is not None else limit + 1, "limit": limit + 1}
    row = {"wiki": wiki, **below, **place, "copied": copied, "offered": OFFERED, **bounds}
    found = [columns async for columns in await conn.execute(SQL["list_dead_links_below"], row)]
    fitting = [columns for columns in found if columns[5]]
    shown = fitting[:limit]
    last = shown[-1] if len(fitting) > limit else found[-1] if found and found[-1][6] else None
    spots = [Spot(page, UrlKey(*key)) for _, page, *key, _, _ in shown]
    links = _still_dead(await _list_links(conn, wiki, spots), rules)
    return ListedLinks(links, None if last is None else SpotBelow(last[1], last[4], last[0]))


async def list_doubtful_links(
    conn: Connection,
    wiki: int,
    *,
    copied: bool | None = None,
    rules: WikiRules = DEFAULT_RULES,
    after: Spot = START,
    limit: int = 100,
) -> ListedLinks[Spot]:
    """The doubtful links of a wiki in the order of pages; at most 200 pages, and at most `BUDGET` links, are read.
    `copied` as for `list_dead_links`.

    Doubt is not stored, so it is derived from the URLs that the pages use: a call may return few or none and yet a
    place after which to go on.
    """
    pages = await list_stretch(conn, wiki, after.page, limit=_STRETCH)
    spots = [Spot(page, key) for page, keys in pages for key in keys]
    unseen = [spot for spot in spots if spot > after][:BUDGET]
    known = await find_urls(conn, sorted({spot.key for spot in unseen}), wiki)
    doubtful = [spot for spot in unseen if spot.key in known and _is_doubtful(known[spot.key], rules, copied)]
    links = await _list_links(conn, wiki, doubtful[:limit], known)
    if len(doubtful) > limit:
        return ListedLinks(links, doubtful[limit - 1])
    if unseen and unseen[-1] != spots[-1]:
        return ListedLinks(links, unseen[-1])
    at_end = len(pages) < _STRETCH
    return ListedLinks(links, None if at_end else Spot(pages[-1][0] + 1, START.key))


async def list_stretch(conn: Connection, wiki: int, page: int, *, limit: int) -> list[tuple[int, list[UrlKey]]]:
    """At most `limit` pages of a wiki by id, from `page` on, with the URLs that they use."""
    rows = await conn.execute(SQL["list_stretch"], {"wiki": wiki, "page": page, "limit": limit})
    return [(number, unpacked_keys(urls)) async for number, urls in rows]


async def list_titles(conn: Connection, wiki: int, pages: Iterable[int]) -> dict[int, PageTitle]:
    """The titles of pages, by page id; pages that are not watched are missing."""
    row = {"wiki": wiki, "pages": sorted(set(pages))}
    return {columns[0]: PageTitle(*columns) async for columns in await conn.execute(SQL["list_titles"], row)}


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
