"""``weboid backup``: writes all that the database knows to one file, while everything goes on."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from weboid.cli.days import clock, day_option
from weboid.cli.point_in_time import take_base_backup
from weboid.cli.processes.database import open_store
from weboid.cli.processes.process import run_async
from weboid.cli.processes.stopping import stop_signals, until
from weboid.cli.terminal.console import ProcessConsole
from weboid.cli.terminal.escape import plain
from weboid.cli.terminal.logs import is_json, print_error
from weboid.config import Config
from weboid.errors import StoreError
from weboid.store.backup.client_programs import Runner
from weboid.store.backup.kept_files import good_backup, make_kept_backup
from weboid.store.backup.make import Show, make_backup
from weboid.store.backup.manifest import Manifest
from weboid.store.embedded import embedded_folder
from weboid.store.upkeep.last_backup import record_backup_failure, record_last_backup

NOT_INCLUDED: Final = (
    "Not in it, keep them as well: weboid.toml, and the secrets: WEBOID_WEB_SECRET, WEBOID_WEB_TOKENS, "
    "WEBOID_WEB_CRAWLERS, WEBOID_WEB_FEEDERS, the OAuth client, the keys for archives, the credentials of replicas and "
    "databases."
)


@click.command("backup")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False), required=False)
@click.option("--to", type=click.Path(path_type=Path, file_okay=False), help="Write weboid-DAY.dump into this folder.")
@click.option("--keep", type=click.IntRange(min=1), help="How many of the newest to keep there (default: 14).")
@click.option("--wal", type=click.Path(path_type=Path, file_okay=False), help="Make a base backup below this folder.")
@day_option
@click.pass_obj
def command(
    config: Config, file: Path | None, to: Path | None, keep: int | None, wal: Path | None, day: int | None
) -> None:
    """Writes all that the database knows to FILE, as of one moment, while everything goes on; whole or not at all.

    Without FILE and --to: into the folder of `[backup] folder`. `weboid restore` takes it.
    With --wal: the base from which the archive of `[embedded] wal` goes on, for any moment since.
    """
    if wal is not None:
        if file is not None or to is not None or keep is not None:
            raise click.UsageError("--wal goes with nothing else")
        take_base_backup(config, wal)
        return
    folder = to or (None if file else config.backup.folder)
    if file is not None and (to is not None or keep is not None):
        raise click.UsageError("give either FILE, or --to FOLDER and --keep")
    if file == Path("-"):
        raise click.UsageError("a backup is read back, so it needs a file: give its name")
    if file is None and folder is None:
        raise click.UsageError("give FILE, or --to FOLDER, or set [backup] folder")
    console = ProcessConsole()
    on_day = clock(day)()

    async def main() -> tuple[Path, Manifest]:
        async with open_store(config, size=1, part="backup", any_form=True) as pool:
            made: list[tuple[Path, Manifest]] = []

            async def work() -> None:
                runner = runner_of(config)
                with transfer(console) as show:
                    if folder is not None:
                        kept = keep or config.backup.keep
                        made.append(
                            await make_kept_backup(dsn_of(config), folder, runner, day=on_day, keep=kept, show=show)
                        )
                    elif file is not None:
                        made.append((file, await make_backup(dsn_of(config), file, runner, day=on_day, show=show)))

            stopped = asyncio.Event()
            with stop_signals(stopped.set, ends=True) as order:
                try:
                    await until(stopped, work())
                except StoreError as error:
                    async with pool.connection() as conn:
                        await record_backup_failure(conn, str(error))
                    raise
            if not made:
                print_error("stopped; no backup was made")
                raise SystemExit(order.status)
            async with pool.connection() as conn:
                await record_last_backup(conn, good_backup(*made[0]))
            return made[0]

    path, manifest = run_async(main())
    click.echo(f"{plain(path)}: {manifest.summary}; {path.stat().st_size / 1e6:,.1f} MB, read back whole")
    console.print(NOT_INCLUDED, markup=False)


def runner_of(config: Config) -> Runner:
    """The runner of PostgreSQL's programs for the configured database."""
    return Runner.of(None if config.database else embedded_folder(config.data).account, config.data)


def dsn_of(config: Config) -> str:
    """The DSN of the configured database."""
    return config.database or embedded_folder(config.data).dsn()


@contextmanager
def transfer(console: Console) -> Iterator[Show]:
    """A progress bar in bytes, on standard error if that is a terminal."""
    words = (SpinnerColumn(), TextColumn("{task.description}", markup=False))
    columns = (*words, BarColumn(), DownloadColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=is_json() or not console.is_terminal) as shown:
        task = shown.add_task("", total=None)

        def show(doing: str, done: int, total: int) -> None:
            shown.update(task, description=doing, completed=done, total=total or None)

        yield show
