"""Making a backup (O-9): pg_dump over one snapshot while everything goes on, read back before it counts.

The files that are kept belong to ``store/backup/kept_files``. A file is there whole or not at all: it gets its name
when it is on the disk and was read back.
"""

import asyncio
import contextlib
import fcntl
import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Final

from msgspec.structs import replace as with_fields
from psycopg import IsolationLevel

from weboid import __version__
from weboid.core.record.days import day_of
from weboid.errors import StoreError
from weboid.mechanism.tasks import in_background
from weboid.pgfolder.folder import sync_folder
from weboid.store.backup.archive import archive_script
from weboid.store.backup.client_programs import ClientProgram, Runner, address, find_program, running
from weboid.store.backup.manifest import Manifest, is_backup, read_manifest
from weboid.store.backup.tables import SQL, VOLATILE, StoredTable, find_schema, list_tables, our_tables
from weboid.store.db.key_scheme import OURS
from weboid.store.db.key_scheme import SQL as KEY_SQL
from weboid.store.db.pool import Connection, Pool, open_pool

UNFINISHED: Final = ".unfinished"
LEVEL: Final = "1"
"""Of gzip: each level more makes the backup slower by far more than smaller."""
_NAME: Final = "weboid pg_dump"
_LOOK_S: Final = 0.5
_LOCK_S: Final = 60

Show = Callable[[str, int, int], None]
"""Called with the present step, and how many bytes of how many are done."""


@dataclass(frozen=True, slots=True)
class _Source:
    """The source of a backup: the manifest so far, the snapshot's name, the tables."""

    manifest: Manifest
    snapshot: str
    tables: dict[str, StoredTable]


async def make_backup(dsn: str, path: Path, runner: Runner, *, day: int | None = None, show: Show) -> Manifest:
    """Writes a backup of the database to a file, whole or not at all, with mode 0600, in place of an older one.

    `day` = None: that of the database's clock. Raises StoreError with what to do. If it is cancelled, there is no file.
    """
    _require_replaceable(path)
    with _unfinished(path) as file:
        manifest = await _write(dsn, file, runner, day, show)
    # Nothing is waited for from here on: a cancellation would come after the file has its name.
    assert read_manifest(path) == manifest
    return manifest


