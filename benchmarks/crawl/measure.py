"""One client measured: what the server has answered it, and what it and the database used for that.

Start-up, ramp-up and the last stragglers are left out, for every client in the same way.
"""

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep
from typing import Final

from benchmarks.crawl.server import Counts, Server
from benchmarks.harness import ROOT, Used, show, tell, used

SAMPLE_S: Final = 0.1
_EDGE: Final = 0.08
"""The share of the checks at the beginning and at the end that is left out."""
_FEWEST_SAMPLES: Final = 5
_PATIENCE_S: Final = 30.0
_NAME: Final = 30
_HEAD: Final = ("checks/s", "CPU ms/check", "database ms", "peak MiB", "weboid/this by rate", "by CPU")


@dataclass(frozen=True, slots=True)
class Cores:
    """One core for the client that is measured, the others for servers and database; both empty = nobody is bound."""

    client: frozenset[int] = frozenset()
    others: frozenset[int] = frozenset()

    @property
    def number(self) -> int:
        """How many there are for everything."""
        return len(self.client | self.others) or 1

    def __str__(self) -> str:
        if not self.client:
            return "all on one core"
        return f"client on core {min(self.client)}, servers and database on {', '.join(map(str, sorted(self.others)))}"


NOBODY_BOUND: Final = Cores()


def shared_out() -> Cores:
    """Takes the client's core away from this process and so from all it starts, if there is more than one."""
    if len(available := os.sched_getaffinity(0)) < 2:
        return NOBODY_BOUND
    cores = Cores(frozenset({max(available)}), frozenset(available - {max(available)}))
    os.sched_setaffinity(0, cores.others)
    return cores


@contextmanager
def bound(cores: frozenset[int]) -> Iterator[None]:
    """Binds this thread, and so what it starts, to other cores; none = it stays where it is."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores or before)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@dataclass(frozen=True, slots=True)
class Client:
    """A program that requests URLs, run in `folder`; `stdin` is a file, `database` a process that works for it."""

    name: str
    command: Sequence[str]
    environ: Mapping[str, str] | None = None
    stdin: Path | None = None
    database: int = 0
    folder: Path = ROOT

    @contextmanager
    def running(self, cores: frozenset[int], output: int = subprocess.DEVNULL) -> Iterator["subprocess.Popen[bytes]"]:
        """Starts it on these cores; at the end it is ended, and at last killed."""
        with (self.stdin or Path(os.devnull)).open("rb") as given, bound(cores):
            process = subprocess.Popen(
                self.command, stdin=given, stdout=output, stderr=subprocess.STDOUT, env=self.environ, cwd=self.folder,
                start_new_session=True,
            )  # fmt: skip
        with process:
            try:
                yield process
            finally:
                process.terminate()
                try:
                    process.wait(_PATIENCE_S)
                except subprocess.TimeoutExpired:
                    process.kill()


@dataclass(frozen=True, slots=True)
class Skipped:
    """A client that is not measured, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Sample:
    """One look at everything, `at_s` on the monotonic clock."""

    at_s: float
    counts: Counts
    client: Used
    database: Used


@dataclass(slots=True)
class Figures:
    """What a client did; `counts` are those at the very end, when it was gone."""

    name: str
    samples: list[Sample] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)
    output: str = ""

    @property
    def window(self) -> tuple[Sample, Sample]:
        """The steady part."""
        whole = max(self.counts.urls, 1)
        inside = [sample for sample in self.samples if _EDGE <= sample.counts.urls / whole <= 1 - _EDGE]
        if len(inside) < _FEWEST_SAMPLES:
            inside = [sample for sample in self.samples if sample.counts.urls] or self.samples
        return inside[0], inside[-1]

    @property
    def rate(self) -> float:
        """Checks a second; by the server's own clock where everything was over between two looks."""
        first, last = self.window
        if last.counts.urls > first.counts.urls:
            return (last.counts.urls - first.counts.urls) / (last.at_s - first.at_s)
        return self.counts.urls / max(self.counts.last_s - self.counts.first_s, 1e-3)

    @property
    def cpu_ms(self) -> float:
        """CPU milliseconds of the client for one check."""
        return self._cpu_ms(lambda sample: sample.client)

    @property
    def database_ms(self) -> float:
        """CPU milliseconds of the database for one check."""
        return self._cpu_ms(lambda sample: sample.database)

    @property
    def peak_mib(self) -> float:
        """Most memory that the client held."""
        return max((sample.client.rss_mib for sample in self.samples), default=0.0)

    def _cpu_ms(self, part: Callable[[Sample], Used]) -> float:
        first, last = self.window
        return 1e3 * (part(last).cpu_s - part(first).cpu_s) / max(last.counts.urls - first.counts.urls, 1)


def measured(
    client: Client, server: Server, cores: Cores, *, limit_s: float, stop: Callable[[Figures], bool]
) -> Figures:
    """Runs a client on its core until it ends, `stop` says so or time is up."""
    server.counts("reset")
    figures = Figures(client.name)
    with tempfile.TemporaryFile("w+") as output:
        with client.running(cores.client, output.fileno()) as process:
            begun_s = monotonic()
            while process.poll() is None or not figures.samples:
                at_s, counts = monotonic(), server.counts()
                database = used(client.database) if client.database else Used()
                figures.samples.append(Sample(at_s, counts, used(process.pid), database))
                show(f"{client.name}: {counts.urls:,} checks, {figures.samples[-1].client.rss_mib:,.0f} MiB")
                if at_s - begun_s > limit_s or stop(figures):
                    break
                sleep(SAMPLE_S)
        figures.counts = server.counts()
        output.seek(0)
        figures.output = output.read()
    return figures


def lasting(seconds: float) -> Callable[[Figures], bool]:
    """Ends a client so long after its first answer."""
    begun_s: list[float] = []

    def is_over(figures: Figures) -> bool:
        last = figures.samples[-1]
        if last.counts.urls and not begun_s:
            begun_s.append(last.at_s)
        return bool(begun_s) and last.at_s - begun_s[0] >= seconds

    return is_over


def tell_figures(ours: Figures, others: Iterable[Figures | Skipped]) -> None:
    """A line a client, with the ratio of our rate to its."""
    tell(f"  {'':{_NAME}}{'  '.join(_HEAD)}")
    for row in (ours, *others):
        if isinstance(row, Skipped):
            tell(f"  {row.name:{_NAME}}skipped: {row.reason}")
        elif not row.counts.urls:
            tell(f"  {row.name:{_NAME}}asked nothing: {(row.output.strip().splitlines() or ['no output'])[-1][:160]}")
        else:
            cells = (
                f"{row.rate:,.0f}",
                f"{row.cpu_ms:.3f}",
                f"{row.database_ms:.3f}" if row.database_ms else "",
                f"{row.peak_mib:,.0f}",
                f"{ours.rate / row.rate:.2f}",
                f"{row.cpu_ms / max(ours.cpu_ms, 1e-9):.2f}",
            )
            line = "  ".join(f"{cell:>{len(title)}}" for cell, title in zip(cells, _HEAD, strict=True))
            tell(f"  {row.name:{_NAME}}{line}")
