"""The formats that all lists of a wiki have: a page for people, a payload, and a file (W-6).

As CSV a list comes as a whole, in parts that are read and sent one after another, so that none is in memory but one. A
file that ends before its list says so where people and programs look: its last row is the address of the rest. What
others do was found wanting: a header that no spreadsheet shows, or nothing at all (as in datasette and
lightdash).
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, TypeVar
from urllib.parse import urlencode

from aiohttp import hdrs, web

from weboid.mechanism.fair_slots import aside
from weboid.web.formats import csv, html
from weboid.web.http.respond import OPEN_TO_ALL, coding_of
from weboid.web.request.dead_filter import NAMES
from weboid.web.request.parameters import LANGUAGE, Parameters, only
from weboid.web.request.work import LINKS
from weboid.web.service import Service
from weboid.web.words.messages import Messages

CSV_ROWS: Final = 100_000
"""Rows of a CSV file at most."""
_PART: Final = 250
"""Rows of a CSV file that are read at a time: some ten milliseconds."""

Row = tuple[str | int | None, ...]
T = TypeVar("T")


async def list_csv(
    service: Service,
    request: web.Request,
    name: str,
    columns: Sequence[str],
    after: T,
    read: Callable[[T, int], Awaitable[tuple[list[Row], T | None]]],
    text_of: Callable[[T], str | None],
) -> web.StreamResponse:
    """A list as a file, part by part, from `after` on; nothing is sent before the first part is read.

    The last row of one that ends at `CSV_ROWS` is no entry: it has the address of the rest.
    """
    part, spot = await read(after, min(_PART, CSV_ROWS))
    headers = {
        hdrs.CONTENT_TYPE: f"{csv.CONTENT_TYPE}; charset=utf-8; header=present",
        hdrs.CONTENT_DISPOSITION: f'attachment; filename="{name}.csv"',
        hdrs.CACHE_CONTROL: "no-cache",
        hdrs.VARY: "Accept-Encoding",
    }
    response = web.StreamResponse(headers=headers | OPEN_TO_ALL)
    if request.method != hdrs.METH_HEAD and (coding := coding_of(request)):
        response.enable_compression(web.ContentCoding(coding))
    await response.prepare(request)
    rows, begin = 0, csv.BEGIN + csv.lines_of([columns])
    try:
        while request.method != hdrs.METH_HEAD:
            rows += len(part)
            is_full = rows >= CSV_ROWS
            if spot is not None and is_full:
                part.append(_rest_row(service, request, columns, text_of(spot)))
            lines, begin = begin + csv.lines_of(part), b""
            async with aside():
                if lines:
                    await response.write(lines)
            if spot is None or is_full:
                break
            part, spot = await read(spot, min(_PART, CSV_ROWS - rows))
    finally:
        request[LINKS] = rows
    return response


def _rest_row(service: Service, request: web.Request, columns: Sequence[str], after: str | None) -> Row:
    """The row of nothing but the address at which a list goes on."""
    address = (
        f"{service.public_url}{request.path}?{urlencode({**request.query, 'format': 'csv', 'after': after or ''})}"
    )
    return tuple(address if column == ("url" if "url" in columns else "title") else None for column in columns)


async def list_html(
    service: Service,
    request: web.Request,
    template: str,
    given: Parameters,
    say: Messages,
    after: str | None,
    **values: Any,
) -> web.Response:
    """A list as a page."""
    first = {name: value for name, value in given.items() if name != "after"}
    other = html.query({name: value for name, value in given.items() if name in ("dbname", *LANGUAGE)})
    values |= {"is_first": "after" not in given, "first": html.query(first), "other": other, "csv_rows": CSV_ROWS}
    verdict = only(given, "verdict") if given.get("verdict") == "doubtful" else {}
    values["feed_query"] = html.query({**only(given, "dbname", *NAMES), **verdict, **only(given, *sorted(LANGUAGE))})
    values["next"] = None if after is None else html.query({**given, "after": after})
    return await service.html(request, template, given, say, **values)


def list_payload(
    service: Service, request: web.Request, say: Messages, values: dict[str, Any], after: str | None
) -> web.Response:
    """A list for programs."""
    return service.send_payload(request, {**service.head(service.today(), say), **values, "next": after})
