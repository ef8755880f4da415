"""The database of a command: configured or embedded, started, migrated, and closed again after a stop, too."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from threading import Event
from typing import TYPE_CHECKING, Final, Protocol

from click.exceptions import Exit

from weboid.cli.processes.process import from_environment
from weboid.config import Config
from weboid.errors import ConfigError, StoreError
from weboid.mechanism.disturbance import Disturbance
from weboid.mechanism.patience import patiently
from weboid.mechanism.pauses import GrowingPause
from weboid.mechanism.tasks import in_background

if TYPE_CHECKING:
    from weboid.pgfolder.server import Server
    from weboid.store.db.pool import Pool

log = logging.getLogger(__name__)

SILENCE_VARIABLE: Final = "WEBOID_DATABASE_SILENCE_S"
"""After so many seconds of silence in a statement the server is asked whether it still works on it."""
LAST_S: Final = 12.0
"""Seconds after a stop, at the end of which nothing waits for the store any more: Toolforge kills after 15 s."""
LAST_AWAY_S: Final = 3.0
"""The same while it is away."""
_LOOK_S: Final = 0.2
_WATCH_S: Final = 1.0
_REVIVE_S: Final = 30.0


class Connected(Protocol):
    """A way to the store: a pool of connections, or a client of a server."""

    @property
    def away(self) -> Disturbance:
        """The disturbance of the store."""

    def give_up(self) -> None:
        """Lets nothing wait for it any more."""


@asynccontextmanager
async def open_store(
    config: Config,
    *,
    size: int,
    part: str,
    any_form: bool = False,
    quiet: bool = False,
    statement_timeout_s: float = 0,
    idle_s: float = 120,
    wait_s: float = 30,
    stopped: asyncio.Event | None = None,
    waits: bool = True,
) -> AsyncIterator["Pool"]:
    """The database, configured or embedded, started and migrated.

    `any_form`: also if its keys are not those of this program (O-10), for commands that neither compute nor write keys.
    `quiet`: only with --verbose it says which migrations were applied.
    A statement is cut off after `statement_timeout_s`, 0 = never, and a transaction that is idle for `idle_s`; nothing
    waits longer than `wait_s` for a connection.

    With `stopped` and `waits` a database that is away is waited for; if `stopped` is set before, click's Exit(0) is
    raised, as nothing was begun. `LAST_S` after `stopped` is set, `LAST_AWAY_S` if the database is away, what waits
    for it gets StoreAway. Raises StoreError, without `stopped` or `waits` StoreAway, too.
    """
    from weboid.store.db.pool import SILENCE_S, open_pool

    away = Disturbance(log, "the database is away")
    silence_s = _silence_s()

    async def attempt() -> "tuple[Pool, AsyncExitStack]":
        """The pool, and what closes all that was opened for it."""
        async with AsyncExitStack() as stack:
            dsn = config.database or (await stack.enter_async_context(_embedded(config))).dsn
            opening = open_pool(
                dsn,
                size=size,
                part=part,
                statement_timeout_s=statement_timeout_s,
                idle_s=idle_s,
                timeout_s=wait_s,
                silence_s=SILENCE_S if silence_s is None else silence_s,
                away=away,
            )
            pool = await stack.enter_async_context(opening)
            await _prepare(pool, any_form=any_form, level=logging.DEBUG if quiet else logging.INFO)
            return pool, stack.pop_all()

    if stopped is None:
        pool, closing = await attempt()
        async with closing:
            yield pool
        return
    _quieten_driver()
    opened = await patiently(attempt, stopped, away, grace_s=0) if waits else await attempt()
    if opened is None:
        raise Exit(0)
    pool, closing = opened
    async with closing, in_background(give_up_after_stop(pool, stopped)):
        yield pool


async def _prepare(pool: "Pool", *, any_form: bool, level: int) -> None:
    """Brings the tables to this program's version; writes nothing where there is nothing to be brought."""
    from weboid.store.db.key_scheme import find_stated, record_scheme, require_scheme
    from weboid.store.db.migrate import migrate

    async with pool.connection() as conn:
        applied = await migrate(conn)
    if applied:
        log.log(level, "applied migrations: %s", " … ".join(dict.fromkeys((applied[0], applied[-1]))))
    async with pool.connection() as conn:
        await record_scheme(conn)
        if not any_form:
            await require_scheme(conn)
            if (stated := await find_stated(conn)) and stated.is_moving:
                log.warning(
                    "URLs of some domains are not found until `weboid rekey` has moved them: run it if none runs"
                )


async def give_up_after_stop(store: Connected, stopped: asyncio.Event) -> None:
    """Lets nothing wait for the store for long once `stopped` is set."""
    loop = asyncio.get_running_loop()
    await stopped.wait()
    begun = loop.time()
    while loop.time() < begun + (LAST_AWAY_S if store.away.times else LAST_S):  # noqa: ASYNC110 (it may change)
        await asyncio.sleep(_LOOK_S)
    store.give_up()


def _silence_s() -> float | None:
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
    """Our own line about a database that is away is enough: the driver logs one for each of its attempts."""
    if not log.isEnabledFor(logging.DEBUG):
        logging.getLogger("psycopg").setLevel(logging.ERROR)


@asynccontextmanager
async def _embedded(config: Config) -> AsyncIterator["Server"]:
    """The embedded server, started, and started again when it has died."""
    from weboid.store.embedded import open_server, store_errors

    given_up = Event()
    starting = asyncio.create_task(asyncio.to_thread(open_server, config.data, given_up, wal=config.embedded.wal))
    try:
        server = await asyncio.shield(starting)
    except asyncio.CancelledError:
        given_up.set()
        # A thread cannot be cancelled: what it starts is not to be left behind.
        with suppress(StoreError), store_errors():
            await asyncio.to_thread((await starting).close)
        raise
    with store_errors():
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
            if reason := await asyncio.to_thread(server.revive):
                log.warning("the embedded database %s; it was started again", reason)
        except Exception as error:  # FolderError, or no thread could be started: nothing else watches it
            dead.met(error)
        else:
            dead.passed()
            pause.reset()
