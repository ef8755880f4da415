"""Statements on a store on several servers (O-4): how they are split by shard; and that each is possible there."""

import re
from typing import Any

import psycopg
import pytest
from psycopg import AsyncCursor
from psycopg.conninfo import make_conninfo
from support import citus
from support.statements import ALL, QUERIES

from weboid.assets import asset
from weboid.errors import StoreError
from weboid.store.db.pool import Connection, open_pool
from weboid.store.db.shards import SQL, Shards, sharded
from weboid.store.db.statements import Statement, statements
from weboid.store.upkeep.distribute import distribute

_SHARDS = Shards([bucket % 2 for bucket in range(4096)], {0: range(0, 4096, 2), 1: range(1, 4096, 2)})
_GIVEN = "FROM unnest(%(bucket)s::smallint[], %(host_key)s::bigint[]) AS given (bucket, host_key)"


def test_every_table_lies_where_the_layout_says_or_on_the_coordinator() -> None:
    layout, schema = ((asset("sql") / f"{name}.sql").read_text("utf-8") for name in ("citus", "schema"))
    tables = set(re.findall(r"^CREATE (?:UNLOGGED )?TABLE (\w+)", schema, re.M))
    placed = re.findall(r"create_\w+_table\('(\w+)'", layout)
    local = re.search(r"^-- On the coordinator alone:((?:\n-- [\w ]+)+)", layout, re.M)
    assert local
    assert sorted([*placed, *local[1].replace("--", "").split()]) == sorted(tables)


def test_each_other_text_is_of_a_statement_and_takes_its_parameters() -> None:
    others = [name.rsplit(" ", 1) for name in SQL if " " in name]
    assert others
    for noun, name in others:
        used = set(re.findall(r"%\((\w+)\)s", SQL[f"{noun} {name}"]))
        assert used <= set(re.findall(r"%\((\w+)\)s", statements(noun)[name])), f"{noun} {name}"


def test_what_is_read_and_written_is_narrowed_to_the_buckets_of_a_shard() -> None:
    read = sharded(Statement.of(f"SELECT due {_GIVEN} JOIN url AS one USING (bucket, host_key)"))
    assert "JOIN (SELECT * FROM url WHERE bucket = ANY(%(shard)s::smallint[])) AS one USING" in read.text
    gone = f"DELETE FROM url USING (SELECT * {_GIVEN} WHERE y) AS gone WHERE true"  # noqa: S608
    written = sharded(Statement.of(f"WITH x AS ({gone}) UPDATE host SET z WHERE true")).text  # noqa: S608
    assert "AS gone WHERE url.bucket = ANY(%(shard)s::smallint[]) AND true)" in written
    assert written.endswith("SET z WHERE host.bucket = ANY(%(shard)s::smallint[]) AND true")
    assert sharded(Statement.of("SELECT FROM audit")).text == "SELECT 1 FROM audit"


def test_keys_go_to_their_shards_in_the_order_of_shards_with_their_places() -> None:
    given = _GIVEN.replace(") AS given (bucket, host_key)", ") WITH ORDINALITY AS given (bucket, host_key, place)")
    statement = sharded(Statement.of(f"SELECT place {given} JOIN url USING (bucket, host_key)"))
    assert statement.split({"bucket": [3, 8, 3], "host_key": [1, 2, 3], "day": 9}, _SHARDS) == [
        {"bucket": [8], "host_key": [2], "place": [2], "day": 9, "shard": [8]},
        {"bucket": [3, 3], "host_key": [1, 3], "place": [1, 3], "day": 9, "shard": [3]},
    ]
    assert statement.split({"bucket": [], "host_key": []}, _SHARDS)[0]["shard"] == [0]


def test_what_is_done_by_shard_is_done_in_all_of_them() -> None:
    text = "-- by shard: why\nSELECT count(*) FROM url WHERE due = %(day)s"
    statement = sharded(Statement.of(text))
    assert [part["shard"] for part in statement.split({"day": 9}, _SHARDS)] == [_SHARDS.buckets[0], _SHARDS.buckets[1]]


async def test_a_database_without_the_engine_is_not_distributed(whole_database: str) -> None:
    async with open_pool(whole_database, size=1, part="test") as pool:
        with pytest.raises(StoreError, match="lacks the extension citus"):
            await distribute(pool)


@citus.NEEDED
async def test_a_database_that_has_the_engine_but_no_tables_yet_is_opened() -> None:
    dsn = make_conninfo(citus.DSN, options="-c search_path=pg_catalog")
    async with open_pool(dsn, size=1, part="test") as pool, pool.connection() as conn:
        assert conn.cursor_factory is AsyncCursor


@citus.NEEDED
async def test_what_is_distributed_stays_so(several_servers: str) -> None:
    async with open_pool(several_servers, size=1, part="test") as pool:
        assert await distribute(pool) == {}


_VALUES: dict[str, Any] = {
    "smallint": 5, "integer": 5, "bigint": 7, "text": "100", "boolean": True, "timestamp with time zone": "2026-01-01",
    "bytea": b"1", "double precision": 1.0, "numeric": 3, "real": 1.0, "jsonb": "{}",
    "uuid": "00000000-0000-4000-8000-000000000005",
}  # fmt: skip
_UNFIT = {"upkeep/partition list_settings", "upkeep/partition count_blocks", "backup/tables begin_snapshot"}
"""Of tables that are being divided, and what must be the first of its transaction."""


@citus.NEEDED
async def test_every_statement_is_possible_on_several_servers(several_servers: str) -> None:
    assert QUERIES.is_dir()
    failed = {}
    async with open_pool(several_servers, size=1, part="test") as pool, pool.connection() as conn:
        for noun, name, _ in ALL:
            if f"{noun} {name}" in _UNFIT:
                continue
            try:
                async with conn.transaction(force_rollback=True):
                    await _execute(conn, statements(noun)[name])
            except (psycopg.IntegrityError, psycopg.errors.CardinalityViolation):
                pass  # it was planned, and does not fit what is there
            except psycopg.Error as error:
                failed[f"{noun} {name}"] = str(error)
    assert failed == {}


async def _execute(conn: Connection, text: Statement) -> None:
    """With keys of several shards."""
    if text.startswith("COPY"):
        async with conn.cursor().copy(text):
            return
    names = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", text)))
    query = re.sub(r"%\((\w+)\)s", lambda found: f"${names.index(found[1]) + 1}", text).replace("%%", "%")
    await conn.execute(b"PREPARE statement AS " + query.encode())
    found = await conn.execute("SELECT parameter_types::text[] FROM pg_prepared_statements WHERE name = 'statement'")
    (types,) = await found.fetchone() or ((),)
    await conn.execute("DEALLOCATE statement")
    values = dict(zip(names, map(_value, names, types), strict=True))
    for _ in range(4):  # from the third time on it is prepared
        await conn.execute(text, values or None)


def _value(name: str, kind: str) -> Any:
    if name == "table":
        return "url"
    if name == "leads_to":
        return ["{1}"] * 3
    if not kind.endswith("[]"):
        return _VALUES[kind]
    return [1, 2, 3000] if "bucket" in name else [_VALUES[kind[:-2]]] * 3
