"""``weboid up``: database, feed, events, crawl, archive, web, maintenance as processes of one group, until stopped.

How each is kept running is in ``processes/children``. One law: however this process ends, no part and no embedded
server is left: the parts end with their lines, the server by the last of them or by its guard.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial

import click

from weboid.archive.saving.save_keys import require_save_keys
from weboid.cli.processes.children import Child, Keeper, start_child
from weboid.cli.processes.part import RunningPart, open_part
from weboid.cli.processes.process import own_call, run_async
from weboid.cli.terminal.arguments import how_to_watch
from weboid.cli.terminal.logs import say
from weboid.config import Config
from weboid.core.url.farms import WMF
from weboid.store.embedded.guard import open_guard
from weboid.store.schedule.process import ProcessRole

log = logging.getLogger(__name__)


@click.command("up")
@click.pass_context
def command(ctx: click.Context) -> None:
    """Runs everything. Each part is a process of its own: one that fails is started again, the others go on.

    A second one on the same database ends at once and says who runs.
    """
    config: Config = ctx.obj
    require_save_keys(config)  # Else one of the parts would fail again and again.
    parts = {"web": ["serve"], "crawl": ["crawl"], "archive": ["archive"], "maintain": ["maintain", "--repeat"]}
    if config.wikis or config.feed.watched:
        parts["feed"] = ["feed", "pass", "--repeat"]
        if config.feed.watched or any(wiki.name.farm == WMF.name for wiki in config.wikis):
            parts["events"] = ["feed", "events"]
    else:
        say(f"no wiki is configured: {how_to_watch()}, and start it again; or use weboid feed", logging.WARNING)
    own = own_call(ctx, config)

    async def main() -> None:
        async with AsyncExitStack() as stack:
            if not config.database:
                await stack.enter_async_context(open_guard(config.data))
            # This process has a share in the database, so that the server keeps running while a part is started again.
            part = await stack.enter_async_context(open_part(config, ProcessRole.UP, size=1, lasting=True))
            await _keep_all(part, own, parts)

    run_async(main())


async def _keep_all(part: RunningPart, own: Sequence[str], parts: Mapping[str, Sequence[str]]) -> None:
    """Keeps the parts running until this one is to stop."""
    running: set[str] = set()

    def show() -> None:
        running.update(keeper.name for keeper in keepers if keeper.state == "runs")
        part.tell("; ".join(f"{keeper.name} {keeper.state}" for keeper in keepers))
        if len(running) == len(keepers):  # Each has come so far once; what happens later is told in words.
            part.tell_ready()

    async def start(words: Sequence[str]) -> Child:
        return await start_child(own, words, {})

    keepers = [Keeper(name, partial(start, words), part.stopped, show=show) for name, words in parts.items()]
    await asyncio.gather(*(keeper.keep() for keeper in keepers))
