"""``weboid feed pass``: passes over wikis, once or again and again."""

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import click
from rich.console import Console
from rich.progress import Progress

from weboid.cli import READ_CONFIG
from weboid.cli.days import clock, day_option, moment_now
from weboid.cli.events import AT_ONCE, Rereading, followed_wiki
from weboid.cli.feed import changes
from weboid.cli.lists import record_named, refresh_lists
from weboid.cli.processes.process import run_async
from weboid.cli.processes.remote_process import core_option, open_feeder
from weboid.cli.processes.sources import how_to_watch, named_wiki, open_source
from weboid.cli.processes.stopping import until
from weboid.cli.terminal.console import ProcessConsole, bar, print_once
from weboid.cli.terminal.escape import many
from weboid.cli.watched import with_watched
from weboid.config import Config, WikiConfig
from weboid.core.url.farms import WikiName
from weboid.errors import ConfigError, OutputClosedError, StoreError, WeboidError
from weboid.feed.effects import FollowedWiki
from weboid.feed.intake import SpamFilters
from weboid.feed.page_pass import PagePass, PassProgress, refresh_namespaces
from weboid.mechanism.patience import Again, again_until, at_once
from weboid.mechanism.tasks import side_by_side
from weboid.remote.feed.calls import FeedStore
from weboid.store.schedule.process import ProcessRole
from weboid.wiki.criteria import Criteria, read_criteria
from weboid.wiki.source import WikiSource

log = logging.getLogger(__name__)

_LOOK_S: Final = 300.0
"""The interval at which it is checked whether a pass over a wiki is due, and pages wait to be read."""

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
        async with open_feeder(config, ProcessRole.FEED, server, size=AT_ONCE, lasting=repeat, day=day) as feeder:
            console.report = feeder.report
            core, agreed = feeder.store
            again = again_until(feeder.stopped, core.away)
            with bar(console) as shown:
                feeding = Feeding(core, wikis, today, console, shown, again)
                if not repeat:
                    await until(feeder.stopped, feeding.once(agreed(config)))
                else:
                    await until(feeder.stopped, feeding.repeat(lambda: agreed(read_again())))

    run_async(main())


