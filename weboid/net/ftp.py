"""One check over FTP, in the clear or inside TLS (C-10; RFC 959, 1635, 2428, 3659, 4217).

Rare, but named by the sources: 6 of 8,289 external links in our dumps of wikis are FTP (0.07 %), none is SFTP.

Whether a path exists is found out over the control connection alone. Only if a server knows none of the commands for
that, it is asked to begin a transfer, from its own address: the address that it names for the transfer is never read.
``core/observe/ftp_replies`` interprets the replies.
"""

import asyncio
import re
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from enum import Enum
from time import monotonic
from typing import Final

from weboid.core.observe.ftp_replies import (
    UNSAFE,
    Found,
    FtpReply,
    Hint,
    code_observation,
    data_port,
    fault_observation,
    found_by,
    found_observation,
    hint_of,
    http_code_of,
    login_folder,
    remote_path,
)
from weboid.core.observe.observation import Observation
from weboid.core.record.reasons import Reason
from weboid.core.url.urls import DEFAULT_PORTS, Url, parse
from weboid.net.exchange import Sending
from weboid.net.faults import Fault, fault_of
from weboid.net.fetch import ANSWERS_A_CHECK, Turn
from weboid.net.guard import NotPublic
from weboid.net.outbound import Outbound

REPLY_LINES: Final = 1000
"""Lines of one reply, at most; messages of the day have some dozens."""

_OWN_PORTS: Final = (21, 990)
_LOWEST_DATA_PORT: Final = 1024
_BLOCK_BYTES: Final = 4096
_CLOSING_TURNS: Final = 3
"""Turns of the loop until a socket is closed. A stream cannot be awaited: cut off in a handshake, it never ends."""
_FIRST_LINE: Final = re.compile(rb"([1-5][0-9]{2})(?![0-9])(-?) ?(.*)", re.DOTALL)

_RETRIED: Final = frozenset(
    {Reason.CONNECTION_REFUSED, Reason.RESET, Reason.TIMEOUT, Reason.UNREACHABLE, Reason.PROTOCOL, Reason.TLS}
)
"""Faults of one port and kind of TLS, after which the other is tried. All other faults are final."""


class _Tls(Enum):
    """The beginning of TLS: never, before the greeting (port 990), or after AUTH (RFC 4217)."""

    NONE = 0
    IMPLICIT = 1
    EXPLICIT = 2


class _Ended(Exception):
    """The end of a dialogue before the path was found, with its result."""

    def __init__(self, result: Observation | Fault) -> None:
        super().__init__(result)
        self.result = result


def _refused(reply: FtpReply) -> _Ended:
    return _Ended(code_observation(http_code_of(reply)))


def _broken(reason: Reason = Reason.PROTOCOL) -> _Ended:
    return _Ended(Fault(reason, reached=True))


async def fetch_ftp(session: Outbound, url: str, *, turn: Turn) -> Observation:
    """The observation of one check of an ftp or ftps URL in normal form; raises ValueError for anything else.

    Each connection waits for its turn. Failures of servers are values; other errors are raised unchanged.
    """
    form = parse(url)
    if form.scheme not in ("ftp", "ftps"):
        raise ValueError(f"{url} is not for FTP")
    path = remote_path(form.path)
    if path is None:
        return UNSAFE
    return await _Check(session, form, path, turn).observation()


def _ways(url: Url) -> list[tuple[int, _Tls]]:
    """The ports and kinds of TLS to try in turn.

    No standard says which kind of TLS ``ftps`` means, and links are written for both: one that works is enough.
    """
    port = url.port or DEFAULT_PORTS[url.scheme]
    if url.scheme == "ftp":
        return [(port, _Tls.NONE)]
    if port == DEFAULT_PORTS["ftp"]:
        return [(port, _Tls.EXPLICIT)]
    explicit = DEFAULT_PORTS["ftp"] if port == DEFAULT_PORTS["ftps"] else port
    return [(port, _Tls.IMPLICIT), (explicit, _Tls.EXPLICIT)]


