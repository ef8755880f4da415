"""The PostgreSQL that tests share: one server a worker, one migrated template, a fresh copy of it for each test that
asks; and what holds for all tests (`support.running` says which of them run beside others).

One law: a test never sees what another one wrote. ``WEBOID_TEST_DATABASE`` names a server to use instead of the
embedded one (a role with CREATEDB and a database it may connect to).
"""

import asyncio
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import LiteralString

import hypothesis
import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from weboid.store.db.migrate import migrate
from weboid.store.embedded.server import open_server

pytest_plugins = ["support.running", "support.pywb"]

_REPOSITORY = Path(__file__).resolve().parents[1]

# At a desk every run looks at other examples, and prints the line that brings a failing one back; under CI the same
# commit gives the same result. How long an example takes says more of the machine than of the property.
hypothesis.settings.register_profile(
    "weboid", deadline=None, print_blob=True, derandomize=os.environ.get("CI") == "true"
)
hypothesis.settings.load_profile("weboid")

# Nobody outside is asked: to leave the machine's authorities unread saves 40 ms of each client and each program.
os.environ |= {"SSL_CERT_FILE": os.devnull, "SSL_CERT_DIR": str(_REPOSITORY / "tests")}

_WATCHER = """
import pathlib, shutil, sys, time
sys.stdin.read()
folder = pathlib.Path(sys.argv[1])
if folder.exists():
    from weboid.store.embedded.server import stop_server
for _ in range(100):
    if not folder.exists():
        break
    if all([stop_server(version.parents[1]) for version in folder.rglob("postgres/PG_VERSION")]):
        shutil.rmtree(folder, ignore_errors=True)
    time.sleep(0.1)
"""
_SERVERS_BYTES = 2 << 30
_numbers = itertools.count()


@pytest.fixture(scope="session")
def server_folder() -> Iterator[Path]:
    """A temporary folder for data folders: its path is short, and the server's account may pass through it.

    Embedded servers outlive a killed program. A watcher ends those of a killed test run: its input ends with the run.
    """
    folder = Path(tempfile.mkdtemp(prefix="weboid-test-", dir=_memory()))
    folder.chmod(0o711)
    command = [sys.executable, "-c", _WATCHER, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True, cwd=_REPOSITORY):
        yield folder
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def server_dsn(server_folder: Path) -> Iterator[str]:
    """A PostgreSQL server of this run, reached as a role that may create databases."""
    if given := os.environ.get("WEBOID_TEST_DATABASE"):
        yield given
        return
    with open_server(server_folder / "data") as server:
        with psycopg.connect(make_conninfo(server.dsn, user="postgres"), autocommit=True) as connection:
            # Nothing here outlives the run; and nobody but postgres may drop a database while autovacuum is in it.
            for setting in ("fsync", "synchronous_commit", "full_page_writes", "autovacuum"):
                connection.execute(sql.SQL("ALTER SYSTEM SET {} = off").format(sql.Identifier(setting)))
            connection.execute("SELECT pg_reload_conf()")
        yield server.dsn


@pytest.fixture(scope="session")
def template(server_dsn: str) -> Iterator[str]:
    """The name of a migrated database that nobody is connected to."""
    with _new_database(server_dsn, None) as name:
        _migrate(make_conninfo(server_dsn, dbname=name))
        yield name


@pytest.fixture(scope="session")
def empty_tables(server_dsn: str, template: str) -> Iterator[str]:
    """The dsn of a migrated database that no test writes to."""
    with _new_database(server_dsn, template) as name:
        yield make_conninfo(server_dsn, dbname=name)


@pytest.fixture
def database(server_dsn: str, template: str) -> Iterator[str]:
    """The dsn of a fresh migrated database, dropped afterwards."""
    with _new_database(server_dsn, template) as name:
        yield make_conninfo(server_dsn, dbname=name)


@pytest.fixture
def second_database(server_dsn: str, template: str) -> Iterator[str]:
    """Another one, to compare with."""
    with _new_database(server_dsn, template) as name:
        yield make_conninfo(server_dsn, dbname=name)


@pytest.fixture
def empty_database(server_dsn: str) -> Iterator[str]:
    """The dsn of a fresh database without any table, dropped afterwards."""
    with _new_database(server_dsn, None) as name:
        yield make_conninfo(server_dsn, dbname=name)


def _memory() -> str | None:
    """Where files wait for no disk, if there is such a place and programs may be put there."""
    with suppress(OSError):
        there = os.statvfs("/dev/shm")
        if there.f_bavail * there.f_frsize > _SERVERS_BYTES and not there.f_flag & os.ST_NOEXEC:
            return "/dev/shm"
    return None


@contextmanager
def _new_database(dsn: str, template: str | None) -> Iterator[str]:
    """Makes a database and drops it at the end, whoever is still connected."""
    name = f"weboid_test_{os.getpid()}_{next(_numbers)}"
    # By file: 14 ms, five times as fast as the default way.
    _execute(dsn, "CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy", name, template or "template0")
    try:
        yield name
    finally:
        _drop(dsn, name)


def _drop(dsn: str, name: str) -> None:
    """Drops a database, if need be when the autovacuum of somebody else's server has left it."""
    for pause_s in (0.2, 1.0, 5.0):
        try:
            return _execute(dsn, "DROP DATABASE {} WITH (FORCE)", name)
        except psycopg.errors.InsufficientPrivilege:
            time.sleep(pause_s)
    return _execute(dsn, "DROP DATABASE {} WITH (FORCE)", name)


def _execute(dsn: str, text: LiteralString, *names: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(sql.SQL(text).format(*map(sql.Identifier, names)))


def _migrate(dsn: str) -> None:
    async def run() -> None:
        async with await psycopg.AsyncConnection.connect(dsn) as connection:
            await migrate(connection)

    # In a thread: asyncio.run would take pytest-asyncio's current event loop away.
    with ThreadPoolExecutor(1) as executor:
        executor.submit(asyncio.run, run()).result()
