"""One HTTP request and its reply, the moment at which it is sent, and the protocol of an engine (``net/engine``).

``net/fetch`` handles redirects, second attempts and the meaning of replies.
An engine raises what its transport raises; only ``net/faults`` interprets that.
"""

from collections.abc import Callable, Mapping
from typing import Protocol

from msgspec import Struct

from weboid.core.document.reading import MarkupReader

MostBytes = Callable[[Mapping[str, str]], int]
"""Bytes of a body, decompressed, that are wanted at most: decided by the headers of the reply."""


class Sending(Protocol):
    """A request whose turn it is, for the scheduler that gave it the turn (C-17).

    Between the turn and the sending lie a queue, a look-up, a connection and a handshake, so that two requests that may
    be sent a second apart may be sent at the same time.
    """

    @property
    def is_sent(self) -> bool:
        """True once `sent` was called."""
        ...

    def sent(self) -> None:
        """Notes that the request is being sent now; called again if it is sent again."""
        ...

    def end(self) -> None:
        """Notes that nothing will be sent."""
        ...


class Request(Struct, frozen=True):
    """One request. `url` is absolute and ASCII, as it is sent; `headers` are all headers but Host."""

    method: str
    url: str
    headers: Mapping[str, str]
    trusting: bool = False
    """Any certificate is accepted, to see the answer behind a bad one (C-9)."""
    sent: Callable[[], None] | None = None
    """Called by the engine whenever the request is being sent: once, and again if it has to be sent again (C-17)."""
    most_bytes: MostBytes | None = None
    """How much of the body is wanted, none of it shortened; None = its beginning, as configured."""


class Reply(Struct, frozen=True):
    """One reply, bounded: lower-case header names with the first value of each, the body's beginning decompressed.

    Of HTML without much text in its beginning, what follows in `body` is shortened (``core/document/skim``). `reading`
    is what was read of it while it arrived, None if that was not needed. `location` and `cookies` are as sent; bytes
    that are not UTF-8 are surrogates in them.
    """

    code: int
    headers: Mapping[str, str]
    location: str | None = None
    cookies: tuple[str, ...] = ()
    body: bytes = b""
    reading: MarkupReader | None = None


class Engine(Protocol):
    """Sends single requests; never follows redirects, and keeps no cookies."""

    async def send(self, request: Request, timeout_s: float) -> Reply:
        """The reply to a request; raises exceptions that `faults.fault_of` can interpret."""
        ...
