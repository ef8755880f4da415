"""``/data``: the list of the files of the public data set, and the files themselves (W-13).

A file is sent in parts, as fast as its reader takes it; it is never in memory as a whole.
"""

from typing import Any

from aiohttp import hdrs, web

from weboid.core.record.days import iso
from weboid.mechanism.fair_slots import aside
from weboid.store.lists.dataset import PARTS, DataSet, find_part, list_sets
from weboid.web.request.accept import Format
from weboid.web.request.problem import Problem
from weboid.web.request.route import address_of, format_of
from weboid.web.service import ServiceHandlers, given_in, html_words, machine_words


class DatasetFiles(ServiceHandlers):
    async def index(self, request: web.Request) -> web.Response:
        """The list of the files, newest first."""
        given = given_in(request)
        async with self._service.pool.connection() as conn:
            sets = await list_sets(conn)
        if format_of(request) is Format.HTML:
            say = html_words(request, given)
            rows = [(name_of(each), say.date(each.day), each.lines, -(-each.size // 1024)) for each in sets]
            return await self._service.html(request, "data.html", given, say, sets=rows)
        head = self._service.head(self._service.today(), machine_words(given))
        return self._service.send_payload(request, {**head, "files": [self._as_json(each) for each in sets]})

    async def file(self, request: web.Request) -> web.StreamResponse:
        """One file, by its name; raises Problem 404 if there is none of this name."""
        async with self._service.pool.connection() as conn:
            found = {name_of(each): each for each in await list_sets(conn)}
        if (wanted := found.get(request.match_info["name"])) is None:
            raise Problem(404, "no-such-address")
        response = web.StreamResponse(
            headers={
                hdrs.CONTENT_TYPE: "application/gzip",
                hdrs.CONTENT_LENGTH: str(wanted.size),
                hdrs.CACHE_CONTROL: "public, max-age=604800, immutable",
                hdrs.ACCESS_CONTROL_ALLOW_ORIGIN: "*",
            }
        )
        await response.prepare(request)
        if request.method != hdrs.METH_HEAD:
            for part in range(PARTS):
                async with self._service.pool.connection() as conn:
                    body = await find_part(conn, wanted.day, wanted.farm, part)
                if body is None:
                    break  # deleted meanwhile: the reader sees by the length that something is missing
                async with aside():
                    await response.write(body)
        return response

    def _as_json(self, each: DataSet) -> dict[str, Any]:
        name = name_of(each)
        return {
            "name": name,
            "farm": each.farm,
            "day": iso(each.day),
            "lines": each.lines,
            "bytes": each.size,
            "url": self._service.public_url + address_of("data-file", name=name),
        }


def name_of(each: DataSet) -> str:
    """The file name of a data set."""
    return f"statuses-{each.farm}-{iso(each.day)}.csv.gz"
