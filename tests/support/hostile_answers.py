"""Answers of servers that want to break the program that reads them, at random and by design.

One law: what is answered follows from the random numbers alone, so that a seed gives the same answers again.
"""

import gzip
import zlib
from collections.abc import AsyncIterator, Callable
from random import Random
from typing import Final

from support.misbehaving import Act, Asked, HangUp, Silence

from weboid.assets import toml_next_to

_PIECES: Final[dict[str, list[str]]] = toml_next_to(__file__)

_SCHEMES: Final = _PIECES["schemes"]
_HOSTS: Final = (*_PIECES["hosts"], "", "a" * 64 + ".demo", "a." * 130 + "demo", "\u00fc" * 80 + ".demo")
_LONG: Final = ("/" + "a" * 7_900, "/" + "a" * 9_000, "/" + "%41" * 2_600, "/" + "/." * 3_000)
_PATHS: Final = (*_PIECES["paths"], "", "/\udcff\udcfe", *_LONG)
_VALUES: Final = (*_PIECES["values"], "", "a" * 9_000)
_NAMES: Final = _PIECES["names"]
_COOKIES: Final = (*_PIECES["cookies"], "a=b" * 3_000)
_MARKUP: Final = (*_PIECES["markup"], "&amp;" * 50, "<div>" * 500, "<b" + " a=b" * 300 + ">", "\ud800", "a " * 300)
_BOMB: Final = gzip.compress(bytes(30_000_000), 1)
"""Thirty megabytes of zeros."""
_CODES: Final = (
    *range(200, 209), *range(300, 309), *range(400, 432), 451, 499, *range(500, 512), 520, 530, 599, 100, 101, 103, 199,
    600, 700, 999,
)  # fmt: skip
_REDIRECTS: Final = (301, 302, 303, 307, 308)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _noise(random: Random, most: int) -> bytes:
    return random.randbytes(random.randrange(most))


def location(random: Random, own: str) -> bytes:
    """A target of a redirect: another scheme, a broken host, a strange path, noise, or the server's own URL."""
    match random.randrange(6):
        case 0:
            return _bytes(random.choice(_SCHEMES))
        case 1:
            scheme = random.choice(("http", "https", "", "HTTP", "ftp"))
            return _bytes(f"{scheme}://{random.choice(_HOSTS)}{random.choice(_PATHS)}")
        case 2:
            return _bytes(own + random.choice(_PATHS))
        case 3:
            return _bytes(random.choice(_PATHS))
        case 4:
            return _noise(random, 40).replace(b"\n", b"").replace(b"\r", b"")
    scheme = "".join(random.choices("abcxyz+.-19", k=random.randrange(1, 9)))
    return _bytes(f"{scheme}:{random.choice(('', '//', '///'))}{random.choice(_HOSTS)}{random.choice(_PATHS)}")


def _header(random: Random, own: str) -> bytes:
    name = random.choice(_NAMES).encode()
    value = _bytes(random.choice(_VALUES))
    match random.randrange(8):
        case 0:
            value = _noise(random, 60).replace(b"\n", b"").replace(b"\r", b"")
        case 1:
            name, value = b"Set-Cookie", _bytes(random.choice(_COOKIES))
        case 2:
            name, value = b"Refresh", b"0;url=" + location(random, own)
        case 3:
            name = _noise(random, 20).replace(b"\n", b"").replace(b"\r", b"")
    return name + random.choice((b": ", b":", b" : ", b"")) + value + b"\r\n"


def _body(random: Random, own: str) -> bytes:
    if not random.randrange(5):
        return _noise(random, 3_000)
    parts = [
        _bytes(random.choice(_MARKUP)) if random.randrange(4) else location(random, own)
        for _ in range(random.randrange(30))
    ]
    text = b"".join(parts)
    match random.randrange(12):
        case 0:
            return text.decode("utf-8", "replace").encode("utf-16")
        case 1:
            return b"\x1f\x8b" + text
        case 2:
            return b"%PDF-1.4\n" + text
    return text


def _coded(random: Random, body: bytes) -> tuple[bytes, bytes]:
    """A body under a content coding that it may have, and the header that says which."""
    match random.randrange(8):
        case 0:
            return gzip.compress(body)[: random.randrange(1, 200)], b"Content-Encoding: gzip\r\n"
        case 1:
            return zlib.compress(body), b"Content-Encoding: deflate\r\n"
        case 2:
            name = random.choice((b"gzip", b"br", b"zstd", b"x", b"gzip,deflate"))
            return body, b"Content-Encoding: %s\r\n" % name
        case 3:
            return _BOMB, b"Content-Encoding: gzip\r\n"
    return body, b""


def _chunked(random: Random, body: bytes, own: str) -> bytes:
    """A body in chunks of odd sizes, with trailers."""
    known = b"%x" % len(body), b"%X;a=b" % len(body), b"%x" % (len(body) + 9)
    size = random.choice((*known, b"-1", b"ffffffffffffffffff", b"", b"0x5", b"zz"))
    trailers = b"".join(_header(random, own) for _ in range(random.randrange(6)))
    last = random.choice((b"0", b"00000", b"0;x", b"-0"))
    return b"\r\n".join((size, body, last, trailers + random.choice((b"\r\n", b""))))


async def _slowly(data: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(data), 700):
        yield data[start : start + 700]


def hostile(random: Random, asked: Asked, own: str) -> Act:
    """One answer; `own` is the beginning of the server's URLs."""
    match random.randrange(60):
        case 0:
            return Silence()
        case 1 | 2:
            return HangUp(reset=random.random() < 0.5)
        case 3 | 4:
            return _noise(random, 2_000)
    code = random.choice(_REDIRECTS) if random.random() < 0.45 else random.choice(_CODES)
    version = random.choice((b"HTTP/1.1",) * 12 + (b"HTTP/1.0", b"HTTP/2", b"http/1.1", b"ICY"))
    words = _bytes(random.choice(("OK", "", "\u00fc", "\0", "a" * 3_000) if not random.randrange(6) else ("OK",)))
    head = b"%s %d %s\r\n" % (version, code, words)
    if code in _REDIRECTS or not random.randrange(9):
        head += b"Location: " + location(random, own) + b"\r\n"
    head += b"".join(_header(random, own) for _ in range(random.choice((0, 1, 2, 3, 8, 40))))
    if random.random() < 0.7:
        head += b"Content-Type: text/html\r\n"
    body, coding = _coded(random, _body(random, own))
    head += coding
    match random.randrange(4):
        case 0:
            end = b"Transfer-Encoding: chunked\r\n\r\n" + _chunked(random, body, own)
        case 1:
            end = b"\r\n" + body
        case _:
            end = b"Content-Length: %d\r\n\r\n" % (len(body) + random.choice((0, 0, 0, 1, -1, 10**9))) + body
    whole = head + b"Connection: close\r\n" * (random.random() < 0.8) + end
    if asked.method == "HEAD" and random.random() < 0.7:
        whole = whole.partition(b"\r\n\r\n")[0] + b"\r\n\r\n"
    return whole if b"connection: close" not in whole.lower() else _slowly(whole)


def script_of(day: Callable[[], int]) -> Callable[[Asked], Act]:
    """The script of a server that answers otherwise on each day."""

    def script(asked: Asked) -> Act:
        host = asked.headers.get("Host", "")
        return hostile(Random(f"weboid {day()} {host} {asked.method} {asked.target}"), asked, f"http://{host}")

    return script
