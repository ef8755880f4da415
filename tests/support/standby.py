"""A primary and a hot standby that follows it: two embedded servers, the second made by pg_basebackup."""

import asyncio
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg.conninfo import make_conninfo

from weboid.pgfolder.folder import hand_over
from weboid.pgfolder.programs import find_programs
from weboid.store.embedded import embedded_folder, open_server

_REPLAYED = "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn"


@dataclass(frozen=True, slots=True)
class Pair:
    """The DSNs of both."""

    primary: str
    standby: str

    async def promote(self) -> None:
        """Makes the standby a primary of its own."""
        dsn = make_conninfo(self.standby, user="postgres")
        async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
            await connection.execute("SELECT pg_promote()")

    async def replayed(self) -> None:
        """Waits until the standby has all that is committed on the primary now."""
        async with await psycopg.AsyncConnection.connect(self.primary, autocommit=True) as primary:
            (end,) = await (await primary.execute("SELECT pg_current_wal_insert_lsn()::text")).fetchone() or ("",)
        async with await psycopg.AsyncConnection.connect(self.standby, autocommit=True) as standby:
            async with asyncio.timeout(20):
                while await (await standby.execute(_REPLAYED, [end])).fetchone() != (True,):
                    await asyncio.sleep(0.01)


@contextmanager
def open_pair(place: Path) -> Iterator[tuple[Pair, ExitStack]]:
    """Both, and the stack that stops the primary when it is closed."""
    with ExitStack() as all_of_it:
        running = all_of_it.enter_context(ExitStack())
        primary = running.enter_context(open_server(place / "primary"))
        folder = embedded_folder(place / "standby")
        folder.make()
        programs = find_programs(folder, embedded_folder(place / "primary").version)
        source = embedded_folder(place / "primary").superuser_dsn
        command = [programs / "pg_basebackup", "-D", folder.cluster, "-R", "-c", "fast", "-d", source]
        subprocess.run([str(word) for word in command], check=True)
        hand_over(folder.cluster, folder.account)
        standby = all_of_it.enter_context(open_server(place / "standby"))
        yield Pair(primary.dsn, standby.dsn), running
    shutil.rmtree(place, ignore_errors=True)
