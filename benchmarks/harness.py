"""Equipment of all benchmarks: this machine, what processes use, stores and processes of their own, what is printed.

Results go to stdout, progress to stderr. What is measured of a process comes from the kernel (Linux's /proc).
"""

import argparse
import asyncio
import gzip
import os
import platform
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final, cast

import psycopg

from weboid.cli.processes.process import run_async
from weboid.core.url.farms import WMFLABS, WikiName
from weboid.feed.intake import page_urls
from weboid.store.db.migrate import migrate
from weboid.store.db.pool import Pool, open_pool
from weboid.store.embedded import open_server
from weboid.store.pages.page import PageChanges, record_intake
from weboid.store.pages.wiki import record_wiki
from weboid.wiki.source import PageLinks

ROOT: Final = Path(__file__).resolve().parents[1]
_CREATED: Final = {
    "page": """CREATE TABLE `page` (
  `page_id` int(10) unsigned NOT NULL AUTO_INCREMENT,
  `page_namespace` int(11) NOT NULL,
  `page_title` varbinary(255) NOT NULL,
  `page_is_redirect` tinyint(3) unsigned NOT NULL DEFAULT 0,
  `page_is_new` tinyint(3) unsigned NOT NULL DEFAULT 0,
  `page_random` double unsigned NOT NULL,
  `page_touched` binary(14) NOT NULL,
  `page_links_updated` binary(14) DEFAULT NULL,
  `page_latest` int(10) unsigned NOT NULL,
  `page_len` int(10) unsigned NOT NULL,
  `page_content_model` varbinary(32) DEFAULT NULL,
  `page_lang` varbinary(35) DEFAULT NULL,
  PRIMARY KEY (`page_id`)
) ENGINE=InnoDB;
""",
    "externallinks": """CREATE TABLE `externallinks` (
  `el_id` int(10) unsigned NOT NULL AUTO_INCREMENT,
  `el_from` int(10) unsigned NOT NULL DEFAULT 0,
  `el_to_domain_index` varbinary(255) NOT NULL DEFAULT '',
  `el_to_path` blob DEFAULT NULL,
  PRIMARY KEY (`el_id`)
) ENGINE=InnoDB;
""",
}
"""What stands at the head of the dumps of two tables."""
_PAGES_AT_ONCE: Final = 500
_ROWS_A_STATEMENT: Final = 10_000
_END_S: Final = 10.0
_TICKS_A_S: Final = os.sysconf("SC_CLK_TCK")


# Stores


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that the account of an embedded database may pass through; removed at the end."""
    with tempfile.TemporaryDirectory(prefix="weboid-bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o711)
        yield folder


@contextmanager
def temporary_store() -> Iterator[str]:
    """The DSN of an empty embedded database, removed at the end."""
    with temporary_folder() as folder, open_server(folder / "data") as server:
        yield server.dsn


@asynccontextmanager
async def open_migrated(dsn: str, size: int = 4) -> AsyncIterator[Pool]:
    """Connections to a store that has our schema."""
    async with open_pool(dsn, size=size, part="benchmark") as pool:
        async with pool.connection() as conn:
            await migrate(conn)
        yield pool


async def take_in(pool: Pool, urls: Sequence[str], a_page: int = 40) -> tuple[int, int]:
    """Records the pages of a wiki that link to these URLs; returns the wiki and how many pages it has."""
    async with pool.connection() as conn:
        wiki = await record_wiki(conn, WMFLABS, WikiName("benchwiki", WMFLABS.name))
    pages = [
        PageLinks(number, 0, f"Page {number}", 1, None, tuple(sorted(urls[first : first + a_page])))
        for number, first in enumerate(range(0, len(urls), a_page), start=1)
    ]
    for start in range(0, len(pages), _PAGES_AT_ONCE):
        async with pool.connection() as conn:
            judged = [page_urls(page, WMFLABS) for page in pages[start : start + _PAGES_AT_ONCE]]
            await record_intake(conn, {wiki.wiki: PageChanges(read=judged)}, 100)
    return wiki.wiki, len(pages)


def write_dump(path: Path, table: str, rows: Iterator[str]) -> None:
    """Writes the table page or externallinks as ``mysqldump`` does, a row a line, thousands of rows a statement."""
    with gzip.open(path, "wt", compresslevel=1, encoding="utf-8", newline="\n") as file:
        file.write(_CREATED[table])
        while some := list(islice(rows, _ROWS_A_STATEMENT)):
            file.write(f"INSERT INTO `{table}` VALUES\n" + ",\n".join(some) + ";\n")


def vacuum(dsn: str) -> None:
    """What autovacuum does in the days between two rounds, so that none of it falls into a measurement."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")


