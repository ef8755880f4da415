"""A mapping with a maximum size: the least recently set or used value is dropped first. Pure."""

from collections.abc import Callable, Hashable, Iterator
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class BoundedMap(Generic[Key, Value]):
    """A mapping of total weight at most `most`; each value weighs one, or what `weigh` returns.

    Setting a key or calling `use` makes it the newest; `get` does not. `dropped` is called with each value that is
    dropped to make room or replaced by another value of its key, but not with one removed by `take`.
    """

    def __init__(
        self, most: int, *, weigh: Callable[[Value], int] | None = None, dropped: Callable[[Value], None] | None = None
    ) -> None:
        self._most = most
        self._weigh = weigh
        self._dropped = dropped or (lambda _: None)
        self._values: dict[Key, Value] = {}
        self._weight = 0

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[Key]:
        """The keys, the oldest first."""
        return iter(self._values)

    def __contains__(self, key: Key) -> bool:
        return key in self._values

    def get(self, key: Key) -> Value | None:
        """The value of a key, None if there is none."""
        return self._values.get(key)

    def use(self, key: Key) -> Value | None:
        """The value of a key, which becomes the newest; None if there is none."""
        if (value := self._values.pop(key, None)) is not None:
            self._values[key] = value
        return value

    def __setitem__(self, key: Key, value: Value) -> None:
        if key in self._values:
            self._drop(key)
        self._values[key] = value
        self._weight += 1 if self._weigh is None else self._weigh(value)
        while self._weight > self._most:
            self._drop(next(iter(self._values)))

    def take(self, key: Key) -> Value | None:
        """Removes a key and returns its value; None if there was none."""
        if (value := self._values.pop(key, None)) is not None:
            self._weight -= 1 if self._weigh is None else self._weigh(value)
        return value

    def items(self) -> list[tuple[Key, Value]]:
        """All keys and values, the oldest first."""
        return list(self._values.items())

    def _drop(self, key: Key) -> None:
        value = self._values.pop(key)
        self._weight -= 1 if self._weigh is None else self._weigh(value)
        self._dropped(value)
