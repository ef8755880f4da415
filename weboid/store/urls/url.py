"""Hosts and URLs in the store: due ones for a round, known ones for an answer. Writing checks belongs to `check`."""

import random
from collections.abc import Sequence
from math import ceil, inf
from operator import itemgetter
from typing import Final

from msgspec.structs import replace

from weboid.core.document.face import NO_FACE
from weboid.core.record.moment import Moment
from weboid.core.record.pace import LONGEST_REST_S, MOST_DUE, Portion, portion_of
from weboid.core.url.keys import BUCKETS, UrlKey
from weboid.store.db.rows import (
    HostKey,
    KnownUrl,
    StoredHost,
    StoredUrl,
    host_key_columns,
    key_columns,
    known_url,
    stored_host,
    stored_url,
    url_of,
)
from weboid.store.db.statements import Connection, fetch_all, fetch_value, statements
from weboid.store.schedule.lease import due_values
from weboid.store.urls.details import with_details
from weboid.store.urls.host_traits import list_faces, list_specials

SQL: Final = statements("urls/url")
_SPARE: Final = 1
"""So many more hosts are read from each bucket at first than if all had as many due."""
_DEEPER: Final = 8
"""So many times as many are read from a bucket that may have more of the oldest."""


async def list_due_hosts(
    conn: Connection, buckets: Sequence[int], *, until: Moment, without: Sequence[HostKey], limit: int
) -> list[StoredHost]:
    """At most `limit` hosts of these buckets that are due by then, without some that are open: oldest first (C-3).

    Hosts that have been due since the same day come in random order. No more of them are read from each bucket than
    may be needed, so that the number of due hosts does not matter.
    """
    if not buckets or limit < 1:
        return []
    depths = dict.fromkeys(buckets, ceil(limit / len(buckets)) + _SPARE)
    row = {**due_values(until), "limit": limit, "open": [key.host_key for key in without]}
    while True:
        row |= {"buckets": list(depths), "depths": list(depths.values())}
        rows = sorted(await (await conn.execute(SQL["list_due_hosts"], row)).fetchall(), key=itemgetter(-2))
        newest = rows[limit - 1][-2] if len(rows) >= limit else inf
        shallow: list[int] = [bucket for row in rows for bucket, last in row[-1] or () if last < newest]
        if all(depths[bucket] >= limit for bucket in shallow):
            break
        depths |= {bucket: min(_DEEPER * depths[bucket], limit) for bucket in shallow}
    hosts = [stored_host(columns[:-2]) for columns in rows[:limit]]
    if not hosts:
        return []
    sights = await list_specials(conn, {host.key: host.host for host in hosts})
    faces = await list_faces(conn, [host.key for host in hosts])
    return [
        replace(host, sights=sights[host.key], face=faces.get(host.key, NO_FACE))
        if sights[host.key] or host.key in faces
        else host
        for host in hosts
    ]


async def list_due_urls(
    conn: Connection, hosts: Sequence[HostKey], *, day: int, per_host: int
) -> dict[HostKey, list[StoredUrl]]:
    """For each host its URLs due by `day`, oldest first, at most `per_host` (C-3)."""
    due: dict[HostKey, list[StoredUrl]] = {host: [] for host in hosts}
    row = {**host_key_columns(hosts), "day": day, "per_host": per_host}
    for columns in await (await conn.execute(SQL["list_due_urls"], row)).fetchall():
        url = stored_url(columns)
        due[HostKey(url.key.bucket, url.key.host_key)].append(url)
    return due


async def count_due(conn: Connection, day: int, *, limit: int) -> int:
    """The number of URLs that a round on `day` has to check; `limit` means that many or more."""
    return await fetch_value(conn, SQL["count_due"], {"day": day, "limit": limit}) or 0


async def list_portions(conn: Connection, hosts: Sequence[HostKey], day: int, *, most: int) -> dict[HostKey, Portion]:
    """The portion of what is due by `day` for a visit that now begins to each of these hosts, `most` URLs at most."""
    row = {**host_key_columns(hosts), "day": day, "most": MOST_DUE, "rest": LONGEST_REST_S}
    rows = await conn.execute(SQL["count_due_of"], row)
    return {HostKey(bucket, key): portion_of(due, most, every_s) async for bucket, key, every_s, due in rows}


async def list_canaries(conn: Connection, limit: int) -> list[str]:
    """Some URLs, in normal form, that worked when they were last checked (C-16)."""
    canaries: list[str] = []
    for bucket in (random.randrange(BUCKETS), 0):
        rows = await conn.execute(SQL["list_canaries"], {"bucket": bucket, "limit": limit - len(canaries)})
        canaries += [str(url_of(row)) async for row in rows]
    return canaries


async def find_urls(conn: Connection, keys: Sequence[UrlKey], wiki: int | None = None) -> dict[UrlKey, KnownUrl]:
    """All that is known of these URLs, for a `wiki` also whether they are frozen there; unwatched ones are missing."""
    found = await find_records(conn, keys, wiki)
    return {url.key: url for url in await with_details(conn, list(found.values()))}


async def find_records(conn: Connection, keys: Sequence[UrlKey], wiki: int | None = None) -> dict[UrlKey, KnownUrl]:
    """As `find_urls`, with the records of the URLs and of their hosts alone."""
    rows = await conn.execute(SQL["find_urls"], {**key_columns(keys), "wiki": wiki})
    return {url.key: url for url in [known_url(row) async for row in rows]}


async def list_much_used(conn: Connection, hosts: Sequence[HostKey], *, uses: int) -> set[HostKey]:
    """Those of these hosts on whose URLs more uses on pages hang."""
    rows = await conn.execute(SQL["list_much_used"], {**host_key_columns(hosts), "uses": uses})
    return {HostKey(*row) async for row in rows}


async def list_some(conn: Connection, host: HostKey, limit: int) -> list[UrlKey]:
    """The same few watched URLs of a host each time, which nobody has chosen."""
    return await fetch_all(conn, UrlKey, SQL["list_some"], {**host._asdict(), "limit": limit})
