"""Errors of our own within visits (unexpected exceptions): counted, logged, an alarm where they are many.

Nothing is concluded from such an error, about no link and no host, and it never ends a round (``crawl/round``).
"""

import logging
from collections.abc import Callable
from traceback import walk_tb
from typing import Final

from weboid.errors import StoreAway, StoreRefuses, ValuesRefused, WeboidError
from weboid.remote.crawl.calls import Alarms
from weboid.store.db.rows import HostKey
from weboid.store.upkeep.alarm import AlarmKind

log = logging.getLogger(__name__)

ALARMING: Final = 20
"""So many hosts at which the same error occurs in a round, or in the rounds of a day, are an alarm."""
_HOSTS: Final = 1_000
"""Hosts that are counted for one error at most."""
_OWN: Final = "weboid."

Failed = Callable[[HostKey, str, Exception], None]
"""Takes an error within a visit to this host, and the URL that was being checked."""


def is_own_fault(error: Exception) -> bool:
    """Returns whether an exception is an error of ours at one host; other WeboidErrors end a round on purpose."""
    return isinstance(error, ValuesRefused | StoreRefuses) or not isinstance(error, WeboidError)


def log_failure(host: HostKey, url: str, error: Exception) -> None:
    log.error("an error of our own at %r: its host is checked another day", url, exc_info=error)


def kind_of(error: BaseException) -> str:
    """Returns what errors of the same kind share: the type, and the innermost line of ours at which it came."""
    place = "nowhere"
    for frame, line in walk_tb(error.__traceback__):
        module = str(frame.f_globals.get("__name__", ""))
        if module.startswith(_OWN):
            place = f"{module}:{line} ({frame.f_code.co_name})"
    return f"{type(error).__qualname__} in {place}"


class OwnFaults:
    """The errors of one crawler. `count` is called at each; `today` as in ``crawl/worker_day``."""

    def __init__(self, alarms: Alarms, today: Callable[[], int], count: Callable[[], None]) -> None:
        self.total = 0
        self._alarms = alarms
        self._today = today
        self._count = count
        self._day: int | None = None
        self._hosts: dict[str, set[HostKey]] = {}
        """The hosts at which each kind of error came."""

    def met(self, host: HostKey, url: str, error: Exception) -> None:
        log_failure(host, url, error)
        self.total += 1
        self._count()
        hosts = self._hosts.setdefault(kind_of(error), set())
        if len(hosts) < _HOSTS:
            hosts.add(host)

    async def look(self, *, is_whole_day: bool) -> None:
        """Raises the alarm after a round, or lowers it when a day is over in which no error came at many hosts.

        `is_whole_day`: the round has visited all that was due on its day. If the store is away, the next look does it.
        """
        today = self._today()
        is_over = self._day is not None and self._day != today
        many = [(len(hosts), kind) for kind, hosts in self._hosts.items() if len(hosts) >= ALARMING]
        try:
            if many:
                await self._alarms.raise_alarm(AlarmKind.OWN_FAULT, today, _detail(*max(many)))
            elif is_over or is_whole_day:
                await self._alarms.lower_alarm(AlarmKind.OWN_FAULT)
        except StoreAway as error:
            log.debug("the alarm of errors of our own is not up to date: %s", error)
            return
        except ValuesRefused as error:
            # A server of an older version has no such alarm.
            log.debug("the server does not know the alarm of errors of our own: %s", error)
        self._day = today
        if is_over or is_whole_day:
            self._hosts.clear()


def _detail(hosts: int, kind: str) -> str:
    many = f"{hosts} hosts or more" if hosts == _HOSTS else f"{hosts} hosts"
    return (
        f"the same error of this program at {many} within a day: {kind}. Nothing was concluded there, and their links "
        "are checked again the day after; the log of the crawler has each URL with the trace. Please report it"
    )
