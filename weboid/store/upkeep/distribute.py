"""Distributing the store over several servers (O-4), as sql/citus.sql lays its tables out.

A table is one transaction: a run that was stopped leaves each where it was or where it should be; the next one goes on.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

from weboid.errors import StoreAway, StoreError
from weboid.store.db.pool import Pool
from weboid.store.db.shards import SQL
from weboid.store.db.statements import fetch_all, fetch_value

_TABLE: Final = re.compile(r"create_\w+_table\('(\w+)'")

Show = Callable[[str], None]
"""Called with each table before it is distributed."""


async def list_undistributed(pool: Pool) -> Mapping[str, int]:
    """The tables that do not lie where they should, with the bytes that each takes with its indexes.

    Raises StoreError if the database cannot be distributed: it says what is missing.
    """
    async with pool.connection() as conn:
        if not await fetch_value(conn, SQL["is_there"]):
            raise StoreError("the database lacks the extension citus: an administrator installs it on all servers")
        nodes = [row async for row in await conn.execute(SQL["list_nodes"])]
        if not any(is_coordinator for _, is_coordinator, _ in nodes):
            raise StoreError("the coordinator does not know itself: run citus_set_coordinator_host there first")
        if not any(holds for _, is_coordinator, holds in nodes if not is_coordinator):
            raise StoreError("no worker is known that holds shards: run citus_add_node on the coordinator first")
        placed = set(await fetch_all(conn, str, SQL["list_placed"]))
        return {
            table: await fetch_value(conn, SQL["find_size"], {"table": table}) or 0
            for table in _TABLE.findall(SQL["layout"])
            if table not in placed
        }


async def distribute(pool: Pool, *, show: Show = lambda table: None) -> Mapping[str, int]:
    """Puts the tables where they should lie. Returns those that did not, and raises, as `list_undistributed`.

    StoreError also if one cannot be distributed now: it is not tried again by itself, as a server's disk may be full.

    Who needs a table waits until it is copied. Programs that run must be started anew: they do not know of it.
    """
    tables = await list_undistributed(pool)
    for statement in SQL["layout"].split(";"):
        [table] = _TABLE.findall(statement) or [""]
        if not table or table in tables:
            show(table)
            try:
                await _run(pool, statement, table)
            except StoreAway as error:
                raise StoreError(f"{error}; no row is lost. Look at all servers, then run it again") from error
    return tables


async def _run(pool: Pool, statement: str, table: str) -> None:
    async with pool.connection() as conn:
        await conn.execute(statement.encode())
        if table:
            await conn.execute(SQL["truncate_local"], {"table": table})
