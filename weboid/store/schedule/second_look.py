"""Second looks: URLs that would be called dead now, which crawlers of another place check, too (C-14).

A look is of a URL that is stored and fails (U-9), no place answers its own, and each is answered once.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple
from uuid import UUID

from weboid.core.record.reasons import Outcome
from weboid.core.url.keys import UrlKey
from weboid.store.db.rows import key_columns, url_of
from weboid.store.db.statements import Connection, fetch_by_key, statements

SQL: Final = statements("schedule/second_look")
THERE_S: Final = 60.0
"""So many seconds after it last asked for looks a place counts as there."""
_TAKEN_S: Final = 120.0
"""Seconds for a look that was taken, before another place may take it."""
_MOST: Final = 1_000
"""Looks that a place may wait for at a time."""


class LookState(NamedTuple):
    """The state of a look: `is_open` = it may still be answered; `is_alone` = there is no other place.

    `outcome` is the answer; None of a look that is not open = there is none.
    """

    is_open: bool
    is_alone: bool
    outcome: Outcome | None = None


class TakenLook(NamedTuple):
    """A look for the place that takes it: a URL in normal form."""

    look: UUID
    url: str


async def record_look(conn: Connection, place: str, look: UUID, key: UrlKey, *, wait_s: float) -> LookState:
    """Wants a second look from another place, for so many seconds; its state. A repeated call changes nothing."""
    row = {"look": look, "place": place, **key._asdict(), "seconds": wait_s, "there": THERE_S, "most": _MOST}
    await conn.execute(SQL["record_look"], row)
    found = await (await conn.execute(SQL["find_look"], row)).fetchone()
    is_there, is_open, outcome = found or (False, None, None)
    return LookState(bool(is_there and is_open), not is_there, None if outcome is None else Outcome(outcome))


async def list_looks(conn: Connection, place: str, keys: Sequence[UrlKey]) -> dict[UrlKey, set[Outcome | None]]:
    """The outcomes of looks at these URLs by other places in the last days, with None for one that is awaited."""
    found: dict[UrlKey, set[Outcome | None]] = {}
    async for *key, outcome in await conn.execute(SQL["list_looks"], {**key_columns(keys), "place": place}):
        found.setdefault(UrlKey(*key), set()).add(None if outcome is None else Outcome(outcome))
    return found


async def take_looks(conn: Connection, place: str, limit: int) -> Sequence[TakenLook]:
    """Notes that the place is there, and takes some looks that others want."""
    row = {"place": place, "limit": limit, "seconds": _TAKEN_S}
    await conn.execute(SQL["record_place"], row)
    if not limit:
        return []
    taken = [(look, UrlKey(*key)) async for look, *key in await conn.execute(SQL["take_looks"], row)]
    urls = dict(await fetch_by_key(conn, SQL["list_urls"], {key for _, key in taken}))
    return [TakenLook(look, str(url_of(urls[key]))) for look, key in taken if key in urls]


async def record_look_answer(conn: Connection, place: str, look: UUID, outcome: Outcome | None) -> None:
    """Writes what the place that took a look has found; None = nothing certain. What comes late changes nothing."""
    row = {"look": look, "place": place, "outcome": None if outcome is None else outcome.value}
    await conn.execute(SQL["record_answer"], row)


async def delete_past_looks(conn: Connection) -> None:
    """Deletes looks that are over, and places that have long been gone."""
    await conn.execute(SQL["delete_past"])
    await conn.execute(SQL["delete_past_places"])
