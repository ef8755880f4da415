"""Keeps what must wait in a file without a name, so that memory does not grow with the site."""

import marshal
import os
from tempfile import TemporaryFile
from typing import Any, Final

_LENGTH: Final = 4
_MOST_UNWRITTEN: Final = 262_144
_READ: Final = 1_024
"""Bytes that are read at once: most records have fewer."""


class Spill:
    """Tuples of plain values, each by the number at which it was put."""

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115 - `close` closes it
        self._written = 0
        self._tail = bytearray()

    def close(self) -> None:
        """Gives the room back."""
        self._file.close()

    def put(self, record: tuple[Any, ...]) -> int:
        """Keeps a tuple; returns its number."""
        data = marshal.dumps(record)
        number = self._written + len(self._tail)
        self._tail += len(data).to_bytes(_LENGTH, "little") + data
        if len(self._tail) >= _MOST_UNWRITTEN:
            self._file.write(self._tail)
            self._file.flush()
            self._written += len(self._tail)
            self._tail.clear()
        return number

    def get(self, number: int) -> tuple[Any, ...]:
        """The tuple of a number."""
        data = self._read(number, _READ)
        end = _LENGTH + int.from_bytes(data[:_LENGTH], "little")
        if end > len(data):
            data = self._read(number, end)
        record: tuple[Any, ...] = marshal.loads(data[_LENGTH:end])
        return record

    def _read(self, at: int, size: int) -> bytes:
        if at >= self._written:
            return bytes(self._tail[at - self._written : at - self._written + size])
        return os.pread(self._file.fileno(), size, at)
