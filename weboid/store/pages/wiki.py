"""Farms and wikis in the store (P-1), and the page that says which wikis are watched, as it was last read.

The floor ``wiki`` reads them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from weboid.core.url.farms import Farm, WikiName
from weboid.core.wikitext.titles import Namespace
from weboid.store.db.rows import columns_of
from weboid.store.db.statements import Connection, fetch_all, fetch_one, statements

SQL: Final = statements("pages/wiki")


@dataclass(frozen=True, slots=True)
class StoredWiki:
    """A wiki from which pages were read, or which is configured.

    `article` is the address in front of a title; `passed` the day of its last completed pass, and
    `began` the day on which that one began.
    """

    wiki: int
    farm: int
    dbname: str
    api: str | None
    article: str | None
    passed: int | None
    began: int | None = None


@dataclass(frozen=True, slots=True)
class StoredWatchList:
    """The page: `text` is the newest in force, None = none ever was; `fault` = why the present one is not, "" = it is.

    `age_s` = the seconds since it was read, by the database's clock.
    """

    source: str
    text: str | None
    fault: str = ""
    age_s: float = 0.0


async def record_farms(conn: Connection, farms: Sequence[Farm]) -> None:
    """Records the configured farms."""
    await conn.execute(SQL["record_farms"], columns_of(farms, "name") | {"farm": [farm.code for farm in farms]})


async def record_wiki(
    conn: Connection, farm: Farm, name: WikiName, *, api: str | None = None, article: str | None = None
) -> StoredWiki:
    """The wiki, recorded if it was not known; a known address is kept until another is given."""
    await record_farms(conn, [farm])
    row = {"farm": farm.code, "dbname": name.dbname, "api": api, "article": article}
    found = await fetch_one(conn, StoredWiki, SQL["record_wiki"], row)
    assert found, "an upsert that always updates returns its row"
    return found


async def find_wiki(conn: Connection, farm: Farm, name: WikiName) -> StoredWiki | None:
    """The wiki of that name; None if nothing was ever read from it."""
    return await fetch_one(conn, StoredWiki, SQL["find_wiki"], {"farm": farm.code, "dbname": name.dbname})


async def list_wikis(conn: Connection) -> list[StoredWiki]:
    """All wikis by farm and name."""
    return await fetch_all(conn, StoredWiki, SQL["list_wikis"])


async def record_pass(conn: Connection, wiki: int, day: int) -> None:
    """Records that a pass over the whole wiki was completed on that day (U-8's guard)."""
    await conn.execute(SQL["record_pass"], {"wiki": wiki, "day": day})


async def list_namespaces(conn: Connection, wiki: int) -> list[Namespace]:
    """The names of a wiki's namespaces, by number and name; empty if it was never asked."""
    return await fetch_all(conn, Namespace, SQL["list_namespaces"], {"wiki": wiki})


async def record_namespaces(conn: Connection, wiki: int, names: Sequence[Namespace]) -> None:
    """Replaces the names of a wiki's namespaces; names come once each, and clean."""
    columns = columns_of(names, "name is_alias is_cased") | {"namespace": [each.number for each in names]}
    await conn.execute(SQL["lock_namespaces"], {"wiki": wiki})
    await conn.execute(SQL["record_namespaces"], {"wiki": wiki, **columns})


async def find_watch_list(conn: Connection, source: str) -> StoredWatchList | None:
    """The page of this name as it is stored; None if it was never read."""
    return await fetch_one(conn, StoredWatchList, SQL["find_watch_list"], {"source": source})


async def record_watch_list(conn: Connection, source: str, text: str | None, fault: str) -> None:
    """Stores a page as it was read just now; with a fault the text before is kept, whatever is given."""
    await conn.execute(SQL["record_watch_list"], {"source": source, "text": text, "fault": fault})
