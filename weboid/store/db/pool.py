"""The pool of connections to the database, shared by all tasks of a program.

The queries belong to the modules of the nouns. No module above the store has to know psycopg's exceptions: a database
that cannot be reached or cannot do its work raises StoreAway, whose cause is psycopg's exception.
"""

import asyncio
import logging
import select
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager, suppress
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

import psycopg
from psycopg.errors import (
    ActiveSqlTransaction,
    DeadlockDetected,
    DuplicatePreparedStatement,
    InFailedSqlTransaction,
    InsufficientPrivilege,
    InvalidSchemaName,
    InvalidSqlStatementName,
    NoActiveSqlTransaction,
    ReadOnlySqlTransaction,
    SerializationFailure,
)
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout

from weboid import __version__
from weboid.errors import StoreAway, StoreConflict, StoreError
from weboid.mechanism.disturbance import Disturbance
from weboid.store.db.connection import ArrayDumper, ImpatientConnection, first_line, limited, try_address
from weboid.store.db.shards import adopt
from weboid.store.db.statements import Connection as Connection
from weboid.store.db.statements import fetch_value, statements

if TYPE_CHECKING:
    from weboid.store.db.standby import ReadStandby

log = logging.getLogger(__name__)

SQL: Final = statements("db/conflict")

SILENCE_S: Final = 10.0
"""After so long a silence in a statement without a limit the server is asked whether it still works on it."""
_GRACE_S: Final = 2.0
"""Seconds that a statement may be silent after its time limit before its connection is given up."""
_RECONNECT_S: Final = 5.0
"""Seconds for which the pool goes on trying to connect by itself; then it tries when a connection is requested."""
_AWAY_WAIT_S: Final = 1.0
"""The longest wait for a connection after the last one failed: else callers who come one by one wait for each."""
_CLOSE_S: Final = 1.0
"""Seconds for which an attempt to connect may keep the pool from being closed."""
_GIVEN_UP_CLOSE_S: Final = 0.1
"""The same where the database was given up."""
_OUR_MISTAKES: Final = (
    psycopg.ProgrammingError,
    psycopg.DataError,
    psycopg.IntegrityError,
    psycopg.NotSupportedError,
    ActiveSqlTransaction,
    InFailedSqlTransaction,
    NoActiveSqlTransaction,
)
"""Errors of a database that is well: every other error means that it cannot do its work now (D-321)."""
_OTHER_SESSION: Final = (InvalidSqlStatementName, DuplicatePreparedStatement, ReadOnlySqlTransaction)
"""Errors of a server that is not, or no more, the one we want: behind the same address may be another one by now."""
_CONFLICTS: Final = (DeadlockDetected, SerializationFailure)
"""Errors of a database that is well, and has ended our transaction for another's (SQLSTATE 40P01, 40001)."""
_COUNTING_S: Final = 1.0


