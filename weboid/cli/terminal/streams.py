"""Standard input, output and errors of this process, also where they are closed, full, or read by nobody any more.

No work depends on messages: lines that cannot be written are lost. Results are the purpose of a command: where they
cannot be written it ends.
"""

import io
import os
import sys
from typing import TYPE_CHECKING, TextIO

from weboid.errors import OutputClosedError, WeboidError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class _Errors(io.FileIO):
    """Standard errors: what cannot be written (the reader has gone, the disk is full) is lost (D-430)."""

    def write(self, data: "ReadableBuffer", /) -> int:
        try:
            written = super().write(data)
        except OSError:
            written = None
        return memoryview(data).nbytes if written is None else written


class _Output(io.FileIO):
    """Standard output: raises OutputClosedError, or WeboidError, once; then it is /dev/null."""

    def write(self, data: "ReadableBuffer", /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            # What is still in its buffer would fail again at the end of the program.
            os.dup2(os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC), self.fileno())
            if isinstance(error, BrokenPipeError):
                raise OutputClosedError from None
            raise WeboidError(f"standard output cannot be written: {error.strerror}") from None


def open_streams() -> None:
    """Puts streams of this module in the place of Python's own, which have none for a closed file.

    Standard input that is closed stays without one, so that who reads it can say so.
    """
    # libuv ends a process that has other files in the places of closed ones.
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
    if sys.stdout is sys.__stdout__:  # else a test's
        sys.stdout = _text(_Output(1, "w", closefd=False), sys.stdout, "strict", is_lined=os.isatty(1))
    if sys.stderr is sys.__stderr__:
        sys.stderr = _text(_Errors(2, "w", closefd=False), sys.stderr, "backslashreplace", is_lined=True)


def _text(raw: io.FileIO, before: TextIO | None, errors: str, *, is_lined: bool) -> TextIO:
    encoding = before.encoding if before else "utf-8"
    errors = (before and before.errors) or errors
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding=encoding, errors=errors, line_buffering=is_lined)
