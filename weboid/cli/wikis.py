"""``weboid feed wikis``: lists the wikis that the replicas have."""

import click
from rich.console import Console
from rich.table import Table

from weboid.cli.processes.process import run_async
from weboid.cli.terminal.arguments import replicas_of
from weboid.cli.terminal.escape import plain
from weboid.config import Config


@click.command("wikis", short_help="Lists the wikis that the replicas have.")
@click.pass_obj
def command(config: Config) -> None:
    """Lists the wikis that the replicas have and that are not closed; nothing is stored."""
    table = Table(box=None, pad_edge=False)
    for heading in ("Wiki", "Language", "Family", "Section", "Address"):
        table.add_column(heading)
    for wiki in run_async(replicas_of(config).list_wikis()):
        table.add_row(*map(plain, (wiki.dbname, wiki.lang, wiki.family, wiki.shard, wiki.url)))
    Console(soft_wrap=True).print(table, markup=False)
