"""The web and name server of the benchmarks: compiled, started, asked for its counts, ended.

What was answered is counted by the server (`server.c`), never by the client that is measured.
"""

import hashlib
import json
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import trustme

from benchmarks.crawl.links import DOMAINS
from benchmarks.harness import open_process

ADDRESSES: Final = 64
"""A client has 28,000 ports for each address that it connects to."""
FIRST_ADDRESS: Final = "127.1.0.1"


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


@dataclass(frozen=True, slots=True)
class Server:
    """A running server; `ca` is set for https."""

    process: "subprocess.Popen[str]"
    port: int
    dns_port: int
    ca: Path | None
    usual_dns: bool
    """Whether it answers at port 53 too, where resolvers that know no other look."""

    def counts(self, word: str = "stats") -> Counts:
        """What it has answered since the last ``reset``."""
        assert self.process.stdin
        assert self.process.stdout
        with suppress(BrokenPipeError):  # the empty line says it
            self.process.stdin.write(f"{word}\n")
            self.process.stdin.flush()
        if not (line := self.process.stdout.readline()):
            raise RuntimeError(f"the server of the benchmark has ended: {self.process.wait()}")
        return Counts(**json.loads(line))


@contextmanager
def open_web(
    folder: Path, *, tls: bool = False, delay_ms: tuple[int, int] = (0, 0), pages: Sequence[bytes] = ()
) -> Iterator[Server]:
    """A server in a process of its own, with these pages in turn or a small one; `delay_ms` as in `server.c`.

    Raises RuntimeError if there is no compiler.
    """
    port, dns_port = _free_port(socket.SOCK_STREAM), _free_port(socket.SOCK_DGRAM)
    command = [compiled("server", tls), ADDRESSES, port, dns_port, *delay_ms]
    if pages:
        file = folder / "pages"
        file.write_bytes(b"".join(b"%d\n%s" % (len(page), page) for page in pages))
        command += ["-p", file]
    command += [make_authority(folder)] if tls else []
    with open_process(command) as (process, hello):
        yield Server(process, port, dns_port, folder / "ca.pem" if tls else None, json.loads(hello)["port_53"])


def make_authority(folder: Path) -> Path:
    """Writes ``ca.pem``, which clients trust, and certificates (ECDSA P-256) with keys for ``*.s<n>.demo``."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(folder / "ca.pem"))
    certificates = folder / "certificates.pem"
    with certificates.open("wb") as file:
        for number in range(DOMAINS):
            leaf = authority.issue_cert(f"*.s{number}.demo")
            file.write(leaf.cert_chain_pems[0].bytes() + leaf.private_key_pem.bytes())
    return certificates


def cache_folder() -> Path:
    """Where compiled programs and peers are kept between runs."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "weboid-benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def compiled(name: str, tls: bool) -> Path:
    """The program of `name`.c, with OpenSSL or without, kept in the user's cache. Raises RuntimeError."""
    if not (compiler := shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")):
        raise RuntimeError("there is no C compiler; install gcc or clang")
    source = Path(__file__).with_name(f"{name}.c")
    options = ["-O2", *(["-DWITH_TLS"] if tls else []), str(source), *(["-lssl", "-lcrypto"] if tls else []), "-lm"]
    mark = hashlib.sha256(source.read_bytes() + " ".join(options).encode()).hexdigest()[:16]
    program = cache_folder() / f"{name}-{mark}"
    if not program.exists():
        unfinished = program.with_suffix(f".{os.getpid()}")
        run = subprocess.run([compiler, *options, "-o", str(unfinished)], capture_output=True, text=True, check=False)
        if run.returncode:
            raise RuntimeError(f"{name}.c does not compile (TLS needs OpenSSL's headers): {run.stderr[:300]}")
        unfinished.rename(program)
    return program


def _free_port(kind: socket.SocketKind) -> int:
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind((FIRST_ADDRESS, 0))
        return int(probe.getsockname()[1])
