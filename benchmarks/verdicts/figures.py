"""How right "dead" was over a year: what it reported falsely, late or never, and how soon it reported the rest.

Days are days of the world. A *death* is a run of days on which a URL fails (GONE), for people as for machines: behind a
wall nobody can know. A *hiding* is one on which something else answers (HIDDEN: parked, soft 404, a login …): Weboid
calls that doubtful, never dead (U-7).
One law: what counts as false or late is decided by what people saw, never by what a crawler found.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from statistics import median
from typing import Final

from benchmarks.verdicts.year import UrlYear, Year
from benchmarks.worlds.sight import Sight
from weboid.core.observe.check_request import LOOK_DAYS
from weboid.core.record.policy import DEFAULT
from weboid.core.verdict.verdict import Verdict

Spells = list[range]
"""The days at whose end a URL was called dead, without gaps inside of one range."""

FRESH_DAYS: Final = 14
"""A "dead" is false if people saw the content on one of so many days, the day of telling included."""
TELL_DAYS: Final = DEFAULT.server_span
"""A death must be reported so many days after the first check that could find it."""


@dataclass(frozen=True, slots=True)
class Case:
    """Something of a URL that went wrong or right: on which day it began, after how many days it was reported (None =
    never)."""

    url: UrlYear
    day: int
    took: int | None = None


@dataclass(slots=True)
class Figures:
    """A year. `wrong` stayed false; `premature` were reported too soon of what did stay away."""

    reported: int = 0
    wrong: list[Case] = field(default_factory=list)
    premature: list[Case] = field(default_factory=list)
    deaths: list[Case] = field(default_factory=list)
    revivals: list[Case] = field(default_factory=list)
    missed_revivals: list[Case] = field(default_factory=list)
    """At the next check the content was there, and "dead" stayed."""
    dead_days: int = 0
    """URLs times days that were called dead …"""
    seen_days: int = 0
    """… and on which people saw the content."""

    @property
    def precision(self) -> float | None:
        return 1 - (len(self.wrong) + len(self.premature)) / self.reported if self.reported else None

    def late(self, limit: int) -> list[Case]:
        """Deaths reported after more than so many days, or never."""
        return [case for case in self.deaths if case.took is None or case.took > limit]

    def recall(self, limit: int) -> float | None:
        """The share of deaths reported within so many days."""
        return 1 - len(self.late(limit)) / len(self.deaths) if self.deaths else None


def limit_of(year: Year) -> int:
    """Days within which a death must be reported: the interval of checks, and the longest span."""
    return year.interval + TELL_DAYS


def hiding_limit_of(year: Year) -> int:
    """Days within which a hiding must be reported: the interval of checks, and that at which the page itself is looked
    at."""
    return year.interval + LOOK_DAYS


def dead_spells(url: UrlYear, days: int) -> Spells:
    """The spells of "dead" of a URL in so many days, the host's part in it included."""
    spells: Spells = []
    since: int | None = None
    for change in url.changes:
        if change.verdict is Verdict.DEAD:
            since = change.day if since is None else since
        elif since is not None:
            spells += [range(since, change.day)] if change.day > since else []
            since = None
    return spells if since is None else [*spells, range(since, days)]


def figures_of(year: Year) -> Figures:
    found = Figures()
    for url in year.urls:
        dead = dead_spells(url, year.file.days)
        _count_tellings(found, url, dead)
        found.deaths += _deaths(url, dead, limit_of(year))
        _count_revivals(found, url, dead)
        for spell in dead:
            found.dead_days += len(spell)
            found.seen_days += sum(url.sights[day] is Sight.SEEN for day in spell)
    return found


def _count_tellings(found: Figures, url: UrlYear, dead: Spells) -> None:
    for spell in dead:
        day = spell[0]
        found.reported += 1
        fresh = url.sights[max(0, day - FRESH_DAYS + 1) : day + 1]
        if Sight.SEEN not in fresh:
            continue
        away = next((run for run in runs(url.sights) if day in run), range(0))
        stays = url.sights[day] is not Sight.SEEN and len(away_around(url.sights, away)) > FRESH_DAYS
        (found.premature if stays else found.wrong).append(Case(url, day))


