"""The webservice while its database has not answered yet: it listens, and answers 503 to what needs the store.

A platform that asks whether a webservice lives would end and start it again and again in an outage of the database. No
connection is refused: one that comes while one webservice takes over from the other waits in the system.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from socket import socket
from typing import Final

from weboid.cli.processes.process import raise_open_files
from weboid.config import Config
from weboid.errors import WeboidError
from weboid.mechanism.patience import is_stopped_within
from weboid.store.db.pool import AbsentPool
from weboid.web.app import make_app
from weboid.web.http.server import MOST_CONNECTIONS, open_site

log = logging.getLogger(__name__)

_SOON_S: Final = 1.0
"""If the database answers within this time, there is no 503: requests are answered then."""


@asynccontextmanager
async def answering_unavailable(
    config: Config, today: Callable[[], int], listeners: Sequence[socket], report: Callable[[], None]
) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """Answers in the background at sockets that listen, which stay open, until the block ends or the function that it
    gives is awaited. `report` is called when it begins to.
    """
    over = asyncio.Event()
    answering = asyncio.create_task(_answer(config, today, listeners, report, over))

    async def end() -> None:
        over.set()
        await answering

    try:
        yield end
    finally:
        await end()


async def _answer(
    config: Config,
    today: Callable[[], int],
    listeners: Sequence[socket],
    report: Callable[[], None],
    over: asyncio.Event,
) -> None:
    if await is_stopped_within(over, _SOON_S):
        return
    web = config.web
    try:
        public_url = web.url or f"http://{web.host}:{web.port}"
        app = make_app(config, AbsentPool(), today=today, sources=lambda _: None, public_url=public_url)
        own = [each.dup() for each in listeners]
        most = raise_open_files(MOST_CONNECTIONS)
        async with open_site(app, web.host, web.port, most_connections=most, listeners=own):
            report()
            await over.wait()
    except (WeboidError, OSError) as error:
        # A fault of the configuration is reported again, and ends the program, once the database is there.
        log.error("nothing is answered while the database is away: %s", error)
