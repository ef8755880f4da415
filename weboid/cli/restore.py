"""``weboid restore``: puts a backup into an empty database."""

import asyncio
from datetime import datetime
from pathlib import Path

import click

from weboid.cli.backup import runner_of, transfer
from weboid.cli.days import clock, day_option
from weboid.cli.point_in_time import InstantType, restore_moment
from weboid.cli.processes.database import open_store
from weboid.cli.processes.process import run_async
from weboid.cli.processes.stopping import stop_signals
from weboid.cli.processes.stopping import until as until_end
from weboid.cli.terminal.console import ProcessConsole
from weboid.cli.terminal.logs import print_error
from weboid.config import Config
from weboid.core.record.days import iso
from weboid.core.url.hosts import SUFFIX_VERSION
from weboid.core.url.urls import FORM_VERSION
from weboid.store.backup.restore import Restored, require_restorable, restore_backup


@click.command("restore")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False), required=False)
@click.option("--wal", type=click.Path(path_type=Path, file_okay=False), help="The folder of `[embedded] wal`.")
@click.option(
    "--until", type=InstantType(), help="With --wal: the moment, such as 2026-11-24T02:00Z (default: the last)."
)
@day_option
@click.pass_obj
def command(config: Config, file: Path | None, wal: Path | None, until: datetime | None, day: int | None) -> None:
    """Puts a backup (`weboid backup`) into the database, which must be empty; whole or not at all.

    With --wal: makes the embedded database as it was at a moment, in an empty data folder.
    No other part of Weboid may run on that database. Checks that are overdue are spread over the next days.
    """
    on_day = clock(day)()
    if wal is not None and file is None:
        restore_moment(config, wal, until, on_day)
    elif file is not None and wal is None and until is None:
        restore_file(config, file, on_day)
    else:
        raise click.UsageError("give either FILE, or --wal FOLDER and --until")


def restore_file(config: Config, file: Path, day: int) -> None:
    """Puts a backup into the configured database and says what to do next; raises StoreError, SystemExit if stopped."""
    console = ProcessConsole()

    async def main() -> Restored:
        require_restorable(file, whole=False)  # else a wrong name would make a database first
        async with open_store(config, size=1, part="restore", any_form=True) as pool:
            done: list[Restored] = []

            async def work() -> None:
                interval = config.policy.working_interval
                with transfer(console) as show:
                    done.append(
                        await restore_backup(pool, file, runner_of(config), day=day, interval=interval, show=show)
                    )

            stopped = asyncio.Event()
            with stop_signals(stopped.set, ends=True) as order:
                await until_end(stopped, work())
            if not done:
                print_error("stopped; nothing was restored")
                raise SystemExit(order.status)
            return done[0]

    restored = run_async(main())
    for line in _lines(restored, day):
        click.echo(line)


def _lines(restored: Restored, day: int) -> list[str]:
    """The lines for the user: the restored backup, and the next steps."""
    manifest, aftermath = restored.manifest, restored.aftermath
    lines = [f"restored: {manifest.summary}"]
    if restored.left_out:
        lines.append(f"left out, since nothing of Weboid's is of that kind: {', '.join(restored.left_out)}")
    if restored.migrations:
        lines.append(f"applied the migrations {', '.join(restored.migrations)}")
    if aftermath.put_off:
        lines.append(
            f"{aftermath.overdue:,} links are overdue since the backup: they are spread over {aftermath.days} days"
        )
    if (manifest.form_version, manifest.suffix_version) != (FORM_VERSION, SUFFIX_VERSION):
        lines.append("next: weboid rekey, for its URLs have the keys of another version")
    lines.append("next: weboid check-store, then start the parts, with weboid.toml and the secrets of before")
    if day > manifest.day:
        lines.append(
            f"crawlers begin once other hosts confirm the day {iso(day)}; or run weboid crawl --once --confirm-day"
        )
        lines.append(
            "what people did since then is lost; sessions they ended since then are open again: "
            "a new WEBOID_WEB_SECRET ends all of them"
        )
    return lines
