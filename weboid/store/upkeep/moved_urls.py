"""Moving URLs from their keys to others with all that depends on them, or dropping them (O-10).

The choice of URLs, and keeping programs with other keys from writing meanwhile, belong to ``store/upkeep/rekey``. URLs
that get the same key become one URL, with the record that was checked last and the uses of all.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from weboid.core.record.record import HostRecord
from weboid.core.url.hosts import reversed_name
from weboid.core.url.keys import UrlKey
from weboid.core.url.urls import Url
from weboid.core.verdict.verdict import Verdict, change_of, finding_of
from weboid.store.archives.with_url import delete_copies, record_moved_copies
from weboid.store.db.key_scheme import KeyScheme
from weboid.store.db.pool import Connection
from weboid.store.db.rows import (
    SCHEMES,
    Columns,
    HostKey,
    KnownUrl,
    StoredHost,
    StoredUrl,
    host_key_columns,
    host_record_columns,
    key_columns,
    stored_host,
)
from weboid.store.db.statements import statements
from weboid.store.pages.use import packed_keys, unpacked_keys
from weboid.store.people.report import delete_with_urls
from weboid.store.upkeep.expiry import delete_hosts
from weboid.store.urls.check import list_silent_urls, record_changes, record_due, record_next_days
from weboid.store.urls.lock import lock_urls_and_hosts
from weboid.store.urls.url import find_urls

SQL: Final = statements("upkeep/rekey")
CHANGE_SQL: Final = statements("urls/verdict_log")
EXPIRY_SQL: Final = statements("upkeep/expiry")
_PAGES: Final = 1_000


@dataclass(slots=True)
class Moves:
    """The new keys of URLs (None = invalid now), and by new key the URL in its new normal form."""

    to: dict[UrlKey, UrlKey | None] = field(default_factory=dict)
    urls: dict[UrlKey, Url] = field(default_factory=dict)

    @property
    def kept(self) -> dict[UrlKey, UrlKey]:
        """The new keys of the URLs that are still valid."""
        return {old: new for old, new in self.to.items() if new is not None}


def moves_of(stored: Mapping[UrlKey, Url], scheme: KeyScheme) -> Moves:
    """The moves that give these URLs the keys of a scheme."""
    moves = Moves()
    for old, url in stored.items():
        renewed = scheme.renewed(str(url))
        new = None if renewed is None else scheme.key(renewed)
        if new != old:
            moves.to[old] = new
            if new is not None and renewed is not None:
                moves.urls[new] = renewed
    return moves


async def record_moves(conn: Connection, moves: Moves, day: int) -> int:
    """Moves or drops URLs with all that depends on them, in the caller's transaction; returns how many were merged.

    `day` is for the verdict log, as verdicts may change where hosts are merged. No intake may be under way.
    """
    kept = moves.kept
    await conn.execute(SQL["lock_pages"], key_columns(sorted(moves.to)))
    await lock_urls_and_hosts(conn, {*moves.to, *kept.values()})
    known = await find_urls(conn, sorted({*kept, *kept.values()}))
    winners = _winners(kept, known)
    losers = sorted(({*kept} | {new for new in kept.values() if new in known}) - set(winners.values()))
    dropped = sorted(moves.to.keys() - kept.keys())
    hosts = await _record_hosts(conn, moves, known)
    await _record_uses(conn, moves, dropped)
    await _record_merged_reverts(conn, {loser: winners[kept.get(loser, loser)] for loser in losers})
    gone = key_columns([*losers, *dropped])
    for name in ("delete_changes", "delete_urls"):
        await conn.execute(EXPIRY_SQL[name], gone)
    await delete_with_urls(conn, [*losers, *dropped])
    await delete_copies(conn, [*losers, *dropped])
    await _record_urls(conn, moves, winners)
    merged = {new: _orphaned(new, kept, known) for new in {kept.get(loser, loser) for loser in losers}}
    columns = {**key_columns(sorted(merged)), "orphaned": [merged[key] for key in sorted(merged)]}
    await conn.execute(SQL["record_orphaned"], columns)
    # A check of the meantime is not kept, so it is made again.
    await record_due(conn, {new: day for new, old in winners.items() if new in merged and old[1:] == new[1:]})
    await _record_verdicts(conn, {new: known[old] for new, old in winners.items()}, hosts, merged, day)
    old_hosts = sorted({HostKey(*key[:2]) for key in moves.to})
    await delete_hosts(conn, old_hosts)
    await record_next_days(conn, sorted({*hosts, *old_hosts}))
    return len(losers)


def _winners(kept: Mapping[UrlKey, UrlKey], known: Mapping[UrlKey, KnownUrl]) -> dict[UrlKey, UrlKey]:
    """By new key, the present key of the record to keep: the one checked last, in a tie the one at the new key.

    What is at the new key of the same URL came while it waited to be moved: the history is at the old one.
    """
    winners: dict[UrlKey, UrlKey] = {new: new for new in kept.values() if new in known}
    for old, new in kept.items():
        best = winners.get(new)
        if best is None or old[1:] == new[1:] or _checked_day(known[old]) > _checked_day(known[best]):
            winners[new] = old
    return winners


def _checked_day(url: KnownUrl) -> int:
    return -1 if url.record.checked is None else url.record.checked


def _orphaned(new: UrlKey, kept: Mapping[UrlKey, UrlKey], known: Mapping[UrlKey, KnownUrl]) -> int | None:
    """Since when a merged URL is an orphan: None if one of its parts is used, else the day of the last one."""
    days = [known[key].orphaned for key in {new, *(old for old, to in kept.items() if to == new)} if key in known]
    return None if None in days else max(day for day in days if day is not None)


async def _record_merged_reverts(conn: Connection, merged: Mapping[UrlKey, UrlKey]) -> None:
    """Moves reverts to the URLs that stay, whatever becomes of other claims: frozen links stay frozen (B-6)."""
    if merged:
        both = {**merged, **{key: key for key in merged.values()}}
        await conn.execute(SQL["delete_equal_reverts"], _move_columns(both))
        await conn.execute(SQL["record_moved_reverts"], _move_columns(merged))


async def _record_uses(conn: Connection, moves: Moves, dropped: Sequence[UrlKey]) -> None:
    """Moves pages, dead links and links, in this order: the others are found by the links."""
    await _record_pages(conn, moves)
    columns = _move_columns(moves.kept)
    await conn.execute(SQL["record_moved_dead"], columns)
    await conn.execute(SQL["record_moved_links"], columns)
    if dropped:
        await conn.execute(CHANGE_SQL["record_alive"], key_columns(dropped))
        await conn.execute(SQL["delete_links"], key_columns(dropped))


async def _record_pages(conn: Connection, moves: Moves) -> None:
    """Updates the pages that use these URLs, however many: a cursor gives a thousand at a time."""
    async with conn.cursor(name="rekey_pages") as cursor:
        await cursor.execute(SQL["list_pages"], key_columns(sorted(moves.to)))
        while rows := await cursor.fetchmany(_PAGES):
            wikis, pages, lists = zip(*rows, strict=True)
            columns = {
                "wiki": [*wikis],
                "page": [*pages],
                "urls": [
                    packed_keys({new for key in unpacked_keys(urls) if (new := moves.to.get(key, key)) is not None})
                    for urls in lists
                ],
            }
            await conn.execute(SQL["record_page_urls"], columns)


async def _record_urls(conn: Connection, moves: Moves, winners: Mapping[UrlKey, UrlKey]) -> None:
    """Moves the records that are kept to their new keys, with their logs and people's claims."""
    moved = {old: new for new, old in winners.items() if old != new}
    urls = [moves.urls[new] for new in moved.values()]
    columns = _move_columns(moved)
    url_columns: Columns = {
        "scheme": [SCHEMES.index(url.scheme) for url in urls],
        "port": [url.port for url in urls],
        "path": [url.path for url in urls],
    }
    # First, as it waits for all who hold one of them to write what is known of it.
    await conn.execute(SQL["record_moved_urls"], {**columns, **url_columns})
    for name in ("changes", "reports", "replacements", "reverts", "looks"):
        await conn.execute(SQL[f"record_moved_{name}"], columns)
    await record_moved_copies(conn, moved)