async def _write(dsn: str, file: IO[bytes], runner: Runner, day: int | None, show: Show) -> Manifest:
    """Writes a backup to an open file, reads it back, and brings it to the disk."""
    async with open_pool(dsn, size=2, part="backup", idle_s=0) as pool, pool.connection() as conn:
        await conn.set_isolation_level(IsolationLevel.REPEATABLE_READ)
        source = await _begin(conn, day)
        dumping = find_program("pg_dump", runner, least=source.manifest.server // 10_000)
        reading = find_program("pg_restore", runner, least=dumping.version)
        manifest = with_fields(source.manifest, tool=dumping.version)
        manifest = await _dump(pool, dsn, dumping, replace(source, manifest=manifest), file, show)
        await conn.rollback()  # The snapshot keeps vacuum from what is dead since.
        await conn.set_isolation_level(None)
        manifest = with_fields(manifest, rows=await _read_back(file, manifest, reading, show))
        divided = {table.whole for name, table in source.tables.items() if table.whole != name}
        if missing := source.tables.keys() - VOLATILE - divided - manifest.rows.keys():
            raise StoreError(f"the backup lacks the tables {', '.join(sorted(missing))}: please report this")
        file.seek(manifest.size)
        file.write(manifest.line())
        file.flush()
        await asyncio.to_thread(os.fsync, file.fileno())
    return manifest


def _require_replaceable(path: Path) -> None:
    if path.exists() and not is_backup(path):
        raise StoreError(f"{path} exists and is no backup of Weboid: choose another name, or remove it")


async def _begin(conn: Connection, day: int | None) -> _Source:
    """Begins the snapshot, which holds until the transaction ends."""
    row = await (await conn.execute(SQL["begin_snapshot"])).fetchone()
    assert row is not None
    moment, snapshot, server = row
    ours = our_tables()
    tables = {name: table for name, table in (await list_tables(conn)).items() if table.whole in ours}
    number = await (await conn.execute(SQL["find_migration"])).fetchone()
    scheme = await (await conn.execute(KEY_SQL["find_key_form"])).fetchone() or (OURS.form_version, OURS.suffix_version)
    manifest = Manifest(
        weboid=__version__,
        moment=moment.isoformat(timespec="microseconds"),
        day=day_of(moment) if day is None else day,
        migration=number[0] if number else 0,
        form_version=scheme[0],
        suffix_version=scheme[1],
        server=server,
        tool=0,
        schema=await find_schema(conn),
        size=0,
        sha256="",
    )
    return _Source(manifest, snapshot, tables)


async def _dump(pool: Pool, dsn: str, program: ClientProgram, source: _Source, file: IO[bytes], show: Show) -> Manifest:
    """Writes the archive; returns the manifest with its bytes and checksum."""
    database, environ = address(dsn)
    schema = source.manifest.schema
    options = ["--format=custom", f"--compress={LEVEL}", "--encoding=UTF8", "--no-owner", "--no-privileges"]
    options += ["--no-comments", "--no-publications", "--no-subscriptions", "--no-security-labels", "--no-password"]
    options += [f"--snapshot={source.snapshot}", f"--lock-wait-timeout={_LOCK_S}s", "--no-sync", f"--dbname={database}"]
    options += [f"--table={_pattern(schema, table)}" for table in sorted(source.tables)]
    options += [f"--exclude-table-data={_pattern(schema, table)}" for table in sorted(VOLATILE)]
    digest, size = hashlib.sha256(), 0

    def write(block: bytes) -> None:
        file.write(block)
        digest.update(block)

    async with (
        running(program, *options, environ={**environ, "PGAPPNAME": _NAME}) as dump,
        in_background(_watch(pool, source, show)),
    ):
        while block := await dump.read():
            await asyncio.to_thread(write, block)
            size += len(block)
        await dump.require_end("pg_dump")
    return with_fields(source.manifest, size=size, sha256=digest.hexdigest())


def _pattern(schema: str, table: str) -> str:
    quoted = schema.replace('"', '""')
    return f'"{quoted}"."{table}"'


async def _watch(pool: Pool, source: _Source, show: Show) -> None:
    """Shows how far pg_dump has come: it reads the tables by their names."""
    sizes = {name: table.size for name, table in source.tables.items() if name not in VOLATILE}
    whole = sum(sizes.values())
    done = 0
    while True:
        async with pool.reading() as conn:
            row = await (await conn.execute(SQL["find_copying"], {"name": _NAME})).fetchone()
        if row is not None and row[0] in sizes:
            table, rows = row
            share = min(1.0, rows / max(source.tables[table].about, 1))
            before = sum(size for name, size in sizes.items() if name < table)
            done = max(done, before + int(sizes[table] * share))
            show(f"backup: {table}", done, whole)
        else:
            show("backup", done, whole)
        await asyncio.sleep(_LOOK_S)


async def _read_back(file: IO[bytes], manifest: Manifest, program: ClientProgram, show: Show) -> dict[str, int]:
    """Reads the archive back from the disk, all of it; returns the rows of each table. Raises StoreError."""
    await asyncio.to_thread(_settle, file)
    rows: dict[str, int] = {}

    def fed(done: int) -> None:
        show("reading it back", done, manifest.size)

    async with archive_script(program, file, manifest.size, fed) as script:
        async for entry in script.entries():
            if entry.has_rows:
                rows[entry.name] = 0
                async for block in script.rows():
                    rows[entry.name] += block.count(b"\n")
    return rows


def _settle(file: IO[bytes]) -> None:
    """Brings a file to the disk, and lets the system forget what it holds of it in memory."""
    file.flush()
    os.fsync(file.fileno())
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    file.seek(0)


def _is_at(path: Path, file: IO[bytes]) -> bool:
    """True if an open file is still the one of that name."""
    try:
        return os.path.samestat(path.lstat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def _unfinished(path: Path) -> Iterator[IO[bytes]]:
    """A new file that gets its name when the work is done, and is removed if it fails; raises StoreError.

    The file of a killed program is replaced, that of a running one is not.
    """
    unfinished = path.with_name(path.name + UNFINISHED)
    try:
        with open(os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600), "w+b") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise StoreError(f"another program is writing {unfinished}: wait for it") from None
            if not _is_at(unfinished, file):  # It has got its name, or was removed, since it was opened here.
                raise StoreError(f"another program was writing {unfinished}: try again")
            os.fchmod(file.fileno(), 0o600)
            os.ftruncate(file.fileno(), 0)
            try:
                yield file
                file.flush()
                unfinished.rename(path)
            except BaseException:
                unfinished.unlink(missing_ok=True)
                raise
        sync_folder(path.parent)
    except OSError as error:
        raise StoreError(
            f"cannot write {path}: {error.strerror or error}; no backup was made: make room, or choose another place"
        ) from error
