"""Copies of a database that was filled once for several tests: to copy it takes as long as to copy an empty one."""

import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

_numbers = itertools.count()


@contextmanager
def copy_of(dsn: str) -> Iterator[str]:
    """The dsn of a copy, dropped at the end, of a database to which nobody is connected."""
    name = f"weboid_test_{os.getpid()}_copy_{next(_numbers)}"
    made, template = sql.Identifier(name), sql.Identifier(str(conninfo_to_dict(dsn)["dbname"]))
    with psycopg.connect(make_conninfo(dsn, dbname="postgres"), autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy").format(made, template))
        try:
            yield make_conninfo(dsn, dbname=name)
        finally:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(made))
