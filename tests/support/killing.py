"""For tests that kill a program while it works: a real process that is killed (kill -9) at a statement to the database.
And for those in which nobody learns of a commit, so that each step is done again (D-333).

One law: what runs to its end before the statement that kills it returns True; nothing else ends it by itself.
"""

import asyncio
import inspect
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

_REPOSITORY = Path(__file__).resolve().parents[2]
_PROGRAM = """
import asyncio, importlib.util, os, signal, sys
from psycopg import AsyncConnection

path, name, dsn = sys.argv[1:]
spec = importlib.util.spec_from_file_location("killed", path)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
execute = AsyncConnection.execute

async def counted(self, *args, **kwargs):
    global left
    left -= 1
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
    return await execute(self, *args, **kwargs)

AsyncConnection.execute = counted
for line in sys.stdin:
    if not (child := os.fork()):
        left = int(line)
        asyncio.run(getattr(module, name)(dsn))
        sys.exit()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""A process for each line of its input, forked off this one because to load a program takes longer than to kill it."""

_Result = TypeVar("_Result")


async def twice(step: Callable[[], Awaitable[_Result]], /) -> _Result:
    """Does a step again, as after a commit of which nobody learned."""
    await step()
    return await step()


@asynccontextmanager
async def open_killer(
    work: Callable[[str], Awaitable[None]], dsn: str
) -> AsyncIterator[Callable[[int], Awaitable[bool]]]:
    """What runs a function of a test module in a process killed at its n-th statement; whether it ended before."""
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(_REPOSITORY / "tests"), str(_REPOSITORY)])}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-c", _PROGRAM, inspect.getfile(work), work.__name__, dsn),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=environ,
        cwd=_REPOSITORY,
    )
    assert process.stdin
    assert process.stdout
    stdin, stdout = process.stdin, process.stdout

    async def is_done_before(statement: int) -> bool:
        stdin.write(b"%d\n" % statement)
        status = int(await stdout.readline())
        assert status in (0, -signal.SIGKILL), f"it ended with {status}"
        return status == 0

    try:
        yield is_done_before
        stdin.close()
        await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
