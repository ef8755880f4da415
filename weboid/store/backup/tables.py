"""The tables of a store, as backups see them: which are ours, and which hold nothing that is worth keeping."""

import re
from typing import Final, NamedTuple

from weboid.assets import asset
from weboid.store.db.pool import Connection
from weboid.store.db.statements import statements

SQL: Final = statements("backup/tables")
VOLATILE: Final = frozenset(
    {"asking_worker", "backup", "link_card", "part", "second_look", "slot", "throttle", "throttle_key", "vantage_place"}
)
"""Tables whose rows are not backed up: what runs now, turns, and limits, whose key must not outlive its day (W-9,
D-366)."""
MADE_BY_STARTING: Final = VOLATILE | {
    "migration",
    "lease",
    "key_form",
    "alarm",
    "lived",
    "checked",
    "pace",
    "day_total",
    "settled",
}
"""Tables that may have rows in a store that watches nothing yet."""
MIGRATIONS: Final = "migration"


def our_tables() -> frozenset[str]:
    """The names of all tables that the migrations make, and that of the migrations."""
    text = (asset("sql") / "schema.sql").read_text(encoding="utf-8")
    return frozenset(re.findall(r"^CREATE (?:UNLOGGED )?TABLE (\w+)", text, re.MULTILINE)) | {MIGRATIONS}


class StoredTable(NamedTuple):
    """A table: about how many bytes and rows it has, and the name of the one of which it is a part, else its own."""

    size: int
    about: int
    whole: str


async def list_tables(conn: Connection) -> dict[str, StoredTable]:
    """The tables of the schema that ours are in, partitions too."""
    rows = await conn.execute(SQL["list_tables"])
    return {name: StoredTable(*columns) async for name, *columns in rows}


async def find_schema(conn: Connection) -> str:
    """The schema that our tables are in."""
    row = await (await conn.execute(SQL["find_schema"])).fetchone()
    return str(row[0]) if row else "public"
