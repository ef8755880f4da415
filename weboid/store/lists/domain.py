"""Facts about a domain with all hosts below it, for its page (W-6): of a large one the first of each."""

from typing import Any, Final, NamedTuple

from weboid.core.record.record import HostRecord
from weboid.core.url.farms import WikiName
from weboid.core.url.keys import UrlKey
from weboid.core.url.patterns import pattern_below
from weboid.store.db.rows import HostKey, host_record
from weboid.store.db.statements import Connection, fetch_all, statements
from weboid.store.lists.links import MOST_COUNTED

SQL: Final = statements("lists/domain")
HOSTS: Final = 50
MOST_URLS: Final = 1_000
"""Of a host that are counted, and of a domain that are judged."""


class DomainHost(NamedTuple):
    """A host with its record, and the number of its URLs up to `MOST_URLS`."""

    key: HostKey
    host: str
    record: HostRecord
    urls: int


class DomainUses(NamedTuple):
    """The uses of a domain's URLs in a wiki, and how many of these are dead there."""

    wiki: WikiName
    links: int
    dead: int


async def list_hosts(conn: Connection, domain: str) -> list[DomainHost]:
    """The first `HOSTS` hosts of a domain, from the domain down."""
    row = {**_below(domain), "limit": HOSTS, "most": MOST_URLS}
    return [
        DomainHost(HostKey(bucket, key), host, host_record(record), urls)
        async for bucket, key, host, *record, urls in await conn.execute(SQL["list_hosts"], row)
    ]


async def list_urls(conn: Connection, domain: str) -> list[UrlKey]:
    """The first URLs of a domain, at most one more than `MOST_URLS`."""
    return await fetch_all(conn, UrlKey, SQL["list_urls"], {**_below(domain), "limit": MOST_URLS + 1})


async def count_uses(conn: Connection, domain: str) -> list[DomainUses]:
    """Of the first `MOST_COUNTED` uses of a domain how many each wiki has, those with the most first."""
    rows = await conn.execute(SQL["count_uses"], {**_below(domain), "limit": MOST_COUNTED})
    return [DomainUses(WikiName(dbname, farm), links, dead) async for dbname, farm, links, dead in rows]


async def count_changed(conn: Connection, domain: str, after: int) -> dict[int, tuple[int, int]]:
    """By day after `after`, how many URLs of a domain died, and how many came back; `MOST_COUNTED` lines are read."""
    row = {**_below(domain), "after": after, "limit": MOST_COUNTED}
    return {day: (died, back) async for day, died, back in await conn.execute(SQL["count_changed"], row)}


def _below(domain: str) -> dict[str, Any]:
    pattern = pattern_below(domain)
    return {"first": pattern.first, "end": pattern.end}
