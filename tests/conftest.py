"""The PostgreSQL that tests share: one server a worker, one migrated template, a fresh copy of it for each test that
asks; and what holds for all tests (`support.running` says which of them run next to others).

One law: a test never sees what another one wrote. ``WEBOID_TEST_DATABASE`` names a server to use instead of the
embedded one (a role with CREATEDB and a database it may connect to). With ``WEBOID_TEST_PARTITIONS`` the big tables are
divided into so many partitions, as by ``weboid store partition``, but where a test is about whole ones. With
``WEBOID_TEST_CITUS``, the dsn of a coordinator that knows its workers, the store is on several servers (`-n 0`).
"""

import asyncio
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import LiteralString

import hypothesis
import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo
from psycopg.rows import TupleRow
from support import citus
from support.memory import memory_folder
from support.misbehaving import Certificates
from support.stored import WikiInStore, open_wiki
from support.webservice import fill

from weboid.store.db.migrate import migrate
from weboid.store.db.pool import Pool, open_pool
from weboid.store.embedded import open_server
from weboid.store.upkeep.partition import TABLES, partition_table

pytest_plugins = ["support.running", "support.blocking", "support.pywb", "support.mediawiki", "support.pwb"]

_REPOSITORY = Path(__file__).resolve().parents[1]
_PARTITIONS = int(os.environ.get("WEBOID_TEST_PARTITIONS", "0"))

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
    from weboid.pgfolder.folder import Folder
    from weboid.pgfolder.server import stop_server
for _ in range(100):
    if not folder.exists():
        break
    if all([stop_server(Folder.of(version.parents[1])) for version in folder.rglob("postgres/PG_VERSION")]):
        shutil.rmtree(folder, ignore_errors=True)
    time.sleep(0.1)
