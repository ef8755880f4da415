"""Queries to name servers: by c-ares on our own event loop, in bursts that a socket can hold, each with a limit.

A query has neither a task nor a timer of its own, since a crawler makes one for nearly every check.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import Final

import pycares
from pycares import AresError, DNSResult
from pycares import errno as ares

from weboid.errors import ConfigError
from weboid.mechanism.deadlines import Deadlines

LOOKUPS_A_CHANNEL: Final = 20_000
"""Queries until a channel is replaced: c-ares keeps each answer, 1.4 KB, for up to an hour and without a bound."""
TRY_S: Final = 3.0
BURST: Final = 200
"""Queries sent at a time: a socket buffer of the usual size holds some 270 answers, and loses all others."""
_BURST_S: Final = 0.1
"""A query without an answer after so many seconds no longer counts as a part of the burst."""
_TRIES: Final = 3
_TICK_S: Final = 0.5
"""Seconds between two checks of c-ares for queries that were not answered in time."""
_RECEIVE_BYTES: Final = 1 << 20

NO_SERVER: Final = frozenset(
    {
        ares.ARES_ECONNREFUSED,
        ares.ARES_ENOMEM,
        ares.ARES_EFILE,
        ares.ARES_EDESTRUCTION,
        ares.ARES_ECANCELLED,
        ares.ARES_ENOTINITIALIZED,
    }
)
"""Our own name servers or our own machine failed: nothing is known about the name (C-16)."""
UNANSWERED: Final = NO_SERVER | {ares.ARES_ETIMEOUT, ares.ARES_EBADNAME}

Found = DNSResult | int
"""The result of one query: records, or c-ares' error code."""
Answered = Callable[[Found | ValueError], None]
"""Takes the result; a ValueError for a name that cannot be asked for at all."""


class _Query:
    """One query, until its answer is handed over."""

    __slots__ = ("_answered", "_is_done", "_queries", "channel", "host", "kind", "limit_s", "slot")

    def __init__(self, queries: "Queries", host: str, kind: int, limit_s: float, answered: Answered) -> None:
        self.host = host
        self.kind = kind
        self.limit_s = limit_s
        self.channel: _Channel | None = None
        self.slot = 0
        self._queries = queries
        self._answered = answered
        self._is_done = False

    def take(self, result: DNSResult | None, code: int | None) -> None:
        """Takes what c-ares has found."""
        found = result if code is None else code
        self.end(ares.ARES_EBADRESP if found is None else found)

    def expire(self) -> None:
        self.end(ares.ARES_ETIMEOUT)

    def end(self, found: Found | ValueError) -> None:
        if not self._is_done:
            self._is_done = True
            self._queries.end(self, found)
            self._answered(found)


class Queries:
    """Asks these name servers (those of the system if there are none). Raises ConfigError for unusable ones."""

    def __init__(self, name_servers: tuple[str, ...]) -> None:
        self.sent = self.failures = 0
        """Queries answered or given up since the start, and those that no name server answered."""
        self.answered_at = float("-inf")
        """When the last answer came, by the monotonic clock."""
        self._name_servers = name_servers
        self._loop = asyncio.get_running_loop()
        self._deadlines = Deadlines()
        self._burst: dict[_Query, float] = {}
        self._waiting: deque[_Query] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._channel = self._new_channel()

    def ask(self, host: str, kind: int, limit_s: float, answered: Answered) -> None:
        """Asks for records; the result is ETIMEOUT if there is none within `limit_s` after the query is sent."""
        query = _Query(self, host, kind, limit_s, answered)
        if self._has_room():
            self._send(query)
        else:
            self._waiting.append(query)
            self._go_on()

    async def result(self, host: str, kind: int, limit_s: float) -> Found:
        """The result of a query; raises ValueError for a name that cannot be asked for."""
        answer: asyncio.Future[Found | ValueError] = self._loop.create_future()
        self.ask(host, kind, limit_s, lambda found: None if answer.done() else answer.set_result(found))
        found = await answer
        if isinstance(found, ValueError):
            raise found
        return found

    def close(self) -> None:
        """Ends all queries with ECANCELLED."""
        while self._waiting:
            self._waiting.popleft().end(ares.ARES_ECANCELLED)
        self._channel.close()
        self._deadlines.close()
        if self._timer is not None:
            self._timer.cancel()

    def end(self, query: _Query, found: Found | ValueError) -> None:
        """Takes note that a query has ended."""
        self._burst.pop(query, None)
        self._deadlines.remove(query, query.slot)
        if query.channel is not None:
            query.channel.leave()
        self.sent += 1
        if isinstance(found, int) and found in UNANSWERED:
            self.failures += 1
        elif not isinstance(found, ValueError):
            self.answered_at = monotonic()
        if self._waiting:
            self._loop.call_soon(self._go_on)

    def _has_room(self) -> bool:
        burst = self._burst
        if len(burst) >= BURST:
            oldest = next(iter(burst))
            if self._loop.time() - burst[oldest] < _BURST_S:
                return False
            del burst[oldest]
        return True

    def _send(self, query: _Query) -> None:
        if self._channel.begun >= LOOKUPS_A_CHANNEL:
            self._channel.retire()
            self._channel = self._new_channel()
        now = self._loop.time()
        query.slot = self._deadlines.add(query, now + query.limit_s)
        query.channel = self._channel
        self._burst[query] = now
        self._channel.ask(query)

    def _go_on(self) -> None:
        """Sends what waits, as far as there is room."""
        while self._waiting and self._has_room():
            self._send(self._waiting.popleft())
        if self._waiting and self._timer is None:
            self._timer = self._loop.call_later(_BURST_S, self._wake)

    def _wake(self) -> None:
        self._timer = None
        self._go_on()

    def _new_channel(self) -> "_Channel":
        try:
            return _Channel(self._name_servers)
        except AresError as wrong:
            raise ConfigError(f"The name servers {', '.join(self._name_servers)} cannot be used: {wrong}") from wrong


