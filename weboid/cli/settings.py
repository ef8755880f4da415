"""Reading the settings pages of the configured wikis once a day (B-1).

A page that cannot be read or does not fit is reported, and the one before stays in force.
"""

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
from weboid.store.db.pool import Pool
from weboid.wiki.action import ActionApi, ApiPatience

_PATIENCE: Final = ApiPatience(tries=2, timeout_s=30, longest_pause_s=10, answer_mib=2)
"""Tomorrow is another day, and many wikis may be waiting."""


async def refresh_all_settings(config: Config, pool: Pool, day: int, console: Console, again: Again = at_once) -> None:
    """Reads the settings pages of all configured wikis, unless that was done today."""
    for wiki in config.wikis:
        if wiki.settings:
            await again(partial(_refresh, config, pool, wiki, day, console))


async def _refresh(config: Config, pool: Pool, wiki: WikiConfig, day: int, console: Console) -> None:
    named = named_wiki(str(wiki.name), config)
    stored = await record_named(config, local_feed_store(pool), wiki)
    if await is_settings_fresh(pool, stored, day):
        return
    try:
        async with open_client(config.net) as client:
            api = ActionApi(named.api, client, config.net.user_agent, _PATIENCE)
            settings = await refresh_settings(pool, api, stored, name=str(wiki.name), title=wiki.settings, day=day)
    except SourceError as error:
        console.print(f"settings of {wiki.name}: {error}", style="yellow", markup=False)
        return
    if settings.fault:
        kept = "those read before stay in force" if settings.text else "no wikitext is offered for it"
        console.print(
            f"settings of {wiki.name}: {wiki.settings}: {settings.fault}; {kept}", style="yellow", markup=False
        )
