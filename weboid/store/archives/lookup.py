"""Look-ups: what each service last said of the copies of a URL (A-2), and when it may be asked again.

One law: an earlier answer is replaced by a newer one, never mixed with it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from weboid.core.archive.outcomes import BY_NUMBER, LookupOutcome
from weboid.core.url.keys import UrlKey
from weboid.store.archives.with_url import lock_kept
from weboid.store.db.pool import Connection
from weboid.store.db.rows import key_columns
from weboid.store.db.statements import statements

SQL: Final = statements("archives/lookup")


@dataclass(frozen=True, slots=True)
class StoredLookup:
    """What the archive with this number said of the URL `key` on day `asked`; it holds until day `due`.

    `failures` counts the errors in a row. `passed` says which captures were passed over, and why (JSON, bounded by the
    caller); None = none were.
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
    given = {(each.key, each.archive): each for each in lookups}
    kept = await lock_kept(conn, {key for key, _ in given})
    rows = [given[place] for place in sorted(given) if place[0] in kept]
    if rows:
        columns = {
            **key_columns(each.key for each in rows),
            "archive": [each.archive for each in rows],
            "outcome": [each.outcome.number for each in rows],
            "asked": [each.asked for each in rows],
            "due": [each.due for each in rows],
            "failures": [each.failures for each in rows],
            "passed": [each.passed for each in rows],
        }
        await conn.execute(SQL["record_lookups"], columns)
    return len(rows)


async def list_lookups(conn: Connection, keys: Iterable[UrlKey]) -> dict[UrlKey, tuple[StoredLookup, ...]]:
    """The look-ups of these URLs by the number of the archive; URLs that were never looked up are missing."""
    wanted = sorted(set(keys))
    found: dict[UrlKey, list[StoredLookup]] = {}
    if wanted:
        async for *key, archive, outcome, asked, due, failures, passed in await conn.execute(
            SQL["list_lookups"], key_columns(wanted)
        ):
            each = StoredLookup(UrlKey(*key), archive, BY_NUMBER[outcome], asked, due, failures, passed)
            found.setdefault(each.key, []).append(each)
    return {key: tuple(lookups) for key, lookups in found.items()}
