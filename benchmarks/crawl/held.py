"""Scenario held: very many TLS connections open at once, and 200 results a second out of them.

Each server answers after a time without memory, a minute on average, so that 12,000 connections give 200 answers a
second from the first to the last.
"""

import resource
from typing import Final

from benchmarks.crawl.authority import made_authority
from benchmarks.crawl.links import Single
from benchmarks.crawl.machine import Cores
from benchmarks.crawl.measure import Client, Figures, Sample, measured
from benchmarks.crawl.program import Program, open_program
from benchmarks.crawl.server import Server, open_server_process
from benchmarks.crawl.table import Target, say, show, tell, tell_targets

_RESERVE: Final = 400
"""Open files that a process needs besides its connections."""
_FULL: Final = 0.95
"""The share of the connections that waits for an answer at any time; the others are shaking hands."""
_FILLING_S: Final = 120.0
_LONGEST: Final = 3.0
"""The longest wait for an answer, in means (`server.c`)."""
_MEAN_OF_CUT: Final = 0.95
"""What cutting the long waits off leaves of their mean."""
_PATIENT: Final = {"WEBOID_NET_CONNECT_S": "200"}
_FINE: Final = 1


def held(
    cores: Cores, seconds: float, connections: int = 12_000, results_a_s: float = 200.0, database: str = ""
) -> list[Target]:
    """Opens the connections, then looks at the crawler for so many seconds."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    fit = min(connections, files - _RESERVE) if files != resource.RLIM_INFINITY else connections
    tell(f"held: {fit:,} open TLS connections, {results_a_s * fit / connections:.0f} results/s out of them; {cores}")
    if fit < connections:
        tell(f"  only so many instead of {connections:,}: a process may have {files:,} open files (ulimit -Hn)")
    mean_s = connections / results_a_s / _MEAN_OF_CUT
    with open_program(database) as program:
        authority = made_authority(program.folder)
        delay_ms = (-1, int(1e3 * mean_s))
        with open_server_process(certificates=authority.certificates, delay_ms=delay_ms) as server:
            limits = {
                "WEBOID_NET_CONNECTIONS": str(fit),
                "WEBOID_NET_ANSWER_S": str(_LONGEST * mean_s + 30),
            }
            program.look_at(server, authority.ca, **limits)
            urls = 2 * fit + int(results_a_s * (seconds + 60))
            say(f"taking in {urls:,} URLs")
            program.take_in(Single(), "https", server.port, range(urls))
            first = _Try(program, server, cores, fit, seconds)
            targets = first.measured()
            if not first.held:
                tell("  once more, with so much time to connect that nobody can miss it (WEBOID_NET_CONNECT_S=200):")
                program.look_at(server, authority.ca, **limits, **_PATIENT)
                _Try(program, server, cores, fit, seconds).measured()
    tell()
    return targets


class _Try:
    """One round, and in it the time in which all connections are open."""

    def __init__(self, program: Program, server: Server, cores: Cores, connections: int, seconds: float) -> None:
        self._program = program
        self._server = server
        self._cores = cores
        self._connections = connections
        self._seconds = seconds
        self._full: Sample | None = None
        self.held = False
        """Whether all connections were open at a time, and none broke."""

    def measured(self) -> list[Target]:
        """Runs it and tells."""
        self._program.rest()
        self._program.next_round()
        say("opening the connections")
        client = Client(
            "weboid crawl",
            self._program.crawl(),
            self._program.environ(),
            database=self._program.database_pid(),
        )
        limit_s = _FILLING_S + self._seconds
        figures = measured(client, self._server, self._cores, limit_s=limit_s, show=show, stop=self._is_over)
        self.held = self._full is not None and not figures.samples[-1].counts.broken
        if "cut off" in figures.output:
            tell("  the crawler took itself to be cut off and gave up")
        targets = [*self._errors(figures), *self._costs(figures)]
        tell_targets(targets)
        return targets

    def _is_over(self, sample: Sample) -> bool:
        if self._full is None and sample.counts.waiting >= _FULL * self._connections:
            self._full = sample
            say(f"{sample.counts.waiting:,} connections wait for an answer")
        if self._full is None:
            return sample.counts.broken > 0 and sample.counts.waiting == 0
        return sample.at_s - self._full.at_s >= self._seconds

    def _errors(self, figures: Figures) -> list[Target]:
        wrong = sum(count for status, count in self._program.statuses().items() if status != _FINE)
        return [
            Target("connections that broke before an answer: none", figures.samples[-1].counts.broken, 0, at_most=True),
            Target("URLs held for other than fine: none", wrong, 0, at_most=True),
        ]

    def _costs(self, figures: Figures) -> list[Target]:
        most = max(sample.counts.waiting for sample in figures.samples)
        if self._full is None:
            tell(f"  at most {most:,} connections waited for an answer at a time, {figures.peak_mib:,.0f} MiB")
            return [Target(f"{self._connections:,} connections held", most, _FULL * self._connections)]
        first, last = self._full, figures.samples[-1]
        seconds = last.at_s - first.at_s
        rate = (last.counts.urls - first.counts.urls) / seconds
        share = (last.client.cpu_s - first.client.cpu_s) / seconds
        database = (last.database.cpu_s - first.database.cpu_s) / seconds
        fewest = min(sample.counts.waiting for sample in figures.samples if sample.at_s >= first.at_s)
        filling_s = first.at_s - figures.samples[0].at_s
        tell(f"  full after {filling_s:.0f} s; then {fewest:,} to {most:,} waiting for an answer, {seconds:.0f} s long")
        tell(f"  {rate:.0f} results/s, {figures.peak_mib:,.0f} MiB, {share:.2f} of a core (database {database:.2f})")
        return [
            Target("memory below 1000 MiB", figures.peak_mib, 1_000, at_most=True),
            Target(f"at most half a core at {rate:.0f} results/s", share, 0.5, at_most=True),
        ]
