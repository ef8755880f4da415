"""All of one running cluster brought into another, empty one, of a newer major version: dumped, restored, counted.

The programs are those of the newer version, which dump older servers, too. Roles, databases, their settings and rights
go over as well as tables.
"""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import psycopg
from psycopg import sql

from weboid.errors import StoreError
from weboid.store.embedded.accounts import client_of
from weboid.store.embedded.folder import Folder, make_private_folder

_IN_EVERY: Final = ("postgres", "template1")
"""Databases that a new cluster has."""
_JOBS: Final = str(min(4, os.cpu_count() or 1))
_EXISTS: Final = re.compile(r'ERROR:  role "postgres" already exists')


def size_of(folder: Folder) -> int:
    """The bytes of all databases of a running server."""
    with psycopg.connect(folder.dsn("postgres", "postgres")) as connection:
        row = connection.execute("SELECT sum(pg_database_size(oid))::bigint FROM pg_database").fetchone()
    return int(row[0]) if row else 0


def transfer(old: Folder, new: Folder, programs: Path, show: Callable[[str], None]) -> None:
    """Brings everything that is in one running server into another one; both are of this account.

    Raises StoreError if a program fails or if a table has not the same number of rows on both sides.
    """
    dumps = new.data / "dumps"
    make_private_folder(dumps, client_of(new.account))
    show("roles")
    _bring_roles(old, new, programs, dumps / "roles.sql")
    for number, name in enumerate(_databases(old)):
        dump = dumps / f"database-{number}"
        create = [] if name in _IN_EVERY else ["--create"]
        show(f"dumping {name}")
        dumping: list[str | Path] = ["--format=directory", "--compress=1", "--jobs", _JOBS, *create, "--file", dump]
        _run(old, "dump", programs / "pg_dump", *dumping, "--dbname", old.dsn("postgres", name))
        show(f"restoring {name}")
        into = new.dsn("postgres", "postgres" if create else name)
        _run(new, "restore", programs / "pg_restore", "--exit-on-error", "--jobs", _JOBS, *create, "-d", into, dump)
    show("counting rows")
    for name in _databases(old):
        _compare(old, new, name)
        with psycopg.connect(new.dsn("postgres", name), autocommit=True) as connection:
            connection.execute("ANALYZE")


def _bring_roles(old: Folder, new: Folder, programs: Path, file: Path) -> None:
    """The roles and tablespaces, with their passwords. The one that a new cluster has is made again, which fails."""
    dumping: list[str | Path] = ["--globals-only", "--file", file, "--dbname", old.dsn("postgres", "postgres")]
    _run(old, "dump", programs / "pg_dumpall", *dumping)
    command: list[str | Path] = [programs / "psql", "--no-psqlrc", "--quiet", "--file", file]
    command += ["--dbname", new.dsn("postgres", "postgres")]
    run = client_of(new.account).run(command)
    errors = [line for line in run.stdout.splitlines() if "ERROR:" in line and not _EXISTS.search(line)]
    if run.returncode or errors:
        raise new.fault("restore", "\n".join(errors) or run.stdout)


def _databases(folder: Folder) -> list[str]:
    with psycopg.connect(folder.dsn("postgres", "postgres")) as connection:
        rows = connection.execute("SELECT datname FROM pg_database WHERE datallowconn ORDER BY datname").fetchall()
    return [str(name) for (name,) in rows]


def _run(folder: Folder, verb: str, *command: str | Path) -> None:
    """Runs one of PostgreSQL's programs; raises StoreError with what it said."""
    run = client_of(folder.account).run(list(command))
    if run.returncode:
        raise folder.fault(verb, run.stdout)


def _compare(old: Folder, new: Folder, database: str) -> None:
    before, after = dict(_counts(old, database)), dict(_counts(new, database))
    for table in sorted(before.keys() | after.keys()):
        if before.get(table) != after.get(table):
            raise StoreError(
                f"table {table} of {database} had {before.get(table, 'no')} rows and has {after.get(table, 'no')} "
                f"after the restore: nothing was changed in {old.data}; please report this"
            )


def _counts(folder: Folder, database: str) -> Iterator[tuple[str, int]]:
    """The tables of a database with their numbers of rows."""
    with psycopg.connect(folder.dsn("postgres", database)) as connection:
        tables = connection.execute(
            "SELECT nspname, relname FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace"
            " WHERE relkind IN ('r', 'm') AND nspname !~ '^pg_' AND nspname <> 'information_schema'"
        ).fetchall()
        for table in tables:
            query = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(*table))
            row = connection.execute(query).fetchone()
            yield ".".join(table), int(row[0]) if row else 0
