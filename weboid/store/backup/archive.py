"""A backup's archive as the text that pg_restore makes of it, without a database.

The text is taken apart by ``store/backup/script``. One law: the archive is fed through a pipe, so that pg_restore reads
it in the order in which it was written, and nothing behind it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import IO, Final

from weboid.store.backup.client_programs import ClientProgram, RunningProgram, running
from weboid.store.backup.script import Script

_BLOCK: Final = 1 << 20


@asynccontextmanager
async def archive_script(
    program: ClientProgram, file: IO[bytes], size: int, show: Callable[[int], None]
) -> AsyncIterator[Script]:
    """The text of the archive in the next `size` bytes of a file; `show` is told how many of them are read.

    Raises StoreError if pg_restore cannot read it.
    """
    options = ("--file=-", "--no-owner", "--no-privileges")
    async with running(program, *options, fed=True) as restoring:
        feeding = asyncio.create_task(_feed(restoring, file, size, show))

        async def read() -> bytes:
            if not (block := await restoring.read()):
                await restoring.require_end("pg_restore")
            return block

        try:
            yield Script(read)
        finally:
            feeding.cancel()
            await asyncio.gather(feeding, return_exceptions=True)


async def _feed(restoring: RunningProgram, file: IO[bytes], size: int, show: Callable[[int], None]) -> None:
    done = 0
    with suppress(BrokenPipeError):  # It has ended: by its status one sees whether it had enough.
        while done < size and (block := await asyncio.to_thread(file.read, min(_BLOCK, size - done))):
            await restoring.write(block)
            done += len(block)
            show(done)
    restoring.end_input()
