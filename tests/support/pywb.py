"""A real web archive: pywb, in a process of its own and an environment of its own, which ``make test`` makes.

It serves what tests recorded, framed (its default) and unframed (as the Wayback Machine plays). One process serves all
tests of a worker; each test has a collection for itself.
One law: without that environment a test skips and says how to make it.
"""

import base64
import gzip
import hashlib
import itertools
import json
import re
import subprocess
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus
from pathlib import Path
from typing import IO, Final, NamedTuple

import pytest
from support.own_environment import programs_of

_SERVER: Final = Path(__file__).with_name("pywb_server.py")
_LOGGED: Final = re.compile(r'"([A-Z]+) (\S+) [^"]*" (\d+)')
HTML: Final = {"Content-Type": "text/html; charset=utf-8"}
_numbers = itertools.count(1)


class Logged(NamedTuple):
    """A request as the archive's own log tells of it."""

    method: str
    target: str
    status: int


@dataclass
class RealArchive:
    """A collection of a running pywb: `url` plays without frames, `framed` with them. Both are prefixes without a slash
    at the end, under which ``/cdx``, ``/timemap/link/URL`` and ``/STAMPid_/URL`` are asked for."""

    name: str
    url: str
    framed: str
    _server: "Pywb"
    _rules: dict[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """Where its WARC, its index and its rules are."""
        return self._server.folder / "collections" / self.name

    def add(
        self, url: str, moment: datetime, status: int = 200, headers: Mapping[str, str] = HTML, body: bytes = b""
    ) -> None:
        self._append(_record(url, moment, body, status=status, headers=headers))

    def block(self, url: str) -> None:
        """Depublishes a URL and what is below it: listed still, but played with 451."""
        self._rule(url, "block")

    def exclude(self, url: str) -> None:
        """Takes a URL and what is below it out, as if it had never been there."""
        self._rule(url, "exclude")

    def release(self, url: str) -> None:
        self._rules.pop(url, None)
        self._index()

    def log(self) -> list[Logged]:
        return [each for each in self._server.log() if each.target.startswith(f"/{self.name}/")]

    def _append(self, record: bytes) -> None:
        with (self.folder / "archive" / "all.warc.gz").open("ab") as file:
            file.write(record)
        self._index()

    def _rule(self, url: str, access: str) -> None:
        self._rules[url] = access
        self._index()

    def _index(self) -> None:
        (self.folder / "rules.json").write_text(json.dumps(self._rules), encoding="utf-8")
        self._server.index(self.name)


@dataclass
class Pywb:
    folder: Path
    ports: dict[str, int]
    _orders: IO[str]
    _answers: IO[str]

    def new_archive(self) -> RealArchive:
        name = f"c{next(_numbers)}"
        here, framed = (f"http://127.0.0.1:{self.ports[kind]}/{name}" for kind in ("unframed", "framed"))
        archive = RealArchive(name, here, framed, self)
        for part in ("archive", "indexes", "acl"):
            (archive.folder / part).mkdir(parents=True)
        # Before anybody asks: pywb looks for new files of a folder once a second only.
        archive._append(b"")
        return archive

    def index(self, collection: str) -> None:
        """Indexes a collection anew; it is seen at once."""
        with suppress(BrokenPipeError):
            self._orders.write(f"{collection}\n")
            self._orders.flush()
        if self._answers.readline() != "indexed\n":
            raise RuntimeError((self.folder / "errors").read_text(encoding="utf-8"))

    def log(self) -> list[Logged]:
        lines = [line for kind in ("unframed", "framed") for line in _lines(self.folder / f"{kind}.log")]
        found = [match for match in map(_LOGGED.search, lines) if match]
        return [Logged(match[1], match[2], int(match[3])) for match in found]


def _lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="session")
def pywb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pywb]:
    """The server of this run. It ends with its input, thus also when the run is killed."""
    interpreter = programs_of("pywb") / "python"
    folder = tmp_path_factory.mktemp("pywb")
    (folder / "collections").mkdir()
    with (
        (folder / "errors").open("w") as errors,
        subprocess.Popen(
            [interpreter, "-I", _SERVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=folder,
            start_new_session=True,
        ) as process,
    ):
        assert process.stdin
        assert process.stdout
        ports = process.stdout.readline().split()
        if len(ports) != 2:
            raise RuntimeError((folder / "errors").read_text(encoding="utf-8"))
        framed, unframed = map(int, ports)
        yield Pywb(folder, {"framed": framed, "unframed": unframed}, process.stdin, process.stdout)
        process.terminate()


@pytest.fixture
def real_archive(pywb: Pywb) -> RealArchive:
    """A collection of a real web archive, for one test."""
    return pywb.new_archive()


def _record(url: str, moment: datetime, body: bytes, *, status: int, headers: Mapping[str, str]) -> bytes:
    """A capture in a WARC file (ISO 28500), packed by itself."""
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", *(f"{name}: {value}" for name, value in headers.items())]
    block = "\r\n".join([*lines, "", ""]).encode() + body
    digest = base64.b32encode(hashlib.sha1(body, usedforsecurity=False).digest()).decode()
    fields = {
        "WARC-Type": "response",
        "WARC-Record-ID": f"<urn:uuid:{uuid.uuid4()}>",
        "WARC-Target-URI": url,
        "WARC-Date": f"{moment:%Y-%m-%dT%H:%M:%SZ}",
        "WARC-Payload-Digest": f"sha1:{digest}",
        "Content-Type": "application/http; msgtype=response",
        "Content-Length": str(len(block)),
    }
    head = "\r\n".join(["WARC/1.0", *(f"{name}: {value}" for name, value in fields.items()), "", ""])
    return gzip.compress(head.encode() + block + b"\r\n\r\n", mtime=0)
