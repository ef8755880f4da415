"""A loopback web archive that gives recorded answers only, and misbehaves on demand.

Recordings are JSON files: {about, exchanges: [{request: {method, url}, response: {status, headers, body}}]}, as in
``../shared/data/archives``. The host of a recorded URL does not count: to which address a service's requests go is
configuration.
One law: what was not recorded is answered with 404 and without Memento-Datetime, and noted in ``unknown``.
"""

import json
import re
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, unquote

from support.misbehaving import Act, Asked, HangUp, Silence, reply, serve

_OF_THE_CONNECTION: Final = {"connection", "content-encoding", "content-length", "keep-alive", "transfer-encoding"}
"""Headers not sent again: bodies are recorded decoded, and their lengths are counted anew."""

_HOST: Final = re.compile(r"https?://[^/?#]*", re.IGNORECASE)

HANG: Final = Silence()
HANG_UP: Final = HangUp(reset=True)


@dataclass(frozen=True)
class Recorded:
    """A request and its answer. Answers to equal requests are given in turn, the last one for ever."""

    url: str
    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    method: str = "GET"

    @property
    def target(self) -> str:
        """Path and query, as they stand in the request's first line."""
        return _HOST.sub("", self.url, count=1).partition("#")[0] or "/"


@dataclass(frozen=True)
class Served:
    """One line of the archive's own log. `at` is in seconds on the machine's monotonic clock; `status` None = it did
    not answer with a status of its own choice, but misbehaved. Names of `headers` are in lower case."""

    at: float
    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes
    status: int | None


@dataclass
class _Fault:
    act: Callable[[bytes], Act]
    part: str
    left: int | None


@dataclass
class ArchiveReplay:
    """A running replay: the address that stands for the service's, its log, and the requests it has no answer to."""

    url: str = ""
    log: list[Served] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    _faults: list[_Fault] = field(default_factory=list)

    def misbehave(self, act: Callable[[bytes], Act], *, part: str = "", times: int | None = None) -> None:
        """From now on requests with `part` in their targets get this, so many times (None = until `behave`).

        `act` makes the bytes to send, or the silence, from the right answer: `rate_limited()`, `cut`, `hang` …
        """
        self._faults.append(_Fault(act, part, times))

    def behave(self) -> None:
        """Ends all misbehaviour."""
        self._faults.clear()

    def count(self, part: str = "") -> int:
        """The number of requests with this in their targets."""
        return sum(part in each.target for each in self.log)

    def most_within(self, seconds: float, part: str = "") -> int:
        """The largest number of requests in any such time: how a test proves that a limit was kept."""
        times = sorted(each.at for each in self.log if part in each.target)
        return max((bisect_left(times, start + seconds) - place for place, start in enumerate(times)), default=0)

    def _fault(self, target: str) -> _Fault | None:
        for fault in self._faults:
            if fault.part in target and fault.left != 0:
                fault.left = None if fault.left is None else fault.left - 1
                return fault
        return None


def rate_limited(retry_after: str | None = None) -> Callable[[bytes], Act]:
    """Too many requests: 429 with a page for people, and if given, a Retry-After."""
    lines = [f"Retry-After: {retry_after}"] if retry_after else []
    return lambda _: reply(429, *lines, body=b"<html><h1>429 Too Many Requests</h1></html>")


def failing(status: int = 503) -> Callable[[bytes], Act]:
    """A server's own error, with a page for people."""
    return lambda _: reply(status, body=b"<html><h1>Temporarily Offline</h1></html>")


def html(_: bytes) -> Act:
    """A page for people with 200, where data were asked for."""
    return reply(200, body=b"<!DOCTYPE html><html><title>Internet Archive</title><p>We will be back.</p></html>")


