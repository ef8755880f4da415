"""A process of its own for computations that cannot be bounded otherwise, such as those over texts of strangers.

It starts with the first of them, does one after the other, and ends when it was idle for long, or with its parent. One
that takes too much processor time or memory loses its process, and nothing else: 2 MiB of wikitext can take a minute.
"""

import asyncio
import resource
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from os import nice
from typing import Final

_LENGTH: Final = 8
_FAULT: Final = b"!"
_DONE: Final = b"="


class HelperEnded(Exception):
    """The process has ended before its answer: it took too long, or too much memory."""


class HelperFault(Exception):
    """An error of our own in the process; its text is the traceback."""


class HelperProcess:
    """The process that runs `python -m MODULE`, which calls `serve`; each answer must come within `wall_s` seconds."""

    def __init__(self, module: str, *, wall_s: float = 60.0, idle_s: float = 300.0) -> None:
        self._module = module
        self._wall_s = wall_s
        self._idle_s = idle_s
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()
        self._ending: asyncio.TimerHandle | None = None

    async def answer(self, job: bytes) -> bytes:
        """The answer to a job, after those before it. Raises HelperEnded, HelperFault."""
        async with self._turn:
            if self._ending is not None:
                self._ending.cancel()
            try:
                async with asyncio.timeout(self._wall_s):
                    kind, answer = await self._exchanged(job)
            except (TimeoutError, OSError, asyncio.IncompleteReadError):
                await self._kill()
                raise HelperEnded from None
            except BaseException:
                await self._kill()
                raise
            self._ending = asyncio.get_running_loop().call_later(self._idle_s, self._retire)
        if kind == _FAULT:
            raise HelperFault(answer.decode("utf-8", "replace"))
        return answer

    async def close(self) -> None:
        """Ends the process."""
        if self._ending is not None:
            self._ending.cancel()
        await self._kill()

    async def _exchanged(self, job: bytes) -> tuple[bytes, bytes]:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", self._module),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                start_new_session=True,  # what ends the terminal's programs ends its parent, and thereby it
            )
        process = self._process
        assert process.stdin is not None, "it is a pipe"
        assert process.stdout is not None, "it is a pipe"
        process.stdin.write(len(job).to_bytes(_LENGTH, "big") + job)
        await process.stdin.drain()
        kind = await process.stdout.readexactly(1)
        length = int.from_bytes(await process.stdout.readexactly(_LENGTH), "big")
        return kind, await process.stdout.readexactly(length)

    def _retire(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.stdin is not None:
            process.stdin.close()  # at the end of its input it ends

    async def _kill(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def serve(answer: Callable[[bytes], bytes], *, cpu_s: float, memory_bytes: int) -> None:
    """Answers jobs on standard input until that ends; each may take `cpu_s` seconds of processor time.

    All of it gives way to other processes. What takes more memory ends it.
    """
    nice(5)
    resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))
    source, target = sys.stdin.buffer, sys.stdout.buffer
    while len(head := source.read(_LENGTH)) == _LENGTH:
        job = source.read(int.from_bytes(head, "big"))
        signal.setitimer(signal.ITIMER_PROF, cpu_s)  # its signal ends the process
        try:
            kind, done = _DONE, answer(job)
        except MemoryError:
            sys.exit(1)
        except Exception:
            kind, done = _FAULT, traceback.format_exc().encode("utf-8", "replace")
        signal.setitimer(signal.ITIMER_PROF, 0)
        target.write(kind + len(done).to_bytes(_LENGTH, "big") + done)
        target.flush()
