"""From whoever says when a request may be sent to whoever sends it, and back: the moment of the sending.

Between both lie a queue, a look-up, a connection and a handshake, so that two requests that may be sent a second apart
may be sent at the same time.
One law: a sending is claimed by one request at the most, and it ends, whether it was sent or not.
"""

from contextvars import ContextVar
from typing import Self


class Sending:
    """What is told of one request; nobody listens to this one."""

    __slots__ = ()

    def begin(self) -> None:
        """The request is under way: it will be sent, or end."""

    def sent(self) -> None:
        """The request is being sent, now; told again if it is sent again."""

    def end(self) -> None:
        """Nothing more will be sent."""

    def __enter__(self) -> Self:
        self.begin()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()


_NOBODY = Sending()
_announced: ContextVar[Sending] = ContextVar("announced", default=_NOBODY)


def announce(sending: Sending) -> None:
    """Offers a sending to the next request of the current task."""
    _announced.set(sending)


def claimed() -> Sending:
    """The sending that was announced in this task; ``with`` this, from its beginning to its end."""
    if (sending := _announced.get()) is not _NOBODY:
        _announced.set(_NOBODY)
    return sending