class _Channel:
    """One c-ares channel on the running loop: c-ares' own thread would cost as much as the look-ups."""

    def __init__(self, name_servers: tuple[str, ...]) -> None:
        self.begun = 0
        self._open = 0
        self._is_retired = self._is_closed = False
        self._loop = asyncio.get_running_loop()
        self._read: set[int] = set()
        self._written: set[int] = set()
        self._ticking: asyncio.TimerHandle | None = None
        self._ares = pycares.Channel(
            servers=name_servers or None,
            timeout=TRY_S,
            tries=_TRIES,
            socket_receive_buffer_size=_RECEIVE_BYTES,
            sock_state_cb=self._watch,
        )

    def ask(self, query: _Query) -> None:
        """Sends a query, which is ended with its answer or an error."""
        self.begun += 1
        self._open += 1
        try:
            self._ares.query(query.host, query.kind, callback=query.take)
        except AresError as wrong:
            query.end(int(wrong.args[0]))
        except ValueError as wrong:
            query.end(wrong)

    def leave(self) -> None:
        """Takes note that one of its queries has ended."""
        self._open -= 1
        if self._is_retired and not self._open:
            self.close()

    def retire(self) -> None:
        """Closes the channel once it has no open query."""
        self._is_retired = True
        if not self._open:
            self.close()

    def close(self) -> None:
        """Ends open queries with ECANCELLED. c-ares frees the channel in a thread, which must not use the loop."""
        if self._is_closed:
            return
        self._ares.cancel()
        self._is_closed = True
        for fd in self._read:
            self._loop.remove_reader(fd)
        for fd in self._written:
            self._loop.remove_writer(fd)
        if self._ticking:
            self._ticking.cancel()
        self._ares.close()

    def _watch(self, fd: int, readable: bool, writable: bool) -> None:
        if self._is_closed:
            return
        if readable and fd not in self._read:
            self._read.add(fd)
            self._loop.add_reader(fd, self._ares.process_fd, fd, pycares.ARES_SOCKET_BAD)
        elif not readable and fd in self._read:
            self._read.remove(fd)
            self._loop.remove_reader(fd)
        if writable and fd not in self._written:
            self._written.add(fd)
            self._loop.add_writer(fd, self._ares.process_fd, pycares.ARES_SOCKET_BAD, fd)
        elif not writable and fd in self._written:
            self._written.remove(fd)
            self._loop.remove_writer(fd)
        if self._ticking is None and (self._read or self._written):
            self._ticking = self._loop.call_later(_TICK_S, self._tick)

    def _tick(self) -> None:
        self._ticking = None
        self._ares.process_fd(pycares.ARES_SOCKET_BAD, pycares.ARES_SOCKET_BAD)
        if self._ticking is None and (self._read or self._written):
            self._ticking = self._loop.call_later(_TICK_S, self._tick)
