"""One check over SFTP: is there a server, does it allow an anonymous login, does the path exist (C-10; RFC 4253)?

We log in as "anonymous" and without a password: a server that refuses the login has answered, too. Its host key is not
verified: we have no secret that a wrong server could get, and the right key is unknown. The SSH library is loaded with
the first connection, because that takes a third of a second. A server that has identified itself as SSH exists;
whatever it does after that is a refusal, never a failure.
"""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Final, cast

from weboid.core.observe.ftp_replies import (
    UNSAFE,
    Found,
    code_observation,
    fault_observation,
    found_observation,
    is_crowded,
    remote_path,
)
from weboid.core.observe.observation import Observation
from weboid.core.record.reasons import Reason
from weboid.core.url.urls import DEFAULT_PORTS, Url, parse
from weboid.net.exchange import Sending
from weboid.net.faults import fault_of
from weboid.net.fetch import Turn
from weboid.net.guard import NotPublic
from weboid.net.outbound import Outbound

if TYPE_CHECKING:
    import asyncssh

log = logging.getLogger(__name__)

RECEIVED_BYTES: Final = 262_144
"""Bytes received from a server in one check, at most; a login and a request for a path take some thousands."""
WELCOME_BYTES: Final = 8_192
"""Bytes at the beginning in which the server's SSH identification is searched."""

_OWN_PORTS: Final = (22,)
_FAREWELL_S: Final = 1.0
# None in which the server chooses the numbers: a large prime would block all other checks for seconds.
_KEY_EXCHANGES: Final = "curve25519*,ecdh-sha2-nistp*,diffie-hellman-group14-*"
_INTRODUCTION: Final = re.compile(rb"^SSH-", re.MULTILINE)


async def fetch_sftp(session: Outbound, url: str, *, turn: Turn) -> Observation:
    """The observation of one check of an sftp URL in normal form; raises ValueError for anything else.

    Failures of servers are values; other errors are raised unchanged.
    """
    form = parse(url)
    if form.scheme != "sftp":
        raise ValueError(f"{url} is not for SFTP")
    path = remote_path(form.path)
    if path is None:
        return UNSAFE
    try:
        sending = await turn(form.host)
    except NotPublic:
        return fault_observation(Reason.NOT_PUBLIC, form.host)
    try:
        return await _seen(session, form, path, sending)
    finally:
        if sending and not sending.is_sent:
            sending.end()


async def _seen(session: Outbound, form: Url, path: bytes, sending: Sending | None) -> Observation:
    """The observation over one connection, which counts as a request that is sent for as long as it lasts."""
    async with session.seats:
        try:
            async with _opened(session, form, sending) as line:
                return await _let_in(session, form, path, line)
        except Exception as error:
            if (fault := fault_of(error)) is None:
                raise
            return fault_observation(fault.reason, form.host)


class _Line(asyncio.Protocol):
    """The connection below the SSH library: limits the received data and keeps its beginning."""

    def __init__(self) -> None:
        self.welcome = b""
        """The first bytes received."""
        self.error: Exception | None = None
        """The error that ended the connection, None for an ordinary end."""
        self._inner: asyncio.Protocol | None = None
        self._early = b""  # received before the library took over
        self._left_bytes = RECEIVED_BYTES
        self._is_gone = asyncio.Event()

    @property
    def is_introduced(self) -> bool:
        """Returns whether the server has identified itself as SSH, of any version (RFC 4253, 4.2)."""
        return bool(_INTRODUCTION.search(self.welcome))

    @property
    def is_handed_on(self) -> bool:
        """Returns whether the library has taken over the connection."""
        return self._inner is not None

    async def create_connection(
        self, factory: Callable[[], asyncio.Protocol], _: str, __: int
    ) -> tuple[asyncio.BaseTransport, asyncio.Protocol]:
        """Called by the library, for which this is a tunnel: it gets this connection, whatever host it names."""
        self._inner = inner = factory()
        inner.connection_made(self._transport)
        if self._early:
            inner.data_received(self._early)
        if self._is_gone.is_set():
            inner.connection_lost(self.error)
        return self._transport, inner

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is not a subclass of it

    def data_received(self, data: bytes) -> None:
        self._left_bytes -= len(data)
        self.welcome += data[: max(0, WELCOME_BYTES - len(self.welcome))]
        if self._left_bytes < 0:
            self._transport.abort()
        elif self._inner is not None:
            self._inner.data_received(data)
        else:
            self._early += data

    def eof_received(self) -> bool | None:
        return self._inner.eof_received() if self._inner is not None else None

    def connection_lost(self, exc: Exception | None) -> None:
        self.error = exc
        self._is_gone.set()
        if self._inner is not None:
            self._inner.connection_lost(exc)

    async def cut_off(self) -> None:
        """Aborts the connection, and returns when it is closed."""
        self._transport.abort()
        await self._is_gone.wait()


