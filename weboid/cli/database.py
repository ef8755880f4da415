"""The database of a command: configured or embedded, started, migrated, and closed again.

One law: what is opened here is closed here, also after a signal to stop.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from weboid.config import Config
from weboid.errors import StoreError

if TYPE_CHECKING:
    from weboid.store.db.pool import Pool
    from weboid.store.embedded.server import Server

log = logging.getLogger(__name__)

_WATCH_S = 1.0


@asynccontextmanager
async def open_store(
    config: Config,
    *,
    size: int,
    part: str,
    any_form: bool = False,
    statement_timeout_s: float = 0,
    idle_s: float = 120,
    wait_s: float = 30,
) -> AsyncIterator["Pool"]:
    """The database, configured or embedded, started and migrated; raises StoreError.

    `any_form`: also if its keys are not those of this program (O-10), for commands that neither compute nor write keys.
    A statement is cut off after `statement_timeout_s`, 0 = never, and a transaction that is idle for `idle_s`; nobody
    waits longer than `wait_s` for a connection.
    """
    from weboid.store.db.key_scheme import record_scheme, require_scheme
    from weboid.store.db.migrate import migrate
    from weboid.store.db.pool import open_pool

    server = None if config.database else await _opened_server(config.data)
    watching = asyncio.create_task(_keep_alive(server)) if server else None
    try:
        dsn = server.dsn if server else config.database
        async with open_pool(
            dsn, size=size, part=part, statement_timeout_s=statement_timeout_s, idle_s=idle_s, timeout_s=wait_s
        ) as pool:
            async with pool.connection() as conn:
                applied = await migrate(conn)
            for name in applied:
                log.info("applied migration %s", name)
            async with pool.connection() as conn:
                await record_scheme(conn)
                if not any_form:
                    await require_scheme(conn)
            yield pool
    finally:
        if watching:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
        if server:
            await asyncio.to_thread(server.close)


async def _opened_server(data: Path) -> "Server":
    """The embedded server; whoever is cancelled meanwhile leaves none behind. Raises StoreError."""
    from weboid.store.embedded.server import open_server

    opening = asyncio.create_task(asyncio.to_thread(open_server, data))
    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:
        # The thread goes on all the same.
        with suppress(StoreError):
            await asyncio.to_thread((await opening).close)
        raise


async def _keep_alive(server: "Server") -> None:
    """Starts the embedded server again when it has died; callers try again what was under way."""
    while True:
        await asyncio.sleep(_WATCH_S)
        try:
            if await asyncio.to_thread(server.revive):
                log.warning("the embedded database had died and was started again")
        except StoreError as error:
            log.warning("the embedded database cannot be started again: %s", error)
