"""Reading the settings pages of the configured wikis once a day (B-1).

A page that cannot be read or does not fit is reported, and the one before stays in force.
"""

import json
from functools import partial
from typing import Final

from rich.console import Console

from weboid.cli.lists import record_named
from weboid.cli.processes.sources import named_wiki
from weboid.config import Config, WikiConfig
from weboid.errors import SourceError
from weboid.maintain.settings_pages import is_settings_fresh, refresh_settings
from weboid.mechanism.patience import Again, at_once
from weboid.net.outbound import open_client
from weboid.remote.feed.calls import local_feed_store
from weboid.store.archives.wiki_settings import forget_configured, record_configured
from weboid.store.db.pool import Pool
from weboid.wiki.action import ActionApi, ApiPatience

_PATIENCE: Final = ApiPatience(tries=2, timeout_s=30, longest_pause_s=10, answer_mib=2)
"""Tomorrow is another day, and many wikis may be waiting."""


async def refresh_all_settings(config: Config, pool: Pool, day: int, console: Console, again: Again = at_once) -> None:
    """Stores what is configured of all configured wikis, and reads their settings pages, unless that was done today."""
    asked = [wiki for wiki in config.wikis if wiki.settings or wiki.rules]
    stored = [await again(partial(_refresh, config, pool, wiki, day, console)) for wiki in asked]
    async with pool.connection() as conn:
        await forget_configured(conn, stored)


async def _refresh(config: Config, pool: Pool, wiki: WikiConfig, day: int, console: Console) -> int:
    """Stores what is said of one wiki; returns its number."""
    named = named_wiki(str(wiki.name), config)
    stored = await record_named(config, local_feed_store(pool), wiki)
    async with pool.connection() as conn:
        await record_configured(conn, stored.wiki, json.dumps(wiki.rules) if wiki.rules else None)
    if not wiki.settings or await is_settings_fresh(pool, stored, day):
        return stored.wiki
    try:
        async with open_client(config.net) as client:
            api = ActionApi(named.api, client, config.net.user_agent, _PATIENCE)
            settings = await refresh_settings(pool, api, stored, name=str(wiki.name), title=wiki.settings, day=day)
    except SourceError as error:
        console.print(f"settings of {wiki.name}: {error}", style="yellow", markup=False)
        return stored.wiki
    if settings.fault:
        kept = "those read before stay in force" if settings.text else "no wikitext is offered for it"
        console.print(
            f"settings of {wiki.name}: {wiki.settings}: {settings.fault}; {kept}", style="yellow", markup=False
        )
    return stored.wiki
