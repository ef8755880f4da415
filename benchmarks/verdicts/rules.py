"""Who says "dead", and when: Weboid's log of changes, and simple rules of strikes over the very same checks.

One law: a rule sees nothing but the checks of one URL in their order; none has any knowledge of the world.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.verdicts.daily import Check
from benchmarks.verdicts.year import UrlYear
from weboid.core.record.reasons import Outcome
from weboid.core.verdict.verdict import Verdict

Spells = list[range]
"""The days at whose end a URL was called dead, without gaps inside of one range."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule by its name."""

    name: str
    dead: Callable[[UrlYear, int], Spells]
    """The spells of "dead" of a URL in so many days."""


def weboid_dead(url: UrlYear, days: int) -> Spells:
    """As Weboid told it, the host's part in it included."""
    return _spells(((change.day, change.verdict is Verdict.DEAD) for change in url.changes), days)


def strikes_dead(strikes: int, apart: int) -> Callable[[UrlYear, int], Spells]:
    """Dead after so many failing checks in a row, each so many days after the one counted before; until one does not
    fail."""

    def dead(url: UrlYear, days: int) -> Spells:
        return _spells(_told_by_strikes(url.checks, strikes, apart), days)

    return dead


def _told_by_strikes(checks: Sequence[Check], strikes: int, apart: int) -> Iterable[tuple[int, bool]]:
    counted, newest = 0, 0
    for check in checks:
        if check.outcome is not Outcome.FAILING:
            counted = 0
        elif not counted or check.day - newest >= apart:
            counted, newest = counted + 1, check.day
        yield check.day, counted >= strikes


def _spells(told: Iterable[tuple[int, bool]], days: int) -> Spells:
    spells: Spells = []
    since: int | None = None
    for day, dead in told:
        if dead and since is None:
            since = day
        elif not dead and since is not None:
            if day > since:
                spells.append(range(since, day))
            since = None
    return spells if since is None else [*spells, range(since, days)]


WEBOID: Final = Rule("Weboid", weboid_dead)
PEERS: Final = (
    Rule("3 strikes, 3 days apart", strikes_dead(3, 3)),
    Rule("2 strikes, a week apart", strikes_dead(2, 7)),
)
