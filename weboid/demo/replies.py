"""What the little web says: the bytes of a reply to a request, made from a behaviour. Pure; sockets are `littleweb`'s.

One law: the same request on the same day gets the same bytes.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from http import HTTPStatus
from typing import Final, assert_never

from weboid.demo.world import BotWall, Chain, Drip, Loop, NoHead, Page, Redirect, Status

HEADERS_KEPT: Final = 40
VALUE_CHARS: Final = 300
MOST_KIB: Final = 4096
"""Of one body."""

_MAGIC: Final = {
    "application/pdf": b"%PDF-1.4\n",
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff\xe0\x00\x10JFIF\x00",
    "application/zip": b"PK\x03\x04",
}
_PORT: Final = re.compile(r":[0-9]*$")
_FILLER: Final = "<p>The tide comes in and the tide goes out, and the island stays where it is.</p>\n"


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it came in; header names in lower case, values cut to VALUE_CHARS, HEADERS_KEPT at most."""

    method: str
    host: str
    target: str
    headers: Mapping[str, str]
    keeps: bool
    """The connection may be used once more."""


def request_of(head: bytes) -> Request | None:
    """The request in a head (up to and with the empty line); None if it is none of HTTP/1."""
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
    return Request(parts[0], host, parts[1], headers, keeps)


Replying = Page | Status | Redirect | Chain | Loop | NoHead | BotWall | Drip
"""The behaviours that end in a reply."""


def reply_of(behaviour: Replying, request: Request) -> bytes | None:
    """The whole reply, without body to HEAD; None = hang up instead. A redirect leads where the behaviour says."""
    match behaviour:
        case Page(kind, size_kib, title):
            return _reply(request, 200, kind, size_kib, title)
        case Status(code, retry_after_s, kind, size_kib):
            wait = () if retry_after_s is None else (f"Retry-After: {retry_after_s}",)
            return _reply(request, code, kind, size_kib, _phrase(code), *wait)
        case Redirect(to, code):
            return _redirect(request, code, to)
        case Chain(hops, code):
            done = _hops(request.target)
            return _redirect(request, code, _hop(request, done + 1)) if done < hops else _page(request, "Arrived")
        case Loop(code):
            return _redirect(request, code, _hop(request, 1 - min(_hops(request.target), 1)))
        case NoHead(code, title):
            if request.method != "HEAD":
                return _page(request, title)
            return _reply(request, code, "text/html", 1, _phrase(code), "Allow: GET") if code else None
        case BotWall(code, challenge, title):
            if "Mozilla/" in request.headers.get("user-agent", ""):
                return _page(request, title)
            lines = ("cf-mitigated: challenge",) if challenge else ()
            return _reply(request, code, "text/html", 1, "Are you a machine?", *lines)
        case Drip():
            return _reply(request, 200, "text/html", 1, "Slowly")
        case _ as never:
            assert_never(never)


def _page(request: Request, title: str) -> bytes:
    return _reply(request, 200, "text/html", 2, title)


def _redirect(request: Request, code: int, to: str) -> bytes:
    return _reply(request, code, "text/html", 1, "Moved", f"Location: {to}")


def _hops(target: str) -> int:
    """How many redirects of a chain lie behind a target."""
    number = target.partition("?hop=")[2]
    return int(number) if number.isascii() and number.isdigit() and len(number) < 4 else 0


def _hop(request: Request, number: int) -> str:
    path = request.target.partition("?")[0]
    return f"{path}?hop={number}" if number else path


def _phrase(code: int) -> str:
    try:
        return HTTPStatus(code).phrase
    except ValueError:
        return "Strange"


def _reply(request: Request, code: int, kind: str, size_kib: int, title: str, *lines: str) -> bytes:
    body = _body(kind, min(size_kib, MOST_KIB), title)
    head = [
        f"HTTP/1.1 {code} {_phrase(code)}",
        "Server: littleweb",
        f"Content-Type: {kind}; charset=utf-8" if kind == "text/html" else f"Content-Type: {kind}",
        f"Content-Length: {len(body)}",
        f"Connection: {'keep-alive' if request.keeps else 'close'}",
        *lines,
    ]
    # A line break in a scripted target would make a header of its own.
    clean = [line.replace("\r", "").replace("\n", "") for line in head]
    return "\r\n".join([*clean, "", ""]).encode("utf-8") + (b"" if request.method == "HEAD" else body)


@lru_cache(maxsize=256)
def _body(kind: str, size_kib: int, title: str) -> bytes:
    """A body of exactly so many KiB (at least one character more than its beginning)."""
    if kind == "text/html":
        text = f'<!doctype html>\n<html lang="en"><title>{escape(title)}</title>\n<h1>{escape(title)}</h1>\n'
        begin, filler = text.encode(), _FILLER.encode()
    else:
        begin, filler = _MAGIC.get(kind, b""), b"\0" * 64
    wanted = max(size_kib * 1024, len(begin) + 1)
    return (begin + filler * (wanted // len(filler) + 1))[:wanted]
