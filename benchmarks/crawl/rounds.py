"""Scenarios skew, held and workers: one round of the crawler, looked at while it goes on."""

import resource
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import pairwise
from time import monotonic, sleep
from typing import Final

from benchmarks.crawl.bench import Bench, Settings, open_bench
from benchmarks.crawl.links import single, skewed
from benchmarks.crawl.measure import SAMPLE_S, Figures, Sample, lasting
from benchmarks.harness import Target, Used, say, show, tell, used

_HOT: Final = 0.25
"""The share of the URLs that lies on crowded hosts and is hardly begun in the time."""
_RESERVE: Final = 400
"""Open files that a process needs besides its connections."""
_FULL: Final = 0.95
"""The share of the connections that waits for an answer at any time; the others are shaking hands."""
_FILLING_S: Final = 120.0
_LONGEST: Final = 3.0
"""The longest wait for an answer, in means (`server.c`)."""
_MEAN_OF_CUT: Final = 0.95
"""What cutting the long waits off leaves of their mean."""


_ROUNDS: Final = 3

# skew


def skew(
    settings: Settings,
    seconds: float,
    *,
    connections: int = 200,
    answer_ms: tuple[int, int] = (100, 900),
    delay_s: float = 1.0,
    warm_s: float = 3.0,
) -> list[Target]:
    """A real wiki's hosts: two hold 12 % and 11 % of all URLs, each is asked once a second.

    What is looked for is a rate that falls while the crowded hosts fill the window: the first and the last minute, or
    sixth, of a round that is long enough. The first `warm_s` after the first answer are left out.
    """
    fastest = connections / (sum(answer_ms) / 2_000)
    urls = settings.urls or int(1.25 * fastest * (seconds + 15) / (1 - _HOT))
    tell(f"skew: {urls:,} URLs, 12 % and 11 % of them on one host each, {delay_s:g} s between requests to a host,")
    tell(
        f"  {connections} connections, answers after {answer_ms[0]} to {answer_ms[1]} ms, {seconds:g} s long; "
        f"{settings.cores}"
    )
    limits = {"WEBOID_NET_CONNECTIONS": str(connections), "WEBOID_CRAWL_DELAY": str(delay_s)}
    with open_bench(settings, delay_ms=answer_ms, variables=limits) as bench:
        bench.take_in(skewed(urls), urls)
        say("crawling")
        figures = bench.measure(bench.crawler(), seconds + 60, lasting(warm_s + seconds))
    asked = [sample for sample in figures.samples if sample.counts.urls]
    samples = [sample for sample in asked if sample.at_s >= asked[0].at_s + warm_s]
    if len(samples) < 2:
        tell(f"  nothing was measured: {figures.output[-300:]}")
        return []
    rates = _rates(samples, part_s := min(60.0, seconds / 6))
    first, last = samples[0], samples[-1]
    hot = (last.counts.hot - first.counts.hot) / (last.at_s - first.at_s)
    tell(f"  checks/s in parts of {part_s:.0f} s: {' '.join(f'{rate:.0f}' for rate in rates)}")
    tell(
        f"  {last.counts.urls:,} of {urls:,} URLs asked, {last.counts.twice} of them twice, the crowded hosts "
        f"{hot:.1f}/s together; {max(sample.client.rss_mib for sample in samples):,.0f} MiB"
    )
    return [Target("last part ≥ 90 % of the first", rates[-1] / max(rates[0], 1e-9), 0.9)]


def _rates(samples: list[Sample], part_s: float) -> list[float]:
    """Checks a second in one part after the other; what is left at the end belongs to none."""
    marks = [samples[0]]
    for sample in samples:
        if sample.at_s - marks[-1].at_s >= part_s:
            marks.append(sample)
    return [(b.counts.urls - a.counts.urls) / (b.at_s - a.at_s) for a, b in pairwise(marks)] or [0.0]


# held


def held(settings: Settings, seconds: float, connections: int = 12_000, results_a_s: float = 200.0) -> list[Target]:
    """Opens very many TLS connections at once, then looks at the crawler for so many seconds.

    Each server answers after a time without memory, a minute on average, so that 12,000 connections give 200 answers
    a second from the first to the last.
    """
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    fit = min(connections, files - _RESERVE) if files != resource.RLIM_INFINITY else connections
    rate = results_a_s * fit / connections
    tell(f"held: {fit:,} open TLS connections, {rate:.0f} results/s out of them; {settings.cores}")
    if fit < connections:
        tell(f"  only so many instead of {connections:,}: a process may have {files:,} open files (ulimit -Hn)")
    mean_s = connections / results_a_s / _MEAN_OF_CUT
    limits = {"WEBOID_NET_CONNECTIONS": str(fit), "WEBOID_NET_ANSWER_S": str(_LONGEST * mean_s + 30)}
    with open_bench(settings, tls=True, delay_ms=(-1, int(1e3 * mean_s)), variables=limits) as bench:
        bench.take_in(single, 2 * fit + int(results_a_s * (seconds + 60)))
        return _held(bench, fit, seconds)


