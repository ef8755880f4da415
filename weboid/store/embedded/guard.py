"""The guard of an embedded server: a process that stops it when all that used it were killed.

``weboid up`` starts it, in a session of its own so that signals to the group do not reach it. Its standard input is the
line: while that is open it sleeps. One law: it stops a server only if no program has a share in it.
"""

import asyncio
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

from weboid.errors import StoreError
from weboid.mechanism.pauses import GrowingPause
from weboid.mechanism.tasks import in_background
from weboid.store.embedded.server import stop_server

_LOOK_S: Final = 0.5
_SETTLED_S: Final = 3.0
"""Seconds without a server: the program may have been killed while it started one, which pg_ctl then does alone."""
_LAST_S: Final = 300.0
"""Seconds after the end of the line in which all parts have ended, too, also on a machine that is overloaded, as where
``weboid up`` was killed for want of memory; who uses the server then is somebody else (D-338)."""
_PAUSE_S: Final = 0.5
_PAUSE_LIMIT_S: Final = 30.0


@asynccontextmanager
async def open_guard(data: Path) -> AsyncIterator[None]:
    """A guard for the server of a data folder: at the end of the block, or of this process, the server has no user
    here any more. One that is killed is started again. Raises StoreError if no process can be started.
    """
    guards = [await _start(data)]
    try:
        async with in_background(_replace(guards, data)):
            yield
    finally:
        # In order: whoever is the last has stopped the server, and nothing is left to guard.
        with suppress(ProcessLookupError):
            guards[-1].kill()
        await guards[-1].wait()


async def _start(data: Path) -> asyncio.subprocess.Process:
    try:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", __name__, str(data)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        reason = error.strerror or error
        raise StoreError(f"no process can be started ({reason}): allow more files and processes (ulimit)") from None


async def _replace(guards: list[asyncio.subprocess.Process], data: Path) -> None:
    """Starts another guard whenever the last one has been killed, as when memory is short."""
    pause = GrowingPause(_PAUSE_S, _PAUSE_LIMIT_S)
    while True:
        await guards[-1].wait()
        await asyncio.sleep(pause.grown_s())
        with suppress(StoreError):  # It is tried again.
            guards.append(await _start(data))


def guard(data: Path) -> None:
    """Waits for the end of standard input, then for that of all programs that use the server, and stops it."""
    for kind in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(kind, signal.SIG_IGN)
    sys.stdin.buffer.read()
    end = time.monotonic() + _LAST_S
    used = time.monotonic()
    while (now := time.monotonic()) < min(end, used + _SETTLED_S):
        try:
            is_stopped = stop_server(data)
        except StoreError:
            is_stopped = False
        if not is_stopped:
            used = now
        time.sleep(_LOOK_S)


if __name__ == "__main__":
    guard(Path(sys.argv[1]))
