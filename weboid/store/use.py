"""The uses of URLs on pages (L-7), and what follows when they come and go: URLs, hosts, orphans, dead links.

Whose uses they are, and which have changed, is `page`'s business.
One law: everything is written by full key, in the order of keys: no two transactions wait for each other in a ring.
"""

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from weboid.core.hosts import reversed_name
from weboid.core.keys import UrlKey
from weboid.core.urls import Url
from weboid.core.verdict import Verdict, finding_of
from weboid.store.keyform import require_form
from weboid.store.pool import Connection
from weboid.store.rows import SCHEMES, HostKey, host_key_columns, key_columns
from weboid.store.statements import statements
from weboid.store.url import find_urls

SQL: Final = statements("page")
URL_SQL: Final = statements("url")
CHANGE_SQL: Final = statements("change")
_KEY: Final = struct.Struct(">hqq")

Use = tuple[int, UrlKey]
"""A URL on a page of the wiki at hand."""


@dataclass(slots=True)
class Differences:
    """Uses that came and uses that went."""

    added: list[Use] = field(default_factory=list)
    gone: list[Use] = field(default_factory=list)


def packed_keys(keys: Iterable[UrlKey]) -> bytes:
    """Sorted keys, 18 bytes each."""
    return b"".join(_KEY.pack(*key) for key in sorted(keys))


def unpacked_keys(data: bytes) -> list[UrlKey]:
    """The inverse of `packed_keys`."""
    return [UrlKey(*key) for key in _KEY.iter_unpack(data)]


async def record_urls(conn: Connection, urls: Mapping[UrlKey, Url], day: int) -> int:
    """Makes URLs and their hosts known and due; returns how many were new."""
    if not urls:
        return 0
    rows = sorted(urls.items())
    keys = key_columns(key for key, _ in rows)
    columns = {
        **keys,
        "scheme": [SCHEMES.index(url.scheme) for _, url in rows],
        "port": [url.port for _, url in rows],
        "path": [url.path for _, url in rows],
        "day": day,
    }
    # URLs, then hosts, each in the order of their keys, as rounds write them too: no two can wait for each other.
    # Orphans first: they are locked then, and expiry cannot delete one after it was found to be there (U-8).
    again = [UrlKey(*row) async for row in await conn.execute(URL_SQL["record_uses_again"], keys)]
    new = [UrlKey(*row) async for row in await conn.execute(URL_SQL["record_urls"], columns)]
    await _record_hosts(conn, {HostKey(*key[:2]): urls[key].host for key in sorted((*new, *again))}, day)
    return len(new)


async def _record_hosts(conn: Connection, hosts: Mapping[HostKey, str], day: int) -> None:
    if not hosts:
        return
    columns = {
        **host_key_columns(hosts),
        "host": list(hosts.values()),
        "reversed": [reversed_name(host) for host in hosts.values()],
        "day": day,
    }
    await conn.execute(URL_SQL["record_hosts"], columns)


async def record_uses(conn: Connection, wiki: int, differences: Differences, day: int) -> None:
    """Links that came and went, the URLs that nobody uses any more (U-8), and what is dead on these pages.

    Raises StoreError if the store has other keys than this program.
    The order matters: a round locks URLs, then reads links, then writes dead links. Here links are written first, then
    the failing URLs are locked, so that either the round sees the links or we see its verdicts.
    """
    added, gone = differences.added, differences.gone
    if not added and not gone:
        return
    await require_form(conn)  # Whoever began before a rekey must not go on (O-10).
    if added:
        await conn.execute(SQL["record_links"], {"wiki": wiki, **_use_columns(added)})
    if gone:
        await conn.execute(SQL["record_links_gone"], {"wiki": wiki, **_use_columns(gone)})
    touched = key_columns(sorted({key for _, key in (*added, *gone)}))
    failing = {UrlKey(*row) async for row in await conn.execute(CHANGE_SQL["list_failing"], touched)}
    if gone:
        orphans = key_columns(sorted({key for _, key in gone}))
        await conn.execute(URL_SQL["record_orphans"], {"day": day, **orphans})
        await conn.execute(CHANGE_SQL["record_dead_links_gone"], {"wiki": wiki, **_use_columns(gone)})
    await _record_dead(conn, wiki, [use for use in added if use[1] in failing])


async def _record_dead(conn: Connection, wiki: int, added: list[Use]) -> None:
    """A page that begins to use a dead URL has a dead link at once."""
    since = {}
    for key, known in (await find_urls(conn, sorted({key for _, key in added}))).items():
        finding = finding_of(known.record, known.host)
        if finding.verdict is Verdict.DEAD:
            since[key] = finding.since
    uses = sorted(use for use in added if use[1] in since)
    if uses:
        columns = {**_use_columns(uses), "since": [since[key] for _, key in uses]}
        await conn.execute(CHANGE_SQL["record_dead_links"], {"wiki": wiki, **columns})


def _use_columns(uses: Iterable[Use]) -> dict[str, list[int]]:
    rows = sorted(uses)
    return {"page": [page for page, _ in rows], **key_columns(key for _, key in rows)}
