"""Reads the fields of a form that was sent, within bounds.

Who sent it is checked in ``web/identity/session``; what it means is decided by the handler.
One law: the size of a body is checked before it is parsed, and it is decoded as UTF-8 whatever charset it declares:
there are codecs that take minutes for a body of this size.
"""

import asyncio
import re
from typing import Final
from urllib.parse import parse_qsl

from aiohttp import hdrs, web

from weboid.web.request.problem import Problem

MOST_BODY: Final = 16 * 1024
"""The most bytes of a form of ours."""

_MOST_FIELDS: Final = 40
_BODY_S: Final = 20.0
_URLENCODED: Final = "application/x-www-form-urlencoded"
_CONTROLS: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


async def fields_of(request: web.Request, *, most: int = MOST_BODY) -> list[tuple[str, str]]:
    """The fields of a form that was sent, in their order; raises Problem, also for more than `most` bytes."""
    if request.content_type != _URLENCODED or hdrs.CONTENT_ENCODING in request.headers:
        raise Problem(415, "form-type")
    body = bytearray()
    try:
        async with asyncio.timeout(_BODY_S):
            while chunk := await request.content.read(most + 1 - len(body)):
                body += chunk
                if len(body) > most:
                    raise Problem(413, "form-too-long")
    except TimeoutError:
        raise Problem(408, "request") from None
    try:
        fields = parse_qsl(
            body.decode("utf-8"), keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS, separator="&"
        )
    except ValueError:
        raise Problem(400, "request") from None
    if any(_CONTROLS.search(text) for field in fields for text in field):
        raise Problem(400, "request")
    return fields
