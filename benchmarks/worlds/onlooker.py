"""What people see of a URL on each of its days: at its best hour, as people come back.

One law: a day is one on which the content was seen if it was seen at some hour of that day.
"""

from bisect import bisect_right
from functools import lru_cache
from typing import Any, Final

from benchmarks.worlds.sight import Sight, is_walled, sight_and_hosts
from benchmarks.worlds.worldfile import WorldFile
from weboid.demo.life import DAY_HOURS, Hours, Life, behaviour_on

_BEST: Final = (Sight.SEEN, Sight.HIDDEN, Sight.GONE)


class Onlooker:
    """Looks at a world only where something may have changed: all else is as it was."""

    def __init__(self, file: WorldFile) -> None:
        self._file = file
        self._changes = lru_cache(maxsize=None)(self._changes_of)
        self._hours = lru_cache(maxsize=None)(self._hours_of)

    def sights(self, url: str) -> tuple[Sight, ...]:
        days = self._file.days
        if life := self._file.truth.get(url):
            return tuple(_best({behaviour_on(life, day, hour) for hour in range(DAY_HOURS)}) for day in range(days))
        found: list[Sight] = []
        while len(found) < days:
            sight, until = self._sight(url, len(found))
            found += [sight] * (min(until, days) - len(found))
        return tuple(found)

    def walled(self, url: str) -> frozenset[int]:
        """The days on which machines met a wall at some hour."""
        days, day = self._file.days, 0
        host = url.split("/")[2]
        found: set[int] = set()
        while day < days:
            until = min(self._next_change(host, day), days)
            if any(is_walled(self._file.world, url, day, hour) for hour in (0, *self._hours(host))):
                found.update(range(day, until))
            day = until
        return frozenset(found)

    def _sight(self, url: str, day: int) -> tuple[Sight, int]:
        """What is seen on a day, and the first later day on which that may be different."""
        waiting, done, until = {0}, set[int](), DAY_HOURS * 10_000
        sights: set[Sight] = set()
        while waiting:
            hour = waiting.pop()
            done.add(hour)
            sight, hosts = sight_and_hosts(self._file.world, url, day, hour)
            sights.add(sight)
            for host in hosts:
                until = min(until, self._next_change(host, day))
                waiting |= self._hours(host) - done
        return _best(sights), until

    def _next_change(self, host: str, day: int) -> int:
        changes = self._changes(host)
        index = bisect_right(changes, day)
        return changes[index] if index < len(changes) else self._file.days

    def _lives(self, host: str) -> list[Life[Any]]:
        known = self._file.world.hosts.get(host)
        if known is None:
            return []
        return [known.life, *known.paths.values(), *([known.others] if known.others else [])]

    def _changes_of(self, host: str) -> tuple[int, ...]:
        return tuple(sorted({spell.from_day for life in self._lives(host) for spell in life}))

    def _hours_of(self, host: str) -> frozenset[int]:
        """The hours of the day at which the host may change, besides midnight; none = the hour does not matter."""
        spells = (spell.behaviour for life in self._lives(host) for spell in life)
        parts = (part for behaviour in spells if isinstance(behaviour, Hours) for part in behaviour.parts)
        return frozenset(hour % DAY_HOURS for part in parts for hour in (part.first, part.until))


def _best(sights: set[Sight]) -> Sight:
    return next(sight for sight in _BEST if sight in sights)
