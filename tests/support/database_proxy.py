"""A proxy on 127.0.0.1 between Weboid and the tests' PostgreSQL: it cuts, stalls or swallows at any moment.

To use it: `with open_database_proxy(database) as proxy:` and give the program `proxy.dsn`. It has its own thread, so
it works for tests that are coroutines and for those that are not.

One law: each method has taken effect when it returns.
"""

import asyncio
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from threading import Thread
from typing import Final

from psycopg.conninfo import conninfo_to_dict, make_conninfo

_LIMIT_S: Final = 20.0
_CHUNK: Final = 1 << 16
_RESET: Final = struct.pack("ii", 1, 0)
"""SO_LINGER: what closes a socket resets the connection."""


class _State(Enum):
    PASSING = "passing"
    CUT = "cut"
    STALLED = "stalled"
    SWALLOWING = "swallowing"


@dataclass(slots=True, eq=False)
class _Line:
    """A connection of a client, and that to the server once there is one."""

    client: socket.socket
    server: socket.socket | None = None
    is_lost: bool = False
    """Whether all that is said on it, either way, is swallowed for ever."""
    is_cut_by_answer: bool = False
    """Whether everything is cut when the server says something on it."""
    task: asyncio.Task[None] | None = None


class DatabaseProxy:
    """A running proxy: `dsn` is the database behind it."""

    def __init__(self, dsn: str) -> None:
        self._server = _address(dsn)
        self._loop = asyncio.new_event_loop()
        self._listener = _listening(0)
        self._port = int(self._listener.getsockname()[1])
        self._is_accepting = False
        self._lines: set[_Line] = set()
        self._state = _State.PASSING
        self._passing = asyncio.Event()
        self._passing.set()
        self._cuts: list[tuple[bytes, bool]] = []
        self.connected = 0
        """How many connections have been accepted so far."""
        self.dsn = make_conninfo(
            dsn, host="127.0.0.1", port=self._port, sslmode="disable", gssencmode="disable", channel_binding="disable"
        )

    def cut(self) -> None:
        self._do(self._cut)

    def drop(self) -> None:
        self._do(self._drop)

    def stall(self) -> None:
        """Accepts, and forwards nothing until `heal`; then all goes on where it was."""
        self._do(lambda: self._enter(_State.STALLED))

    def swallow(self) -> None:
        """Takes all bytes, of connections that exist too, and drops them for ever; new connections hang.

        After `heal` these connections stay lost, and new ones are served.
        """
        self._do(self._swallow)

    def heal(self) -> None:
        self._do(self._heal)

    def cut_at(self, words: bytes, *, is_passed: bool) -> None:
        """Cuts, once, when a client next says something with these words, e.g. ``COMMIT``; `heal` ends the cut.

        With `is_passed` the server hears and does it, and only its answer is lost. The text of a statement that is
        prepared already is said no more.
        """
        self._do(lambda: self._cuts.append((words, is_passed)))

    @property
    def is_cut(self) -> bool:
        """Whether connections are refused, such as after a `cut_at` has come true."""
        return self._state is _State.CUT

    def _do(self, action: Callable[[], None]) -> None:
        async def act() -> None:
            action()

        asyncio.run_coroutine_threadsafe(act(), self._loop).result(_LIMIT_S)

    @contextmanager
    def open(self) -> Iterator[None]:
        thread = Thread(target=self._loop.run_forever, name="database proxy")
        thread.start()
        try:
            self._do(self._accept)
            yield
        finally:
            asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(_LIMIT_S)
            self._loop.call_soon_threadsafe(self._loop.stop)
            thread.join()
            self._loop.close()

    def _accept(self) -> None:
        self._loop.add_reader(self._listener, self._serve)
        self._is_accepting = True

    def _serve(self) -> None:
        """Accepts a connection. Not in a task: one that is cancelled just then would lose it."""
        try:
            client, _ = self._listener.accept()
        except OSError:  # it has gone meanwhile
            return
        client.setblocking(False)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.connected += 1
        line = _Line(client, is_lost=self._state is _State.SWALLOWING)
        self._lines.add(line)
        line.task = self._loop.create_task(self._carry(line))

    async def _carry(self, line: _Line) -> None:
        """Carries bytes both ways until one side ends, and then ends the other, unless the line is lost."""
        try:
            await self._passing.wait()
            if not line.is_lost:
                line.server = socket.socket(socket.AF_UNIX if isinstance(self._server, str) else socket.AF_INET)
                line.server.setblocking(False)
                await self._loop.sock_connect(line.server, self._server)
            pumps = [asyncio.create_task(self._hear_client(line))]
            if line.server:
                pumps.append(asyncio.create_task(self._hear_server(line, line.server)))
            try:
                await asyncio.wait(pumps, return_when="FIRST_COMPLETED")
                if line.is_lost:
                    await pumps[0]
            finally:
                for pump in pumps:
                    pump.cancel()
                await asyncio.gather(*pumps, return_exceptions=True)
        except OSError:
            pass
        finally:
            self._hang_up(line)

    async def _hear_client(self, line: _Line) -> None:
        while data := await self._loop.sock_recv(line.client, _CHUNK):
            await self._passing.wait()
            if line.is_lost or line.server is None:
                continue
            is_passed = self._taken_cut(data)
            if is_passed is False:
                return self._cut()
            line.is_cut_by_answer = bool(is_passed)
            await self._loop.sock_sendall(line.server, data)
        return None

    async def _hear_server(self, line: _Line, server: socket.socket) -> None:
        while data := await self._loop.sock_recv(server, _CHUNK):
            await self._passing.wait()
            if line.is_cut_by_answer:
                return self._cut()
            if not line.is_lost:
                await self._loop.sock_sendall(line.client, data)
        return None

    def _taken_cut(self, said: bytes) -> bool | None:
        """Whether what was said passes before the cut; None if nothing is to be cut."""
        for number, (words, is_passed) in enumerate(self._cuts):
            if words in said:
                del self._cuts[number]
                return is_passed
        return None

    def _enter(self, state: _State) -> None:
        self._state = state
        if state is _State.STALLED:
            self._passing.clear()
        else:
            self._passing.set()

    def _drop(self) -> None:
        for line in list(self._lines):
            self._hang_up(line)

    def _cut(self) -> None:
        self._enter(_State.CUT)
        if self._is_accepting:
            self._loop.remove_reader(self._listener)
            self._is_accepting = False
        self._listener.close()
        self._drop()

    def _swallow(self) -> None:
        self._reopen()
        for line in self._lines:
            line.is_lost = True
        self._enter(_State.SWALLOWING)

    def _heal(self) -> None:
        self._reopen()
        self._enter(_State.PASSING)

    def _reopen(self) -> None:
        if not self._is_accepting:
            self._listener = _listening(self._port)
            self._accept()

    def _hang_up(self, line: _Line) -> None:
        """Resets both connections; what carries between them ends."""
        self._lines.discard(line)
        for end in (line.client, line.server):
            if end is not None and end.fileno() >= 0:
                for waits in (self._loop.remove_reader, self._loop.remove_writer):
                    waits(end)
                with suppress(OSError):
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                end.close()
        if line.task and line.task is not asyncio.current_task(self._loop):
            line.task.cancel()

    async def _close(self) -> None:
        tasks = [line.task for line in self._lines if line.task]
        self._cut()
        await asyncio.gather(*tasks, return_exceptions=True)


@contextmanager
def open_database_proxy(dsn: str) -> Iterator[DatabaseProxy]:
    proxy = DatabaseProxy(dsn)
    with proxy.open():
        yield proxy


def _listening(port: int) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(100)
    listener.setblocking(False)
    return listener


def _address(dsn: str) -> str | tuple[str, int]:
    """Where the server listens: the path of a socket, or a host and port."""
    parts = conninfo_to_dict(dsn)
    host, port = str(parts["host"]), int(parts.get("port") or 5432)
    return f"{host}/.s.PGSQL.{port}" if host.startswith("/") else (host, port)
