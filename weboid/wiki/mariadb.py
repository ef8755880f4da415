"""One connection to a MariaDB: made when needed, read as a stream in a thread of its own, tried again when it fails.

The statements belong to ``wiki/replica``, the servers' addresses to ``wiki/toolforge``. A query ends in bounded time
and memory, with an answer or a SourceError, and the event loop never waits.
"""

import asyncio
import logging
import re
import socket
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from time import monotonic
from typing import Any, Final, TypeVar

import pymysql
from pymysql.converters import encoders
from pymysql.cursors import SSCursor

from weboid.assets import asset
from weboid.errors import SourceError
from weboid.mechanism.pauses import GrowingPause

MOST_PAGES: Final = 500
"""The pages that one query is for while there are no failures."""
LEAST_PAGES: Final = 10
Row = tuple[bytes | None, ...]
"""All values are bytes as the server sends them as text, numbers too, so that nothing depends on a view's types."""
Values = Mapping[str, Any]
_GROW_AFTER: Final = 8
"""After so many good answers in a row the number of pages in a query is doubled."""
_MOST_ROWS: Final = 300_000
"""The most rows of one answer, while a query could be for fewer pages."""
_PING_AFTER_S: Final = 5.0
_COMMENT: Final = re.compile(r"^[ \t]*--.*\n?", re.MULTILINE)
_KILLED: Final = frozenset({1021, 1028, 1053, 1158, 1159, 1160, 1161, 1205, 1213, 1317, 1927, 1969, 3024})
"""Error codes of queries that were killed, timed out or lacked resources: a query for fewer pages may succeed."""
_FULL: Final = frozenset({1040, 1203, 1226})
"""Error codes for too many connections, of all or of this user: only waiting helps."""
_UNREACHED: Final = frozenset({2002, 2003, 2005})
_CLIENT: Final = range(2000, 2100)
_ADVICE: Final = {
    1044: "does this wiki have a replica that this account may read?",
    1045: "check user and password: replica.my.cnf, or TOOL_REPLICA_USER and TOOL_REPLICA_PASSWORD",
    1049: "is the wiki's name right, and does it have a replica?",
    1356: "a view of the replicas is broken, often for hours, while tables are changed; try again with the next pass",
    1698: "check user and password: replica.my.cnf, or TOOL_REPLICA_USER and TOOL_REPLICA_PASSWORD",
    4151: "ask those who run the replicas to unlock it",
}
_T = TypeVar("_T")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Access:
    """Address and account of a database. ``socket`` is the path of a Unix socket, used instead of host and port."""

    database: str
    user: str
    password: str = field(repr=False)
    host: str = ""
    port: int = 3306
    socket: str = ""

    def __str__(self) -> str:
        return f"{self.database} on {self.socket or self.host}"


@dataclass(frozen=True, slots=True)
class QueryPatience:
    """Limits of one query. The pause doubles from ``first_pause_s``; ``silence_s`` may a server send nothing while it
    works on the query."""

    tries: int = 8
    connect_s: float = 10.0
    silence_s: float = 600.0
    first_pause_s: float = 1.0
    longest_pause_s: float = 60.0


class Refused(SourceError):
    """The server refuses a query, and another try cannot help; ``code`` is its error number."""

    def __init__(self, what: str, code: int) -> None:
        super().__init__(what)
        self.code = code


@dataclass(frozen=True, slots=True)
class _Busy:
    """A failure after which another try may help, after a pause; with fewer pages if the query was too large."""

    reason: str
    advice: str
    smaller: bool
    pause: bool = True


