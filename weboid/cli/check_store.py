"""``weboid check-store``: looks for what contradicts itself in the database, and repairs what can be derived."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import click
from rich.console import Console

from weboid.cli.days import clock, day_option
from weboid.cli.processes.process import run_async
from weboid.cli.processes.store_process import LongCommand, run_long_command
from weboid.cli.terminal.console import ProcessConsole, bar
from weboid.cli.terminal.escape import many, plain
from weboid.config import Config
from weboid.errors import StoreError
from weboid.maintain.consistency import AT_ONCE, WHOLE, Consistency, Show, check_store, record_outcome
from weboid.store.db.transactions import is_read_only
from weboid.store.upkeep.invariant import WALKS


@click.command("check-store")
@click.option("--repair", "repairs", is_flag=True, help="Derive anew what is derived and wrong.")
@day_option
@click.pass_obj
def command(config: Config, repairs: bool, day: int | None) -> None:
    """Looks through the whole database for what contradicts itself, while everything else goes on.

    It ends with status 1 if something is wrong and was not repaired. What cannot be derived is shown, never changed.
    A database that is read-only, such as a hot standby, is looked through, and nothing is written there.
    """
    console = ProcessConsole()
    on_day = clock(day)()

    async def work(long: LongCommand) -> Consistency:
        only_reads = await long.again(partial(is_read_only, long.pool))
        if only_reads and repairs:
            raise StoreError("the database is read-only: --repair needs the one that it is a copy of")
        with progress(console) as show:
            done = await check_store(
                *(long.pool, on_day),
                policy=config.policy,
                repairs=repairs,
                locks=not only_reads,
                show=show,
                again=long.again,
            )
        if only_reads:
            console.print("the database is read-only: nothing is written there, not even an alarm", style="yellow")
        elif repairs or not done.found:
            await long.again(partial(record_outcome, long.pool, done, WHOLE, on_day))
        return done

    done: Consistency = run_async(run_long_command(config, work, size=AT_ONCE, name="check-store"))
    print_breaches(console, done)
    counts = ", ".join(f"{many(done.rows[walk], 'row')} of {walk}" for walk in WALKS)
    if not done.found:
        click.echo(f"nothing is wrong in {counts}")
    else:
        click.echo(
            f"{done.found.total()} breaches, {done.found.total() - done.wrong} repaired: {done.summary}; {counts}"
        )
    if done.wrong:
        if not repairs:
            console.print("what is derived can be repaired: run it again with --repair", style="yellow")
        sys.exit(1)


@contextmanager
def progress(console: Console) -> Iterator[Show]:
    """Bars for the tables that are gone through."""
    with bar(console) as shown:
        tasks = {walk: shown.add_task(f"checking {walk}", total=None, visible=False) for walk in WALKS}

        def show(walk: str, rows: int, about: int | None) -> None:
            total = None if about is None else max(about, rows)
            shown.update(tasks[walk], completed=rows, total=total, visible=True)

        yield show


def print_breaches(console: Console, done: Consistency) -> None:
    """The first breaches, one a line."""
    for line in done.described:
        console.print(plain(line), style="red", markup=False)
    if (more := done.found.total() - len(done.described)) > 0:
        console.print(f"… and {more} more", style="red")
