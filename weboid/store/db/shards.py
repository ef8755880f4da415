"""Statements on a store whose big tables are sharded by bucket over several servers (O-4, sql/citus.sql).

The engine does a statement on one server, and then all that PostgreSQL can, if each sharded table in it is narrowed by
`bucket = ANY(…)` to buckets of one shard. The texts of the statements do not say that, as it makes them up to five
times slower on one server. It is added here; and what has keys of several shards is done once for each of them, in one
pipeline and in the order of shards, so that all programs take their locks in one order.

Statements without such keys are done as they are, or once in each shard (`-- by shard: why`), or have another text
there (sql/citus.sql).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil
from operator import itemgetter
from random import sample
from typing import Any, Final, Self, cast

from psycopg import AsyncCursor
from psycopg.abc import Params, QueryNoTemplate
from psycopg.rows import TupleRow

from weboid.assets import asset
from weboid.store.db.statements import Connection, Statement, Statements, fetch_all, statements

SQL: Final = Statements(asset("sql") / "citus.sql")
SHARDED: Final = tuple(re.findall(r"create_distributed_table\('(\w+)'", SQL["layout"]))
"""The tables that are divided among servers."""
_NARROW: Final = "bucket = ANY(%(shard)s::smallint[])"
_NAMES: Final = "|".join(SHARDED)
_NAMED: Final = re.compile(rf"\b(?:FROM|JOIN|INTO|UPDATE) (?:{_NAMES})\b")
_READ: Final = re.compile(rf"(?<!DELETE )\b(FROM|JOIN) ({_NAMES})\b(?: AS (\w+))?")
_WRITTEN: Final = re.compile(rf"\b(?:UPDATE|DELETE FROM) ({_NAMES})\b")
_NO_COLUMN: Final = re.compile(r"\bSELECT (?=FROM\b)")
_GIVEN: Final = re.compile(r"unnest\(((?:\s*%\(\w+\)s::\w+\[\],?)+)\s*\)")
_ORDINALITY: Final = re.compile(r"\)\s+WITH ORDINALITY")
_PLACES: Final = ("bucket", "buckets", "of_bucket")
"""The parameters that say in which buckets the rows are that a statement is about."""

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Shards:
    """The shards, and the buckets in each."""

    of_bucket: Sequence[int]
    buckets: Mapping[int, Sequence[int]]


@dataclass(frozen=True, slots=True)
class Sharded:
    """A statement as it is done there."""

    text: str
    given: tuple[tuple[str, ...], ...] = ()
    """The parameters that are arrays by keys; of each table of these the first has the buckets."""
    is_by_shard: bool = False

    @property
    def is_ordered(self) -> bool:
        """Returns whether its rows begin with the place of a key among those that were given."""
        return bool(self.given) and self.given[0][-1] == "place"

    @property
    def is_lease(self) -> bool:
        """Returns whether it takes rows in any shards until there are enough."""
        return self.is_by_shard and "SKIP LOCKED" in self.text

    def split(self, values: Values, shards: Shards) -> list[Values]:
        """The values for each shard that it is done in, in the order of shards; one if it is done once."""
        if self.is_by_shard:
            return [{**values, "shard": shards.buckets[shard]} for shard in sorted(shards.buckets)]
        if not self.given:
            return [values]
        rows: dict[int, dict[tuple[str, ...], list[int]]] = {}
        for names in self.given:
            for row, bucket in enumerate(values[names[0]]):
                rows.setdefault(shards.of_bucket[bucket], {}).setdefault(names, []).append(row)
        values = {**values, "place": range(1, len(values[self.given[0][0]]) + 1)}
        return [self._of_shard(values, rows[shard]) for shard in sorted(rows)] or [self._of_shard(values, {})]

    def _of_shard(self, values: Values, rows: Mapping[tuple[str, ...], Sequence[int]]) -> Values:
        own = {name: [values[name][row] for row in rows.get(names, ())] for names in self.given for name in names}
        return {**values, **own, "shard": sorted({bucket for names in self.given for bucket in own[names[0]]}) or [0]}


@cache
def sharded(statement: Statement) -> Sharded:
    """The statement, narrowed if it has keys or is done by shard."""
    statement = _others().get(statement, statement)
    given = () if statement.fans_out or statement.is_by_shard else tuple(_given(statement))
    text = _NO_COLUMN.sub("SELECT 1 ", statement)
    if not (_NAMED.search(text) and (given or statement.is_by_shard)):
        return Sharded(text)
    if _ORDINALITY.search(text):
        # Keys have their place among all that are given, not among those of their shard.
        [names] = given
        text, given = _ORDINALITY.sub(", %(place)s::bigint[])", text), ((*names, "place"),)
    text = _READ.sub(_narrowed, text)
    for found in reversed(list(_WRITTEN.finditer(text))):
        at = _where(text, found.end())
        text = f"{text[:at]} {found[1]}.{_NARROW} AND{text[at:]}"
    return Sharded(text, given, statement.is_by_shard)


def _narrowed(found: re.Match[str]) -> str:
    return f"{found[1]} (SELECT * FROM {found[2]} WHERE {_NARROW}) AS {found[3] or found[2]}"  # noqa: S608 (ours)


@cache
def _others() -> dict[str, Statement]:
    """The texts that there are instead of others."""
    named = (name.rsplit(" ", 1) for name in SQL if " " in name)
    return {statements(noun)[name]: SQL[f"{noun} {name}"] for noun, name in named}


def _given(text: str) -> Iterator[tuple[str, ...]]:
    for found in _GIVEN.finditer(text):
        names = sorted(re.findall(r"%\((\w+)\)s", found[1]), key=lambda name: name not in _PLACES)
        if names[0] in _PLACES:
            yield tuple(names)


def _where(text: str, start: int) -> int:
    """The place behind the WHERE of the statement that has begun there."""
    depth = 0
    for found in re.compile(r"[()]|\bWHERE\b").finditer(text, start):
        depth += {"(": 1, ")": -1}.get(found[0], 0)
        if found[0] == "WHERE" and depth == 0:
            return found.end()
    raise ValueError(f"it writes to all rows: {text}")


async def adopt(conn: Connection) -> None:
    """Lets a new connection speak to a store on several servers, if it is one; the engine is there."""
    found = await fetch_all(conn, int, SQL["list_shards"])
    if not found:
        return
    await conn.execute(SQL["set_manner"])
    buckets: dict[int, list[int]] = {}
    for bucket, shard in enumerate(found):
        buckets.setdefault(shard, []).append(bucket)
    conn.cursor_factory = type("_Cursor", (ShardedCursor,), {"shards": Shards(found, buckets)})


class ShardedCursor(AsyncCursor[TupleRow]):
    """A cursor of a connection to such a store, whose results of several shards look like one."""

    shards: Shards
    _rows: Iterator[TupleRow] | None = None
    """The rows of several shards, as far as they were not fetched yet."""
    _count = 0

    async def execute(  # type: ignore[override]  # no template strings are used
        self, query: QueryNoTemplate, params: Params | None = None, **options: Any
    ) -> Self:
        """As psycopg's; a statement with keys of several shards is done for each."""
        self._rows = None
        if not isinstance(query, Statement):
            return await super().execute(query, params, **options)
        statement = sharded(query)
        if params is None:
            return await super().execute(statement.text, None, prepare=False if ";" in statement.text else None)
        parts = statement.split(cast(Values, params), self.shards)
        if len(parts) == 1:
            return await super().execute(statement.text, parts[0], **options)
        rows: list[TupleRow] = []
        if statement.is_lease:
            self._count = await self._lease(statement, parts, rows)
        else:
            await self.executemany(statement.text, parts, returning=True)
            self._count = await self._collect(rows)
        if statement.text.startswith("SELECT count("):  # of each shard
            rows = [tuple(map(sum, zip(*rows, strict=True)))]
        elif statement.is_ordered:
            most = parts[0]["limit"] if statement.text.endswith("LIMIT %(limit)s") else None
            rows = sorted(rows, key=itemgetter(0))[:most]
        self._rows = iter(rows)
        return self

    async def _lease(self, statement: Sharded, parts: Sequence[Values], rows: list[TupleRow]) -> int:
        """Takes rows of each shard, in any order as it waits for no lock, until there are as many as the limit says."""
        left = parts[0]["limit"]
        for number, part in enumerate(sample(parts, len(parts))):
            await super().execute(statement.text, {**part, "limit": ceil(left / (len(parts) - number))})
            left -= await self._collect(rows)
            if left <= 0:
                break
        return int(parts[0]["limit"] - left)

    async def _collect(self, rows: list[TupleRow]) -> int:
        """Adds the rows of all results; returns of how many rows they are."""
        count = 0
        while True:
            count += max(super().rowcount, 0)
            if self.description:
                rows += await super().fetchall()
            if not self.nextset():
                return count

    @property
    def rowcount(self) -> int:
        """As psycopg's: of all shards together."""
        return super().rowcount if self._rows is None else self._count

    async def fetchone(self) -> TupleRow | None:
        """The next row, None = there is none."""
        return await super().fetchone() if self._rows is None else next(self._rows, None)

    async def fetchall(self) -> list[TupleRow]:
        """The rows that were not fetched yet."""
        return await super().fetchall() if self._rows is None else list(self._rows)

    async def __anext__(self) -> TupleRow:
        if (row := await self.fetchone()) is None:
            raise StopAsyncIteration
        return row
