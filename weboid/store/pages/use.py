"""The uses of URLs on pages (L-7), and what follows when they come and go: URLs, hosts, orphans, dead links.

``store/pages/page`` finds the uses that have changed. Pages, URLs and hosts are locked in this order, each by key, for
all wikis of a transaction at once, so that no transactions deadlock (docs/architecture.md, "Locks").
"""

import struct
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import repeat, starmap
from operator import itemgetter
from types import MappingProxyType
from typing import Final

from psycopg.errors import InternalError_, UniqueViolation

from weboid.core.record.days import NEVER_DUE
from weboid.core.url.hosts import reversed_name
from weboid.core.url.keys import UrlKey
from weboid.core.url.urls import Url
from weboid.core.verdict.verdict import Verdict, finding_of
from weboid.core.verdict.wiki_rules import WikiRules
from weboid.core.wikitext.link_lists import PERMADEAD
from weboid.store.archives.cited_copy import (
    ARCHIVE_KEYS,
    CitedCopy,
    cited_copy_of,
    record_cited,
    record_cited_as_snapshots,
)
from weboid.store.db.key_scheme import require_scheme
from weboid.store.db.rows import SCHEMES, Columns, HostKey, host_key_columns, key_columns
from weboid.store.db.statements import Connection, fetch_all, statements, write_rows
from weboid.store.urls.check import record_next_days
from weboid.store.urls.lock import hosts_of
from weboid.store.urls.repaired import record_repaired
from weboid.store.urls.url import find_urls
from weboid.store.urls.wiki_dead import find_rules, list_suspects, record_for_wikis

SQL: Final = statements("pages/page")
URL_SQL: Final = statements("urls/url")
CHANGE_SQL: Final = statements("urls/verdict_log")
_KEY: Final = struct.Struct(">hqq")
KEY_BYTES: Final = _KEY.size
"""The size of a packed key."""
_SCHEMES: Final = {scheme: number for number, scheme in enumerate(SCHEMES)}
_MANY: Final = 100
"""Uses that are copied in: fewer are recorded faster by INSERT."""

Use = tuple[int, UrlKey]
"""A URL on a page of the wiki at hand."""


@dataclass(slots=True)
class Differences:
    """Uses that came and uses that went."""

    added: list[Use] = field(default_factory=list)
    gone: list[Use] = field(default_factory=list)


def packed_keys(keys: Iterable[UrlKey]) -> bytes:
    """Sorted keys, 18 bytes each."""
    return b"".join(starmap(_KEY.pack, sorted(keys)))


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
    for each in differences.values():
        each.added.sort(key=itemgetter(1))
    came = sorted(dict.fromkeys(key for each in differences.values() for _, key in each.added))
    left_by = {key: wiki for wiki, each in wikis for _, key in each.gone}
    left = sorted(left_by)
    if not came and not left:
        return 0
    await require_scheme(conn)  # A program that began before a rekey must not go on (O-10).
    # All URLs, then all hosts, each in the order of their keys, as everything does: so there are no deadlocks.
    near = {wiki: await _list_dead_near_copies(conn, wiki, each) for wiki, each in wikis}
    rules = await find_rules(conn, [wiki for wiki, each in wikis if each.added])
    named = {wiki: await _list_own_dead(conn, wiki, own, differences[wiki].added, urls) for wiki, own in rules.items()}
    dead_near = {key for uses in near.values() for _, key in uses}.union(*named.values())
    there, failing, again = await _lock_urls(conn, came, left, dead_near)
    if again:
        await conn.execute(URL_SQL["record_uses_again"], key_columns(again))
    new = [key for key in came if key not in there] if there else came
    cited = await _record_urls(conn, new, urls, day)
    for wiki, each in wikis:
        if each.added:
            await _record_links(conn, wiki, each.added)
        if each.gone:
            await conn.execute(SQL["record_links_gone"], {"wiki": wiki, **_use_columns(each.gone)})
    orphans = {"day": day, "wiki": [left_by[key] for key in left], **key_columns(left)}
    moved = again + (await fetch_all(conn, UrlKey, URL_SQL["record_orphans"], orphans) if left else [])
    silent = await _lock_hosts(conn, there, [*new, *moved, *failing])
    # From here on nobody else changes the verdict on a URL that fails, or the next day of these hosts.
    await record_next_days(conn, sorted(hosts_of(moved)))
    await _record_hosts(conn, new, urls, cited, day)
    for wiki, each in wikis:
        if each.gone:
            await conn.execute(CHANGE_SQL["record_dead_links_gone"], {"wiki": wiki, **_use_columns(each.gone)})
        suspects = [use for use in each.added if use[1] in failing or use[1][:2] in silent] if failing or silent else []
        near[wiki] += await _record_dead(conn, wiki, suspects)
        if wiki in rules:
            await record_for_wikis(conn, named[wiki].union(key for _, key in suspects), day, wiki)
        if near[wiki]:
            await record_repaired(conn, {key for _, key in near[wiki]}, wiki, {page for page, _ in near[wiki]})
    return len(new)


