"""Serves the tasks of a process (R-1): which document is next, and what follows from it. It loads nothing itself."""

from collections.abc import Callable, Iterable, Mapping
from itertools import count
from math import inf
from types import MappingProxyType
from typing import Final

from weboid.core.url.hosts import NO_NAMES
from weboid.robot.orders import Orders
from weboid.robot.plugins import Plugin
from weboid.robot.queues import QueueOrder, WantedDocument, queue_in
from weboid.robot.task import Loaded, Task

_MOST_HELD: Final = 10_000
"""Hosts that are remembered before those whose time has passed are forgotten."""


class Robot:
    """Hands out entries to loaders, and takes what became of them. Moments are seconds of a clock of the caller."""

    def __init__(
        self, order: QueueOrder = "fair", is_cached: Callable[[WantedDocument], bool] = lambda entry: False
    ) -> None:
        """`is_cached` says whether a document takes no load, by the orders of its task."""
        self._queue = queue_in(order)
        self._is_cached = is_cached
        self._numbers = count(1)
        self._held: dict[str, float] = {}
        self._open: dict[tuple[int, str], list[WantedDocument]] = {}
        """Of each open document the entries that wait for it: it is found again, nearer to the start."""

    def start(
        self,
        starts: Iterable[str],
        orders: Orders,
        given: Mapping[str, Plugin] = MappingProxyType({}),
        bare: frozenset[str] = NO_NAMES,
    ) -> Task:
        """Begins a task; raises InvalidUrl, and ConfigError for an unknown name. `given` and `bare` as of Task."""
        task = Task(next(self._numbers), starts, orders, given, bare)
        self._put(task.begin())
        return task

    def cancel(self, task: Task) -> None:
        """Ends a task: what is queued is dropped at once; what is open may end."""
        task.is_cancelled = True
        task.statistics.drop(task.statistics.waiting)
        self._queue.forget(task)

    def hold(self, host: str, until: float, now: float) -> None:
        """Hands out no document of a host before that moment; an infinite one lasts until the host is held anew."""
        if len(self._held) >= _MOST_HELD:
            self._held = {held: moment for held, moment in self._held.items() if moment > now}
        before = self._held.get(host, now)
        self._held[host] = until if before == inf else max(until, before)
        if before == inf:
            self._queue.release(host)

    def next_moment(self, now: float) -> float:
        """The moment at which the first of the hosts that are held now is so no more; infinite if there is none."""
        return min((moment for moment in self._held.values() if moment > now), default=inf)

    def take(self, now: float) -> WantedDocument | None:
        """The next document; None if there is none at that moment.

        It is loaded unless its URL was in `task.loaded` before; then its links are those of before, and it is a hit.
        """
        while (entry := self._queue.take(now, self._held)) is not None:
            task = entry.task
            if task.is_cancelled:
                continue
            is_free = entry.url in task.loaded or self._is_cached(entry)
            if self._is_dropped(entry, now, is_free=is_free):
                task.statistics.drop()
                self._forget_finished(task)
                continue
            if (waiting := self._open.get((task.number, entry.url))) is not None:
                waiting.append(entry)
                continue
            self._open[task.number, entry.url] = []
            if not is_free:
                task.loading.add(entry.url)
            task.statistics.begin()
            return entry
        return None

    def end(self, entry: WantedDocument, loaded: Loaded) -> None:
        """Takes what became of a document that was handed out."""
        again = self._open.pop((entry.task.number, entry.url))
        task = entry.task
        task.loading.discard(entry.url)
        task.loaded.add(entry.url)
        self._put([*task.end(entry, loaded), *(() if task.is_cancelled else again)])
        self._forget_finished(task)

    @property
    def open_urls(self) -> list[str]:
        """The URLs of the documents that are handed out."""
        return [url for _, url in self._open]

    def is_open(self, entry: WantedDocument) -> bool:
        """True if a document was handed out, and nothing has been said of it yet."""
        return (entry.task.number, entry.url) in self._open

    def _is_dropped(self, entry: WantedDocument, now: float, *, is_free: bool) -> bool:
        task, orders = entry.task, entry.task.orders
        if entry.distance > orders.reach or now > orders.expires:
            return True
        return not is_free and task.statistics.downloaded + len(task.loading) >= orders.most_downloads

    def _forget_finished(self, task: Task) -> None:
        if task.is_finished:
            self._queue.forget(task)

    def _put(self, entries: Iterable[WantedDocument]) -> None:
        for entry in entries:
            self._queue.put(entry)
