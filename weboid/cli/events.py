"""``weboid feed events``: follows Wikimedia's event streams, so that edits take effect within minutes."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Final

import click
from rich.console import Console

from weboid.cli import READ_CONFIG
from weboid.cli.days import clock, day_option, moment_now
from weboid.cli.lists import record_named
from weboid.cli.processes.process import run_async
from weboid.cli.processes.remote_process import FeederStore, core_option, open_feeder
from weboid.cli.processes.running import OwnProcess
from weboid.cli.processes.sources import how_to_watch, named_wiki, open_source
from weboid.cli.processes.stopping import until
from weboid.cli.terminal.console import ProcessConsole, bar
from weboid.cli.terminal.escape import many
from weboid.cli.watched import watching
from weboid.config import Config, WikiConfig
from weboid.core.url.farms import WMF
from weboid.errors import ConfigError, WeboidError
from weboid.feed.effects import Applied, FollowedWiki
from weboid.feed.events import load_streams
from weboid.feed.following import Following
from weboid.feed.intake import SpamFilters
from weboid.feed.reread import reread
from weboid.feed.stream import EventStream
from weboid.mechanism.patience import Again, again_until, at_once
from weboid.mechanism.tasks import side_by_side
from weboid.net.outbound import open_client
from weboid.remote.feed.calls import FeedStore
from weboid.store.pages.page import Intake
from weboid.store.schedule.process import ProcessRole
from weboid.wiki.criteria import read_criteria
from weboid.wiki.source import WikiSource

log = logging.getLogger(__name__)

AT_ONCE: Final = 4
"""Wikis that are read side by side, at most."""
_REREAD_S: Final = 30.0
"""The interval at which pages that were handed in are read again."""


@click.command("events", short_help="Follows the event streams of the configured wikis.")
@click.option("--url", help="Address of the streams, instead of the configured one.")
@click.option("--farm", default=WMF.name, show_default=True, help="The farm whose wikis the events are about.")
@click.option("--once", is_flag=True, help="End when caught up, or when the server ends the stream.")
@core_option
@day_option
@click.pass_context
def command(ctx: click.Context, url: str | None, farm: str, once: bool, server: str | None, day: int | None) -> None:
    """Follows the event streams for the configured wikis, from the position of the last run on.

    Links that edits add are stored at once; new, moved, restored and edited pages are read again a little later. The
    configuration is read again every five minutes.
    With --core it works for another Weboid over HTTP, without a database; its token is in WEBOID_FEED_TOKEN.
    """
    config: Config = ctx.obj
    read_again: Callable[[], Config] = ctx.meta[READ_CONFIG]
    if not config.feed.watched and not _of_farm(config, farm):
        raise ConfigError(f"no wiki of {farm} is configured, so there is nothing to follow: {how_to_watch(farm)}")
    console = ProcessConsole()

    async def main() -> None:
        async with open_feeder(config, ProcessRole.EVENTS, server, size=4, lasting=not once, day=day) as feeder:
            console.report = feeder.report
            await until(feeder.stopped, follow(feeder))

    async def follow(feeder: OwnProcess[FeederStore]) -> None:
        core, agreed = feeder.store
        again = again_until(feeder.stopped, core.away)
        is_changed = True
        while is_changed:
            async with watching(lambda: agreed(read_again()), core, feeder.stopped, clock(day), again) as (
                watched,
                ended,
            ):
                if wikis := _of_farm(watched, farm):
                    work = follow_events(watched, core, wikis, clock(day), console, url, once=once, again=again)
                    await until(ended, work)
                elif not once:
                    await ended.wait()
                is_changed = ended.is_set()

    run_async(main())


def _of_farm(config: Config, farm: str) -> list[WikiConfig]:
    return [wiki for wiki in config.wikis if wiki.name.farm == farm]


async def follow_events(
    config: Config,
    core: FeedStore,
    wikis: Sequence[WikiConfig],
    today: Callable[[], int],
    console: Console,
    url: str | None = None,
    *,
    now: Callable[[], datetime] = moment_now,
    once: bool = False,
    again: Again = at_once,
) -> None:
    """Follows the streams for these wikis of one farm without end, and reads pages that were handed in.

    Raises SourceError if the server has no such streams, and StoreError.
    """
    filters = SpamFilters(core.lists)
    followed = {wiki: await followed_wiki(config, core, wiki, filters, again) for wiki in wikis}
    by_name = {wiki.name.dbname: judged for wiki, judged in followed.items()}
    rereading = Rereading(config, core, today, now, again)
    async with open_client(config.net) as client:
        with bar(console, is_counted=False) as shown:
            task = shown.add_task("waiting for events", total=None)

            def open_stream(names: str) -> EventStream:
                return EventStream(url or config.feed.streams, names, client, user_agent=config.net.user_agent)

            def show(done: Applied) -> None:
                shown.update(task, description=_summary(done, now()))

            following = Following(
                core, open_stream, load_streams(), by_name, today=today, now=now, show=show, again=again
            )
            try:
                if once:
                    await following.run(once=True)
                    await rereading.reread(followed)
                else:
                    await until(asyncio.Event(), following.run(), rereading.repeat(followed))
            finally:
                console.print(_summary(following.done, now()), highlight=False)


@dataclass(slots=True)
class Rereading:
    """Reads pages that were handed in. What `reported` has from the last time is not logged again."""

    config: Config
    core: FeedStore
    today: Callable[[], int]
    now: Callable[[], datetime] = moment_now
    again: Again = at_once
    reported: dict[str, str] = field(default_factory=dict)

    async def reread(self, followed: Mapping[WikiConfig, FollowedWiki], source: WikiSource | None = None) -> Intake:
        """Reads, in each of the wikis, the pages whose moment its source has passed.

        Some are read side by side, each from a source of its own unless it is given. If a wiki cannot be read, that is
        logged, and the pages stay pending.
        """
        total = Intake()

        async def read(wiki: WikiConfig, judged: FollowedWiki) -> None:
            nonlocal total
            what = f"pages of {wiki.name} wait to be read again"
            try:
                total += await self.again(partial(self._reread, wiki, judged, source))
                self.reported.pop(what, None)
            except Exception as error:  # of one wiki: the others' pages are read
                if self.reported.get(what) != str(error):
                    self.reported[what] = str(error)
                    log.warning("%s: %s", what, error, exc_info=None if isinstance(error, WeboidError) else error)

        await side_by_side([partial(read, *each) for each in followed.items()], AT_ONCE)
        return total

    async def repeat(self, followed: Mapping[WikiConfig, FollowedWiki]) -> None:
        """Does so again and again."""
        while True:
            await self.reread(followed)
            await asyncio.sleep(_REREAD_S)

    async def _reread(self, wiki: WikiConfig, judged: FollowedWiki, given: WikiSource | None) -> Intake:
        day, now = self.today(), self.now()
        if not await self.core.waiting.list_waiting(judged.wiki, now, 1):
            return Intake()
        async with nullcontext(given) if given else open_source(self.config, wiki) as source:
            return await reread(self.core, source, judged, day=day, now=now)


async def followed_wiki(
    config: Config, core: FeedStore, wiki: WikiConfig, filters: SpamFilters, again: Again = at_once
) -> FollowedWiki:
    """A configured wiki with its criteria and spam filter, for events; raises ConfigError for unusable criteria."""
    named = named_wiki(str(wiki.name), config)
    criteria = read_criteria(wiki.matching, wiki.without)
    stored = await again(partial(record_named, config, core, wiki))
    return FollowedWiki(
        stored.wiki,
        named.farm,
        covers=lambda page: criteria.covers(page) is True,
        excludes=lambda page: any(criterion.covers(page) for criterion in criteria.excluded),
        doubts=lambda page: any(criterion.covers(page) is None for criterion in criteria.excluded),
        tree_depth=criteria.tree_depth,
        spam=filters.of(named.farm.code, wiki.name.dbname),
    )


def _summary(done: Applied, now: datetime) -> str:
    """The progress of following in one line."""
    if done.moment is None:
        return "no event so far"
    lag_s = max(0.0, (now - done.moment).total_seconds())
    return (
        f"{many(done.events, 'event')}, {lag_s:.0f} s behind; {many(done.intake.links_new, 'link')} came, "
        f"{many(done.intake.pages_gone, 'page')} went, {many(done.handed_in, 'page')} to read"
    )
