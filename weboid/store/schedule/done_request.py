"""Requests of crawlers without a database that were done, each with its answer, for a day (O-1).

One law: a request and what it does are written in one transaction, so that what is repeated is done once.
"""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from weboid.store.db.pool import Connection
from weboid.store.db.statements import statements

SQL: Final = statements("schedule/done_request")


@dataclass(frozen=True, slots=True)
class RequestKey:
    """A request: the name of the client that made it, and the number that it has given it."""

    client: str
    request: UUID

    @property
    def columns(self) -> dict[str, object]:
        """As parameters of a statement."""
        return {"client": self.client, "request": self.request}


async def begin_request(conn: Connection, key: RequestKey) -> bytes | None:
    """Notes that a request is done in this transaction; if it was done before, the answer that it got then.

    While another transaction does the same request, its end is waited for.
    """
    if await (await conn.execute(SQL["record_request"], key.columns)).fetchone():
        return None
    row = await (await conn.execute(SQL["find_answer"], key.columns)).fetchone()
    return (row[0] if row else None) or b""


async def record_answer(conn: Connection, key: RequestKey, answer: bytes) -> None:
    """Writes the answer to a request that this transaction does."""
    await conn.execute(SQL["record_answer"], key.columns | {"answer": answer})


async def delete_past_requests(conn: Connection) -> None:
    """Forgets the requests of more than a day ago."""
    await conn.execute(SQL["delete_past"])
