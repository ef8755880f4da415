"""How fast backup and restore are beside bare pg_dump and pg_restore: ``python -m benchmarks.backup [--urls N]``.

One law: both sides write and read files on the same disk, over the same store, with the same compression. A backup is
read back in its time, and a restore sets right and analyzes; the bare programs do neither.
"""

import argparse
import asyncio
import shutil
import subprocess
import tempfile
from pathlib import Path
from time import perf_counter

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from benchmarks.upkeep import take_in
from weboid.store.backup.client_programs import ClientProgram, Runner, address, find_program
from weboid.store.backup.make import LEVEL, make_backup
from weboid.store.backup.restore import restore_backup
from weboid.store.db.migrate import migrate
from weboid.store.db.pool import open_pool
from weboid.store.embedded.folder import Folder
from weboid.store.embedded.server import open_server

_DAY = 100


async def main(urls: int, dsn: str, folder: Path) -> dict[str, float]:
    """MB of tables a second of each side; prints them as ratios."""
    runner = Runner.of(Folder.of(folder / "data").account, folder / "data")
    async with open_pool(dsn, size=2, part="benchmark") as pool:
        async with pool.connection() as conn:
            await migrate(conn)
        await take_in(pool, urls)
    size_mb = _analyzed_bytes(dsn) / 1e6
    file, bare = folder / "weboid.dump", folder / "bare.dump"
    begun = perf_counter()
    manifest = await make_backup(dsn, file, runner, day=_DAY, show=_silent)
    rates = {"backup": size_mb / (perf_counter() - begun)}
    dump = find_program("pg_dump", runner, least=manifest.tool)
    rates["pg_dump"] = size_mb / _seconds(dump, dsn, bare, "--format=custom", f"--compress={LEVEL}")
    other, third = _new_database(dsn, "other"), _new_database(dsn, "third")
    restore = find_program("pg_restore", runner, least=manifest.tool)
    rates["pg_restore"] = size_mb / _seconds(restore, other, None, "--single-transaction", "--no-owner", str(bare))
    async with open_pool(third, size=1, part="restore") as pool:
        begun = perf_counter()
        await restore_backup(pool, file, runner, day=_DAY, interval=7, show=_silent)
        rates["restore"] = size_mb / (perf_counter() - begun)
    print(
        f"{urls} URLs, {size_mb:.0f} MB of tables in a file of {manifest.file_size / 1e6:.0f} MB: "
        f"backup {rates['backup']:.0f} MB/s, {rates['backup'] / rates['pg_dump']:.2f} of pg_dump; "
        f"restore {rates['restore']:.0f} MB/s, {rates['restore'] / rates['pg_restore']:.2f} of pg_restore"
    )
    return rates


def _silent(doing: str, done: int, total: int) -> None:
    """Shows nothing."""


def _seconds(program: ClientProgram, dsn: str, output: Path | None, *options: str) -> float:
    database, environ = address(dsn)
    named = [f"--dbname={database or 'dbname=' + environ['PGDATABASE']}"]
    begun = perf_counter()
    with (output or Path("/dev/null")).open("wb") as file:
        subprocess.run([program.path, *named, *options], env=environ, stdout=file, check=True)
    return perf_counter() - begun


def _new_database(dsn: str, name: str) -> str:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    return make_conninfo(dsn, dbname=name)


def _analyzed_bytes(dsn: str) -> int:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("ANALYZE")
        query = (
            "SELECT sum(pg_table_size(oid)) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
        )
        row = connection.execute(query).fetchone()
    assert row
    return int(row[0])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--urls", type=int, default=200_000)
    given = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="weboid-backup-"))
    place.chmod(0o711)
    try:
        with open_server(place / "data") as server:
            asyncio.run(main(given.urls, server.dsn, place))
    finally:
        shutil.rmtree(place, ignore_errors=True)
