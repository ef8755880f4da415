"""What a rule's tellings of "dead" were worth, each by the day on which it was made; and which deaths it missed.

Kinds: *missing* = a host answers and says that the page is missing (404, 410); *host* = names, network, TLS, 5xx.
One law: what people saw decides, at any hour of a day; a look of a program only sorts.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import groupby, pairwise
from statistics import median
from typing import Final

from benchmarks.verdicts.looks import Look, Looks, Visitor
from benchmarks.verdicts.peers import Telling
from benchmarks.verdicts.year import UrlYear, Year
from benchmarks.worlds.sight import Sight
from weboid.core.verdict.verdict import Verdict
from weboid.demo.life import DAY_HOURS

BARS: Final = (14, 20, 27, 30)
"""Lengths of outages, in days, by which tellings inside of them are counted; the last bar is all that is longer."""
BEFORE_DAYS: Final = 60
FLAPPING_SHARE: Final = 0.6
FLAPPING_RUNS: Final = 3
"""A URL flaps that was away so many times in the days before, and on no more than that share of them."""
DEATH_DAYS: Final = 49
"""A death that is older at the end of the world should have been reported."""
_PROGRAM: Final = Visitor()
_HOURS: Final = range(0, DAY_HOURS, 1)

Tellings = Callable[[UrlYear], Iterable[Telling]]


class Cause(Enum):
    """Why what people saw was called dead."""

    WALLED = "a wall that lies to machines"
    DEAD_TO_MACHINES = "dead to all machines at all hours"
    FLAPPING = "flapping"
    OTHER = "none of these"


@dataclass(frozen=True, slots=True)
class Reported:
    """One telling of "dead". `outage`: how long the content was away in all, None = permanently."""

    url: UrlYear
    telling: Telling
    why: Cause
    live: bool
    live_in_row: bool
    missing: bool
    outage: int | None


@dataclass(frozen=True, slots=True)
class Death:
    """A death that stayed until the end, and after how many days it was reported."""

    url: UrlYear
    day: int
    took: int | None
    missing: bool
    bare_503: bool


@dataclass(slots=True)
class Worth:
    """All tellings of a rule, and all deaths."""

    reported: list[Reported] = field(default_factory=list)
    deaths: list[Death] = field(default_factory=list)

    def live(self, why: Cause | None = None) -> int:
        """Tellings of what was seen on the very day."""
        return sum(each.live and why in (None, each.why) for each in self.reported)

    def live_in_row(self, why: Cause | None = None) -> int:
        """Tellings of what was seen on a day of the row of failures, the day of telling included."""
        return sum(each.live_in_row and why in (None, each.why) for each in self.reported)

    def in_outage(self, over: int, until: int, *, missing: bool, flapping: bool = False) -> int:
        """Tellings in outages of a length that ended later, without those that count as false."""
        return sum(
            not each.live_in_row
            and each.missing is missing
            and each.outage is not None
            and over < each.outage <= until
            and (each.why is Cause.FLAPPING) is flapping
            for each in self.reported
        )

    def missed(self) -> list[Death]:
        """Deaths that were never reported though they were reported by more than a bare 503."""
        return [death for death in self.deaths if death.took is None and not death.bare_503]

    def took(self, *, missing: bool | None = None) -> tuple[float, int] | None:
        """Median and 90th of 100 of the days until deaths were reported."""
        days = sorted(
            death.took
            for death in self.deaths
            if death.took is not None and (missing is None or death.missing is missing)
        )
        return (median(days), days[min(len(days) - 1, len(days) * 9 // 10)]) if days else None


def own_tellings(year: Year) -> Tellings:
    def tellings(url: UrlYear) -> Iterator[Telling]:
        reported: tuple[int, int] | None = None
        for change in url.changes:
            if change.verdict is Verdict.DEAD:
                since = change.day if change.since is None else change.since
                reported = reported or (change.day, since)
            elif reported:
                yield Telling(*reported, change.day)
                reported = None
        if reported:
            yield Telling(*reported, year.file.days)

    return tellings


def worth_of(year: Year, looks: Looks, tellings: Tellings) -> Worth:
    worth = Worth()
    for url in year.urls:
        reported = list(tellings(url))
        worth.reported += [_reported(url, telling, looks) for telling in reported]
        worth.deaths += _deaths(url, reported, looks, year.file.days)
    return worth


def _reported(url: UrlYear, telling: Telling, looks: Looks) -> Reported:
    day = telling.day
    live = url.sights[day] is Sight.SEEN
    live_in_row = live or Sight.SEEN in url.sights[max(0, telling.since) : day]
    return Reported(
        url,
        telling,
        _why(url, day, looks, live=live),
        live,
        live_in_row,
        _look(url, day, looks).says_missing,
        None if live else _outage(url, day),
    )


def _why(url: UrlYear, day: int, looks: Looks, *, live: bool) -> Cause:
    if day in url.walled:
        return Cause.WALLED
    if _is_flapping(url, day):
        return Cause.FLAPPING
    if live and all(looks.look(url.url, day, hour, _PROGRAM, lost=False).fails for hour in _HOURS):
        return Cause.DEAD_TO_MACHINES
    return Cause.OTHER


def _is_flapping(url: UrlYear, day: int) -> bool:
    before = [sight is Sight.SEEN for sight in url.sights[max(0, day - BEFORE_DAYS) : day + 1]]
    away = before.count(False)
    leaves = sum(one and not other for one, other in pairwise(before))
    return leaves >= FLAPPING_RUNS and away <= FLAPPING_SHARE * len(before)


def _outage(url: UrlYear, day: int) -> int | None:
    """How long the content was away around a day; None if it did not come back."""
    around = (list(days) for _, days in groupby(range(len(url.sights)), lambda at: url.sights[at] is Sight.SEEN))
    away = next(days for days in around if day in days)
    return None if away[-1] == len(url.sights) - 1 else len(away)


def runs(sights: Sequence[Sight]) -> Iterator[range]:
    """The runs of days on which people saw the same."""
    day = 0
    for _, group in groupby(sights):
        length = len(list(group))
        yield range(day, day + length)
        day += length


def _look(url: UrlYear, day: int, looks: Looks) -> Look:
    """What a program finds on a day at its worst hour."""
    found = [looks.look(url.url, day, hour, _PROGRAM, lost=False) for hour in (0, 8, 16)]
    return next((look for look in found if look.fails), found[0])


def _deaths(url: UrlYear, reported: list[Telling], looks: Looks, days: int) -> Iterator[Death]:
    *_, last = runs(url.sights)
    begin = max(last[0], url.since)
    if url.sights[last[0]] is not Sight.GONE or days - begin < DEATH_DAYS:
        return
    if not url.walled.isdisjoint(last):
        return
    found = [_look(url, day, looks) for day in (begin, (begin + days) // 2, days - 1)]
    telling = next((each for each in reported if each.until > begin), None)
    took = None if telling is None else max(0, telling.day - begin)
    yield Death(url, begin, took, found[1].says_missing, all(look.is_bare_503 for look in found))
