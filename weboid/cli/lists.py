"""Refreshing the spam lists of the configured wikis once a day (L-3, O-6).

Fetching and applying one list belongs to ``feed/spam``. A list that cannot be fetched is reported, and the one before
stays in force; no pass waits for it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial

from rich.console import Console

from weboid.cli.processes.sources import named_wiki
from weboid.cli.terminal.console import print_once
from weboid.cli.terminal.escape import many
from weboid.config import Config, WikiConfig
from weboid.core.url.farms import WikiName, farm_named
from weboid.errors import SourceError, StoreRefuses
from weboid.feed.spam import Refreshed, refresh_farm_spam, refresh_spam
from weboid.mechanism.patience import Again, at_once
from weboid.net.outbound import open_client
from weboid.remote.feed.calls import FeedStore
from weboid.store.pages.spam import FARM
from weboid.store.pages.wiki import StoredWiki
from weboid.wiki.action import ActionApi, ApiPatience

_Fetch = Callable[[ActionApi], Awaitable[Refreshed]]


async def refresh_lists(
    config: Config,
    core: FeedStore,
    wikis: Sequence[WikiConfig],
    day: int,
    console: Console,
    again: Again = at_once,
    reported: dict[str, str] | None = None,
    turns: Mapping[WikiName, asyncio.Lock] | None = None,
) -> None:
    """Fetches the lists of these wikis and of their farms, unless that was done today, and classifies links again.

    A failure that `reported` has from the last time is not printed again. `turns`: of several callers one at a time
    fetches the list of a farm, by the wiki that has it.
    """
    reported = {} if reported is None else reported
    # First of all: in a new store a farm is recorded with its first wiki, and its list refers to it.
    recorded = [(wiki, await again(partial(record_named, config, core, wiki))) for wiki in wikis]
    for farm in {wiki.name.farm: farm_named(wiki.name.farm, config.farms) for wiki in wikis}.values():
        if farm.spam_wiki:
            keeper = WikiName(farm.spam_wiki, farm.name)
            async with turns[keeper] if turns is not None else nullcontext():
                if not await again(partial(core.lists.is_fresh, farm.code, FARM, day)):
                    fetch = partial(refresh_farm_spam, core, farm=farm, day=day, again=again)
                    await _refresh(config, keeper, fetch, console, reported)
    for wiki, stored in recorded:
        if not await again(partial(core.lists.is_fresh, stored.farm, stored.dbname, day)):
            fetch = partial(refresh_spam, core, wiki=stored, day=day, again=again)
            await _refresh(config, wiki.name, fetch, console, reported)


async def record_named(config: Config, core: FeedStore, wiki: WikiConfig) -> StoredWiki:
    """A configured wiki as it is stored, recorded if it was not known."""
    named = named_wiki(str(wiki.name), config)
    return await core.wikis.record(named.farm, wiki.name, named.api)


async def _refresh(config: Config, keeper: WikiName, fetch: _Fetch, console: Console, reported: dict[str, str]) -> None:
    what = f"spam list of {keeper}"
    try:
        async with open_client(config.net) as client:
            api = named_wiki(str(keeper), config).api
            done = await fetch(ActionApi(api, client, config.net.user_agent, ApiPatience()))
    except (SourceError, StoreRefuses) as error:  # a token that may not write it: what is stored holds
        print_once(console, reported, what, error, style="yellow")
        return
    reported.pop(what, None)
    if done.changed:
        links = done.links
        console.print(
            f"{what}: {many(done.lines, 'line')} in force, {done.unusable} cannot be run; "
            f"{many(links.spam_new, 'link')} became spam, {links.spam_gone} are none any more",
            highlight=False,
        )
