"""Asking over connections that stay open: one after the other for latencies, many at a time for rates.

One law: an answer counts when its last byte has come, and only with the status that was expected.
"""

import gzip
import socket
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from benchmarks.load.crowd import Crowd, outcome_of

_END: Final = b"\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer as it came over the wire; header names in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


class Caller:
    """One connection that waits for each answer."""

    def __init__(self, url: str) -> None:
        self._place = urlsplit(url)
        self._socket = socket.create_connection((self._place.hostname, self._place.port), timeout=120)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, path: str, *, method: str = "GET", body: bytes = b"", **headers: str) -> Reply:
        self._socket.sendall(request_of(path, method, body, **headers))
        data = b""
        while (end := data.find(_END)) < 0:
            data += self._received()
        head, received = data[:end], bytearray(data[end + len(_END) :])
        lines = head.decode("latin-1").split("\r\n")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        while len(received) < int(fields.get("content-length", 0)):
            received += self._received()
        return Reply(int(lines[0].split(" ")[1]), fields, bytes(received))

    def close(self) -> None:
        self._socket.close()

    def _received(self) -> bytes:
        if not (data := self._socket.recv(1 << 18)):
            raise ConnectionError("the server has closed the connection")
        return data


def plain_body(reply: Reply) -> bytes:
    """The body of an answer, not compressed."""
    match reply.headers.get("content-encoding"):
        case "gzip":
            return gzip.decompress(reply.body)
        case "deflate":
            return zlib.decompress(reply.body)
    return reply.body


def request_of(path: str, method: str = "GET", body: bytes = b"", **headers: str) -> bytes:
    """A request as a browser's, ``if_none_match=…`` and so on as its further headers."""
    fields = {"Host": "127.0.0.1", "Accept-Encoding": "gzip, deflate", **headers}
    if body:
        fields["Content-Length"] = str(len(body))
    head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
    return f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + body


async def rate_of(url: str, requests: Sequence[bytes], *, expected: int, connections: int, seconds: float) -> float:
    """Answers a second with that status, the requests drawn at random; raises RuntimeError for any other outcome."""
    outcome = await outcome_of(Crowd(url, [request.decode() for request in requests], connections, seconds))
    if outcome.broken or outcome.ms.keys() != {str(expected)}:
        raise RuntimeError(f"not all answers have the status {expected}: {outcome}")
    return outcome.count(expected) / seconds
