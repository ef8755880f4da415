"""For tests that kill a program in the middle: a real process whose connection to the database ends with kill -9.

One law: what runs to its end before the statement that kills it returns True; nothing else ends it by itself.
"""

import asyncio
import inspect
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

_REPOSITORY = Path(__file__).resolve().parents[2]
_PROGRAM = """
import asyncio, importlib.util, os, signal, sys
from psycopg import AsyncConnection

path, name, dsn, last = sys.argv[1:]
spec = importlib.util.spec_from_file_location("killed", path)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
execute, left = AsyncConnection.execute, int(last)

async def counted(self, *args, **kwargs):
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
    return await execute(self, *args, **kwargs)

AsyncConnection.execute = counted
asyncio.run(getattr(module, name)(dsn))
"""


async def is_done_before(work: Callable[[str], Awaitable[None]], dsn: str, statement: int) -> bool:
    """Runs a function of a test module in a process that is killed at its n-th statement; whether it ended before."""
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(_REPOSITORY / "tests"), str(_REPOSITORY)])}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-c", _PROGRAM, inspect.getfile(work), work.__name__, dsn, str(statement)),
        env=environ,
        cwd=_REPOSITORY,
    )
    try:
        status = await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
    assert status in (0, -signal.SIGKILL), f"it ended with {status}"
    return status == 0