async def _record_hosts(
    conn: Connection, moves: Moves, known: Mapping[UrlKey, KnownUrl]
) -> dict[HostKey, tuple[StoredHost | None, HostRecord]]:
    """Records the hosts of the new keys with what is known of the old ones.

    Returns for each the host as it was at the new key, and its record now. Of hosts that are merged the one with the
    fewest failures counts: it has answered last (C-5).
    """
    pairs = {(HostKey(*old[:2]), HostKey(*new[:2])) for old, new in moves.kept.items()}
    names = {HostKey(*new[:2]): url.host for new, url in moves.urls.items()}
    rows = await conn.execute(SQL["list_hosts"], host_key_columns({key for pair in pairs for key in pair}))
    stored = {host.key: host for host in [stored_host(row) async for row in rows]}
    after: dict[HostKey, tuple[StoredHost | None, HostRecord]] = {}
    for new in sorted(names):
        candidates = [stored[old].record for old, to in sorted(pairs) if to == new]
        here = stored.get(new)
        after[new] = here, min([here.record, *candidates] if here else candidates, key=_failures)
    changed = [key for key, (here, record) in after.items() if here is None or here.record != record]
    columns = {
        **host_key_columns(changed),
        "host": [names[key] for key in changed],
        "reversed": [reversed_name(names[key]) for key in changed],
        **host_record_columns(after[key][1] for key in changed),
    }
    await conn.execute(SQL["record_hosts"], columns)
    copied = sorted(pair for pair in pairs if pair[0] != pair[1])
    columns = {**host_key_columns(old for old, _ in copied), **_new(host_key_columns(new for _, new in copied))}
    for name in ("specials", "faces", "slots"):
        await conn.execute(SQL[f"record_copied_{name}"], columns)
    return after


