"""How many snapshots of each archive service were dropped lately, so that no fault drops them all (A-3, U-8).

How many may be dropped is decided in ``core/archive/visits``.
One law: the caller drops a snapshot in the same transaction, so that none is dropped uncounted.
"""

from dataclasses import dataclass
from typing import Final

from weboid.store.db.pool import Connection
from weboid.store.db.statements import statements

SQL: Final = statements("archives/withdrawal")


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """Of `kept` snapshots that an archive had on day `since`, so many were `dropped` from then on."""

    archive: int
    since: int
    kept: int
    dropped: int


async def find_withdrawn(conn: Connection, archive: int) -> Withdrawn | None:
    """What was dropped, None = nothing ever; nobody else counts until the end of the caller's transaction."""
    await conn.execute(SQL["lock_withdrawn"])
    row = await (await conn.execute(SQL["find_withdrawn"], {"archive": archive})).fetchone()
    return Withdrawn(archive, *row) if row else None


async def record_withdrawn(conn: Connection, counted: Withdrawn) -> None:
    """Writes the count that `find_withdrawn` has locked."""
    row = {"archive": counted.archive, "since": counted.since, "kept": counted.kept, "dropped": counted.dropped}
    await conn.execute(SQL["record_withdrawn"], row)
