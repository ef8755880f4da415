"""The URLs of a command: arguments, or lines of standard input as they come, while the event loop turns.

Neither the loop nor a thread waits in a read, so that a signal to stop is obeyed while nothing comes.
"""

import asyncio
import codecs
import errno
import io
import os
import selectors
import sys
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing, suppress
from functools import partial
from typing import Final

from weboid.errors import WeboidError

LONGEST: Final = 100_000
"""The most characters of a line, with its end, that are one line; the rest of a longer one is the next."""
_BLOCK: Final = 1 << 16


async def urls_of(arguments: Iterable[str]) -> AsyncGenerator[str, None]:
    """The given URLs; ``-`` means the lines of standard input, but for empty ones and marks; raises WeboidError."""
    for argument in arguments:
        if argument != "-":
            yield argument
            continue
        if sys.stdin is None:
            raise WeboidError("standard input is closed: give URLs as arguments, or `< FILE`")
        async with aclosing(read_lines(sys.stdin.fileno(), sys.stdin.encoding)) as lines:
            async for line in lines:
                if text := line.strip().removeprefix("\ufeff"):
                    yield text


async def read_lines(file: int, encoding: str) -> AsyncGenerator[str, None]:
    """The lines of a file, a pipe or a terminal as Python's text files give them, in at most `LONGEST` characters.

    Bytes that are none of the encoding are surrogates (PEP 383). Raises WeboidError if it cannot be read.
    """
    decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(encoding)("surrogateescape"), translate=True)
    rest, block = "", None
    # A selector of our own, watched by the loop: loops may set O_NONBLOCK on what they watch (libuv does), and a
    # terminal has that in common with standard output and with the shell.
    with selectors.DefaultSelector() as selector:
        with suppress(PermissionError):  # epoll_ctl(2): a file or /dev/null, which is never waited for
            selector.register(file, selectors.EVENT_READ)
        while block != b"":
            await (_readable(selector) if selector.get_map() else asyncio.sleep(0))
            if (block := _read(file)) is not None:
                text = io.StringIO(rest + decoder.decode(block, final=not block))
                rest = ""
                for line in iter(partial(text.readline, LONGEST), ""):
                    if line.endswith("\n") or len(line) == LONGEST:
                        yield line
                    else:  # the last one, whose end may come yet
                        rest = line
    if rest:
        yield rest


async def _readable(selector: selectors.BaseSelector) -> None:
    event = asyncio.Event()
    loop = asyncio.get_running_loop()
    watched = selector.fileno()  # type: ignore[attr-defined]  # those of Linux and BSD have one
    loop.add_reader(watched, event.set)
    try:
        await event.wait()
    finally:
        loop.remove_reader(watched)


def _read(file: int) -> bytes | None:
    """The bytes that are there, none at the end, None if another process has read them."""
    try:
        return os.read(file, _BLOCK)
    except BlockingIOError:
        return None
    except OSError as error:
        if error.errno == errno.EIO:  # a terminal that was closed
            return b""
        raise WeboidError(f"standard input cannot be read: {error.strerror}") from None