async def record_page_urls(
    conn: Connection,
    wiki: int,
    pages: Mapping[int, Iterable[UrlKey]],
    added_at: Mapping[int, datetime] = MappingProxyType({}),
) -> None:
    """Writes the packed URLs of pages into their rows; the next pass reads these pages again, whatever their mark.

    `added_at`: the moments of the events that added URLs, by page.
    """
    if pages:
        packed, grown = [packed_keys(keys) for keys in pages.values()], [added_at.get(page) for page in pages]
        row = {"wiki": wiki, "page": list(pages)}
        await conn.execute(SQL["record_urls_of"], row | {"urls": packed, "grown": grown})


async def _list_dead_near_copies(conn: Connection, wiki: int, changed: Differences) -> list[Use]:
    """The dead links of pages on which links to archives come or go, which may repair them (L-10)."""
    pages = {page for page, key in (*changed.added, *changed.gone) if key[:2] in ARCHIVE_KEYS}
    if not pages:
        return []
    rows = await conn.execute(CHANGE_SQL["list_dead_links_of"], {"wiki": wiki, "pages": sorted(pages)})
    return [(page, UrlKey(*key)) async for page, *key in rows]


async def _list_own_dead(
    conn: Connection, wiki: int, rules: WikiRules, added: Iterable[Use], urls: Mapping[UrlKey, Url]
) -> set[UrlKey]:
    """Those of the URLs that came which the wiki names as always dead (U-11), which fail, or which its log calls dead:
    while none of its pages used them nothing was logged for it."""
    came = {key for _, key in added}
    named = {key for key in came if PERMADEAD in rules.flags_of(urls[key])} if rules.lists.permadead else set()
    return named | await list_suspects(conn, wiki, came)


async def _lock_urls(
    conn: Connection, came: list[UrlKey], left: list[UrlKey], dead: set[UrlKey]
) -> tuple[set[UrlKey], set[UrlKey], list[UrlKey]]:
    """Locks the URLs that will change, the `dead` ones of pages that do, and the failing ones, so that no round changes
    their verdicts meanwhile.

    Returns those that came and are known, the failing ones, and the orphans among those that came.
    """
    known = await (await conn.execute(URL_SQL["list_known"], key_columns(came))).fetchall() if came else []
    there = {UrlKey(*key) for *key, _ in known}
    special = sorted(dead.difference(left).union(UrlKey(*key) for *key, is_special in known if is_special))
    if not special and not left:
        return there, set(), []
    columns = {**key_columns((*special, *left)), "left": [False] * len(special) + [True] * len(left)}
    rows = await (await conn.execute(URL_SQL["lock_urls"], columns)).fetchall()
    there -= {*special} - {UrlKey(*key) for *key, _, _ in rows}  # deleted until they could be locked
    failing = {UrlKey(*key) for *key, fails, _ in rows if fails}
    return there, failing, [UrlKey(*key) for *key, _, orphaned in rows if orphaned]


