"""The lines of standard input, as they come, while the event loop turns.

Neither the loop nor a thread waits in a read, so that a signal to stop is obeyed while nothing comes.
"""

import asyncio
import codecs
import errno
import io
import os
import selectors
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import Final

from weboid.errors import WeboidError

LONGEST: Final = 100_000
"""The most characters of a line, with its end, that are one line; the rest of a longer one is the next."""
_BLOCK: Final = 1 << 16


async def lines_of_input() -> AsyncGenerator[str, None]:
    """The lines of standard input with their ends, in the encoding of the locale; raises WeboidError without one."""
    if sys.stdin is None:
        raise WeboidError("standard input is closed: give URLs as arguments, or `< FILE`")
    async with aclosing(read_lines(sys.stdin.fileno(), sys.stdin.encoding)) as lines:
        async for line in lines:
            yield line


async def read_lines(file: int, encoding: str) -> AsyncGenerator[str, None]:
    """The lines of a file, a pipe or a terminal as Python's text files give them, in at most `LONGEST` characters.

    Bytes that are none of the encoding are surrogates (PEP 383). Raises WeboidError if it cannot be read.
    """
    decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(encoding)("surrogateescape"), translate=True)
    rest = ""
    # A selector of our own, watched by the loop: loops may set O_NONBLOCK on what they watch (libuv does), and a
    # terminal has that in common with standard output and with the shell (D-413).
    with selectors.DefaultSelector() as selector:
        try:
            selector.register(file, selectors.EVENT_READ)
        except PermissionError:  # epoll_ctl(2): a file or /dev/null, which is never waited for
            can_wait = False
        else:
            can_wait = True
        is_end = False
        while not is_end:
            await (_readable(selector) if can_wait else asyncio.sleep(0))
            block = _read(file)
            if block is None:
                continue
            is_end = not block
            *whole, rest = _split(rest + decoder.decode(block, final=is_end))
            for line in whole:
                yield line
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


def _split(text: str) -> Iterator[str]:
    """Whole lines, and last what has no end yet, which may be empty."""
    begin = 0
    while (end := text.find("\n", begin, begin + LONGEST) + 1) or len(text) - begin >= LONGEST:
        end = end or begin + LONGEST
        yield text[begin:end]
        begin = end
    yield text[begin:]
