"""The server of the benchmarks as the harness sees it: started, asked for its counts, ended.

The program itself is `server.c`, or `standin` where that cannot be compiled.
One law: what was answered is counted by the server, never by the client that is measured.
"""

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.crawl.native import compiled

ADDRESSES: Final = 64
"""A client has 28,000 ports for each address that it connects to."""
FIRST_ADDRESS: Final = "127.1.0.1"
ROOT: Final = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Counts:
    """What a server has answered since the last reset.

    `urls` are different ones, `twice` those answered again to the same method, `hot` the requests to hosts with very
    many URLs; `robots` requests are in none of the others. `broken` connections ended before they had an answer,
    `waiting` ones wait for theirs now.
    """

    requests: int = 0
    urls: int = 0
    heads: int = 0
    gets: int = 0
    robots: int = 0
    twice: int = 0
    hot: int = 0
    accepts: int = 0
    broken: int = 0
    open: int = 0
    waiting: int = 0
    queries: int = 0
    first_s: float = 0.0
    last_s: float = 0.0


class Server:
    """A running server."""

    def __init__(self, process: subprocess.Popen[str], port: int, dns_port: int, what: str, usual_dns: bool) -> None:
        self.port = port
        self.name_server = f"{FIRST_ADDRESS}:{dns_port}"
        self.dns_port = dns_port
        self.what = what
        self.usual_dns = usual_dns
        """Whether it answers at port 53 too, where resolvers that know no other look."""
        self._process = process

    def counts(self) -> Counts:
        """What it has answered since the last reset."""
        return self._told("stats")

    def reset(self) -> None:
        """Counts anew."""
        self._told("reset")

    def _told(self, word: str) -> Counts:
        assert self._process.stdin
        assert self._process.stdout
        try:
            self._process.stdin.write(f"{word}\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # the empty line says it
        if not (line := self._process.stdout.readline()):
            raise RuntimeError(f"the server of the benchmark has ended: {self._process.wait()}")
        return Counts(**json.loads(line))


@contextmanager
def open_server_process(*, certificates: Path | None = None, delay_ms: tuple[int, int] = (0, 0)) -> Iterator[Server]:
    """A server of its own process; `delay_ms` as in `server.c`."""
    native = compiled("server", tls=certificates is not None)
    port, dns_port = _free_port(socket.SOCK_STREAM), _free_port(socket.SOCK_DGRAM)
    command = [str(native.program)] if native.program else [sys.executable, "-m", "benchmarks.crawl.standin"]
    command += [str(ADDRESSES), str(port), str(dns_port), *map(str, delay_ms)]
    command += [str(certificates)] if certificates else []
    what = "C/epoll" if native.program else f"Python/uvloop ({native.reason}): it may be slower than the clients"
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, start_new_session=True
    ) as process:
        assert process.stdin
        assert process.stdout
        try:
            hello = process.stdout.readline()
            if not hello:
                raise RuntimeError(f"the server of the benchmark has not started: {' '.join(command)}")
            yield Server(process, port, dns_port, what, json.loads(hello)["port_53"])
        finally:
            with suppress(BrokenPipeError):
                process.stdin.close()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def _free_port(kind: socket.SocketKind) -> int:
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind((FIRST_ADDRESS, 0))
        return int(probe.getsockname()[1])
