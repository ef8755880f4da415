"""The program under test: a store with the benchmark's URLs in it, and the commands that a person would type.

Only what stands here and in `bare`, `writer` and `queries` knows Weboid.
One law: URLs come in by ``weboid feed``, and are checked by ``weboid crawl``, with nothing but variables set.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Final

import psycopg

from benchmarks.crawl.links import Hosts, write_dump
from benchmarks.crawl.machine import parent_of
from benchmarks.crawl.server import ROOT, Server
from weboid.store.embedded.server import open_server

FIRST_DAY: Final = 100
BETWEEN_ROUNDS: Final = 40
"""Days after which everything is due again, whatever was found."""
WIKI: Final = "benchwiki@wmflabs"


@dataclass(slots=True)
class Program:
    """Weboid with a store of its own. `database` and `variables` are set for every command."""

    folder: Path
    dsn: str
    database: Mapping[str, str]
    variables: dict[str, str] = field(default_factory=dict)
    day: int = FIRST_DAY

    def command(self, *words: str) -> list[str]:
        """A call of the program."""
        return [sys.executable, "-m", "weboid", "--data", str(self.folder / "data"), *words]

    def crawl(self) -> list[str]:
        """A round on the current day."""
        return self.command("crawl", "--once", "--confirm-day", "--day", str(self.day))

    def environ(self) -> dict[str, str]:
        """The environment of a command: nobody's own settings, then ours."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("WEBOID_")}
        return kept | self.variables | dict(self.database)

    def look_at(self, server: Server, ca: Path | None = None, **others: str) -> None:
        """Asks this server's names and trusts this authority from now on; other settings by their variables' names."""
        self.variables = {
            "WEBOID_NET_DNS": server.name_server,
            "WEBOID_NET_PERMIT": "127.0.0.0/8",
            "WEBOID_CRAWL_DELAY": "0",
            "WEBOID_CONTACT": "benchmark@weboid.example",
            **({"WEBOID_NET_CA": str(ca)} if ca else {}),
            **others,
        }

    def take_in(self, hosts: Hosts, scheme: str, port: int, numbers: range) -> float:
        """Feeds a dump with these URLs in; returns the seconds that took."""
        page, links = write_dump(self.folder, hosts, scheme, port, numbers)
        begun = perf_counter()
        command = self.command("feed", "dump", WIKI, "--page", str(page), "--externallinks", str(links))
        command += ["--day", str(self.day)]
        run = subprocess.run(command, env=self.environ(), cwd=ROOT, capture_output=True, text=True, check=False)
        if run.returncode:
            raise RuntimeError(f"the URLs could not be taken in: {run.stderr}")
        return perf_counter() - begun

    def next_round(self) -> None:
        """Lets so many days go by that everything is due."""
        self.day += BETWEEN_ROUNDS

    def statuses(self) -> Mapping[int, int]:
        """Status bytes of the URLs that were asked on the current day, and how many have each."""
        with psycopg.connect(self.dsn) as connection:
            rows = connection.execute("SELECT status, count(*) FROM url WHERE asked = %s GROUP BY 1", (self.day,))
            return dict(rows.fetchall())

    def rest(self) -> None:
        """What the database does between two rounds, so that none of it falls into the next measurement."""
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")

    def database_pid(self) -> int:
        """The first process of the database's server, if that runs on this machine."""
        with psycopg.connect(self.dsn) as connection:
            row = connection.execute("SELECT pg_backend_pid()").fetchone()
            assert row
            return parent_of(row[0])


@contextmanager
def open_program(dsn: str = "") -> Iterator[Program]:
    """A program with an empty store of its own, removed at the end; or on the empty database that `dsn` names."""
    folder = Path(tempfile.mkdtemp(prefix="weboid-bench-"))
    folder.chmod(0o711)  # the database's own account passes through it
    try:
        if dsn:
            yield Program(folder, dsn, {"WEBOID_DATABASE": dsn})
        else:
            with open_server(folder / "data") as server:
                yield Program(folder, server.dsn, {})
    finally:
        shutil.rmtree(folder, ignore_errors=True)
