"""The second vantage point: what a URL is worth when it is asked from elsewhere (C-14).

The command is one that reads a URL on its standard input and answers as ``weboid check --json -`` does.
One law: no URL ever becomes part of a command line, and whoever cannot say anything changes nothing.
"""

import asyncio
import json
import logging
import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, Protocol

from weboid.core.reasons import Outcome

log = logging.getLogger(__name__)

ANSWER_S: Final = 240.0
"""A check may take its time; so may getting through to the other place."""
_AT_ONCE: Final = 4
_OUTPUT_BYTES: Final = 65_536


class Vantage(Protocol):
    """A place from which URLs can be asked."""

    async def outcome(self, url: str) -> Outcome | None:
        """What one check of a URL in normal form yields there, None if that cannot be said."""
        ...


class CommandVantage:
    """A command, such as ``ssh other weboid check --json -``, run once a URL."""

    def __init__(self, command: Sequence[str], *, answer_s: float = ANSWER_S) -> None:
        self._command = list(command)
        self._answer_s = answer_s
        self._seats = asyncio.Semaphore(_AT_ONCE)

    async def outcome(self, url: str) -> Outcome | None:
        """What the command says of a URL; None, with a warning, if it says nothing of use in time."""
        async with self._seats:
            try:
                output = await self._run(url)
                return _outcome(url, output)
            except (OSError, ValueError, TimeoutError) as error:
                log.warning("the second vantage point says nothing of %r: %r", url, error)
                return None

    async def _run(self, url: str) -> bytes:
        process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        assert process.stdin
        assert process.stdout
        try:
            async with asyncio.timeout(self._answer_s):
                process.stdin.write(url.encode() + b"\n")
                process.stdin.close()
                output = b""
                while piece := await process.stdout.read(_OUTPUT_BYTES):
                    output += piece
                    if len(output) > _OUTPUT_BYTES:
                        raise ValueError("it says more than a check can")
                if await process.wait():
                    raise ValueError(f"it ended with status {process.returncode}")
                return output
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()


def _outcome(url: str, output: bytes) -> Outcome | None:
    """The outcome in the one line of an answer; raises ValueError if it is none for this URL."""
    line = json.loads(output)
    if not isinstance(line, dict) or line.get("normal") != url:
        raise ValueError("it speaks of something else")
    told = line.get("outcome")
    return None if told is None else Outcome(told)
