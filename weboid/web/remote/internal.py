"""``/internal/…``: the calls of remote crawlers and feeders (O-1), off unless tokens are configured for them.

``remote/http/server`` does the calls. Nothing of a body is read before the token is known, and nobody holds a slot
while its body comes.
"""

import logging
import re
from dataclasses import dataclass

from aiohttp import hdrs, web
from prometheus_client import Counter

from weboid.errors import StoreError
from weboid.remote.http.messages import MOST_SENT, BadMessage, Endpoint, TooLong, compressed, encoded, read_whole
from weboid.remote.http.server import CallRefused, CallServer, NotAllowed, require_version
from weboid.web.http.lanes import lanes_of
from weboid.web.http.tokens import TrustedClients
from weboid.web.request.problem import Problem
from weboid.web.request.route import Lane

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RemoteProcesses:
    """The endpoint of processes of one kind, which have one of these tokens; `forbidden` counts refused calls."""

    endpoint: Endpoint
    server: CallServer
    clients: TrustedClients
    lane: Lane
    forbidden: Counter

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
        async with lanes_of(request).turn(request, Lane.FILES):
            if not self.clients.known:
                raise web.HTTPNotFound
            client = self._client_of(request)
        if request.content_type != self.endpoint.kind or hdrs.CONTENT_ENCODING in request.headers:
            raise Problem(415, "request")
        if (request.content_length or 0) > MOST_SENT:
            raise TooLong
        body = await read_whole(request.content.iter_any(), MOST_SENT)
        async with lanes_of(request).turn(request, self.lane):
            try:
                require_version(self.endpoint, request.headers[hdrs.CONTENT_TYPE])
                answer, status = await self.server.answer(client, request.match_info["call"], body), 200
            except CallRefused as refused:
                if isinstance(refused, NotAllowed):
                    self.forbidden.labels(self.endpoint.word, refused.key).inc()
                    log.warning("a call of the %s %s is refused: %s", self.endpoint.word, client, refused)
                answer, status = compressed(encoded(str(refused))), 422
        headers = {hdrs.CACHE_CONTROL: "no-store"}
        return web.Response(body=answer, status=status, content_type=self.endpoint.kind, headers=headers)

    def _client_of(self, request: web.Request) -> str:
        given = request.headers.getall(hdrs.AUTHORIZATION, [])
        match = re.fullmatch(rf"{self.endpoint.scheme} +(\S+)", given[0].strip(), re.I) if len(given) == 1 else None
        name = self.clients.name_of(match[1]) if match else None
        if name is None:
            raise Problem(401, "token")
        return name
