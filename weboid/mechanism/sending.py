"""The moment of sending a request, reported by the code that sends it to the code that says when it may be sent.

Between both lie a queue, a look-up, a connection and a handshake, so that two requests that may be sent a second apart
may be sent at the same time. At most one request claims a sending, which ends, whether it was sent or not.
"""

from contextvars import ContextVar
from typing import Self


class Sending:
    """The reports on one request; nobody listens to this one."""

    __slots__ = ()

    def begin(self) -> None:
        """The request is under way: it will be sent, or end."""

    def sent(self) -> None:
        """The request is being sent, now; called again if it is sent again."""

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
