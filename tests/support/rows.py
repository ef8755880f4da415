"""All rows of a database, table by table, to compare two of them."""

from collections.abc import Collection

import psycopg
from psycopg import sql


def all_rows(dsn: str, *, without: Collection[str] = ()) -> dict[str, list[str]]:
    """The rows of each table as text, sorted, as one snapshot has them."""
    with psycopg.connect(dsn) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        return rows_of(connection, without=without)


def rows_of(
    connection: "psycopg.Connection[tuple[object, ...]]", *, without: Collection[str] = ()
) -> dict[str, list[str]]:
    """The same as the transaction of a connection sees them."""
    names = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1").fetchall()
    return {str(name): _rows(connection, str(name)) for (name,) in names if name not in without}


def _rows(connection: "psycopg.Connection[tuple[object, ...]]", table: str) -> list[str]:
    query = sql.SQL("SELECT every::text FROM {} AS every").format(sql.Identifier("public", table))
    return sorted(str(row[0]) for row in connection.execute(query))
