"""``weboid store``: changes how the database keeps its tables."""

from functools import partial

import click
from rich.console import Console

from weboid.cli.processes.process import run_async
from weboid.cli.processes.store_process import LongCommand, run_long_command
from weboid.cli.terminal.console import ProcessConsole, bar
from weboid.config import Config
from weboid.store.upkeep.partition import list_whole, partition


@click.group("store")
def command() -> None:
    """Changes how the database keeps its tables."""


@command.command("partition")
@click.option(
    "--partitions", type=click.IntRange(2, 128), default=32, show_default=True, help="How many of each table."
)
@click.option("--confirm", is_flag=True, help="Do it; without this nothing is written.")
@click.pass_obj
def divide(config: Config, partitions: int, confirm: bool) -> None:
    """Shows which tables would be divided into partitions, and with --confirm divides them, one after the other.

    For stores of 50 million URLs and more: vacuums and indexes stay small. There is no way back but a backup that was
    made before. If it is stopped half-way, run it again: tables that are divided stay so.
    """
    console = ProcessConsole()

    async def work(long: LongCommand) -> str:
        whole = await long.again(partial(list_whole, long.pool))
        sizes = ", ".join(f"{table} ({size / 1e9:.1f} GB)" for table, size in whole.items())
        if not whole:
            return "the big tables are divided: there is nothing to do"
        if confirm:
            await _divide(console, long, partitions)
            return f"{sizes}: divided into {partitions} partitions each"
        return (
            f"{sizes} would be divided into {partitions} partitions each, one after the other. That takes up to "
            f"{max(whole.values()) / 1e9:.1f} GB of disk more, and as much for the log of writes, and programs that "
            "need a table wait until it is done: stop them before. Nothing was written: --confirm does it"
        )

    console.print(run_async(run_long_command(config, work, size=1, name="store partition")), markup=False)


async def _divide(console: Console, long: LongCommand, partitions: int) -> None:
    with bar(console) as shown:
        task = shown.add_task("store partition", total=100)

        def show(table: str, percent: int) -> None:
            words = f"{table}: indexes" if percent == 100 else f"{table}: % copied"
            shown.update(task, completed=percent, description=words)

        await partition(long.pool, partitions, show=show, again=long.again)
