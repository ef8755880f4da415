"""Data folders of a server for tests that stop, kill, break or upgrade it; nothing of Weboid but ``pgfolder``.

To make a cluster takes two seconds of a busy machine, to copy one a tenth of it: each worker makes one, and tests copy.
"""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Final

from weboid.pgfolder.application import Application
from weboid.pgfolder.folder import Folder
from weboid.pgfolder.postmaster import server_pid
from weboid.pgfolder.server import open_server

_LIMIT_S: Final = 60.0


def folder_of(data: Path, wal: Path | None = None) -> Folder:
    """The data folder at a path, of the application that all tests use."""
    return Folder.of(data, wal, app=Application("weboid"))


@contextmanager
def new_data(place: Path, name: str) -> Iterator[Path]:
    """A data folder in the run's folder for them, with a cluster, not running; whatever runs there is killed."""
    with copied_data(_made_data(place), place / name) as data:
        yield data


@contextmanager
def copied_data(made: Path, data: Path) -> Iterator[Path]:
    """A copy of a stopped data folder, with its owners, until the block ends; the server makes its socket's anew."""
    subprocess.run(["cp", "-a", made, data], check=True)
    shutil.rmtree(data / "socket", ignore_errors=True)
    try:
        yield data
    finally:
        kill_server(data)
        shutil.rmtree(data)


@cache
def _made_data(place: Path) -> Path:
    data = place / "made"
    open_server(folder_of(data)).close()
    return data


def pid_of(data: Path) -> int | None:
    return server_pid(folder_of(data))


def known_pid(data: Path) -> int:
    pid = pid_of(data)
    assert pid
    return pid


def kill_server(data: Path, kind: int = signal.SIGQUIT) -> None:
    """Ends the server of a data folder, if one runs, also one that was halted."""
    if pid := pid_of(data):
        with suppress(ProcessLookupError):
            os.kill(pid, kind)
            os.kill(pid, signal.SIGCONT)
        wait_until(lambda: pid_of(data) is None)


def wait_until(holds: Callable[[], bool]) -> None:
    """Returns when something holds; fails after a minute."""
    end = time.monotonic() + _LIMIT_S
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)
