"""A store whose tables with a bucket are divided, and filled so that each statement is planned as in a large one."""

import asyncio
from typing import Final

import psycopg
from psycopg import AsyncConnection

from weboid.store.upkeep.partition import partition_table

SHARDED: Final = ("cited_copy", "dead", "face", "host", "link", "lookup", "snapshot", "url")
"""The tables that are divided by bucket where a store outgrows one server (O-4)."""
_ROWS: Final = """
INSERT INTO host (bucket, host_key, next_day, strikes, host, reversed)
SELECT n % 4096, n, 100 + n % 28, n % 5, n || '.example', 'example.' || n || '.' FROM generate_series(1, 4000) AS n;
INSERT INTO url (bucket, host_key, url_key, due, status, since, asked, scheme, port, path, orphaned)
SELECT bucket, host_key, n, 100 + n, 1, 50, 99, 1, 443, '/' || n, CASE WHEN n = 3 THEN 90 END
FROM host, generate_series(1, 3) AS n;
INSERT INTO link (bucket, host_key, url_key, wiki, page)
SELECT bucket, host_key, url_key, 1 + url_key % 2, host_key / 8 FROM url;
INSERT INTO dead (bucket, host_key, url_key, wiki, page, since, rule)
SELECT bucket, host_key, url_key, wiki, page, 90, host_key % 3 FROM link;
INSERT INTO face (bucket, host_key, learned, face) SELECT bucket, host_key, 90, '' FROM host;
INSERT INTO snapshot (bucket, host_key, url_key, stamp, archive, origin, due)
SELECT bucket, host_key, url_key, 20200101000000, 1, 1, 100 FROM url;
INSERT INTO lookup (bucket, host_key, url_key, archive, outcome, asked, due)
SELECT bucket, host_key, url_key, 1, 1, 90, 100 FROM url;
INSERT INTO cited_copy (bucket, host_key, url_key, original_bucket, original_host_key, original_url_key, archive, due)
SELECT bucket, host_key, url_key, (bucket + 7) % 4096, host_key + 7, url_key, 1, 100 FROM url;
"""


async def divide(dsn: str, tables: tuple[str, ...] = SHARDED, parts: int = 8) -> None:
    """Divides these tables of a migrated store."""
    async with await AsyncConnection.connect(dsn) as connection:
        for table in tables:
            await partition_table(connection, table, parts)


def fill(dsn: str) -> None:
    """Puts rows of all buckets into them, and lets the database count them."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(_ROWS.encode())
        connection.execute("ANALYZE")


def divided_and_filled(dsn: str) -> None:
    """Does both."""
    asyncio.run(divide(dsn))
    fill(dsn)
