"""Confirming and repairing breaches of invariants, in the caller's transaction, a few rows at a time.

What is derived is derived anew; what is not is left as it is. The record goes before the log, the log before the dead
links, the link before its page's list, and the wiki before all: a page that was repaired is read again. Finding
breaches belongs to ``store/upkeep/invariant``.
One law: only what is a breach while everything that could end it is locked counts as one, and is repaired.
"""

from collections.abc import Sequence
from typing import Final

from weboid.core.record.policy import Policy
from weboid.core.url.keys import UrlKey
from weboid.core.verdict.verdict import Change, finding_of
from weboid.store.db.key_scheme import require_scheme
from weboid.store.db.pool import Connection
from weboid.store.db.rows import HostKey, key_columns
from weboid.store.db.statements import statements
from weboid.store.pages.use import Differences, begin_intake, record_page_urls, record_uses, unpacked_keys
from weboid.store.upkeep.expiry import delete_hosts
from weboid.store.upkeep.invariant import Breach, Invariant, Share, Stretch, Walk, list_breaches, place_of
from weboid.store.upkeep.repair_copies import repair_copies, repair_urls_without_copies
from weboid.store.urls.check import record_changes, record_next_days
from weboid.store.urls.lock import hosts_of, list_there, lock_hosts, lock_urls_and_hosts
from weboid.store.urls.url import find_urls

SQL: Final = statements("upkeep/invariant")
URL_SQL: Final = statements("urls/url")
CHANGE_SQL: Final = statements("urls/verdict_log")
EXPIRY_SQL: Final = statements("upkeep/expiry")
_KEY_BYTES: Final = 18
_PageId = tuple[int, int]
"""The number of a wiki, and that of a page in it."""


async def confirm(
    conn: Connection, walk: Walk, suspects: Sequence[Breach], policy: Policy, share: Share
) -> list[Breach]:
    """Locks what is suspect until the transaction ends; returns the suspects that are breaches nevertheless.

    Raises StoreError if the keys are being moved (O-10).
    """
    await require_scheme(conn)
    await _lock(conn, walk, suspects)
    places = sorted(place_of(walk, each) for each in suspects)
    wanted = {(each.invariant, each.key, each.wiki, each.page) for each in suspects}
    found = await list_breaches(conn, Stretch(walk, places[0], places[-1]), policy, share)
    return [each for each in found if (each.invariant, each.key, each.wiki, each.page) in wanted]


async def repair(conn: Connection, walk: Walk, breaches: Sequence[Breach], day: int, policy: Policy) -> list[Breach]:
    """Repairs confirmed breaches of one walk in the same transaction; returns those that could be."""
    match walk:
        case Walk.URLS:
            return await _repair_urls(conn, breaches, day, policy)
        case Walk.COPIES:
            await repair_copies(conn, breaches, day)
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
    """Takes the locks of all who write what is suspect, in their order."""
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
    pages = sorted({(each.wiki, each.page) for each in breaches})
    columns = {"wiki": [wiki for wiki, _ in pages], "page": [page for _, page in pages]}
    return {
        (wiki, page): set(unpacked_keys(urls[: len(urls) // _KEY_BYTES * _KEY_BYTES]))
        async for wiki, page, urls in await conn.execute(SQL["lock_pages"], columns)
    }


async def _repair_urls(conn: Connection, breaches: Sequence[Breach], day: int, policy: Policy) -> list[Breach]:
    """Continues logs, completes dead links, marks orphans; a URL without host, or with a bad record, stays as it is."""
    of: dict[Invariant, list[Breach]] = {invariant: [] for invariant in Invariant}
    for each in breaches:
        of[each.invariant].append(each)
    known = await find_urls(conn, sorted({each.key for each in (*of[Invariant.VERDICT], *of[Invariant.DEAD])}))
    findings = {key: finding_of(url.record, url.host, policy) for key, url in known.items()}
    changes = []
    for each in of[Invariant.VERDICT]:
        assert each.verdicts is not None, "a breach of VERDICT has them"
        found = findings[each.key]
        changes.append(Change(each.key, day, each.verdicts[0], found.verdict, found.reason, found.since))
    await record_changes(conn, changes)
    if dead := sorted(each.key for each in of[Invariant.DEAD]):
        columns = {**key_columns(dead), "since": [findings[key].since for key in dead]}
        await conn.execute(CHANGE_SQL["record_dead"], columns)
    if orphans := sorted(each.key for each in of[Invariant.ORPHAN]):
        unused = [UrlKey(*row) async for row in await conn.execute(SQL["list_unused"], key_columns(orphans))]
        used = sorted(set(orphans) - set(unused))
        await conn.execute(EXPIRY_SQL["record_used"], key_columns(used))
        await conn.execute(URL_SQL["record_orphans"], {"day": day, **key_columns(unused)})
        await record_next_days(conn, sorted(hosts_of(orphans)))
    about_copies = [*of[Invariant.CITED], *of[Invariant.QUEUE]]
    await repair_urls_without_copies(conn, about_copies, day)
    return [*of[Invariant.VERDICT], *of[Invariant.DEAD], *of[Invariant.ORPHAN], *about_copies]


async def _repair_pages(conn: Connection, breaches: Sequence[Breach], day: int, *, is_linked: bool) -> None:
    """Makes pages name just their links; links without page or URL are deleted, with all that follows.

    What such a page really uses, only the wiki knows: it is read again.
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
    columns = {"wiki": [wiki for wiki, _ in pages], "page": [page for _, page in pages]}
    await conn.execute(SQL["record_read_again"], columns)
