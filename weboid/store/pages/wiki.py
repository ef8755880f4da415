"""Farms and wikis in the store (P-1). Reading a wiki itself belongs to the floor ``wiki``."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from weboid.core.url.farms import Farm, WikiName
from weboid.core.wikitext.titles import Namespace
from weboid.store.db.pool import Connection
from weboid.store.db.statements import statements

SQL: Final = statements("pages/wiki")


@dataclass(frozen=True, slots=True)
class StoredWiki:
    """A wiki from which pages were read, or which is configured.

    `article` is the address in front of a title; `passed` the day of its last completed pass.
    """

    wiki: int
    farm: int
    dbname: str
    api: str | None
    article: str | None
    passed: int | None


async def record_farms(conn: Connection, farms: Sequence[Farm]) -> None:
    """Records the configured farms."""
    columns = {"farm": [farm.code for farm in farms], "name": [farm.name for farm in farms]}
    await conn.execute(SQL["record_farms"], columns)


async def record_wiki(
    conn: Connection, farm: Farm, name: WikiName, *, api: str | None = None, article: str | None = None
) -> StoredWiki:
    """The wiki, recorded if it was not known; a known address is kept until another is given."""
    await record_farms(conn, [farm])
    row = {"farm": farm.code, "dbname": name.dbname, "api": api, "article": article}
    found = await (await conn.execute(SQL["record_wiki"], row)).fetchone()
    assert found is not None, "an upsert that always updates returns its row"
    return _stored_wiki(found)


async def find_wiki(conn: Connection, farm: Farm, name: WikiName) -> StoredWiki | None:
    """The wiki of that name; None if nothing was ever read from it."""
    row = await (await conn.execute(SQL["find_wiki"], {"farm": farm.code, "dbname": name.dbname})).fetchone()
    return None if row is None else _stored_wiki(row)


async def list_wikis(conn: Connection) -> list[StoredWiki]:
    """All wikis by farm and name."""
    return [_stored_wiki(row) async for row in await conn.execute(SQL["list_wikis"])]


async def record_pass(conn: Connection, wiki: int, day: int) -> None:
    """Records that a pass over the whole wiki was completed on that day (U-8's guard)."""
    await conn.execute(SQL["record_pass"], {"wiki": wiki, "day": day})


async def list_namespaces(conn: Connection, wiki: int) -> list[Namespace]:
    """How a wiki names its namespaces, by number and name; empty if it was never asked."""
    return [Namespace(*row) async for row in await conn.execute(SQL["list_namespaces"], {"wiki": wiki})]


async def record_namespaces(conn: Connection, wiki: int, names: Sequence[Namespace]) -> None:
    """Records how a wiki names its namespaces now, instead of what was known; names come once each, and clean."""
    columns = {
        "namespace": [each.number for each in names],
        "name": [each.name for each in names],
        "is_alias": [each.is_alias for each in names],
        "is_cased": [each.is_cased for each in names],
    }
    await conn.execute(SQL["lock_namespaces"], {"wiki": wiki})
    await conn.execute(SQL["record_namespaces"], {"wiki": wiki, **columns})


def _stored_wiki(row: Sequence[Any]) -> StoredWiki:
    return StoredWiki(*row)