class Pool(AsyncConnectionPool[Connection]):
    """Connections that are tested before they are lent, so that a restart of the server causes no error."""

    standby: "ReadStandby | None" = None
    """The one from which is read what is only shown."""
    is_given_up = False
    """The program has to end, and nobody waits for the database any more."""
    _is_read_only = False
    _is_failing = False
    """The last caller could not use the database."""
    _refusal = ""
    """The reason that the last connection could not be opened; empty if it could."""
    _worked = 0.0
    """The moment when somebody last could."""
    _draining: asyncio.Task[None] | None = None
    _doubted = 0.0
    """The moment when a server was last found silent or another one: who has not been heard since is tested."""
    _drained = 0.0
    """The moment when all connections of before were last given up."""

    def __init__(self, dsn: str = "", *, away: Disturbance | None = None, **options: Any) -> None:
        super().__init__(
            dsn,
            connection_class=ImpatientConnection,
            open=False,
            check=self._test,
            reconnect_timeout=_RECONNECT_S,
            reconnect_failed=self._cannot_connect,
            **options,
        )
        self.away = away or Disturbance(log, "the database is away")
        self._busy: set[ImpatientConnection] = set()
        self._limits: set[asyncio.Timeout] = set()

    @asynccontextmanager
    async def connection(
        self,
        timeout: float | None = None,  # noqa: ASYNC109 (the name is psycopg_pool's)
        *,
        autocommit: bool = False,
    ) -> AsyncIterator[Connection]:
        """Lends a connection in a transaction that is committed at the end, or rolled back by an exception.

        Raises StoreAway if the database is gone, silent, full, shut down, starting, read-only, or slower than the
        statement timeout, or has ended the transaction because nothing happened in it; StoreConflict if it has ended it
        for the sake of another one, which is our fault, counted, and not that the database is away; StoreError if the
        role lacks a right or a schema. An error at the commit leaves open whether it took place: what is tried
        again must be the same when it is done twice.
        """
        try:
            async with super().connection(timeout) as connection:
                if connection.autocommit is not autocommit:
                    await connection.set_autocommit(autocommit)
                try:
                    yield connection
                    await self._check_read_only(connection)
                except _OTHER_SESSION:
                    await self._abandon(connection)
                    raise
        except (InsufficientPrivilege, InvalidSchemaName) as error:
            advice = "the role of WEBOID_DATABASE must own the tables, and the schema where it makes them"
            raise StoreError(f"the database refuses us: {first_line(error)}; {advice}") from error
        except _CONFLICTS as error:
            message = f"the database ended a transaction for the sake of another: {first_line(error)}"
            log.warning("%s", message)
            await self._count_conflict()
            raise StoreConflict(message) from error
        except psycopg.Error as error:
            if isinstance(error, _OUR_MISTAKES) and not isinstance(error, _OTHER_SESSION):
                raise
            self._is_read_only = self._is_read_only or isinstance(error, ReadOnlySqlTransaction)
            self._is_failing = True
            reason = self._reason_of(error)
            self.away.met(reason)
            raise StoreAway(f"the database failed: {reason}") from error
        self._is_failing, self._worked = False, monotonic()
        if not self._is_read_only:
            self.away.passed()

    async def _count_conflict(self) -> None:
        """Adds to the day's conflicts, from which the alarm follows; if that cannot be done, the log has them alone."""
        with suppress(psycopg.Error):
            async with super().connection(_COUNTING_S) as connection:
                await connection.execute(SQL["record_conflict"])

    @asynccontextmanager
    async def reading(self, wait_s: float | None = None) -> AsyncIterator[Connection]:
        """Lends a connection in autocommit mode: it saves the round trips that begin and end a transaction, which cost
        an answer more than short statements do. Raises StoreAway as `connection` does, after `wait_s` if that is given
        and no connection was free.
        """
        async with self.connection(wait_s, autocommit=True) as connection:
            yield connection

    @asynccontextmanager
    async def viewing(self, wait_s: float | None = None) -> AsyncIterator[Connection]:
        """Lends a connection as `reading` does, for what is only shown: that of a standby where one is up to date.

        Raises StoreAway as `reading` does; from then on the primary is read until the standby is well.
        """
        standby = self.standby
        if standby is None or (pool := standby.pool) is None:
            async with self.reading(wait_s) as connection:
                yield connection
            return
        try:
            async with pool.reading(wait_s) as connection:
                yield connection
        except StoreAway as error:
            standby.leave(error)
            raise

    async def getconn(self, timeout: float | None = None) -> Connection:  # noqa: ASYNC109 (as above)
        """As psycopg_pool's, but it ends with PoolClosed when the pool is given up, and waits less long while the
        database cannot be reached.
        """
        if not self.is_given_up:
            if self._is_failing and not self.get_stats()["pool_available"]:
                timeout = min(self.timeout if timeout is None else timeout, _AWAY_WAIT_S)
            try:
                async with asyncio.timeout(None) as limit:
                    self._limits.add(limit)
                    try:
                        return await self._heeding(super().getconn(timeout))
                    finally:
                        self._limits.discard(limit)
            except TimeoutError:
                if not self.is_given_up:
                    raise PoolTimeout(f"no connection could be opened in {_RECONNECT_S:g} s") from None
        raise PoolClosed("the program is ending")

    async def _heeding(self, waiting: Awaitable[Connection]) -> Connection:
        """The connection, unless the task is cancelled while it waits: wait_for of Python 3.11, by which psycopg_pool
        waits, gives a result that is ready in that moment and forgets the cancellation."""
        own = asyncio.current_task()
        before = own.cancelling() if own else 0
        connection = await waiting
        if own and own.cancelling() > before:
            await self.putconn(connection)
            raise asyncio.CancelledError
        return connection

    def give_up(self) -> None:
        """Ends all waiting for the database, now and from now on, with StoreAway: for a program that has to end."""
        self.is_given_up = True
        self._end_waiting()
        for connection in self._busy:
            connection.hang_up()

    def _end_waiting(self) -> None:
        now = asyncio.get_running_loop().time()
        for limit in self._limits:
            limit.reschedule(now)

    def _cannot_connect(self, _: object) -> None:
        """No connection could be opened for `_RECONNECT_S`: nobody waits longer, unless others have one that works."""
        if monotonic() - self._worked > _RECONNECT_S:
            self._end_waiting()

    async def set_limits(
        self, connection: Connection, dsn: str, statement_timeout_s: float, idle_s: float, silence_s: float
    ) -> None:
        """Sets the limits of a new connection."""
        connection.adapters.register_dumper(list, ArrayDumper)
        # A worker that hangs in a transaction holds nobody up (D-75).
        # As a statement, not as a start-up option: those of the operator's dsn stay, and poolers in between allow it.
        row = await (
            await connection.execute(
                "SELECT set_config('statement_timeout', %s, false), "
                "set_config('idle_in_transaction_session_timeout', %s, false), pg_backend_pid(), "
                "to_regclass('pg_dist_partition') IS NOT NULL",
                (f"{statement_timeout_s * 1000:.0f}", f"{idle_s * 1000:.0f}"),
            )
        ).fetchone()
        assert row
        if row[3]:
            await adopt(connection)
        await connection.commit()
        assert isinstance(connection, ImpatientConnection)
        if row[2] != connection.info.backend_pid:
            # A pooler may hand each transaction to another session, which has not prepared our statements.
            connection.is_direct, connection.prepare_threshold = False, None
        connection.dsn, connection.silence_s = limited(dsn), silence_s
        connection.patience_s = statement_timeout_s + _GRACE_S if statement_timeout_s else 0
        connection.busy, connection.when_silent = self._busy, self._doubt

    def note_refusal(self, reason: str) -> None:
        """Notes why a connection could not be opened; empty if it could."""
        self._refusal = reason

    def _reason_of(self, error: psycopg.Error) -> str:
        """The error for people: of waiting in vain for a connection also why none could be opened."""
        is_unopened = isinstance(error, PoolTimeout) and self._refusal
        return f"{first_line(error)}: {self._refusal}" if is_unopened else first_line(error)

    async def find_most_connections(self) -> int:
        """The number of connections that the server allows to all programs together; raises StoreAway."""
        async with self.connection() as connection:
            return int(await fetch_value(connection, "SELECT current_setting('max_connections')::int") or 0)

    async def _check_read_only(self, connection: Connection) -> None:
        """A server that is read-only answers who reads: that does not mean that it can do its work again."""
        if self._is_read_only:
            self._is_read_only = await fetch_value(connection, "SHOW transaction_read_only") == "on"

    async def _abandon(self, connection: Connection) -> None:
        """Ends a session that is not, or no more, with the server that we want, and the idle ones with it."""
        await connection.close()
        if self._begins_to_doubt():
            await self.drain()

    async def _test(self, connection: Connection) -> None:
        """Raises psycopg's error if the server has closed the connection, and then replaces the idle ones, too.

        They were likely cut off with it, and callers would pause for seconds after each that the pool finds (D-411).
        """
        try:
            await self._check_alive(connection)
        except psycopg.Error:
            if isinstance(connection, ImpatientConnection) and connection.heard > self._drained:
                self._drained = monotonic()
                await self.drain()
            raise

    async def _check_alive(self, connection: Connection) -> None:
        """Raises psycopg's error if the server has closed the connection.

        A connection that is idle and alive has nothing to read; a query is sent only over one that has, or that has
        not been heard since another one was found silent.
        """
        arrived = select.poll()
        arrived.register(connection.fileno(), select.POLLIN)
        if arrived.poll(0):
            await self.check_connection(connection)
        elif isinstance(connection, ImpatientConnection) and connection.heard < self._doubted:
            usual_s, connection.patience_s = connection.patience_s, _GRACE_S
            await self.check_connection(connection)
            connection.patience_s = usual_s

    def _doubt(self) -> None:
        """A server was found silent: the idle sessions with it are left, for who tests each of them waits for each."""
        if self._begins_to_doubt():
            self._draining = asyncio.create_task(self._drain())

    async def _drain(self) -> None:
        with suppress(psycopg.Error):  # the pool is being closed
            await self.drain()

    def _begins_to_doubt(self) -> bool:
        begins = monotonic() - self._doubted > _RECONNECT_S
        self._doubted = monotonic()
        return begins


