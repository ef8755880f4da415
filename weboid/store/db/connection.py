"""The address of a database, a connection that notices when the server is silent, and arrays, for `store/db/pool`.

The time limit for statements is kept by the server: one that hangs, or whose machine has gone, keeps none. So the
client looks at its own clock, too. A statement with a limit is given up a little after it; where there is none, a
second connection is asked now and then whether the server still works on it.
Callers who wait for a silent server get psycopg's OperationalError, as if the server had closed the connection.
"""

import asyncio
import logging
import os
import re
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from time import monotonic
from typing import Any, Final, Self, TypeVar

import psycopg
from msgspec.json import encode
from psycopg import AsyncConnection
from psycopg.abc import PQGen
from psycopg.adapt import PyFormat
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import TupleRow
from psycopg.types.array import ListDumper

from weboid.errors import StoreAway, StoreError

log = logging.getLogger(__name__)

CONNECT_TIMEOUT_S: Final = 10
ASK_S: Final = 5.0
"""Seconds that the second connection may take to say whether the server still works."""
_CANCEL_S: Final = 2.0
"""Seconds that a server may take to cancel a statement, before its connection is given up."""
_ON_ITS_WAY_S: Final = 1.0
"""The time left to an answer that the server says to have sent."""
_LIMITS: Final[Mapping[str, str | int]] = {
    "connect_timeout": CONNECT_TIMEOUT_S,
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
    "client_encoding": "utf8",  # whatever the environment or the role says
}
"""Of libpq: a machine that has gone is found within 30 s. Those of TCP do not matter for a local socket."""
_WORKING: Final = frozenset({"active", "fastpath function call", "disabled", None})
"""States in pg_stat_activity of a server that works, or may: it need not show them to us."""
_ADVICE: Final = (
    "write host=… user=… password='…' dbname=…, or postgresql://…, with %25, %40 and %2F for %, @ and / of a password"
)
_OPERATORS_MISTAKES: Final = (
    "password authentication failed",
    "no password supplied",
    "no pg_hba.conf entry",
    "does not exist",
    "is not permitted to log in",
    "permission denied for database",
)
"""Messages at the start after which waiting is in vain: libpq does not give the code of such an error."""
_QUOTED: Final = re.compile(r"[\"'].*[\"']", re.DOTALL)
"""Parts of an address in a message of libpq or its driver; greedy, as a password may have quotes, too."""
_PORTS: Final = re.compile(r"[0-9]{0,5}(,[0-9]{0,5})*")

_Result = TypeVar("_Result")


def read_address(dsn: str, name: str = "WEBOID_DATABASE") -> Mapping[str, Any]:
    """The parts of the address of a database, as libpq reads it; `name` is that of its variable, for the error.

    Raises StoreError; it repeats nothing of the address, as all in it may be a part of the password.
    """
    try:
        parts = conninfo_to_dict(dsn)
    except psycopg.ProgrammingError as error:
        raise _refused_address(error, name) from None
    # What follows an @ or / that is not escaped is read as host and port, and would be shown as those.
    if "@" in str(parts.get("host", "")):
        raise _unusable("there is an @ in the name of the host", name)
    if not _PORTS.fullmatch(str(parts.get("port", ""))):
        raise _unusable("the port is no number", name)
    return parts


def _refused_address(error: psycopg.ProgrammingError, name: str = "WEBOID_DATABASE") -> StoreError:
    """The error for an address that the driver does not take (D-421)."""
    return _unusable(_QUOTED.sub('"…"', str(error).strip()), name)


def _unusable(reason: str, name: str) -> StoreError:
    return StoreError(f"{name} is not a PostgreSQL address ({reason}): {_ADVICE}")


def limited(dsn: str) -> str:
    """The address of a database with the client's limits, but for those that it names itself. Raises StoreError."""
    named = read_address(dsn)
    return make_conninfo(dsn, **{name: value for name, value in _LIMITS.items() if name not in named})


def first_line(error: BaseException) -> str:
    """The message of an error, without the lines that libpq adds to explain it."""
    return str(error).strip().split("\n", 1)[0]


async def try_address(dsn: str) -> None:
    """Connects once, because a pool does not report the reason of a failure and goes on trying.

    Raises StoreAway if the database cannot be reached, and StoreError if it refuses us.
    """
    address = limited(dsn)
    try:
        connection = await AsyncConnection.connect(address)
    except psycopg.ProgrammingError as error:
        raise _refused_address(error) from None
    except psycopg.Error as error:
        reason = first_line(error)
        if any(mistake in reason for mistake in _OPERATORS_MISTAKES):
            raise StoreError(f"the database {_place(dsn)} refuses us: {reason}; fix WEBOID_DATABASE") from error
        raise StoreAway(
            f"cannot reach the database {_place(dsn)}: {reason}; "
            "is it running? Fix WEBOID_DATABASE, or leave it empty to use the embedded database"
        ) from error
    await connection.close()


def _place(dsn: str) -> str:
    """The place of the database, for messages: never the password."""
    parts = read_address(dsn)
    return f"{parts.get('dbname', '')!r} at {parts.get('host') or 'the local socket'}"


