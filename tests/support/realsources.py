"""A real wiki behind each of the three sources: its recorded API, its dumps, a private MariaDB with its tables.

The data of the wikis are in ``../shared``; a test that needs them is skipped if they are missing.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import aiohttp
from support.mariadb import MariaServer
from support.shared import shared
from support.wikireplay import Exchange, WikiReplay, info_walk, live_reads, open_wiki_replay, recorded, siteinfo

from weboid.wiki.api import ApiSource
from weboid.wiki.dump import DumpSource
from weboid.wiki.dump_rows import list_columns
from weboid.wiki.interwiki import Interwiki, InterwikiMap
from weboid.wiki.replica import ReplicaSource

TABLES: Final = ("page", "externallinks", "iwlinks", "interwiki")


def api_source(replay: WikiReplay, session: aiohttp.ClientSession) -> ApiSource:
    return ApiSource(replay.url, session, user_agent="Weboid-test")


def dump_source(folder: Path, ending: str = ".sql.gz") -> DumpSource:
    return DumpSource(*(folder / f"{table}{ending}" for table in TABLES))


@asynccontextmanager
async def open_replica(server: MariaServer, folder: Path, ending: str = ".sql.gz") -> AsyncIterator[ReplicaSource]:
    """The source that asks a server into which a folder of dumps was loaded."""
    files = [folder / f"{table}{ending}" for table in TABLES]
    access = server.replicate("contractwiki", *files)
    rows = list_columns(files[-1], "interwiki", ("iw_prefix", "iw_url", "iw_local"))
    interwiki = InterwikiMap(
        Interwiki(prefix, url, local != "0") for columns in rows for prefix, url, local in zip(*columns, strict=True)
    )
    replica = ReplicaSource(access, interwiki=interwiki, namespaces=())
    try:
        yield replica
    finally:
        await replica.close()


@asynccontextmanager
async def open_real_api() -> AsyncIterator[ApiSource]:
    """The source that asks the recorded API of the real wiki; nothing may be asked that was not recorded."""
    recordings = recorded_walk()
    ids = {page["pageid"] for one in recordings for page in body_of(one)["query"]["pages"]}
    exchanges = [*info_walk(recordings), *live_reads(recordings, ids), siteinfo(shared("api/siteinfo.json"))]
    async with open_wiki_replay(exchanges) as replay, aiohttp.ClientSession() as session:
        yield api_source(replay, session)
        assert not replay.unknown


def real_wiki(name: str = "wiki") -> Path:
    return shared(f"{name}/page.sql.gz").parent


def recorded_walk() -> list[Exchange]:
    """The recorded walk over the real wiki, links included."""
    return recorded(shared("api/allpages-links.json.gz"))


def body_of(one: Exchange) -> Any:
    return json.loads(one.body)
