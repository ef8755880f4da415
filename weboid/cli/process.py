"""This process: its event loop, environment and limits, and the command line of others of the same program."""

import asyncio
import gc
import os
import sys
from pathlib import Path
from typing import Any

import click

from weboid.config import Config

_GARBAGE = 50_000
"""New objects between two garbage collections of the youngest generation; Python's default is 700."""


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
