"""The locks of everything that writes URLs and hosts, or what follows from them: pages, then URLs, then hosts, each by
key (docs/architecture.md, "Locks").

A statement that computes something from URLs or hosts begins when their locks are held. Intake locks more selectively
by statements of its own (``store/pages``), in the same order.
"""

from collections.abc import Iterable
from typing import Final

from weboid.core.record.status import HOST_FAILURES
from weboid.core.url.keys import UrlKey
from weboid.store.db.rows import HostKey, host_key_columns, key_columns
from weboid.store.db.statements import Connection, fetch_value, statements

SQL: Final = statements("urls/lock")


async def lock_urls_and_hosts(conn: Connection, urls: Iterable[UrlKey]) -> None:
    """Locks URLs, then their hosts, until the transaction ends; those that do not exist are left out.

    To be called before anything else that the transaction writes, but after it has locked pages.
    """
    keys = set(urls)
    await lock_urls(conn, keys)
    await lock_hosts(conn, hosts_of(keys))


async def lock_urls(conn: Connection, urls: Iterable[UrlKey], *, silent_of: Iterable[HostKey] = ()) -> int:
    """Locks URLs alone; returns how many of them exist. Their hosts may be locked afterwards, never before.

    `silent_of`: besides, all URLs of these hosts whose newest check found the host itself failing (C-5, D-95).
    """
    keys, hosts = sorted(set(urls)), sorted(set(silent_of))
    if not keys and not hosts:
        return 0
    if hosts:
        of = {f"of_{name}": values for name, values in host_key_columns(hosts).items()}
        row = {**key_columns(keys), **of, "statuses": [int(status) for status in HOST_FAILURES]}
        return await fetch_value(conn, SQL["lock_more_urls"], row) or 0
    return await fetch_value(conn, SQL["lock_urls"], key_columns(keys)) or 0


async def lock_hosts(conn: Connection, hosts: Iterable[HostKey]) -> None:
    """Locks hosts alone; the transaction may lock no page and no URL afterwards."""
    keys = sorted(set(hosts))
    if keys:
        await conn.execute(SQL["lock_hosts"], host_key_columns(keys))


async def keep_order(conn: Connection) -> None:
    """Makes statements of this transaction that write URLs by key go through them in the order in which they are given.

    So one that writes all URLs of a transaction at once need not lock them before, which costs a fifth more. It counts
    when a statement is planned, and a session keeps plans: so such a statement must never be sent without this before.
    """
    await conn.execute(SQL["keep_order"])


async def list_there(conn: Connection, urls: Iterable[UrlKey], *, cited: bool = True) -> set[UrlKey]:
    """Those of these URLs that exist; without `cited` only those that the link checker visits."""
    row = {**key_columns(urls), "cited": cited}
    return {UrlKey(*key) async for key in await conn.execute(SQL["list_there"], row)}


def hosts_of(urls: Iterable[UrlKey]) -> set[HostKey]:
    """The hosts of URLs."""
    return set(map(HostKey._make, {key[:2] for key in urls}))
