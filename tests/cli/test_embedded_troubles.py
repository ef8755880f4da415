"""The embedded server when this process can do little: whoever keeps it alive goes on."""

import asyncio
import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from weboid.cli.processes import database
from weboid.cli.processes.database import open_store
from weboid.config import load_config
from weboid.errors import StoreAway, StoreError
from weboid.store.embedded.folder import Folder
from weboid.store.embedded.guard import open_guard
from weboid.store.embedded.postmaster import server_pid

LIMIT_S = 30


@contextmanager
def _no_more_files() -> Iterator[None]:
    """A block in which this process can open no more files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_a_server_is_started_again_after_too_many_files_were_open(
    server_folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(database, "_WATCH_S", 0.02)
    data = server_folder / "troubles"
    config = load_config(None, {}, data=data)
    async with open_store(config, size=1, part="test", wait_s=1) as pool:
        with _no_more_files():
            async with asyncio.timeout(LIMIT_S):
                while "Too many open files" not in caplog.text:
                    await asyncio.sleep(0.02)
        pid = server_pid(Folder.of(data))
        assert pid
        os.kill(pid, signal.SIGKILL)
        async with asyncio.timeout(LIMIT_S):
            while "was started again" not in caplog.text:
                await asyncio.sleep(0.02)
            while True:
                try:
                    async with pool.connection() as connection:
                        await connection.execute("SELECT 1")
                    break
                except StoreAway:
                    continue


async def test_a_guard_that_cannot_be_started_is_told(server_folder: Path) -> None:
    with _no_more_files(), pytest.raises(StoreError, match=r"no process can be started \(Too many open files"):
        async with open_guard(server_folder / "unguarded"):
            pass