"""
_numbers = itertools.count()
_connections: "dict[str, psycopg.Connection[TupleRow]]" = {}


@pytest.fixture(scope="session")
def server_folder() -> Iterator[Path]:
    """A temporary folder for data folders: its path is short, and the server's account may pass through it.

    Embedded servers outlive a killed program. A watcher ends those of a killed test run: its input ends with the run.
    """
    folder = Path(tempfile.mkdtemp(prefix="weboid-test-", dir=memory_folder()))
    folder.chmod(0o711)
    command = [sys.executable, "-c", _WATCHER, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True, cwd=_REPOSITORY):
        yield folder
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def server_dsn(server_folder: Path) -> Iterator[str]:
    """A PostgreSQL server of this run, reached as a role that may create databases."""
    if given := os.environ.get("WEBOID_TEST_DATABASE"):
        with _connections_closed():
            yield given
        return
    with pytest.MonkeyPatch.context() as patch:
        # Each database that is made or dropped goes through all of its buffers.
        patch.setattr("weboid.pgfolder.memory.available", lambda: 1 << 30)
        server = open_server(server_folder / "data")
    with server, _connections_closed():
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
        _migrate(make_conninfo(server_dsn, dbname=name), _PARTITIONS)
        yield name


@pytest.fixture(scope="session")
def whole_template(server_dsn: str, template: str) -> Iterator[str]:
    """The same, with tables in one piece."""
    if not _PARTITIONS:
        yield template
        return
    with _new_database(server_dsn, None) as name:
        _migrate(make_conninfo(server_dsn, dbname=name))
        yield name


@pytest.fixture(scope="session")
def empty_tables(server_dsn: str, whole_template: str) -> Iterator[str]:
    """The dsn of a migrated database, with tables in one piece, that no test writes to."""
    with _new_database(server_dsn, whole_template) as name:
        yield make_conninfo(server_dsn, dbname=name)


@pytest.fixture
def whole_database(server_dsn: str, whole_template: str) -> Iterator[str]:
    """The dsn of a fresh migrated database, with tables in one piece, dropped afterwards."""
    with _new_database(server_dsn, whole_template) as name:
        yield make_conninfo(server_dsn, dbname=name)


@pytest.fixture(scope="session")
def several_servers() -> str:
    """The dsn of a migrated store on several servers, in which earlier tests have written."""
    _run(citus.make)
    return citus.DSN


@pytest.fixture
def database(request: pytest.FixtureRequest, server_dsn: str, template: str) -> Iterator[str]:
    """The dsn of a fresh migrated database, dropped afterwards; on several servers with ``WEBOID_TEST_CITUS``."""
    if citus.DSN:
        dsn = request.getfixturevalue("several_servers")
        citus.empty()
        yield dsn
        return
    with _new_database(server_dsn, template) as name:
        yield make_conninfo(server_dsn, dbname=name)


@pytest.fixture(scope="session")
def site_template(server_dsn: str, template: str) -> Iterator[str]:
    """The name of a database as the webservice of tests finds it, that nobody is connected to."""
    with _new_database(server_dsn, template) as name:
        _run(partial(fill, make_conninfo(server_dsn, dbname=name)))
        yield name


@pytest.fixture(scope="session")
def untouched_sites(server_dsn: str) -> Iterator[list[str]]:
    """Names of copies of it to which no test has written: more than half of the tests only read."""
    names: list[str] = []
    yield names
    for name in names:
        _drop(server_dsn, name)


@pytest.fixture
def site_database(server_dsn: str, site_template: str, untouched_sites: list[str]) -> Iterator[str]:
    """The dsn of a database as the webservice finds it; nobody has written to it."""
    name = untouched_sites.pop() if untouched_sites else _made_database(server_dsn, site_template)
    before = _next_transaction(server_dsn)
    yield make_conninfo(server_dsn, dbname=name)
    # Whatever is written takes a number.
    if _next_transaction(server_dsn) == before:
        untouched_sites.append(name)
    else:
        _drop(server_dsn, name)


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def module_database(server_dsn: str, template: str) -> Iterator[str]:
    """The dsn of a migrated database that the tests of a module share."""
    with _new_database(server_dsn, template) as name:
        yield make_conninfo(server_dsn, dbname=name)


@pytest.fixture
async def pool(database: str) -> AsyncIterator[Pool]:
    """Connections to an empty store."""
    async with open_pool(database, size=8, part="test") as opened:
        yield opened


@pytest.fixture
async def stored(request: pytest.FixtureRequest, database: str) -> AsyncIterator[WikiInStore]:
    """A wiki in an empty store, which has the pages of its module: ``IN_STORE``, links by page; else none yet."""
    async with open_wiki(database, getattr(request.module, "IN_STORE", {})) as wiki:
        yield wiki


@pytest.fixture
def wiki(stored: WikiInStore) -> WikiInStore:
    """The same, by the name that tests of other rooms than the store have for it."""
    return stored


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


@contextmanager
def _new_database(dsn: str, template: str | None) -> Iterator[str]:
    """Makes a database and drops it at the end, also with connections still open."""
    name = _made_database(dsn, template)
    try:
        yield name
    finally:
        _drop(dsn, name)


def _made_database(dsn: str, template: str | None) -> str:
    name = f"weboid_test_{os.getpid()}_{next(_numbers)}"
    # By file: 14 ms, five times as fast as the default way.
    _execute(dsn, "CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy", name, template or "template0")
    return name


def _drop(dsn: str, name: str) -> None:
    """Drops a database, if need be when the autovacuum of somebody else's server has left it."""
    for pause_s in (0.2, 1.0, 5.0):
        try:
            return _execute(dsn, "DROP DATABASE {} WITH (FORCE)", name)
        except psycopg.errors.InsufficientPrivilege:
            time.sleep(pause_s)
    return _execute(dsn, "DROP DATABASE {} WITH (FORCE)", name)


def _execute(dsn: str, text: LiteralString, *names: str) -> None:
    _connected(dsn).execute(sql.SQL(text).format(*map(sql.Identifier, names)))


def _next_transaction(dsn: str) -> object:
    """The number of the server's next transaction that writes."""
    return _connected(dsn).execute("SELECT pg_snapshot_xmax(pg_current_snapshot())::text").fetchone()


def _connected(dsn: str) -> "psycopg.Connection[TupleRow]":
    """The connection of this process by which databases are made and dropped: a new one each time costs 3 ms."""
    if dsn not in _connections or _connections[dsn].broken:
        _connections[dsn] = psycopg.connect(dsn, autocommit=True)
    return _connections[dsn]


@contextmanager
def _connections_closed() -> Iterator[None]:
    """At its end none of them is open any more."""
    try:
        yield
    finally:
        while _connections:
            _connections.popitem()[1].close()


def _migrate(dsn: str, partitions: int = 0) -> None:
    async def run() -> None:
        async with await psycopg.AsyncConnection.connect(dsn) as connection:
            await migrate(connection)
            for table in TABLES if partitions else ():
                await partition_table(connection, table, partitions)

    _run(run)


def _run(work: Callable[[], Coroutine[None, None, None]]) -> None:
    """In a thread: asyncio.run would take pytest-asyncio's current event loop away."""
    with ThreadPoolExecutor(1) as executor:
        executor.submit(lambda: asyncio.run(work())).result()