async def _lock_hosts(conn: Connection, there: Iterable[UrlKey], changed: Iterable[UrlKey]) -> set[HostKey]:
    """Locks the hosts of URLs that have changed, and those that are failing among the hosts of URLs that were there.

    Returns the failing ones: a URL of such a host may die with its next check, whatever is known of it (D-28).
    """
    written = hosts_of(changed)
    hosts = sorted({*written, *hosts_of(there)})
    columns = {**host_key_columns(hosts), "written": [host in written for host in hosts]}
    rows = await conn.execute(URL_SQL["lock_hosts"], columns)
    return {HostKey(*host) async for *host, fails in rows if fails}


async def _record_urls(
    conn: Connection, new: Sequence[UrlKey], urls: Mapping[UrlKey, Url], day: int
) -> dict[UrlKey, CitedCopy]:
    """Records URLs that are not known yet, and makes those due that are no cited copies; returns these."""
    found = [urls[key] for key in new]
    cited = {key: copy for key, url in zip(new, found, strict=True) if (copy := cited_copy_of(key, url, day))}
    if new:
        days = [NEVER_DUE if key in cited else day for key in new] if cited else repeat(day, len(new))
        rows = (  # no path has a tab or a backslash (L-6)
            f"{bucket}\t{host_key}\t{url_key}\t{_SCHEMES[scheme]}\t{port}\t{path}\t{due}\n"
            for (bucket, host_key, url_key), (scheme, _, port, path), due in zip(new, found, days, strict=True)
        )
        await write_rows(conn, URL_SQL["record_urls"], rows)
    if cited:
        await record_cited_as_snapshots(conn, cited, urls, day)
        await record_cited(conn, cited.values())
    return cited


async def _record_links(conn: Connection, wiki: int, added: Sequence[Use]) -> None:
    """Records uses; those that are there already, as they should not be, stay as they are."""
    if len(added) >= _MANY:
        rows = (f"{wiki}\t{page}\t{b}\t{h}\t{u}\n" for page, (b, h, u) in added)
        with suppress(UniqueViolation, InternalError_):  # what Citus makes of it
            async with conn.transaction():
                await write_rows(conn, SQL["record_many_links"], rows)
            return
    await conn.execute(SQL["record_links"], {"wiki": wiki, **_use_columns(added)})


async def _record_hosts(
    conn: Connection, new: Sequence[UrlKey], urls: Mapping[UrlKey, Url], cited: Mapping[UrlKey, CitedCopy], day: int
) -> None:
    """Writes the hosts of new URLs, with something to check now: since the day before, so that no hour of this day is
    waited for. Cited copies alone give a host nothing to check (D-97)."""
    names = {key[:2]: urls[key].host for key in new}
    if not names:
        return
    checked = {key[:2] for key in new if key not in cited} if cited else names.keys()
    hosts = sorted(map(HostKey._make, names))
    columns = {
        **host_key_columns(hosts),
        "host": [names[host] for host in hosts],
        "reversed": [reversed_name(names[host]) for host in hosts],
        "next_day": [day - 1 if host in checked else NEVER_DUE for host in hosts],
    }
    await conn.execute(URL_SQL["record_hosts"], columns)


async def _record_dead(conn: Connection, wiki: int, added: list[Use]) -> list[Use]:
    """Records the dead links of pages that begin to use a URL that is dead by the log, whatever policy judged it.

    Returns them.
    """
    if not added:
        return []
    keys = sorted({key for _, key in added})
    row = {**key_columns(keys), "dead": Verdict.DEAD.value}
    if not (dead := await fetch_all(conn, UrlKey, CHANGE_SQL["list_dead_by_log"], row)):
        return []
    since = {key: finding_of(known.record, known.host).since for key, known in (await find_urls(conn, dead)).items()}
    uses = sorted(use for use in added if use[1] in since)
    columns = {**_use_columns(uses), "since": [since[key] for _, key in uses]}
    await conn.execute(CHANGE_SQL["record_dead_links"], {"wiki": wiki, **columns})
    return uses


def _use_columns(uses: Iterable[Use]) -> Columns:
    rows = sorted(uses)
    return {"page": [page for page, _ in rows], **key_columns(key for _, key in rows)}
