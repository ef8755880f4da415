"""Scenario drip: benign checks of the bare engine, beside servers that send heads byte by byte and without them.

One law: both are measured in turn over the same server and the same URLs, and of each the best round counts.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from benchmarks.crawl.dripping import ADDRESS
from benchmarks.crawl.fast import ClientRun, Settings
from benchmarks.crawl.measure import Client
from benchmarks.crawl.program import open_program
from benchmarks.crawl.server import ROOT, open_server_process
from benchmarks.crawl.table import Target, tell, tell_figures, tell_targets

_LEAST: Final = 0.8
_END_S: Final = 10.0


def drip(settings: Settings, connections: int = 50) -> list[Target]:
    """The rate of benign checks beside so many hostile connections, by the rate without them."""
    tell(f"drip: the bare engine over HTTP and DNS, alone and beside {connections} connections whose servers send")
    tell(f"  their heads byte by byte as fast as they can; {settings.cores}")
    with open_program(settings.database) as program, open_server_process() as server, _hostile_server() as hostile:
        run = ClientRun(settings, program, server, None)
        alone = run.bare(settings.share(12_000))
        beset = Client(
            f"beside {connections} hostile connections",
            [*alone.command, hostile, str(connections)],
            alone.environ,
            alone.stdin,
        )
        figures = {each.name: each for each in run.best_of([alone, beset])}
    ours, others = figures[beset.name], figures[alone.name]
    tell_figures(ours, [others])
    targets = [
        Target(f"of the rate without them ≥ {_LEAST:.0%}", ours.rate / max(others.rate, 1e-9), _LEAST),
        Target(f"the same by CPU a check ≥ {_LEAST:.0%}", others.cpu_ms / max(ours.cpu_ms, 1e-9), _LEAST),
    ]
    tell_targets(targets)
    tell()
    return targets


@contextmanager
def _hostile_server() -> Iterator[str]:
    """The URL of a hostile server of its own process."""
    with subprocess.Popen(
        [sys.executable, "-m", "benchmarks.crawl.dripping"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        start_new_session=True,
    ) as process:
        assert process.stdin
        assert process.stdout
        try:
            if not (port := process.stdout.readline().strip()):
                raise RuntimeError("the hostile server has not started")
            yield f"http://{ADDRESS}:{port}/"
        finally:
            process.stdin.close()
            try:
                process.wait(_END_S)
            except subprocess.TimeoutExpired:
                process.kill()
