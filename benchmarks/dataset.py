"""What it takes to make the public data set: ``python -m benchmarks.dataset [--urls N …]``.

One law: the program's own function makes it, in a process of its own; the sums in the file are those in the database.
"""

import argparse
import asyncio
import csv
import gzip
import sys
from collections import Counter
from pathlib import Path
from time import process_time
from typing import Final

import psycopg

from benchmarks.harness import database_pid, open_migrated, peak_mib, take_in, temporary_folder, temporary_store, used
from weboid.core.record.reasons import Reason
from weboid.core.record.status import Status
from weboid.maintain.dataset import publish
from weboid.store.db.pool import open_pool
from weboid.store.lists.dataset import SetKind, find_piece, list_files, list_pieces

_URLS_A_HOST: Final = 2.5
_DAY: Final = 200
_CHECKED: Final = """UPDATE url SET since = 110, asked = 190,
    status = CASE WHEN url_key %% 20 = 0 THEN %(missing)s ELSE %(fine)s END,
    reason = CASE WHEN url_key %% 20 = 0 THEN %(not_found)s ELSE %(ok)s END"""
_COUNTS: Final = "SELECT (status = %(fine)s)::text, count(*) FROM url GROUP BY 1"
_VALUES: Final = {
    "fine": int(Status.FINE),
    "missing": int(Status.NOT_FOUND),
    "ok": Reason.OK.number,
    "not_found": Reason.NOT_FOUND.number,
}


async def main(urls: int, dsn: str, file: Path) -> None:
    """Fills a store and has the set made; prints processor seconds, memory and size."""
    hosts = int(urls / _URLS_A_HOST)
    async with open_migrated(dsn) as pool:
        await take_in(pool, [f"http://www.host-{n % hosts}.demo/a/path/of/usual/length-{n}.html" for n in range(urls)])
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(_CHECKED, _VALUES)
        connection.execute("VACUUM ANALYZE")
        counts: dict[str, int] = dict(connection.execute(_COUNTS, _VALUES).fetchall())
        links = connection.execute("SELECT count(*) FROM link").fetchone()
    server = database_pid(dsn)
    before = used(server).cpu_s
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.dataset", "--make", dsn, stdout=asyncio.subprocess.PIPE
    )
    made, _ = await process.communicate()
    print(f"{urls:,} URLs: {made.decode().strip()}, the database {used(server).cpu_s - before:.0f} s")
    async with open_pool(dsn, size=1) as pool, pool.connection() as conn:
        listed = next(each for each in await list_files(conn) if each.kind == SetKind.URLS)
        with file.open("wb") as out:
            for piece in await list_pieces(conn, listed.day, listed.farm, listed.kind):
                out.write(await find_piece(conn, listed.day, listed.farm, listed.kind, piece) or b"")
    found, uses = Counter[str](), 0
    with gzip.open(file, "rt", encoding="utf-8", newline="") as text:
        for line in csv.DictReader(text):
            found[str(line["verdict"] == "working").lower()] += 1
            uses += int(line["uses"])
    assert (found, uses) == (counts, links[0] if links else 0)
    print(f"{listed.size / 2**20:.1f} MiB in the file; its lines by verdict and its uses are those of the database")


async def make(dsn: str) -> None:
    """Makes the set, and prints what this process took."""
    async with open_pool(dsn, size=1) as pool:
        await publish(pool, _DAY)
    print(f"{process_time():.0f} s of the processor, {peak_mib():.0f} MiB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--urls", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--make", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.make:
        asyncio.run(make(given.make))
    else:
        for number in given.urls:
            with temporary_store() as store, temporary_folder() as folder:
                asyncio.run(main(number, store, folder / "urls.csv.gz"))
