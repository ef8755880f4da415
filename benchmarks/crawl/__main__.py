"""The crawler next to its peers, as ratios: ``python -m benchmarks.crawl [SCENARIO …] [--seconds N] [--urls N]``.

Scenarios: plain, tls, life, slow, skew, held, drip, workers, store; none named = all of them in their bounded form.
It starts its own servers and stores, asks nothing but loopback, and leaves nothing running.
"""

import argparse
import sys
from pathlib import Path
from time import monotonic

from benchmarks.crawl.bench import Settings
from benchmarks.crawl.fast import drip, plain, slow, tls
from benchmarks.crawl.life import life
from benchmarks.crawl.measure import shared_out
from benchmarks.crawl.rounds import held, skew, workers
from benchmarks.crawl.store import store
from benchmarks.harness import Target, begin, tell, tell_targets


def main() -> None:
    """Runs the scenarios and sums up which targets were met."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.crawl", description=__doc__)
    options.add_argument("scenarios", nargs="*", metavar="SCENARIO")
    options.add_argument("--seconds", type=float, default=6.0, help="about so long for each client")
    options.add_argument("--rounds", type=int, default=2, help="rounds of the fast clients, of which the best counts")
    options.add_argument("--minutes", type=float, default=1.0, help="of the scenario skew; the whole of it is 30")
    options.add_argument("--urls", type=int, help="so many URLs for every client, or in the store, instead of seconds")
    options.add_argument("--tree", type=Path, help="another working tree with its .venv, measured in turn by life")
    options.add_argument("--pages", type=Path, help="a folder of real pages for life, one a file")
    options.add_argument("--no-install", action="store_true", help="use the peers that are installed already")
    asked = options.parse_args()
    begun = monotonic()
    begin("crawl")
    settings = Settings(shared_out(), asked.seconds, asked.rounds, asked.urls, not asked.no_install)
    known = {
        "plain": lambda: plain(settings),
        "tls": lambda: tls(settings),
        "life": lambda: life(settings, asked.pages, asked.tree),
        "slow": lambda: slow(settings),
        "skew": lambda: skew(settings, 60 * asked.minutes),
        "held": lambda: held(settings, 5 * asked.seconds),
        "drip": lambda: drip(settings),
        "workers": lambda: workers(settings, settings.share(2_000)),
        "store": lambda: store(settings, asked.urls or 300_000),
    }
    if unknown := set(asked.scenarios) - known.keys():
        options.error(f"no scenario {min(unknown)}; there are {', '.join(known)}")
    targets: list[Target] = []
    failed = []
    for name in asked.scenarios or known:
        try:
            found = known[name]()
            tell_targets(found)
            tell()
            targets += found
        except (RuntimeError, OSError) as error:
            tell(f"  {name} could not be measured: {error}\n")
            failed.append(name)
    tell(f"{sum(target.met for target in targets)} of {len(targets)} targets met, {monotonic() - begun:.0f} s")
    if failed:
        sys.exit(f"not measured: {', '.join(failed)}")


if __name__ == "__main__":
    main()
