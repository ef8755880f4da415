"""``weboid store``: changes how the database keeps its tables."""

from shutil import disk_usage

import click

from weboid.cli.processes.process import run_async
from weboid.cli.processes.store_process import LongCommand, run_long_command
from weboid.cli.terminal.console import ProcessConsole, bar
from weboid.config import Config
from weboid.errors import StoreError
from weboid.store.upkeep.distribute import distribute, list_undistributed
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
    """Divides the big tables into partitions.

    Without --confirm it shows which. For stores of 50 million URLs and more: vacuums and indexes stay small. There is
    no way back but a backup that was made before. If it is stopped half-way, run it again: tables that are divided stay
    so.
    """
    console = ProcessConsole()

    async def work(long: LongCommand) -> str:
        whole = await list_whole(long.pool)
        if not whole:
            return "the big tables are divided: there is nothing to do"
        sizes = ", ".join(f"{table} ({size / 1e9:.1f} GB)" for table, size in whole.items())
        need = max(whole.values()) + sum(whole.values())
        if not confirm:
            return (
                f"{sizes} would be divided into {partitions} partitions each, one after the other. That takes up to "
                f"{need / 1e9:.1f} GB of disk more, most of it for the log of writes, and programs that need a table "
                "wait until it is done: stop them before. Nothing was written: --confirm does it"
            )
        if not config.database and disk_usage(config.data).free < need:
            raise StoreError(f"there is too little room in {config.data}: free {need / 1e9:.1f} GB of the disk first")
        with bar(console) as shown:
            task = shown.add_task("store partition", total=100)

            def show(table: str, percent: int) -> None:
                what = "% copied" if percent < 100 else "indexes"
                shown.update(task, completed=percent, description=f"{table}: {what}")

            await partition(long.pool, partitions, show=show)
        return f"{sizes}: divided into {partitions} partitions each"

    console.print(run_async(run_long_command(config, work, size=1, name="store partition")), markup=False)


@command.command("distribute")
@click.option("--confirm", is_flag=True, help="Do it; without this nothing is written.")
@click.pass_obj
def spread(config: Config, confirm: bool) -> None:
    """Distributes tables over the workers of Citus.

    Without --confirm it shows which. For stores that outgrow one server; the database is the coordinator, whose
    extension knows the workers. The way back is a backup. If it is stopped half-way, run it again: tables that are
    distributed stay so.
    """
    console = ProcessConsole()

    async def work(long: LongCommand) -> str:
        tables = await list_undistributed(long.pool)
        sizes = ", ".join(f"{table} ({size / 1e9:.1f} GB)" for table, size in tables.items())
        if not tables:
            return "the store is distributed: there is nothing to do"
        if confirm:
            await distribute(long.pool, show=lambda table: console.print(table or "…", markup=False))
            return f"{sizes}: distributed; start all programs anew"
        return (
            f"{sizes} would be distributed over the workers, one after the other. That takes the size of each on this "
            "server once more until it is done, and programs that need a table wait: stop them before, and start them "
            "anew after it. Nothing was written: --confirm does it"
        )

    console.print(run_async(run_long_command(config, work, size=1, name="store distribute")), markup=False)