def _held(bench: Bench, connections: int, seconds: float) -> list[Target]:
    """One round, and in it the time in which all connections are open."""
    full: list[Sample] = []

    def is_over(figures: Figures) -> bool:
        sample = figures.samples[-1]
        if sample.counts.waiting >= _FULL * connections and not full:
            full.append(sample)
            say(f"{sample.counts.waiting:,} connections wait for an answer")
        if not full:
            return sample.counts.broken > 0 and sample.counts.waiting == 0
        return sample.at_s - full[0].at_s >= seconds

    say("opening the connections")
    figures = bench.measure(bench.crawler(), _FILLING_S + seconds, is_over)
    if "cut off" in figures.output:
        tell("  the crawler took itself to be cut off and gave up")
    return [
        Target("connections that broke before an answer: none", figures.samples[-1].counts.broken, 0, at_most=True),
        Target("URLs held for other than fine: none", sum(bench.wrong().values()), 0, at_most=True),
        *_costs(figures, full, connections),
    ]


def _costs(figures: Figures, full: list[Sample], connections: int) -> list[Target]:
    most = max(sample.counts.waiting for sample in figures.samples)
    if not full:
        tell(f"  at most {most:,} connections waited for an answer at a time, {figures.peak_mib:,.0f} MiB")
        return [Target(f"{connections:,} connections held", most, _FULL * connections)]
    first, last = full[0], figures.samples[-1]
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


# workers


def workers(
    settings: Settings, urls: int, limit_s: float = 300.0, numbers: Sequence[int] = (1, 2, 4, 8)
) -> list[Target]:
    """Rounds by one crawler, then as many by several on one store made anew; the last ones are compared.

    The first round asks by HEAD, the second reads robots.txt; from the third on all are alike. No URL may be asked
    twice by the same method. Nobody is bound to a core.
    """
    cores = settings.cores.number
    tell(f"workers: {urls:,} URLs over plain HTTP, crawlers on one store; {cores} cores for everything")
    every: list[Figures] = []
    with open_bench(settings) as bench:
        for number in numbers:
            bench.empty()
            bench.take_in(single, urls)
            rounds = [_worked(bench, number, urls, limit_s) for _ in range(_ROUNDS)]
            rates = ", ".join(f"{each.rate:,.0f}" for each in rounds)
            last, every = rounds[-1], every + rounds
            a_cpu_s = 1e3 / max(last.cpu_ms + last.database_ms, 1e-9)
            tell(
                f"  {last.name}: {rates} checks/s by round; in the last {a_cpu_s:,.0f} checks a CPU second: "
                f"{last.cpu_ms:.2f} ms a check of crawlers, {last.database_ms:.2f} of the database"
            )
    return [
        Target("URLs asked twice: none", sum(each.counts.twice for each in every), 0, at_most=True),
        Target("URLs left out: none", sum(urls - each.counts.urls for each in every), 0, at_most=True),
    ]


def _worked(bench: Bench, number: int, urls: int, limit_s: float) -> Figures:
    say(f"{number} at work")
    client, cores = bench.crawler(), bench.settings.cores
    figures = Figures(f"{number} crawler{'s' * (number > 1)}")
    bench.server.counts("reset")
    end_s = monotonic() + limit_s
    with ExitStack() as stack:
        crawlers = [stack.enter_context(client.running(cores.client | cores.others)) for _ in range(number)]
        spent = dict.fromkeys([crawler.pid for crawler in crawlers], Used())
        while any(crawler.poll() is None for crawler in crawlers) and monotonic() < end_s:
            # What has ended is in /proc no more.
            spent |= {pid: now for pid in spent if (now := used(pid)).cpu_s}
            counts = bench.server.counts()
            together = Used(sum(each.cpu_s for each in spent.values()), sum(each.rss_mib for each in spent.values()))
            figures.samples.append(Sample(monotonic(), counts, together, used(client.database)))
            show(f"{counts.urls:,} of {urls:,}, {together.rss_mib:,.0f} MiB")
            sleep(SAMPLE_S)
    figures.counts = bench.server.counts()
    return figures
