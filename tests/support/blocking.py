"""Fails a test that waits for the database in the thread of its own event loop.

What it waits for may be a lock that a transaction of the same loop holds: then both wait until the test times out, on a
busy machine only. Blocking calls of the standard library within coroutines are found by ruff (ASYNC210 to ASYNC251).
The embedded server, which is started before anything else runs, may wait.
"""

import asyncio
import inspect
from functools import wraps
from pathlib import Path
from typing import Any, Final

import psycopg

_TESTS: Final = str(Path(__file__).resolve().parents[1])
_PSYCOPG: Final = str(Path(psycopg.__file__).parent)


def pytest_configure() -> None:
    """Lets synchronous psycopg refuse to work for tests where an event loop runs."""
    for name in ("wait", "connect"):
        _guard(name)
    psycopg.connect = psycopg.Connection.connect


def _guard(name: str) -> None:
    work = getattr(psycopg.Connection, name)

    @wraps(work)
    def guarded(*args: Any, **options: Any) -> Any:
        if asyncio._get_running_loop() is not None and _caller().startswith(_TESTS):
            raise AssertionError("a synchronous connection blocks the event loop: use psycopg.AsyncConnection")
        return work(*args, **options)

    setattr(psycopg.Connection, name, guarded)


def _caller() -> str:
    frame = inspect.currentframe()
    while frame and frame.f_code.co_filename.startswith((__file__, _PSYCOPG)):
        frame = frame.f_back
    return frame.f_code.co_filename if frame else ""
