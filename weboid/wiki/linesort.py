"""Sorting more lines than memory holds: sorted runs go to one temporary file and are merged block by block.

One law: memory depends on the budget, never on the number of lines.
"""

import tempfile
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self, cast

from weboid.errors import SourceError

_BLOCK_LINES: Final = 20_000
_MERGE_BYTES: Final = 8 << 20
_LEAST_BLOCK_BYTES: Final = 1 << 16


class LineSorter:
    """Takes lines (without line feeds or lone surrogates) and gives them back sorted by code point.

    ``memory_chars`` bounds the text held before it is spilled into ``folder`` (None: the system's). A context manager.
    """

    def __init__(self, memory_chars: int, folder: Path | None = None) -> None:
        self._memory_chars = memory_chars
        self._folder = folder
        self._lines: list[str] = []
        self._chars = 0
        self._file: IO[bytes] | None = None
        self._ends = [0]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file:
            self._file.close()
        self._lines.clear()

    def add(self, lines: list[str]) -> None:
        """Take more lines; raises SourceError when the temporary file cannot grow."""
        self._lines += lines
        self._chars += sum(map(len, lines))
        if self._chars > self._memory_chars:
            self._spill()

    def blocks(self) -> Iterator[list[str]]:
        """All lines in order, in blocks of some thousands; to be called once, after the last ``add``."""
        if self._file:
            self._spill()
            yield from self._merged(self._file)
            return
        self._lines.sort()
        yield from self._held()

    def _spill(self) -> None:
        if not self._lines:
            return
        self._lines.sort()
        try:
            if not self._file:
                self._file = cast(IO[bytes], tempfile.TemporaryFile(dir=self._folder))  # noqa: SIM115 (closed on exit)
            for block in self._held():
                self._file.write("\n".join((*block, "")).encode())
            self._file.flush()
            self._ends.append(self._file.tell())
        except OSError as error:
            raise SourceError(
                f"cannot write a temporary file in {self._folder or tempfile.gettempdir()}: {error.strerror}; "
                "sorting takes about as much room as the unpacked dump"
            ) from error
        self._lines, self._chars = [], 0

    def _held(self) -> Iterator[list[str]]:
        for start in range(0, len(self._lines), _BLOCK_LINES):
            yield self._lines[start : start + _BLOCK_LINES]

    def _merged(self, file: IO[bytes]) -> Iterator[list[str]]:
        """Of every run a block is held; what is not beyond the end of any of them is complete and can be sorted out."""
        size = max(_LEAST_BLOCK_BYTES, _MERGE_BYTES // len(self._ends))
        runs = [_Run(file, start, end, size) for start, end in zip(self._ends, self._ends[1:], strict=False)]
        while runs:
            last = min((run.lines[-1] for run in runs if run.goes_on), default=None)
            block: list[str] = []
            for run in runs:
                block += run.lines_until(last)
            block.sort()  # of sorted pieces: a merge, and a fast one
            yield block
            runs = [run for run in runs if run.lines]


class _Run:
    """A sorted stretch of the file, read a block at a time; ``lines`` is only empty at its end."""

    def __init__(self, file: IO[bytes], start: int, end: int, block_bytes: int) -> None:
        self._file = file
        self._at, self._end = start, end
        self._block_bytes = block_bytes
        self.lines: list[str] = []
        self._fill()

    @property
    def goes_on(self) -> bool:
        return self._at < self._end

    def lines_until(self, last: str | None) -> list[str]:
        """Take what does not come after ``last``; None stands for everything."""
        if last is not None and self.lines[0] > last:
            return []
        count = len(self.lines) if last is None else bisect_right(self.lines, last)
        taken, self.lines = self.lines[:count], self.lines[count:]
        if not self.lines and self.goes_on:
            self._fill()
        return taken

    def _fill(self) -> None:
        size = self._block_bytes
        while True:
            self._file.seek(self._at)
            data = self._file.read(min(size, self._end - self._at))
            if (cut := data.rfind(b"\n")) >= 0:
                break
            size *= 2  # one line is longer than the block
        self.lines = data[:cut].decode().split("\n")
        self._at += cut + 1
