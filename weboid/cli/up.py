"""``weboid up``: database, feed, events, crawl, archive, web, maintenance as processes of one group, until stopped."""

import asyncio
import logging
import time

import click

from weboid.archive.saving.saving_round import require_save_keys
from weboid.cli.database import open_store
from weboid.cli.process import own_call, run_async
from weboid.cli.stopping import stop_signals
from weboid.config import Config
from weboid.core.url.farms import WMF
from weboid.mechanism.pauses import GrowingPause

log = logging.getLogger(__name__)

_STEADY_S = 60.0
"""After a part has run for so long, the pause before it is started again begins anew."""
_PAUSE_S = 1.0
_PAUSE_LIMIT_S = 60.0
_GRACE_S = 20.0


@click.command("up")
@click.pass_context
def command(ctx: click.Context) -> None:
    """Runs everything. Each part is a process of its own: one that fails is started again, the others go on (O-8)."""
    config: Config = ctx.obj
    require_save_keys(config)  # Else one of the parts would fail again and again.
    parts = {"web": ["serve"], "crawl": ["crawl"], "archive": ["archive"], "maintain": ["maintain", "--repeat"]}
    if config.wikis or config.feed.watched:
        parts["feed"] = ["feed", "pass", "--repeat"]
        if config.feed.watched or any(wiki.name.farm == WMF.name for wiki in config.wikis):
            parts["events"] = ["feed", "events"]
    else:
        click.echo('no wiki is configured: add [wiki."dewiki@WMF"] to weboid.toml, or use weboid feed', err=True)
    own = own_call(ctx, config)

    async def main() -> None:
        stopped = asyncio.Event()
        # This process has a share in the database, so that the server keeps running while a part is started again.
        async with open_store(config, size=1, part="up"):
            with stop_signals(stopped.set):
                await asyncio.gather(*(_keep(name, [*own, *call], stopped) for name, call in parts.items()))

    run_async(main())


async def _keep(name: str, call: list[str], stopped: asyncio.Event) -> None:
    """Runs one part, again and again with growing pauses, until `stopped` is set; then ends it in order."""
    pause = GrowingPause(_PAUSE_S, _PAUSE_LIMIT_S)
    stopping = asyncio.create_task(stopped.wait())
    while not stopped.is_set():
        begun = time.monotonic()
        process = await asyncio.create_subprocess_exec(*call)
        ended = asyncio.create_task(process.wait())
        await asyncio.wait({ended, stopping}, return_when="FIRST_COMPLETED")
        if stopped.is_set():
            await _end(process, ended)
            return
        if time.monotonic() - begun > _STEADY_S:
            pause.reset()
        pause_s = pause.grown_s()
        log.warning("%s ended with status %s; starting it again in %.0f s", name, process.returncode, pause_s)
        await asyncio.wait({stopping}, timeout=pause_s)


async def _end(process: asyncio.subprocess.Process, ended: asyncio.Task[int]) -> None:
    """Ends a process with SIGTERM, and with SIGKILL if it does not end. A terminal's Ctrl-C has reached it already."""
    if process.returncode is None:
        process.terminate()
    await asyncio.wait({ended}, timeout=_GRACE_S)
    if process.returncode is None:
        process.kill()
    await ended
