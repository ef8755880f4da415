"""``weboid feed``: reads pages and their links into the database, here from dumps.

Passes belong to ``cli/passes``, events to ``cli/events``.
"""

from importlib import import_module
from pathlib import Path
from typing import Final, cast

import click
from rich.console import Console
from rich.table import Table

from weboid.cli.days import clock, day_option
from weboid.cli.processes.process import run_async
from weboid.cli.processes.sources import named_wiki, replicas_of
from weboid.cli.processes.store_process import LongCommand, run_long_command
from weboid.cli.terminal.console import ProcessConsole, bar
from weboid.cli.terminal.escape import many, plain
from weboid.config import Config
from weboid.core.url.farms import WMF
from weboid.errors import ConfigError
from weboid.feed.sweep import take_in
from weboid.maintain.transaction import in_transaction
from weboid.store.pages.page import Intake
from weboid.store.pages.wiki import record_wiki

_dump_file = click.Path(path_type=Path, exists=True, dir_okay=False)
_namespaces = click.option("--namespace", "namespaces", type=int, multiple=True, default=(0,), show_default=True)
_MODULES: Final = {"events": "events", "pass": "passes", "watched": "watched"}
"""The modules with the other commands, each loaded when it is called: it takes as long as to read some 10,000 links."""


class _Commands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *_MODULES})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if module := _MODULES.get(cmd_name):
            return cast(click.Command, import_module(f"weboid.cli.{module}").command)
        return super().get_command(ctx, cmd_name)


@click.group("feed", cls=_Commands)
def command() -> None:
    """Reads pages and their links into the database; only what differs from the last time is written."""


@command.command("dump")
@click.argument("wiki")
@click.option("--page", type=_dump_file, required=True, help="page.sql.gz")
@click.option("--externallinks", type=_dump_file, required=True, help="externallinks.sql.gz")
@click.option("--iwlinks", type=_dump_file, help="iwlinks.sql.gz")
@click.option("--interwiki", type=_dump_file, help="interwiki.sql.gz, needed with --iwlinks")
@_namespaces
@day_option
@click.pass_obj
def dump(
    config: Config,
    wiki: str,
    page: Path,
    externallinks: Path,
    iwlinks: Path | None,
    interwiki: Path | None,
    namespaces: tuple[int, ...],
    day: int | None,
) -> None:
    """Reads a wiki's SQL dumps, plain or compressed, into the database.

    If the database is away during it, it is waited for, and the import goes on. One that is stopped begins anew when
    it is run again; what is stored already is only compared then.
    """
    from weboid.wiki.dump import DumpSource

    named = named_wiki(wiki, config)
    if (name := named.name) is None:
        raise ConfigError(f"{wiki}: give the wiki's database name, such as dewiki or dewiki@WMF")
    console = ProcessConsole()

    async def work(long: LongCommand) -> Intake:
        with bar(console) as shown:
            task = shown.add_task(f"reading {name}", total=None)

            def read(done: int, whole: int) -> None:
                shown.update(task, completed=done >> 10, total=whole >> 10, description=f"reading {name} (KiB)")

            database = name.dbname if named.farm == WMF else ""
            source = DumpSource(page, externallinks, iwlinks, interwiki, progress=read, database=database)
            return await take_in(
                long.pool,
                source,
                await long.again(in_transaction(long.pool, record_wiki, named.farm, name)),
                named.farm,
                namespaces=frozenset(namespaces),
                day=clock(day)(),
                again=long.again,
            )

    intake: Intake = run_async(run_long_command(config, work, size=2, name="feed dump"))
    console.print(
        f"{name}: {many(intake.pages, 'page')} with {many(intake.links, 'watched link')}; {changes(intake)}",
        highlight=False,
    )


@command.command("wikis", short_help="Lists the wikis that the replicas have.")
@click.pass_obj
def wikis(config: Config) -> None:
    """Lists the wikis that the replicas have and that are not closed; nothing is stored."""
    table = Table(box=None, pad_edge=False)
    for heading in ("Wiki", "Language", "Family", "Section", "Address"):
        table.add_column(heading)
    for wiki in run_async(replicas_of(config).list_wikis()):
        table.add_row(*map(plain, (wiki.dbname, wiki.lang, wiki.family, wiki.shard, wiki.url)))
    Console(soft_wrap=True).print(table, markup=False)


def changes(intake: Intake) -> str:
    """The changes of an intake in words."""
    if not (intake.pages_new or intake.pages_changed or intake.pages_gone):
        return "nothing has changed"
    return (
        f"{intake.pages_new} new, {intake.pages_changed} changed, {intake.pages_gone} gone; "
        f"{many(intake.links_new, 'link')} came, {intake.links_gone} went, {many(intake.urls_new, 'new URL')}"
    )
