"""``/data``: the list of the files of the public data set, and the files themselves (W-13).

A file is sent in pieces, as fast as its reader takes it; it is never in memory as a whole. A download that was broken
off goes on with a request for the rest (RFC 9110, section 14), of which the checksum is the ETag.
"""

from base64 import b64encode
from typing import Any

from aiohttp import hdrs, web

from weboid.core.record.days import iso
from weboid.mechanism.fair_slots import aside
from weboid.store.lists.dataset import DataSet, SetKind, find_piece, list_files, list_pieces
from weboid.web.request.accept import Format
from weboid.web.request.route import address_of, format_of
from weboid.web.service import ServiceHandlers, given_in, html_words, machine_words


class DatasetFiles(ServiceHandlers):
    async def index(self, request: web.Request) -> web.Response:
        """The list of the files, newest first."""
        given = given_in(request)
        async with self._service.pool.viewing() as conn:
            sets = await list_files(conn)
        if format_of(request) is Format.HTML:
            say = html_words(request, given)
            rows = [
                (name_of(each), say.date(each.day), each.lines, -(-each.size // 1024), each.sha256.hex())
                for each in sets
            ]
            return await self._service.html(request, "data.html", given, say, sets=rows)
        head = self._service.head(self._service.today(), machine_words(given))
        return self._service.send_payload(request, {**head, "files": [self._as_json(each) for each in sets]})

    async def file(self, request: web.Request) -> web.StreamResponse:
        """One file, or its bytes from one number to another; raises HTTPNotFound if there is none of this name."""
        async with self._service.pool.viewing() as conn:
            found = {name_of(each): each for each in await list_files(conn)}
        if (wanted := found.get(request.match_info["name"])) is None:
            raise web.HTTPNotFound
        headers = _headers_of(wanted)
        if headers[hdrs.ETAG] in request.headers.get(hdrs.IF_NONE_MATCH, ""):
            return web.Response(status=304, headers=headers)
        first, end = 0, wanted.size
        response = web.StreamResponse(headers={**headers, hdrs.CONTENT_TYPE: "application/gzip"})
        if (part := _part_of(request, wanted, headers[hdrs.ETAG])) is not None:
            first, end = part
            if first >= wanted.size:
                refused = {hdrs.CONTENT_RANGE: f"bytes */{wanted.size}", hdrs.CACHE_CONTROL: "no-store"}
                return web.Response(status=416, headers=headers | refused)
            response.set_status(206)
            response.headers[hdrs.CONTENT_RANGE] = f"bytes {first}-{end - 1}/{wanted.size}"
        response.content_length = end - first
        await response.prepare(request)
        if request.method != hdrs.METH_HEAD:
            await self._send(response, wanted, first, end)
        return response

    async def _send(self, response: web.StreamResponse, wanted: DataSet, first: int, end: int) -> None:
        """Sends the bytes from `first` to `end`."""
        async with self._service.pool.viewing() as conn:
            pieces = await list_pieces(conn, wanted.day, wanted.farm, wanted.kind)
        begin = 0
        for piece in pieces:
            skipped = max(first - begin, 0)
            if skipped < piece.size and begin < end:
                async with self._service.pool.viewing() as conn:
                    body = await find_piece(conn, wanted.day, wanted.farm, wanted.kind, piece, skipped)
                if body is None:
                    break  # deleted meanwhile: the reader sees by the length that something is missing
                async with aside():
                    await response.write(body[: end - begin - skipped])
            begin += piece.size

    def _as_json(self, each: DataSet) -> dict[str, Any]:
        name = name_of(each)
        return {
            "name": name,
            "kind": SetKind(each.kind).word,
            "farm": each.farm_name,
            "day": iso(each.day),
            "lines": each.lines,
            "bytes": each.size,
            "sha256": each.sha256.hex(),
            "url": self._service.public_url + address_of("data-file", name=name),
        }


def _headers_of(file: DataSet) -> dict[str, str]:
    return {
        hdrs.CACHE_CONTROL: "public, max-age=604800, immutable",
        hdrs.ACCESS_CONTROL_ALLOW_ORIGIN: "*",
        hdrs.ACCEPT_RANGES: "bytes",
        hdrs.ETAG: f'"{file.sha256.hex()}"',
        "Repr-Digest": f"sha-256=:{b64encode(file.sha256).decode()}:",  # RFC 9530
    }


def _part_of(request: web.Request, file: DataSet, etag: str) -> tuple[int, int] | None:
    """The bytes that are requested, from a number to before another; None = all. What is no single range is ignored."""
    if request.method != hdrs.METH_GET or request.headers.get(hdrs.IF_RANGE, etag) != etag:
        return None
    try:
        asked = request.http_range
    except ValueError:
        return None
    if asked.start is None and asked.stop is None:
        return None
    if asked.start is not None and asked.start >= file.size:
        return file.size, file.size
    first, end, _ = asked.indices(file.size)
    return first, end


def name_of(each: DataSet) -> str:
    """The file name of a data set."""
    return f"{SetKind(each.kind).word}-{each.farm_name}-{iso(each.day)}.csv.gz"
