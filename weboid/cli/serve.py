"""``weboid serve``: the webservice alone."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import aiohttp
import click

from weboid.cli.runtime import clock, day_option, open_store, run_async, stop_signals
from weboid.config import Config
from weboid.core.url.farms import WMF, api_url
from weboid.net.outbound import open_client
from weboid.store.db.pool import Pool
from weboid.store.pages.wiki import StoredWiki
from weboid.web.answer.live_pages import Sources
from weboid.web.app import make_app
from weboid.web.http.server import open_site
from weboid.wiki.action import ApiPatience
from weboid.wiki.api import ApiSource

log = logging.getLogger(__name__)

_CONNECTIONS = 8
_STATEMENT_S = 10.0
"""The time limit for a statement, as no reader waits longer."""
_IMPATIENT = ApiPatience(tries=1, timeout_s=5)
"""Short, because a reader waits: if the wiki does not answer in time, the last pass is used instead (W-10)."""


@click.command("serve")
@click.option("--host", help="Address to listen on (WEBOID_WEB_HOST).")
@click.option("--port", type=click.IntRange(0, 65_535), help="Port to listen on (WEBOID_WEB_PORT, PORT).")
@day_option
@click.pass_obj
def command(config: Config, host: str | None, port: int | None, day: int | None) -> None:
    """Answers requests until Ctrl-C or SIGTERM."""

    async def main() -> None:
        async with open_store(config, size=_CONNECTIONS, part="web", statement_timeout_s=_STATEMENT_S) as pool:
            place = host or config.web.host, config.web.port if port is None else port
            async with serving(config, pool, clock(day), *place) as url:
                click.echo(f"Weboid answers at {url}/", err=True)
                stopped = asyncio.Event()
                with stop_signals(stopped.set):
                    await stopped.wait()

    run_async(main())


@asynccontextmanager
async def serving(config: Config, pool: Pool, today: Callable[[], int], host: str, port: int) -> AsyncIterator[str]:
    """The webservice, listening until the block ends; gives its URL. Raises WeboidError if the port is taken."""
    public_url = config.web.url or f"http://{host}:{port}"
    async with open_client(config.net) as client:
        app = make_app(
            config, pool, today=today, sources=_sources(config, client), public_url=public_url, client=client
        )
        async with open_site(app, host, port) as url:
            yield url


def _sources(config: Config, client: aiohttp.ClientSession) -> Sources:
    """The function that finds a wiki's live source: the API known from feeding, or configured, or that of WMF wikis."""
    configured = {(wiki.name.dbname, wiki.name.farm): wiki.api for wiki in config.wikis if wiki.api}
    farms = {farm.code: farm for farm in config.farms}

    def source(wiki: StoredWiki) -> ApiSource | None:
        farm = farms.get(wiki.farm)
        api = wiki.api or (farm and configured.get((wiki.dbname, farm.name)))
        if not api and farm == WMF:
            api = api_url(WMF, wiki.dbname)
        return ApiSource(api, client, user_agent=config.net.user_agent, patience=_IMPATIENT) if api else None

    return source
