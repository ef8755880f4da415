"""From whoever says when a request may be sent to whoever sends it, and back: the moment of the sending.

Between both lie a queue, a look-up, a connection and a handshake, so that two requests that may be sent a second apart
may be sent at the same time.
One law: a sending is claimed by one request at the most, and it ends, whether it was sent or not.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Sending:
    """What is told of one request; nobody listens to this one."""

    __slots__ = ()

    def begin(self) -> None:
        """The request is under way: it will be sent, or end."""

    def sent(self) -> None:
        """The request is being sent, now; told again if it is sent again."""

    def end(self) -> None:
        """Nothing more will be sent."""


_NOBODY = Sending()
_announced: ContextVar[Sending] = ContextVar("announced", default=_NOBODY)


def announce(sending: Sending) -> None:
    """Offers a sending to the next request of the current task."""
    _announced.set(sending)


@contextmanager
def claimed() -> Iterator[Sending]:
    """The sending that was announced in this task, from its beginning to its end."""
    sending = _announced.get()
    _announced.set(_NOBODY)
    sending.begin()
    try:
        yield sending
    finally:
        sending.end()
