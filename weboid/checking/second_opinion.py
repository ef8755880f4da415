"""Second opinions: the outcome of a check from another vantage point, made by a command (C-14).

The command reads a URL on its standard input, never in its command line, and writes the same output as ``weboid check
--json -``; without a usable answer nothing changes. ``crawl/second_looks`` asks crawlers of another place.
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
"""Seconds for an answer: a check may take long, and so may the connection to the other place."""
REST_S: Final = 600.0
"""After `_SILENT` unusable answers in a row the command is not run for so long: rounds must not wait for it."""
_SILENT: Final = 8
_AT_ONCE: Final = 4
_OUTPUT_BYTES: Final = 65_536
_END_S: Final = 10.0
"""Seconds to wait for a killed process to end."""


class SecondOpinion(Protocol):
    """A place from which URLs can be checked."""

    async def outcome(self, url: str) -> Outcome | None:
        """The outcome of one check of a URL in normal form there, None if unknown."""
        ...


class Silences:
    """Unusable answers of one vantage point: each is a warning; after some in a row it is left alone for a while."""

    def __init__(self) -> None:
        self._in_row = 0
        self._rest_end = float("-inf")

    @property
    def is_resting(self) -> bool:
        """Returns whether the vantage point is not to be asked now."""
        return monotonic() < self._rest_end

    def met(self, url: str, error: Exception) -> None:
        """There was no usable answer."""
        self._in_row += 1
        log.warning("the second vantage point gives no usable answer for %r: %r", url, error)
        if self._in_row >= _SILENT:
            self._rest_end = monotonic() + REST_S
            log.warning("the second vantage point gave no usable answer %d times: paused", self._in_row)

    def passed(self) -> None:
        self._in_row = 0


class CommandOpinion:
    """A command, such as ``ssh other weboid check --json -``, run once per URL, a few at a time."""

    def __init__(self, command: Sequence[str], *, answer_s: float = ANSWER_S) -> None:
        self._command = list(command)
        self._answer_s = answer_s
        self._seats = asyncio.Semaphore(_AT_ONCE)
        self._silences = Silences()

    async def outcome(self, url: str) -> Outcome | None:
        """The outcome reported by the command; None, with a warning, if it gives no usable answer in time."""
        async with self._seats:
            if self._silences.is_resting:
                return None
            try:
                outcome = _outcome(url, await self._run(url))
            except (OSError, ValueError, TimeoutError) as error:
                self._silences.met(url, error)
                return None
            self._silences.passed()
            return outcome

    async def _run(self, url: str) -> bytes:
        """The command's output; raises OSError, TimeoutError, or ValueError if it is too long or the command failed."""
        if not url.isprintable():
            raise ValueError("this is not a URL in normal form")
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
                    raise ValueError("its output is longer than that of a check")
                await talk.exited.wait()
            if status := transport.get_returncode():
                raise ValueError(f"it ended with status {status}")
            return bytes(talk.output)
        finally:
            await _end(transport, talk)


class _Talk(asyncio.SubprocessProtocol):
    """Collects the output of a process up to a bound; `said` is set at the end of the output, or at the bound."""

    def __init__(self) -> None:
        self.output = bytearray()
        self.is_closed = False
        self.said = asyncio.Event()
        self.exited = asyncio.Event()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if not self.said.is_set():
            self.output += data
            if len(self.output) > _OUTPUT_BYTES:
                self.said.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 1:
            self.is_closed = True
            self.said.set()

    def process_exited(self) -> None:
        """Notes the end of the process; its children may still hold the output open."""
        self.exited.set()


async def _end(transport: asyncio.SubprocessTransport, talk: _Talk) -> None:
    """Kills a process that has not ended by itself, and all processes of its group."""
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
    """The outcome in the one line of output; raises ValueError if it is not a valid answer for this URL."""
    try:
        line = json.loads(output)
    except RecursionError:
        raise ValueError("its output is nested too deeply") from None
    if not isinstance(line, dict) or line.get("normal") != url:
        raise ValueError("its output is not about this URL")
    outcome = line.get("outcome")
    return None if outcome is None else Outcome(outcome)
