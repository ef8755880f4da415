"""The server of the webservice, as it ends."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from weboid.web.http.server import open_site


async def test_a_block_that_is_cancelled_again_while_it_ends_is_cancelled_and_nothing_else() -> None:
    serving_now, ending = asyncio.Event(), asyncio.Event()

    async def slow_to_end(_: web.Application) -> AsyncIterator[None]:
        yield
        ending.set()
        await asyncio.Event().wait()

    async def serving() -> None:
        app = web.Application()
        app.cleanup_ctx.extend([slow_to_end, slow_to_end])
        async with open_site(app, "127.0.0.1", 0):
            serving_now.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(serving())
    await serving_now.wait()
    task.cancel()
    for _ in range(2):
        await ending.wait()
        ending.clear()
        task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_request_that_arrives_as_its_connection_is_ended_is_answered() -> None:
    used: list[Any] = []

    async def answer(request: web.Request) -> web.Response:
        used.append(request.protocol)
        return web.Response(text="here")

    app = web.Application()
    app.router.add_get("/", answer)
    sent = b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"
    async with open_site(app, "127.0.0.1", 0) as url, asyncio.timeout(30):
        reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
        writer.write(sent)
        assert (await reader.readuntil(b"here")).startswith(b"HTTP/1.1 200 ")
        (connection,) = used
        connection.data_received(sent)
        connection.end()
        answered = await reader.read()
        assert (answered.startswith(b"HTTP/1.1 200 "), b"\r\nConnection: close\r\n" in answered) == (True, True)
        writer.close()
        await writer.wait_closed()
