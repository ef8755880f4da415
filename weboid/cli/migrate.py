"""``weboid migrate``: brings the database up to this version."""

import click

from weboid.cli.processes.database import open_store
from weboid.cli.processes.process import run_async
from weboid.config import Config


@click.command("migrate")
@click.pass_obj
def command(config: Config) -> None:
    """Brings the database up to this version; the other commands do it too when they start."""

    async def main() -> None:
        async with open_store(config, size=1, part="migrate", any_form=True):
            click.echo("the database is up to date")

    run_async(main())
