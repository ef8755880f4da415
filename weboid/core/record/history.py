"""The short reachability history of one URL (U-3): at most five entries, newest first, and its packed form."""

import struct
from collections.abc import Sequence
from typing import Final, NamedTuple

from weboid.core.record.status import BY_NUMBER, Status

LIMIT: Final = 5
_ENTRY: Final = struct.Struct(">BHH")


class Entry(NamedTuple):
    """All checks from day `first` to day `last`, both included, resulted in `status`."""

    status: Status
    first: int
    last: int


History = tuple[Entry, ...]


def extended(history: History, status: Status, day: int) -> History:
    """The history after one more check. A day before the newest entry's last (a clock set back) counts as that day."""
    if not history:
        return (Entry(status, day, day),)
    newest = history[0]
    day = max(day, newest.last)
    if newest.status is status:
        return (newest._replace(last=day), *history[1:])
    return (Entry(status, day, day), *history)[:LIMIT]


def packed(entries: Sequence[Entry]) -> bytes:
    """The stored form: five bytes per entry, big-endian: status, first day, last day."""
    return b"".join(_ENTRY.pack(*entry) for entry in entries)


def unpacked(data: bytes) -> History:
    """The inverse of `packed`; raises ValueError for bytes that are not a packed history."""
    if len(data) % _ENTRY.size or len(data) > LIMIT * _ENTRY.size:
        raise ValueError(f"{len(data)} bytes are no packed history")
    try:
        return tuple([tuple.__new__(Entry, (BY_NUMBER[n], first, last)) for n, first, last in _ENTRY.iter_unpack(data)])
    except KeyError as error:
        raise ValueError(f"{error} is no status") from None
