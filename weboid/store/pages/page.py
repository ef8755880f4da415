"""Pages with the URLs that they use (P-3, L-7): new data is compared with stored data, and differences are written.

``core/url/classify`` has decided before which URLs of a page are watched; changes of other tables by a use belong to
``store/pages/use``. After `record_intake` the tables page, url, host, link and dead agree on the given pages.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import repeat
from operator import attrgetter
from typing import Any, Final

from weboid.core.record.days import iso
from weboid.core.url.keys import UrlKey
from weboid.core.url.urls import Url
from weboid.store.db.rows import columns_of
from weboid.store.db.statements import COPIED, Connection, statements, write_rows
from weboid.store.pages.spam import list_spam_links, record_spam_added, record_spam_links, record_spam_pages_gone
from weboid.store.pages.use import Differences, begin_intake, packed_keys, record_page_urls, record_uses, unpacked_keys

SQL: Final = statements("pages/page")

_SETTLING_DAYS: Final = 7
"""So long after its mark a page is read by each pass: MediaWiki's jobs move the mark first, and the links later."""


@dataclass(frozen=True, slots=True)
class PageUrls:
    """A page with its watched URLs by key; `latest` and `mark` are those of `PageState`.

    `spam` has the links that are spam on it (L-3), as the page gives them; none of them is in `urls`.
    """

    page: int
    namespace: int
    title: str
    latest: int
    mark: int | None
    urls: Mapping[UrlKey, Url]
    spam: Mapping[UrlKey, str] = field(default_factory=dict)
    keys: bytes = field(init=False, repr=False, compare=False)
    """Those of `urls`, packed: made before anything is locked."""

    def is_settling(self, day: int) -> bool:
        """Returns whether on that day the links may still follow the mark, so that they have to be read again (P-5)."""
        first, last = (iso(each).replace("-", "") for each in (day - _SETTLING_DAYS, day + 1))
        return self.mark is not None and int(f"{first}000000") <= self.mark <= int(f"{last}235959")

    def __post_init__(self) -> None:
        object.__setattr__(self, "keys", packed_keys(self.urls))


@dataclass(slots=True)
class Intake:
    """The totals of what an intake has changed."""

    pages: int = 0
    pages_new: int = 0
    pages_changed: int = 0
    pages_gone: int = 0
    links: int = 0
    links_new: int = 0
    links_gone: int = 0
    urls_new: int = 0

    def __iadd__(self, other: "Intake") -> "Intake":
        for name in Intake.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self


Added = tuple[Mapping[UrlKey, Url], Mapping[UrlKey, str]]
"""Links that an edit added to a page: URLs that are watched, and links that are spam there, as the page gives them."""


@dataclass(frozen=True, slots=True)
class PageChanges:
    """The changes of one transaction on the pages of a wiki.

    `read` pages (each given at most once) are brought up to date, and their flags are cleared; only new ones are
    touched (D-33). `as_of` is the moment of what was read: pages to which a later event has added links are left as
    they are, for the next pass. To pages in `added`, by page id, what edits added (at the moments `added_at`) is
    recorded; those that are not watched are skipped (P-6, P-10). Pages in `gone` are not watched any more: their
    records and uses are deleted, URLs without any other use are orphaned (P-5, U-8).
    """

    read: Sequence[PageUrls] = ()
    added: Mapping[int, Added] = field(default_factory=dict)
    added_at: Mapping[int, datetime] = field(default_factory=dict)
    gone: Sequence[int] = ()
    as_of: datetime | None = None


async def record_intake(conn: Connection, changes: Mapping[int, PageChanges], day: int) -> Intake:
    """Records changes on pages, by wiki, in the caller's transaction, which may call this only once, as everything is
    locked in one order: the pages of all wikis, then their URLs, then the hosts.
    """
    total = Intake()
    wikis = {wiki: each for wiki, each in sorted(changes.items()) if each.read or each.added or each.gone}
    if not wikis:
        return total
    await begin_intake(conn)
    plans = [await _planned(conn, wiki, each, day) for wiki, each in wikis.items()]
    urls = plans[0].urls if len(plans) == 1 else {key: url for plan in plans for key, url in plan.urls.items()}
    total.urls_new = await record_uses(conn, {plan.wiki: plan.differences for plan in plans}, urls, day)
    for plan in plans:
        total += await _record_plan(conn, plan, day)
    return total


@dataclass(slots=True)
class _Plan:
    """The writes for a wiki, from its pages as they are now, locked."""

    wiki: int
    changes: PageChanges
    known: dict[int, tuple[Any, ...]]
    differences: Differences = field(default_factory=Differences)
    urls: dict[UrlKey, Url] = field(default_factory=dict)
    changed: list[PageUrls] = field(default_factory=list)
    seen: list[PageUrls] = field(default_factory=list)
    grown: dict[int, set[UrlKey]] = field(default_factory=dict)
    """Pages to which edits added something, with all of their URLs."""
    released: list[int] = field(default_factory=list)


