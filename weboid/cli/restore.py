"""``weboid restore``: puts a backup into an empty database."""

import asyncio
from pathlib import Path

import click
from rich.console import Console

from weboid.cli.backup import STOPPED, runner_of, transfer
from weboid.cli.database import open_store
from weboid.cli.days import clock, day_option
from weboid.cli.process import run_async
from weboid.cli.stopping import stop_signals, until
from weboid.config import Config
from weboid.core.record.days import iso
from weboid.core.url.keys import SUFFIX_VERSION
from weboid.core.url.urls import FORM_VERSION
from weboid.store.backup.restore import Restored, restore_backup


@click.command("restore")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@day_option
@click.pass_obj
def command(config: Config, file: Path, day: int | None) -> None:
    """Puts a backup (`weboid backup`) into the database, which must be empty; whole or not at all.

    No other part of Weboid may run on that database. Checks that are overdue are spread over the next days.
    """
    console = Console(stderr=True, soft_wrap=True, highlight=False)
    on_day = clock(day)()

    async def main() -> Restored | None:
        async with open_store(config, size=1, part="restore", any_form=True) as pool:
            done: list[Restored] = []

            async def work() -> None:
                interval = config.policy.working_interval
                with transfer(console) as show:
                    done.append(
                        await restore_backup(pool, file, runner_of(config), day=on_day, interval=interval, show=show)
                    )

            stopped = asyncio.Event()
            with stop_signals(stopped.set):
                await until(stopped, work())
            return done[0] if done else None

    restored = run_async(main())
    if restored is None:
        click.echo("weboid: stopped; nothing was restored", err=True)
        raise SystemExit(STOPPED)
    for line in _lines(restored, on_day):
        console.print(line, markup=False)


def _lines(restored: Restored, day: int) -> list[str]:
    """What was restored, and what to do next."""
    manifest, aftermath = restored.manifest, restored.aftermath
    lines = [f"restored: {manifest.summary}"]
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
