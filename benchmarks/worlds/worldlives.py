"""The lives in a world's file: spells, repetitions, hours of the day.

One law: whatever is not one of these forms is an error.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from benchmarks.worlds.worldwords import Place, table, whole
from weboid.demo.life import DAY_HOURS, HourPart, Hours, Life, Spell

B = TypeVar("B")

_MOST_SPELLS: Final = 10_000
LAST_DAY: Final = 10_000
"""Of a spell; worlds may be cut short, so it can lie behind the end of the days that are reported."""


def life_of(value: Any, place: Place, one: Callable[[Any, Place], B]) -> Life[B]:
    """A life: one behaviour for ever, or a list of spells, each ``[day, behaviour]`` or a repetition.

    Wherever a behaviour stands, there may be one by the hours of the day.
    """
    value, place = place.resolved(value)
    if not isinstance(value, list):
        return (Spell(0, _hourly(value, place, one)),)
    spells: list[Spell[B]] = []
    for index, given in enumerate(value):
        here = place.at(index)
        found = _spells(given, here, one)
        # What stays on after a repetition gives way to a spell that begins on that very day.
        if spells and isinstance(value[index - 1], dict) and found[0].from_day == spells[-1].from_day:
            spells.pop()
        if not spells and found[0].from_day:
            here.fail("a life begins on day 0")
        if spells and found[0].from_day <= spells[-1].from_day:
            here.fail(f"day {found[0].from_day} does not come after day {spells[-1].from_day} of the spell before")
        spells += found
        if len(spells) > _MOST_SPELLS:
            place.fail(f"more than {_MOST_SPELLS} spells")
    if not spells:
        place.fail("a life needs at least one spell: [[0, …]]")
    return tuple(spells)


def _spells(given: Any, place: Place, one: Callable[[Any, Place], B]) -> list[Spell[B]]:
    if isinstance(given, dict):
        return _repeated(given, place, one)
    if not isinstance(given, list) or len(given) != 2:
        place.fail("a spell is [day, behaviour] or an object with from, until, repeat")
    return [Spell(whole(given[0], place.at(0), 0, LAST_DAY), _hourly(given[1], place.at(1), one))]


def _repeated(given: Mapping[str, Any], place: Place, one: Callable[[Any, Place], B]) -> list[Spell[B]]:
    """A cycle of behaviours of so many days each; on the day `until` its first one begins and stays."""
    table(given, place, frozenset({"from", "until", "repeat"}), ("from", "repeat"))
    first = whole(given["from"], place.at("from"), 0, LAST_DAY)
    until = whole(given.get("until", max(first, place.days)), place.at("until"), first, LAST_DAY)
    place = place.at("repeat")
    if not isinstance(given["repeat"], list) or not given["repeat"]:
        place.fail("this must be a list of [number of days, behaviour]")
    cycle: list[tuple[int, B | Hours[B]]] = []
    for index, part in enumerate(given["repeat"]):
        if not isinstance(part, list) or len(part) != 2:
            place.at(index).fail("this must be [number of days, behaviour]")
        cycle.append((whole(part[0], place.at(index).at(0), 1, 10_000), _hourly(part[1], place.at(index).at(1), one)))
    spells: list[Spell[B]] = []
    day, turn = first, 0
    while day < until:
        days, each = cycle[turn % len(cycle)]
        spells.append(Spell(day, each))
        day, turn = day + days, turn + 1
    return [*spells, Spell(until, cycle[0][1])]


def _hourly(value: Any, place: Place, one: Callable[[Any, Place], B]) -> B | Hours[B]:
    """A behaviour, or behaviours by the hour: ``{"hours": [[from, until, behaviour], …], "else": behaviour}``."""
    value, place = place.resolved(value)
    if not isinstance(value, dict) or "hours" not in value:
        return one(value, place)
    given = table(value, place, frozenset({"hours", "else"}), ("hours", "else"))
    here = place.at("hours")
    if not isinstance(given["hours"], list) or not given["hours"]:
        here.fail("this must be a list of [from, until, behaviour]")
    parts = []
    for index, part in enumerate(given["hours"]):
        at = here.at(index)
        if not isinstance(part, list) or len(part) != 3:
            at.fail("this must be [from, until, behaviour]")
        first, until = whole(part[0], at.at(0), 0, DAY_HOURS - 1), whole(part[1], at.at(1), 0, DAY_HOURS)
        if first == until:
            at.fail("these are no hours: until is the first hour that no longer belongs to them")
        parts.append(HourPart(first, until, one(part[2], at.at(2).deeper())))
    return Hours(tuple(parts), one(given["else"], place.at("else").deeper()))
