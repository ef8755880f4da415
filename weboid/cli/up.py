"""``weboid up``: database, feed, events, crawl, archive, robot, web, maintenance as processes until stopped.

``processes/children`` keeps each running. However this process ends, none of them and no embedded server is left: they
end when their sockets are closed, the server by the last of them or by its guard.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial

import click

from weboid.archive.saving.save_keys import require_save_keys
from weboid.cli.processes.children import Child, Keeper, start_child
from weboid.cli.processes.process import own_call, run_async
from weboid.cli.processes.running import OwnProcess
from weboid.cli.processes.sources import how_to_watch
from weboid.cli.processes.store_process import open_process
from weboid.cli.terminal.logs import print_message
from weboid.config import Config
from weboid.core.url.farms import WMF
from weboid.pgfolder.guard import open_guard
from weboid.store.db.pool import Pool
from weboid.store.embedded import embedded_folder, store_errors
from weboid.store.schedule.process import ProcessRole

log = logging.getLogger(__name__)


@click.command("up")
@click.pass_context
def command(ctx: click.Context) -> None:
    """Runs everything, as a process for each command: one that fails is started again, the others go on.

    A second one on the same database ends at once and says who runs.
    """
    config: Config = ctx.obj
    require_save_keys(config)  # Else one of the processes would fail again and again.
    commands = {"web": ["serve"]} | {name: [name] for name in ("crawl", "archive", "robot")}
    commands["maintain"] = ["maintain", "--repeat"]
    if config.wikis or config.feed.watched:
        commands["feed"] = ["feed", "pass", "--repeat"]
        if config.feed.watched or any(wiki.name.farm == WMF.name for wiki in config.wikis):
            commands["events"] = ["feed", "events"]
    else:
        print_message(
            f"no wiki is configured: {how_to_watch()}, and start it again; or use weboid feed", logging.WARNING
        )
    own = own_call(ctx, config)

    async def main() -> None:
        async with AsyncExitStack() as stack:
            if not config.database:
                with store_errors():
                    await stack.enter_async_context(open_guard(embedded_folder(config.data)))
            # This process has a share in the database, so that the server keeps running while another is restarted.
            process = await stack.enter_async_context(open_process(config, ProcessRole.UP, size=1, lasting=True))
            await _keep_all(process, own, commands)

    run_async(main())


async def _keep_all(process: OwnProcess[Pool], own: Sequence[str], commands: Mapping[str, Sequence[str]]) -> None:
    """Keeps a process of each command running until this one is to stop."""
    running: set[str] = set()

    def show() -> None:
        running.update(keeper.name for keeper in keepers if keeper.state == "runs")
        process.report("; ".join(f"{keeper.name} {keeper.state}" for keeper in keepers))
        if len(running) == len(keepers):  # Each has come so far once; later changes are in the status.
            process.report_ready()

    async def start(words: Sequence[str]) -> Child:
        return await start_child(own, words, {})

    keepers = [Keeper(name, partial(start, words), process.stopped, show=show) for name, words in commands.items()]
    await asyncio.gather(*(keeper.keep() for keeper in keepers))
