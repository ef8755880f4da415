"""A real MariaDB for tests: a private server on a socket in a temporary folder, with databases like the wiki replicas'.

One law: never the machine's own server; and the private one ends with the test run, even with one that is killed.
"""

import gzip
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pymysql
import pytest
from pymysql.constants import CLIENT
from support.memory import memory_folder

from weboid.assets import toml_next_to
from weboid.wiki.mariadb import Access

USER: Final = "s51111"
PASSWORD: Final = "lighthouse"
_CASES = toml_next_to(__file__)
TABLES: str = _CASES["tables"]
NEW_CATEGORIES: str = _CASES["new_categories"]
OLD_CATEGORIES: str = _CASES["old_categories"]
BOTH_CATEGORIES: str = _CASES["both_categories"]
_SETTINGS: Final = (
    "--no-defaults",
    "--skip-networking",
    "--skip-log-bin",
    "--performance-schema=off",
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-fast-shutdown=2",
    "--innodb-buffer-pool-size=128M",
    "--innodb-log-file-size=16M",
    "--max-connections=40",
)
_RUN: Final = '''"$@" & server=$!; cat >/dev/null; kill $server 2>/dev/null; wait $server
kill -0 $PPID 2>/dev/null || rm -rf "$0"'''
"""The server ends when its input ends, and that ends with the test run; of one that was killed no folder stays."""

_START_S: Final = 60


class MariaServer:
    """A private server, running or not."""

    def __init__(self, folder: Path) -> None:
        self.socket = str(folder / "socket")
        self._folder = folder
        self._account = ("--user=root",) if os.geteuid() == 0 else ()
        self._process: subprocess.Popen[bytes] | None = None
        install = _program("mariadb-install-db")
        datadir = f"--datadir={folder / 'data'}"
        normal = "--auth-root-authentication-method=normal"
        command = [install, "--no-defaults", datadir, normal, "--skip-test-db", *self._account]
        with (folder / "install.log").open("wb") as out:
            if subprocess.run(command, stdout=out, stderr=out, check=False).returncode:
                raise RuntimeError(f"{install} failed: {(folder / 'install.log').read_text()[-2000:]}")

    def start(self) -> None:
        command = ["sh", "-c", _RUN, str(self._folder), _program("mariadbd"), *_SETTINGS, *self._account]
        command += [f"--socket={self.socket}", f"--datadir={self._folder / 'data'}", f"--tmpdir={self._folder}"]
        with (self._folder / "server.log").open("ab") as out:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=out, stderr=out, start_new_session=True
            )
        for _ in range(_START_S * 20):
            # By a socket of our own: PyMySQL leaves its one open when nobody listens.
            with socket.socket(socket.AF_UNIX) as trial:
                if trial.connect_ex(self.socket) == 0:
                    return
            time.sleep(0.05)
        raise RuntimeError(f"no server after {_START_S} s: {(self._folder / 'server.log').read_text()[-2000:]}")

    def stop(self) -> None:
        if self._process and self._process.stdin:
            self._process.stdin.close()
            self._process.wait(60)
            self._process = None

    def connect(self, database: str | None = None) -> "pymysql.Connection[Any]":
        return pymysql.connect(
            unix_socket=self.socket,
            user="root",
            database=database,
            autocommit=True,
            client_flag=CLIENT.MULTI_STATEMENTS,
        )

    def run(self, text: str | bytes, database: str | None = None) -> tuple[tuple[Any, ...], ...]:
        """Runs statements as root and returns the rows of the first one that has any."""
        first: tuple[tuple[Any, ...], ...] = ()
        with self.connect(database) as connection, connection.cursor() as cursor:
            cursor.execute(text)
            while True:
                first = first or tuple(cursor.fetchall())
                if not cursor.nextset():
                    return first

    def replicate(self, name: str, *files: Path, also: Sequence[str] = (), categories: str = NEW_CATEGORIES) -> Access:
        """A wiki's tables in `name`, from dumps and more statements, and the views of all of them in ``<name>_p``.

        Returns how the restricted user reads the views.
        """
        self.drop(name)
        self.run(f"CREATE DATABASE {name} CHARACTER SET binary; CREATE DATABASE {name}_p")
        for file in files:
            data = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
            self.run(b"SET NAMES binary;" + data, name)
        names = {row[0] for row in self.run(f"SHOW TABLES FROM {name}")}
        self.run("".join((TABLES, "" if "categorylinks" in names else categories, *also)), name)
        for (table,) in self.run(f"SHOW TABLES FROM {name}"):
            view = f"{name}_p.{table} AS SELECT * FROM {name}.{table}"  # noqa: S608 (our own names)
            self.run(f"CREATE SQL SECURITY DEFINER VIEW {view}")
        self.run(f"GRANT SELECT, SHOW VIEW ON {name}_p.* TO {USER}@localhost")
        return self.access(f"{name}_p")

    def drop(self, name: str) -> None:
        self.run(f"DROP DATABASE IF EXISTS {name}; DROP DATABASE IF EXISTS {name}_p")

    def access(self, database: str, user: str = USER, password: str = PASSWORD) -> Access:
        """How somebody reads a database."""
        return Access(database, user, password, socket=self.socket)


@contextmanager
def open_mariadb() -> Iterator[MariaServer]:
    """A private server with the restricted user; raises LookupError if MariaDB is not installed."""
    folder = Path(tempfile.mkdtemp(prefix="weboid-mdb-", dir=memory_folder()))
    try:
        server = MariaServer(folder)
        server.start()
        try:
            server.run(f"CREATE USER {USER}@localhost IDENTIFIED BY '{PASSWORD}' WITH MAX_USER_CONNECTIONS 10")
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def mariadb_server() -> Iterator[MariaServer]:
    """The server of this run; skips where there is no MariaDB."""
    try:
        _program("mariadbd"), _program("mariadb-install-db")
    except LookupError as error:
        pytest.skip(str(error))
    with open_mariadb() as server:
        yield server


def _program(name: str) -> str:
    if found := shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin:/usr/libexec:/usr/bin"):
        return found
    raise LookupError(f"{name} is not installed (Debian: mariadb-server-core, mariadb-client-core)")
