"""Requests that have arrived and have not been parsed: ranges of addresses take turns, few requests in each turn of the
loop, and a range of which too many wait is refused at once (O-8).

To parse and refuse a request takes 0.1 ms, and hundreds arrive in one turn when a crowd comes: it must hold up nobody
of another range.
"""

import asyncio
import re
from collections import deque
from collections.abc import Callable
from typing import Final

from aiohttp import web

from weboid.config import Network
from weboid.web.http.callers import range_at

_READ: Final = 4
"""Requests that are read in a turn of the loop. With 16, readers of other ranges wait three times as long next to a
thousand clients."""
_REFUSED: Final = 10
_PAUSE_S: Final = 0.002
"""So many are refused together, and so long nobody after it: some ask again at once."""
_MOST: Final = 200
"""Of one range, that have not been read: as many as may wait for pages."""
_FORWARDED: Final = re.compile(rb"\nX-Forwarded-For:([^\r\n]*)", re.IGNORECASE)
_Step = Callable[[], None]


class Arrivals:
    """The order of what has arrived at the connections of one process.

    `proxies` are believed from where they have got a request. `refused` is called for each request that is refused.
    """

    def __init__(self, proxies: tuple[Network, ...] = (), refused: _Step = lambda: None) -> None:
        self.note_refused: Final = refused
        self._proxies = proxies
        self._queues: dict[bytes, deque[_Step]] = {}
        """By range, in the order of their turns."""
        self._refused = deque[_Step]()
        self._left = _READ
        self._is_due = False

    def add(self, data: bytes, peer: str, read: _Step, refuse: _Step) -> None:
        """Calls `read`, or `refuse`, in this or a later turn of the loop; `data` are the headers, or some of them."""
        if not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_soon(self._go_on)
        if self._left > 0 and not self._queues:
            self._left -= 1
            return read()
        sent = _FORWARDED.findall(data.partition(b"\r\n\r\n")[0]) if self._proxies else ()
        key, is_hidden = range_at(peer, tuple(each.decode("latin-1") for each in sent), self._proxies)
        queue = self._queues.setdefault(key, deque())
        # A hidden range may be all of the world's.
        if is_hidden or len(queue) < _MOST:
            return queue.append(read)
        if not self._refused:
            asyncio.get_running_loop().call_later(_PAUSE_S, self._refuse_some)
        return self._refused.append(refuse)

    def _go_on(self) -> None:
        self._left = _READ
        try:
            while self._queues and self._left:
                self._left -= 1
                key = next(iter(self._queues))
                queue = self._queues.pop(key)
                read = queue.popleft()
                if queue:
                    self._queues[key] = queue
                read()
        finally:
            self._is_due = bool(self._queues) or self._left < _READ
            if self._is_due:
                asyncio.get_running_loop().call_soon(self._go_on)

    def _refuse_some(self) -> None:
        loop = asyncio.get_running_loop()
        for _ in range(min(len(self._refused), _REFUSED)):
            loop.call_soon(self._refused.popleft())
        if self._refused:
            loop.call_later(_PAUSE_S, self._refuse_some)


ARRIVALS = web.AppKey("arrivals", Arrivals)
"""The arrivals of an application."""
