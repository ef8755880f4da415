"""The rekey: moving everything in a store to the keys of this program (O-10), batch by batch.

Each batch is one transaction that leaves every URL complete, under its old key or under its new one. A URL that is
moved already is recognised by its key, as computing it again changes nothing. So no progress is recorded, and after a
run that was killed the next one finds the rest. Moving one batch belongs to ``store/upkeep/moved_urls``.

Where the form of URLs changes all are read, and between the first batch and the last the recorded scheme is that of no
program, so that none writes. Where the suffix list alone changes, whatever the lists say, the hosts are read that have
another bucket now, and their URLs are moved. Programs that know the new list run meanwhile: to them a URL is unknown
until it is moved, and what an intake or a check wrote at its new key becomes one with it. Those that know the old list
are refused at once.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from weboid.core.url.keys import UrlKey
from weboid.core.url.urls import Url
from weboid.errors import StoreError
from weboid.mechanism.patience import Again, at_once
from weboid.store.archives.cited_copy import record_originals
from weboid.store.db.key_scheme import OURS, UNDER_WAY, KeyScheme, find_stated, record_scheme
from weboid.store.db.pool import Connection, Pool
from weboid.store.db.rows import Columns, HostKey, host_key_columns, url_of
from weboid.store.db.statements import fetch_value, statements
from weboid.store.db.transactions import repeated
from weboid.store.pages.use import begin_intake
from weboid.store.upkeep.expiry import BEFORE_ALL
from weboid.store.upkeep.moved_urls import Moves, moves_of, record_moves

SQL: Final = statements("upkeep/rekey")
BATCH: Final = 500
"""URLs read in one transaction."""
_HOSTS: Final = 5_000
"""Hosts read at once."""
WORKER: Final = "rekey"
"""The name of the worker that holds all leases meanwhile."""


@dataclass(slots=True)
class Rekeyed:
    """The progress of a run. `merged` URLs got the same key as another one, `dropped` ones are invalid now.

    All buckets before `bucket` have been looked through. Not `is_needed`: everything had its key.
    """

    is_needed: bool = False
    bucket: int = 0
    moved: int = 0
    merged: int = 0
    dropped: int = 0
    spam_links: int = 0


Show = Callable[[Rekeyed], None]
_Walk = Callable[..., Awaitable[UrlKey | None]]
_Place = tuple[int, ...]
"""The wiki, the page and the key of a spam link."""


async def begin_rekey(conn: Connection) -> None:
    """Keeps workers and feeders out until `end_rekey`; raises StoreError while workers are running."""
    await conn.execute(SQL["record_leases_taken"], {"worker": WORKER})
    workers = [row[0] async for row in await conn.execute(SQL["list_workers"], {"worker": WORKER})]
    if workers:
        raise StoreError(f"crawlers are at work ({', '.join(workers)}): stop them first, then run it again")
    await _record_scheme(conn, *UNDER_WAY)


async def end_rekey(conn: Connection, scheme: KeyScheme = OURS) -> None:
    """Records that everything has its new key: workers and feeders may run again."""
    await _record_scheme(conn, scheme.form_version, scheme.suffix_version)
    await conn.execute(SQL["record_leases_given_back"], {"worker": WORKER})


async def rekey(
    pool: Pool,
    day: int,
    scheme: KeyScheme = OURS,
    *,
    batch: int = BATCH,
    dry_run: bool = False,
    show: Show = lambda so_far: None,
    again: Again = at_once,
) -> Rekeyed:
    """Moves everything to the keys of a scheme, unless it has them; `day` is for the log, as verdicts may change.

    `dry_run`: counts what would be moved or dropped (not what would be merged) and writes nothing. `again` does a
    batch. Raises StoreError while workers are running, unless the suffix list alone is another one.
    """
    done = Rekeyed()

    async def end() -> None:
        async with pool.connection() as conn:
            await end_rekey(conn, scheme)

    if (walk := await again(partial(_begin, pool, scheme, dry_run=dry_run))) is None:
        return done
    done.is_needed = True
    after = BEFORE_ALL
    while key := await again(partial(walk, pool, scheme, after, batch, day, done, dry_run=dry_run)):
        done.bucket = key.bucket
        show(done)
        after = key
    before: _Place = (-1, 0, *BEFORE_ALL)
    while place := await again(partial(_rekey_spam_links, pool, scheme, before, batch, done, dry_run=dry_run)):
        show(done)
        before = place
    if not dry_run:
        await _rekey_originals(pool, scheme, batch, again)
        await again(partial(_rekey_domain_reports, pool, scheme))
        await again(end)
    return done


async def _begin(pool: Pool, scheme: KeyScheme, *, dry_run: bool) -> _Walk | None:
    """Begins the rekey; returns what goes through the store, None if everything has its key."""
    async with pool.connection() as conn:
        await conn.execute(SQL["lock"])
        await record_scheme(conn)
        stated = await find_stated(conn)
        if stated == (scheme.form_version, scheme.suffix_version, False):
            return None
        has_form = stated is not None and stated.form_version == scheme.form_version
        if has_form and not dry_run:
            await _record_scheme(conn, scheme.form_version, scheme.suffix_version, is_moving=True)
        elif not dry_run:
            await begin_rekey(conn)
    return _rekey_hosts if has_form else _rekey_urls


@repeated
async def _rekey_hosts(
    pool: Pool, scheme: KeyScheme, after: UrlKey, batch: int, day: int, done: Rekeyed, *, dry_run: bool
) -> UrlKey | None:
    """Moves the URLs of those of the next hosts that have another bucket now; returns the last, None after all."""
    async with pool.connection() as conn:
        given = {"bucket": after.bucket, "host_key": after.host_key, "limit": _HOSTS}
        rows = await (await conn.execute(SQL["list_hosts_after"], given)).fetchall()
        moving = [HostKey(*row[:2]) for row in rows if scheme.key(Url("http", row[2], 0, "/")).bucket != row[0]]
        columns = host_key_columns(moving)
        if dry_run:
            done.moved += await fetch_value(conn, SQL["count_urls_of_hosts"], columns) or 0
    while moving and not dry_run and await _move_some(pool, scheme, columns, batch, day, done):
        pass
    return UrlKey(rows[-1][0], rows[-1][1], 0) if rows else None


@repeated
async def _move_some(pool: Pool, scheme: KeyScheme, hosts: Columns, batch: int, day: int, done: Rekeyed) -> bool:
    """Moves a batch of the URLs of some hosts; returns whether there were any."""
    async with pool.connection() as conn:
        await _lock(conn)
        rows = await conn.execute(SQL["list_urls_of_hosts"], {**hosts, "limit": batch})
        stored = {UrlKey(*row[:3]): url_of(row[3:]) async for row in rows}
        moves = moves_of(stored, scheme)
        # A crawler may be checking what has come to the new keys already: else it would write over what is moved there.
        await conn.execute(SQL["record_leases_lost"], {"buckets": sorted({key.bucket for key in moves.urls})})
        merged = await record_moves(conn, moves, day) if stored else 0
    _count(done, moves, merged)
    return bool(stored)


@repeated
async def _rekey_urls(
    pool: Pool, scheme: KeyScheme, after: UrlKey, batch: int, day: int, done: Rekeyed, *, dry_run: bool
) -> UrlKey | None:
    """Moves the URLs after a key, a batch of them; returns the last, None after all."""
    merged = 0
    async with pool.connection() as conn:
        await _lock(conn)
        stored = await _list_urls(conn, after, batch)
        if not stored:
            return None
        moves = moves_of(stored, scheme)
        if moves.to and not dry_run:
            merged = await record_moves(conn, moves, day)
    _count(done, moves, merged)
    return next(reversed(stored))


def _count(done: Rekeyed, moves: Moves, merged: int) -> None:
    done.moved += len(moves.kept)
    done.merged += merged
    done.dropped += len(moves.to) - len(moves.kept)


async def _lock(conn: Connection) -> None:
    """Lets no other rekey and no intake write until the transaction ends."""
    await conn.execute(SQL["lock"])
    await begin_intake(conn)


async def _record_scheme(conn: Connection, form_version: int, suffix_version: str, *, is_moving: bool = False) -> None:
    row = {"form_version": form_version, "suffix_version": suffix_version, "moving": is_moving}
    await conn.execute(SQL["record_key_form"], row)


async def _list_urls(conn: Connection, after: UrlKey, limit: int) -> dict[UrlKey, Url]:
    rows = await conn.execute(SQL["list_urls"], {**after._asdict(), "limit": limit})
    return {UrlKey(*row[:3]): url_of(row[3:]) async for row in rows}


@repeated
async def _rekey_spam_links(
    pool: Pool, scheme: KeyScheme, after: _Place, batch: int, done: Rekeyed, *, dry_run: bool
) -> _Place | None:
    """Moves spam links by themselves, a batch of them: their URLs, as the pages give them, are stored nowhere else."""
    names = ("wiki", "page", "bucket", "host_key", "url_key")
    old, new = [], []
    async with pool.connection() as conn:
        await _lock(conn)
        given = {**dict(zip(names, after, strict=True)), "limit": batch}
        rows = await (await conn.execute(SQL["list_spam_links"], given)).fetchall()
        if not rows:
            return None
        for *place, url, day in rows:
            renewed = scheme.renewed(url)
            key = None if renewed is None else scheme.key(renewed)
            if key != tuple(place[2:]):
                old.append(place)
                if key is not None:
                    new.append([*place[:2], *key, url, day])
        if not dry_run:
            await conn.execute(SQL["delete_spam_links"], _transposed(names, old))
            await conn.execute(SQL["record_spam_links"], _transposed((*names, "url", "day"), new))
    done.spam_links += len(old)
    return tuple(rows[-1][:5])


async def _rekey_originals(pool: Pool, scheme: KeyScheme, batch: int, again: Again) -> None:
    """Computes anew what cited copies are copies of: their own URLs say it."""

    @repeated
    async def record(after: UrlKey) -> UrlKey | None:
        async with pool.connection() as conn:
            await conn.execute(SQL["lock"])
            return await record_originals(conn, after, scheme, limit=batch)

    after: UrlKey | None = UrlKey(-1, -(2**63), -(2**63))
    while after is not None:
        after = await again(partial(record, after))


@repeated
async def _rekey_domain_reports(pool: Pool, scheme: KeyScheme) -> None:
    """Moves reports on whole domains, a few thousand rows at most. Of those that are merged the newest is kept."""
    names = ("bucket", "domain", "day", "subject", "name")
    async with pool.connection() as conn:
        await conn.execute(SQL["lock"])
        rows = await (await conn.execute(SQL["delete_domain_reports"])).fetchall()
        kept: dict[tuple[int, str], Sequence[Any]] = {}
        for row in rows:
            url = scheme.renewed(f"http://{f'[{row[1]}]' if ':' in row[1] else row[1]}/")
            if url is not None:
                place = scheme.key(url).bucket, url.host
                if place not in kept or kept[place][2] < row[2]:
                    kept[place] = row
        new = [(*place, *row[2:]) for place, row in sorted(kept.items())]
        await conn.execute(SQL["record_domain_reports"], _transposed(names, new))


def _transposed(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Columns:
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}
