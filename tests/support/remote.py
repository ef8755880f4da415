"""For tests of remote crawlers and feeders: a server that answers over HTTP, and a bad network on the way."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from io import BytesIO
from random import Random

import aiohttp
from aiohttp import hdrs, web

from weboid.cli.serve import serving
from weboid.config import Config, load_config
from weboid.demo.serving import open_application
from weboid.remote.http.client import ServerClient, open_client
from weboid.remote.http.messages import FEEDERS as FEEDERS_ENDPOINT
from weboid.store.db.pool import Pool

TOKEN = "crawler-token"
CRAWLERS = f"far:{sha256(TOKEN.encode()).hexdigest()}"
FEED_TOKEN = "feeder-token"
FEEDERS = f"fed:{sha256(FEED_TOKEN.encode()).hexdigest()}"


def server_config(**values: str) -> Config:
    """The configuration of a server; the crawler "far" and the feeder "fed" are let in."""
    tokens = {"WEBOID_WEB_CRAWLERS": CRAWLERS, "WEBOID_WEB_FEEDERS": FEEDERS}
    return load_config(None, {**tokens, "WEBOID_CRAWL_DELAY": "0", **values})


@asynccontextmanager
async def open_server(
    pool: Pool, config: Config | None = None, today: Callable[[], int] = lambda: 100
) -> AsyncIterator[str]:
    """A web process for crawlers on loopback; its address."""
    async with serving(config or server_config(), pool, today, "127.0.0.1", 0) as url:
        yield url


async def posted_call(url: str, data: bytes, token: str | None, kind: str) -> tuple[int, bytes]:
    """The status and the body of the answer to a call as these bytes; without a token none is sent."""
    headers = {hdrs.CONTENT_TYPE: kind} | ({hdrs.AUTHORIZATION: token} if token is not None else {})
    async with aiohttp.ClientSession() as client, client.post(url, data=BytesIO(data), headers=headers) as answer:
        return answer.status, await answer.read()


@asynccontextmanager
async def crawler_client(url: str, worker: str = "one", token: str = TOKEN) -> AsyncIterator[ServerClient]:
    async with open_client(url, token, worker) as client:
        yield client


@asynccontextmanager
async def feeder_client(url: str, worker: str = "one", token: str = FEED_TOKEN) -> AsyncIterator[ServerClient]:
    async with open_client(url, token, worker, endpoint=FEEDERS_ENDPOINT) as client:
        yield client


@dataclass
class BadNetwork:
    """Delays, repeats, reorders and drops requests and answers; how often it did what is counted in `did`."""

    server: str
    random: Random
    share: float = 0.5
    """The share of requests to which something happens."""
    did: dict[str, int] = field(default_factory=dict)
    late: set[asyncio.Task[None]] = field(default_factory=set)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        trouble = "pass"
        if self.random.random() < self.share:
            trouble = self.random.choice(
                ("drop", "drop-answer", "delay", "repeat", "repeat-late", "fail", "cut-off", "other-page")
            )
        self.did[trouble] = self.did.get(trouble, 0) + 1
        match trouble:
            case "drop":
                return self._hung_up(request)
            case "fail":
                return web.Response(status=502)
            case "delay":
                await asyncio.sleep(self.random.random() * 0.3)
            case "repeat":
                await self._passed_on(request, body)
            case "repeat-late":
                task = asyncio.create_task(self._late(request, body))
                self.late.add(task)
                task.add_done_callback(self.late.discard)
        status, answer, kind = await self._passed_on(request, body)
        if trouble == "drop-answer":
            return self._hung_up(request)
        if trouble == "cut-off":
            answer = answer[: len(answer) // 2]
        if trouble == "other-page":
            answer, kind = b"<html>Please log in", "text/html"
        return web.Response(status=status, body=answer, headers={hdrs.CONTENT_TYPE: kind})

    async def _late(self, request: web.Request, body: bytes) -> None:
        await asyncio.sleep(0.1 + self.random.random())
        await self._passed_on(request, body)

    async def _passed_on(self, request: web.Request, body: bytes) -> tuple[int, bytes, str]:
        kept = {name: request.headers[name] for name in (hdrs.AUTHORIZATION, hdrs.CONTENT_TYPE)}
        async with (
            aiohttp.ClientSession() as client,
            client.post(self.server + request.path, data=BytesIO(body), headers=kept) as response,
        ):
            return response.status, await response.read(), response.headers.get(hdrs.CONTENT_TYPE, "")

    @staticmethod
    def _hung_up(request: web.Request) -> web.Response:
        if request.transport is not None:
            request.transport.abort()
        return web.Response(status=500)


@asynccontextmanager
async def open_bad_network(server: str, seed: int, share: float = 0.5) -> AsyncIterator[tuple[str, BadNetwork]]:
    """The address of a server behind such a network. At its end all that was to come late has come."""
    network = BadNetwork(server, Random(seed), share)
    app = web.Application(client_max_size=64 << 20)
    app.router.add_post("/{path:.*}", network.handle)
    async with open_application(app) as address:
        try:
            yield address, network
            await asyncio.gather(*network.late, return_exceptions=True)
        finally:
            for task in network.late:
                task.cancel()
            await asyncio.gather(*network.late, return_exceptions=True)
