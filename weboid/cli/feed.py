"""``weboid feed``: brings pages and their links in."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from weboid.cli.inputs import named_wiki, open_source
from weboid.cli.runtime import clock, day_option, open_store, run_async, stop_signals
from weboid.cli.tables import bar, count_bar
from weboid.config import Config, WikiConfig
from weboid.core.farms import WikiName
from weboid.errors import ConfigError, WeboidError
from weboid.feed.page_pass import PagePass, Progress
from weboid.feed.sweep import take_in
from weboid.store.page import Intake
from weboid.store.pool import Pool
from weboid.store.wiki import record_wiki
from weboid.wiki.criteria import Criteria, read_criteria

_WEEK_S = 7 * 86_400.0

_dump_file = click.Path(path_type=Path, exists=True, dir_okay=False)
_namespaces = click.option("--namespace", "namespaces", type=int, multiple=True, default=(0,), show_default=True)


@click.group("feed")
def command() -> None:
    """Brings pages and their links in: what differs from the last time is written, nothing else."""


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
    """Takes in a wiki's SQL dumps, plain or compressed."""
    from weboid.wiki.dump import DumpSource

    named = named_wiki(wiki, config)
    if named.name is None:
        raise ConfigError(f"{wiki}: give the wiki's database name, such as dewiki or dewiki@WMF")
    name = named.name
    console = Console(stderr=True, soft_wrap=True)

    async def main() -> None:
        async with open_store(config, size=2, part="feed") as pool:
            with bar(console) as shown:
                task = shown.add_task(f"reading {name}", total=None)

                def read(done: int, whole: int) -> None:
                    shown.update(task, completed=done >> 10, total=whole >> 10, description=f"reading {name} (KiB)")

                source = DumpSource(page, externallinks, iwlinks, interwiki, progress=read)
                async with pool.connection() as conn:
                    stored = await record_wiki(conn, named.farm, name)
                intake = await take_in(
                    pool, source, stored, named.farm, namespaces=frozenset(namespaces), day=clock(day)()
                )
            whole = f"{intake.pages} pages with {intake.links} watched links"
            console.print(_told(name, whole, intake), highlight=False)

    run_async(main())


@command.command("pass")
@click.argument("wikis", nargs=-1)
@click.option("--repeat", is_flag=True, help="Once a week, until told to stop.")
@day_option
@click.pass_obj
def page_pass(config: Config, wikis: tuple[str, ...], repeat: bool, day: int | None) -> None:
    """Reads all pages of wikis through their APIs; without names, of those that are configured."""
    console = Console(stderr=True, soft_wrap=True)
    chosen = [_wiki_config(wiki, config) for wiki in wikis] or list(config.wikis)
    if not chosen:
        raise ConfigError('no wiki is named or configured: add [wiki."dewiki@WMF"] to weboid.toml')

    async def main() -> None:
        stopped = asyncio.Event()
        async with open_store(config, size=2, part="feed") as pool:
            with stop_signals(stopped.set):
                await _until(stopped, feed_wikis(config, pool, chosen, clock(day)(), console), told=not repeat)
                while repeat and not stopped.is_set():
                    await _until(stopped, asyncio.sleep(_WEEK_S))
                    await _until(stopped, feed_wikis(config, pool, chosen, clock(day)(), console))

    run_async(main())


async def _until(stopped: asyncio.Event, work: Coroutine[Any, Any, None], *, told: bool = False) -> None:
    """Does the work, or breaks it off when told to stop; its own failure is raised only if `told`."""
    doing = asyncio.create_task(work)
    waiting = asyncio.create_task(stopped.wait())
    await asyncio.wait({doing, waiting}, return_when="FIRST_COMPLETED")
    waiting.cancel()
    doing.cancel()
    (end,) = await asyncio.gather(doing, return_exceptions=True)
    if isinstance(end, WeboidError) and not told:
        return
    if isinstance(end, BaseException) and not isinstance(end, asyncio.CancelledError):
        raise end


async def feed_wikis(config: Config, pool: Pool, wikis: list[WikiConfig], day: int, console: Console) -> None:
    """One pass over each of the wikis; a wiki that fails is told and does not hold up the others, then raised."""
    failed: WeboidError | None = None
    for wiki in wikis:
        try:
            done = await _pass_over(config, pool, wiki, day, console)
            console.print(told(wiki.name, done), highlight=False)
        except WeboidError as error:
            console.print(f"{wiki.name}: {error}", style="red", markup=False)
            failed = error
    if failed:
        raise failed


async def _pass_over(config: Config, pool: Pool, wiki: WikiConfig, day: int, console: Console) -> Progress:
    named = named_wiki(str(wiki.name), config)
    criteria = _criteria(wiki)
    async with pool.connection() as conn:
        stored = await record_wiki(conn, named.farm, wiki.name, api=named.api)
    with count_bar(console) as shown:
        task = shown.add_task(f"meeting pages of {wiki.name}", total=None)

        def show(progress: Progress) -> None:
            if progress.walked:
                text, done, total = f"reading pages of {wiki.name}", progress.walked, progress.records
                shown.update(task, description=text, completed=done, total=total)
            else:
                shown.update(task, completed=progress.met)

        async with open_source(config, wiki) as source:
            return await PagePass(
                pool,
                source,
                stored,
                named.farm,
                criteria,
                today=lambda: day,
                untouched_days=config.feed.untouched_days,
                show=show,
            ).run()


def told(name: WikiName, done: Progress) -> str:
    """What a pass has done, in a line."""
    return _told(name, f"{done.met} pages match", done.intake)


def _told(name: WikiName, what: str, intake: Intake) -> str:
    if not (intake.pages_new or intake.pages_changed or intake.pages_gone):
        return f"{name}: {what}; nothing has changed"
    return (
        f"{name}: {what} ({intake.pages_new} new, {intake.pages_changed} changed, {intake.pages_gone} gone); "
        f"{intake.links_new} links came, {intake.links_gone} went, {intake.urls_new} URLs are new"
    )


def _wiki_config(text: str, config: Config) -> WikiConfig:
    named = named_wiki(text, config)
    if named.name is None:
        raise ConfigError(f'{text}: give the wiki a name in weboid.toml: [wiki."mywiki@MyFarm"] with api = "{text}"')
    configured = next((wiki for wiki in config.wikis if wiki.name == named.name), None)
    return configured or WikiConfig(named.name)


def _criteria(wiki: WikiConfig) -> Criteria:
    try:
        return read_criteria(wiki.matching, wiki.without)
    except ConfigError as error:
        raise ConfigError(f'[wiki."{wiki.name}"] {error}') from None