class ImpatientConnection(AsyncConnection[TupleRow]):
    """One that is given up when the server is silent."""

    patience_s: float = CONNECT_TIMEOUT_S
    """The silence after which it is given up at once; 0 = a statement may take as long as the server works on it."""
    silence_s = 0.0
    """Without `patience_s`, the silence after which the server is asked whether it does; 0 = never."""
    dsn = ""
    """The address for asking."""
    is_direct = True
    """Nobody (such as a pooler) stands between us and the server, so that its process can be asked about."""
    heard = 0.0
    """The moment when the server last answered, of the monotonic clock."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.busy: set[ImpatientConnection] = set()
        """The connections that are waited for now, shared with all others of a pool."""
        self.when_silent: Callable[[], None] = lambda: None
        """Called when the server was found silent."""

    @classmethod
    async def connect(  # type: ignore[override]  # a pool gives the options that it was given, and these are ours
        cls, conninfo: str = "", *, failed: Callable[[str], None] = lambda _: None, **options: Any
    ) -> Self:
        """As psycopg's; `failed` is called with the reason if it fails, else with "". Raises psycopg's error."""
        try:
            connection = await super().connect(conninfo, **options)
        except psycopg.Error as error:
            failed(first_line(error))
            raise
        failed("")
        return connection

    async def wait(self, gen: PQGen[_Result], interval: float = 0.1, timeout: float | None = None) -> _Result:  # noqa: ASYNC109 (the name is psycopg's)
        loop = asyncio.get_running_loop()
        asking: list[asyncio.Task[None]] = []
        timer = None
        if self.patience_s:
            timer = loop.call_later(self.patience_s, self._give_up)
        elif self.silence_s:
            timer = loop.call_later(self.silence_s, lambda: asking.append(loop.create_task(self._keep_asking())))
        self.busy.add(self)
        try:
            result = await super().wait(gen, interval, timeout)
            self.heard = monotonic()
            return result
        finally:
            self.busy.discard(self)
            if timer:
                timer.cancel()
            for task in asking:
                task.cancel()

    async def _try_cancel(self, *, timeout: float = 5.0) -> None:  # noqa: ASYNC109 (the name is psycopg's)
        """Cancels the statement of a task that was cancelled; a server that does not listen is left.

        psycopg then waits for the answer, longer than a program that is to end may take.
        """
        asyncio.get_running_loop().call_later(_CANCEL_S, self.hang_up)
        try:
            await self.cancel_safe(timeout=min(timeout, _CANCEL_S))
        except Exception as error:
            log.debug("a statement could not be cancelled: %s", error)
            self.hang_up()

    def hang_up(self) -> None:
        """Ends it, if it is waited for, as if the server had gone: to cancel would take a server that listens."""
        if self in self.busy:
            with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(self.pgconn.socket)) as line:
                line.shutdown(socket.SHUT_RDWR)

    def _give_up(self) -> None:
        log.debug("the server is silent, its connection is given up")
        self.when_silent()
        self.hang_up()

    async def _keep_asking(self) -> None:
        """Asks until it is known no more that the server works on the statement, and then hangs up."""
        while await self._is_working() or await _is_late():  # noqa: ASYNC110 (no event shows what the server does)
            await asyncio.sleep(self.silence_s)
        self._give_up()

    async def _is_working(self) -> bool:
        """Returns whether the server says so, over a second connection (D-323)."""
        pid = self.info.backend_pid
        try:
            async with asyncio.timeout(ASK_S), await AsyncConnection.connect(self.dsn, autocommit=True) as second:
                found = await second.execute("SELECT state FROM pg_stat_activity WHERE pid = %s", (pid,))
                row = await found.fetchone()
        except (psycopg.Error, OSError, TimeoutError) as error:
            log.debug("it cannot be learned whether the server works: %s", error)
            return False
        return not self.is_direct or (row is not None and row[0] in _WORKING)


async def _is_late() -> bool:
    """Leaves its time to an answer on its way; returns whether this program itself was late meanwhile."""
    begun = monotonic()
    for _ in range(10):
        await asyncio.sleep(_ON_ITS_WAY_S / 10)
    return monotonic() - begun > 2 * _ON_ITS_WAY_S


class ArrayDumper(ListDumper):
    """psycopg's dumper of lists, with a short cut for whole numbers and NULL: a tenth of the time a number, as psycopg
    looks at each by itself.
    """

    def get_key(self, obj: Any, format: PyFormat) -> Any:
        """The key of the dumper: one for all lists of whole numbers, whatever the size of the numbers."""
        return (self.cls, int) if _is_of_ints(obj) else super().get_key(obj, format)

    def upgrade(self, obj: Any, format: PyFormat) -> Any:
        """The dumper for a list with these elements."""
        return _IntArrayDumper(self.cls, self._tx) if _is_of_ints(obj) else super().upgrade(obj, format)


class _IntArrayDumper(ListDumper):
    """Writes arrays without a type of their own: every statement casts its parameters."""

    def __init__(self, cls: type, context: Any = None) -> None:
        super().__init__(cls, context)
        self.oid = 0

    def get_key(self, obj: Any, format: PyFormat) -> Any:
        return (self.cls, int)

    def upgrade(self, obj: Any, format: PyFormat) -> Any:
        return self

    def dump(self, obj: Any) -> bytes:
        """``{1,null,3}``; raises TypeError for anything but whole numbers and None."""
        written = encode(obj)
        if written.translate(None, b"-0123456789,nul") != b"[]" or written.count(b"n") != obj.count(None):
            raise TypeError("not only whole numbers")
        return b"{%b}" % written[1:-1]


def _is_of_ints(values: list[Any]) -> bool:
    return type(next((each for each in values if each is not None), None)) is int