def run_on_store(what: str, work: Callable[..., Coroutine[Any, Any, object]], **usual: int) -> None:
    """Runs a measurement over an empty store, with its numbers (``--urls N`` and so on) or the usual ones."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    parser = argparse.ArgumentParser(description=what)
    for name, number in usual.items():
        parser.add_argument(f"--{name}", type=int, default=number)
    given = parser.parse_args()
    with temporary_store() as dsn:
        run_async(work(dsn=dsn, **vars(given)))


# Processes


@contextmanager
def open_process(command: Sequence[object]) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """A program that prints a line when it is ready and ends with its stdin, and that line."""
    words = [str(word) for word in command]
    with subprocess.Popen(
        words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdin
        assert process.stdout
        try:
            if not (line := process.stdout.readline()):
                raise RuntimeError(f"it has not started: {' '.join(words)}")
            yield process, line.strip()
        finally:
            with suppress(BrokenPipeError):
                process.stdin.close()
            try:
                process.wait(_END_S)
            except subprocess.TimeoutExpired:
                process.kill()


class _Exchange(asyncio.Protocol):
    """One connection: answers what comes, one request after the other."""

    def __init__(self, answer: Callable[[str], bytes], opened: Callable[[], None]) -> None:
        self._answer, self._opened = answer, opened
        self._data = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is no subclass of it
        self._opened()

    def data_received(self, data: bytes) -> None:
        self._data += data
        while self._transport and (end := self._data.find(b"\r\n\r\n")) >= 0:
            (method, target, _), self._data = self._data[:end].decode("latin-1").split(" ", 2), self._data[end + 4 :]
            answered = self._answer(target)
            self._transport.write(answered.partition(b"\r\n\r\n")[0] + b"\r\n\r\n" if method == "HEAD" else answered)


async def serve_answers(answer: Callable[[str], bytes], opened: Callable[[], None] = lambda: None) -> None:
    """A web server that answers by the target of a request: prints its port, and ends with its input."""
    server = await asyncio.get_running_loop().create_server(lambda: _Exchange(answer, opened), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)
    server.close()


def reply(code: int, body: bytes, *lines: str, kind: str = "application/json") -> bytes:
    """A whole answer, with these lines in its head."""
    head = [f"HTTP/1.1 {code} Word", *lines, f"Content-Type: {kind}", f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(head).encode() + body


def module(name: str, *words: object) -> list[object]:
    return [sys.executable, "-m", f"benchmarks.{name}", *words]


@contextmanager
def open_serve(dsn: str, *words: str, **settings: str) -> Iterator[tuple[str, int]]:
    """The address and the process of ``weboid serve`` at a free port."""
    environ = {**os.environ, "WEBOID_DATABASE": dsn, **settings}
    command = [sys.executable, "-m", "weboid", "serve", "--port", "0", *words]
    with subprocess.Popen(command, cwd=ROOT, env=environ, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        try:
            while not (found := re.search(r"answers at (\S+)/", line := process.stderr.readline())):
                if not line:
                    raise RuntimeError("the service did not start")
            yield found[1], process.pid
        finally:
            process.terminate()
            process.stderr.read()


@dataclass(frozen=True, slots=True)
class Used:
    """CPU seconds of processes with their children so far, and the memory they hold now."""

    cpu_s: float = 0.0
    rss_mib: float = 0.0


def used(*roots: int) -> Used:
    """What these processes and all below them have used."""
    processes = {pid: fields for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if (fields := _stat(pid))}
    tree = set(roots) & processes.keys()
    while more := {pid for pid, fields in processes.items() if int(fields[1]) in tree} - tree:
        tree |= more
    # utime, stime, and those of children that have ended
    ticks = sum(int(ticks) for pid in tree for ticks in processes[pid][11:15])
    pages = sum(int(processes[pid][21]) for pid in tree)
    return Used(ticks / _TICKS_A_S, pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20))


def peak_mib() -> float:
    """Most memory of this program alone: getrusage begins with the memory of the process that started it."""
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def database_pid(dsn: str) -> int:
    """The process of this machine's database server whose children serve connections."""
    with psycopg.connect(dsn) as connection:
        row = connection.execute("SELECT pg_backend_pid()").fetchone()
        assert row
        fields = _stat(row[0])
    return int(fields[1]) if fields else 0


def _stat(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return []


# Running and printing


def begin(name: str) -> None:
    """Ends where there is no /proc, lets SIGTERM end this program as Ctrl-C does, and says what machine this is."""
    if sys.platform != "linux":
        sys.exit(f"benchmarks.{name} needs Linux: it reads /proc")
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    cpu = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    tell(
        f"{platform.system()} {platform.machine()}, {cpu[1] if cpu else '?'}, {len(os.sched_getaffinity(0))} cores, "
        f"load before the run {os.getloadavg()[0]:.1f}"
    )


@dataclass(frozen=True, slots=True)
class Target:
    """A demand of the design: `value` in whatever unit `text` names, to be at least (or at most) `bound`."""

    text: str
    value: float
    bound: float
    at_most: bool = False

    @property
    def met(self) -> bool:
        return self.value <= self.bound if self.at_most else self.value >= self.bound

    def __str__(self) -> str:
        value = f"{self.value:,.0f}" if abs(self.value) >= 100 else f"{self.value:.3g}"
        return f"  target {self.text}: {value} — {'met' if self.met else 'MISSED'}"


def show(text: str) -> None:
    """Progress, on one line where a person looks on."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def say(text: str) -> None:
    """What is being done now, on stderr."""
    show("")
    print(f"… {text}", file=sys.stderr, flush=True)


def tell(text: str = "") -> None:
    """A line of the results."""
    show("")
    print(text, flush=True)


def tell_targets(targets: Collection[Target]) -> None:
    """A line a target, missed ones with their figure like all others."""
    for target in targets:
        tell(str(target))
