"""Small real servers on loopback that misbehave as scripted: HTTP on raw sockets, TLS with bad certificates, DNS.

One law: a script sees exactly the bytes that were received and decides exactly which bytes are sent.
"""

import asyncio
import datetime
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from dnslib import AAAA, CNAME, NS, QTYPE, RR, A, DNSRecord


@dataclass(frozen=True)
class Asked:
    """One request as it came in. `headers` has names as sent; `count` is 1 for the server's first request."""

    method: str
    target: str
    headers: dict[str, str]
    count: int
    body: bytes = b""


class HangUp:
    """Close the connection without a word; with `reset`, by a TCP reset."""

    def __init__(self, *, reset: bool = False) -> None:
        self.reset = reset


class Silence:
    """Keep the connection and never answer."""


Act = bytes | HangUp | Silence | AsyncIterator[bytes]
Script = Callable[[Asked], Act]
Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Site:
    """A running server and what it was asked so far."""

    ip: str
    port: int
    scheme: str
    asked: list[Asked] = field(default_factory=list)
    connections: int = 0

    def url(self, path: str = "/", host: str | None = None) -> str:
        return f"{self.scheme}://{host or self.ip}:{self.port}{path}"

    def lines(self) -> list[str]:
        return [f"{each.method} {each.target}" for each in self.asked]


def reply(code: int, *lines: str, body: bytes | None = b"", kind: str | None = "text/html") -> bytes:
    """A whole response. `body` None leaves out the length, `kind` None the type."""
    head = [f"HTTP/1.1 {code} Word", *lines]
    if kind is not None:
        head.append(f"Content-Type: {kind}")
    if body is not None:
        head.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*head, "", ""]).encode("latin-1") + (body or b"")


def head_only(asked: Asked, whole: bytes) -> bytes:
    """The response, without its body if it was asked by HEAD."""
    return whole.partition(b"\r\n\r\n")[0] + b"\r\n\r\n" if asked.method == "HEAD" else whole


@asynccontextmanager
async def open_server(
    talk: Talk, ip: str, tls: ssl.SSLContext | None, *, aborts: bool = False, port: int = 0
) -> AsyncIterator[int]:
    """Runs a server until the block ends, and with it all connections, which `aborts` or flushes; gives its port."""
    tasks: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        tasks.add(task)
        try:
            await talk(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError, asyncio.LimitOverrunError):
            pass
        except RuntimeError:
            if not writer.is_closing():  # uvloop's word for a connection that is gone
                raise
        finally:
            tasks.discard(task)
            writer.transport.abort() if aborts else writer.close()

    server = await asyncio.start_server(connected, ip, port, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for _ in range(10):
            await asyncio.sleep(0)  # who has just come gets a task, too
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)


async def perform(act: Act, writer: asyncio.StreamWriter, count: Callable[[int], object] = lambda sent: None) -> bool:
    """Does what a script wants; whether more may be said. `count` hears of the bytes that are sent."""
    match act:
        case bytes() as data:
            writer.write(data)
            count(len(data))
            await writer.drain()
            return True
        case HangUp() as end:
            if end.reset:
                sock: socket.socket = writer.get_extra_info("socket")
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                writer.transport.abort()
            return False
        case Silence():
            await asyncio.sleep(3600)
            return False
        case drip:
            async for data in drip:
                writer.write(data)
                count(len(data))
                await writer.drain()
                await asyncio.sleep(0)  # drain alone lets nobody else run
            return True


@asynccontextmanager
async def serve(
    script: Script, ip: str = "127.0.0.1", tls: ssl.SSLContext | None = None, port: int = 0
) -> AsyncIterator[Site]:
    """Runs a server until the block ends; all its connections end with it."""
    site = Site(ip, 0, "https" if tls else "http")

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        site.connections += 1
        while await _exchange(site, script, reader, writer):
            pass

    async with open_server(talk, ip, tls, port=port) as site.port:
        yield site


