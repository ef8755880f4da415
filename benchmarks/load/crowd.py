"""Clients that ask at the same time, in a process of their own: ``python -m benchmarks.load.crowd``.

What to ask comes as JSON on stdin (`Crowd`), what came of it goes as JSON to stdout (`Outcome`).
One law: every request that was sent is counted: by the status of its whole answer, or as broken.
"""

import asyncio
import json
import random
import sys
from collections import defaultdict
from dataclasses import asdict, dataclass, field
from time import perf_counter
from typing import Any, Final
from urllib.parse import urlsplit

import uvloop

_END: Final = b"\r\n\r\n"
_ANSWER_S: Final = 90.0


@dataclass(frozen=True, slots=True)
class Crowd:
    """`clients` that send the `requests` (whole HTTP requests), drawn at random, one after the other over one
    connection each, with `pause_s` between them; or with `is_new` over a new connection for each.

    They end after `seconds`.
    """

    url: str
    requests: list[str]
    clients: int = 1
    seconds: float = 1.0
    pause_s: float = 0.0
    is_new: bool = False


@dataclass(slots=True)
class Outcome:
    """Milliseconds of the answers by status, and what became of the others."""

    ms: dict[str, list[float]] = field(default_factory=dict)
    broken: int = 0

    def count(self, status: int) -> int:
        return len(self.ms.get(str(status), ()))

    def p(self, share: float, status: int = 200) -> float:
        """A percentile of the answers with this status, in milliseconds; endless if there is none."""
        times = sorted(self.ms.get(str(status), ()))
        return times[min(int(share * len(times)), len(times) - 1)] if times else float("inf")


class _Client:
    def __init__(self, crowd: Crowd, outcome: Outcome, ms: defaultdict[str, list[float]]) -> None:
        self._crowd = crowd
        self._outcome = outcome
        self._ms = ms
        place = urlsplit(crowd.url)
        self._host, self._port = place.hostname or "", place.port or 0
        self._line: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._chance = random.Random()

    async def run(self, until: float) -> None:
        while True:
            begun = perf_counter()
            try:
                async with asyncio.timeout(_ANSWER_S):
                    status = await self._ask(self._chance.choice(self._crowd.requests).encode())
            except (OSError, asyncio.IncompleteReadError, TimeoutError, ValueError):
                self._outcome.broken += 1
                self._end()
                await asyncio.sleep(0.05)
            else:
                self._ms[status].append(1e3 * (perf_counter() - begun))
                if self._crowd.is_new:
                    self._end()
            if perf_counter() >= until:
                break
            if self._crowd.pause_s:
                await asyncio.sleep(self._crowd.pause_s)
        self._end()

    async def _ask(self, request: bytes) -> str:
        if self._line is None:
            self._line = await asyncio.open_connection(self._host, self._port, limit=1 << 20)
        reader, writer = self._line
        writer.write(request)
        head = (await reader.readuntil(_END)).decode("latin-1").lower()
        fields = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
        if "content-length" in fields and head[9:12] != "304":
            await reader.readexactly(int(fields["content-length"]))
        elif "chunked" in fields.get("transfer-encoding", ""):
            while size := int(await reader.readline(), 16):
                await reader.readexactly(size + 2)
            await reader.readline()
        if fields.get("connection") == "close":
            self._end()
        return head[9:12]

    def _end(self) -> None:
        if self._line is not None:
            self._line[1].close()
            self._line = None


async def outcome_of(crowd: Crowd) -> Outcome:
    outcome, ms = Outcome(), defaultdict[str, list[float]](list)
    until = perf_counter() + crowd.seconds
    await asyncio.gather(*(_Client(crowd, outcome, ms).run(until) for _ in range(crowd.clients)))
    outcome.ms = dict(ms)
    return outcome


def main() -> None:
    """Reads what to ask, and writes what came of it."""
    asked: dict[str, Any] = json.load(sys.stdin)
    json.dump(asdict(uvloop.run(outcome_of(Crowd(**asked)))), sys.stdout)


if __name__ == "__main__":
    main()
