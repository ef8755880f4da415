"""One request and its reply: what an engine must do. The engine itself stands in `engine`.

Redirects, second attempts and what a reply means are `fetch`'s business.
One law: an engine raises what its transport raises, and only `faults` knows what that means.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Request:
    """What goes out. `url` is absolute ASCII as it stands on the wire, `headers` are all but Host."""

    method: str
    url: str
    headers: Mapping[str, str]
    trusting: bool = False
    """Any certificate will do: what stands behind a bad one is wanted (C-9)."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What came in, bounded: lower-case header names with the first value each, the body's beginning decompressed.

    `location` and `cookies` are as sent; bytes that are no UTF-8 stand in them as surrogates.
    """

    code: int
    headers: Mapping[str, str]
    location: str | None = None
    cookies: tuple[str, ...] = ()
    body: bytes = b""


class Engine(Protocol):
    """Sends one request at a time and place; never follows, repeats, or remembers cookies."""

    async def send(self, request: Request, timeout_s: float) -> Reply:
        """The reply to a request; raises whatever `faults.fault_of` can read."""
        ...
