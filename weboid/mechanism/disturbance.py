"""Logs a disturbance of many requests once when it begins and once when it is over, not at every request.

Make one `Disturbance` for each thing that can fail (a database, a wiki, a lane), call `met` whenever it has failed and
`passed` whenever it has worked, both as often as they happen: they cost next to nothing. Nothing is logged between its
two lines, however often it comes and goes within `calm_s`.

    away = Disturbance(log, "the database does not answer")
    away.met(error)     # WARNING the database does not answer: connection refused
    away.met(error)     # nothing
    away.passed()       # WARNING after `calm_s`: it is over: the database does not answer (2 times in 31 s)
"""

import asyncio
import logging
from time import monotonic


class Disturbance:
    """The failing of one thing in this process; to be called in a running event loop.

    It is over once it has worked and then not failed for `calm_s` seconds; with 0, as soon as it has worked.
    """

    def __init__(self, log: logging.Logger, name: str, *, calm_s: float = 5.0) -> None:
        self.times = 0
        """The number of failures since it began; 0 while all is well."""
        self._log = log
        self._name = name
        self._calm_s = calm_s
        self._begun = 0.0
        self._last = 0.0
        self._ending: asyncio.TimerHandle | None = None

    def met(self, detail: object = "") -> None:
        """It has failed (once more); `detail` is logged if this is the beginning."""
        self._last = monotonic()
        if self._ending is not None:
            self._ending.cancel()
            self._ending = None
        if self.times == 0:
            self._begun = self._last
            self._log.warning("%s%s%s", self._name, ": " if str(detail) else "", detail)
        self.times += 1

    def passed(self) -> None:
        """It has worked: if that lasts for `calm_s`, the disturbance is over."""
        if self.times == 0 or self._ending is not None:
            return
        if self._calm_s <= 0:
            self._end()
        else:
            self._ending = asyncio.get_running_loop().call_later(self._calm_s, self._end)

    def close(self) -> None:
        """Says now that it is over, if it has worked since it failed last: for the end of a program."""
        if self._ending is not None:
            self._ending.cancel()
            self._end()

    def _end(self) -> None:
        times, took_s = self.times, self._last - self._begun
        self.times, self._ending = 0, None
        self._log.warning("it is over: %s (%d times in %.0f s)", self._name, times, took_s)
