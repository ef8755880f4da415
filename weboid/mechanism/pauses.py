"""Computes growing pauses between attempts of something that keeps failing; the caller does the waiting. Pure."""


class GrowingPause:
    """Pauses in seconds: first `first_s`, then twice the previous one each time, at most `longest_s`."""

    def __init__(self, first_s: float, longest_s: float) -> None:
        self._first_s = min(first_s, longest_s)
        self._longest_s = longest_s
        self._next_s = self._first_s

    def reset(self) -> None:
        """To be called after a success: the next pause is `first_s` again."""
        self._next_s = self._first_s

    def grown_s(self) -> float:
        """The pause to make now; the next one is longer."""
        pause_s = self._next_s
        self._next_s = min(2 * pause_s, self._longest_s)
        return pause_s
