"""Troubles of our own in a world's file: what we lose of the net, when no worker runs, what our clock says.

One law: none of them changes what people see.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from benchmarks.worlds.worldlives import LAST_DAY
from benchmarks.worlds.worldwords import Place, number, one_of, table, whole, words_of
from weboid.demo.world import Host, Lost, Outage

MOST_NETWORKS: Final = 250
_MOST_OFF: Final = 2_000
"""Days by which a clock may be off: the days of the store stay within their bounds."""
_LONGEST_DELAY_S: Final = 60.0


class ClockStep(NamedTuple):
    """On so many days from `day` on the machine's clock is off by `by` days."""

    day: int
    days: int
    by: int


@dataclass(frozen=True, slots=True)
class OwnTroubles:
    """What befalls our own machine: days without a worker, days on which a round is stopped midway, a wrong clock.

    `delay_s` is the pause between two requests to one host, of real seconds.
    """

    paused: frozenset[int] = frozenset()
    killed: frozenset[int] = frozenset()
    clock: tuple[ClockStep, ...] = ()
    delay_s: float = 0.0

    def day_reported(self, day: int) -> int:
        """What the machine's clock says on a day; the last step that covers it counts."""
        return next((day + step.by for step in reversed(self.clock) if step.day <= day < step.day + step.days), day)


def own_troubles(given: Mapping[str, Any], place: Place) -> OwnTroubles:
    """The troubles of a file's keys `pauses`, `kills`, `clock` and `delay`."""
    paused: set[int] = set()
    for each, here in _listed(given, place, "pauses", "objects with from and to"):
        first, last = _days(table(each, here, frozenset({"from", "to"}), ("from", "to")), here)
        paused.update(range(first, last + 1))
    killed = {whole(day, here, 0, LAST_DAY) for day, here in _listed(given, place, "kills", "days")}
    clock = []
    for each, here in _listed(given, place, "clock", "objects with day, days and by"):
        table(each, here, frozenset({"day", "days", "by"}), ("day", "by"))
        first = whole(each["day"], here.at("day"), 0, LAST_DAY)
        days = whole(each.get("days", 1), here.at("days"), 1, LAST_DAY)
        clock.append(ClockStep(first, days, whole(each["by"], here.at("by"), -_MOST_OFF, _MOST_OFF)))
    delay_s = number(given.get("delay", 0), place.at("delay"), _LONGEST_DELAY_S)
    return OwnTroubles(frozenset(paused), frozenset(killed), tuple(clock), delay_s)


def outages(given: Mapping[str, Any], place: Place, hosts: Mapping[str, Host]) -> tuple[Outage, ...]:
    """The outages of our own network in a file."""
    found = []
    for each, here in _listed(given, place, "own-outages", "objects with from, to, lost, hosts and networks"):
        table(each, here, frozenset({"from", "to", "lost", "hosts", "networks"}), ("from", "to"))
        first, last = _days(each, here)
        lost = one_of(each.get("lost", "all"), here.at("lost"), words_of(Lost))
        names = set()
        for name, at in _some(each, here, "hosts", "names of hosts"):
            if not isinstance(name, str) or name not in hosts:
                at.fail(f"the host {name!r} is not in the file")
            names.add(name)
        known = {host.network for host in hosts.values()}
        networks = set()
        for network, at in _some(each, here, "networks", "numbers of networks"):
            if whole(network, at, 1, MOST_NETWORKS) not in known:
                at.fail(f"no host is in the network {network}")
            networks.add(network)
        found.append(Outage(first, last, lost, frozenset(names), frozenset(networks)))
    return tuple(found)


def _days(given: Mapping[str, Any], here: Place) -> tuple[int, int]:
    first = whole(given["from"], here.at("from"), 0, LAST_DAY)
    return first, whole(given["to"], here.at("to"), first, LAST_DAY)


def _some(given: Mapping[str, Any], place: Place, key: str, what: str) -> list[tuple[Any, Place]]:
    """The members of a list that, if it is there, is not empty: an empty one would mean the opposite of nothing."""
    if key in given and given[key] == []:
        place.at(key).fail(f"this must be a list of {what}, at least one")
    return _listed(given, place, key, what)


def _listed(given: Mapping[str, Any], place: Place, key: str, what: str) -> list[tuple[Any, Place]]:
    members = given.get(key, [])
    if not isinstance(members, list):
        place.at(key).fail(f"this must be a list of {what}")
    return [(member, place.at(key).at(index)) for index, member in enumerate(members)]