@asynccontextmanager
async def _opened(session: Outbound, url: Url, sending: Sending | None) -> AsyncIterator[_Line]:
    async def open_at(address: str, port: int) -> _Line:
        _, line = await asyncio.get_running_loop().create_connection(_Line, address, port)
        return line

    line = await session.dialer.reach(url.host, url.port or DEFAULT_PORTS[url.scheme], open_at, own=_OWN_PORTS)
    try:
        yield line
    finally:
        if sending:
            sending.sent()
        await _bounded(line.cut_off)


async def _bounded(farewell: Callable[[], Awaitable[object]]) -> None:
    """Awaits the end of a connection, at most `_FAREWELL_S`, and ignores errors."""
    with suppress(Exception):
        async with asyncio.timeout(_FAREWELL_S):
            await farewell()


async def _let_in(session: Outbound, url: Url, path: bytes, line: _Line) -> Observation:
    import asyncssh

    connection: asyncssh.SSHClientConnection | None = None
    try:
        async with asyncio.timeout(session.settings.answer_s):
            connection = await _logged_in(url.host, line)
        async with asyncio.timeout(session.settings.answer_s):
            return await _found(connection, path)
    except asyncssh.PermissionDenied:
        return code_observation(401)
    except Exception as error:
        if not line.is_handed_on or isinstance(error, MemoryError):
            raise
        if not line.is_introduced:
            return _stranger_observation(line, url.host, is_late=isinstance(error, TimeoutError))
        if isinstance(error, asyncssh.DisconnectError) and error.code == asyncssh.DISC_TOO_MANY_CONNECTIONS:
            return code_observation(429)
        if not isinstance(error, asyncssh.Error | OSError):
            log.info("the SSH library failed unexpectedly with %s: %r", url.host, error)
        return code_observation(403)
    finally:
        if connection is not None:
            connection.abort()
            await _bounded(connection.wait_closed)


def _stranger_observation(line: _Line, host: str, *, is_late: bool) -> Observation:
    if is_crowded(line.welcome.decode("utf-8", "replace")):
        return code_observation(429)
    if is_late:
        return fault_observation(Reason.TIMEOUT, host)
    if line.welcome:
        return fault_observation(Reason.PROTOCOL, host)
    error = line.error or ConnectionResetError()
    if (fault := fault_of(error)) is None:
        raise error
    return fault_observation(fault.reason, host)


async def _logged_in(host: str, line: _Line) -> "asyncssh.SSHClientConnection":
    """A connection after an anonymous login. No keys, agents or files of this machine are used for it.

    Old algorithms are accepted: we have no secret, and an old server is not a dead one.
    """
    import asyncssh

    asyncssh.set_log_level(logging.WARNING)  # otherwise it logs every connection
    return await asyncssh.connect(
        host,
        tunnel=line,
        config=None,
        known_hosts=None,
        username="anonymous",
        password=None,
        client_keys=None,
        agent_path=None,
        client_host_keysign=False,
        preferred_auth="none",
        gss_host=None,
        x509_trusted_certs=None,
        client_version="Weboid",
        kex_algs=_KEY_EXCHANGES,
        encryption_algs="+aes*-cbc,3des-cbc",
        mac_algs="*",
        compression_algs=["none"],
        server_host_key_algs="default",
        login_timeout=0,
    )


async def _found(connection: "asyncssh.SSHClientConnection", path: bytes) -> Observation:
    import asyncssh

    missing = (asyncssh.FX_NO_SUCH_FILE, asyncssh.FX_NO_SUCH_PATH, asyncssh.FX_NOT_A_DIRECTORY)
    # Not as a context manager: its exit would wait for the server, and the connection is aborted anyway.
    client = await connection.start_sftp_client(path_encoding=None)
    for place in _places(path):
        try:
            attrs = await client.stat(place)
        except asyncssh.SFTPError as error:
            if error.code not in missing:
                return code_observation(403)
        else:
            return found_observation(Found(attrs.size, attrs.type == asyncssh.FILEXFER_TYPE_DIRECTORY), place)
    return code_observation(404)


def _places(path: bytes) -> list[bytes]:
    """The places to look for a path: from the root, then from the login folder; ``~`` means the latter only."""
    if path == b"~" or path.startswith(b"~/"):
        return [path[2:] or b"."]
    inner = path.lstrip(b"/")
    return [b"/" + inner, inner] if inner else [b"/"]
