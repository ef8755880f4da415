"""``weboid health``: checks that a process runs, for health checks of Kubernetes, containers and Toolforge."""

import asyncio
import logging
import sys

import click

from weboid.cli.processes.process import host_name, run_async
from weboid.cli.terminal.logs import print_message
from weboid.config import Config
from weboid.errors import StoreAway
from weboid.store.db.pool import open_pool
from weboid.store.embedded import embedded_folder
from weboid.store.schedule.process import ProcessRole, SeenProcess, list_processes

_WAIT_S = 2.0
"""Toolforge takes a check that has not ended within 5 s for one that failed."""


@click.command("health")
@click.argument("role", type=click.Choice([role.value for role in ProcessRole]))
@click.pass_obj
def command(config: Config, role: str) -> None:
    """Checks whether a process of the role on this host was seen within the last minute: status 0, else 1.

    While a database of your own is away it is 0, too: a process that is restarted could do no more. And while a role
    that only one may have is another host's: Kubernetes ends the old process once the new one is well. The embedded
    database is neither started nor stopped: without it no process runs.
    """
    status, text = run_async(_health(config, role))
    if status:
        print_message(text, logging.ERROR)
    else:
        click.echo(text)
    sys.exit(status)


async def _health(config: Config, role: str) -> tuple[int, str]:
    """The status, and the finding in words."""
    dsn = config.database or embedded_folder(config.data).dsn()
    try:
        async with (
            asyncio.timeout(_WAIT_S),
            open_pool(dsn, size=1, part="health", statement_timeout_s=_WAIT_S, timeout_s=_WAIT_S) as pool,
            pool.connection() as conn,
        ):
            seen = await list_processes(conn)
    except (StoreAway, TimeoutError) as error:
        if not config.database:
            return 1, f"no {role} runs: the database in {config.data} does not answer"
        # To restart all processes because the database is silent helps nobody (D-353).
        return 0, str(error) or f"the database has not answered for {_WAIT_S:g} s"
    seen = sorted((process for process in seen if process.role == role), key=lambda process: process.silent_s)
    here = [process for process in seen if process.host == host_name()]
    remote = [process for process in seen if process.is_running]
    if here:
        return _finding(here[0])
    if remote and ProcessRole(role).is_exclusive:
        return 0, f"{_finding(remote[0])[1]}; one here could only wait for its end"
    return 1, f"no {role} runs on {host_name()}"


def _finding(process: SeenProcess) -> tuple[int, str]:
    words = f"{process.role} on {process.host}, process {process.pid}, was seen {process.silent_s:.0f} s ago"
    return (0 if process.is_running else 1), f"{words}: {process.doing}" if process.doing else words
