"""The server where there is no compiler: the same words as `server.c`, on uvloop.

``python -m benchmarks.crawl.standin ADDRESSES PORT DNS_PORT DELAY_MIN_MS DELAY_MAX_MS [CERTIFICATES]``
One law: it answers and counts exactly as `server.c` does, only more slowly.
"""

import asyncio
import contextlib
import json
import random
import re
import resource
import ssl
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import monotonic
from typing import Final, cast
from zlib import crc32

import uvloop

from benchmarks.crawl.server import Counts

_IDLE_S: Final = 2.0
_PEM: Final = re.compile(rb"-----BEGIN CERTIFICATE.*?-----END [A-Z ]*PRIVATE KEY-----\n", re.DOTALL)
_NUMBER: Final = re.compile(rb"/p/([0-9]{1,6}|[1-7][0-9]{6})")
"""Fewer than eight million; larger ones are made up by crawlers, and not there."""
_HOST: Final = re.compile(rb"\r\nhost: *([^\r]*)", re.IGNORECASE)
_CLOSES: Final = re.compile(rb"\r\nconnection: *close", re.IGNORECASE)
_TEXT: Final = b"It has some text, as pages do, so that whoever reads it has something to read. " * 4
_PAGE: Final = b"<!doctype html><html lang=en><title>A page</title><h1>A page</h1><p>" + _TEXT + b"</p></html>\n"
_HEAD: Final = b"HTTP/1.1 %s\r\nServer: bench\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n%s\r\n"


@dataclass(slots=True)
class Counting:
    """What was answered since the last reset."""

    numbers: dict[str, float] = field(default_factory=dict)
    seen: dict[bytes, set[bytes]] = field(default_factory=dict)

    def reset(self) -> None:
        """Counts anew; connections stay open."""
        still_open, still_waiting = self.numbers.get("open", 0), self.numbers.get("waiting", 0)
        self.numbers = asdict(Counts()) | {"open": still_open, "waiting": still_waiting}
        self.seen = {b"HEAD": set(), b"GET": set()}

    def connected(self, change: int) -> None:
        """A connection more or less."""
        self.numbers["open"] += change
        self.numbers["accepts"] += change > 0

    def answered(self, method: bytes, number: bytes, host: bytes) -> None:
        """A page was asked for and sent."""
        self.numbers["last_s"] = monotonic()
        if not self.numbers["requests"]:
            self.numbers["first_s"] = self.numbers["last_s"]
        kind = b"HEAD" if method == b"HEAD" else b"GET"
        self.numbers["requests"] += 1
        self.numbers["heads" if kind == b"HEAD" else "gets"] += 1
        self.numbers["hot"] += host.startswith(b"hot")
        self.numbers["twice"] += number in self.seen[kind]
        self.numbers["urls"] += all(number not in seen for seen in self.seen.values())
        self.seen[kind].add(number)


