"""The state of a pass over a wiki (P-5): the pages it met and its position, so that it goes on where it was broken off.

Only a feeder that knows the current position changes it; of two feeders on one wiki one fails.
"""

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Annotated, Final, NamedTuple, Protocol

from msgspec import Meta

from weboid.errors import StoreError
from weboid.store.db.rows import columns_of
from weboid.store.db.statements import Connection, fetch_all, fetch_value, statements
from weboid.store.pages.use import begin_intake
from weboid.store.schedule.days import DayFigure, record_totals

SQL: Final = statements("pages/page_pass")
PAGE_SQL: Final = statements("pages/page")

SWEEP_DAYS: Final = 90
"""Each page is read once in so many days: its links can change without its mark (by refreshLinks.php)."""


class KnownPage(Protocol):
    """A page before its links are read (``wiki/source`` implements it)."""

    @property
    def page(self) -> int: ...
    @property
    def namespace(self) -> int: ...
    @property
    def title(self) -> str: ...
    @property
    def mark(self) -> int | None: ...


class PageRecord(NamedTuple):
    """A page record as a pass reads it; `mark` is from when its links were last read (P-3).

    `touched` is the day on which a pass last met it, and no exclusion did; `asked` that of the last request.
    """

    page: int
    mark: int | None
    touched: int
    flagged: bool
    asked: int | None = None
    excluded: bool = False


class PassPosition(NamedTuple):
    """The position of a pass: its step, and the place within it after which to go on."""

    step: Annotated[int, Meta(ge=0, le=2**15 - 1)] = 0
    place: Annotated[str, Meta(max_length=2_000)] = ""


async def record_start(conn: Connection, wiki: int, plan: str, day: int) -> tuple[int, PassPosition]:
    """The day on which the pass under way began, and its position; begins a pass if there is none of this plan."""
    await conn.execute(SQL["record_start"], {"wiki": wiki, "plan": plan, "day": day})
    row = await (await conn.execute(SQL["find_pass"], {"wiki": wiki})).fetchone()
    assert row is not None, "it was begun a statement before"
    return row[0], PassPosition(*row[1:])


async def record_place(conn: Connection, wiki: int, before: PassPosition, after: PassPosition) -> None:
    """Moves the pass from one position to another; raises StoreError if it is not at `before` any more."""
    row = {"wiki": wiki, **after._asdict(), "step_before": before.step, "place_before": before.place}
    if await (await conn.execute(SQL["record_place"], row)).fetchone() is None:
        raise StoreError("another feeder is at work on this wiki: stop one of the two")


async def record_end(conn: Connection, wiki: int, started: int, day: int) -> None:
    """Completes the pass: categories that it did not find are deleted, and its day is recorded for expiry (U-8)."""
    await conn.execute(SQL["record_trees_gone"], {"wiki": wiki, "started": started})
    seconds = await fetch_value(conn, SQL["record_end"], {"wiki": wiki, "day": day})
    if seconds is not None:
        await record_totals(conn, {(day, DayFigure.PASSES): 1, (day, DayFigure.PASS_SECONDS): seconds})


async def count_records(conn: Connection, wiki: int, started: int) -> tuple[int, int]:
    """The number of page records of a wiki, and of those that the pass begun on that day has met."""
    row = await (await conn.execute(SQL["count_records"], {"wiki": wiki, "started": started})).fetchone()
    return (row[0], row[1]) if row else (0, 0)


async def record_trees(conn: Connection, wiki: int, started: int, trees: Mapping[str, int]) -> None:
    """Records the categories, by title without prefix, that were found in trees from that day on, with their depth."""
    row = {"wiki": wiki, "started": started, "titles": list(trees), "depths": list(trees.values())}
    await conn.execute(SQL["record_trees"], row)


async def list_in_trees(conn: Connection, wiki: int, titles: Iterable[str]) -> dict[str, int | None]:
    """The depth of those of these categories that are in a tree; None if it is not known yet."""
    row = {"wiki": wiki, "titles": sorted(titles)}
    return {title: depth async for title, depth in await conn.execute(SQL["list_in_trees"], row)}


async def record_touches(conn: Connection, wiki: int, pages: Sequence[KnownPage], day: int) -> None:
    """Records pages that match the criteria today; flags new ones and those whose links may have changed (P-5)."""
    rows = sorted({page.page: page for page in pages}.values(), key=attrgetter("page"))
    columns = columns_of(rows, "page namespace title mark")
    await begin_intake(conn)
    await conn.execute(PAGE_SQL["record_touches"], {"wiki": wiki, "day": day, **columns})


async def record_exclusions(conn: Connection, wiki: int, pages: Sequence[int]) -> None:
    """Makes excluded pages count as not met by the pass under way, and flags none of them (P-4, P-9)."""
    await conn.execute(PAGE_SQL["record_exclusions"], {"wiki": wiki, "pages": sorted(pages)})


async def list_records(conn: Connection, wiki: int, after: int, limit: int) -> list[PageRecord]:
    """At most `limit` page records of a wiki after a page id, by id."""
    row = {"wiki": wiki, "after": after, "limit": limit}
    return await fetch_all(conn, PageRecord, PAGE_SQL["list_records"], row)
