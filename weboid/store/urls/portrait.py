"""Portraits: what the documents of the sample looked like when they were last fetched and still the same (C-11).

Making and comparing portraits belongs to ``core/document/likeness``.
"""

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from weboid.core.document.likeness import Portrait
from weboid.core.url.keys import UrlKey
from weboid.store.db.pool import Connection
from weboid.store.db.rows import key_columns
from weboid.store.db.statements import statements

SQL: Final = statements("urls/portrait")
_TO_SIGNED: Final = 2**64


class DatedPortrait(NamedTuple):
    """A portrait and the day on which it was taken."""

    day: int
    portrait: Portrait


async def list_portraits(conn: Connection, keys: Collection[UrlKey]) -> dict[UrlKey, Portrait]:
    """The portraits of these URLs; many have none."""
    if not keys:
        return {}
    found: dict[UrlKey, Portrait] = {}
    async for row in await conn.execute(SQL["list_portraits"], key_columns(keys)):
        title, language, author, fingerprint, words = row[3:]
        unsigned = None if fingerprint is None else fingerprint % _TO_SIGNED
        found[UrlKey(*row[:3])] = Portrait(title, language, author, unsigned, words)
    return found


async def record_portraits(conn: Connection, portraits: Mapping[UrlKey, DatedPortrait]) -> None:
    """Writes portraits, in place of those that were known."""
    if not portraits:
        return
    ordered = sorted(portraits)
    rows = [portraits[key] for key in ordered]
    columns = {
        **key_columns(ordered),
        "day": [row.day for row in rows],
        "title": [_storable(row.portrait.title) for row in rows],
        "language": [row.portrait.language for row in rows],
        "author": [row.portrait.author and _storable(row.portrait.author) for row in rows],
        "fingerprint": [_signed(row.portrait.fingerprint) for row in rows],
        "words": [row.portrait.words for row in rows],
    }
    await conn.execute(SQL["record_portraits"], columns)


def _signed(fingerprint: int | None) -> int | None:
    """64 bits as PostgreSQL's ``bigint`` has them."""
    return fingerprint - _TO_SIGNED if fingerprint is not None and fingerprint >= _TO_SIGNED // 2 else fingerprint


def _storable(text: str) -> str:
    """Text from outside without NUL and lone surrogates, which PostgreSQL cannot store."""
    return text.replace("\0", "").encode(errors="replace").decode()