def _failures(record: HostRecord) -> tuple[int, int]:
    return record.streak.strikes, -(record.streak.until or 0)


async def _record_verdicts(
    conn: Connection,
    before: Mapping[UrlKey, KnownUrl],
    hosts: Mapping[HostKey, tuple[StoredHost | None, HostRecord]],
    merged: Iterable[UrlKey],
    day: int,
) -> None:
    """Writes changes of verdicts and dead links where hosts or URLs were merged; there are no others."""
    for host, (here, record) in hosts.items():
        if here is not None and here.record != record:
            async for urls in list_silent_urls(conn, host):
                others = [url for url in urls if url.key not in before]
                await _record_changes(conn, {url.key: (url, here.record) for url in others}, hosts, day)
    await _record_changes(conn, {key: (url, url.host) for key, url in before.items()}, hosts, day)
    for key in sorted(merged):
        finding = finding_of(before[key].record, hosts[HostKey(*key[:2])][1])
        if finding.verdict is Verdict.DEAD:
            await conn.execute(CHANGE_SQL["record_dead"], {**key_columns([key]), "since": [finding.since]})
        else:
            await conn.execute(CHANGE_SQL["record_alive"], key_columns([key]))


async def _record_changes(
    conn: Connection,
    before: Mapping[UrlKey, tuple[StoredUrl | KnownUrl, HostRecord]],
    hosts: Mapping[HostKey, tuple[StoredHost | None, HostRecord]],
    day: int,
) -> None:
    found = (
        change_of(key, day, finding_of(url.record, host), finding_of(url.record, hosts[HostKey(*key[:2])][1]))
        for key, (url, host) in before.items()
    )
    await record_changes(conn, [change for change in found if change])


def _move_columns(moved: Mapping[UrlKey, UrlKey]) -> Columns:
    return {**key_columns(moved), **_new(key_columns(moved.values()))}


def _new(columns: Columns) -> Columns:
    return {f"new_{name}": values for name, values in columns.items()}
