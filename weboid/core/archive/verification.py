"""Judges what a copy shows when it is played raw: the document that was cited, or a wall, a notice, a stranger (A-1).

What speaks against it is found by the detectors that judge living pages (C-11); an archive's own notices are told
before, by ``core/archive/replay``.
One law: any bytes are judged, none is run or shown.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from weboid.core.archive.captures import Capture, ServiceReply
from weboid.core.archive.choice import Wish
from weboid.core.observe.observation import RawResponse

READ_BYTES: Final = 65_536
"""Bytes of a copy that are read."""


def verified(
    capture: Capture, reply: ServiceReply, wish: Wish, *, status: int | None, taken: datetime | None
) -> str | None:
    """Why a capture does not show what was cited, as a stable word; None if it is good.

    `reply` is what the archive sent for it, raw; `status` and `taken` are the code and the moment of the copy as the
    archive states them (``Replayed`` has them).
    """
    raise NotImplementedError


def stored_response(reply: ServiceReply, url: str, status: int) -> RawResponse:
    """The answer of the original server as it is in the copy: `url` is the archived one, `status` its code."""
    raise NotImplementedError


def stored_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers of the original server among those of a replay: what archives prefix, and the type of the body."""
    raise NotImplementedError
