"""Writes the findings of checks: URL records, host records, the verdict log and the dead links that follow (U-10).

All of a batch is written in one transaction of the caller (``store/results/record``), which verifies its leases and has
locked the URLs and hosts (``store/urls/lock``). Readers follow the log from a number on: numbers are assigned before
changes are committed, so `find_settled` waits for transactions that are still writing.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from weboid.core.document.portrait import Portrait, packed_portrait
from weboid.core.record.pace import Portion
from weboid.core.record.reasons import BY_NUMBER
from weboid.core.record.record import HostRecord, UrlRecord
from weboid.core.record.status import HOST_FAILURES
from weboid.core.url.keys import UrlKey
from weboid.core.verdict.verdict import Change, Finding, Verdict
from weboid.errors import StoreError
from weboid.store.db.rows import (
    HostKey,
    StoredUrl,
    columns_of,
    host_key_columns,
    host_record_columns,
    key_columns,
    record_columns,
    stored_url,
)
from weboid.store.db.statements import Connection, fetch_all, fetch_value, statements
from weboid.store.urls.lock import keep_order
from weboid.store.urls.repaired import record_repaired
from weboid.store.urls.wiki_dead import record_for_wikis

SQL: Final = statements("urls/check")
CHANGE_SQL: Final = statements("urls/verdict_log")
PAGE: Final = 1_000
"""URLs of one host read at a time."""
_POLL_S: Final = 0.02


@dataclass(frozen=True, slots=True)
class CheckedUrl:
    """A URL's record after a check, the day on which it is due again, and what the check found besides: a new portrait
    (C-11), the URL that was probably meant (L-9)."""

    key: UrlKey
    record: UrlRecord
    due: int
    portrait: Portrait | None = None
    meant: str | None = None


async def list_verdicts_on(conn: Connection, keys: Sequence[UrlKey], day: int) -> dict[UrlKey, Finding]:
    """The findings on URLs on a day by the log of verdicts, each since the day of its line; without those of which it
    has none."""
    rows = await conn.execute(CHANGE_SQL["list_verdicts_on"], {**key_columns(keys), "day": day})
    return {
        UrlKey(*key): Finding(Verdict(after), None if reason is None else BY_NUMBER[reason], since)
        async for *key, since, after, reason in rows
    }


async def record_checks(conn: Connection, checks: Sequence[CheckedUrl], *, cited: bool = False) -> int:
    """Writes the records of URLs that were checked, each URL at most once; returns how many there still are.

    Cited copies are written only with `cited`, and nothing else is then: nobody writes what another visits (A-2). The
    URLs are locked in the order of keys.
    """
    # Every time, for every writer: a session keeps the plan of a statement that it repeats, whatever is set later.
    await keep_order(conn)
    ordered = sorted(checks, key=attrgetter("key"))
    columns = {
        **key_columns(check.key for check in ordered),
        **record_columns(check.record for check in ordered),
        **columns_of(ordered, "due meant"),
        "portrait": [check.portrait and packed_portrait(check.portrait) for check in ordered],
        "cited": cited,
    }
    return (await conn.execute(SQL["record_checks"], columns)).rowcount


async def record_hosts(conn: Connection, hosts: Mapping[HostKey, HostRecord]) -> None:
    """Writes hosts' own records, and for each the day on which the first of its URLs is due; the caller locked them."""
    keys = sorted(hosts)
    columns = {**host_key_columns(keys), **host_record_columns(hosts[key] for key in keys)}
    await conn.execute(SQL["record_host_rows"], columns)


async def record_next_days(conn: Connection, hosts: Sequence[HostKey]) -> None:
    """Writes for each host the day on which the first of its URLs is due; the caller has locked them (`lock_hosts`)."""
    if hosts:
        await conn.execute(SQL["record_next_days"], host_key_columns(hosts))


async def record_rests(conn: Connection, portions: Mapping[HostKey, Portion]) -> None:
    """Lets hosts rest from now on; the caller has locked them (`lock_hosts`)."""
    hosts = sorted(portions)
    columns = columns_of([portions[host] for host in hosts], "rest_s every_s")
    await conn.execute(SQL["record_rests"], {**host_key_columns(hosts), **columns})


async def record_due(conn: Connection, days: Mapping[UrlKey, int]) -> None:
    """Makes URLs due on the given days, whatever was found before, but for cited copies. The caller updates hosts."""
    if days:
        keys = sorted(days)
        await conn.execute(SQL["record_due"], {**key_columns(keys), "due": [days[key] for key in keys]})


async def record_changes(conn: Connection, changes: Sequence[Change]) -> None:
    """Writes the log, and the table `dead` for all pages that use a URL that died or came back (U-10)."""
    if not changes:
        return
    log = {
        **key_columns(change.key for change in changes),
        **columns_of(changes, "day"),
        "before": [change.before.value for change in changes],
        "after": [change.after.value for change in changes],
        "reason": [change.reason and change.reason.number for change in changes],
        "wiki": [0] * len(changes),
    }
    await conn.execute(CHANGE_SQL["record_changes"], log)
    died = [change for change in changes if change.after is Verdict.DEAD]
    if died:
        columns = key_columns(change.key for change in died) | columns_of(died, "since")
        await conn.execute(CHANGE_SQL["record_dead"], columns)
    revived = [change.key for change in changes if change.before is Verdict.DEAD is not change.after]
    if revived:
        await conn.execute(CHANGE_SQL["record_alive"], key_columns(revived))
    changed = [*(change.key for change in died), *revived]
    await record_for_wikis(conn, changed, max(change.day for change in changes))
    await record_repaired(conn, changed)


async def count_died(conn: Connection, host: HostKey, day: int, *, limit: int) -> int:
    """The number of a host's URLs, `limit` at most, that were found dead on that day or later."""
    row = {**host._asdict(), "day": day, "dead": Verdict.DEAD.value, "limit": limit}
    return await fetch_value(conn, CHANGE_SQL["count_died"], row) or 0


async def list_silent_urls(conn: Connection, host: HostKey) -> AsyncIterator[list[StoredUrl]]:
    """All URLs of a host whose newest check found the host itself failing (C-5), `PAGE` at a time."""
    after = -(2**63)
    row = {**host._asdict(), "statuses": [int(status) for status in HOST_FAILURES], "limit": PAGE}
    while True:
        rows = await conn.execute(SQL["list_silent_urls"], {**row, "after": after})
        urls = [stored_url(columns) async for columns in rows]
        if urls:
            yield urls
        if len(urls) < PAGE:
            return
        after = urls[-1].key.url_key


async def find_settled(conn: Connection, *, patience_s: float = 2.0) -> int:
    """A number up to which all changes are committed, or never will be.

    Raises StoreError if a transaction that was writing at the time of the call has not ended within `patience_s`
    (D-43).
    """
    newest: int = await fetch_value(conn, CHANGE_SQL["find_newest"]) or 0
    # A transaction locks the table before it gets a number, and keeps the lock until it ends.
    waited_for = await _list_writers(conn)
    try:
        async with asyncio.timeout(patience_s):
            while waited_for:
                await asyncio.sleep(_POLL_S)
                waited_for &= await _list_writers(conn)
    except TimeoutError:
        raise StoreError("the log of changes is being written for unusually long") from None
    return newest


async def _list_writers(conn: Connection) -> set[str]:
    return set(await fetch_all(conn, str, CHANGE_SQL["list_writers"]))