def cut(whole: bytes) -> Act:
    """The head and half of the body, then the end of the connection."""
    head, _, body = whole.partition(b"\r\n\r\n")

    async def part() -> AsyncIterator[bytes]:
        yield head + b"\r\n\r\n" + body[: len(body) // 2]

    return part()


def hang(_: bytes) -> Act:
    """No answer, and no end."""
    return HANG


def hang_up(_: bytes) -> Act:
    """The connection is reset."""
    return HANG_UP


def read_recordings(path: Path) -> list[Recorded]:
    """The exchanges of a file, or of all files of a folder."""
    if path.is_dir():
        return [one for file in sorted(path.glob("*.json")) for one in read_recordings(file)]
    return [
        Recorded(
            url=one["request"]["url"],
            method=one["request"]["method"],
            status=one["response"]["status"],
            headers=one["response"]["headers"],
            body=one["response"]["body"].encode(),
        )
        for one in json.loads(path.read_text(encoding="utf-8"))["exchanges"]
    ]


@asynccontextmanager
async def open_archive_replay(exchanges: Iterable[Recorded], *, loose: bool = False) -> AsyncIterator[ArchiveReplay]:
    """Serves the exchanges on a free port of 127.0.0.1.

    Method, path and query must be equal; if nothing is, then apart from the order of the query and from escapes.
    `loose` = failing that, only the path and the query's ``url`` count: what else was asked for is not looked at, and
    what was recorded by HEAD answers to GET, without a body.
    """
    recorded = _Recordings(exchanges, loose=loose)
    replay = ArchiveReplay()

    def answer(asked: Asked) -> Act:
        found = recorded.find(asked.method, asked.target)
        if found is None:
            replay.unknown.append(f"{asked.method} {asked.target}")
        whole = _bytes_of(found or _UNKNOWN, asked.method)
        fault = replay._fault(asked.target)
        act = fault.act(whole) if fault else whole
        status = int(act.split(b" ", 2)[1]) if isinstance(act, bytes) else None
        headers = {name.lower(): value for name, value in asked.headers.items()}
        replay.log.append(Served(time.monotonic(), asked.method, asked.target, headers, asked.body, status))
        return act

    async with serve(answer) as site:
        replay.url = site.url("")
        yield replay


_UNKNOWN: Final = Recorded("", 404, b"<html><h1>Not Found</h1></html>", {"Content-Type": "text/html"})

_Key = tuple[object, ...]


class _Recordings:
    """The answers that are left, by ever wider keys."""

    def __init__(self, exchanges: Iterable[Recorded], *, loose: bool) -> None:
        self._keys: list[Callable[[str, str], _Key]] = [_exact, _unordered, *([_by_url] if loose else [])]
        self._left: dict[_Key, list[Recorded]] = {}
        known: dict[_Key, list[Recorded]] = defaultdict(list)
        for one in exchanges:
            # One list for equal requests: whichever key finds it, its answers come in turn.
            known[_unordered(one.method, one.target)].append(one)
        for left in known.values():
            for one in left:
                for key in self._keys:
                    self._left.setdefault(key(one.method, one.target), left)

    def find(self, method: str, target: str) -> Recorded | None:
        for asked in ("HEAD", "GET") if method == "HEAD" else (method,):
            for key in self._keys:
                if left := self._left.get(key(asked, target)):
                    return left.pop(0) if len(left) > 1 else left[0]
        return None


def _exact(method: str, target: str) -> _Key:
    return ("exact", method, target)


def _unordered(method: str, target: str) -> _Key:
    path, _, query = target.partition("?")
    if "://" in path:
        # The address of a page inside the archive's own: its query is part of what is archived.
        return ("unordered", method, unquote(target))
    return ("unordered", method, unquote(path), *sorted(parse_qsl(query, keep_blank_values=True)))


def _by_url(method: str, target: str) -> _Key:
    method = "GET" if method == "HEAD" else method
    path, _, query = target.partition("?")
    if "://" in path:
        return ("url", method, unquote(target))
    url = next((value for name, value in parse_qsl(query) if name == "url"), "")
    return ("url", method, unquote(path), re.sub(r"^https?://|/$", "", url))


def _bytes_of(one: Recorded, method: str) -> bytes:
    headers = [f"{name}: {value}" for name, value in one.headers.items() if name.lower() not in _OF_THE_CONNECTION]
    head = "\r\n".join([f"HTTP/1.1 {one.status} Word", *headers, f"Content-Length: {len(one.body)}", "", ""])
    return head.encode() + (b"" if method == "HEAD" else one.body)
