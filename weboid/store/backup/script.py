"""The text that pg_restore makes of an archive, entry by entry: statements, and rows between COPY and ``\\.``.

Who runs it belongs to ``store/backup/restore``. One law: the settings at its beginning are never run: those of newer
programs are unknown to older servers.
"""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final, NamedTuple

from weboid.errors import StoreError

_HEADER: Final = re.compile(rb"-- (?:Data for )?Name: (.*?); Type: (.*?); Schema: ")
_COPY: Final = re.compile(rb"COPY .+ FROM stdin;\n")
_END: Final = b"\n\\.\n"


class ScriptEntry(NamedTuple):
    """An entry of the archive: what it is about, its `kind` (`TABLE`, `INDEX` …), its SQL; `has_rows` follow then."""

    name: str
    kind: str
    sql: bytes
    has_rows: bool


class Script:
    """The text, read by `read`, which returns the next bytes, none at the end."""

    def __init__(self, read: Callable[[], Awaitable[bytes]]) -> None:
        self._read = read
        self._buffer = b""

    async def entries(self) -> AsyncIterator[ScriptEntry]:
        """The entries in order; the rows of one that has some must be read before the next one is requested."""
        name = kind = ""
        statements: list[bytes] = []
        while line := await self._line():
            if header := _HEADER.match(line):
                if name and statements:
                    yield ScriptEntry(name, kind, b"".join(statements), has_rows=False)
                name, kind, statements = header[1].decode(), header[2].decode(), []
            elif name and _COPY.fullmatch(line):
                yield ScriptEntry(name, kind, line, has_rows=True)
                statements = []
            # Lines for psql alone.
            elif line.strip() and not line.startswith((b"--", b"\\restrict ", b"\\unrestrict ")):
                statements.append(line)
        if name and statements:
            yield ScriptEntry(name, kind, b"".join(statements), has_rows=False)

    async def rows(self) -> AsyncIterator[bytes]:
        """The rows of the entry just returned, many at a time, as COPY takes them; raises StoreError at a torn end."""
        # In rows a backslash is doubled, so that no row is the end.
        self._buffer, skipped = b"\n" + self._buffer, 1
        while (end := self._buffer.find(_END)) < 0:
            if (ready := len(self._buffer) - len(_END)) > 0:
                if rows := self._buffer[skipped:ready]:
                    yield rows
                self._buffer, skipped = self._buffer[ready:], 0
            if not (more := await self._read()):
                raise StoreError("the backup ends in the middle of a table: take another one")
            self._buffer += more
        if rows := self._buffer[skipped : end + 1]:
            yield rows
        self._buffer = self._buffer[end + len(_END) :]

    async def _line(self) -> bytes:
        while (end := self._buffer.find(b"\n")) < 0:
            if not (more := await self._read()):
                line, self._buffer = self._buffer, b""
                return line
            self._buffer += more
        line, self._buffer = self._buffer[: end + 1], self._buffer[end + 1 :]
        return line