class Connection(asyncio.Protocol):
    """One connection, kept alive for a while."""

    def __init__(self, counting: Counting, delay_s: tuple[float, float]) -> None:
        self._counting = counting
        self._delay_s = delay_s
        self._data = b""
        self._next: asyncio.TimerHandle | None = None
        self._answered = False
        self._waiting = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Counts it."""
        self._transport = cast(asyncio.Transport, transport)
        self._counting.connected(1)

    def connection_lost(self, exc: Exception | None) -> None:
        """Counts it off."""
        self._counting.connected(-1)
        self._counting.numbers["broken"] += not self._answered
        self._counting.numbers["waiting"] -= self._waiting
        if self._next:
            self._next.cancel()

    def data_received(self, data: bytes) -> None:
        """Answers a request when it is whole, now or when its time comes."""
        self._data += data
        head, whole, rest = self._data.partition(b"\r\n\r\n")
        if not whole:
            return
        self._data = rest
        if self._next:
            self._next.cancel()
        if wait_s := self._wait_s():
            self._counting.numbers["waiting"] += not self._waiting
            self._waiting = True
            self._next = asyncio.get_running_loop().call_later(wait_s, self._answer, head)
        else:
            self._answer(head)

    def _wait_s(self) -> float:
        least, most = self._delay_s
        return random.uniform(least, most) if least >= 0 else min(random.expovariate(1 / most), 3 * most)

    def _answer(self, head: bytes) -> None:
        self._counting.numbers["waiting"] -= self._waiting
        self._waiting = False
        self._answered = True
        answer, is_last = self._reply(head)
        self._transport.write(answer)
        self._next = asyncio.get_running_loop().call_later(_IDLE_S, self._transport.close)
        if is_last:
            self._transport.close()

    def _reply(self, head: bytes) -> tuple[bytes, bool]:
        method, _, path = head.partition(b"\r\n")[0].rpartition(b" ")[0].partition(b" ")
        found = _HOST.search(head)
        host = found[1] if found else b""
        is_last = bool(_CLOSES.search(head))
        closing = b"Connection: close\r\n" if is_last else b""
        self._counting.numbers["robots"] += path == b"/robots.txt"
        if number := _NUMBER.fullmatch(path):
            self._counting.answered(method, number[1], host)
            return _HEAD % (b"200 OK", len(_PAGE), closing) + (b"" if method == b"HEAD" else _PAGE), is_last
        return _HEAD % (b"404 Not Found", 0, closing), is_last


class Names(asyncio.DatagramProtocol):
    """An address for A, nothing for all other types, "no such name" outside of .demo."""

    def __init__(self, counting: Counting, addresses: int) -> None:
        self._counting = counting
        self._addresses = addresses

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remembers where answers go out."""
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Answers one question."""
        self._counting.numbers["queries"] += 1
        end = data.index(0, 12) + 5
        name, is_known = data[12 : end - 4].lower(), data[12 : end - 4].lower().endswith(b"\4demo\0")
        is_answered = is_known and data[end - 3] == 1
        flags = bytes((0x84 | (data[2] & 1), 0x80 | (0 if is_known else 3)))
        answer = data[:2] + flags + bytes((0, 1, 0, is_answered, 0, 0, 0, 0)) + data[12:end]
        if is_answered:
            last = crc32(name) % self._addresses + 1
            answer += bytes((0xC0, 12, 0, 1, 0, 1, 0, 0, 1, 44, 0, 4, 127, 1, 0, last))
        self._transport.sendto(answer, addr)


def tls_of(path: str) -> ssl.SSLContext:
    """A context that shows the n-th certificate of a file to who asks for a name in .s<n>.demo."""
    contexts = []
    for pem in _PEM.findall(Path(path).read_bytes()):
        with tempfile.NamedTemporaryFile() as file:
            file.write(pem)
            file.flush()
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(file.name)
        context.set_alpn_protocols(["http/1.1"])
        contexts.append(context)

    def named(connection: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> None:
        if number := re.search(r"\.s(\d+)\.", name or ""):
            connection.context = contexts[int(number[1]) % len(contexts)]

    contexts[0].sni_callback = named
    return contexts[0]


async def main(words: list[str]) -> None:
    """Serves until stdin is closed."""
    addresses, port, dns_port, least_ms, most_ms = map(int, words[:5])
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    loop = asyncio.get_running_loop()
    counting = Counting()
    counting.reset()
    tls = tls_of(words[5]) if len(words) > 5 else None
    hosts = [f"127.1.0.{last}" for last in range(1, addresses + 1)]
    delay_s = (least_ms / 1e3, most_ms / 1e3)
    await loop.create_server(lambda: Connection(counting, delay_s), hosts, port, ssl=tls, backlog=4096)
    await loop.create_datagram_endpoint(lambda: Names(counting, addresses), (hosts[0], dns_port))
    usual = False
    with contextlib.suppress(OSError):
        await loop.create_datagram_endpoint(lambda: Names(counting, addresses), (hosts[0], 53))
        usual = True
    print(json.dumps({"port_53": usual}), flush=True)
    while word := await asyncio.to_thread(sys.stdin.readline):
        if word.strip() == "reset":
            counting.reset()
        print(json.dumps(counting.numbers), flush=True)


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1:]))
