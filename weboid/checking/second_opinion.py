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
from time import monotonic
from typing import Final, Protocol, cast

from weboid.core.record.reasons import Outcome

log = logging.getLogger(__name__)

ANSWER_S: Final = 180.0
"""A check may take its time; so may getting through to the other place."""
REST_S: Final = 600.0
"""Whoever said nothing of use so often in a row is not asked for so long: rounds must not wait for what is broken."""
_SILENT: Final = 8
_AT_ONCE: Final = 4
_OUTPUT_BYTES: Final = 65_536
_END_S: Final = 10.0
"""For a process that was killed to be gone."""


class SecondOpinion(Protocol):
    """A place from which URLs can be asked."""

    async def outcome(self, url: str) -> Outcome | None:
        """What one check of a URL in normal form yields there, None if that cannot be said."""
        ...


class CommandOpinion:
    """A command, such as ``ssh other weboid check --json -``, run once a URL, a few at a time."""

    def __init__(self, command: Sequence[str], *, answer_s: float = ANSWER_S) -> None:
        self._command = list(command)
        self._answer_s = answer_s
        self._seats = asyncio.Semaphore(_AT_ONCE)
        self._silent = 0
        self._rest_end = float("-inf")

    async def outcome(self, url: str) -> Outcome | None:
        """What the command says of a URL; None, with a warning, if it says nothing of use in time."""
        async with self._seats:
            if monotonic() < self._rest_end:
                return None
            try:
                outcome = _outcome(url, await self._run(url))
            except (OSError, ValueError, TimeoutError) as error:
                self._note_silence(url, error)
                return None
            self._silent = 0
            return outcome

    def _note_silence(self, url: str, error: Exception) -> None:
        self._silent += 1
        log.warning("the second vantage point says nothing of %r: %r", url, error)
        if self._silent >= _SILENT:
            self._rest_end = monotonic() + REST_S
            log.warning("the second vantage point said nothing %d times and is not asked for a while", self._silent)

    async def _run(self, url: str) -> bytes:
        """What the command writes; raises OSError, TimeoutError, or ValueError if it is too much or it failed."""
        if not url.isprintable():
            raise ValueError("this is no URL in normal form")
        transport, talk = await asyncio.get_running_loop().subprocess_exec(
            _Talk,
            *self._command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(self._answer_s):
                stdin = cast(asyncio.WriteTransport, transport.get_pipe_transport(0))
                stdin.write(url.encode() + b"\n")
                stdin.close()
                await talk.said.wait()
                if len(talk.output) > _OUTPUT_BYTES:
                    raise ValueError("it says more than a check can")
                await talk.exited.wait()
            if status := transport.get_returncode():
                raise ValueError(f"it ended with status {status}")
            return bytes(talk.output)
        finally:
            await _end(transport, talk)


class _Talk(asyncio.SubprocessProtocol):
    """What comes from a process, up to a bound: all is `said` at the end of the output, or at the bound."""

    def __init__(self) -> None:
        self.output = bytearray()
        self.is_closed = False
        self.said = asyncio.Event()
        self.exited = asyncio.Event()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Keeps what may belong to an answer."""
        if not self.said.is_set():
            self.output += data
            if len(self.output) > _OUTPUT_BYTES:
                self.said.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """The end of the output; that of the input is nobody's business."""
        if fd == 1:
            self.is_closed = True
            self.said.set()

    def process_exited(self) -> None:
        """What it has started may live on, with the output in its hands."""
        self.exited.set()


async def _end(transport: asyncio.SubprocessTransport, talk: _Talk) -> None:
    """Ends a process that has not ended by itself, and all that it has started in its group."""
    try:
        if not (talk.is_closed and talk.exited.is_set()):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(transport.get_pid(), signal.SIGKILL)
            with suppress(TimeoutError):
                async with asyncio.timeout(_END_S):
                    await talk.exited.wait()
    finally:
        transport.close()


def _outcome(url: str, output: bytes) -> Outcome | None:
    """The outcome in the one line of an answer; raises ValueError if it is none for this URL."""
    try:
        line = json.loads(output)
    except RecursionError:
        raise ValueError("it speaks in riddles") from None
    if not isinstance(line, dict) or line.get("normal") != url:
        raise ValueError("it speaks of something else")
    told = line.get("outcome")
    return None if told is None else Outcome(told)
