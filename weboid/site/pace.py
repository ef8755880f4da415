"""The speed at which a host is asked: by turns, faster if it says so, without pause on the user's own network."""

from typing import Final

_FASTEST_S: Final = 0.1
_SLOWEST_S: Final = 60.0
_USUAL: Final = 0.1
"""Weight of an answer in the mean of times."""
_RISING: Final = 3.0
"""An answer that takes so many times the mean, and at least `_SLOW_S`, is a sign of load."""
_SLOW_S: Final = 0.5


class HostPace:
    """The pause of one host in seconds, which grows with signs of load and shrinks again."""

    def __init__(self, usual_s: float, named_s: float | None = None, *, is_own: bool = False) -> None:
        self.least_s = 0.0 if is_own else usual_s if named_s is None else max(named_s, _FASTEST_S)
        self.pause_s = self.least_s
        self._mean_s = 0.0

    def note(self, seconds: float, *, is_refused: bool) -> None:
        """Takes how long an answer took, and whether it was 429 or 503."""
        is_rising = self._mean_s and seconds > max(_SLOW_S, _RISING * self._mean_s)
        if is_refused:
            self.pause_s = min(max(2 * self.pause_s, _FASTEST_S), max(_SLOWEST_S, self.least_s))
        elif is_rising and self.least_s:
            self.pause_s = min(1.5 * self.pause_s, max(_SLOWEST_S, self.least_s))
        else:
            self.pause_s = max(self.least_s, 0.95 * self.pause_s)
        self._mean_s += (seconds - self._mean_s) * (_USUAL if self._mean_s else 1.0)