async def _exchange(site: Site, script: Script, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """One request and its answer; whether the connection stays open for another."""
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ")
    headers = dict(line.split(": ", 1) for line in lines if line)
    length = next((int(value) for name, value in headers.items() if name.lower() == "content-length"), 0)
    asked = Asked(method, target, headers, len(site.asked) + 1, await reader.readexactly(length))
    site.asked.append(asked)
    act = script(asked)
    await perform(act, writer)
    return isinstance(act, bytes) and b"connection: close" not in act.lower()


Answer = Sequence[str] | int | None
"""Addresses, or a name after ``=`` (CNAME) or ``@`` (NS); or a DNS response code; or None for silence."""
Zone = dict[str, Answer | list[list[str]]]
"""What each name answers; a list of lists is used up one by one, its last staying."""

_DATAGRAMS = 1000
_DATAGRAM_BYTES = 4096


@dataclass
class NameServer:
    """A running name server and the questions it got, like ``A host.test``."""

    port: int
    asked: list[str] = field(default_factory=list)

    @property
    def address(self) -> str:
        """As `NetConfig.name_servers` wants it."""
        return f"127.0.0.1:{self.port}"


class _Dns:
    def __init__(self, zone: Zone, ttl_s: int, sock: socket.socket) -> None:
        self.zone = zone
        self.ttl_s = ttl_s
        self.sock = sock
        self.server = NameServer(sock.getsockname()[1])

    def read(self) -> None:
        """Takes all that has come before it answers any: a datagram for each turn of a busy loop would lose some."""
        received: list[tuple[bytes, tuple[str, int]]] = []
        with suppress(BlockingIOError):
            while len(received) < _DATAGRAMS:
                received.append(self.sock.recvfrom(_DATAGRAM_BYTES))
        for data, addr in received:
            self._answer(data, addr)

    def _answer(self, data: bytes, addr: tuple[str, int]) -> None:
        question = DNSRecord.parse(data)
        name, kind = str(question.q.qname).rstrip(".").lower(), QTYPE[question.q.qtype]
        self.server.asked.append(f"{kind} {name}")
        answer: object = self.zone.get(name, 3)
        if isinstance(answer, list) and answer and isinstance(answer[0], list):
            answer = (answer.pop(0) if kind == "A" and len(answer) > 1 else answer[0]) if answer else ()
        if answer is None:
            return
        response = question.reply()
        if isinstance(answer, int):
            response.header.rcode = answer
        else:
            self._add(response, name, kind, answer)  # type: ignore[arg-type]
        with suppress(BlockingIOError):
            self.sock.sendto(response.pack(), addr)

    def _add(self, response: DNSRecord, name: str, kind: str, values: Sequence[str]) -> None:
        for value in values:
            if value.startswith("@"):
                if kind == "NS":
                    response.add_answer(RR(name, QTYPE.NS, rdata=NS(value[1:]), ttl=self.ttl_s))
            elif value.startswith("="):
                response.add_answer(RR(name, QTYPE.CNAME, rdata=CNAME(value[1:]), ttl=self.ttl_s))
                final = self.zone.get(value[1:], ())
                if isinstance(final, Sequence):
                    self._add(response, value[1:], kind, [each for each in final if isinstance(each, str)])
            elif ":" in value and kind == "AAAA":
                response.add_answer(RR(name, QTYPE.AAAA, rdata=AAAA(value), ttl=self.ttl_s))
            elif ":" not in value and kind == "A":
                response.add_answer(RR(name, QTYPE.A, rdata=A(value), ttl=self.ttl_s))


@asynccontextmanager
async def name_server(zone: Zone, ttl_s: int = 60) -> AsyncIterator[NameServer]:
    """Runs a name server; names that are not in the zone do not exist."""
    loop = asyncio.get_running_loop()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.setblocking(False)
        sock.bind(("127.0.0.1", 0))
        dns = _Dns(zone, ttl_s, sock)
        loop.add_reader(sock, dns.read)
        try:
            yield dns.server
        finally:
            loop.remove_reader(sock)


class Certificates:
    """Server contexts with good and bad certificates; `ca_file` is what a client must trust for the good ones."""

    def __init__(self, folder: Path) -> None:
        self._ca = trustme.CA()
        self._folder = folder
        self.ca_file = folder / "ca.pem"
        self._ca.cert_pem.write_to_path(str(self.ca_file))

    def good(self, *names: str) -> ssl.SSLContext:
        return _context(self._ca.issue_cert(*names))

    def expired(self, *names: str) -> ssl.SSLContext:
        begin = datetime.datetime(2019, 1, 1, tzinfo=datetime.UTC)
        return _context(self._ca.issue_cert(*names, not_before=begin, not_after=begin.replace(year=2020)))

    def foreign(self, *names: str) -> ssl.SSLContext:
        return _context(trustme.CA().issue_cert(*names))

    def self_signed(self, name: str) -> ssl.SSLContext:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        return self._written(
            "self-signed",
            key,
            key,
            _made(subject, subject, [x509.DNSName(name)]).serial_number(x509.random_serial_number()),
        )

    def _written(
        self,
        name: str,
        key: ec.EllipticCurvePrivateKey,
        authority: ec.EllipticCurvePrivateKey,
        made: x509.CertificateBuilder,
    ) -> ssl.SSLContext:
        certificate = made.public_key(key.public_key()).sign(authority, hashes.SHA256())
        path = self._folder / f"{name}.pem"
        pem = serialization.Encoding.PEM
        private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        path.write_bytes(private + certificate.public_bytes(pem))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return context


def _made(subject: x509.Name, issuer: x509.Name, names: Sequence[x509.GeneralName]) -> x509.CertificateBuilder:
    begin = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .not_valid_before(begin)
        .not_valid_after(begin.replace(year=2120))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
    )


def _context(certificate: trustme.LeafCert) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    return context


async def at_once(host: str) -> None:
    """The turn of a host that need not wait."""


def noting(hosts: list[str]) -> Callable[[str], Awaitable[None]]:
    """A turn that writes down whom it was asked for."""

    async def turn(host: str) -> None:
        hosts.append(host)

    return turn