class AbsentPool(Pool):
    """The pool of a database that has not answered yet, for a program that does what it can without one.

    It lends no connection: callers get StoreAway at once.
    """

    @asynccontextmanager
    async def connection(self, *_: object, **options: object) -> AsyncIterator[Connection]:
        """Raises StoreAway."""
        raise StoreAway("the database has not answered yet")
        yield


@asynccontextmanager
async def open_pool(
    dsn: str,
    *,
    size: int,
    statement_timeout_s: float = 0,
    part: str = "",
    timeout_s: float = 30,
    idle_s: float = 120,
    silence_s: float = SILENCE_S,
    away: Disturbance | None = None,
) -> AsyncIterator[Pool]:
    """Opens at most ``size`` connections, a tenth of them and one at once, for one process of the program (`part`).

    A statement is cut off after ``statement_timeout_s`` (0 = never), by the server or else by us, a transaction in
    which nothing happens after ``idle_s``: a program that hangs in its middle must not hold its locks against all
    others. Without that limit the server is asked after each ``silence_s`` whether it still works on the statement, and
    the statement is given up if that cannot be learned. A task that waits longer than ``timeout_s`` for a free
    connection gets a StoreAway. `away` hears when the database is away and when it no longer is. Raises StoreAway at
    once if the database cannot be reached, and StoreError if it refuses us.
    """
    await try_address(dsn)
    name = f"weboid {__version__} {part}".strip()
    pool: Pool = Pool(
        limited(dsn),
        kwargs={"application_name": name, "prepare_threshold": 2, "failed": lambda reason: pool.note_refusal(reason)},
        min_size=1 + size // 10,
        max_size=size,
        configure=lambda connection: pool.set_limits(connection, dsn, statement_timeout_s, idle_s, silence_s),
        name=name,
        timeout=timeout_s,
        away=away,
    )
    await pool.open()
    try:
        yield pool
    finally:
        await pool.close(_GIVEN_UP_CLOSE_S if pool.is_given_up else _CLOSE_S)
        pool.away.close()
