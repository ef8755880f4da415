"""This process: its event loop, environment and limits, and the command line of others of the same program."""

import asyncio
import gc
import getpass
import logging
import os
import platform
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weboid.cli.processes.stopping import ignore_repeats, stoppable
from weboid.cli.terminal.logs import print_error

if TYPE_CHECKING:
    from weboid.config import Config

_GARBAGE = 200_000
"""New objects between two garbage collections of the youngest generation; Python's default is 700. Each passes all that
has come since the last one, and of a crawler's visits nearly nothing is garbage: they took a tenth of its time."""


def run_async(main: Any) -> Any:
    """Runs a coroutine on uvloop, or on asyncio's own loop if that is not installed; signals to stop cancel it."""
    _name_the_user()
    # Thousands of visits under way are no garbage, and scanning them again and again costs time.
    gc.freeze()
    gc.set_threshold(_GARBAGE)
    try:
        import uvloop
    except ImportError:
        run = asyncio.run
    else:
        run = uvloop.run
    try:
        return run(stoppable(main))
    finally:
        gc.freeze()  # the interpreter looks through all that is left before it ends
        ignore_repeats()


def _name_the_user() -> None:
    """Names the user where the user id has no name, as in containers: else the SSH library does not work."""
    try:
        getpass.getuser()
    except (KeyError, OSError):
        add_to_environment("LOGNAME", "weboid")


def own_call(ctx: click.Context, config: "Config") -> list[str]:
    """The command line of another process of this program, with the options of this one, up to its command."""
    given = ctx.parent.params if ctx.parent else {}
    file = given.get("file")
    options = ["--data", str(config.data), *(["--config", str(file)] if isinstance(file, Path) else [])]
    options += [f"--log={given['log']}"] if given.get("log") else []
    return [sys.executable, "-m", "weboid", *options, *(["--verbose"] if given.get("verbose") else [])]


def from_environment(name: str) -> str:
    """A variable for one command alone, empty if it is not set; what configures Weboid is read by ``config``."""
    return os.environ.get(name, "").rstrip("\r\n")


def add_to_environment(name: str, value: str) -> None:
    """Sets a variable of this process, for a library that looks for it there."""
    os.environ[name] = value


def remove_from_environment(beginning: str) -> None:
    """Removes the variables of that beginning from this process, which a library would obey."""
    for name in [each for each in os.environ if each.startswith(beginning)]:
        del os.environ[name]


def environment_without(*names: str) -> dict[str, str]:
    """The environment for another program: this one's without some variables."""
    return {name: value for name, value in os.environ.items() if name not in names}


def host_name() -> str:
    """The name of this host (in a container: of the container)."""
    return platform.node() or "localhost"


def machine() -> str:
    """The scope of process ids: the kernel since its start, and the namespace in it; without /proc the host's name."""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    return host_name()


def is_running(pid: int) -> bool:
    """A process of this machine has not ended; a zombie has."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(") ")[2][:1] not in "ZX"
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def raise_open_files(connections: int) -> int:
    """Raises the soft limit of open files to the hard one; returns the connections that fit, at most so many."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    fits = connections if hard == resource.RLIM_INFINITY else max(min(connections, hard - 200), 1)
    if fits < connections:
        print_error(f"only {fits} of {connections} connections fit into {hard} open files (ulimit -n)", logging.WARNING)
    return fits
