"""The pool of connections to the database, shared by all tasks of a program.

The queries belong to the modules of the nouns. One law: no module above the store has to know psycopg's exceptions:
a database that cannot be reached or cannot do its work raises StoreError, whose cause is psycopg's exception.
"""

import asyncio
import os
import select
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final, TypeVar

import psycopg
from psycopg import AsyncConnection
from psycopg.abc import PQGen
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool

from weboid import __version__
from weboid.errors import StoreAway, StoreError
from weboid.store.db.arrays import ArrayDumper

CONNECT_TIMEOUT_S = 10
_GRACE_S: Final = 2.0
"""How long after its time limit a statement may be silent before its connection is given up."""
_OUR_MISTAKES: Final = (
    psycopg.ProgrammingError,
    psycopg.DataError,
    psycopg.IntegrityError,
    psycopg.NotSupportedError,
)
"""What a database says that is well: every other error means that it cannot do its work now."""
_Result = TypeVar("_Result")

Connection = AsyncConnection[TupleRow]
"""What the modules of the nouns take: a connection in a transaction."""


class ImpatientConnection(AsyncConnection[TupleRow]):
    """One that is given up when the server is silent for `patience_s`, 0 = never.

    The time limit for statements is kept by the server: one that hangs, or whose machine has gone, keeps none.
    """

    patience_s = 0.0

    async def wait(self, gen: PQGen[_Result], interval: float = 0.1, timeout: float | None = None) -> _Result:  # noqa: ASYNC109 (the name is psycopg's)
        if not self.patience_s:
            return await super().wait(gen, interval, timeout)
        giving_up = asyncio.get_running_loop().call_later(self.patience_s, self._hang_up)
        try:
            return await super().wait(gen, interval, timeout)
        finally:
            giving_up.cancel()

    def _hang_up(self) -> None:
        # As if the server had gone: to cancel a statement would take one that listens.
        with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(self.pgconn.socket)) as line:
            line.shutdown(socket.SHUT_RDWR)


class Pool(AsyncConnectionPool[AsyncConnection[TupleRow]]):
    """Connections that are tested before they are lent, so that a restart of the server causes no error."""

    when_used: Callable[[], None] = staticmethod(lambda: None)
    """Called whenever a connection was lent and did its work."""

    @asynccontextmanager
    async def connection(
        self,
        timeout: float | None = None,  # noqa: ASYNC109 (the name is psycopg_pool's)
    ) -> AsyncIterator[AsyncConnection[TupleRow]]:
        """Lends a connection in a transaction that is committed at the end, or rolled back by an exception.

        Raises StoreAway if the database is gone, full, shut down, read-only, or slower than the statement timeout, or
        has ended the transaction because nothing happened in it.
        """
        try:
            async with super().connection(timeout) as connection:
                yield connection
            self.when_used()
        except _OUR_MISTAKES:
            raise
        except psycopg.Error as error:
            raise StoreAway(f"the database failed: {_first_line(error)}") from error

    @asynccontextmanager
    async def reading(self, wait_s: float | None = None) -> AsyncIterator[AsyncConnection[TupleRow]]:
        """Lends a connection in autocommit mode: it saves the round trips that begin and end a transaction, which cost
        an answer more than short statements do. Raises StoreError as `connection` does, after `wait_s` if that is given
        and no connection was free.
        """
        async with self.connection(wait_s) as connection:
            await connection.set_autocommit(True)
            yield connection

    async def find_most_connections(self) -> int:
        """How many connections the server allows to all programs together; raises StoreError."""
        async with self.connection() as connection:
            row = await (await connection.execute("SELECT current_setting('max_connections')::int")).fetchone()
        assert row
        return int(row[0])


@asynccontextmanager
async def open_pool(
    dsn: str, *, size: int, statement_timeout_s: float = 0, part: str = "", timeout_s: float = 30, idle_s: float = 120
) -> AsyncIterator[Pool]:
    """Opens at most ``size`` connections for one part of the program (its name is shown in ``pg_stat_activity``).

    A statement is cut off after ``statement_timeout_s`` (0 = never), by the server or else by us, a transaction in
    which nothing happens after ``idle_s``: a program that hangs in its middle must not hold its locks against all
    others. A task that waits longer than ``timeout_s`` for a free connection gets a StoreError. Raises StoreError at
    once if the database cannot be reached.
    """
    name = f"weboid {__version__} {part}".strip()
    settings = {"application_name": name, "connect_timeout": CONNECT_TIMEOUT_S, "prepare_threshold": 2}

    async def configure(connection: AsyncConnection[TupleRow]) -> None:
        connection.adapters.register_dumper(list, ArrayDumper)
        # As a statement, not as a start-up option: those of the operator's dsn stay, and poolers in between allow it.
        await connection.execute(
            "SELECT set_config('statement_timeout', %s, false), "
            "set_config('idle_in_transaction_session_timeout', %s, false)",
            (f"{statement_timeout_s * 1000:.0f}", f"{idle_s * 1000:.0f}"),
        )
        await connection.commit()
        if isinstance(connection, ImpatientConnection) and statement_timeout_s:
            connection.patience_s = statement_timeout_s + _GRACE_S

    await _try(dsn)
    pool = Pool(
        dsn,
        connection_class=ImpatientConnection,
        kwargs=settings,
        min_size=1,
        max_size=size,
        open=False,
        configure=configure,
        check=_check,
        reset=_reset,
        name=name,
        timeout=timeout_s,
    )
    async with pool:
        yield pool


async def _check(connection: AsyncConnection[TupleRow]) -> None:
    """Raises psycopg's error if the server has closed the connection.

    A connection that is idle and alive has nothing to read; a query is sent only over one that has.
    """
    arrived = select.poll()
    arrived.register(connection.fileno(), select.POLLIN)
    if arrived.poll(0):
        await Pool.check_connection(connection)


async def _reset(connection: AsyncConnection[TupleRow]) -> None:
    """Ends autocommit mode, so that the next task gets the connection in a transaction."""
    await connection.set_autocommit(False)


async def _try(dsn: str) -> None:
    """Connects once, because a pool does not report the reason of a failure and goes on trying."""
    try:
        connection = await AsyncConnection.connect(make_conninfo(dsn, connect_timeout=CONNECT_TIMEOUT_S))
    except psycopg.ProgrammingError as error:
        raise StoreError(f"WEBOID_DATABASE is not a PostgreSQL address: {_first_line(error)}") from None
    except psycopg.OperationalError as error:
        raise StoreAway(
            f"cannot reach the database {_place(dsn)}: {_first_line(error)}; "
            "is it running? Fix WEBOID_DATABASE, or leave it empty to use the embedded database"
        ) from error
    await connection.close()


def _place(dsn: str) -> str:
    """Where the database is, for messages: never the password."""
    parts = conninfo_to_dict(dsn)
    return f"{parts.get('dbname', '')!r} at {parts.get('host') or 'the local socket'}"


def _first_line(error: BaseException) -> str:
    return str(error).strip().split("\n", 1)[0]
