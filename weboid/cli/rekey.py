"""``weboid rekey``: moves everything to the keys of this program."""

import click

from weboid.cli.days import clock, day_option
from weboid.cli.processes.process import run_async
from weboid.cli.processes.store_process import LongCommand, run_long_command
from weboid.cli.terminal.console import ProcessConsole, bar
from weboid.cli.terminal.escape import many
from weboid.config import Config
from weboid.core.url.keys import BUCKETS
from weboid.store.upkeep.rekey import Rekeyed, rekey


@click.command("rekey")
@click.option("--dry-run", is_flag=True, help="Show how much would be moved, and write nothing.")
@day_option
@click.pass_obj
def command(config: Config, dry_run: bool, day: int | None) -> None:
    """Moves URLs to this program's normal form and suffix list, with all that is known of them.

    Where the form is another one, stop crawlers and feeders before: they refuse to start until it is done. Where the
    suffix list alone is, they may run meanwhile. If it is stopped half-way, run it again.
    """
    console = ProcessConsole()
    on_day = clock(day)()

    async def work(long: LongCommand) -> str:
        with bar(console) as shown:
            task = shown.add_task("rekey", total=BUCKETS)

            def show(so_far: Rekeyed) -> None:
                shown.update(task, completed=so_far.bucket, description=f"rekey: {many(so_far.moved, 'URL')} moved")

            done = await rekey(long.pool, on_day, dry_run=dry_run, show=show, again=long.again)
        return _summary(done, dry_run)

    console.print(run_async(run_long_command(config, work, size=1, name="rekey", any_form=True)))


def _summary(done: Rekeyed, dry_run: bool) -> str:
    if not done.is_needed:
        return "the keys are those of this program: there is nothing to do"
    urls, links = many(done.moved, "URL"), many(done.spam_links, "spam link")
    if dry_run:
        return f"{urls} would move, {done.dropped} would be dropped as invalid; {links}"
    return (
        f"{urls} moved, {done.merged} of them merged with another one, {done.dropped} dropped as invalid; {links} moved"
    )
