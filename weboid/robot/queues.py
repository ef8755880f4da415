"""Queues of entries, in one of four orders (R-3); a host that must wait blocks no other.

Each step takes O(log n) for n entries; the fair queue passes over tasks that can do nothing now.
"""

from collections import deque
from collections.abc import Callable, Mapping
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from weboid.robot.task import Task

QueueOrder: TypeAlias = Literal["breadth", "depth", "fair", "priority"]
Key: TypeAlias = tuple[int, int]


class WantedDocument(NamedTuple):
    """A document that a task wants."""

    task: "Task"
    url: str
    host: str
    distance: int
    """Links from the start."""
    hops: int = 0
    """Redirects in a row that led here."""
    parent: str = ""


class OrderedQueue:
    """The entries of all tasks in the order of a key, the least first, host by host."""

    def __init__(self, key: Callable[[WantedDocument, int], Key]) -> None:
        self._key = key
        self._numbers = count()
        self._of_host: dict[str, list[tuple[Key, WantedDocument]]] = {}
        self._ready: list[tuple[Key, str]] = []
        """Hosts by their first entry; what does not hold any more is skipped."""
        self._waiting: list[tuple[float, str]] = []

    def put(self, entry: WantedDocument) -> None:
        """Adds an entry by its key, which no other has."""
        key = self._key(entry, next(self._numbers))
        entries = self._of_host.setdefault(entry.host, [])
        heappush(entries, (key, entry))
        if entries[0][0] == key:
            heappush(self._ready, (key, entry.host))

    def take(self, now: float, held: Mapping[str, float]) -> WantedDocument | None:
        """Removes the first entry of the hosts that are not held; None if all are."""
        while self._waiting and self._waiting[0][0] <= now:
            host = heappop(self._waiting)[1]
            if host in self._of_host:
                heappush(self._ready, (self._of_host[host][0][0], host))
        while self._ready:
            key, host = heappop(self._ready)
            entries = self._of_host.get(host)
            if entries is None or entries[0][0] != key:
                continue
            if held.get(host, now) > now:
                heappush(self._waiting, (held[host], host))
                continue
            entry = heappop(entries)[1]
            if entries:
                heappush(self._ready, (entries[0][0], host))
            else:
                del self._of_host[host]
            return entry
        return None

    def release(self, host: str) -> None:
        """Looks at a host again that is held for a shorter time than before."""
        if host in self._of_host:
            heappush(self._ready, (self._of_host[host][0][0], host))

    def forget(self, task: "Task") -> None:
        """Leaves the entries of a task where they are; the robot skips them."""


class FairQueue:
    """One queue a task, by breadth, in turns: a page with very many links of one task delays no other (C-3)."""

    def __init__(self) -> None:
        self._queues: dict[int, OrderedQueue] = {}
        self._ring: deque[int] = deque()

    def put(self, entry: WantedDocument) -> None:
        """Adds an entry to the queue of its task; a new task comes last."""
        if entry.task.number not in self._queues:
            self._queues[entry.task.number] = OrderedQueue(by_breadth)
            self._ring.append(entry.task.number)
        self._queues[entry.task.number].put(entry)

    def take(self, now: float, held: Mapping[str, float]) -> WantedDocument | None:
        """Removes the first entry of the next task that has one for a host that is not held; None if none has."""
        for _ in range(len(self._ring)):
            number = self._ring[0]
            self._ring.rotate(-1)
            if (entry := self._queues[number].take(now, held)) is not None:
                return entry
        return None

    def release(self, host: str) -> None:
        """Looks at a host again, for all tasks."""
        for queue in self._queues.values():
            queue.release(host)

    def forget(self, task: "Task") -> None:
        """Removes the entries of a task at once."""
        if self._queues.pop(task.number, None) is not None:
            self._ring.remove(task.number)


def by_breadth(_entry: WantedDocument, number: int) -> Key:
    """Puts first what came first."""
    return (0, number)


def _by_depth(_entry: WantedDocument, number: int) -> Key:
    return (0, -number)


def _by_priority(entry: WantedDocument, number: int) -> Key:
    return (-entry.task.orders.priority, number)


_KEYS: Final = {"breadth": by_breadth, "depth": _by_depth, "priority": _by_priority}


def queue_in(order: QueueOrder) -> FairQueue | OrderedQueue:
    """An empty queue."""
    return FairQueue() if order == "fair" else OrderedQueue(_KEYS[order])
