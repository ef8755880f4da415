"""Lives: behaviours by day, or by day and hour of the day; pure data that fit into JSON."""

from itertools import pairwise
from typing import Final, Generic, NamedTuple, TypeVar

B = TypeVar("B")

DAY_HOURS: Final = 24


class HourPart(NamedTuple, Generic[B]):
    """A behaviour from one hour of the day (0 … 23, UTC) on until another (excluded); past midnight if that is not
    later."""

    first: int
    until: int
    behaviour: B

    def holds(self, hour: int) -> bool:
        """Returns whether an hour is among those of the part."""
        if self.first < self.until:
            return self.first <= hour < self.until
        return hour >= self.first or hour < self.until


class Hours(NamedTuple, Generic[B]):
    """Behaviours by the hour of the day: that of the first part that holds, else `rest`."""

    parts: tuple[HourPart[B], ...]
    rest: B

    def at(self, hour: int) -> B:
        """The behaviour at an hour."""
        return next((part.behaviour for part in self.parts if part.holds(hour)), self.rest)


class Spell(NamedTuple, Generic[B]):
    """A behaviour, or one by the hours of the day, and the day on which it begins."""

    from_day: int
    behaviour: B | Hours[B]


Life = tuple[Spell[B], ...]
"""Spells in the order of their days; the first one also holds for all days before it."""


def behaviour_on(life: Life[B], day: int, hour: int = 0) -> B:
    """The behaviour of a life at a moment; raises ValueError if the life is empty or its days do not rise."""
    if len(life) == 1:
        found = life[0].behaviour
    else:
        if not life or any(one.from_day >= other.from_day for one, other in pairwise(life)):
            raise ValueError("a life needs at least one spell, and each must begin after the one before")
        begun = [spell.behaviour for spell in life if spell.from_day <= day]
        found = begun[-1] if begun else life[0].behaviour
    return found.at(hour) if isinstance(found, Hours) else found
