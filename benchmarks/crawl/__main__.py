"""The crawler beside its peers, as ratios: ``python -m benchmarks.crawl [SCENARIO …] [--seconds N] [--urls N]``.

Scenarios: plain, tls, slow, skew, held, drip, workers, store; none named = all of them in their bounded form.
One law: it starts its own servers and stores, asks nothing but loopback, and leaves nothing running.
"""

import argparse
import sys
from time import monotonic

from benchmarks.crawl import fast
from benchmarks.crawl.drip import drip
from benchmarks.crawl.held import held
from benchmarks.crawl.machine import described, end_in_order, shared_out
from benchmarks.crawl.skew import skew
from benchmarks.crawl.store import store
from benchmarks.crawl.table import Target, tell
from benchmarks.crawl.workers import workers


def main() -> None:
    """Runs the scenarios and sums up which targets were met."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.crawl", description=__doc__)
    options.add_argument("scenarios", nargs="*", metavar="SCENARIO")
    options.add_argument("--seconds", type=float, default=6.0, help="about so long for each client")
    options.add_argument("--rounds", type=int, default=2, help="rounds of the fast clients, of which the best counts")
    options.add_argument("--minutes", type=float, default=1.0, help="of the scenario skew; the whole of it is 30")
    options.add_argument("--urls", type=int, help="so many URLs for every client, or in the store, instead of seconds")
    options.add_argument("--no-install", action="store_true", help="use the peers that are installed already")
    asked = options.parse_args()
    if sys.platform != "linux":
        sys.exit("benchmarks.crawl needs Linux: it reads /proc and gives each client a core of its own")
    begun = monotonic()
    end_in_order()
    tell(described())
    cores = shared_out()
    settings = fast.Settings(cores, asked.seconds, asked.rounds, asked.urls, not asked.no_install)
    known = {
        "plain": lambda: fast.plain(settings),
        "tls": lambda: fast.tls(settings),
        "slow": lambda: fast.slow(settings),
        "skew": lambda: skew(cores, 60 * asked.minutes, urls=asked.urls),
        "held": lambda: held(cores, 5 * asked.seconds),
        "drip": lambda: drip(settings),
        "workers": lambda: workers(cores, asked.urls or int(2_000 * asked.seconds)),
        "store": lambda: store(cores, asked.urls or 300_000, asked.seconds),
    }
    if unknown := set(asked.scenarios) - known.keys():
        options.error(f"no scenario {min(unknown)}; there are {', '.join(known)}")
    targets: list[Target] = []
    failed = []
    for name in asked.scenarios or known:
        try:
            targets += known[name]()
        except (RuntimeError, OSError) as error:
            tell(f"  {name} could not be measured: {error}\n")
            failed.append(name)
    met = sum(target.met for target in targets)
    tell(f"{met} of {len(targets)} targets met, {monotonic() - begun:.0f} s")
    if failed:
        sys.exit(f"not measured: {', '.join(failed)}")


if __name__ == "__main__":
    main()
