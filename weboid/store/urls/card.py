"""Texts of link cards: kept of URLs whose cards were opened, and of no others (R-8, R-12).

A row is claimed before a URL is looked at, so that all processes together look once in `KEPT_DAYS`. What a look finds
changes no verdict and no history.
"""

from hashlib import blake2b
from typing import Any, Final, NamedTuple

import msgspec

from weboid.core.document.card import CardText
from weboid.store.db.statements import Connection, statements

SQL: Final = statements("urls/card")
KEPT_DAYS: Final = 30
_DIGEST_BYTES: Final = 16


class StoredCard(NamedTuple):
    """The result of a look: nothing but defaults if the server did not answer, or programs may not read there."""

    text: CardText = CardText()
    http: int | None = None
    mime: str | None = None
    size_kib: int | None = None
    final: str = ""
    """Where redirects led, in normal form; empty if it is the URL itself."""
    is_download: bool = False
    is_whole: bool = False
    """All of the document was read, so that the numbers of its parts are no minimum."""


class KeptLook(NamedTuple):
    """A row: `card` is None as long as the first look `is_open`; `looked` is the day of the newest one."""

    card: StoredCard | None
    looked: int
    is_open: bool


async def find_card(conn: Connection, url: str) -> KeptLook | None:
    """The row of a URL in normal form."""
    row = await (await conn.execute(SQL["find_card"], _row(url))).fetchone()
    if row is None:
        return None
    return KeptLook(None if row[0] is None else msgspec.msgpack.decode(row[0], type=StoredCard), *row[1:])


async def claim_look(conn: Connection, url: str, day: int, most: int) -> bool:
    """Claims a look for the caller: False if it is another's, was made lately, or `most` rows are there already."""
    row = {"day": day, "days": KEPT_DAYS, "most": most}
    return await (await conn.execute(SQL["claim_look"], _row(url) | row)).fetchone() is not None


async def record_card(conn: Connection, url: str, card: StoredCard) -> None:
    """Ends a look that was claimed."""
    await conn.execute(SQL["record_card"], _row(url) | {"card": msgspec.msgpack.encode(card)})


async def give_back(conn: Connection, url: str) -> None:
    """Frees a look that was claimed and could not be made."""
    await conn.execute(SQL["give_back"], _row(url))


async def delete_past_cards(conn: Connection, day: int, *, limit: int) -> None:
    """Deletes at most `limit` cards that may be looked at again."""
    await conn.execute(SQL["delete_past"], {"before": day - KEPT_DAYS, "limit": limit})


def _row(url: str) -> dict[str, Any]:
    return {"digest": blake2b(url.encode("ascii", "backslashreplace"), digest_size=_DIGEST_BYTES).digest()}
