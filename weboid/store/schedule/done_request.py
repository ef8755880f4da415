"""Requests of crawlers without a database that were done, each with its answer, for a day (O-1).

A request and its effects are written in one transaction, so that what is repeated is done once.
"""

from typing import Final, NamedTuple
from uuid import UUID

from weboid.store.db.statements import Connection, fetch_value, statements

SQL: Final = statements("schedule/done_request")


class RequestKey(NamedTuple):
    """A request: the name of the client that made it, and the number that it has given it."""

    client: str
    request: UUID


async def begin_request(conn: Connection, key: RequestKey) -> bytes | None:
    """Notes that a request is done in this transaction; if it was done before, the answer that it got then.

    While another transaction does the same request, its end is waited for.
    """
    if await fetch_value(conn, SQL["record_request"], key._asdict()):
        return None
    return await fetch_value(conn, SQL["find_answer"], key._asdict()) or b""


async def record_answer(conn: Connection, key: RequestKey, answer: bytes) -> None:
    """Writes the answer to a request that this transaction does."""
    await conn.execute(SQL["record_answer"], key._asdict() | {"answer": answer})


async def delete_past_requests(conn: Connection) -> None:
    """Deletes the requests of more than a day ago."""
    await conn.execute(SQL["delete_past"])
