"""A store with millions of URLs that have been checked for a while, written by COPY, and the pages that link to them.

Keys, records and their columns are made by the program's own functions; only the way into the tables is another.
One law: every page links to URLs drawn at random from all of them, so that no two of its rows lie together.
"""

import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import psycopg
from psycopg import sql

from benchmarks.crawl.links import host_of, skewed
from benchmarks.harness import open_migrated
from weboid.core.observe.observation import Observation
from weboid.core.record.reasons import Reason
from weboid.core.record.record import UNTRIED, UrlRecord
from weboid.core.record.status import NO_CODE, Status
from weboid.core.url.farms import WMFLABS, WikiName
from weboid.core.url.hosts import reversed_name
from weboid.core.url.keys import key_of
from weboid.core.url.urls import Url
from weboid.core.verdict.judge import judge
from weboid.store.db.key_scheme import record_scheme
from weboid.store.db.rows import SCHEMES, record_columns
from weboid.store.pages.wiki import record_wiki

TODAY: Final = 1_000
LINKS_A_PAGE: Final = 500
LIVES: Final = 100_000
"""So many lives that hardly two URLs of a page have the same, as on a wiki."""
_FINE: Final = Observation(Status.FINE, Reason.OK, http=200)
_MOVED: Final = Observation(
    Status.MOVED_PERMANENTLY, Reason.MOVED, "https://www.example-host.demo/another/path", http=200
)
_LIVES: Final = (
    (0.60, (_FINE,)),
    (0.72, (_FINE, Observation(Status.NETWORK, Reason.TIMEOUT, http=NO_CODE), _FINE, _FINE)),
    (0.76, (Observation(Status.FINE, Reason.OK, mime="pdf", size_kib=1234, http=200),)),
    (0.88, (_MOVED,)),
    (0.96, (Observation(Status.NOT_FOUND, Reason.NOT_FOUND, http=404),)),
    (
        1.00,
        (
            Observation(Status.NO_ACCESS, Reason.FORBIDDEN, http=403),
            _FINE,
            Observation(Status.NO_ACCESS, Reason.FORBIDDEN, http=403),
        ),
    ),
)
_URL: Final = (
    "bucket", "host_key", "url_key", "scheme", "port", "path", "due",
    "status", "since", "asked", "older", "reason", "target", "mime", "size_kib", "http", "state_since",
    "strikes", "failing_since", "failing_until",
)  # fmt: skip
_ROWS_A_WRITE: Final = 2_000


class World:
    """URL number n, and the pages: the same in every process for the same number of URLs."""

    def __init__(self, urls: int) -> None:
        self.urls = urls
        self._labels = skewed(urls)

    def url(self, number: int) -> Url:
        """It is in normal form as it stands."""
        host = host_of(self._labels(number))
        return Url(SCHEMES[number % 2], host, 0, f"/a/path/of/usual/length-{number}.html")

    def numbers_of(self, page: int, links: int) -> list[int]:
        return random.Random(page).sample(range(self.urls), min(links, self.urls))


async def prepare(dsn: str, *dbnames: str) -> None:
    """A store that has our schema and knows these wikis."""
    async with open_migrated(dsn, size=1) as pool, pool.connection() as conn:
        await record_scheme(conn)
        for dbname in dbnames:
            await record_wiki(conn, WMFLABS, WikiName(dbname, WMFLABS.name))


def fill(dsn: str, world: World, lives: int = LIVES) -> None:
    """Writes hosts and URLs; indexes are made afterwards, as `pg_restore` does."""
    with psycopg.connect(dsn) as conn, without_indexes(conn, ("host", "url")):
        _copy(conn, "host", ("bucket", "host_key", "host", "reversed", "next_day"), _hosts(world))
        _copy(conn, "url", _URL, _urls(world, lives))
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("VACUUM ANALYZE host, url")


def _hosts(world: World) -> Iterator[str]:
    known = set()
    for number in range(world.urls):
        url = world.url(number)
        if url.host not in known:
            known.add(url.host)
            bucket, host, _ = key_of(url)
            yield f"{bucket}\t{host}\t{url.host}\t{reversed_name(url.host)}\t{TODAY}\n"


def _urls(world: World, lives: int) -> Iterator[str]:
    chance = random.Random(1)
    columns = [_columns(*_life(chance)) for _ in range(lives)]
    for number in range(world.urls):
        url = world.url(number)
        bucket, host, key = key_of(url)
        yield f"{bucket}\t{host}\t{key}\t{number % 2}\t0\t{url.path}\t{columns[chance.randrange(lives)]}\n"


def _life(chance: random.Random) -> tuple[UrlRecord, int]:
    throw = chance.random()
    seen = next(seen for share, seen in _LIVES if throw <= share)
    record, due = UNTRIED, TODAY
    for turn, day in enumerate(sorted(chance.sample(range(TODAY), 30))):
        record, due = judge(record, seen[turn // 3 % len(seen)], day)
    return record, due


def _columns(record: UrlRecord, due: int) -> str:
    """The columns of `_URL` from `due` on, as COPY reads them."""
    columns = {name: values[0] for name, values in record_columns([record]).items()}
    return "\t".join(_text(value) for value in (due, *(columns[name] for name in _URL[7:])))


def _text(value: Any) -> str:
    match value:
        case None:
            return "\\N"
        case bytes():
            return f"\\\\x{value.hex()}"
    return str(value)


def _copy(conn: psycopg.Connection[Any], table: str, columns: Iterable[str], rows: Iterator[str]) -> None:
    into = sql.SQL("COPY {} ({}) FROM STDIN").format(
        sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    with conn.cursor() as cursor, cursor.copy(into) as copy:
        waiting: list[str] = []
        for row in rows:
            waiting.append(row)
            if len(waiting) == _ROWS_A_WRITE:
                copy.write("".join(waiting))
                waiting = []
        copy.write("".join(waiting))


@contextmanager
def without_indexes(conn: psycopg.Connection[Any], tables: Iterable[str]) -> Iterator[None]:
    """Drops the indexes and primary keys of empty tables for the time of the block."""
    again = []
    for table in tables:
        keys = conn.execute(
            "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint"
            " WHERE conrelid = %s::regclass AND contype = 'p'",
            (table,),
        ).fetchall()
        for name, definition in keys:
            again.append(f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}")
            conn.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}".encode())
        indexes = conn.execute("SELECT indexname, indexdef FROM pg_indexes WHERE tablename = %s", (table,)).fetchall()
        for name, definition in indexes:
            again.append(definition)
            conn.execute(f"DROP INDEX {name}".encode())
    yield
    conn.execute("SET LOCAL maintenance_work_mem = '256MB'")
    for statement in again:
        conn.execute(statement.encode())
