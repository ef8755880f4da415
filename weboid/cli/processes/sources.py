"""The wikis that the configuration names, their sources opened, and the proof that this machine is online.

Modules for the network are loaded where they are used: to load aiohttp is half the time of a command that needs none.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weboid.config import Config, WikiConfig
from weboid.core.url.farms import WMF, Farm, WikiName, api_url, farm_named, parse_wiki_name

if TYPE_CHECKING:
    from weboid.checking.checker import Checker
    from weboid.checking.online import Online
    from weboid.net.outbound import Outbound
    from weboid.wiki.action import ApiPatience
    from weboid.wiki.api import ApiSource
    from weboid.wiki.source import WikiSource
    from weboid.wiki.toolforge import Replicas


@dataclass(frozen=True, slots=True)
class NamedWiki:
    """A wiki as named on the command line: `name` is None if only its address was given."""

    name: WikiName | None
    farm: Farm
    api: str


def named_wiki(text: str, config: Config) -> NamedWiki:
    """The wiki of a name (``dewiki``, ``dewiki@WMF``) or of the URL of its api.php; raises ConfigError."""
    if "://" in text:
        return NamedWiki(None, WMF, text)
    name = parse_wiki_name(text)
    farm = farm_named(name.farm, config.farms)
    given = next((wiki.api for wiki in config.wikis if wiki.name == name and wiki.api), "")
    return NamedWiki(name, farm, given or api_url(farm, name.dbname))


def how_to_watch(farm: str = WMF.name) -> str:
    """The advice where no wiki of the farm is configured, for a message."""
    return f'add [wiki."dewiki@{farm}"] to weboid.toml, or set WEBOID_WIKI or WEBOID_FEED_WATCHED'


def online_of(config: Config, checker: "Checker", session: "Outbound") -> "Online":
    """The proof that we are online, as configured: canaries, and the APIs of the watched wikis (C-16)."""
    from weboid.checking.online import Online

    return Online(
        checker.fetch,
        session.resolver.look_up,
        canaries=config.crawl.canaries,
        apis=[named_wiki(str(wiki.name), config).api for wiki in config.wikis],
        http_port=config.net.web_ports[0],
    )


@asynccontextmanager
async def open_source(config: Config, wiki: WikiConfig) -> AsyncIterator["WikiSource"]:
    """The source from which a wiki is to be read by the configuration (L-2); raises ConfigError and SourceError."""
    async with open_api(config, named_wiki(str(wiki.name), config).api, dbname=wiki.name.dbname) as api:
        if wiki.source == "api":
            yield api
            return
        site = await api.fetch_siteinfo()
    from weboid.wiki.mariadb import Refused
    from weboid.wiki.replica import ReplicaSource

    replicas, dbname, shards = replicas_of(config), wiki.name.dbname, {}
    with suppress(Refused):  # Without a list of wikis, the largest lag counts.
        shards = {listed.dbname: listed.shard for listed in await replicas.list_wikis()}
    access, links = replicas.access(dbname), replicas.links_access(dbname)
    source = ReplicaSource(
        access, interwiki=site.interwiki, namespaces=site.namespaces, links=links, shard=shards.get(dbname, "")
    )
    try:
        yield source
    finally:
        await source.close()


def replicas_of(config: Config) -> "Replicas":
    """The wiki replicas as configured; raises ConfigError if there are no credentials."""
    from weboid.wiki.toolforge import HOSTS, Replicas, read_credentials

    given = config.replica
    credentials = read_credentials(given.credentials, given.user, given.password)
    return Replicas(credentials, cluster=given.cluster, hosts=given.hosts or HOSTS)


@asynccontextmanager
async def open_api(
    config: Config, api: str, patience: "ApiPatience | None" = None, *, dbname: str = ""
) -> AsyncIterator["ApiSource"]:
    """A wiki's Action API, with a client whose requests all pass the guard (C-13)."""
    from weboid.net.outbound import open_client
    from weboid.wiki.api import ApiSource

    async with open_client(config.net) as client:
        source = ApiSource(api, client, user_agent=config.net.user_agent, patience=patience, dbname=dbname)
        try:
            yield source
        finally:
            await source.close()
