"""``/internal/crawl/…``: the calls of crawlers elsewhere (O-1), off unless tokens are configured for them.

What a call does, ``central/crawl/answering`` says. One law: nothing of a body is read before the token is known, and
nobody holds a slot while its body comes.
"""

import logging
import re
from typing import Final

from aiohttp import hdrs, web

from weboid.central.crawl.answering import Answering, NoSuchCall, OtherScheme
from weboid.central.http.calling import KIND, SCHEME
from weboid.central.http.messages import MOST_SENT, BadMessage, TooLong
from weboid.errors import StoreError
from weboid.web.http.lanes import lanes_of
from weboid.web.http.tokens import TrustedClients
from weboid.web.request.problem import Problem
from weboid.web.request.route import Lane

log = logging.getLogger(__name__)

_CREDENTIALS: Final = re.compile(rf"{SCHEME} +(\S+)", re.I)


class Crawlers:
    """The calls of crawlers that one of these tokens lets in."""

    def __init__(self, answering: Answering, clients: TrustedClients) -> None:
        self._answering = answering
        self._clients = clients

    async def call(self, request: web.Request) -> web.Response:
        """Does one call and answers it; what is refused has a status alone."""
        try:
            return await self._answer(request)
        except Problem as problem:
            headers = {hdrs.RETRY_AFTER: str(problem.retry_s)} if problem.retry_s else {}
            return web.Response(status=problem.http, headers={hdrs.CACHE_CONTROL: "no-store", **headers})
        except StoreError as error:
            log.debug("a call of a crawler elsewhere is not done: %s", error)
            return web.Response(status=503, headers={hdrs.CACHE_CONTROL: "no-store"})

    async def _answer(self, request: web.Request) -> web.Response:
        if not self._clients.known:
            raise Problem(404, "no-such-address")
        client = self._client_of(request)
        body = await _body_of(request)
        async with lanes_of(request).turn(request, Lane.CRAWLERS):
            try:
                answer = await self._answering.answer(client, request.match_info["call"], body)
            except NoSuchCall:
                raise Problem(404, "no-such-address") from None
            except TooLong:
                raise Problem(413, "too-long") from None
            except BadMessage:
                raise Problem(400, "request") from None
            except OtherScheme:
                raise Problem(409, "request") from None
        return web.Response(body=answer, content_type=KIND, headers={hdrs.CACHE_CONTROL: "no-store"})

    def _client_of(self, request: web.Request) -> str:
        given = request.headers.getall(hdrs.AUTHORIZATION, [])
        match = _CREDENTIALS.fullmatch(given[0].strip()) if len(given) == 1 else None
        name = self._clients.name_of(match[1]) if match else None
        if name is None:
            raise Problem(401, "token")
        return name


async def _body_of(request: web.Request) -> bytes:
    if request.content_type != KIND or hdrs.CONTENT_ENCODING in request.headers:
        raise Problem(415, "request")
    if (request.content_length or 0) > MOST_SENT:
        raise Problem(413, "too-long")
    body = bytearray()
    while len(body) <= MOST_SENT and (chunk := await request.content.readany()):
        body += chunk
    if len(body) > MOST_SENT:
        raise Problem(413, "too-long")
    return bytes(body)
