"""The uses of URLs on pages (L-7), and what follows when they come and go: URLs, hosts, orphans, dead links.

``store/pages/page`` finds the uses that have changed. Pages, URLs and hosts are locked in this order, each by key, for
all wikis of a transaction at once, so that no transactions deadlock (docs/architecture.md, "Locks").
"""

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from weboid.core.record.days import NEVER_DUE
from weboid.core.url.hosts import reversed_name
from weboid.core.url.keys import UrlKey
from weboid.core.url.urls import Url
from weboid.core.verdict.verdict import Verdict, finding_of
from weboid.store.archives.cited_copy import CitedCopy, cited_copy_of, record_cited, record_cited_as_snapshots
from weboid.store.db.key_scheme import require_scheme
from weboid.store.db.rows import SCHEMES, HostKey, columns_of, host_key_columns, key_columns
from weboid.store.db.statements import Connection, fetch_all, statements
from weboid.store.urls.check import record_next_days
from weboid.store.urls.lock import hosts_of
from weboid.store.urls.url import find_urls

SQL: Final = statements("pages/page")
URL_SQL: Final = statements("urls/url")
CHANGE_SQL: Final = statements("urls/verdict_log")
_KEY: Final = struct.Struct(">hqq")
KEY_BYTES: Final = _KEY.size
"""The size of a packed key."""

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


async def begin_intake(conn: Connection) -> None:
    """To be called before anything else by a transaction that changes uses, or records new pages: one at a time may.

    Two at once could each remove one of the last two uses of a URL and leave it without an orphan mark; and new pages
    can not be locked in the order of keys together with known ones (D-30).
    """
    await conn.execute(URL_SQL["lock_intake"])


async def record_uses(
    conn: Connection, differences: Mapping[int, Differences], urls: Mapping[UrlKey, Url], day: int
) -> int:
    """Records uses that came and went, by wiki, with all that follows; `urls` has at least those that came.

    To be called once in a transaction, which has locked the pages. New URLs become due, but for cited copies, which are
    snapshots of others (A-2); URLs without use become orphans (U-8), and the dead links of these pages are updated
    (U-10). Returns how many URLs are new. Raises StoreError if the store has other keys than this program.
    """
    wikis = sorted(differences.items())
    came = sorted({key for each in differences.values() for _, key in each.added})
    left = sorted({key for each in differences.values() for _, key in each.gone})
    if not came and not left:
        return 0
    await require_scheme(conn)  # A program that began before a rekey must not go on (O-10).
    # All URLs, then all hosts, each in the order of their keys, as everything does: so there are no deadlocks.
    failing, again = await _lock_urls(conn, came, left)
    if again:
        await conn.execute(URL_SQL["record_uses_again"], key_columns(again))
    new, cited = await _record_urls(conn, {key: urls[key] for key in came}, day)
    for wiki, each in wikis:
        if each.added:
            await conn.execute(SQL["record_links"], {"wiki": wiki, **_use_columns(each.added)})
        if each.gone:
            await conn.execute(SQL["record_links_gone"], {"wiki": wiki, **_use_columns(each.gone)})
    orphans = {"day": day, **key_columns(left)}
    moved = again + (await fetch_all(conn, UrlKey, URL_SQL["record_orphans"], orphans) if left else [])
    silent = await _lock_hosts(conn, came, {*new, *moved, *failing})
    # From here on nobody else changes the verdict on a URL that fails, or the next day of these hosts.
    await record_next_days(conn, sorted(hosts_of(moved)))
    await _record_hosts(conn, {key: urls[key].host for key in new}, cited, day)
    for wiki, each in wikis:
        if each.gone:
            await conn.execute(CHANGE_SQL["record_dead_links_gone"], {"wiki": wiki, **_use_columns(each.gone)})
        suspects = [use for use in each.added if use[1] in failing or HostKey(*use[1][:2]) in silent]
        await _record_dead(conn, wiki, suspects)
    return len(new)


async def record_page_urls(conn: Connection, wiki: int, pages: Mapping[int, Iterable[UrlKey]]) -> None:
    """Writes the packed URLs of pages into their rows; the next pass reads these pages again, whatever their mark."""
    if pages:
        packed = [packed_keys(keys) for keys in pages.values()]
        await conn.execute(SQL["record_urls_of"], {"wiki": wiki, "page": list(pages), "urls": packed})


