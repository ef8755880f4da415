"""All named statements of the store, for tests that read each of them, and its plan on a real database."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import psycopg

from weboid.assets import asset
from weboid.store.db.statements import blocks, statements

QUERIES: Final = asset("sql") / "queries"
ALL: Final = [
    (path.relative_to(QUERIES).with_suffix("").as_posix(), name, text)
    for path in sorted(QUERIES.rglob("*.sql"))
    for name, text in blocks(path).items()
]
"""Noun with its room, name, and text with the comments."""
_KEPT: Final = re.compile(r"^-- kept in order: (\S+) (\w+)", re.MULTILINE)

Plan = dict[str, Any]


@cache
def plans(dsn: str) -> dict[tuple[str, str], Plan]:
    """The plan of each statement by noun and name, with the settings that are kept for it: read once, of a migrated
    database to which nobody writes."""
    found = {}
    with psycopg.connect(dsn) as connection:
        for noun, name, text in ALL:
            for kept, setting in _KEPT.findall(text):
                connection.execute(statements(kept)[setting].encode())
            try:
                found[noun, name] = explained(connection, statements(noun)[name])
            except psycopg.Error as error:
                raise AssertionError(f"{noun} {name}: {error}") from error
            connection.rollback()
    return found


def explained(connection: psycopg.Connection, text: str, *, bucket: int | None = None) -> Plan:
    """The generic plan of a statement, as that for NULLs would do nothing; with the keys of one bucket if it is given.

    (EXPLAIN has an option for it only since PostgreSQL 16.) COPY has no plan: it is done, without a row.
    """
    if text.startswith("COPY"):
        with connection.cursor().copy(text.encode()):
            return {"Node Type": "Copy"}
    names = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", text)))
    query = re.sub(r"%\((\w+)\)s", lambda found: f"${names.index(found[1]) + 1}", text).replace("%%", "%")
    connection.execute("SET LOCAL plan_cache_mode = force_generic_plan")
    connection.execute(b"PREPARE statement AS " + query.encode())
    values = ["NULL" if bucket is None else _value(name, query, number, bucket) for number, name in enumerate(names, 1)]
    given = f"({', '.join(values)})" if names else ""
    row = connection.execute(f"EXPLAIN (FORMAT JSON, VERBOSE) EXECUTE statement{given}".encode()).fetchone()
    connection.execute("DEALLOCATE statement")
    assert row
    plan: Plan = row[0][0]["Plan"]
    return plan


def nodes_of(plan: Plan) -> Iterator[Plan]:
    """A plan and all that is below it."""
    yield plan
    for below in plan.get("Plans", ()):
        yield from nodes_of(below)


def _value(name: str, query: str, number: int, bucket: int) -> str:
    if not name.endswith(("bucket", "buckets")) and not re.search(rf"\bbucket (?:<|>=) \${number}\b", query):
        return "NULL"
    return f"'{{{bucket}}}'" if re.search(rf"\${number}::smallint\[\]", query) else str(bucket)
