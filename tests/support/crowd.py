"""A crowd of clients in a process of its own: ``python -m support.crowd URL``, told by a line of JSON on stdin.

Each client asks, waits for the whole answer, and asks again at once whatever it was told; it heeds no Retry-After. The
line has `clients`, `seconds`, `requests` (each as text, drawn in turn), `anew` (a connection for each request) and
`pause_s` between two requests. At the end one line of JSON is printed: how often each status came, how many connections
broke, and the times of answers in milliseconds by status, sorted.
"""

import asyncio
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, Final, cast
from urllib.parse import urlsplit

_HOW: Final = Path(__file__).resolve().parents[1]
_LONGEST_S: Final = 60.0


@dataclass
class Seen:
    """What a crowd has met with."""

    statuses: dict[str, int] = field(default_factory=dict)
    broken: dict[str, int] = field(default_factory=dict)
    times_ms: dict[str, list[float]] = field(default_factory=dict)

    def answer(self, status: str, time_s: float) -> None:
        self.statuses[status] = self.statuses.get(status, 0) + 1
        self.times_ms.setdefault(status, []).append(time_s * 1000)

    def slowest(self, share: float, *statuses: str) -> float:
        """The time in milliseconds within which that share of answers came, of these statuses or of all."""
        times = sorted(
            time for status, found in self.times_ms.items() if status in (statuses or {status}) for time in found
        )
        return times[min(len(times) - 1, int(len(times) * share))] if times else 0.0


async def crowd(
    url: str, *, clients: int, seconds: float, requests: list[str], anew: bool = False, pause_s: float = 0
) -> Seen:
    """Runs the crowd in a process of its own, and returns what it has seen."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "support.crowd",
        url,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        cwd=_HOW,
    )
    how = {"clients": clients, "seconds": seconds, "requests": requests, "anew": anew, "pause_s": pause_s}
    try:
        out, _ = await process.communicate(json.dumps(how).encode())
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return Seen(**json.loads(out))


class _Client(asyncio.Protocol):
    """One connection; reads one answer after the other."""

    def __init__(self) -> None:
        self.answer: asyncio.Future[str] | None = None
        self.is_over = False
        self.is_last = False
        self._data = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)  # uvloop's is no subclass

    def data_received(self, data: bytes) -> None:
        self._data += data
        head, end, body = self._data.partition(b"\r\n\r\n")
        if not end:
            return
        lowered = head.lower()
        at = lowered.find(b"content-length:")
        length = int(lowered[at + 15 :].split(b"\r\n", 1)[0]) if at > 0 else 0
        if head.split(b" ", 2)[1] in (b"204", b"304"):
            length = 0
        if len(body) >= length:
            self._data = b""
            self.is_last = b"connection: close" in lowered
            if self.answer is not None and not self.answer.done():
                self.answer.set_result(head[9:12].decode())

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_over = True
        if self.answer is not None and not self.answer.done():
            self.answer.set_exception(exc or ConnectionError("closed without an answer"))


async def _ask(place: Any, how: dict[str, Any], number: int, until: float, seen: Seen) -> None:
    loop = asyncio.get_running_loop()
    client: _Client | None = None
    while perf_counter() < until:
        begun = perf_counter()
        try:
            async with asyncio.timeout(_LONGEST_S):
                if client is None or client.is_over:
                    _, client = await loop.create_connection(_Client, place.hostname, place.port)
                client.answer = loop.create_future()
                client.transport.write(how["requests"][number % len(how["requests"])].encode())
                status = await client.answer
            seen.answer(status, perf_counter() - begun)
        except (OSError, TimeoutError) as error:
            seen.broken[repr(error)] = seen.broken.get(repr(error), 0) + 1
            client = None
        if client is not None and (how["anew"] or client.is_last):
            client.transport.close()
            client = None
        if how["pause_s"]:
            await asyncio.sleep(how["pause_s"])
        number += how["clients"]
    if client is not None:
        client.transport.close()


async def _main(url: str) -> None:
    how = json.loads(sys.stdin.read())
    seen, until = Seen(), perf_counter() + how["seconds"]
    await asyncio.gather(*(_ask(urlsplit(url), how, number, until, seen) for number in range(how["clients"])))
    print(json.dumps(seen.__dict__))


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1]))
