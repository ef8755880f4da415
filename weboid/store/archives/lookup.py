"""Look-ups: each service's last answer about the copies of a URL (A-2), and when it may be asked again.

A newer answer replaces an earlier one, and is never mixed with it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from weboid.core.archive.outcomes import BY_NUMBER, LookupOutcome
from weboid.core.url.keys import UrlKey
from weboid.store.archives.with_url import lock_kept
from weboid.store.db.rows import columns_of, key_columns
from weboid.store.db.statements import Connection, fetch_by_key, statements

SQL: Final = statements("archives/lookup")


@dataclass(frozen=True, slots=True)
class StoredLookup:
    """The answer of the archive with this number about the URL `key` on day `asked`; it holds until day `due`.

    `failures` counts the errors in a row. `passed` has the captures that were passed over, with reasons (JSON, bounded
    by the caller); None = none were.
    """

    key: UrlKey
    archive: int
    outcome: LookupOutcome
    asked: int
    due: int
    failures: int = 0
    passed: str | None = None


async def record_lookups(conn: Connection, lookups: Iterable[StoredLookup]) -> int:
    """Writes look-ups in the place of earlier ones; returns how many. Those of URLs that are gone are left out."""
    by_place = {(each.key, each.archive): each for each in lookups}
    kept = await lock_kept(conn, {key for key, _ in by_place})
    rows = [by_place[place] for place in sorted(by_place) if place[0] in kept]
    if rows:
        columns = {
            **key_columns(each.key for each in rows),
            **columns_of(rows, "archive asked due failures passed"),
            "outcome": [each.outcome.number for each in rows],
        }
        await conn.execute(SQL["record_lookups"], columns)
    return len(rows)


async def list_lookups(conn: Connection, keys: Iterable[UrlKey]) -> dict[UrlKey, tuple[StoredLookup, ...]]:
    """The look-ups of these URLs by the number of the archive; URLs that were never looked up are missing."""
    found: dict[UrlKey, tuple[StoredLookup, ...]] = {}
    for key, (archive, outcome, *rest) in await fetch_by_key(conn, SQL["list_lookups"], keys):
        found[key] = (*found.get(key, ()), StoredLookup(key, archive, BY_NUMBER[outcome], *rest))
    return found
