"""The SQL statements of the store by name, from ``sql/queries/<room>/<noun>.sql``, and how their rows are fetched.

In a file, ``-- name: words`` begins a statement; comment lines may follow anywhere. Parameters are psycopg's
``%(name)s``. SQL is text in these files, never put together in Python. A missing file fails when the module that names
it is imported.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final, Self, TypeVar

from psycopg import AsyncConnection
from psycopg.rows import TupleRow

from weboid.assets import asset
from weboid.core.url.keys import UrlKey
from weboid.store.db.rows import key_columns

Connection = AsyncConnection[TupleRow]
"""A connection in a transaction, as the modules of the nouns take it."""
_NAME = re.compile(r"^-- name:[ \t]*(.+?)[ \t]*$", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*--.*\n?", re.MULTILINE)
_Struct = TypeVar("_Struct")
COPIED: Final = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
"""Translates a text as a value of `write_rows`."""


class Statement(str):
    """An SQL text without its comments."""

    fans_out: bool
    """Its keys do not say where all rows are that it is about (`-- fan-out: why`)."""
    is_by_shard: bool
    """In a store on several servers it is done once in each shard (`-- by shard: why`)."""

    @classmethod
    def of(cls, text: str) -> Self:
        """The statement of a text with comments."""
        statement = cls(_COMMENT.sub("", text).strip().rstrip(";"))
        statement.fans_out, statement.is_by_shard = "-- fan-out: " in text, "-- by shard: " in text
        return statement


class Statements(dict[str, Statement]):
    """SQL texts by name; an unknown name raises LookupError that names the file."""

    def __init__(self, path: Path) -> None:
        super().__init__((name, Statement.of(text)) for name, text in blocks(path).items())
        self.path = path

    def __missing__(self, name: str) -> Statement:
        raise LookupError(f"{self.path} has no statement named {name!r}")


def statements(noun: str) -> Statements:
    """The statements of one noun, named with its room (``urls/check``), without their comments."""
    return Statements(asset("sql") / "queries" / f"{noun}.sql")


def blocks(path: Path) -> dict[str, str]:
    """The statements of a file as written, comments included; raises ValueError if two share a name or one has none."""
    head, *rest = _NAME.split(path.read_text(encoding="utf-8"))
    names, texts = rest[::2], rest[1::2]
    if _COMMENT.sub("", head).strip() or len(set(names)) < len(names):
        raise ValueError(f"{path}: every statement needs a name of its own")
    return dict(zip(names, texts, strict=True))


async def fetch_value(conn: Connection, statement: str, values: Mapping[str, Any] | None = None) -> Any | None:
    """The first column of the first row; None if there is no row."""
    row = await (await conn.execute(statement, values)).fetchone()
    return row[0] if row else None


async def fetch_one(
    conn: Connection, kind: Callable[..., _Struct], statement: str, values: Mapping[str, Any] | None = None
) -> _Struct | None:
    """The first row, as `kind` makes it of its columns; None if there is no row."""
    row = await (await conn.execute(statement, values)).fetchone()
    return kind(*row) if row else None


async def fetch_all(
    conn: Connection, kind: Callable[..., _Struct], statement: str, values: Mapping[str, Any] | None = None
) -> list[_Struct]:
    """All rows, as `kind` makes them of their columns."""
    return [kind(*row) for row in await (await conn.execute(statement, values)).fetchall()]


async def fetch_by_key(
    conn: Connection, statement: str, keys: Iterable[UrlKey]
) -> list[tuple[UrlKey, tuple[Any, ...]]]:
    """The rows for these URLs, each as its key and its other columns; without URLs nothing is executed."""
    ordered = sorted(set(keys))
    if not ordered:
        return []
    return [(UrlKey(*row[:3]), row[3:]) async for row in await conn.execute(statement, key_columns(ordered))]


async def write_rows(conn: Connection, statement: str, rows: Iterator[str]) -> None:
    """Writes rows, lines of values with tabs between them, by a COPY statement: at a third of the cost of INSERT."""
    async with conn.cursor().copy(statement) as copy:
        while lines := "".join(islice(rows, 500)):
            await copy.write(lines)
