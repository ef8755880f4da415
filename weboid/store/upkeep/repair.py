"""Confirming and repairing breaches of invariants, in the caller's transaction, a few rows at a time.

Derived data are derived anew, other data stay as they are. The record goes before the log, the log before the dead
links, the link before its page's list, and the wiki before all: a page that was repaired is read again. The URL itself
says whether it is a cited copy. Finding breaches belongs to ``store/upkeep/invariant``. A breach counts, and is
repaired, only if it is one while all that could end it is locked.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from weboid.core.record.policy import Policy
from weboid.core.url.keys import UrlKey
from weboid.core.verdict.verdict import Change, finding_of
from weboid.store.archives.cited_copy import cited_copy_of, record_cited
from weboid.store.archives.copy_queue import Rank, record_wanted
from weboid.store.archives.with_url import delete_copies, list_plain_urls
from weboid.store.db.key_scheme import require_scheme
from weboid.store.db.pool import Connection
from weboid.store.db.rows import HostKey, key_columns
from weboid.store.db.statements import statements
from weboid.store.pages.use import Differences, begin_intake, record_page_urls, record_uses
from weboid.store.people.report import delete_with_urls
from weboid.store.upkeep.expiry import delete_hosts
from weboid.store.upkeep.invariant import (
    Breach,
    Invariant,
    Share,
    Stretch,
    Walk,
    list_breaches,
    place_of,
    whole_keys,
)
from weboid.store.urls.check import record_changes, record_next_days
from weboid.store.urls.lock import hosts_of, list_there, lock_hosts, lock_urls_and_hosts
from weboid.store.urls.url import find_urls

SQL: Final = statements("upkeep/invariant")
URL_SQL: Final = statements("urls/url")
CHANGE_SQL: Final = statements("urls/verdict_log")
EXPIRY_SQL: Final = statements("upkeep/expiry")
CITED_SQL: Final = statements("archives/cited_copy")
COPY_SQL: Final = statements("archives/with_url")
_PageId = tuple[int, int]
"""The number of a wiki, and that of a page in it."""


async def confirm(
    conn: Connection, walk: Walk, suspects: Sequence[Breach], policy: Policy, share: Share
) -> list[Breach]:
    """Locks the suspects until the transaction ends; returns those that are breaches nevertheless.

    Raises StoreError if the keys are being moved (O-10).
    """
    await require_scheme(conn)
    await _lock(conn, walk, suspects)
    places = sorted(place_of(walk, each) for each in suspects)
    found = await list_breaches(conn, Stretch(walk, places[0], places[-1]), policy, share)
    suspected = {_about(each) for each in suspects}
    return [each for each in found if _about(each) in suspected]


def _about(breach: Breach) -> tuple[Invariant, UrlKey, int, int]:
    return breach.invariant, breach.key, breach.wiki, breach.page


async def repair(conn: Connection, walk: Walk, breaches: Sequence[Breach], day: int, policy: Policy) -> list[Breach]:
    """Repairs confirmed breaches of one walk in the same transaction; returns those that could be."""

    def keys(*invariants: Invariant) -> list[UrlKey]:
        return sorted({each.key for each in breaches if each.invariant in invariants})

    match walk:
        case Walk.URLS:
            await _repair_verdicts(conn, breaches, keys, day, policy)
            await _repair_orphans(conn, keys(Invariant.ORPHAN), day)
            await record_wanted(conn, keys(Invariant.QUEUE), day, Rank.DEAD)
            await _repair_cited(conn, keys(Invariant.CITED), day)
            # A URL without a host, or with a bad record, stays as it is.
            return [each for each in breaches if each.invariant not in (Invariant.NO_HOST, Invariant.RECORD)]
        case Walk.COPIES:
            gone = keys(Invariant.COPY)
            await delete_copies(conn, gone)
            await delete_with_urls(conn, gone)
            await conn.execute(COPY_SQL["delete_copy_queue"], key_columns(keys(Invariant.QUEUE)))
            await _repair_cited(conn, keys(Invariant.CITED), day)
        case Walk.HOSTS:
            hosts = sorted(hosts_of(each.key for each in breaches))
            await delete_hosts(conn, hosts)
            await record_next_days(conn, hosts)
        case Walk.LINKS | Walk.PAGES:
            await _repair_pages(conn, breaches, day, is_linked=walk is Walk.LINKS)
        case Walk.DEAD:
            for wiki in sorted({each.wiki for each in breaches}):
                uses = [each for each in breaches if each.wiki == wiki]
                columns = {"page": [each.page for each in uses], **key_columns(each.key for each in uses)}
                await conn.execute(CHANGE_SQL["record_dead_links_gone"], {"wiki": wiki, **columns})
    return list(breaches)


async def _lock(conn: Connection, walk: Walk, suspects: Sequence[Breach]) -> None:
    """Takes the locks of all who write the suspect rows, in their order."""
    if walk in (Walk.LINKS, Walk.PAGES):
        await begin_intake(conn)
        await _lock_pages(conn, suspects)
    elif walk is Walk.HOSTS:
        await lock_hosts(conn, {HostKey(*each.key[:2]) for each in suspects})
    else:
        if any(each.invariant is Invariant.ORPHAN for each in suspects):
            await begin_intake(conn)
        await lock_urls_and_hosts(conn, {each.key for each in suspects})


async def _lock_pages(conn: Connection, breaches: Sequence[Breach]) -> dict[_PageId, set[UrlKey]]:
    """Locks the pages that are there; returns the whole keys that they name."""
    rows = await conn.execute(SQL["lock_pages"], _page_columns({(each.wiki, each.page) for each in breaches}))
    return {(wiki, page): set(whole_keys(urls)) async for wiki, page, urls in rows}


def _page_columns(pages: Iterable[_PageId]) -> dict[str, list[int]]:
    ordered = sorted(pages)
    return {"wiki": [wiki for wiki, _ in ordered], "page": [page for _, page in ordered]}


async def _repair_verdicts(
    conn: Connection, breaches: Sequence[Breach], keys: Callable[..., list[UrlKey]], day: int, policy: Policy
) -> None:
    """Continues logs and completes dead links."""
    known = await find_urls(conn, keys(Invariant.VERDICT, Invariant.DEAD))
    findings = {key: finding_of(url.record, url.host, policy) for key, url in known.items()}
    changes = []
    for each in breaches:
        if each.invariant is Invariant.VERDICT:
            assert each.verdicts is not None, "a breach of VERDICT has them"
            found = findings[each.key]
            changes.append(Change(each.key, day, each.verdicts[0], found.verdict, found.reason, found.since))
    await record_changes(conn, changes)
    dead = keys(Invariant.DEAD)
    columns = {**key_columns(dead), "since": [findings[key].since for key in dead]}
    await conn.execute(CHANGE_SQL["record_dead"], columns)


async def _repair_orphans(conn: Connection, orphans: Sequence[UrlKey], day: int) -> None:
    if orphans:
        unused = [UrlKey(*row) async for row in await conn.execute(SQL["list_unused"], key_columns(orphans))]
        await conn.execute(EXPIRY_SQL["record_used"], key_columns(sorted(set(orphans) - set(unused))))
        await conn.execute(URL_SQL["record_orphans"], {"day": day, **key_columns(unused)})
        await record_next_days(conn, sorted(hosts_of(orphans)))


async def _repair_cited(conn: Connection, keys: Sequence[UrlKey], day: int) -> None:
    """Records cited copies and takes them out of rounds; makes other URLs due."""
    if keys:
        urls = await list_plain_urls(conn, keys)
        copies = {key: copy for key, url in urls.items() if (copy := cited_copy_of(key, url, day))}
        others = sorted(urls.keys() - copies.keys())
        await conn.execute(CITED_SQL["record_never_due"], key_columns(sorted(copies)))
        await record_cited(conn, copies.values())
        await conn.execute(CITED_SQL["delete_cited"], key_columns(others))
        await conn.execute(CITED_SQL["record_due_again"], {**key_columns(others), "day": day})
        await record_next_days(conn, sorted(hosts_of(keys)))


async def _repair_pages(conn: Connection, breaches: Sequence[Breach], day: int, *, is_linked: bool) -> None:
    """Makes pages name just their links; links without page or URL are deleted, with all that follows.

    Only the wiki knows the URLs that such a page really uses: it is read again.
    """
    pages = await _lock_pages(conn, breaches)
    there = await list_there(conn, sorted({each.key for each in breaches}))
    differences: dict[int, Differences] = {}
    for each in breaches:
        named = pages.get((each.wiki, each.page))
        if is_linked and (named is None or each.key not in there):
            differences.setdefault(each.wiki, Differences()).gone.append((each.page, each.key))
        if named is not None and is_linked and each.key in there:
            named.add(each.key)
        elif named is not None:
            named.discard(each.key)
    await record_uses(conn, differences, {}, day)
    if is_linked and (gone := sorted({each.key for each in breaches} - there)):
        # If such a URL comes again, it is a new one.
        await conn.execute(EXPIRY_SQL["delete_changes"], key_columns(gone))
    for wiki in sorted({wiki for wiki, _ in pages}):
        await record_page_urls(conn, wiki, {page: keys for (of, page), keys in pages.items() if of == wiki})
    await conn.execute(SQL["record_read_again"], _page_columns(pages))
