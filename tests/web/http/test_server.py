"""The server of the webservice, as it ends."""

import asyncio
from collections.abc import AsyncIterator

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
