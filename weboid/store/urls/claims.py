"""Reading what people said of URLs; recording it belongs to ``store/people/report`` and ``store/people/replacement``.

Claims are looked up for failing URLs only, as none are shown with URLs that work.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from weboid.core.record.reasons import Outcome
from weboid.core.url.hosts import registrable_domain
from weboid.core.url.keys import UrlKey
from weboid.core.verdict.claims import Claims
from weboid.store.db.pool import Connection
from weboid.store.db.rows import KnownUrl, key_columns
from weboid.store.db.statements import statements

SQL: Final = statements("urls/claims")


async def noted(conn: Connection, urls: Sequence[KnownUrl]) -> list[KnownUrl]:
    """The same URLs in the same order, the failing ones with their claims: one statement, none if no URL is failing."""
    failed = [url for url in urls if url.record.reason and url.record.reason.outcome is Outcome.FAILING]
    if not failed:
        return list(urls)
    columns = {
        **key_columns(url.key for url in failed),
        "domain": [registrable_domain(url.url.host) for url in failed],
    }
    found: dict[UrlKey, list[Sequence[Any]]] = {}
    async for bucket, host_key, url_key, *row in await conn.execute(SQL["list_notes"], columns):
        found.setdefault(UrlKey(bucket, host_key, url_key), []).append(row)
    return [url._replace(claims=claims_of(found[url.key])) if url.key in found else url for url in urls]


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
