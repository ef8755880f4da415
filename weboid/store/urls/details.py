"""Details of URLs that only some answers show: claims of people, what is kept of copies, next visits of cited copies.

Claims are looked up for failing URLs only, copies also for doubtful ones, as neither are shown with URLs that work;
``store/people`` and ``store/archives`` write them.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from weboid.core.archive.outcomes import BY_NUMBER
from weboid.core.record.days import NEVER_DUE
from weboid.core.record.reasons import Outcome
from weboid.core.url.hosts import registrable_domain
from weboid.core.url.keys import UrlKey
from weboid.core.verdict.kept_copies import NOTHING, KeptCopies, KeptLookup, KeptSnapshot
from weboid.core.verdict.verdict import NO_CLAIMS, Claims
from weboid.store.db.rows import KnownUrl, key_columns
from weboid.store.db.statements import Connection, fetch_by_key, statements

SQL: Final = statements("urls/details")


async def with_details(conn: Connection, urls: Sequence[KnownUrl]) -> list[KnownUrl]:
    """The same URLs in the same order, with their details: at most three statements, none if all of them work."""
    judged = [(url, url.record.reason.outcome) for url in urls if url.record.reason]
    claims = await _list_claims(conn, [url for url, outcome in judged if outcome is Outcome.FAILING])
    in_doubt = [url.key for url, outcome in judged if outcome is not Outcome.WORKING and url.due != NEVER_DUE]
    kept = await _list_kept(conn, in_doubt)
    rows = await fetch_by_key(conn, SQL["list_visits"], [url.key for url in urls if url.due == NEVER_DUE])
    visits: dict[UrlKey, int] = {key: due for key, (due,) in rows}
    detailed = claims.keys() | kept.keys() | visits.keys()
    return [
        url._replace(claims=claims.get(url.key, NO_CLAIMS), kept=kept.get(url.key, NOTHING), visit=visits.get(url.key))
        if url.key in detailed
        else url
        for url in urls
    ]


async def _list_claims(conn: Connection, urls: Sequence[KnownUrl]) -> dict[UrlKey, Claims]:
    if not urls:
        return {}
    domains = [registrable_domain(url.url.host) for url in urls]
    found: dict[UrlKey, list[Sequence[Any]]] = {}
    columns = {**key_columns(url.key for url in urls), "domain": domains}
    async for bucket, host_key, url_key, *row in await conn.execute(SQL["list_notes"], columns):
        found.setdefault(UrlKey(bucket, host_key, url_key), []).append(row)
    return {key: claims_of(rows) for key, rows in found.items()}


def claims_of(rows: Iterable[Sequence[Any]]) -> Claims:
    """The claims on one URL, in rows of `list_notes` without the key: they differ in `archive` and `target` only."""
    rows = list(rows)
    reported, of_domain, assumed, *_ = rows[0]
    targets = [(archive, target) for *_, archive, target in rows if target is not None]
    return Claims(
        reported=reported if of_domain is None else max(of_domain, reported or 0),
        assumed=assumed,
        replacement=next((target for archive, target in targets if archive == 0), None),
        archives=tuple(target for archive, target in sorted(targets) if archive != 0),
    )


async def _list_kept(conn: Connection, keys: Sequence[UrlKey]) -> dict[UrlKey, KeptCopies]:
    rows: dict[UrlKey, list[Sequence[Any]]] = {}
    for key, row in await fetch_by_key(conn, SQL["list_kept"], keys):
        rows.setdefault(key, []).append(row)
    return {key: kept_of(kept) for key, kept in rows.items()}


def kept_of(rows: Iterable[Sequence[Any]]) -> KeptCopies:
    """The copies of one URL, from rows of `list_kept` without the key."""
    snapshots, lookups = [], []
    for archive, outcome, asked, due, passed, stamp, *more in rows:
        if outcome is None:
            snapshots.append(KeptSnapshot(archive, stamp, asked, *more))
        else:
            lookups.append(KeptLookup(archive, BY_NUMBER[outcome], asked, due, passed or ""))
    return KeptCopies(tuple(snapshots), tuple(lookups))