async def _lock_urls(conn: Connection, came: list[UrlKey], left: list[UrlKey]) -> tuple[set[UrlKey], list[UrlKey]]:
    """Locks the URLs that will change, and the failing ones, so that no round changes their verdicts meanwhile.

    Returns the failing ones, and the orphans among those that came.
    """
    columns = {**key_columns((*came, *left)), "left": [False] * len(came) + [True] * len(left)}
    rows = await (await conn.execute(URL_SQL["lock_urls"], columns)).fetchall()
    failing = {UrlKey(*key) for *key, fails, _ in rows if fails}
    return failing, [UrlKey(*key) for *key, _, orphaned in rows if orphaned]


async def _lock_hosts(conn: Connection, came: Iterable[UrlKey], changed: Iterable[UrlKey]) -> set[HostKey]:
    """Locks the hosts of URLs that have changed, and those that are failing among the hosts of URLs that came.

    Returns the failing ones: a URL of such a host may die with its next check, whatever is known of it (D-28).
    """
    written = hosts_of(changed)
    hosts = sorted({*written, *hosts_of(came)})
    if not hosts:
        return set()
    columns = {**host_key_columns(hosts), "written": [host in written for host in hosts]}
    rows = await conn.execute(URL_SQL["lock_hosts"], columns)
    return {HostKey(*host) async for *host, fails in rows if fails}


async def _record_urls(
    conn: Connection, urls: Mapping[UrlKey, Url], day: int
) -> tuple[list[UrlKey], dict[UrlKey, CitedCopy]]:
    """Records URLs that are not known yet, and makes those due that are no cited copies; returns both."""
    if not urls:
        return [], {}
    copies = {key: copy for key, url in urls.items() if (copy := cited_copy_of(key, url, day))}
    columns = {
        **key_columns(urls),
        **columns_of(urls.values(), "port path"),
        "scheme": [SCHEMES.index(url.scheme) for url in urls.values()],
        "due": [NEVER_DUE if key in copies else day for key in urls] if copies else [day] * len(urls),
    }
    new = await fetch_all(conn, UrlKey, URL_SQL["record_urls"], columns)
    if cited := {key: copies[key] for key in new if key in copies} if copies else {}:
        await record_cited_as_snapshots(conn, cited, urls, day)
        await record_cited(conn, cited.values())
    return new, cited


async def _record_hosts(
    conn: Connection, hosts: Mapping[UrlKey, str], cited: Mapping[UrlKey, CitedCopy], day: int
) -> None:
    """Writes the hosts of new URLs, with something to check now: since the day before, so that no hour of this day is
    waited for. Cited copies alone give a host nothing to check (D-97)."""
    if not hosts:
        return
    names = {HostKey(*key[:2]): host for key, host in hosts.items()}
    checked = {HostKey(*key[:2]) for key in hosts if key not in cited}
    rows = sorted(names.items())
    columns = {
        **host_key_columns(key for key, _ in rows),
        "host": [host for _, host in rows],
        "reversed": [reversed_name(host) for _, host in rows],
        "next_day": [day - 1 if key in checked else NEVER_DUE for key, _ in rows],
    }
    await conn.execute(URL_SQL["record_hosts"], columns)


async def _record_dead(conn: Connection, wiki: int, added: list[Use]) -> None:
    """Records the dead links of pages that begin to use a URL that is dead by the log, whatever policy judged it."""
    if not added:
        return
    keys = sorted({key for _, key in added})
    row = {**key_columns(keys), "dead": Verdict.DEAD.value}
    if not (dead := await fetch_all(conn, UrlKey, CHANGE_SQL["list_dead_by_log"], row)):
        return
    since = {key: finding_of(known.record, known.host).since for key, known in (await find_urls(conn, dead)).items()}
    uses = sorted(use for use in added if use[1] in since)
    columns = {**_use_columns(uses), "since": [since[key] for _, key in uses]}
    await conn.execute(CHANGE_SQL["record_dead_links"], {"wiki": wiki, **columns})


def _use_columns(uses: Iterable[Use]) -> dict[str, list[int]]:
    rows = sorted(uses)
    return {"page": [page for page, _ in rows], **key_columns(key for _, key in rows)}
