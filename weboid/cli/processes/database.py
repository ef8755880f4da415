"""The database of a command: configured or embedded, started, migrated, and closed again.

One law: what is opened here is closed here, also after a signal to stop; and who is stopped waits no longer for a
database that is away.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING, Final

from click.exceptions import Exit

from weboid.cli.processes.process import from_environment
from weboid.config import Config
from weboid.errors import ConfigError, StoreError
from weboid.mechanism.disturbance import Disturbance
from weboid.mechanism.patience import patiently
from weboid.mechanism.pauses import GrowingPause
from weboid.mechanism.tasks import in_background

if TYPE_CHECKING:
    from weboid.store.db.pool import Pool
    from weboid.store.embedded.server import Server

log = logging.getLogger(__name__)

SILENCE_VARIABLE: Final = "WEBOID_DATABASE_SILENCE_S"
"""After so many seconds of silence in a statement the server is asked whether it still works on it."""
LAST_S: Final = 12.0
"""Seconds after a stop, at the end of which nobody waits for the database any more: Toolforge kills after 15 s."""
LAST_AWAY_S: Final = 3.0
"""The same while it is away."""
_LOOK_S: Final = 0.2
_WATCH_S: Final = 1.0
_REVIVE_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class _Opening:
    """How the store is opened, as in `open_store`."""

    config: Config
    size: int
    part: str
    any_form: bool
    statement_timeout_s: float
    idle_s: float
    wait_s: float
    silence_s: float | None
    away: Disturbance

    async def __call__(self) -> "tuple[Pool, AsyncExitStack]":
        """One attempt: the pool, and what closes all that was opened for it."""
        from weboid.store.db.pool import SILENCE_S, open_pool

        async with AsyncExitStack() as stack:
            dsn = self.config.database or (await stack.enter_async_context(_embedded(self.config))).dsn
            pool = await stack.enter_async_context(
                open_pool(
                    dsn,
                    size=self.size,
                    part=self.part,
                    statement_timeout_s=self.statement_timeout_s,
                    idle_s=self.idle_s,
                    timeout_s=self.wait_s,
                    silence_s=SILENCE_S if self.silence_s is None else self.silence_s,
                    away=self.away,
                )
            )
            await self._prepare(pool)
            return pool, stack.pop_all()

    async def _prepare(self, pool: "Pool") -> None:
        """Brings the tables to this program's version; writes nothing where there is nothing to be brought."""
        from weboid.store.db.key_scheme import record_scheme, require_scheme
        from weboid.store.db.migrate import migrate

        async with pool.connection() as conn:
            applied = await migrate(conn)
        for name in applied:
            log.info("applied migration %s", name)
        async with pool.connection() as conn:
            await record_scheme(conn)
            if not self.any_form:
                await require_scheme(conn)


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
    stopped: asyncio.Event | None = None,
    waits: bool = True,
) -> AsyncIterator["Pool"]:
    """The database, configured or embedded, started and migrated.

    `any_form`: also if its keys are not those of this program (O-10), for commands that neither compute nor write keys.
    A statement is cut off after `statement_timeout_s`, 0 = never, and a transaction that is idle for `idle_s`; nobody
    waits longer than `wait_s` for a connection.

    With `stopped` and `waits` a database that is away is waited for; if `stopped` is set meanwhile, click's Exit(0) is
    raised, as nothing was begun. `LAST_S` after `stopped` is set, `LAST_AWAY_S` if the database is away, whoever waits
    for it gets StoreAway. Raises StoreError, without `stopped` or `waits` StoreAway, too.
    """
    away = Disturbance(log, "the database is away")
    opening = _Opening(config, size, part, any_form, statement_timeout_s, idle_s, wait_s, _silence_s(), away)
    if stopped is None:
        pool, closing = await opening()
    else:
        _quieten_driver()
        opened = await patiently(opening, stopped, away, grace_s=0) if waits else await opening()
        if opened is None:
            raise Exit(0)
        pool, closing = opened
    async with closing:
        if stopped is None:
            yield pool
        else:
            async with in_background(_end(pool, stopped)):
                yield pool


async def _end(pool: "Pool", stopped: asyncio.Event) -> None:
    """Lets nobody wait for the database for long once `stopped` is set."""
    loop = asyncio.get_running_loop()
    await stopped.wait()
    begun = loop.time()
    while loop.time() < begun + (LAST_AWAY_S if pool.away.times else LAST_S):  # noqa: ASYNC110 (it may change)
        await asyncio.sleep(_LOOK_S)
    pool.give_up()


def _silence_s() -> float | None:
    """As the environment says; raises ConfigError."""
    if not (text := from_environment(SILENCE_VARIABLE)):
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise ConfigError(f"{SILENCE_VARIABLE} must be a number of seconds over 0, not {text!r}")
    return seconds


def _quieten_driver() -> None:
    """Leaves the log to our own line about a database that is away: the driver has one for each of its attempts."""
    if not log.isEnabledFor(logging.DEBUG):
        logging.getLogger("psycopg").setLevel(logging.ERROR)


@asynccontextmanager
async def _embedded(config: Config) -> AsyncIterator["Server"]:
    """The embedded server, started, and started again when it has died."""
    from weboid.store.embedded.server import open_server

    given_up = Event()
    starting = asyncio.create_task(asyncio.to_thread(open_server, config.data, given_up, wal=config.embedded.wal))
    try:
        server = await asyncio.shield(starting)
    except asyncio.CancelledError:
        given_up.set()
        # A thread cannot be cancelled: what it starts is not to be left behind.
        with suppress(StoreError):
            await asyncio.to_thread((await starting).close)
        raise
    try:
        async with in_background(_keep_alive(server)):
            yield server
    finally:
        await asyncio.to_thread(server.close)


async def _keep_alive(server: "Server") -> None:
    """Starts the embedded server again when it has died; callers try again what was under way."""
    dead = Disturbance(log, "the embedded database cannot be started again", calm_s=0)
    pause = GrowingPause(_WATCH_S, _REVIVE_S)
    while True:
        await asyncio.sleep(pause.grown_s() if dead.times else _WATCH_S)
        try:
            if await asyncio.to_thread(server.revive):
                log.warning("the embedded database %s; it was started again", server.fate)
        except Exception as error:  # StoreError, or no thread could be begun: nobody else looks after it
            dead.met(error)
        else:
            dead.passed()
            pause.reset()
