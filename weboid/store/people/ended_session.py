"""Sessions that people ended before their time (H-4): in every web process their cookies are worth nothing any more.

Here a session is an id (``web/identity/session``), which is a secret: only its hash is stored.
"""

from hashlib import blake2b
from typing import Final

from weboid.store.db.statements import Connection, statements

SQL: Final = statements("people/ended_session")
_HASH_BYTES: Final = 16
_CLOCKS_S: Final = 3600
"""Rows are kept so much longer, as the clocks of web processes and database may differ."""


async def record_ended(conn: Connection, session_id: str, until: float) -> None:
    """Records that a session was ended, which would have ended at `until` (Unix time) by itself."""
    await conn.execute(SQL["record_ended"], {"session": _hash(session_id), "until": until + _CLOCKS_S})


async def is_ended(conn: Connection, session_id: str) -> bool:
    """Returns whether a session was ended."""
    return await (await conn.execute(SQL["find_ended"], {"session": _hash(session_id)})).fetchone() is not None


async def delete_past_sessions(conn: Connection, *, limit: int) -> int:
    """Deletes at most `limit` sessions that would have ended by themselves; returns how many."""
    return (await conn.execute(SQL["delete_past"], {"limit": limit})).rowcount


def _hash(session_id: str) -> bytes:
    return blake2b(session_id.encode(), digest_size=_HASH_BYTES, person=b"weboid session").digest()
