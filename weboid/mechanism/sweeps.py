"""Work that is done again and again until a worker is stopped: a sweep, a pause, the next sweep.

One law: no failure ends it. One that was expected is told in a line, all others with their trace; that the store is
away is told by its pool, once for all.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from weboid.errors import StoreAway
from weboid.mechanism.ending import is_stopped_within


async def sweep_until_stopped(
    sweep: Callable[[], Awaitable[object]],
    stopped: asyncio.Event,
    *,
    what: str,
    log: logging.Logger,
    expected: type[Exception],
    idle_s: float | Callable[[], float],
) -> None:
    """Awaits `sweep` until `stopped` is set, `idle_s` seconds after each; `log` is told that `what` waits."""
    while not stopped.is_set():
        try:
            await sweep()
        except StoreAway as error:
            log.debug("%s wait: %s", what, error)
        except expected as error:
            log.warning("%s wait: %s", what, error)
        except Exception as error:
            log.error("%s wait: %r", what, error, exc_info=error)
        await is_stopped_within(stopped, idle_s() if callable(idle_s) else idle_s)
