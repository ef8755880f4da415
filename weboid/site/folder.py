"""Serves a folder on loopback, to ask for its files as a web server gives them; no path leads out of it."""

import asyncio
import mimetypes
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, cast
from urllib.parse import unquote, unquote_to_bytes

_HEAD_BYTES: Final = 65_536
_WORDS: Final = {200: "OK", 301: "Moved Permanently", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed"}
_TYPES: Final = {".xhtml": "application/xhtml+xml", ".xht": "application/xhtml+xml"}
_INDEXES: Final = ("index.html", "index.htm", "index.xhtml")


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[str]:
    """The URL of a folder, while the block runs."""
    root = await asyncio.to_thread(folder.resolve)
    server = await asyncio.get_running_loop().create_server(lambda: _Connection(root), "127.0.0.1", 0)
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


class _Connection(asyncio.Protocol):
    """One connection, which is kept open as HTTP/1.1 does."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # of another class in uvloop

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head, self._buffer = self._buffer[:end], self._buffer[end + 4 :]
            self._transport.write(_answer(self._root, head))
        if len(self._buffer) > _HEAD_BYTES:
            self._transport.close()


def _answer(root: Path, head: bytes) -> bytes:
    method, _, rest = head.partition(b" ")
    target = rest.partition(b" ")[0].partition(b"?")[0]
    if method not in (b"GET", b"HEAD"):
        return _reply(405)
    path = unquote_to_bytes(target)
    file = _file(root, path)
    if file is not None and file.is_dir():
        if not path.endswith(b"/"):
            return _reply(301, f"Location: {target.decode('ascii', 'replace')}/")
        file = next((file / name for name in _INDEXES if (file / name).is_file()), None)
    elif path.endswith(b"/"):
        file = None
    try:
        body = file.read_bytes() if file and file.is_file() else None
    except OSError:
        body = None
    if file is None or body is None:
        return _reply(404)
    kind = _TYPES.get(file.suffix.lower()) or mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    return _reply(200, f"Content-Type: {kind}", body=body, is_head=method == b"HEAD")


def _file(root: Path, path: bytes) -> Path | None:
    """The file of a path; None if there is none in the folder, links followed."""
    try:
        file = (root / path.decode("utf-8", "surrogateescape").lstrip("/")).resolve()
        return file if file.is_relative_to(root) and file.exists() else None
    except (OSError, ValueError, RuntimeError):
        return None


def _reply(code: int, *lines: str, body: bytes = b"", is_head: bool = False) -> bytes:
    head = [f"HTTP/1.1 {code} {_WORDS[code]}", *lines, f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(head).encode("utf-8", "surrogateescape") + (b"" if is_head else body)
