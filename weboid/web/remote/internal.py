"""``/internal/…``: the calls of remote crawlers and feeders (O-1), off unless tokens are configured for them.

``remote/http/server`` does the calls. Nothing of a body is read before the token is known, and nobody holds a slot
while its body comes.
"""

import logging
import re

from aiohttp import hdrs, web
from prometheus_client import Counter

from weboid.errors import StoreError
from weboid.remote.http.endpoint import Endpoint
from weboid.remote.http.messages import MOST_SENT, BadMessage, TooLong, compressed, encoded, read_whole
from weboid.remote.http.server import CallRefused, CallServer, NotAllowed
from weboid.web.http.lanes import lanes_of
from weboid.web.http.tokens import TrustedClients
from weboid.web.request.problem import Problem
from weboid.web.request.route import Lane

log = logging.getLogger(__name__)


class RemoteProcesses:
    """The endpoint of processes of one kind, which have one of these tokens; `forbidden` counts refused calls."""

    def __init__(
        self, endpoint: Endpoint, server: CallServer, clients: TrustedClients, lane: Lane, forbidden: Counter
    ) -> None:
        self._endpoint = endpoint
        self._server = server
        self._clients = clients
        self._lane = lane
        self._forbidden = forbidden
        self._credentials = re.compile(rf"{endpoint.scheme} +(\S+)", re.I)

    async def call(self, request: web.Request) -> web.Response:
        """Does one call and answers it; a refusal has a status alone, or a text for the operator."""
        try:
            return await self._answer(request)
        except BadMessage as bad:
            return web.Response(status=bad.status, headers={hdrs.CACHE_CONTROL: "no-store"})
        except Problem as problem:
            headers = {hdrs.RETRY_AFTER: str(problem.retry_s)} if problem.retry_s else {}
            return web.Response(status=problem.http, headers={hdrs.CACHE_CONTROL: "no-store", **headers})
        except StoreError as error:
            log.debug("a call of a remote process is not done: %s", error)
            return web.Response(status=503, headers={hdrs.CACHE_CONTROL: "no-store"})

    async def _answer(self, request: web.Request) -> web.Response:
        if not self._clients.known:
            raise Problem(404, "no-such-address")
        client = self._client_of(request)
        if request.content_type != self._endpoint.kind or hdrs.CONTENT_ENCODING in request.headers:
            raise Problem(415, "request")
        if (request.content_length or 0) > MOST_SENT:
            raise TooLong
        body = await read_whole(request.content, MOST_SENT)
        async with lanes_of(request).turn(request, self._lane):
            try:
                answer = await self._server.answer(client, request.match_info["call"], body)
            except CallRefused as refused:
                if isinstance(refused, NotAllowed):
                    self._forbidden.labels(self._endpoint.word, refused.key).inc()
                    log.warning("a call of the %s %s is refused: %s", self._endpoint.word, client, refused)
                return self._response(compressed(encoded(str(refused))), 422)
        return self._response(answer)

    def _response(self, body: bytes, status: int = 200) -> web.Response:
        headers = {hdrs.CACHE_CONTROL: "no-store"}
        return web.Response(body=body, status=status, content_type=self._endpoint.kind, headers=headers)

    def _client_of(self, request: web.Request) -> str:
        given = request.headers.getall(hdrs.AUTHORIZATION, [])
        match = self._credentials.fullmatch(given[0].strip()) if len(given) == 1 else None
        name = self._clients.name_of(match[1]) if match else None
        if name is None:
            raise Problem(401, "token")
        return name
