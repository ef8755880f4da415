"""Watches sockets in one epoll set of our own, of which the event loop sees one file.

The loop would take six system calls and four objects for a socket that connects, answers and is closed; here it is two
calls. Where there is no epoll, the loop itself watches.
"""

import asyncio
import select
import sys
from collections.abc import Callable
from typing import Final

from weboid.net.deadlines import Deadlines

READ: Final = 1
WRITE: Final = 4
"""As in epoll(7)."""
_AT_ONCE: Final = 512
"""Sockets that are looked at before the loop has its turn again."""

Call = Callable[[], None]


class Watch:
    """Calls back, again and again, while a socket can be read from or written to; the callback finds out which."""

    def __init__(self) -> None:
        self.loop = self._loop = asyncio.get_running_loop()
        self.deadlines = Deadlines()
        """Those of what is done with the sockets."""

    def set(self, fd: int, events: int, call: Call) -> None:
        """Watches a socket for READ, WRITE or both, instead of what it was watched for."""
        self._loop.remove_reader(fd)
        self._loop.remove_writer(fd)
        if events & READ:
            self._loop.add_reader(fd, call)
        if events & WRITE:
            self._loop.add_writer(fd, call)

    def forget(self, fd: int) -> None:
        """Watches a socket no more; to be called before it is closed."""
        self._loop.remove_reader(fd)
        self._loop.remove_writer(fd)

    def close(self) -> None:
        """Calls nobody any more."""
        self.deadlines.close()


if sys.platform == "linux":

    class EpollWatch(Watch):
        def __init__(self) -> None:
            super().__init__()
            self._epoll = select.epoll()
            self._calls: dict[int, Call] = {}
            self._loop.add_reader(self._epoll.fileno(), self._look)

        def set(self, fd: int, events: int, call: Call) -> None:
            if fd in self._calls:
                self._epoll.modify(fd, events)
            else:
                self._epoll.register(fd, events)
            self._calls[fd] = call

        def forget(self, fd: int) -> None:
            if self._calls.pop(fd, None) is not None:
                self._epoll.unregister(fd)

        def close(self) -> None:
            super().close()
            if not self._epoll.closed:
                self._loop.remove_reader(self._epoll.fileno())
                self._epoll.close()
                self._calls.clear()

        def _look(self) -> None:
            calls = self._calls
            ready = [(fd, calls.get(fd)) for fd, _ in self._epoll.poll(0, _AT_ONCE)]
            for fd, call in ready:
                # What was called before may have closed this one and opened another with the same number.
                if call is not None and calls.get(fd) is call:
                    try:
                        call()
                    except Exception as error:
                        self._loop.call_exception_handler({"message": f"socket {fd}", "exception": error})


def open_watch() -> Watch:
    """A watch of the running loop, by what this system has."""
    return EpollWatch() if sys.platform == "linux" else Watch()