@dataclass(slots=True)
class Feeding:
    """Passes over some wikis, or all that are configured: several side by side, of each wiki one request at a time.

    `failed` are wikis that are not tried before the next look; `busy` those of the passes under way. A failure that
    `reported` has from the last time is not printed again.
    """

    core: FeedStore
    wikis: tuple[str, ...]
    today: _Today
    console: Console
    shown: Progress
    again: Again = at_once
    failed: set[WikiName] = field(default_factory=set)
    busy: set[WikiName] = field(default_factory=set)
    reported: dict[str, str] = field(default_factory=dict)
    _turns: dict[WikiName, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))
    _choosing: asyncio.Lock = field(default_factory=asyncio.Lock)
    _listing: dict[WikiName, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))

    async def once(self, config: Config) -> None:
        """Runs one pass over each of the wikis. A failure is reported and does not stop the others; one is raised."""
        config = await self.again(partial(with_watched, config, self.core, self.today()))
        chosen = _chosen(config, self.wikis)
        await self._refresh(config, chosen)
        failures = await side_by_side([partial(self._try, config, wiki) for wiki in chosen], AT_ONCE)
        for failure in failures:
            if failure:
                raise failure

    async def repeat(self, read: Callable[[], Config]) -> None:
        """Does passes that are due, and re-reads, without end; `read` gives the configuration as it is now."""

        async def passes() -> None:
            while True:
                if not await self.next_pass(read):
                    await asyncio.sleep(_LOOK_S)

        async def looks() -> None:
            while True:
                await self.look(read)
                await asyncio.sleep(_LOOK_S)
                self.failed.clear()

        async def lists() -> None:
            while True:
                await self.refresh(read)
                await asyncio.sleep(_LOOK_S)

        await until(asyncio.Event(), looks(), lists(), *(passes() for _ in range(AT_ONCE)))

    async def next_pass(self, read: Callable[[], Config]) -> bool:
        """Runs the pass that is due first of those that nobody runs (P-7); False if there is none, or no database."""
        try:
            async with self._choosing:
                config = await self.again(partial(with_watched, read(), self.core, self.today()))
                due = await self.again(partial(_due, config, self.core, _chosen(config, self.wikis), self.today()))
                wiki = next((each for each in due if each.name not in self.failed | self.busy), None)
                if wiki is None:
                    return False
                self.busy.add(wiki.name)
            try:
                async with self._turns[wiki.name]:
                    await self._refresh(config, [wiki])
                    failure = await self._try(config, wiki)
            finally:
                self.busy.remove(wiki.name)
            if failure:
                self.failed.add(wiki.name)
                return not isinstance(failure, StoreError)  # It was reported, and the next wiki is due.
        except WeboidError as error:
            self._say(error)
            return False
        return True

    async def look(self, read: Callable[[], Config]) -> None:
        """Reads pages that were handed in, but for wikis over which a pass goes: that reads its own."""
        try:
            config = await self.again(partial(with_watched, read(), self.core, self.today()))
            chosen, filters = _chosen(config, self.wikis), SpamFilters(self.core.lists)

            async def look_at(wiki: WikiConfig) -> None:
                followed = await followed_wiki(config, self.core, wiki, filters, self.again)
                if not (turn := self._turns[wiki.name]).locked():
                    async with turn:
                        await self._reread(config, wiki, followed)

            await side_by_side([partial(look_at, wiki) for wiki in chosen], AT_ONCE)
        except WeboidError as error:
            self._say(error)
        if self.failed and isinstance(self.console, ProcessConsole):
            # By name only: everybody can see it at /status.
            names = sorted(map(str, self.failed))
            more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
            self.console.report(
                f"could not read {', '.join(names[:_MOST_NAMED])}{more}; tries again every {_LOOK_S / 60:.0f} min"
            )

    async def refresh(self, read: Callable[[], Config]) -> None:
        """Refreshes the lists of wikis, but for those over which a pass goes: that has done so."""
        try:
            config = await self.again(partial(with_watched, read(), self.core, self.today()))

            async def refresh(wiki: WikiConfig) -> None:
                if not (turn := self._turns[wiki.name]).locked():
                    async with turn:
                        await self._refresh(config, [wiki])

            await side_by_side([partial(refresh, wiki) for wiki in _chosen(config, self.wikis)], AT_ONCE)
        except WeboidError as error:
            self._say(error)

    def _say(self, error: WeboidError) -> None:
        self.console.print(f"{error}; trying again in {_LOOK_S / 60:.0f} minutes", style="red", markup=False)

    async def _refresh(self, config: Config, wikis: list[WikiConfig]) -> None:
        await refresh_lists(
            config, self.core, wikis, self.today(), self.console, self.again, self.reported, self._listing
        )

    async def _reread(
        self, config: Config, wiki: WikiConfig, followed: FollowedWiki, source: WikiSource | None = None
    ) -> None:
        rereading = Rereading(config, self.core, self.today, again=self.again, reported=self.reported)
        await rereading.reread({wiki: followed}, source)

    async def _try(self, config: Config, wiki: WikiConfig) -> Exception | None:
        """Runs a pass, and prints how it ended; returns why it failed, which is the trouble of this wiki alone."""
        try:
            done = await self._pass_over(config, wiki)
        except OutputClosedError:
            raise
        except Exception as error:
            if not isinstance(error, WeboidError):
                log.error("a pass over %s ended by an error of our own", wiki.name, exc_info=error)
            print_once(self.console, self.reported, str(wiki.name), error)
            return error
        self.reported.pop(str(wiki.name), None)
        self.console.print(summary_of(wiki.name, done), highlight=False)
        return None

    async def _pass_over(self, config: Config, wiki: WikiConfig) -> PassProgress:
        named = named_wiki(str(wiki.name), config)
        criteria = _criteria(wiki)
        stored = await self.again(partial(record_named, config, self.core, wiki))
        followed = await followed_wiki(config, self.core, wiki, SpamFilters(self.core.lists), self.again)
        task = self.shown.add_task(f"meeting pages of {wiki.name}", total=None)
        looked = time.monotonic()

        def show(progress: PassProgress) -> None:
            if progress.walked:
                text, done, total = f"reading pages of {wiki.name}", progress.walked, progress.records
                self.shown.update(task, description=text, completed=done, total=total)
            else:
                self.shown.update(task, completed=progress.met)

        async def between() -> None:
            nonlocal looked
            if time.monotonic() - looked >= _LOOK_S:
                await self._reread(config, wiki, followed, source)
                looked = time.monotonic()

        try:
            async with open_source(config, wiki) as source:
                await self.again(partial(refresh_namespaces, self.core, source, stored))
                return await PagePass(
                    self.core,
                    source,
                    stored,
                    named.farm,
                    criteria,
                    today=self.today,
                    now=moment_now,
                    untouched_days=config.feed.untouched_days,
                    show=show,
                    between=between,
                    again=self.again,
                ).run()
        finally:
            self.shown.remove_task(task)


async def _due(config: Config, core: FeedStore, wikis: list[WikiConfig], day: int) -> list[WikiConfig]:
    """The wikis whose last pass ended a period ago or earlier, the oldest first."""
    stored = await core.wikis.list_all()
    passed = {(each.farm, each.dbname): each.passed for each in stored if each.passed is not None}
    codes = {farm.name: farm.code for farm in config.farms}
    turns = {wiki.name: passed.get((codes[wiki.name.farm], wiki.name.dbname), -1) for wiki in wikis}
    due = [wiki for wiki in wikis if turns[wiki.name] < 0 or turns[wiki.name] + config.feed.period_days <= day]
    return sorted(due, key=lambda wiki: turns[wiki.name])


def summary_of(name: WikiName, done: PassProgress) -> str:
    """The result of a pass in one line."""
    return f"{name}: {many(done.met, 'matching page')}; {changes(done.intake)}"


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
