"""``weboid demo``: a made-up wiki and web on this machine, some weeks of rounds, then pages to click."""

import asyncio
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console

from weboid.cli.days import today
from weboid.cli.passes import summary_of
from weboid.cli.processes.database import open_store
from weboid.cli.processes.process import run_async
from weboid.cli.processes.stopping import stop_signals
from weboid.cli.serve import serving
from weboid.cli.terminal.console import bar
from weboid.cli.terminal.escape import many
from weboid.config import Config, PeopleConfig
from weboid.core.url.farms import parse_wiki_name
from weboid.demo.articles import LOST_PAGES
from weboid.demo.littleprovider import ADMINISTRATOR, CLIENT, LittleProvider, open_littleprovider
from weboid.demo.play import Stage, feed_story, open_stage, play_story
from weboid.demo.story import WIKI
from weboid.store.db.pool import Pool
from weboid.store.results.record import Tally
from weboid.web.request.route import address_of

_REAL = """To watch a real wiki instead:
  weboid page enwiki "Albert Einstein"          all links of one live page, checked now
  weboid feed pass dewiki                       read a whole wiki through its API
  weboid crawl --once                           check what is due
  weboid serve                                  start the webservice
With [wiki."dewiki@WMF"] in weboid.toml, `weboid up` does all of it continuously.
(In a checkout the program is .venv/bin/weboid.)"""


@click.command("demo")
@click.option("--once", is_flag=True, help="End after the rounds, without pages to click.")
@click.pass_obj
def command(config: Config, once: bool) -> None:
    """Plays ten weeks of a made-up web in a minute; nothing outside of this machine is contacted."""
    console = Console(stderr=True, soft_wrap=True)

    async def main() -> None:
        web = config.web
        with _new_folder() as data:
            here = replace(config, database="", data=data)
            async with AsyncExitStack() as stack:
                stage = await stack.enter_async_context(
                    open_stage(here, today(), weboid_url=f"http://{web.host}:{web.port}")
                )
                pool = await stack.enter_async_context(open_store(stage.config, size=8, part="demo"))
                if once:
                    await _play(stage, pool, console)
                    return
                # Before the rounds, so that a port that is taken is reported at once, and pages can be read.
                back = (web.url or f"http://{web.host}:{web.port}").rstrip("/") + address_of("account-back")
                provider = await stack.enter_async_context(open_littleprovider(addresses=[back]))
                site = serving(_with_people(stage.config, provider), pool, lambda: stage.day, web.host, web.port)
                url = await stack.enter_async_context(site)
                await _play(stage, pool, console)
                await _wait(stage, url, console)

    run_async(main())


async def _play(stage: Stage, pool: Pool, console: Console) -> None:
    start = time.monotonic()
    console.print(
        f"A made-up wiki at {stage.wiki.url}/, a made-up web and an archive of it run on this machine.", highlight=False
    )
    done = await feed_story(stage, pool)
    console.print(summary_of(parse_wiki_name(WIKI), done), highlight=False)
    total = Tally()
    with bar(console) as shown:
        task = shown.add_task("ten weeks of rounds, day", total=len(stage.days))

        def show(day: int, tally: Tally) -> None:
            total.written += tally.written
            total.changes += tally.changes
            shown.update(task, advance=1)

        await play_story(stage, pool, show)
    console.print(
        f"{many(total.written, 'check')} on {len(stage.days)} days in {time.monotonic() - start:.0f} s; "
        f"{many(total.changes, 'verdict')} changed.",
        highlight=False,
    )


async def _wait(stage: Stage, url: str, console: Console) -> None:
    console.print(_pages(stage, url), highlight=False, markup=False)
    console.print(_REAL, highlight=False, markup=False)
    console.print(f"\nOpen {url}/ in a browser. Ctrl-C ends the demonstration.", style="bold", highlight=False)
    stopped = asyncio.Event()
    with stop_signals(stopped.set):
        await stopped.wait()


def _with_people(config: Config, provider: LittleProvider) -> Config:
    """The configuration with which the provider's editors can sign in, and one of them is an administrator."""
    people = PeopleConfig(provider.url, client=CLIENT, administrators=(str(ADMINISTRATOR.sub),))
    return replace(config, people=people)


def _pages(stage: Stage, url: str) -> str:
    page = f"dbname={WIKI}&pageid=101"
    lost = f"dbname={WIKI}&pageid={stage.wiki.pages[LOST_PAGES].page}"
    return f"""
the dead links of a page      {url}/externalLinkInfo?{page}
copies of lost pages          {url}/externalLinkInfo?{lost}
all of its links, in German   {url}/externalLinkInfo?{page}&all=1&lang=de
for programs                  {url}/api/page?{page}
                              {url}/api/page?{page}&format=xml
for gadgets                   {url}/externalLinkProblem?{page}
to report something, sign in  {url}/account
the wiki itself               {stage.wiki.url}/
the archive of its web        {stage.archive.url}/
"""


@contextmanager
def _new_folder() -> Iterator[Path]:
    """A folder for the demo's own database, deleted afterwards; for root, its server's account can enter it."""
    folder = Path(tempfile.mkdtemp(prefix="weboid-demo-"))
    folder.chmod(0o711)
    try:
        yield folder / "data"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
