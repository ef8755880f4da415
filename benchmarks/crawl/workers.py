"""Scenario workers: one and two crawlers on one store; no URL may be asked twice, whoever asks it."""

import subprocess
from contextlib import ExitStack
from time import monotonic, sleep

from benchmarks.crawl.links import Single
from benchmarks.crawl.machine import Cores, used
from benchmarks.crawl.measure import SAMPLE_S, end
from benchmarks.crawl.program import Program, open_program
from benchmarks.crawl.server import ROOT, Counts, Server, open_server_process
from benchmarks.crawl.table import Target, say, show, tell, tell_targets


def workers(cores: Cores, urls: int, limit_s: float = 300.0, database: str = "") -> list[Target]:
    """A round by one worker, then one by two; nobody is bound to a core."""
    available = len(cores.client | cores.others) or 1
    tell(f"workers: {urls:,} URLs over plain HTTP, one worker and two on one store; {available} cores for everything")
    counts = {}
    with open_program(database) as program, open_server_process() as server:
        program.look_at(server)
        say(f"taking in {urls:,} URLs")
        program.take_in(Single(), "http", server.port, range(urls))
        for number in (1, 2):
            program.rest()
            program.next_round()
            say(f"{number} at work")
            counts[number] = _round(program, server, cores, number, urls, limit_s)
    rates = {number: each.urls / max(each.last_s - each.first_s, 1e-9) for number, each in counts.items()}
    for number, each in counts.items():
        who = f"{number} worker{'s' * (number > 1)}"
        tell(f"  {who}: {rates[number]:,.0f} checks/s, {each.urls:,} URLs, {each.twice} twice")
    shared = " (they share the cores with everything else)" if available < 4 else ""
    tell(f"  two are {rates[2] / rates[1]:.2f} × one{shared}")
    targets = [
        Target("URLs asked twice: none", sum(each.twice for each in counts.values()), 0, at_most=True),
        Target("URLs left out: none", sum(urls - each.urls for each in counts.values()), 0, at_most=True),
    ]
    tell_targets(targets)
    tell()
    return targets


def _round(program: Program, server: Server, cores: Cores, number: int, urls: int, limit_s: float) -> Counts:
    server.reset()
    end_s = monotonic() + limit_s
    with ExitStack() as stack:
        stack.enter_context(cores.on_all())
        crawlers = [stack.enter_context(_started(program)) for _ in range(number)]
        try:
            while any(crawler.poll() is None for crawler in crawlers) and monotonic() < end_s:
                now = server.counts()
                show(f"{now.urls:,} of {urls:,}, {used([crawler.pid for crawler in crawlers]).rss_mib:,.0f} MiB")
                sleep(SAMPLE_S)
        finally:
            for crawler in crawlers:
                end(crawler)
    return server.counts()


def _started(program: Program) -> "subprocess.Popen[bytes]":
    nothing = subprocess.DEVNULL
    return subprocess.Popen(
        program.crawl(),
        env=program.environ(),
        cwd=ROOT,
        stdin=nothing,
        stdout=nothing,
        stderr=nothing,
        start_new_session=True,
    )
