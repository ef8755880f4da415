"""The figures of a year in words and tables; and the worst cases, URL by URL.

One law: nothing is computed here that `figures` and `tellings` do not know.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby

from rich.console import Console
from rich.text import Text

from benchmarks.verdicts.daily import Check
from benchmarks.verdicts.figures import Case, Figures, days_in_doubt, hiding_limit_of, hidings_of, quantiles
from benchmarks.verdicts.tellings import Worth, runs
from benchmarks.verdicts.year import UrlYear, Year

_AROUND_DAYS = 60
"""Checks shown before and after the day that a case is about."""


def tell(console: Console, year: Year, own: Figures) -> None:
    """What belongs to the crawler alone."""
    checks = sum(len(url.checks) for url in year.urls)
    _tell_revivals(console, own)
    console.print(
        f"Spent: {year.requests:,} requests over HTTP for {checks:,} checks ({year.requests / max(checks, 1):.2f} a "
        f"check), {year.questions:,} questions to name servers"
    )
    _tell_hidings(console, year)
    if year.cut_off:
        console.print(f"Rounds given up because we were cut off: days {_days(year.cut_off)}")
    if year.strained:
        console.print(
            f"{year.strained} checks ran out of time on content that people saw: this machine was too busy; "
            "try --answer with more seconds",
            style="yellow",
        )


def _tell_revivals(console: Console, own: Figures) -> None:
    console.print(
        f'Revivals of "dead" ones: {len(own.revivals)}, not reported at the next check: {len(own.missed_revivals)}; '
        f'after days (median / 99 % / most): {_quantiles(own.revivals)}; days of "dead" on which it was seen: '
        f"{_share(own.seen_days, own.dead_days)}"
    )


def _tell_hidings(console: Console, year: Year) -> None:
    cases = hidings_of(year)
    limit = hiding_limit_of(year)
    reported = [case for case in cases if case.took is not None]
    in_time = sum(case.took <= limit for case in reported if case.took is not None)
    if not cases:
        return
    console.print(
        f"Not dead but hidden for over {limit} days (parked, soft 404, login …): {len(cases)}; found doubtful within "
        f"{limit} days: {_percent(in_time / len(cases))}, never: {len(cases) - len(reported)}; days (median / 99 % / "
        f"most): {_quantiles(cases)}; in doubt on {_percent(days_in_doubt(year, cases))} of the days since"
    )


def explain(console: Console, year: Year, found: Figures, worth: Worth, most: int) -> None:
    """The worst cases, so many of each kind, with what was seen, found and reported."""
    slow = sorted(found.missed_revivals, key=lambda case: -(case.took or 10_000))
    hidden = [case for case in hidings_of(year) if case.took is None]
    for title, cases in (
        ("seen on a day of its row", [Case(each.url, each.telling.day) for each in worth.reported if each.live_in_row]),
        ("deaths missed", [Case(death.url, death.day) for death in worth.missed()]),
        ("revivals not reported at the next check", slow),
        ("hidden, and never in doubt", hidden),
    ):
        if not cases:
            continue
        hosts = {_host(case.url) for case in cases}
        console.print(f"\n{title}: {len(cases)} on {len(hosts)} hosts{_kinds(year, cases)}", style="bold")
        for case in list(_one_a_host(cases))[:most]:
            _explain(console, case, year.file.notes[_host(case.url)])


def _one_a_host(cases: Iterable[Case]) -> Iterable[Case]:
    """The first case of each host: the others are mostly the same."""
    hosts: set[str] = set()
    for case in cases:
        if (host := _host(case.url)) not in hosts:
            hosts.add(host)
            yield case


def _host(url: UrlYear) -> str:
    return url.url.split("/")[2]


def _kinds(year: Year, cases: Sequence[Case]) -> str:
    """How many URLs of which kind, by what the file notes of their hosts."""
    kinds = Counter(year.file.notes[_host(case.url)] for case in cases)
    return f" ({', '.join(f'{note} {number}' for note, number in kinds.most_common() if note)})" if any(kinds) else ""


def _explain(console: Console, case: Case, note: str) -> None:
    url = case.url
    reported = "" if case.took is None else f", reported after {case.took} days"
    console.print(Text(f"{url.url}  day {case.day}{reported}{f' ({note})' if note else ''}", style="cyan"))
    spells = [(url.sights[run[0]].value, run) for run in runs(url.sights)]
    near = [
        (word, run) for word, run in spells if run[-1] >= case.day - _AROUND_DAYS and run[0] <= case.day + _AROUND_DAYS
    ]
    console.print(Text(f"  seen:  {', '.join(f'{word} {run[0]}–{run[-1]}' for word, run in near)}"))
    checks = [check for check in url.checks if abs(check.day - case.day) <= _AROUND_DAYS]
    console.print(Text(f"  found: {_checks(checks)}"))
    changes = [f"{change.day} {change.verdict.word}" for change in url.changes]
    console.print(Text(f"  reported:  {', '.join(changes)}"))


def _checks(checks: Sequence[Check]) -> str:
    parts = []
    for reason, group in groupby(checks, key=lambda check: check.reason):
        parts.append(f"{reason.word} {_days([check.day for check in group])}")
    return ", ".join(parts)


def _days(days: Sequence[int]) -> str:
    return " ".join(map(str, days))


def _percent(share: float | None) -> str:
    return "none" if share is None else f"{100 * share:.2f} %"


def _share(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,}"


def _quantiles(cases: Sequence[Case]) -> str:
    found = quantiles(cases)
    return "none" if found is None else f"{found[0]:g} / {found[1]} / {found[2]}"


def as_json(year: Year, found: Figures) -> dict[str, object]:
    """The same for programs."""
    hidings = hidings_of(year)
    return {
        "world": year.file.name,
        "hosts": len(year.file.world.hosts),
        "urls": len(year.urls),
        "days": year.file.days,
        "seconds": round(year.seconds, 1),
        "checks": sum(len(url.checks) for url in year.urls),
        "requests": year.requests,
        "dns_questions": year.questions,
        "cut_off_days": year.cut_off,
        "strained": year.strained,
        "hidden": {
            "number": len(hidings),
            "told": sum(case.took is not None for case in hidings),
            "days_until_told": quantiles(hidings),
            "share_of_days_in_doubt": days_in_doubt(year, hidings),
        },
        "revivals": {
            "number": len(found.revivals),
            "not_told_at_next_check": len(found.missed_revivals),
            "days_until_told": quantiles(found.revivals),
        },
        "reasons": dict(Counter(check.reason.word for url in year.urls for check in url.checks)),
    }
