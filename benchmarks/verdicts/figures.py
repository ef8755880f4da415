"""How soon what was called dead and came back was found, and how soon what is hidden was called doubtful.

Days are days of the world. A *hiding* is a run of days on which something else answers (HIDDEN: parked, soft 404, a
login …): Weboid calls that doubtful, never dead (U-7). What was reported falsely, late or never is reckoned by
`tellings`.
One law: what counts is decided by what people saw, never by what a crawler found.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from benchmarks.verdicts.tellings import own_tellings, runs
from benchmarks.verdicts.year import UrlYear, Year
from benchmarks.worlds.sight import Sight
from weboid.core.observe.check_request import LOOK_DAYS
from weboid.core.verdict.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Case:
    """Something of a URL that went wrong or right: on which day it began, after how many days it was reported (None =
    never)."""

    url: UrlYear
    day: int
    took: int | None = None


@dataclass(slots=True)
class Figures:
    """What came back in a year while it was called dead."""

    revivals: list[Case] = field(default_factory=list)
    missed_revivals: list[Case] = field(default_factory=list)
    """At the next check the content was there, and "dead" stayed."""
    dead_days: int = 0
    """URLs times days that were called dead …"""
    seen_days: int = 0
    """… and on which people saw the content."""


def hiding_limit_of(year: Year) -> int:
    """Days within which a hiding must be reported: the interval of checks, and that at which the page itself is looked
    at."""
    return year.interval + LOOK_DAYS


def figures_of(year: Year) -> Figures:
    found, tellings = Figures(), own_tellings(year)
    for url in year.urls:
        dead = [range(telling.day, telling.until) for telling in tellings(url)]
        _count_revivals(found, url, dead)
        for spell in dead:
            found.dead_days += len(spell)
            found.seen_days += sum(url.sights[day] is Sight.SEEN for day in spell)
    return found


def _count_revivals(found: Figures, url: UrlYear, dead: list[range]) -> None:
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


def quantiles(cases: Sequence[Case]) -> tuple[float, int, int] | None:
    """Median, 99th of 100 and maximum of the days that it took, of what was reported at all."""
    took = sorted(case.took for case in cases if case.took is not None)
    if not took:
        return None
    return median(took), took[min(len(took) - 1, len(took) * 99 // 100)], took[-1]
