"""The replies of the little web: the bytes of a reply to a request, made from a behaviour.

Pure; sockets belong to ``littleweb``. The same request on the same day gets the same bytes.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from weboid.demo.world import (
    HOP,
    Behaviour,
    BotWall,
    ByMethod,
    Chain,
    Code,
    Drip,
    Loop,
    NoHead,
    Page,
    Plain,
    RecordedReply,
    Redirect,
    Slow,
    Trouble,
)

HEADERS_KEPT: Final = 40
VALUE_CHARS: Final = 300
MOST_KIB: Final = 4096
"""The largest body."""

_MAGIC: Final = {
    "application/pdf": b"%PDF-1.4\n",
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff\xe0\x00\x10JFIF\x00",
    "application/zip": b"PK\x03\x04",
}
_FRAMING: Final = frozenset(
    {"content-type", "content-length", "transfer-encoding", "content-encoding", "connection", "keep-alive", "trailer"}
)
"""Headers of a reply as a message: they were true of another one."""
_PORT: Final = re.compile(r":[0-9]*$")
_FILLER: Final = "<p>The tide comes in and the tide goes out, and the island stays where it is.</p>\n"


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """One request as received; header names in lower case, at most HEADERS_KEPT, values cut to VALUE_CHARS."""

    method: str
    host: str
    target: str
    headers: Mapping[str, str]
    keeps: bool
    """The connection may be used for another request."""


def request_of(head: bytes) -> ReceivedRequest | None:
    """The request in a head (up to and including the empty line); None if it is no request of HTTP/1."""
    first, *lines = head.decode("latin-1").split("\r\n")
    parts = first.split(" ")
    if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
        return None
    headers: dict[str, str] = {}
    for line in lines[:HEADERS_KEPT]:
        name, colon, value = line.partition(":")
        if colon:
            headers.setdefault(name.lower(), value.strip()[:VALUE_CHARS])
    has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
    keeps = parts[2] == "HTTP/1.1" and "close" not in headers.get("connection", "").lower() and not has_body
    host = _PORT.sub("", headers.get("host", "")).lower()
    return ReceivedRequest(parts[0], host, parts[1], headers, keeps)


def plain_of(behaviour: Behaviour, request: ReceivedRequest) -> tuple[Plain, float]:
    """The plain behaviour for a request inside all wrappers, and the seconds to wait before it."""
    waits_s = 0.0
    while True:
        match behaviour:
            case Slow(seconds, inside):
                waits_s += seconds
                behaviour = inside or Page()
            case NoHead(_, title, inside) if request.method != "HEAD":
                behaviour = inside or Page(title=title)
            case BotWall(title=title, inside=inside) if _is_let_in(behaviour, request):
                behaviour = inside or Page(title=title)
            case BotWall(how=Trouble() as trouble):
                return trouble, waits_s
            case ByMethod(head, get):
                behaviour = head if request.method == "HEAD" else get
            case _:
                return behaviour, waits_s


def _is_let_in(wall: BotWall, request: ReceivedRequest) -> bool:
    if wall.referrer:
        return (urlsplit(request.headers.get("referer", "")).hostname or "") == request.host
    return "Mozilla/" in request.headers.get("user-agent", "")


Replying = Page | Code | RecordedReply | Redirect | Chain | Loop | NoHead | BotWall | Drip
"""The behaviours that end in a reply."""


def reply_of(behaviour: Replying, request: ReceivedRequest) -> bytes | None:
    """The whole reply, without body for HEAD; None = hang up instead. The target of a redirect is not changed."""
    match behaviour:
        case Page():
            return _reply(request, 200, behaviour)
        case Code(code, retry_after_s, kind, size_kib, page):
            wait = () if retry_after_s is None else (f"Retry-After: {retry_after_s}",)
            return _reply(request, code, page or Page(kind, size_kib, _phrase(code)), *wait)
        case RecordedReply(body, code, kind, headers):
            own = [f"{name}: {value}" for name, value in headers if name.lower() not in _FRAMING]
            return _message(request, code, f"Content-Type: {kind}", body, *own)
        case Redirect(to, code):
            return _redirect(request, code, to)
        case Chain(hops, code):
            done = _hops(request.target)
            if done < hops:
                return _redirect(request, code, _hop(request, done + 1))
            return _reply(request, 200, Page(title="Arrived"))
        case Loop(code):
            return _redirect(request, code, _hop(request, 1 - min(_hops(request.target), 1)))
        case NoHead(code):
            return _reply(request, code, Page(size_kib=1, title=_phrase(code)), "Allow: GET") if code else None
        case BotWall(code, challenge, page=page):
            lines = ("cf-mitigated: challenge",) if challenge else ()
            return _reply(request, code, page or Page(size_kib=1, title="Are you a machine?"), *lines)
        case Drip():
            return _reply(request, 200, Page(size_kib=1, title="Slowly"))


def _redirect(request: ReceivedRequest, code: int, to: str) -> bytes:
    return _reply(request, code, Page(size_kib=1, title="Moved"), f"Location: {to}")


def _hops(target: str) -> int:
    """The number of redirects of a chain that have led to a target."""
    found = HOP.search(target)
    return int(found[1]) if found else 0


def _hop(request: ReceivedRequest, number: int) -> str:
    path = HOP.sub("", request.target)
    return f"{path}{'&' if '?' in path else '?'}hop={number}" if number else path


def _phrase(code: int) -> str:
    try:
        return HTTPStatus(code).phrase
    except ValueError:
        return "Strange"


def _reply(request: ReceivedRequest, code: int, page: Page, *lines: str) -> bytes:
    kind = f"{page.kind}; charset=utf-8" if page.kind == "text/html" else page.kind
    return _message(request, code, f"Content-Type: {kind}", _body(page, request.host), "Server: littleweb", *lines)


def _message(request: ReceivedRequest, code: int, kind: str, body: bytes, *lines: str) -> bytes:
    head = [
        f"HTTP/1.1 {code} {_phrase(code)}",
        kind,
        f"Content-Length: {len(body)}",
        f"Connection: {'keep-alive' if request.keeps else 'close'}",
        *lines,
    ]
    # A line break in a scripted target would begin a new header.
    clean = [line.replace("\r", "").replace("\n", "") for line in head]
    return "\r\n".join([*clean, "", ""]).encode("utf-8") + (b"" if request.method == "HEAD" else body)


@lru_cache(maxsize=1024)
def _body(page: Page, host: str) -> bytes:
    """A body of exactly so many KiB (at least one character more than its beginning), or the given text as it is."""
    size_bytes = min(page.size_kib, MOST_KIB) * 1024
    if page.kind != "text/html" and page.text:
        return page.text.encode()
    if page.kind != "text/html":
        begin, filler = _MAGIC.get(page.kind, b""), b"\0" * 64
    elif page.html:
        return page.html.encode()
    elif page.text:
        text = "\n".join(f"<p>{escape(line)}</p>" for line in page.text.replace("{host}", host).split("\n"))
        return f"{_beginning(page, host)}{text}\n</html>\n".encode()
    else:
        begin, filler = _beginning(page, host).encode(), _FILLER.encode()
    size_bytes = max(size_bytes, len(begin) + 1)
    return (begin + filler * (size_bytes // len(filler) + 1))[:size_bytes]


def _beginning(page: Page, host: str) -> str:
    title = escape(page.title.replace("{host}", host))
    return f'<!doctype html>\n<html lang="{escape(page.lang)}"><title>{title}</title>\n<h1>{title}</h1>\n'