class _Check:
    def __init__(self, session: Outbound, url: Url, path: bytes, turn: Turn) -> None:
        self._session = session
        self._url = url
        self._path = path
        self._turn = turn
        self._left_s = ANSWERS_A_CHECK * session.settings.answer_s

    async def observation(self) -> Observation:
        """The observation by the first way, unless it fails and the second one does not."""
        fault: Reason | None = None
        for port, tls in _ways(self._url):
            end = await self._attempt(port, tls)
            if isinstance(end, Observation):
                return end
            if fault is None or end.reason not in _RETRIED:
                fault = end.reason
            if fault not in _RETRIED:
                break
        assert fault, "there is always a way"
        return fault_observation(fault, self._url.host)

    async def _attempt(self, port: int, tls: _Tls) -> Observation | Fault:
        """One connection, within the time that the check has left."""
        try:
            sending = await self._turn(self._url.host)
        except NotPublic:
            return Fault(Reason.NOT_PUBLIC)
        try:
            return await self._result(port, tls, sending)
        finally:
            if sending and not sending.is_sent:
                sending.end()

    async def _result(self, port: int, tls: _Tls, sending: Sending | None) -> Observation | Fault:
        """Returns the result of a connection, which counts as a request that is being sent for as long as it lasts."""
        async with self._session.seats:
            begun = monotonic()
            try:
                async with asyncio.timeout(self._left_s), self._opened(port, tls, sending) as control:
                    return await self._observed(control, tls)
            except _Ended as end:
                return end.result
            except Exception as error:
                if (fault := fault_of(error)) is None:
                    raise
                return fault
            finally:
                self._left_s = max(0.0, self._left_s - (monotonic() - begun))

    @asynccontextmanager
    async def _opened(self, port: int, tls: _Tls, sending: Sending | None) -> AsyncIterator["_Control"]:
        """A control connection; at the end QUIT is sent, and it is closed without waiting for a reply."""
        dialer, settings = self._session.dialer, self._session.settings
        reader, writer = await dialer.reach(self._url.host, port, asyncio.open_connection, own=_OWN_PORTS)
        control = _Control(reader, writer, settings.answer_s, settings.body_bytes)
        try:
            if tls is _Tls.IMPLICIT:
                await control.begin_tls(dialer.tls(), self._url.host)
            yield control
        finally:
            if sending:
                sending.sent()
            with suppress(OSError, RuntimeError):
                writer.write(b"QUIT\r\n")
            try:
                await asyncio.sleep(0)  # uvloop writes at the end of a turn
            finally:
                writer.transport.abort()
            for _ in range(_CLOSING_TURNS):
                await asyncio.sleep(0)

    async def _observed(self, control: "_Control", tls: _Tls) -> Observation:
        greeting = await control.reply()
        if not 200 <= greeting.code <= 299:
            raise _refused(greeting)
        if tls is _Tls.EXPLICIT:
            if (await control.ask(b"AUTH TLS")).code != 234:
                raise _broken(Reason.TLS)
            await control.begin_tls(self._session.dialer.tls(), self._url.host)
        await self._log_in(control)
        if not self._path:
            return found_observation(Found(is_folder=True), self._path)
        search = _Search(self._session, control, secret=tls is not _Tls.NONE)
        return found_observation(await search.found(self._path), self._path)

    async def _log_in(self, control: "_Control") -> None:
        """Logs in anonymously (RFC 1635): the password is the mail address of the client."""
        reply = await control.ask(b"USER anonymous")
        if reply.code == 331:
            sender = self._session.settings.sender
            known = sender.isascii() and sender.isprintable() and "@" in sender
            reply = await control.ask(b"PASS " + (sender.encode() if known else b"weboid@"))
        if not 200 <= reply.code <= 299:
            raise _refused(reply)


