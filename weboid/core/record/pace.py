"""The interval of working URLs: 7 days, or more where the crawl does not manage that (C-4); visits of many URLs (C-3).

Failing and dead URLs keep their intervals (``record/policy``).
One law: the interval changes by a day at a time and stays within its bounds
(`test_the_interval_moves_by_a_day_at_most_and_stays_in_its_bounds`).
"""

from dataclasses import dataclass, replace
from math import ceil
from typing import Final, NamedTuple

from weboid.core.record.policy import DEFAULT, Policy

WIDEST_INTERVAL: Final = 28
BEHIND_DAYS: Final = 2
"""A host that has been due for more days than that is late."""
LATE_SHARE: Final = 100
"""The crawl is behind when more than one in so many hosts are late."""
FEW: Final = 5
"""Late hosts that may be chance, however few hosts there are."""
CALM_DAYS: Final = 7
"""Days in time before the interval is narrowed, and days behind before it is widened although a turn is shorter."""
LONGEST_TURN: Final = 365
"""Days that a turn of a host may take at most."""
FEW_URLS: Final = 8
"""Due URLs of a host that one visit asks, below the ten unknown pages in a row for which some servers ban (D-497)."""
MOST_DUE: Final = 20_000
"""Due URLs of a host from which on it does not rest: with its pauses a day is hardly enough for them."""
LONGEST_REST_S: Final = 3 * 3_600.0
_SHORTEST_REST_S: Final = 1_200.0
"""Below that a visit grows instead."""
_IN_TIME_SHARE: Final = 500
_DAY_S: Final = 86_400.0
_REQUESTS: Final = 1.5
"""Requests a check, with GET after HEAD, redirects and second looks: the mean of real links, rounded up."""
_ANSWER_S: Final = 1.0
"""The least time from one request to the next at a host, whatever its delay."""


@dataclass(frozen=True, slots=True)
class Pace:
    """The interval of working URLs, when it was changed last, the last day looked at, and for how many days in a row
    all was in time up to then, or (negative) the crawl was behind."""

    interval: int
    changed: int
    day: int
    calm: int = 0


@dataclass(frozen=True, slots=True)
class Load:
    """The work of the crawl: all URLs, hosts, the number of late hosts, and the URLs checked on a usual day of the last
    week (None = nothing was checked)."""

    urls: int
    hosts: int
    late: int
    checks_a_day: int | None

    @property
    def is_behind(self) -> bool:
        """True if more hosts are late than can be chance."""
        return self.late > FEW and self.late * LATE_SHARE > self.hosts

    @property
    def is_in_time(self) -> bool:
        """True if hardly any hosts are late; between both, nothing is changed."""
        return self.late <= 1 or self.late * _IN_TIME_SHARE <= self.hosts

    @property
    def turn_days(self) -> int | None:
        """The days in which all URLs are checked once."""
        return ceil(self.urls / self.checks_a_day) if self.checks_a_day else None


def paced(pace: Pace, load: Load, day: int, *, narrowest: int = DEFAULT.working_interval) -> Pace:
    """The pace from `day` on; a day that was looked at already changes nothing.

    While a crawl is behind, what it manages in a day is its capacity. If a full turn takes longer than the interval,
    this is widened every day; if not, something else is in the way, such as a flood of new URLs, and it is given a week
    before the interval is widened nevertheless.
    """
    if day <= pace.day:
        return pace
    widest = max(WIDEST_INTERVAL, narrowest)
    interval = min(max(pace.interval, narrowest), widest)
    pace = replace(pace, interval=interval, day=day)
    if load.checks_a_day is None:
        return replace(pace, calm=0)
    if load.is_behind:
        behind = max(min(pace.calm, 0) - 1, -CALM_DAYS)
        if interval < widest and ((load.turn_days or 0) > interval or behind <= -CALM_DAYS):
            return replace(pace, interval=interval + 1, changed=day, calm=0)
        return replace(pace, calm=behind)
    if not load.is_in_time:
        return replace(pace, calm=0)
    calm = min(max(pace.calm, 0) + 1, CALM_DAYS)
    if calm >= CALM_DAYS and interval > narrowest:
        return replace(pace, interval=interval - 1, changed=day, calm=0)
    return replace(pace, calm=calm)


def policy_at(policy: Policy, interval: int) -> Policy:
    """The policy with another interval of working URLs, never a shorter one."""
    return policy if interval <= policy.working_interval else replace(policy, working_interval=interval)


def policy_of_big_host(policy: Policy, days: int) -> Policy:
    """The policy for a host whose URLs are checked once in so many days, whatever is found of them but failures."""
    return replace(
        policy,
        working_interval=max(policy.working_interval, days),
        doubtful_interval=max(policy.doubtful_interval, days),
    )


def turn_of_host(urls: int, delay_s: float) -> int:
    """The days in which all URLs of a host can be checked once, with `delay_s` between two requests."""
    a_day = _DAY_S / (_REQUESTS * max(delay_s, _ANSWER_S))
    return min(ceil(urls / a_day), LONGEST_TURN)


class Portion(NamedTuple):
    """The number of due URLs that a visit asks, the seconds from its beginning to that of the host's next one, and the
    seconds for each URL, by which it goes on."""

    urls: int
    rest_s: float
    every_s: float


def portion_of(due: int, most: int, every_s: float | None = None) -> Portion:
    """The portion of a host's due URLs for a visit, so that all are asked within a day of the moment when they were
    most; `every_s` is by the visit before (C-3).

    A visit asks `FEW_URLS`; more, up to `most`, where visits would follow each other within 20 minutes.
    """
    every_s = min(every_s or _DAY_S, _DAY_S / max(due, 1))
    size = min(max(FEW_URLS, ceil(_SHORTEST_REST_S / every_s)), most)
    urls = ceil(due / max(ceil(due / size), 1))
    is_whole_day = urls >= due or due >= MOST_DUE
    return Portion(urls, 0.0 if is_whole_day else min(every_s * urls, LONGEST_REST_S), every_s)