class MariaDb:
    """A database that runs one query at a time; other queries wait for their turn."""

    def __init__(self, access: Access, patience: QueryPatience | None = None) -> None:
        self.access = access
        self.connects = 0
        """Connections made so far: a finding on one may not be true of the next."""
        self.pages = MOST_PAGES
        """The pages that a query is for, between 10 and 500: fewer after a query was killed."""
        self._patience = patience or QueryPatience()
        self._thread = ThreadPoolExecutor(1, "mariadb")
        self._connection: pymysql.Connection | None = None
        self._used_s = 0.0
        self._good = 0
        self._closed = False

    async def fetch(
        self, statement: str, values: Callable[[int], Values], read: Callable[[Iterator[Row]], _T]
    ) -> tuple[_T, int]:
        """The result of `read`, in the thread, on the rows of `statement`, and the pages that the query was for.

        `values` makes the parameters for a number of pages. `read` is called again when a try fails in the middle.
        Raises SourceError after the last try, and Refused at once where trying again cannot help.
        """
        pause = GrowingPause(self._patience.first_pause_s, self._patience.longest_pause_s)
        left = self._patience.tries
        while True:
            left -= 1
            pages = self.pages
            answer = await self._in_thread(self._try, statement, values(pages), read, pages)
            if not isinstance(answer, _Busy):
                self._good += 1
                if self._good >= _GROW_AFTER and self.pages < MOST_PAGES:
                    self.pages, self._good = min(MOST_PAGES, 2 * self.pages), 0
                return answer, pages
            self._good = 0
            if answer.smaller:
                self.pages = max(LEAST_PAGES, pages // 2)
            if left <= 0:
                times = f"{self._patience.tries} times in a row"
                raise SourceError(f"{self.access}: {answer.reason}, {times}; {answer.advice}")
            pause_s = pause.grown_s()
            wait_s = pause_s if answer.pause else 0.0
            log.warning("%s: %s; again in %g s, %d pages at a time", self.access, answer.reason, wait_s, self.pages)
            await asyncio.sleep(wait_s)

    async def list_rows(self, statement: str, values: Values | None = None) -> list[Row]:
        """All rows of a small query; errors as in `fetch`."""
        return (await self.fetch(statement, lambda _: values or {}, list))[0]

    async def close(self) -> None:
        """Ends the connection, also during a query whose caller was cancelled. No query may follow."""
        if self._closed:
            return
        self._closed = True
        self._interrupt()
        await asyncio.get_running_loop().run_in_executor(self._thread, self._drop)
        self._thread.shutdown()

    async def _in_thread(self, function: Callable[..., _T], *values: object) -> _T:
        if self._closed:
            raise SourceError(f"{self.access} was closed; open it again for more queries")
        future = self._thread.submit(function, *values)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if future.running():  # otherwise another caller's query may be running
                self._interrupt()
            raise

    def _interrupt(self) -> None:
        """Makes a pending read fail at once, from another thread."""
        if sock := getattr(self._connection, "_sock", None):
            with suppress(OSError):  # it is cut off already
                sock.shutdown(socket.SHUT_RDWR)

    def _try(self, statement: str, values: Values, read: Callable[[Iterator[Row]], _T], pages: int) -> _T | _Busy:
        """One try, in the thread. A connection on which anything went wrong is not used again."""
        try:
            connection = self._connected()
            if self._closed:  # while it was connecting, when there was nothing to interrupt yet
                return _Busy("closed", "send queries before closing", smaller=False)
            with connection.cursor(_Stream) as stream:
                stream.execute(statement, {name: _encoded(value) for name, value in values.items()} or None)
                most = _MOST_ROWS if pages > LEAST_PAGES else None
                answer = read(islice(stream, most))
                if most is None or stream.fetchone() is None:
                    self._used_s = monotonic()
                    return answer
            self._drop()
            return _Busy(f"more than {_MOST_ROWS:,} rows for {pages} pages", "try again later", True, pause=False)
        except (pymysql.err.Error, OSError) as error:
            self._drop()
            return self._judged(error)
        except BaseException:
            self._drop()
            raise

    def _connected(self) -> pymysql.Connection:
        if self._connection and monotonic() - self._used_s > _PING_AFTER_S:
            try:  # servers end connections that are idle for long
                self._connection.ping(reconnect=False)
            except pymysql.err.Error:
                self._drop()
        if self._connection is None:
            self._connection = pymysql.Connection(
                host=self.access.host,
                port=self.access.port,
                unix_socket=self.access.socket or None,
                user=self.access.user,
                password=self.access.password.encode(),
                database=self.access.database,
                charset="utf8mb4",
                use_unicode=False,
                conv=dict[Any, Any](encoders),
                autocommit=True,  # otherwise every query sees the database as it was at the first one
                connect_timeout=self._patience.connect_s,
                read_timeout=self._patience.silence_s,
                write_timeout=self._patience.silence_s,
                program_name="weboid",
                defer_connect=True,
            )
            path = self.access.socket
            self._connection.connect(_unix_socket(path, self._patience.connect_s) if path else None)
            self.connects += 1
        return self._connection

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection and connection.open:
            connection.close()

    def _judged(self, error: pymysql.err.Error | OSError) -> _Busy:
        """The failure if another try may help; raises Refused if not."""
        code = (
            2002 if isinstance(error, OSError) else next((value for value in error.args if isinstance(value, int)), 0)
        )
        text = str(error.args[-1]) if error.args else type(error).__name__
        reason = f"{text} ({code})" if code else text
        if code in _FULL:
            return _Busy(reason, "end other programs of this account, or try again later", smaller=False)
        if code in _UNREACHED:
            return _Busy(reason, "can this machine reach it (Toolforge's network, or a tunnel to it)?", smaller=False)
        if code in _KILLED:
            return _Busy(reason, "try again later, or the cluster 'analytics', which is more patient", smaller=True)
        # Without a code: the stream broke off in the middle of something.
        if not code or code in _CLIENT:
            return _Busy(reason, "try again later", smaller=True)
        advice = _ADVICE.get(code, "are this database's tables those of a MediaWiki from 1.39 on?")
        raise Refused(f"{self.access}: {reason}; {advice}", code)


@cache
def statement(name: str) -> str:
    """The text of ``sql/replica/<name>.sql`` without comments; raises LookupError if there is none."""
    if not has_statement(name):
        raise LookupError(f"there is no statement sql/replica/{name}.sql")
    return _COMMENT.sub("", (asset("sql") / "replica" / f"{name}.sql").read_text(encoding="utf-8")).strip().rstrip(";")


@cache
def has_statement(name: str) -> bool:
    return (asset("sql") / "replica" / f"{name}.sql").is_file()


class _Stream(SSCursor):
    """A streaming cursor that may be closed in the middle: PyMySQL's own would first read all remaining rows."""

    _result: Any

    def close(self) -> None:
        if self._result is not None:
            self._result.unbuffered_active = False
        super().close()

    __del__ = close


def _unix_socket(path: str, timeout_s: float) -> socket.socket:
    # PyMySQL would do it too, but leaves the socket open when the connection is refused.
    sock = socket.socket(socket.AF_UNIX)
    try:
        sock.settimeout(timeout_s)
        sock.connect(path)
    except OSError:
        sock.close()
        raise
    return sock


def _encoded(value: Any) -> Any:
    """Texts as bytes: the columns of MediaWiki's tables are binary, and would need a common character set."""
    match value:
        case str():
            return value.encode(errors="replace")
        case list() | tuple():
            return [_encoded(one) for one in value]
        case _:
            return value
