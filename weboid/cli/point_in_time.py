"""`weboid backup --wal` and `weboid restore --wal`: base backups, and the store as of a moment."""

import logging
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click

from weboid.cli.days import moment_now
from weboid.cli.processes.database import open_store
from weboid.cli.processes.process import run_async
from weboid.cli.processes.stopping import ended_by_signals
from weboid.cli.terminal.escape import plain
from weboid.cli.terminal.logs import print_error, print_message
from weboid.config import Config
from weboid.core.record.days import day_of
from weboid.errors import StoreError
from weboid.pgfolder.archiving import archiving_state
from weboid.pgfolder.base_backup import archive_of, make_base_backup
from weboid.pgfolder.folder import Folder
from weboid.pgfolder.recovery import Recovery, recover
from weboid.store.backup.aftermath import Aftermath, set_right
from weboid.store.embedded import embedded_folder, open_server, store_errors

_NOTHING: Final = "nothing was restored"


class InstantType(click.ParamType[datetime]):
    """An ISO date and time; without a zone it is UTC."""

    name = "moment"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        if isinstance(value, datetime):
            return value
        try:
            moment = datetime.fromisoformat(str(value))
        except ValueError:
            self.fail(f"{value!r} is no moment: give it as 2026-11-24T02:00Z", param, ctx)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def wal_folder(config: Config) -> Folder | None:
    """The data folder whose server archives its log of writes; None if it does not archive."""
    return None if config.database or config.embedded.wal is None else embedded_folder(config.data, config.embedded.wal)


def take_base_backup(config: Config, wal: Path) -> None:
    """Makes a base backup below a folder, and warns if the log is not archived there; raises StoreError."""
    _require_embedded(config)
    folder = embedded_folder(config.data, wal)
    with ended_by_signals("no base backup was made"), store_errors(), open_server(config.data, wal=wal):
        base = make_base_backup(folder, moment_now)
        archive, _ = archive_of(folder)
        state = archiving_state(folder, archive, moment_now())
    click.echo(f"{plain(base.path)}: any moment from {base.moment.isoformat()} on can be restored that is archived")
    if not state.is_on or wal_folder(config) != folder:
        print_error(
            f"the log of writes is not archived: set `[embedded] wal` (WEBOID_EMBEDDED_WAL) to {folder.wal}, "
            "stop all processes and start them again",
            logging.WARNING,
        )


def restore_moment(config: Config, wal: Path, until: datetime | None, day: int) -> None:
    """Makes the embedded database as it was at a moment, in an empty data folder, and sets it right; StoreError."""
    _require_embedded(config)
    aftermaths: list[Aftermath] = []

    async def main(dsn: str, made: int) -> None:
        async with (
            open_store(replace(config, database=dsn), size=1, part="restore", any_form=True) as pool,
            pool.connection() as conn,
        ):
            aftermaths.append(await set_right(conn, made, day, interval=config.policy.working_interval))

    def prepare(dsn: str, moment: datetime) -> None:
        try:
            run_async(main(dsn, day_of(moment)))
        except SystemExit:
            print_error(f"stopped; {_NOTHING}")
            raise

    with ended_by_signals(_NOTHING), store_errors():
        done = recover(embedded_folder(config.data, wal), until, print_message, prepare)
    click.echo(_summary(done))
    for aftermath in aftermaths:
        if aftermath.put_off:
            click.echo(f"{aftermath.overdue:,} links are overdue: they are spread over {aftermath.days} days")
    click.echo("next: weboid check-store, then start the parts, with weboid.toml and the secrets of before")


def _summary(done: Recovery) -> str:
    of = f"the last change in it is of {done.reached.isoformat()}" if done.reached else "nothing came after it"
    return f"restored from the base backup of {done.base.moment.isoformat()}; {of}"


def _require_embedded(config: Config) -> None:
    if config.database:
        raise StoreError(
            "--wal is for the embedded database: a PostgreSQL of your own has archives of its own (pgBackRest, Barman)"
        )
