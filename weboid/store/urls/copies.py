"""Reading what is kept of the copies of URLs, for answers; writing it belongs to ``store/archives``.

Copies are looked up for URLs only that fail or are in doubt, as none are shown with URLs that work; next visits only of
URLs that are copies themselves.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from weboid.core.archive.outcomes import BY_NUMBER
from weboid.core.record.days import NEVER_DUE
from weboid.core.record.reasons import Outcome
from weboid.core.url.keys import UrlKey
from weboid.core.verdict.kept_copies import KeptCopies, KeptLookup, KeptSnapshot
from weboid.store.db.pool import Connection
from weboid.store.db.rows import KnownUrl, key_columns
from weboid.store.db.statements import statements

SQL: Final = statements("urls/copies")


async def with_copies(conn: Connection, urls: Sequence[KnownUrl]) -> list[KnownUrl]:
    """The same URLs in the same order, those that fail or are in doubt with what is kept of their copies.

    One statement; none if all of them work or are copies themselves, which need none.
    """
    wanting = [
        url.key
        for url in urls
        if url.record.reason and url.record.reason.outcome is not Outcome.WORKING and url.due != NEVER_DUE
    ]
    if not wanting:
        return list(urls)
    kept = await _list_kept(conn, wanting)
    return [url._replace(kept=kept[url.key]) if url.key in kept else url for url in urls]


async def with_visits(conn: Connection, urls: Sequence[KnownUrl]) -> list[KnownUrl]:
    """The same URLs in the same order, the cited copies with the days of their next visits.

    One statement; none if there are no cited copies.
    """
    cited = [url.key for url in urls if url.due == NEVER_DUE]
    if not cited:
        return list(urls)
    rows = await conn.execute(SQL["list_visits"], key_columns(cited))
    days = {UrlKey(*key): due async for *key, due in rows}
    return [url._replace(visit=days.get(url.key)) for url in urls]


async def _list_kept(conn: Connection, keys: Sequence[UrlKey]) -> dict[UrlKey, KeptCopies]:
    rows: dict[UrlKey, list[Sequence[Any]]] = {}
    async for bucket, host_key, url_key, *row in await conn.execute(SQL["list_kept"], key_columns(keys)):
        rows.setdefault(UrlKey(bucket, host_key, url_key), []).append(row)
    return {key: kept_of(kept) for key, kept in rows.items()}


def kept_of(rows: Iterable[Sequence[Any]]) -> KeptCopies:
    """What is kept of the copies of one URL, in rows of `list_kept` without the key."""
    snapshots, lookups = [], []
    for archive, outcome, asked, due, passed, stamp, *more in rows:
        if outcome is None:
            snapshots.append(KeptSnapshot(archive, stamp, asked, *more))
        else:
            lookups.append(KeptLookup(archive, BY_NUMBER[outcome], asked, due, passed or ""))
    return KeptCopies(tuple(snapshots), tuple(lookups))
