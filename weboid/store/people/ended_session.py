"""Sessions that people ended before their time (H-4): in every web process their cookies are worth nothing any more.

What a session is belongs to ``web/identity/session``; here it is an id, which is a secret.
One law: no id is stored, only its hash.
"""

from hashlib import blake2b
from typing import Final

from weboid.store.db.pool import Connection
from weboid.store.db.statements import statements

SQL: Final = statements("people/ended_session")
_HASH_BYTES: Final = 16
_CLOCKS_S: Final = 3600
"""Rows are kept so much longer, as the clocks of web processes and database may differ."""


async def record_ended(conn: Connection, session_id: str, until: float) -> None:
    """Records that a session was ended, which would have ended at `until` (Unix time) by itself."""
    row = {"session": _hash(session_id), "until": until + _CLOCKS_S}
    await conn.execute(SQL["record_ended"], row)


async def is_ended(conn: Connection, session_id: str) -> bool:
    """Whether a session was ended."""
    found = await conn.execute(SQL["find_ended"], {"session": _hash(session_id)})
    return await found.fetchone() is not None


async def delete_past_sessions(conn: Connection, *, limit: int) -> int:
    """Deletes at most `limit` sessions that would have ended by themselves; returns how many."""
    return (await conn.execute(SQL["delete_past"], {"limit": limit})).rowcount


def _hash(session_id: str) -> bytes:
    return blake2b(session_id.encode(), digest_size=_HASH_BYTES, person=b"weboid session").digest()
