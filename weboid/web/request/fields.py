"""Reads the fields of a form that was sent, within bounds. ``web/identity/session`` checks the sender.

The size of a body is checked before it is parsed, and it is decoded as UTF-8 whatever charset it declares: there are
codecs that take minutes for a body of this size. No slot is held while a body is received.
"""

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Final
from urllib.parse import parse_qsl

from aiohttp import hdrs, web

from weboid.web.request.problem import Problem
from weboid.web.request.route import MOST_FORM, route_of

_MOST_FIELDS: Final = 40
_BODY_S: Final = 20.0
_URLENCODED: Final = "application/x-www-form-urlencoded"
_CONTROLS: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")

_BODY: Final = web.RequestKey("body", bytearray)
_MOST_COMING: Final = 64 << 20
"""Bytes of long bodies that have begun to come."""
_RETRY_S: Final = 3
_ASIDE: Final = ThreadPoolExecutor(1, "form")


class Bodies:
    """The bodies that come to one process at a time: what has come of the long ones is bounded together."""

    def __init__(self, most_coming: int = _MOST_COMING) -> None:
        self._most_coming = most_coming
        self._coming = 0

    async def receive(self, request: web.Request) -> None:
        """Receives a form for `fields_of`, which then waits for nothing; raises Problem. Other bodies are left."""
        if request.method != hdrs.METH_POST or not _is_form(request) or not request.can_read_body:
            return
        body, counted, most = bytearray(), 0, _most_of(request)
        if (request.content_length or 0) > most:
            raise Problem(413, "form-too-long")
        try:
            async with asyncio.timeout(_BODY_S):
                while len(body) <= most and (chunk := await request.content.read(most + 1 - len(body))):
                    body += chunk
                    if len(body) > MOST_FORM:
                        self._coming += len(body) - counted
                        counted = len(body)
                        if self._coming > self._most_coming:
                            raise Problem(503, "busy", retry_s=_RETRY_S)
        except TimeoutError:
            raise Problem(408, "request") from None
        finally:
            self._coming -= counted
        request[_BODY] = body


async def fields_of(request: web.Request) -> list[tuple[str, str]]:
    """The fields of a form that was sent, in their order; raises Problem, also if it is too long."""
    if not _is_form(request):
        raise Problem(415, "form-type")
    if _BODY not in request:
        await Bodies().receive(request)
    body = request.get(_BODY, b"")
    if len(body) > _most_of(request):
        raise Problem(413, "form-too-long")
    # A long one takes tens of milliseconds: it is parsed in a thread, one at a time.
    if len(body) > MOST_FORM:
        return await asyncio.get_running_loop().run_in_executor(_ASIDE, _parsed, body)
    return _parsed(body)


def _parsed(body: bytes | bytearray) -> list[tuple[str, str]]:
    try:
        fields = parse_qsl(
            body.decode("utf-8"), keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS, separator="&"
        )
    except ValueError:
        raise Problem(400, "request") from None
    if any(_CONTROLS.search(value) for _, value in fields):
        raise Problem(400, "request")
    return fields


def _is_form(request: web.Request) -> bool:
    return request.content_type == _URLENCODED and hdrs.CONTENT_ENCODING not in request.headers


def _most_of(request: web.Request) -> int:
    route = route_of(request)
    return MOST_FORM if route is None else route.most_form
