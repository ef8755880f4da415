"""A circuit breaker: a server that does not answer is left in peace for a while, then tried by one caller. Pure."""

from collections.abc import Hashable
from enum import Enum
from typing import Final

from weboid.mechanism.pauses import GrowingPause

_MOST_FAILURES: Final = 32
"""Questions that are remembered; so many are more than enough to open."""


class Admission(Enum):
    """A caller may not try at all, may as usual, or as the only one while the breaker is open."""

    NO = 0
    USUAL = 1
    PROBE = 2


class Breaker:
    """Opens when the weights of failures in a row, with different questions, come to `limit`, if the last success is
    `calm_s` seconds ago. One success closes it.

    It stays open for `first_s` seconds, and twice as long after each probe that fails, at most `longest_s`. All
    moments are seconds of one clock.
    """

    def __init__(self, limit: int, *, first_s: float, longest_s: float, calm_s: float = 0.0) -> None:
        self._limit = limit
        self._times = (first_s, longest_s)
        self._calm_s = calm_s
        self._pause = GrowingPause(*self._times)
        self._failures: dict[Hashable, int] = {}
        self._succeeded_s = float("-inf")
        self.opened_s: float | None = None
        """The moment since when it is open; None = it is closed."""
        self._until_s = 0.0
        self._is_probed = False

    def is_shut(self, now_s: float) -> bool:
        """Returns whether nobody may try now."""
        return self.opened_s is not None and (self._is_probed or now_s < self._until_s)

    def admit(self, now_s: float) -> Admission:
        """Returns whether the caller may try; one that may has to report the end by one of the next three methods."""
        if self.opened_s is None:
            return Admission.USUAL
        if self.is_shut(now_s):
            return Admission.NO
        self._is_probed = True
        return Admission.PROBE

    def succeeded(self, now_s: float) -> float | None:
        """Closes it; returns the seconds for which it was open, None if it was not."""
        open_s = None if self.opened_s is None else now_s - self.opened_s
        self._failures.clear()
        self._succeeded_s, self.opened_s, self._is_probed = now_s, None, False
        self._pause = GrowingPause(*self._times)
        return open_s

    def failed(self, now_s: float, admission: Admission, question: Hashable, weight: int = 1) -> bool:
        """A failure of that weight; the same question counts once in a row. Returns whether it has opened by that."""
        if self.opened_s is not None:
            if admission is Admission.PROBE:
                self._is_probed, self._until_s = False, now_s + self._pause.grown_s()
            return False
        if question in self._failures or len(self._failures) < _MOST_FAILURES:
            self._failures[question] = max(weight, self._failures.get(question, 0))
        if sum(self._failures.values()) < self._limit or now_s < self._succeeded_s + self._calm_s:
            return False
        self.opened_s, self._until_s = now_s, now_s + self._pause.grown_s()
        return True

    def undecided(self, admission: Admission) -> None:
        """The try was neither; if it was the probe, the next caller is one."""
        if admission is Admission.PROBE:
            self._is_probed = False
