"""Scenarios plain, tls, slow and drip: a new connection to a new host for every check, clients in turn.

All clients ask the same server under the same names, each on the one core that is kept for it.
"""

import os
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from select import select
from time import sleep
from typing import Final

from benchmarks.crawl.bench import Bench, Settings, open_bench
from benchmarks.crawl.links import single
from benchmarks.crawl.measure import Client, Figures, Skipped, tell_figures
from benchmarks.crawl.peers import BARE, peer
from benchmarks.harness import Target, module, open_process, tell

_LEAST: Final = 0.8
_HOSTILE: Final = "127.1.1.1"
_BEGINNING: Final = b"HTTP/1.1 200 OK\r\nX-Endless: "
_LOWEST: Final = 19
_LOOKS_EVERY: Final = 64
"""Rounds of bytes between two looks at what else there is to do."""


def plain(settings: Settings) -> list[Target]:
    tell(f"plain: HTTP and DNS, HEAD, a new host for every check; {settings.cores}")
    with open_bench(settings) as bench:
        fast = {"bare": 12_000, "lychee": 9_000, "C": 32_000}
        rows = _compared(bench, 4_500, fast, {"linkchecker": 2_000, "scrapy": 1_000})
    return _reported(rows, {"lychee": 1, "linkchecker": 5, "scrapy": 4})


def tls(settings: Settings) -> list[Target]:
    """HTTPS and DNS, every handshake whole and verified."""
    tell(f"tls: HTTPS (ECDSA P-256, whole handshakes, verified) and DNS, a new host for every check; {settings.cores}")
    with open_bench(settings, tls=True) as bench:
        fast = {"bare": 3_000, "C": 4_000, "lychee": 4_000}
        rows = _compared(bench, 2_500, fast, {"linkchecker": 800, "scrapy": 500})
    return _reported(rows, {"C and OpenSSL": 0.55})


def slow(settings: Settings, connections: int = 4_000) -> list[Target]:
    tell(f"slow: servers that answer after 1 s; weboid with {connections} connections, peers as they come: what")
    tell("  differs is how much each waits for at a time, not how fast it is")
    limits = {"WEBOID_NET_CONNECTIONS": str(connections)}
    with open_bench(settings, delay_ms=(1_000, 1_000), variables=limits) as bench:
        rows = _compared(bench, 4_000, {}, {"lychee": 200, "linkchecker": 20, "scrapy": 200})
    return _reported(rows, {"lychee": 10, "linkchecker": 100})


def _compared(bench: Bench, ours: int, fast: Mapping[str, int], once: Mapping[str, int]) -> list[Figures | Skipped]:
    """Ours first in the list: the best of some rounds over ours and the fast ones; the others once in the first.

    The numbers are the checks a second that are guessed, for as many URLs as the seconds take.
    """
    share = bench.settings.share
    rows = {name: peer(bench, name, share(guess)) for name, guess in {**fast, **once}.items()}
    best: dict[str, Figures] = {}
    for number in range(bench.settings.rounds):
        # Every round is a first one, which asks by HEAD as the peers do.
        bench.empty()
        bench.take_in(single, share(ours))
        bench.measure_best(bench.crawler("weboid crawl, with store"), number, best)
        if wrong := bench.wrong():  # over servers that always answer
            tell(f"  round {number + 1}: found other than fine: {wrong}")
        for name, client in rows.items():
            if isinstance(client, Client) and (name in fast or number == 0):
                bench.measure_best(client, number, best)
    return [*best.values(), *(row for row in rows.values() if isinstance(row, Skipped))]


def _reported(rows: list[Figures | Skipped], bounds: Mapping[str, float]) -> list[Target]:
    """Prints a line a client, and whether ours is so many times as fast as those of the peers that were measured."""
    measured = {row.name: row for row in rows if isinstance(row, Figures) and row.counts.urls}
    ours = rows[0]
    assert isinstance(ours, Figures)
    tell_figures(ours, rows[1:])
    return [
        Target(f"weboid ≥ {bound:g} × {name}", ours.rate / max(measured[name].rate, 1e-9), bound)
        for name, bound in bounds.items()
        if name in measured
    ]


def drip(settings: Settings, connections: int = 50) -> list[Target]:
    """The bare engine alone, and while servers send it heads byte by byte; of each the best round counts."""
    tell(f"drip: the bare engine over HTTP and DNS, alone and next to {connections} connections whose servers send")
    tell(f"  their heads byte by byte as fast as they can; {settings.cores}")
    best: dict[str, Figures] = {}
    with open_bench(settings) as bench, open_process(module("crawl.fast")) as (_, port):
        alone = peer(bench, "bare", settings.share(12_000))
        assert isinstance(alone, Client)
        hostile = [f"http://{_HOSTILE}:{port}/", str(connections)]
        name = f"next to {connections} hostile connections"
        for number in range(settings.rounds):
            bench.measure_best(alone, number, best)
            bench.measure_best(replace(alone, name=name, command=[*alone.command, *hostile]), number, best)
    ours, others = best[name], best[BARE]
    tell_figures(ours, [others])
    return [
        Target(f"of the rate without them ≥ {_LEAST:.0%}", ours.rate / max(others.rate, 1e-9), _LEAST),
        Target(f"the same by CPU a check ≥ {_LEAST:.0%}", others.cpu_ms / max(ours.cpu_ms, 1e-9), _LEAST),
    ]


def serve_heads() -> None:
    """A hostile server: prints its port and serves until stdin is closed.

    To all connections in turn it sends a head that never ends, byte by byte, as fast as it can with the processor time
    that the benign server leaves: it is the client that is measured.
    """
    os.nice(_LOWEST)
    with socket.create_server((_HOSTILE, 0), backlog=1024) as listener:
        listener.setblocking(False)
        print(listener.getsockname()[1], flush=True)
        beset: set[socket.socket] = set()
        while not select([sys.stdin], [], [], 0)[0]:
            beset.update(_accepted(listener))
            for _ in range(_LOOKS_EVERY):
                beset -= {sock for sock in beset if not _goes_on(sock)}
            if not beset:
                sleep(0.001)


def _accepted(listener: socket.socket) -> Iterator[socket.socket]:
    with suppress(BlockingIOError):
        while True:
            sock, _ = listener.accept()
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if _goes_on(sock, _BEGINNING):
                yield sock


def _goes_on(sock: socket.socket, data: bytes = b"y") -> bool:
    """Sends a byte; returns whether the connection is still open."""
    try:
        sock.send(data)
    except BlockingIOError:
        pass
    except OSError:
        sock.close()
        return False
    return True


if __name__ == "__main__":
    serve_heads()
