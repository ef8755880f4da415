"""What commands share: the clock, the database, the event loop, and stopping in order.

One law: everything that is opened here is closed here, also after a signal to stop.
"""

import asyncio
import gc
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weboid.config import Config
from weboid.core.record.days import day_of
from weboid.core.record.moment import Moment
from weboid.errors import StoreError

if TYPE_CHECKING:
    from weboid.store.db.pool import Pool
    from weboid.store.embedded.server import Server


log = logging.getLogger(__name__)

_WATCH_S = 1.0
_SAME_SIGNAL_S = 1.0
_GARBAGE = 50_000
"""New objects between two garbage collections of the youngest generation; Python's default is 700."""


def today() -> int:
    """The number of the current day (U-2)."""
    return day_of(datetime.now(UTC))


def moment_now() -> datetime:
    """The current moment in UTC."""
    return datetime.now(UTC)


def clock(day: int | None) -> Callable[[], int]:
    """A function that returns the day for a command: always the given one, or the current one."""
    return today if day is None else lambda: day


def moments(day: int | None, hour: int | None) -> Callable[[], Moment]:
    """A function that returns the moment for a command: the current one, but for what is given.

    With a day but no hour the hour is None: the time of the day does not matter.
    """

    def moment() -> Moment:
        now = moment_now()
        return Moment(day_of(now), now.hour if hour is None else hour)

    return moment if day is None else lambda: Moment(day, hour)


class DayType(click.ParamType[int]):
    """A day number (days since 2017-01-01) or an ISO date."""

    name = "day"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        text = str(value)
        try:
            day = int(text) if text.isascii() and text.isdigit() else day_of(datetime.fromisoformat(text).date())
        except ValueError:
            self.fail(f"{text!r} is no day: give an ISO date or a number of days since 2017-01-01", param, ctx)
        if not 0 <= day <= 32_767:
            self.fail(f"{day} is outside the days 0 … 32767", param, ctx)
        return day


day_option = click.option("--day", type=DayType(), help="Use this day instead of today (simulation).")


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
    from weboid.store.embedded.server import open_server

    server = None if config.database else await asyncio.to_thread(open_server, config.data)
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


async def _keep_alive(server: "Server") -> None:
    """Starts the embedded server again when it has died; callers try again what was under way."""
    while True:
        await asyncio.sleep(_WATCH_S)
        try:
            if await asyncio.to_thread(server.revive):
                log.warning("the embedded database had died and was started again")
        except StoreError as error:
            log.warning("the embedded database cannot be started again: %s", error)


def run_async(main: Any) -> Any:
    """Runs a coroutine on uvloop, or on asyncio's own loop if that is not installed."""
    # Thousands of visits under way are no garbage, and scanning them again and again costs time.
    gc.freeze()
    gc.set_threshold(_GARBAGE)
    try:
        import uvloop
    except ImportError:
        return asyncio.run(main)
    return uvloop.run(main)


@contextmanager
def stop_signals(stop: Callable[[], None], *, again: Callable[[], None] | None = None) -> Iterator[None]:
    """Calls `stop` on SIGTERM and Ctrl-C; a second one calls `again`, or ends the program at once.

    What comes within a second is the same one: a terminal's Ctrl-C reaches all processes of a group, and whoever
    started this one then sends SIGTERM, too.
    """
    loop = asyncio.get_running_loop()
    kinds = (signal.SIGTERM, signal.SIGINT)
    waiting: asyncio.TimerHandle | None = None

    def on_signal() -> None:
        nonlocal waiting
        if waiting is None:
            waiting = loop.call_later(_SAME_SIGNAL_S, heed_next)
            stop()

    def heed_next() -> None:
        for kind in kinds:
            loop.remove_signal_handler(kind)
            if again is not None:
                loop.add_signal_handler(kind, again)

    for kind in kinds:
        loop.add_signal_handler(kind, on_signal)
    try:
        yield
    finally:
        if waiting is not None:
            waiting.cancel()
        for kind in kinds:
            loop.remove_signal_handler(kind)


def own_call(ctx: click.Context, config: Config) -> list[str]:
    """The command line of another process of this program, with the options of this one, up to its command."""
    given = ctx.parent.params if ctx.parent else {}
    file = given.get("file")
    options = ["--data", str(config.data), *(["--config", str(file)] if isinstance(file, Path) else [])]
    return [sys.executable, "-m", "weboid", *options, *(["--verbose"] if given.get("verbose") else [])]


def from_environment(name: str) -> str:
    """A variable for one command alone, empty if it is not set; what configures Weboid is read by ``config``."""
    return os.environ.get(name, "")


def add_to_environment(name: str, value: str) -> None:
    """Sets a variable of this process, for a library that looks for it there."""
    os.environ[name] = value


async def until(stopped: asyncio.Event, *works: Coroutine[Any, Any, object]) -> None:
    """Runs all of the works until one ends or `stopped` is set; what one raised is raised."""
    doing = [asyncio.create_task(work) for work in (*works, stopped.wait())]
    await asyncio.wait(doing, return_when="FIRST_COMPLETED")
    for task in doing:
        task.cancel()
    ends = await asyncio.gather(*doing, return_exceptions=True)
    for end in ends:
        if isinstance(end, BaseException) and not isinstance(end, asyncio.CancelledError):
            raise end


def raise_open_files(wanted: int) -> int:
    """Raises the soft limit of open files to the hard one; returns how many connections fit, at most `wanted`."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    fits = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard - 200)
    if fits < wanted:
        click.echo(f"weboid: only {fits} of {wanted} connections fit into {hard} open files (ulimit -n)", err=True)
    return max(fits, 1)
