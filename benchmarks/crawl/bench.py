"""The program under test: a server, a store with the benchmark's URLs, and the commands that a person would type.

Only what stands here, in `bare` and in `store` knows Weboid. URLs come in by ``weboid feed`` and are checked by
``weboid crawl``, with nothing but variables set.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from types import MappingProxyType
from typing import Final

import psycopg

from benchmarks.crawl.links import Labels, dumped, urls_of
from benchmarks.crawl.measure import NOBODY_BOUND, Client, Cores, Figures, lasting, measured
from benchmarks.crawl.server import Server, open_web
from benchmarks.harness import ROOT, database_pid, say, temporary_folder, temporary_store, vacuum

_BETWEEN_ROUNDS: Final = 40
"""Days after which everything is due again, whatever was found."""
_WIKI: Final = "benchwiki@wmflabs"
_FINE: Final = 1
"""The status byte of a URL that answered as it should."""
_LIMIT_S: Final = 600.0
_START_S: Final = 20.0


@dataclass(frozen=True, slots=True)
class Settings:
    """How long each client is measured and how often; `urls` overrules the seconds."""

    cores: Cores = NOBODY_BOUND
    seconds: float = 6.0
    rounds: int = 2
    urls: int | None = None
    install: bool = True
    """Whether peers may be installed."""
    database: str = ""
    """Of an empty database; empty = an embedded one of its own."""

    def share(self, guess: float) -> int:
        """How many URLs are enough for a client that asks about `guess` a second."""
        return self.urls or max(int(guess * self.seconds), 1)


@dataclass(slots=True)
class Bench:
    """Weboid with a store and a server of its own; `variables` are set for every command."""

    settings: Settings
    folder: Path
    dsn: str
    server: Server
    variables: dict[str, str]
    tree: Path = ROOT
    """The working tree whose program is measured."""
    day: int = 100

    @property
    def scheme(self) -> str:
        return "https" if self.server.ca else "http"

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment of a command: nobody's own settings, then ours."""
        return {name: value for name, value in os.environ.items() if not name.startswith("WEBOID_")} | self.variables

    def command(self, *words: str) -> list[str]:
        python = sys.executable if self.tree == ROOT else str(self.tree / ".venv/bin/python")
        return [python, "-m", "weboid", "--data", str(self.folder / "program"), *words]

    def take_in(self, labels: Labels, urls: int) -> float:
        """Feeds a dump with these URLs in; returns the seconds that took."""
        say(f"taking in {urls:,} URLs")
        page, links = dumped(self.folder, labels, self.scheme, self.server.port, urls)
        begun = perf_counter()
        command = self.command("feed", "dump", _WIKI, "--page", str(page), "--externallinks", str(links))
        command += ["--day", str(self.day)]
        run = subprocess.run(command, env=self.environ, cwd=self.tree, capture_output=True, text=True, check=False)
        if run.returncode:
            raise RuntimeError(f"the URLs could not be taken in: {run.stderr}")
        return perf_counter() - begun

    def next_round(self, days: int = _BETWEEN_ROUNDS) -> None:
        """Lets so many days go by; after the usual number everything is due."""
        vacuum(self.dsn)
        self.day += days

    def empty(self) -> None:
        """Empties the store, so that the next round is a first one."""
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")

    def crawler(self, name: str = "weboid crawl", days: int = _BETWEEN_ROUNDS) -> Client:
        """The crawler for another round over all URLs, so many days after the last one."""
        self.next_round(days)
        command = self.command("crawl", "--once", "--confirm-day", "--day", str(self.day))
        return Client(name, command, self.environ, database=database_pid(self.dsn), folder=self.tree)

    def file(self, urls: int) -> Path:
        path = self.folder / f"urls-{urls}.txt"
        if not path.exists():
            path.write_text("\n".join(urls_of("h{}".format, self.scheme, self.server.port, range(urls))) + "\n")
        return path

    def wrong(self) -> dict[int, int]:
        """Status bytes other than fine that the last round has found, and how many URLs have each."""
        with psycopg.connect(self.dsn) as connection:
            rows = connection.execute("SELECT status, count(*) FROM url WHERE asked = %s GROUP BY 1", (self.day,))
            return {status: count for status, count in rows if status != _FINE}

    def measure(self, client: Client, limit_s: float, stop: Callable[[Figures], bool]) -> Figures:
        return measured(client, self.server, self.settings.cores, limit_s=limit_s, stop=stop)

    def measure_best(self, client: Client, number: int, best: dict[str, Figures]) -> None:
        """Measures a client for its seconds, or until it ends where URLs were given, and keeps its best figures."""
        given = self.settings
        say(f"{client.name}, round {number + 1} of {given.rounds}")
        stop = (lambda figures: False) if given.urls else lasting(given.seconds)
        figures = self.measure(client, _LIMIT_S if given.urls else given.seconds + _START_S, stop)
        if client.name not in best or figures.rate > best[client.name].rate:
            best[client.name] = figures


@contextmanager
def open_bench(
    settings: Settings,
    *,
    tls: bool = False,
    delay_ms: tuple[int, int] = (0, 0),
    variables: Mapping[str, str] = MappingProxyType({}),
    pages: Sequence[bytes] = (),
    tree: Path = ROOT,
) -> Iterator[Bench]:
    """A server, and a program with an empty store that asks the server's names and trusts its authority."""
    with temporary_folder() as folder, ExitStack() as stack:
        dsn = settings.database or stack.enter_context(temporary_store())
        server = stack.enter_context(open_web(folder, tls=tls, delay_ms=delay_ms, pages=pages))
        usual = {
            "WEBOID_DATABASE": dsn,
            "WEBOID_NET_DNS": f"127.1.0.1:{server.dns_port}",
            "WEBOID_NET_PERMIT": "127.0.0.0/8",
            "WEBOID_CRAWL_DELAY": "0",
            "WEBOID_CONTACT": "benchmark@weboid.example",
        } | ({"WEBOID_NET_CA": str(server.ca)} if server.ca else {})
        yield Bench(settings, folder, dsn, server, {**usual, **variables}, tree)
