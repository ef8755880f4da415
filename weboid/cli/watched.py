"""The wikis that a page of a wiki adds to the configured ones ([feed] watched), and ``weboid feed watched``.

The page does not change what is configured here.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Final

import click

from weboid.cli.days import clock, day_option
from weboid.cli.processes.database import open_store
from weboid.cli.processes.process import run_async
from weboid.cli.processes.sources import NamedWiki, named_wiki
from weboid.cli.processes.stopping import until
from weboid.cli.terminal.escape import plain
from weboid.config import Config
from weboid.errors import ConfigError, WeboidError
from weboid.feed.watch_list import READ_S, current_watch_list
from weboid.mechanism.patience import Again, at_once
from weboid.mechanism.tasks import in_background
from weboid.net.outbound import open_client
from weboid.remote.feed.calls import FeedStore, local_feed_store
from weboid.store.db.pool import Pool
from weboid.store.pages.wiki import StoredWatchList, find_watch_list
from weboid.wiki.action import ActionApi, ApiPatience
from weboid.wiki.spamlist import fetch_text
from weboid.wiki.watch_list import fetch_address, read_watch_list

log = logging.getLogger(__name__)

_PATIENCE: Final = ApiPatience(tries=2, timeout_s=30, longest_pause_s=10, answer_mib=2)
"""It is read again soon, and passes wait for it."""


@click.command("watched", short_help="Shows which wikis are watched.")
@click.option("--confirm", is_flag=True, help="Read it now, and take it even if it drops more than half of the wikis.")
@day_option
@click.pass_obj
def command(config: Config, confirm: bool, day: int | None) -> None:
    """Shows which wikis are watched: those that are configured, and those of the page that `[feed] watched` names."""

    async def main() -> tuple[Config, str]:
        async with open_store(config, size=1, part="watched") as pool:
            stored = await _stored(config, local_feed_store(pool), clock(day)(), is_confirmed=confirm)
            return _with(config, stored), stored.fault if stored else ""

    watched, fault = run_async(main())
    for wiki in watched.wikis:
        click.echo(plain(str(wiki.name)))
    if fault:
        raise ConfigError(f"{config.feed.watched}: {fault}")


def titled_page(config: Config) -> tuple[NamedWiki, str]:
    """The wiki and the title that `[feed] watched` names, where that is no address. Raises ConfigError."""
    wiki, _, title = config.feed.watched.partition(":")
    if not title.strip():
        raise ConfigError("name an https address, or a wiki and a title: metawiki@WMF:User:Ann/Weboid.json")
    return named_wiki(wiki, config), title


async def with_watched(config: Config, core: FeedStore, day: int) -> Config:
    """The configuration with the wikis of the page, which is read if it is time to. Raises StoreError."""
    return _with(config, await _stored(config, core, day))


async def with_stored(config: Config, pool: Pool) -> Config:
    """The configuration with the wikis of the page as it was last in force, for processes that can do without.

    It is not read now, and what the database cannot say is left out.
    """
    if not config.feed.watched:
        return config
    try:
        async with pool.connection() as conn:
            return _with(config, await find_watch_list(conn, config.feed.watched))
    except WeboidError as error:
        log.warning("the page of what is watched is not known here: %s", error)
        return config


@asynccontextmanager
async def watching(
    read: Callable[[], Config],
    core: FeedStore,
    stopped: asyncio.Event,
    today: Callable[[], int],
    again: Again = at_once,
) -> AsyncIterator[tuple[Config, asyncio.Event]]:
    """The configuration with the wikis of the page, and an event that is set when they are others, or with `stopped`.

    `read` gives the configuration as it is now; one that cannot be read changes nothing. The event is set, too, once
    nobody looks any more: what was unexpected is raised at the end of the block. Raises StoreError, ConfigError.
    """
    current = await again(partial(with_watched, read(), core, today()))
    ended = asyncio.Event()

    async def watch() -> None:
        try:
            await until(stopped, _change(read, current, core, today))
        finally:
            ended.set()

    async with in_background(watch()):
        yield current, ended


async def _change(read: Callable[[], Config], current: Config, core: FeedStore, today: Callable[[], int]) -> None:
    """Returns when configuration and page name other wikis, or other criteria, than `current` has."""
    fault = ""
    while True:
        await asyncio.sleep(READ_S)
        try:
            config = read()
        except ConfigError as error:
            if fault != (fault := str(error)):
                log.warning("the configuration stays as it was: %s", error)
            continue
        try:
            now = await with_watched(config, core, today())
        except WeboidError:
            continue  # The work that needs the database reports it.
        if _essence(now) != _essence(current):
            return


def _essence(config: Config) -> list[tuple[object, ...]]:
    wikis = [(wiki.name, wiki.api, wiki.source, wiki.settings, wiki.matching, wiki.without) for wiki in config.wikis]
    return [(config.feed.streams, config.feed.watched), *wikis]


def _with(config: Config, stored: StoredWatchList | None) -> Config:
    if stored is None or stored.text is None:
        return config
    try:
        wikis = read_watch_list(stored.text, config.farms)
    except ConfigError as error:  # It was in force: a farm is not configured any more, or the program is another.
        raise ConfigError(f"{stored.source}: {error}") from None
    own = {wiki.name for wiki in config.wikis}
    return replace(config, wikis=(*config.wikis, *(wiki for wiki in wikis if wiki.name not in own)))


async def _stored(config: Config, core: FeedStore, day: int, *, is_confirmed: bool = False) -> StoredWatchList | None:
    if not (source := config.feed.watched):
        await core.watched.lower()  # It may have been raised when there was a page.
        return None
    fetch = partial(_fetch, config, source)
    return await current_watch_list(core, source, fetch, config.farms, day, is_confirmed=is_confirmed)


async def _fetch(config: Config, source: str) -> str:
    """The text of the page, by its address or by wiki and title. Raises ConfigError and SourceError."""
    async with open_client(config.net) as client:
        if "://" in source:
            return await fetch_address(client, source, config.net.user_agent)
        wiki, title = titled_page(config)
        text = await fetch_text(ActionApi(wiki.api, client, config.net.user_agent, _PATIENCE), title)
    if not text.strip():
        raise ConfigError("there is no such page")
    return text