class _Search:
    def __init__(self, session: Outbound, control: "_Control", *, secret: bool) -> None:
        self._session = session
        self._control = control
        self._secret = secret
        self._worst = Hint.UNKNOWN_COMMAND, FtpReply(0)

    async def found(self, path: bytes) -> Found:
        """Returns what exists under a path; raises _Ended if nothing does, or if that cannot be found out."""
        if not path.isascii():
            await self._control.ask(b"OPTS UTF8 ON")  # most servers do not need it (RFC 2640); a refusal is ignored
        if found := await self._found_at(path):
            return found
        hint, reply = self._worst
        if hint is Hint.MISSING and not path.startswith(b"/"):
            # A path is relative to the login folder; many links were made by programs that took it as absolute.
            login = await self._control.ask(b"PWD")
            if login_folder(login) != "/" and (found := await self._found_at(b"/" + path)):
                return found
        # The server lets us log in, but does not show whether the path exists.
        raise _Ended(code_observation(403)) if hint is Hint.UNKNOWN_COMMAND else _refused(reply)

    async def _found_at(self, path: bytes) -> Found | None:
        """Looks under exactly this path. "Nothing" needs the replies of two commands, one of them for files."""
        name = path.rstrip(b"/") or b"/"
        if path.endswith(b"/"):
            return await self._by(b"CWD", name) or await self._by(b"MLST", name)
        if found := await self._by(b"MLST", name):
            return found
        await self._control.ask(b"TYPE I")  # the size of a text depends on the line ends that it is sent with
        if found := await self._by(b"SIZE", name):
            return found
        is_decided = self._worst[0] is not Hint.UNKNOWN_COMMAND
        if found := await self._by(b"CWD", name):
            return found
        return None if is_decided else await self._by_time_or_transfer(name)

    async def _by_time_or_transfer(self, name: bytes) -> Found | None:
        """Finds a file or folder on servers without MLST and SIZE: CWD alone cannot distinguish a file from nothing."""
        of_folder, self._worst = self._worst, (Hint.UNKNOWN_COMMAND, FtpReply(0))
        if found := await self._by(b"MDTM", name):
            return found
        if self._worst[0] is Hint.UNKNOWN_COMMAND and await self._begins_transfer(name):
            return Found()
        if self._worst[0] is not Hint.UNKNOWN_COMMAND:
            self._worst = max(self._worst, of_folder)
        return None

    async def _by(self, command: bytes, name: bytes) -> Found | None:
        reply = await self._control.ask(command + b" " + name)
        if (found := found_by(command, reply)) is None:
            self._worst = max(self._worst, (hint_of(reply), reply))
        return found

    async def _begins_transfer(self, name: bytes) -> bool:
        """Returns whether the server begins to send a file. No data of it is read."""
        if self._secret:
            # Some servers refuse a transfer in the clear. No data is transferred: the reply to RETR is enough.
            await self._control.ask(b"PBSZ 0")
            await self._control.ask(b"PROT P")
        writer = await self._data_writer()
        if writer is None:
            return False
        try:
            reply = await self._control.ask(b"RETR " + name, final=False)
        finally:
            writer.transport.abort()
        if 100 <= reply.code <= 299:
            return True
        hint = hint_of(reply)
        if hint is not Hint.TROUBLE:  # a problem of the transfer says nothing about the file
            self._worst = max(self._worst, (hint, reply))
        return False

    async def _data_writer(self) -> asyncio.StreamWriter | None:
        """A data connection to the host of the control connection, None if there cannot be one."""
        port = data_port(await self._control.ask(b"EPSV")) or data_port(await self._control.ask(b"PASV"))
        if port is None or port < _LOWEST_DATA_PORT:
            return None
        try:
            _, writer = await self._session.dialer.reach(self._control.peer, port, asyncio.open_connection, own=())
        except OSError as error:
            if fault_of(error) is None:
                raise
            return None
        return writer


class _Control:
    """The control connection: sends commands and reads complete replies, bounded in time, lines and bytes."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, answer_s: float, limit_bytes: int
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._answer_s = answer_s
        self._left_bytes = limit_bytes
        self._received = bytearray()
        self.peer: str = writer.get_extra_info("peername")[0]

    async def ask(self, command: bytes, *, final: bool = True) -> FtpReply:
        """The reply to a command; raises _Ended if the server ends the session with it (421)."""
        # FTP uses Telnet's conventions, by which a byte 255 is doubled.
        self._writer.write(command.replace(b"\xff", b"\xff\xff") + b"\r\n")
        reply = await self.reply(final=final)
        if reply.code == 421:
            raise _refused(reply)
        return reply

    async def reply(self, *, final: bool = True) -> FtpReply:
        """The next reply; with `final` those that only announce another one (1xx) are skipped."""
        async with asyncio.timeout(self._answer_s):
            reply = await self._next()
            while final and reply.code < 200:
                reply = await self._next()
            return reply

    async def begin_tls(self, tls: ssl.SSLContext, host: str) -> None:
        """Continues inside TLS. Data received before that is an error, so that it cannot pass for protected data."""
        if self._received:
            raise _broken()
        async with asyncio.timeout(self._answer_s):
            await self._writer.start_tls(tls, server_hostname=host)

    async def _next(self) -> FtpReply:
        """One complete reply (RFC 959, 4.2)."""
        first = _FIRST_LINE.fullmatch(await self._line())
        if first is None:
            raise _broken()
        code, more, text = first.groups()
        lines = [text]
        while more:
            line = await self._line()
            if line.startswith(code) and line[3:4] in (b" ", b"-", b""):
                more = line[3:4] == b"-"
                line = line[4:]
            lines.append(line)
            if len(lines) > REPLY_LINES:
                raise _broken()
        return FtpReply(int(code), b"\n".join(lines).decode("utf-8", "replace"))

    async def _line(self) -> bytes:
        """One line without its line end; the end of the connection ends the last line, too."""
        known = 0
        while (end := self._received.find(b"\n", known)) < 0:
            known = len(self._received)
            if self._left_bytes <= 0:
                raise _broken()
            part = await self._reader.read(min(_BLOCK_BYTES, self._left_bytes))
            self._left_bytes -= len(part)
            if not part:
                if not self._received:
                    raise ConnectionResetError
                part = b"\n"
            self._received += part
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        return line.removesuffix(b"\r")
