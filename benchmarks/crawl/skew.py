"""Scenario skew: an hour of a real wiki's hosts. Two hold 12 % and 11 % of all URLs, each is asked once a second.

What is looked for is a rate that falls while the crowded hosts fill the window.
"""

from itertools import pairwise

from benchmarks.crawl.links import Skewed
from benchmarks.crawl.machine import Cores
from benchmarks.crawl.measure import Client, Sample, measured
from benchmarks.crawl.program import open_program
from benchmarks.crawl.server import open_server_process
from benchmarks.crawl.table import Target, say, show, tell, tell_targets

_HOT = 0.25
"""The share of the URLs that lies on crowded hosts and is hardly begun in the time."""


def skew(
    cores: Cores,
    seconds: float,
    *,
    connections: int = 200,
    answer_ms: tuple[int, int] = (100, 900),
    delay_s: float = 1.0,
    urls: int | None = None,
    warm_s: float = 3.0,
    database: str = "",
) -> list[Target]:
    """A round that is long enough for the whole time; compares its first and last minute, or sixth.

    The first `warm_s` after the first answer are left out.
    """
    fastest = connections / (sum(answer_ms) / 2_000)
    urls = urls or int(1.25 * fastest * (seconds + 15) / (1 - _HOT))
    tell(f"skew: {urls:,} URLs, 12 % and 11 % of them on one host each, {delay_s:g} s between requests to a host,")
    tell(f"  {connections} connections, answers after {answer_ms[0]} to {answer_ms[1]} ms, {seconds:g} s long; {cores}")
    with open_program(database) as program, open_server_process(delay_ms=answer_ms) as server:
        program.look_at(server, WEBOID_NET_CONNECTIONS=str(connections), WEBOID_CRAWL_DELAY=str(delay_s))
        say(f"taking in {urls:,} URLs")
        program.take_in(Skewed(urls), "http", server.port, range(urls))
        program.rest()
        clock = _Clock(warm_s, seconds)
        say("crawling")
        figures = measured(
            Client("weboid crawl", program.crawl(), program.environ(), database=program.database_pid()),
            server,
            cores,
            limit_s=seconds + 60,
            show=show,
            stop=clock.is_over,
        )
    samples = [sample for sample in figures.samples if clock.begun_s and sample.at_s >= clock.begun_s + warm_s]
    if len(samples) < 2:
        tell(f"  nothing was measured: {figures.output[-300:]}")
        return []
    return _told(samples, min(60.0, seconds / 6), urls)


class _Clock:
    """Runs from the first answer on."""

    def __init__(self, warm_s: float, seconds: float) -> None:
        self._whole_s = warm_s + seconds
        self.begun_s = 0.0

    def is_over(self, sample: Sample) -> bool:
        """Whether the time is over."""
        if not self.begun_s and sample.counts.urls:
            self.begun_s = sample.at_s
        return bool(self.begun_s) and sample.at_s >= self.begun_s + self._whole_s


def _told(samples: list[Sample], part_s: float, urls: int) -> list[Target]:
    rates = _rates(samples, part_s)
    first, last = samples[0], samples[-1]
    seconds = last.at_s - first.at_s
    hot = (last.counts.hot - first.counts.hot) / seconds
    tell(f"  checks/s in parts of {part_s:.0f} s: {' '.join(f'{rate:.0f}' for rate in rates)}")
    tell(
        f"  {last.counts.urls:,} of {urls:,} URLs asked, {last.counts.twice} of them twice, the crowded hosts "
        f"{hot:.1f}/s together; {max(sample.client.rss_mib for sample in samples):,.0f} MiB"
    )
    targets = [Target("last part ≥ 90 % of the first", rates[-1] / max(rates[0], 1e-9), 0.9)]
    tell_targets(targets)
    tell()
    return targets


def _rates(samples: list[Sample], part_s: float) -> list[float]:
    """Checks a second in one part after the other; what is left at the end belongs to none."""
    marks = [samples[0]]
    for sample in samples:
        if sample.at_s - marks[-1].at_s >= part_s:
            marks.append(sample)
    return [(b.counts.urls - a.counts.urls) / (b.at_s - a.at_s) for a, b in pairwise(marks)] or [0.0]
