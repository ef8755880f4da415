"""The guard of a server: a process that stops it when all programs that used it were killed.

It is started in a session of its own so that signals to the group do not reach it, and sleeps until its standard input
ends. It stops a server only if no program has a share in it.
"""

import asyncio
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

from weboid.pgfolder.application import Application
from weboid.pgfolder.errors import FolderError
from weboid.pgfolder.folder import Folder
from weboid.pgfolder.server import stop_server

_POLL_S: Final = 0.5
_SETTLED_S: Final = 3.0
"""Seconds without a server: the program may have been killed while it started one, which pg_ctl then does alone."""
_LAST_S: Final = 300.0
"""Seconds after the end of standard input in which the killed program's children have ended, too, also where memory is
short; a user of the server after that is another program (D-338)."""


@asynccontextmanager
async def open_guard(folder: Folder) -> AsyncIterator[None]:
    """Runs a guard for the server of a data folder until the end of the block, or of this process.

    The server has no user here any more then. Raises FolderError if no process can be started.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", __name__, str(folder.data), folder.app.name),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        reason = error.strerror or error
        raise FolderError(f"no process can be started ({reason}): allow more files and processes (ulimit)") from None
    try:
        yield
    finally:
        # An orderly end: the last program has stopped the server, and nothing is left to guard.
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def guard(data: Path, name: str) -> None:
    """Waits for the end of standard input, then for that of all programs that use the server, and stops it."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.stdin.buffer.read()
    end = time.monotonic() + _LAST_S
    used = time.monotonic()
    while (now := time.monotonic()) < min(end, used + _SETTLED_S):
        try:
            is_stopped = stop_server(Folder.of(data, app=Application(name)))
        except FolderError:
            is_stopped = False
        if not is_stopped:
            used = now
        time.sleep(_POLL_S)


if __name__ == "__main__":
    guard(Path(sys.argv[1]), sys.argv[2])
