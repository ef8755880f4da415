"""The confusion table of a play, its goals and its JSON.

One law: a page is reported rightly if it is reported by the word that a reader would use; another doubt is not enough.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from statistics import median, quantiles
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from benchmarks.content.costs import Costs
from benchmarks.content.manifest import PageClass
from benchmarks.content.play import Reported
from benchmarks.content.staged import Staged

_MONTH: Final = 30
SOON: Final = 21
"""A change of owner is to be found within so many days."""
_PARKED: Final = frozenset({"parked", "for-sale", "placeholder", "suspended"})
RIGHT: Final[Mapping[PageClass, frozenset[str]]] = {
    PageClass.LIVE: frozenset(),
    PageClass.WALL: frozenset({"bot-wall"}),
    PageClass.PARKED: _PARKED,
    PageClass.SOFT404: frozenset({"soft-404"}),
    PageClass.USURPED: _PARKED | {"replaced"},
    PageClass.LOGIN: frozenset({"login", "redirect-to-login"}),
    PageClass.MAINTENANCE: frozenset({"maintenance"}),
}
"""The reasons that say what a page is; of a living page nothing is to be said."""
_WORKS: Final = "works"
_NEVER: Final = "not asked"


def as_json(staged: Staged, reported: Mapping[str, Reported]) -> dict[str, Any]:
    """For each URL of the manifest what was reported of it; nulls where it was not played."""
    found = {url: Reported(None, None, ()) for url in staged.left_out}
    found |= {specimen.url: reported[url] for url, specimen in staged.played.items()}
    return {url: _as_json(each) for url, each in found.items()}


def _as_json(reported: Reported) -> dict[str, Any]:
    last = reported.last
    return {
        "check": {"outcome": reported.outcome, "reason": reported.reason},
        "crawl": {
            "verdict": last.verdict.word if last else None,
            "reason": last.reason.word if last and last.reason else None,
            "day": last.day if last else None,
        },
    }


def wrong_lines(staged: Staged, reported: Mapping[str, Reported]) -> list[str]:
    """A line for each page not reported by its word: kind, at the check, at the end, since, line, URL, between tabs."""
    lines = []
    for url, specimen in staged.played.items():
        words = said_at_check(reported[url]), said_at_last(reported[url])
        if not all(is_right(specimen.cls, word) for word in words):
            last = reported[url].last
            day = str(last.day) if last else ""
            lines.append("\t".join((specimen.cls, *words, day, f"line {specimen.line}", specimen.url)))
    return sorted(lines)


def said_at_check(reported: Reported) -> str:
    """The word of a check's column."""
    match reported.outcome:
        case None:
            return _NEVER
        case "working":
            return _WORKS
        case "failing":
            return f"fails: {reported.reason}"
        case _:
            return str(reported.reason)


def said_at_last(reported: Reported) -> str:
    """The word of the column of what the crawler says at the end."""
    last = reported.last
    if last is None or last.verdict.word == "unknown":
        return _NEVER
    if last.verdict.word == "working":
        return _WORKS
    word = last.reason.word if last.reason else ""
    return f"dead: {word}" if last.verdict.word == "dead" else word


def tell(
    console: Console, staged: Staged, reported: Mapping[str, Reported], costs: Costs, times_ms: list[float]
) -> None:
    days = staged.file.days
    by_class = _by_class(staged, reported)
    _tell_table(console, "at the check", {cls: Counter(map(said_at_check, each)) for cls, each in by_class.items()})
    _tell_table(
        console, f"after {days} days", {cls: Counter(map(said_at_last, each)) for cls, each in by_class.items()}
    )
    _tell_goals(console, staged, by_class)
    hosts = len(staged.file.world.hosts)
    months = days / _MONTH
    console.print(
        f"requests a host and month {costs.requests / hosts / months:.2f}, of them probes "
        f"{costs.probes.total() / hosts / months:.2f} and robots.txt {costs.robots / hosts / months:.2f}; "
        f"bytes a look {costs.look_bytes / max(costs.looks, 1):,.0f} ({costs.looks:,} looks)"
    )
    if times_ms:
        most = quantiles(times_ms, n=100)[98] if len(times_ms) > 1 else times_ms[0]
        console.print(
            f"analysis of a page: {median(times_ms):.2f} ms (median), {sum(times_ms) / len(times_ms):.2f} (mean), "
            f"{most:.1f} (99 %)"
        )
    for reason, count in Counter(staged.left_out.values()).items():
        console.print(f"not played: {count} ({reason})", markup=False)


def _by_class(staged: Staged, reported: Mapping[str, Reported]) -> dict[PageClass, list[Reported]]:
    by_class: dict[PageClass, list[Reported]] = defaultdict(list)
    for url, specimen in staged.played.items():
        by_class[specimen.cls].append(reported[url])
    return {cls: by_class[cls] for cls in PageClass if cls in by_class}


def _tell_table(console: Console, title: str, counts: Mapping[PageClass, Counter[str]]) -> None:
    columns = sorted({word for each in counts.values() for word in each}, key=_rank)
    table = Table(title=title, box=None, pad_edge=False, title_justify="left")
    table.add_column("page")
    for heading in ("all", *columns, "right"):
        table.add_column(heading, justify="right", overflow="fold")
    for cls, each in counts.items():
        right = sum(count for word, count in each.items() if is_right(cls, word))
        share = f"{100 * right / each.total():.1f} %"
        table.add_row(cls, str(each.total()), *(str(each[word] or "") for word in columns), share)
    console.print(table)


def _rank(word: str) -> tuple[int, str]:
    """Columns in the order: works, doubts, failures, dead, not asked."""
    ranks = {_WORKS: 0, _NEVER: 4}
    return ranks.get(word, 3 if word.startswith("dead") else 2 if word.startswith("fails") else 1), word


def is_right(cls: PageClass, word: str) -> bool:
    """Whether a page of a class is reported by a word that says what it is."""
    return word == _WORKS if cls is PageClass.LIVE else word in RIGHT[cls]


def _tell_goals(console: Console, staged: Staged, by_class: Mapping[PageClass, Iterable[Reported]]) -> None:
    for cls, pages in by_class.items():
        begun = staged.turn if cls is PageClass.USURPED else 0
        waits = [_found_on(reported, begun) for reported in pages]
        found = sorted(wait for wait in waits if wait is not None)
        line = f"{cls}: {len(found)} of {len(waits)} not working at some time"
        if found:
            line += f", first on day {found[0]}, half of them by day {median(found):.0f}"
        if cls is PageClass.USURPED:
            soon = sum(1 for wait in found if wait <= SOON)
            line += f" after the change; within {SOON} days {100 * soon / len(waits):.0f} %"
        console.print(line)


def _found_on(reported: Reported, begun: int) -> int | None:
    """The days from `begun` until something else than "works" was said."""
    for change in reported.changes:
        if change.day >= begun and change.verdict.word in ("doubtful", "dead"):
            return change.day - begun
    return None
