"""What the crawler's memory does as the store grows: ``python -m benchmarks.memory [--urls N …] [--seconds N]``.

One store is filled up to each of the given sizes in turn; each time a fresh crawler checks URLs of a fast local server
for so many seconds (0 = all of them). The whole of it: ``--urls 100000 1000000 --seconds 0``.
One law: what is printed is what the kernel says of the ``weboid crawl`` process while it works.
"""

import argparse
import sys
from typing import Final

from benchmarks.crawl.links import Single
from benchmarks.crawl.machine import Cores, described, end_in_order, shared_out
from benchmarks.crawl.measure import Client, Figures, measured
from benchmarks.crawl.program import Program, open_program
from benchmarks.crawl.server import Server, open_server_process
from benchmarks.crawl.table import Target, say, show, tell, tell_targets

_LIMIT_MIB: Final = 500
_FLAT: Final = 1.15
"""Memory at the end over memory in the middle, and with the largest store over that with the smallest."""
_WARM_URLS: Final = 120_000
"""The crawler remembers 50,000 names, and c-ares some more: so many checks later nothing fills up any more."""
_WEEK_S: Final = 7 * 86_400.0


def memory(cores: Cores, sizes: list[int], seconds: float, database: str = "") -> list[Target]:
    """Crawls with each size of the store; prints memory over the time of each run."""
    figures: dict[int, Figures] = {}
    with open_program(database) as program, open_server_process() as server:
        program.look_at(server)
        filled = 0
        for size in sorted(sizes):
            say(f"taking in {size - filled:,} URLs, so that there are {size:,}")
            program.take_in(Single(), "http", server.port, range(filled, size))
            filled = size
            program.rest()
            program.next_round()
            say(f"crawling with {size:,} URLs in the store")
            figures[size] = _crawled(program, server, cores, seconds)
            _tell(size, figures[size])
    first, last = figures[min(sizes)], figures[max(sizes)]
    targets = [
        Target(f"crawler below {_LIMIT_MIB} MiB", max(each.peak_mib for each in figures.values()), _LIMIT_MIB, True),
    ]
    if last.urls >= _WARM_URLS:
        targets.append(Target(f"its end ≤ {_FLAT} × its middle", _at(last, 1.0) / _at(last, 0.5), _FLAT, at_most=True))
    else:
        tell(f"  too few checks to say whether it is flat: that takes {_WARM_URLS:,}, until when its caches fill up")
    if len(sizes) > 1:
        grown = last.peak_mib / first.peak_mib
        targets.append(Target(f"largest store ≤ {_FLAT} × smallest", grown, _FLAT, at_most=True))
    tell_targets(targets)
    return targets


def _crawled(program: Program, server: Server, cores: Cores, seconds: float) -> Figures:
    client = Client("weboid crawl", program.crawl(), program.environ(), database=program.database_pid())
    return measured(client, server, cores, limit_s=seconds or _WEEK_S, show=show)


def _tell(size: int, figures: Figures) -> None:
    course = " ".join(f"{_at(figures, tenth / 10):.0f}" for tenth in range(1, 11))
    tell(
        f"{size:>11,} URLs stored, {figures.urls:,} checked at {figures.rate:,.0f}/s: {course} MiB in tenths of the run"
    )
    cost = f"{figures.cpu_ms:.2f} ms CPU a check, database {figures.database_ms:.2f}"
    tell(f"{'':11}  peak {figures.peak_mib:.0f} MiB; {cost}")


def _at(figures: Figures, share: float) -> float:
    """MiB when so much of the time was over."""
    samples = figures.samples
    return samples[min(int(share * len(samples)), len(samples) - 1)].client.rss_mib


def main() -> None:
    """Reads the options."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.memory", description=__doc__)
    options.add_argument("--urls", type=int, nargs="+", default=[100_000, 300_000])
    options.add_argument("--seconds", type=float, default=25.0)
    asked = options.parse_args()
    if sys.platform != "linux":
        sys.exit("benchmarks.memory needs Linux: it reads /proc")
    end_in_order()
    tell(described())
    memory(shared_out(), asked.urls, asked.seconds)


if __name__ == "__main__":
    main()