def away_around(sights: Sequence[Sight], run: range) -> range:
    """The whole time around a run in which the content was not seen."""
    first, last = run[0], run[-1]
    while first and sights[first - 1] is not Sight.SEEN:
        first -= 1
    while last + 1 < len(sights) and sights[last + 1] is not Sight.SEEN:
        last += 1
    return range(first, last + 1)


def _deaths(url: UrlYear, dead: Spells, limit: int) -> Iterator[Case]:
    """Deaths that lasted long enough to be reported in time, as far as they fell into the time of watching, and before
    which no wall stood in that time."""
    for run in runs(url.sights):
        if url.sights[run[0]] is not Sight.GONE:
            continue
        begin = max(run[0], url.since)
        if run[-1] < begin + limit or not url.walled.isdisjoint(range(begin, begin + limit + 1)):
            continue
        reported = min(
            (max(spell[0], begin) for spell in dead if spell[-1] >= begin and spell[0] <= run[-1]), default=None
        )
        yield Case(url, begin, None if reported is None else reported - begin)


def _count_revivals(found: Figures, url: UrlYear, dead: Spells) -> None:
    """What came back while it was called dead, and was still there at the next check."""
    for day in range(1, len(url.sights)):
        if url.sights[day] is not Sight.SEEN or url.sights[day - 1] is Sight.SEEN:
            continue
        spell = next((spell for spell in dead if day - 1 in spell), None)
        if spell is None:
            continue
        check = next((check.day for check in url.checks if check.day >= day), None)
        if check is None or any(sight is not Sight.SEEN for sight in url.sights[day : check + 1]):
            continue
        reported = None if spell[-1] == len(url.sights) - 1 else spell[-1] + 1
        case = Case(url, day, None if reported is None else reported - day)
        found.revivals.append(case)
        if reported is None or reported > check:
            found.missed_revivals.append(case)


def hidings_of(year: Year) -> list[Case]:
    """The hidings that lasted long enough to be noticed, after how many days they were reported: doubtful, or dead."""
    limit = hiding_limit_of(year)
    found = []
    for url in year.urls:
        for run in runs(url.sights):
            begin = max(run[0], url.since)
            if url.sights[run[0]] is Sight.HIDDEN and run[-1] >= begin + limit:
                found.append(Case(url, begin, _days_until_doubt(url, begin, run[-1])))
    return found


def _days_until_doubt(url: UrlYear, begin: int, last: int) -> int | None:
    verdict = Verdict.UNKNOWN
    for change in url.changes:
        if change.day > begin and verdict in (Verdict.DOUBTFUL, Verdict.DEAD):
            return 0
        if begin <= change.day <= last and change.verdict in (Verdict.DOUBTFUL, Verdict.DEAD):
            return change.day - begin
        verdict = change.verdict
    return 0 if verdict in (Verdict.DOUBTFUL, Verdict.DEAD) else None


def days_in_doubt(year: Year, cases: Sequence[Case]) -> float | None:
    """Of the days of hidings after they were first reported, the share on which the doubt stood."""
    total = doubtful = 0
    for case in cases:
        if case.took is None:
            continue
        run = next(run for run in runs(case.url.sights) if case.day in run)
        for day in range(case.day + case.took, run[-1] + 1):
            total += 1
            doubtful += verdict_on(case.url, day) in (Verdict.DOUBTFUL, Verdict.DEAD)
    return doubtful / total if total else None


def verdict_on(url: UrlYear, day: int) -> Verdict:
    """What was reported at the end of a day."""
    reported = [change.verdict for change in url.changes if change.day <= day]
    return reported[-1] if reported else Verdict.UNKNOWN


def runs(sights: Sequence[Sight]) -> Iterator[range]:
    """The runs of days on which people saw the same."""
    day = 0
    for _, group in groupby(sights):
        length = len(list(group))
        yield range(day, day + length)
        day += length


def quantiles(cases: Sequence[Case]) -> tuple[float, int, int] | None:
    """Median, 99th of 100 and maximum of the days that it took, of what was reported at all."""
    took = sorted(case.took for case in cases if case.took is not None)
    if not took:
        return None
    return median(took), took[min(len(took) - 1, len(took) * 99 // 100)], took[-1]
