"""Reports of people that a URL or a whole domain works by hand (H-1), and the assumptions from many of them (H-3).

The limits for people belong to `audit`; answers read reports through ``store/urls/details``. A report is about a
watched URL, and is deleted with the first check that finds the URL working.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from weboid.core.record.days import NEVER_DUE
from weboid.core.url.hosts import is_ip, registrable_domain, reversed_name
from weboid.core.url.keys import UrlKey, bucket
from weboid.store.archives.cited_copy import record_cited_due
from weboid.store.db.key_scheme import require_scheme
from weboid.store.db.rows import HostKey, KnownUrl, key_columns
from weboid.store.db.statements import Connection, fetch_one, statements
from weboid.store.urls.check import record_due, record_next_days
from weboid.store.urls.lock import lock_hosts, lock_urls
from weboid.store.urls.url import find_urls

SQL: Final = statements("people/report")
KEPT_DAYS: Final = 183
"""The days after which a report expires: six months (H-1, H-3)."""
LEAST: Final = 5
"""The least number of reports in a domain for it to count as reachable as a whole (H-3)."""


@dataclass(frozen=True, slots=True)
class Report:
    """A person's statement that something works by hand; `subject` None = it follows from many reports (H-3)."""

    day: int
    subject: str | None
    name: str | None


async def find_locked_url(conn: Connection, key: UrlKey) -> KnownUrl | None:
    """A watched URL, locked until the transaction ends; None if no page uses it (U-9).

    Raises StoreError if the store has other keys than this program (O-10).
    """
    await require_scheme(conn)
    # A check that writes this URL waits until the report is written, and a report waits for a check.
    await lock_urls(conn, [key])
    known = (await find_urls(conn, [key])).get(key)
    return None if known is None or known.orphaned is not None else known


async def record_report(conn: Connection, known: KnownUrl, day: int, subject: str, name: str) -> bool:
    """Records a person's report that this URL works; returns whether its whole domain counts as reachable by that.

    The URL comes from `find_locked_url`, and is dead. A report that exists already is renewed.
    """
    row = {**known.key._asdict(), "day": day, "subject": subject, "name": name}
    await conn.execute(SQL["record_report"], row)
    domain = registrable_domain(known.url.host)
    if not await _is_half_reported(conn, domain, day):
        return False
    await conn.execute(SQL["record_assumption"], {**_domain_row(domain, day), "day": day})
    return True


async def record_domain_report(conn: Connection, domain: str, day: int, subject: str, name: str) -> None:
    """Records a person's report that all of a registrable domain works. An assumption about it (H-3) is left as is."""
    row = {**_domain_row(domain, day), "day": day, "subject": subject, "name": name}
    await conn.execute(SQL["record_domain_report"], row)


async def find_report(conn: Connection, key: UrlKey, day: int) -> Report | None:
    """The report of a URL that is valid on `day`, if any."""
    return await fetch_one(conn, Report, SQL["find_report"], {**key._asdict(), "over": day - KEPT_DAYS})


async def find_domain_report(conn: Connection, domain: str, day: int) -> Report | None:
    """The report of a registrable domain that is valid on `day`, if any."""
    return await fetch_one(conn, Report, SQL["find_domain_report"], _domain_row(domain, day))


async def delete_reports(conn: Connection, keys: Sequence[UrlKey]) -> int:
    """Deletes the reports of these URLs, if there are any; returns how many there were (H-1)."""
    if not keys:
        return 0
    return (await conn.execute(SQL["delete_reports"], key_columns(sorted(keys)))).rowcount


async def delete_domain_report(conn: Connection, domain: str) -> bool:
    """Deletes the report of a domain, by any person; returns whether there was one."""
    row = {"bucket": bucket(domain), "domain": domain}
    return (await conn.execute(SQL["delete_domain_report"], row)).rowcount > 0


async def delete_unfounded(conn: Connection, domain: str, day: int) -> bool:
    """Deletes the assumption about a domain if its reports no longer support it; returns whether it did (H-4)."""
    if await _is_half_reported(conn, domain, day):
        return False
    row = {"bucket": bucket(domain), "domain": domain}
    return (await conn.execute(SQL["delete_assumption"], row)).rowcount > 0


async def delete_with_urls(conn: Connection, keys: Sequence[UrlKey]) -> None:
    """Deletes reports, replacements and reverts of URLs that are deleted themselves (U-8)."""
    await delete_reports(conn, keys)
    await conn.execute(SQL["delete_replacements"], key_columns(keys))
    await conn.execute(SQL["delete_reverts"], key_columns(keys))


async def expire_reports(conn: Connection, day: int, *, limit: int) -> int:
    """Deletes at most `limit` reports of URLs, and as many of domains, that have expired by `day`; returns how many."""
    row = {"over": day - KEPT_DAYS, "limit": limit}
    of_urls = (await conn.execute(SQL["delete_old_reports"], row)).rowcount
    return of_urls + (await conn.execute(SQL["delete_old_domain_reports"], row)).rowcount


async def record_check_now(conn: Connection, known: KnownUrl, day: int) -> bool:
    """Makes a URL from `find_locked_url` due on `day` unless it was checked that day; returns whether it is (W-14).

    A cited copy becomes due for the visits of copies (A-3), unless its archive is never visited.
    """
    if known.next_check is None or (known.record.checked is not None and known.record.checked >= day):
        return False
    if known.next_check <= day:
        return True
    if known.due == NEVER_DUE:
        await record_cited_due(conn, {known.key: day})
    else:
        host = HostKey(*known.key[:2])
        await lock_hosts(conn, [host])
        await record_due(conn, {known.key: day})
        await record_next_days(conn, [host])
    return True


async def _is_half_reported(conn: Connection, domain: str, day: int) -> bool:
    """Returns whether `LEAST` and half of the domain's URLs are reported (H-3); no more are counted than needed."""
    first = reversed_name(domain)
    # Below a public suffix there are other domains, and below a domain there may be public suffixes.
    has_more = not is_ip(domain) and registrable_domain(f"x.{domain}") == domain
    end = f"{first[:-1]}/" if has_more else f"{first} "
    row = {**_domain_row(domain, day), "first": first, "end": end}
    rows = await (await conn.execute(SQL["list_reported_hosts"], row)).fetchall()
    reports = sum(count for host, count in rows if registrable_domain(host) == domain)
    if reports < LEAST:
        return False
    foreign: list[int] = []
    while True:
        row |= {"foreign": foreign, "limit": 2 * reports + 1}
        rows = await (await conn.execute(SQL["list_hosts"], row)).fetchall()
        others = [host_key for host, host_key, _ in rows if registrable_domain(host) != domain]
        if not others:
            return bool(2 * reports >= sum(count for *_, count in rows))
        foreign += others


def _domain_row(domain: str, day: int) -> dict[str, int | str | list[int]]:
    return {"bucket": bucket(domain), "domain": domain, "over": day - KEPT_DAYS}
