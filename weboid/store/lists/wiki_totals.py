"""The links of a wiki day by day, and where most dead ones are, for its page (W-6); ``maintain/wiki_totals`` counts.

Dead and repaired links are counted, which is a walk over the wiki's rows of ``dead``. Doubt is not stored: to count it
would be to judge every use of every URL, so doubtful links, and all links, of a wiki with many pages are estimates.
"""

from collections.abc import Sequence
from enum import IntEnum
from typing import Final, NamedTuple

from weboid.core.url.keys import UrlKey
from weboid.store.db.rows import HostKey, columns_of, host_key_columns
from weboid.store.db.statements import Connection, fetch_all, fetch_value, statements

SQL: Final = statements("lists/wiki_totals")
KEPT_DAYS: Final = 400
"""The days of which totals are kept."""


class WikiTotal(NamedTuple):
    """The links of a wiki at the end of a day, and how many died or came back on it; `sampled`: `links` and `doubtful`
    are estimates."""

    day: int
    pages: int
    links: int
    dead: int
    repaired: int
    doubtful: int
    died: int
    back: int
    sampled: bool


class PlaceKind(IntEnum):
    """The kinds of places: registrable domains, and namespaces by number."""

    DOMAIN = 0
    NAMESPACE = 1


class DeadPlace(NamedTuple):
    """A domain or namespace with the number of dead links there, and of those that are repaired (L-10)."""

    kind: PlaceKind
    subject: str
    dead: int
    repaired: int


class CountedLink(NamedTuple):
    """A dead link of a wiki, as counting needs it."""

    page: int
    key: UrlKey
    repaired: bool
    namespace: int


async def find_pages(conn: Connection, wiki: int) -> tuple[int, int, int]:
    """The number of a wiki's pages, and their lowest and highest ids."""
    row = await (await conn.execute(SQL["count_pages"], {"wiki": wiki})).fetchone()
    assert row, "it counts"
    return row[0], row[1], row[2]


async def list_dead(conn: Connection, wiki: int, page: int, key: UrlKey, *, limit: int) -> list[CountedLink]:
    """The next dead links of a wiki after one of them, by page."""
    row = {"wiki": wiki, "page": page, **key._asdict(), "limit": limit}
    return [
        CountedLink(page, UrlKey(*key), repaired, namespace)
        async for page, *key, repaired, namespace in await conn.execute(SQL["list_dead"], row)
    ]


async def list_hosts(conn: Connection, hosts: Sequence[HostKey]) -> dict[HostKey, str]:
    """The names of hosts."""
    rows = await conn.execute(SQL["list_hosts"], host_key_columns(hosts))
    return {hosts[place - 1]: name async for place, name in rows}


async def count_changed(
    conn: Connection, day: int, after: int, *, limit: int
) -> tuple[int | None, dict[int, tuple[int, int]]]:
    """Of at most `limit` lines of a day's log after a number: the last one, None at the end, and by wiki how many links
    died by them, and how many came back."""
    end = await fetch_value(conn, SQL["find_stretch_end"], {"day": day, "after": after, "limit": limit})
    if end is None:
        return None, {}
    rows = await conn.execute(SQL["count_changed"], {"day": day, "after": after, "end": end})
    return end, {wiki: (died, back) async for wiki, died, back in rows}


async def record_totals(conn: Connection, wiki: int, total: WikiTotal, places: Sequence[DeadPlace]) -> None:
    """Records the totals of a day, in place of any, and the places; forgets days long past."""
    await conn.execute(SQL["record_total"], {"wiki": wiki, **total._asdict()})
    await conn.execute(SQL["delete_totals"], {"wiki": wiki, "before": total.day - KEPT_DAYS})
    await conn.execute(SQL["delete_places"], {"wiki": wiki})
    await conn.execute(SQL["record_places"], {"wiki": wiki, **columns_of(places, "kind subject dead repaired")})


async def list_totals(conn: Connection, wiki: int, day: int) -> list[WikiTotal]:
    """The totals of a wiki, oldest day first, of those that are kept on `day`."""
    return await fetch_all(conn, WikiTotal, SQL["list_totals"], {"wiki": wiki, "after": day - KEPT_DAYS})


async def list_places(conn: Connection, wiki: int) -> list[DeadPlace]:
    """The places with the most dead links of a wiki at its newest totals, by kind, the worst first."""
    return await fetch_all(conn, _place, SQL["list_places"], {"wiki": wiki})


def _place(kind: int, subject: str, dead: int, repaired: int) -> DeadPlace:
    return DeadPlace(PlaceKind(kind), subject, dead, repaired)
