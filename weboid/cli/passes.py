"""``weboid feed pass``: passes over wikis, once or again and again."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final

import click
from rich.console import Console

from weboid.cli import READ_CONFIG
from weboid.cli.days import clock, day_option, moment_now
from weboid.cli.events import followed_wiki, reread_wikis
from weboid.cli.lists import record_named, refresh_lists
from weboid.cli.processes.process import run_async
from weboid.cli.processes.remote_process import core_option, open_feeder
from weboid.cli.processes.sources import how_to_watch, named_wiki, open_source
from weboid.cli.processes.stopping import until
from weboid.cli.terminal.console import ProcessConsole, bar, print_once
from weboid.cli.watched import with_watched
from weboid.config import Config, WikiConfig
from weboid.core.url.farms import WikiName
from weboid.errors import ConfigError, SourceError, WeboidError
from weboid.feed.intake import SpamFilters
from weboid.feed.page_pass import PagePass, PassProgress, refresh_namespaces
from weboid.mechanism.patience import Again, again_until, at_once
from weboid.remote.feed.calls import FeedStore
from weboid.store.pages.page import Intake
from weboid.store.schedule.process import ProcessRole
from weboid.wiki.criteria import Criteria, read_criteria

_LOOK_S: Final = 300.0
"""The interval at which it is checked whether a pass over a wiki is due."""

_Today = Callable[[], int]
_MOST_NAMED: Final = 3
"""Wikis that are named in the activity of a process, at most."""


@click.command("pass", short_help="Goes through all pages of wikis, once or again and again.")
@click.argument("wikis", nargs=-1)
@click.option("--repeat", is_flag=True, help="Again and again, each wiki once a period, until stopped.")
@core_option
@day_option
@click.pass_context
def command(ctx: click.Context, wikis: tuple[str, ...], repeat: bool, server: str | None, day: int | None) -> None:
    """Goes through all pages of wikis; without names, of those that are configured.

    A pass that is broken off, also by Ctrl-C, goes on where it was when it is started again.
    With --core it works for another Weboid over HTTP, without a database; its token is in WEBOID_FEED_TOKEN.
    """
    console = ProcessConsole()
    today = clock(day)
    config: Config = ctx.obj
    read_again: Callable[[], Config] = ctx.meta[READ_CONFIG]
    if wikis or not config.feed.watched:
        _chosen(config, wikis)

    async def main() -> None:
        async with open_feeder(config, ProcessRole.FEED, server, size=2, lasting=repeat, day=day) as feeder:
            console.report = feeder.report
            core, agreed = feeder.store
            again = again_until(feeder.stopped, core.away)
            if not repeat:
                await until(feeder.stopped, _once(agreed(config), core, wikis, today, console, again))
            failed: set[WikiName] = set()
            reported: dict[str, str] = {}

            def read() -> Config:
                return agreed(read_again())

            while repeat and not feeder.stopped.is_set():
                await until(feeder.stopped, next_pass(read, core, wikis, today, console, failed, again, reported))

    run_async(main())


async def _once(
    config: Config, core: FeedStore, wikis: tuple[str, ...], today: _Today, console: Console, again: Again
) -> None:
    watched = await again(partial(with_watched, config, core, today()))
    await feed_wikis(watched, core, _chosen(watched, wikis), today, console, again)


async def next_pass(
    read_again: Callable[[], Config],
    core: FeedStore,
    wikis: tuple[str, ...],
    today: _Today,
    console: Console,
    failed: set[WikiName],
    again: Again = at_once,
    reported: dict[str, str] | None = None,
) -> None:
    """Runs the pass that is due first, with the configuration as it is now; or, if none is, pauses (P-7).

    Wikis that have `failed` are tried again after the pause, so that they do not delay the others. A failure
    that `reported` has from the last time is not printed again.
    """
    reported = {} if reported is None else reported
    try:
        config = await again(partial(with_watched, read_again(), core, today()))
        chosen = _chosen(config, wikis)
        for wiki in await again(partial(_due, config, core, chosen, today())):
            if wiki.name not in failed:
                failed.add(wiki.name)
                await feed_wikis(config, core, [wiki], today, console, again, reported)
                failed.remove(wiki.name)
                return
        await refresh_lists(config, core, chosen, today(), console, again, reported)
        filters = SpamFilters(core.lists)
        followed = {wiki: await followed_wiki(config, core, wiki, filters, again) for wiki in chosen}
        await reread_wikis(config, core, followed, today=today, now=moment_now, again=again, reported=reported)
    except SourceError:
        return  # It was reported, and the next wiki is due.
    except WeboidError as error:
        console.print(f"{error}; trying again in {_LOOK_S / 60:.0f} minutes", style="red", markup=False)
    if failed and isinstance(console, ProcessConsole):
        # By name only: everybody can see it at /status.
        names = sorted(map(str, failed))
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        console.report(
            f"could not read {', '.join(names[:_MOST_NAMED])}{more}; tries again every {_LOOK_S / 60:.0f} min"
        )
    await asyncio.sleep(_LOOK_S)
    failed.clear()


async def _due(config: Config, core: FeedStore, wikis: list[WikiConfig], day: int) -> list[WikiConfig]:
    """The wikis whose last pass ended a period ago or earlier, the oldest first."""
    stored = await core.wikis.list_all()
    passed = {(each.farm, each.dbname): each.passed for each in stored if each.passed is not None}
    codes = {farm.name: farm.code for farm in config.farms}
    turns = {wiki.name: passed.get((codes[wiki.name.farm], wiki.name.dbname), -1) for wiki in wikis}
    due = [wiki for wiki in wikis if turns[wiki.name] < 0 or turns[wiki.name] + config.feed.period_days <= day]
    return sorted(due, key=lambda wiki: turns[wiki.name])


async def feed_wikis(
    config: Config,
    core: FeedStore,
    wikis: list[WikiConfig],
    today: _Today,
    console: Console,
    again: Again = at_once,
    reported: dict[str, str] | None = None,
) -> None:
    """Runs one pass over each of the wikis. A failure is reported and does not stop the others; the last is raised.

    `reported` as in `next_pass`.
    """
    reported = {} if reported is None else reported
    await refresh_lists(config, core, wikis, today(), console, again, reported)
    failed: WeboidError | None = None
    for wiki in wikis:
        try:
            done = await _pass_over(config, core, wiki, today, console, again)
            reported.pop(str(wiki.name), None)
            console.print(summary_of(wiki.name, done), highlight=False)
        except WeboidError as error:
            print_once(console, reported, str(wiki.name), error)
            failed = error
    if failed:
        raise failed


async def _pass_over(
    config: Config, core: FeedStore, wiki: WikiConfig, today: _Today, console: Console, again: Again
) -> PassProgress:
    named = named_wiki(str(wiki.name), config)
    criteria = _criteria(wiki)
    stored = await again(partial(record_named, config, core, wiki))
    with bar(console) as shown:
        task = shown.add_task(f"meeting pages of {wiki.name}", total=None)

        def show(progress: PassProgress) -> None:
            if progress.walked:
                text, done, total = f"reading pages of {wiki.name}", progress.walked, progress.records
                shown.update(task, description=text, completed=done, total=total)
            else:
                shown.update(task, completed=progress.met)

        async with open_source(config, wiki) as source:
            await again(partial(refresh_namespaces, core, source, stored))
            return await PagePass(
                core,
                source,
                stored,
                named.farm,
                criteria,
                today=today,
                now=moment_now,
                untouched_days=config.feed.untouched_days,
                show=show,
                again=again,
            ).run()


def summary_of(name: WikiName, done: PassProgress) -> str:
    """The result of a pass in one line."""
    return f"{name}: {done.met} pages match; {changes(done.intake)}"


def changes(intake: Intake) -> str:
    """The changes of an intake in words."""
    if not (intake.pages_new or intake.pages_changed or intake.pages_gone):
        return "nothing has changed"
    return (
        f"{intake.pages_new} new, {intake.pages_changed} changed, {intake.pages_gone} gone; "
        f"{intake.links_new} links came, {intake.links_gone} went, {intake.urls_new} URLs are new"
    )


def _chosen(config: Config, wikis: tuple[str, ...]) -> list[WikiConfig]:
    if chosen := [_wiki_config(wiki, config) for wiki in wikis] or list(config.wikis):
        return chosen
    raise ConfigError(f"no wiki is named or configured: {how_to_watch()}")


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
