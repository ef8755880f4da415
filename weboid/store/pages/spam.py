"""Spam lists as they were last fetched (L-3), and the links that are spam on a page (L-8).

``core/url/spam_lines`` matches lines, ``feed/spam`` fetches lists. A link of a watched page is a use or it is spam,
never both; both are changed in the same transaction.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import IntEnum
from typing import Any, Final, NamedTuple

from weboid.core.url.keys import UrlKey
from weboid.core.url.spam_lines import SpamLines
from weboid.core.url.urls import Url
from weboid.store.db.rows import key_columns, url_of
from weboid.store.db.statements import Connection, fetch_all, fetch_by_key, fetch_value, statements
from weboid.store.pages.use import Differences, Use, begin_intake, record_page_urls, record_uses, unpacked_keys

SQL: Final = statements("pages/spam")
PAGE_SQL: Final = statements("pages/page")
MOST_PAGES: Final = 10_000
"""Pages with spam that are counted or sorted at most."""
_LEAST: Final = -(2**62)
_HALVES: Final = re.compile("[\ud800-\udfff]")
_EDGES: Final = "".join(map(chr, range(0x21)))

FARM: Final = ""
"""Instead of a wiki's name: the list is the farm's own."""

UNAPPLIED: Final = 0
"""The day of a list that is stored while not all links that it concerns have been judged by it."""


class ListKind(IntEnum):
    """Lists that forbid, and lists that allow; the numbers are stored."""

    BLACK = 0
    WHITE = 1


@dataclass(frozen=True, slots=True)
class SpamList:
    """A list of a wiki, or of a farm (`dbname` FARM), as fetched and applied on `day`.

    `unusable` has the lines that cannot be run, each with the reason.
    """

    farm: int
    dbname: str
    kind: ListKind
    day: int
    lines: tuple[str, ...]
    unusable: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SpamPage:
    """A page with `links`, the number of its links that are spam, and the day on which the newest was met, if known."""

    page: int
    namespace: int
    title: str
    links: int
    day: int | None = None


SpamUses = Mapping[int, Mapping[UrlKey, str]]
"""By page the URLs that are spam there, as the page gives them."""


@dataclass(slots=True)
class Reclassified:
    """The number of links that became spam, and of those that are spam no longer."""

    spam_new: int = 0
    spam_gone: int = 0

    def __iadd__(self, other: "Reclassified") -> "Reclassified":
        self.spam_new += other.spam_new
        self.spam_gone += other.spam_gone
        return self


def spam_list(farm: int, dbname: str, kind: ListKind, day: int, lines: SpamLines) -> SpamList:
    """A list as it is stored."""
    unusable = tuple(f"{line}: {reason}" for line, reason in lines.unusable)
    return SpamList(farm, dbname, kind, day, lines.usable, unusable)


async def list_spam_lists(conn: Connection, farm: int, dbname: str) -> list[SpamList]:
    """The lists that apply to a wiki: its farm's and its own; for FARM only the farm's. Never those of other wikis."""
    rows = await conn.execute(SQL["list_lists"], {"farm": farm, "dbnames": sorted({FARM, dbname})})
    return [
        SpamList(farm, of, ListKind(kind), day, _split(lines), _split(unusable))
        async for of, kind, day, lines, unusable in rows
    ]


async def list_stamps(conn: Connection, farm: int, dbname: str) -> dict[str, tuple[str, ...]]:
    """By name (that of the wiki, and FARM) a stamp that changes whenever the lists of that name change.

    Until the caller's transaction ends, no other transaction changes these lists.
    """
    stamps: dict[str, tuple[str, ...]] = {FARM: (), dbname: ()}
    async for of, kind, stamp in await conn.execute(SQL["list_stamps"], {"farm": farm, "dbnames": list(stamps)}):
        stamps[of] += (f"{kind} {stamp}",)
    return stamps


async def are_in_force(conn: Connection, stamps: Mapping[int, tuple[tuple[str, ...], tuple[str, ...]] | None]) -> bool:
    """Returns whether the lists of these wikis, by number, still have these stamps, of the farm's and of their own.

    If so, no other transaction changes these lists until the caller's ends. Wikis without stamps do not count (D-447).
    """
    expected = {wiki: stamp for wiki, stamp in stamps.items() if stamp is not None}
    if not expected:
        return True
    now: dict[int, tuple[list[str], list[str]]] = {wiki: ([], []) for wiki in expected}
    async for wiki, of, kind, stamp in await conn.execute(SQL["list_stamps_of"], {"wikis": sorted(expected)}):
        now[wiki][of != FARM].append(f"{kind} {stamp}")
    return all((tuple(farm), tuple(own)) == tuple(expected[wiki]) for wiki, (farm, own) in now.items())


async def record_spam_list(conn: Connection, spam: SpamList) -> None:
    """Stores a list in place of the one before."""
    texts = {"lines": "\n".join(spam.lines), "unusable": "\n".join(spam.unusable)}
    await conn.execute(SQL["record_list"], {**asdict(spam), "kind": int(spam.kind), **texts})


async def record_applied(conn: Connection, farm: int, dbname: str, day: int) -> None:
    """Records that all links are judged by the lists of a wiki, or of FARM, as they were fetched on that day."""
    await conn.execute(SQL["record_applied"], {"farm": farm, "dbname": dbname, "day": day})


async def list_spam_links(conn: Connection, wiki: int, pages: Iterable[int]) -> dict[int, dict[UrlKey, str]]:
    """The spam links of pages of a wiki, as the pages give them; pages without any are left out."""
    found: dict[int, dict[UrlKey, str]] = {}
    rows = await conn.execute(SQL["list_spam_links"], {"wiki": wiki, "pages": sorted(pages)})
    async for page, *key, url in rows:
        found.setdefault(page, {})[UrlKey(*key)] = url
    return found


async def list_spam_parts(
    conn: Connection, wiki: int, parts: Mapping[int, tuple[int, int]]
) -> dict[int, dict[UrlKey, str]]:
    """Some spam links of pages, by key: `parts` has by page the number of the first one, and the most to list.

    No statement if no page is given; pages without any are left out.
    """
    found: dict[int, dict[UrlKey, str]] = {}
    if parts:
        firsts, limits = zip(*parts.values(), strict=True)
        values = {"wiki": wiki, "page": list(parts), "first": list(firsts), "limit": list(limits)}
        async for page, *key, url in await conn.execute(SQL["list_spam_parts"], values):
            found.setdefault(page, {})[UrlKey(*key)] = url
    return found


async def is_spam_somewhere(conn: Connection, key: UrlKey) -> bool:
    """Returns whether the URL is spam on any page of any wiki."""
    return await (await conn.execute(SQL["is_spam_somewhere"], key._asdict())).fetchone() is not None


async def record_spam_links(conn: Connection, wiki: int, spam: SpamUses, day: int | None = None) -> Reclassified:
    """Makes these the only spam links of the given pages, the new ones since `day`; only differences are written."""
    had = await list_spam_links(conn, wiki, spam)
    added = {
        page: {key: url for key, url in urls.items() if had.get(page, {}).get(key) != _storable(url)}
        for page, urls in spam.items()
    }
    gone = [(page, key) for page, keys in had.items() for key in keys.keys() - spam[page].keys()]
    await record_spam_added(conn, wiki, added, day)
    await record_spam_links_gone(conn, wiki, gone)
    new = sum(key not in had.get(page, {}) for page, urls in added.items() for key in urls)
    return Reclassified(new, len(gone))


async def record_spam_added(conn: Connection, wiki: int, added: SpamUses, day: int | None = None) -> None:
    """Adds links that are spam on pages of a wiki to those that are known."""
    rows = sorted((page, key, url) for page, urls in added.items() for key, url in urls.items())
    if rows:
        columns = {**_use_columns([(page, key) for page, key, _ in rows]), "url": [_storable(url) for *_, url in rows]}
        await conn.execute(SQL["record_spam_links"], {"wiki": wiki, "day": day, **columns})


async def record_spam_links_gone(conn: Connection, wiki: int, gone: Iterable[Use]) -> list[Use]:
    """Deletes links that are no longer spam, or no longer there; returns those that were known."""
    uses = sorted(gone)
    if not uses:
        return []
    rows = await conn.execute(SQL["record_spam_links_gone"], {"wiki": wiki, **_use_columns(uses)})
    return [(page, UrlKey(*key)) async for page, *key in rows]


async def record_spam_pages_gone(conn: Connection, wiki: int, pages: Sequence[int]) -> None:
    """Deletes the spam links of pages that are no longer watched."""
    await conn.execute(SQL["record_pages_gone"], {"wiki": wiki, "pages": sorted(pages)})


class SpamSpot(NamedTuple):
    """A page in a list of pages with spam: the place after which it goes on; `links` 0 in a list by id."""

    links: int
    page: int


async def list_spam_pages(
    conn: Connection,
    wiki: int,
    *,
    namespace: int | None = None,
    by_links: bool = False,
    after: SpamSpot = SpamSpot(0, 0),  # noqa: B008 - immutable
    limit: int = 100,
) -> tuple[list[SpamPage], SpamSpot | None]:
    """At most `limit` pages of a wiki with spam, by id or those with the most first, and where to go on (W-6).

    At most `MOST_PAGES` are looked at: by id there may be few or none and yet a place; `by_links` only a list of up to
    so many is complete.
    """
    most = MOST_PAGES if by_links or namespace is not None else limit + 1
    first, rank = (0, -after.links if after.links else _LEAST) if by_links else (after.page, 0)
    row = {"wiki": wiki, "namespace": namespace, "first": first, "most": most, "limit": limit + 1}
    places = {"sign": -1 if by_links else 0, "after_rank": rank, "after_page": after.page}
    pages = await fetch_all(conn, SpamPage, SQL["list_pages"], row | places)
    if len(pages) > limit:
        last = pages[limit - 1]
        return pages[:limit], SpamSpot(last.links if by_links else 0, last.page)
    end = None if by_links or namespace is None else await fetch_value(conn, SQL["find_last_page"], row)
    return pages, None if end is None else SpamSpot(0, end)


async def list_newest_spam(
    conn: Connection, wiki: int, *, namespace: int | None = None, limit: int = 100
) -> list[SpamPage]:
    """The pages on which spam was met last, with the newest links alone; of the last `MOST_PAGES` links."""
    row = {"wiki": wiki, "namespace": namespace, "most": MOST_PAGES, "limit": limit}
    return await fetch_all(conn, SpamPage, SQL["list_newest_pages"], row)


async def count_spam_pages(conn: Connection, wiki: int, namespace: int | None = None) -> tuple[int, bool]:
    """The number of pages of a wiki with spam, of the first `MOST_PAGES`, and whether these are all."""
    row = {"wiki": wiki, "most": MOST_PAGES + 1}
    total: int = await fetch_value(conn, SQL["count_pages"], row | {"namespace": None}) or 0
    found = total if namespace is None else await fetch_value(conn, SQL["count_pages"], row | {"namespace": namespace})
    return min(found or 0, MOST_PAGES), total <= MOST_PAGES


@dataclass(frozen=True, slots=True)
class SpamBatch:
    """Some pages of a wiki in order of their ids: what they use, what is spam there, and the URLs that they use."""

    last: int
    uses: Mapping[int, Sequence[UrlKey]]
    spam: SpamUses
    urls: Mapping[UrlKey, Url]


async def find_stretch(conn: Connection, wiki: int, after: int, limit: int) -> SpamBatch | None:
    """The next `limit` pages of a wiki after page `after`; None if there is none."""
    rows = await conn.execute(SQL["list_stretch"], {"wiki": wiki, "after": after, "limit": limit})
    uses = {page: unpacked_keys(urls) async for page, urls in rows}
    if not uses:
        return None
    keys = {key for keys in uses.values() for key in keys}
    urls = {key: url_of(row) for key, row in await fetch_by_key(conn, SQL["list_urls"], keys)}
    return SpamBatch(max(uses), uses, await list_spam_links(conn, wiki, uses), urls)


async def record_reclassified(
    conn: Connection, wiki: int, now_spam: SpamUses, no_spam: Mapping[int, Mapping[UrlKey, Url]], day: int
) -> Reclassified:
    """Turns uses into spam links and spam links into uses, unless they have changed since they were judged.

    The pages are locked, so an intake of one of them comes before or after. URLs without any other use are orphaned,
    and dead links are added and removed (U-8, U-10).
    """
    pages = sorted(now_spam.keys() | no_spam.keys())
    if not pages:
        return Reclassified()
    await begin_intake(conn)
    rows = await conn.execute(PAGE_SQL["list_urls_of"], {"wiki": wiki, "pages": pages})
    known = {page: set(unpacked_keys(urls)) async for page, urls in rows}
    there = await list_spam_links(conn, wiki, known)
    differences = Differences(
        added=[(page, key) for page in known for key in no_spam.get(page, {}) if key in there.get(page, {})],
        gone=[(page, key) for page in known for key in now_spam.get(page, {}) if key in known[page]],
    )
    urls = {key: no_spam[page][key] for page, key in differences.added}
    await record_uses(conn, {wiki: differences}, urls, day)
    await record_spam_links_gone(conn, wiki, differences.added)
    added: dict[int, dict[UrlKey, str]] = {}
    changed: dict[int, set[UrlKey]] = {}
    for page, key in differences.added:
        changed.setdefault(page, set(known[page])).add(key)
    for page, key in differences.gone:
        added.setdefault(page, {})[key] = now_spam[page][key]
        changed.setdefault(page, set(known[page])).discard(key)
    await record_spam_added(conn, wiki, added, day)
    await record_page_urls(conn, wiki, changed)
    return Reclassified(len(differences.gone), len(differences.added))


def _use_columns(uses: Sequence[Use]) -> dict[str, list[Any]]:
    return {"page": [page for page, _ in uses], **key_columns(key for _, key in uses)}


def _storable(url: str) -> str:
    """The link in a form that PostgreSQL can store; its normal form is the same as that of the given link."""
    return _HALVES.sub("\ufffd", url.strip(_EDGES).replace("\0", "%00"))


def _split(text: str) -> tuple[str, ...]:
    return tuple(text.split("\n")) if text else ()
