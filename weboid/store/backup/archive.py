"""A backup's archive as the text that pg_restore makes of it, entry by entry, without a database.

The entries are statements, and rows between COPY and ``\\.``. The archive is fed through a pipe, so that pg_restore
reads it in the order in which it was written, and nothing behind it. The settings at the beginning of the text are
never run: those of newer programs are unknown to older servers.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import IO, Final, NamedTuple

from weboid.errors import StoreError
from weboid.store.backup.client_programs import ClientProgram, RunningProgram, running

_BLOCK: Final = 1 << 20
_HEADER: Final = re.compile(rb"-- (?:Data for )?Name: (.*?); Type: (.*?); Schema: (.*)")
_NO_KIND: Final = "?"
"""The kind of an entry whose names would do for another head: none of ours has such names."""
_COPY: Final = re.compile(rb"COPY .+ FROM stdin;\n")
_END: Final = b"\n\\.\n"
_SKIPPED: Final = re.compile(rb"\s*$|--|\\(?:un)?restrict |ALTER TABLE .+ ALTER COLUMN .+ SET \(pg_attver=\d+\);$")
"""Lines for psql alone, and notes of a server since 15.20 on its columns, which an older pg_dump takes for options."""


class ScriptEntry(NamedTuple):
    """An entry of the archive: the name and `kind` (`TABLE`, `INDEX` …) of its object, and its SQL.

    `has_rows`: the rows of a table follow.
    """

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
        name = kind = quote = ""
        statements: list[bytes] = []
        while line := await self._line():
            if quote:  # Within a text or a name nothing is a head.
                statements.append(line)
            elif header := _HEADER.match(line):
                if name and statements:
                    yield ScriptEntry(name, kind, b"".join(statements), has_rows=False)
                name, kind, statements = header[1].decode(), header[2].decode(), []
                if b"; Type: " in header[3]:
                    kind = _NO_KIND
                continue
            elif name and _COPY.fullmatch(line):
                yield ScriptEntry(name, kind, line, has_rows=True)
                statements = []
            elif not _SKIPPED.match(line):
                statements.append(line)
            else:
                continue
            quote = _quote_after(line, quote)
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


def _quote_after(line: bytes, quote: str) -> str:
    """The quotation mark that is open at the end of a line of a statement, by that at its beginning; "" = none.

    A doubled one closes and opens again.
    """
    for mark in re.findall(r"['\"]", line.decode("latin-1")):
        quote = "" if quote == mark else quote or mark
    return quote


@asynccontextmanager
async def archive_script(
    program: ClientProgram, file: IO[bytes], size: int, show: Callable[[int], None]
) -> AsyncIterator[Script]:
    """The text of the archive in the next `size` bytes of a file; `show` gets the number that is read.

    Raises StoreError if pg_restore cannot read it.
    """
    options = ("--file=-", "--no-owner", "--no-privileges")
    async with running(program, *options, fed=True) as restoring:
        feeding = asyncio.create_task(_feed(restoring, file, size, show))

        async def read() -> bytes:
            if not (block := await restoring.read()):
                await restoring.require_end("pg_restore")
            return block

        try:
            yield Script(read)
        finally:
            feeding.cancel()
            await asyncio.gather(feeding, return_exceptions=True)


async def _feed(restoring: RunningProgram, file: IO[bytes], size: int, show: Callable[[int], None]) -> None:
    done = 0
    with suppress(BrokenPipeError):  # It has ended: by its status one sees whether it had enough.
        while done < size and (block := await asyncio.to_thread(file.read, min(_BLOCK, size - done))):
            await restoring.write(block)
            done += len(block)
            show(done)
    restoring.end_input()
