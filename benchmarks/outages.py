"""Recorded outages of real sites judged as a crawl would: ``python -m benchmarks.outages sites.jsonl.gz``.

Each site is a host with one URL, checked on the days and at the hours that the judgement plans, by what its own watch
saw at that hour; an answer 503 is a bare one. Prints what was reported dead, what of it was up on that day or came back
later, and the ends that should have been reported and were not, by the policy and by 28 days on the same data.
"""

import gzip
import json
import sys
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from weboid.core.observe.observation import Observation
from weboid.core.record.moment import planned_hour
from weboid.core.record.policy import DEFAULT, Policy
from weboid.core.record.reasons import Reason, code_reason
from weboid.core.record.record import UNKNOWN_HOST, UNTRIED, HostEffect
from weboid.core.record.status import Status, status_of
from weboid.core.url.keys import host_key
from weboid.core.verdict.judge import judge, judge_host
from weboid.core.verdict.verdict import Verdict, finding_of

_HOURS: Final = 24
_WEEK: Final = 7
_FIRST: Final = 100
"""The day number of the first day of each life."""
_FINE: Final = Observation(Status.FINE, Reason.OK)
_SILENT: Final = Observation(Status.NETWORK, Reason.TIMEOUT)
POLICIES: Final = {
    "28 days for all": Policy(dead_span=28, server_span=28),
    "as it is": DEFAULT,
}


class Report(NamedTuple):
    """A site that was reported dead on a day, down for so many days, and up again so many days `later` (None = not in
    the time seen). `was_up`: it was up at an hour of that day; `server`: it answered with a code in this outage."""

    site: str
    day: int
    down_for: float
    later: float | None
    was_up: bool
    server: bool


@dataclass(frozen=True, eq=False)
class Life:
    """One stretch in which the watch of a site lived: the hours of its changes, and what it saw from each on."""

    site: str
    hours: float
    at: list[float]
    seen: list[Observation]

    def on(self, hour: float) -> Observation:
        """What was seen at an hour since the start."""
        return self.seen[max(0, bisect_right(self.at, hour) - 1)]

    def is_up(self, hour: float) -> bool:
        return self.on(hour) is _FINE

    def outages(self) -> Iterator[tuple[float, float, bool, bool]]:
        """First hour and end of each outage, whether it ended, and whether a 5xx was seen in it."""
        begun: float | None = None
        server = False
        for at, seen in zip(self.at, self.seen, strict=True):
            if seen is _FINE:
                if begun is not None:
                    yield begun, at, True, server
                begun, server = None, False
            else:
                begun = at if begun is None else begun
                server |= seen is not _SILENT
        if begun is not None:
            yield begun, self.hours, False, server


def lives_in(path: Path) -> Iterator[Life]:
    """The lives of the sites of a file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            site = json.loads(line)
            for life in site["lives"]:
                changes = [(max(0.0, at), _seen(state, code)) for at, state, code in life["changes"]]
                at, seen = [change[0] for change in changes], [change[1] for change in changes]
                yield Life(site["site"], life["hours"], at, seen)


def _seen(state: str, code: int) -> Observation:
    if state != "down":
        return _FINE
    return Observation(status_of(code), code_reason(code), http=code) if code else _SILENT


class Judged(NamedTuple):
    """The reports of a death in a life, and the days of an end that a week more than its span should have shown."""

    reports: list[Report]
    missed: float | None


def judged(life: Life, policy: Policy) -> Judged:
    """A life under a policy, checked on the days and at the hours that the judgement plans."""
    key = host_key(life.site)
    record, host, day, dead, reports = UNTRIED, UNKNOWN_HOST, _FIRST, False, list[Report]()
    while (hour := (day - _FIRST) * _HOURS + planned_hour(key, day)) < life.hours:
        seen = life.on(hour)
        effect = HostEffect.ANSWERED if seen is _FINE or seen.http else HostEffect.SEEN
        host = judge_host(host, seen, day, policy, effect)
        record, due = judge(record, seen, day, policy, host, host_key=key)
        is_dead = finding_of(record, host, policy).verdict is Verdict.DEAD
        if is_dead and not dead:
            reports.append(_report(life, hour, day - _FIRST))
        day, dead = due, is_dead
    outages = list(life.outages())
    days = (life.hours - outages[-1][0]) / _HOURS if outages and not outages[-1][2] else 0.0
    needed = policy.span_of_all(record.streak.evidence) + _WEEK
    return Judged(reports, days if record.streak.strikes and not dead and days >= needed else None)


def _report(life: Life, hour: float, day: int) -> Report:
    begun, end, ended, server = next(each for each in life.outages() if each[0] <= hour < each[1])
    was_up = any(life.is_up(day * _HOURS + each) for each in range(_HOURS))
    later = (end - hour) / _HOURS if ended else None
    return Report(life.site, day, (hour - begun) / _HOURS, later, was_up, server)


def main() -> None:
    """Prints the figures."""
    lives = list(lives_in(Path(sys.argv[1])))
    print(f"{len(lives)} lives, {sum(life.hours for life in lives) / 8_766:.0f} site-years")
    for name, policy in POLICIES.items():
        found = {life: judged(life, policy) for life in lives}
        reports = [each for one in found.values() for each in one.reports]
        was_up = sum(each.was_up for each in reports)
        back = [each for each in reports if each.later is not None]
        print(f"{name}: {len(reports)} reported dead, {was_up} on a day on which it was up; {len(back)} came back:")
        for each in back:
            kind = "with 5xx" if each.server else "without an answer"
            print(f"  {each.site}: {kind}, reported after {each.down_for:.0f} days, back after {each.later:.0f} more")
        missed = [f"{life.site} ({one.missed:.0f} days)" for life, one in found.items() if one.missed is not None]
        print(f"  ends that lasted a week longer than their span and were not reported: {len(missed)} {missed or ''}")


if __name__ == "__main__":
    main()
