"""Keeps the places of a run in the store, for those who read its results there (R-7): what is at fault by its group."""

from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from typing import Final

from weboid.site.place import Place
from weboid.store.db.rows import storable
from weboid.store.site.ordered import PlacesRow, packed_places

FAULTS: Final = frozenset({"broken", "fragment", "doubtful"})
_OF_FAULT: Final = 100
"""Places in a row, as they are shown at a time, …"""
_OF_OTHERS: Final = 1_000
"""… and of those that are not at fault."""
_MOST_FAULTS: Final = 200_000
_MOST_OTHERS: Final = 5_000_000
"""What is more is only counted."""


class KeptPlaces:
    """The places of a run of a task that are not written yet, and how many were left out."""

    def __init__(self) -> None:
        self._waiting: list[Place] = []
        self._number = 0
        self._faults = self._others = 0
        self.left_out = 0

    def add(self, place: Place) -> None:
        """Takes a place, as long as there is room."""
        is_fault = place.state in FAULTS
        if (self._faults >= _MOST_FAULTS) if is_fault else (self._others >= _MOST_OTHERS):
            self.left_out += 1
            return
        self._faults += is_fault
        self._others += not is_fault
        self._waiting.append(place)

    def take(self, *, all_of_them: bool = False) -> tuple[list[PlacesRow], list[Place]]:
        """Takes out what is to be written now, as rows and as it is: others than faults, if there are enough for a row
        or it is to be `all_of_them`. What comes meanwhile waits for the next time."""
        faults = sorted((each for each in self._waiting if each.state in FAULTS), key=_group)
        others = [each for each in self._waiting if each.state not in FAULTS]
        whole = len(others) if all_of_them else len(others) - len(others) % _OF_OTHERS
        rows = [
            self._row(part, *group) for group, places in groupby(faults, _group) for part in _parts(places, _OF_FAULT)
        ]
        rows += [self._row(part, None, None, None) for part in _parts(others[:whole], _OF_OTHERS)]
        self._waiting = others[whole:]
        return rows, faults + others[:whole]

    def give_back(self, places: list[Place]) -> None:
        """Takes back what could not be written."""
        self._waiting[:0] = places

    def _row(self, places: list[Place], host: str | None, reason: str | None, state: str | None) -> PlacesRow:
        self._number += 1
        return PlacesRow(self._number, host, reason, state, len(places), packed_places(places))


def _group(place: Place) -> tuple[str, str, str]:
    return storable("".join(place.url.split("/")[2:3])), place.reason, place.state


def _parts(places: Iterable[Place], most: int) -> Iterator[list[Place]]:
    rest = iter(places)
    while part := list(islice(rest, most)):
        yield part
