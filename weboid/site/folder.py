"""Serves a folder on loopback, to ask for its files as a web server gives them; no path leads out of it."""

import asyncio
import mimetypes
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from typing import Final
from urllib.parse import unquote, unquote_to_bytes, urlsplit

_HEAD_BYTES: Final = 65_536
_PIECE: Final = 262_144
_WORDS: Final = {200: "OK", 301: "Moved Permanently", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed"}
_TYPES: Final = {".xhtml": "application/xhtml+xml", ".xht": "application/xhtml+xml"}
_INDEXES: Final = ("index.html", "index.htm", "index.xhtml")


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[str]:
    """The URL of a folder, while the block runs."""
    root = await asyncio.to_thread(folder.resolve)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer), suppress(OSError, EOFError, asyncio.LimitOverrunError, asyncio.CancelledError):
            while True:
                await _answer(root, await reader.readuntil(b"\r\n\r\n"), writer)

    server = await asyncio.start_server(talk, "127.0.0.1", 0, limit=_HEAD_BYTES)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    finally:
        server.close()


def file_of(folder: Path, path: str) -> str:
    """The file that is served for a path, relative to the folder: of a folder its index."""
    file = unquote(path.partition("?")[0]).lstrip("/")
    if file and not file.endswith("/"):
        return file
    return file + next((name for name in _INDEXES if (folder / file / name).is_file()), "")


def page_of(folder: Path, site: str, url: str) -> str:
    """The URL of the page of a folder, served at `site`, for those with a query or of its index; others as they are."""
    start, _, name = url.partition("?")[0].rpartition("/")
    if not url.startswith(site):
        return url
    is_index = name in _INDEXES and file_of(folder, f"{urlsplit(start).path}/").rpartition("/")[2] == name
    return f"{start}/" if is_index else f"{start}/{name}"


async def _answer(root: Path, head: bytes, writer: asyncio.StreamWriter) -> None:
    """Answers one request; a file is read as it is sent."""
    method, _, rest = head.partition(b" ")
    target = rest.partition(b" ")[0].partition(b"?")[0]
    if method not in (b"GET", b"HEAD"):
        writer.write(_head(405))
        return
    path = unquote_to_bytes(target)
    file = _file(root, path)
    if file is not None and file.is_dir():
        if not path.endswith(b"/"):
            writer.write(_head(301, f"Location: {target.decode('ascii', 'replace')}/"))
            return
        file = next(filter(None, (_file(root, path + name.encode()) for name in _INDEXES)), None)
    elif path.endswith(b"/"):
        file = None
    try:
        content = file.open("rb") if file and file.is_file() else None
    except OSError:
        content = None
    if file is None or content is None:
        writer.write(_head(404))
        return
    with content:
        kind = _TYPES.get(file.suffix.lower()) or mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        left = file.stat().st_size
        writer.write(_head(200, f"Content-Type: {kind}", size=left))
        while method == b"GET" and left:
            if not (piece := content.read(min(left, _PIECE))):
                raise EOFError  # it has become shorter
            left -= len(piece)
            writer.write(piece)
            await writer.drain()


def _file(root: Path, path: bytes) -> Path | None:
    """The file of a path; None if there is none in the folder, links followed."""
    try:
        file = (root / path.decode("utf-8", "surrogateescape").lstrip("/")).resolve()
        return file if file.is_relative_to(root) and file.exists() else None
    except (OSError, ValueError, RuntimeError):
        return None


def _head(code: int, *lines: str, size: int = 0) -> bytes:
    head = [f"HTTP/1.1 {code} {_WORDS[code]}", *lines, f"Content-Length: {size}", "", ""]
    return "\r\n".join(head).encode("utf-8", "surrogateescape")