async def _planned(conn: Connection, wiki: int, changes: PageChanges, day: int) -> _Plan:
    """Locks the pages and compares them with the changes."""
    read = {page.page: page for page in sorted(changes.read, key=attrgetter("page"))}
    pages = sorted({*read, *changes.added, *changes.gone})
    rows = await conn.execute(SQL["list_known"], {"wiki": wiki, "pages": pages, "as_of": changes.as_of})
    plan = _Plan(wiki, changes, {row[0]: row async for row in rows})
    plan.released = sorted(plan.known.keys() & set(changes.gone))
    for page in read.values():
        _plan_read(plan, page, day)
    for page_id in plan.released:
        plan.differences.gone += [(page_id, key) for key in _urls_of(plan.known[page_id])]
    await _plan_added(conn, plan)
    return plan


def _plan_read(plan: _Plan, page: PageUrls, day: int) -> None:
    *before, urls, flagged, has_grown = plan.known.get(page.page, (None, b"", False, False))
    if has_grown:
        return
    if before == [page.page, page.namespace, page.title, page.latest, page.mark] and urls == page.keys:
        if flagged != page.is_settling(day):
            plan.seen.append(page)
        return
    plan.changed.append(page)
    if urls != page.keys:
        had = set(unpacked_keys(urls))
        plan.differences.added += zip(repeat(page.page), page.urls.keys() - had if had else page.urls, strict=False)
        plan.differences.gone += zip(repeat(page.page), had - page.urls.keys(), strict=False)
        plan.urls |= page.urls


async def _plan_added(conn: Connection, plan: _Plan) -> None:
    added = plan.changes.added
    known = {page: _urls_of(plan.known[page]) for page in sorted(plan.known.keys() & added.keys() - {*plan.released})}
    # A use stays a use, and spam stays spam, until the whole page is read.
    there = await list_spam_links(conn, plan.wiki, known) if known else {}
    for page, had in known.items():
        plan.grown[page] = set(had)
        for key in added[page][0].keys() - plan.grown[page] - there.get(page, {}).keys():
            plan.differences.added.append((page, key))
            plan.urls[key] = added[page][0][key]
            plan.grown[page].add(key)


async def _record_plan(conn: Connection, plan: _Plan, day: int) -> Intake:
    """Writes the pages of a wiki, and their spam links, when their uses are recorded."""
    wiki, read = plan.wiki, plan.changes.read
    if read:
        await record_spam_links(conn, wiki, {page.page: page.spam for page in read}, day)
    if rows := [_new_row(wiki, page, day) for page in plan.changed if page.page not in plan.known]:
        await write_rows(conn, SQL["record_new_pages"], iter(rows))
    if known := [page for page in plan.changed if page.page in plan.known]:
        row = columns_of(known, "page namespace title latest mark") | {
            "urls": [page.keys for page in known],
            "flagged": [page.is_settling(day) for page in known],
        }
        await conn.execute(SQL["record_pages"], {"wiki": wiki, "day": day, **row})
    if plan.seen:
        row = {"page": [page.page for page in plan.seen], "flagged": [page.is_settling(day) for page in plan.seen]}
        await conn.execute(SQL["record_seen"], {"wiki": wiki, **row})
    had = {page: set(_urls_of(plan.known[page])) for page in plan.grown}
    more = {page for page, keys in plan.grown.items() if keys != had[page]}
    await record_page_urls(conn, wiki, plan.grown, plan.changes.added_at)
    spam = {page: plan.changes.added[page][1] for page in plan.grown}
    added = {page: {key: spam[page][key] for key in spam[page].keys() - had[page]} for page in spam}
    await record_spam_added(conn, wiki, added, day)
    if plan.changes.gone:
        await record_spam_pages_gone(conn, wiki, plan.changes.gone)
    if plan.released:
        await conn.execute(SQL["record_released"], {"wiki": wiki, "pages": plan.released})
    new = sum(page.page not in plan.known or plan.known[page.page][3] == 0 for page in read)
    return Intake(
        pages=len(read) + len(plan.grown),
        pages_new=new,
        pages_changed=len(plan.changed) - new + len(more),
        pages_gone=len(plan.released),
        links=sum(len(page.urls) for page in read),
        links_new=len(plan.differences.added),
        links_gone=len(plan.differences.gone),
    )


def _new_row(wiki: int, page: PageUrls, day: int) -> str:
    title, mark = page.title.translate(COPIED), r"\N" if page.mark is None else page.mark
    keys, is_flagged = rf"\\x{page.keys.hex()}", "t" if page.is_settling(day) else "f"
    return f"{wiki}\t{page.page}\t{page.namespace}\t{title}\t{page.latest}\t{mark}\t{keys}\t{day}\t{is_flagged}\n"


def _urls_of(row: tuple[Any, ...]) -> list[UrlKey]:
    """The URLs in a row of `list_known`."""
    return unpacked_keys(row[5])
