"""One client measured: what the server has answered it, and what it and the database used for that.

One law: start-up, ramp-up and the last stragglers are left out, for every client in the same way.
"""

import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep
from typing import IO, Final

from benchmarks.crawl.machine import Cores, Used, used
from benchmarks.crawl.server import ROOT, Counts, Server

SAMPLE_S: Final = 0.1
_EDGE: Final = 0.08
"""The share of the checks at the beginning and at the end that is left out."""
_FEWEST_SAMPLES: Final = 5
_PATIENCE_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class Client:
    """Something that asks URLs. `stdin` is a file, `note` is printed beside its figures."""

    name: str
    command: Sequence[str]
    environ: Mapping[str, str] | None = None
    stdin: Path | None = None
    database: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Sample:
    """One look at everything, `at_s` on the monotonic clock."""

    at_s: float
    counts: Counts
    client: Used
    database: Used


@dataclass(slots=True)
class Figures:
    """What a client did."""

    name: str
    note: str = ""
    samples: list[Sample] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)
    """At the very end, when the client was gone."""
    output: str = ""

    @property
    def urls(self) -> int:
        """Different URLs that the server answered."""
        return self.counts.urls

    @property
    def window(self) -> tuple[Sample, Sample]:
        """The steady part."""
        inside = [sample for sample in self.samples if _EDGE <= sample.counts.urls / max(self.urls, 1) <= 1 - _EDGE]
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
    client: Client,
    server: Server,
    cores: Cores,
    *,
    limit_s: float,
    show: Callable[[str], None],
    stop: Callable[[Sample], bool] = lambda sample: False,
) -> Figures:
    """Runs a client on its core until it ends, `stop` says so or time is up."""
    server.reset()
    figures = Figures(client.name, client.note)
    with tempfile.TemporaryFile("w+") as output:
        with _started(client, cores, output) as process:
            begun = monotonic()
            try:
                while process.poll() is None or not figures.samples:
                    sample = look(server, process.pid, client.database)
                    figures.samples.append(sample)
                    show(f"{client.name}: {sample.counts.urls:,} checks, {sample.client.rss_mib:,.0f} MiB")
                    if sample.at_s - begun > limit_s or stop(sample):
                        break
                    sleep(SAMPLE_S)
            finally:
                end(process)
        figures.counts = server.counts()
        output.seek(0)
        figures.output = output.read()
    return figures


def _started(client: Client, cores: Cores, output: IO[str]) -> "subprocess.Popen[bytes]":
    with (client.stdin or Path(os.devnull)).open("rb") as given, cores.on_the_clients():
        return subprocess.Popen(
            client.command,
            stdin=given,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=client.environ,
            cwd=ROOT,
            start_new_session=True,
        )


def look(server: Server, client: int, database: int | None) -> Sample:
    """One look at everything."""
    at_s = monotonic()
    return Sample(at_s, server.counts(), used([client]), used([database]) if database else Used(0.0, 0.0))


def end(process: "subprocess.Popen[bytes]") -> None:
    """Tells a process to end that has not done so yet, and at last makes it."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
