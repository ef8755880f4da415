"""Every statement that locks several rows locks them in the order of their keys, so that no two wait for each other.

A row that is updated, deleted, or met by ON CONFLICT is locked, and so is one read by FOR UPDATE or FOR SHARE. The plan
on a real database shows in which order: that is what is read here.
"""

import re
from collections.abc import Iterator
from typing import Final

import psycopg
import pytest
from support.statements import ALL, Plan, explained, nodes_of, plans

from weboid.store.db.statements import statements

_Keys = dict[str, dict[str, list[str]]]

_LOCKING: Final = re.compile(
    r"\b(?:UPDATE|DELETE FROM|INSERT INTO)\s+\w|\bFOR (?:NO KEY )?UPDATE\b|\bFOR (?:KEY )?SHARE\b"
)
_WHY: Final = re.compile(r"^-- (one row|under lock): (\S.*)$", re.MULTILINE)
_TAKES_A_LOCK: Final = re.compile(r"\bFOR (?:NO KEY )?UPDATE\b|pg_advisory_xact_lock|^UPDATE")
_PASSING: Final = ("Subquery Scan", "Limit", "Result", "Unique", "LockRows")
_JOINS: Final = ("Nested Loop", "Merge Join")
"""Nodes that give rows on in the order of their outer ones."""
_VALUE: Final = r"%\(\w+\)s|\d+|'[^']*'"


@pytest.fixture(scope="module")
def keys(empty_tables: str) -> _Keys:
    """The columns of the unique indexes of each table."""
    with psycopg.connect(empty_tables) as connection:
        found = connection.execute(
            "SELECT indrelid::regclass::text, indexrelid::regclass::text, array_agg(attname ORDER BY place) "
            "FROM pg_index "
            "CROSS JOIN LATERAL unnest(indkey::smallint[]) WITH ORDINALITY AS part (attnum, place) "
            "JOIN pg_attribute ON attrelid = indrelid AND pg_attribute.attnum = part.attnum "
            "WHERE indisunique AND indrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace) "
            "GROUP BY indexrelid, indrelid"
        )
        tables: _Keys = {}
        for table, index, columns in found:
            tables.setdefault(table, {})[index] = columns
        return tables


def test_rows_are_locked_in_the_order_of_their_keys(empty_tables: str, keys: _Keys) -> None:
    locks = [(noun, name, text) for noun, name, text in ALL if _LOCKING.search(statements(noun)[name])]
    assert len(locks) > 200
    planned = plans(empty_tables)
    shown = {f"{noun} {name}": _unkept(planned[noun, name], noun, name, text, keys) for noun, name, text in locks}
    assert {name: what for name, what in shown.items() if what} == {}


def _unkept(plan: Plan, noun: str, name: str, text: str, keys: _Keys) -> str:
    """What is wrong with a statement that locks rows: an order that is missing, or words for one that is there."""
    found = _faults(plan, statements(noun)[name], keys)
    reasons = _WHY.findall(text)
    if bool(found) != bool(reasons):
        return "; ".join(found) or "the order is there: no word of it"
    for kind, why in reasons:
        if kind == "under lock":
            match = re.match(r"(\S+) (\w+)", why)
            if not match or not _TAKES_A_LOCK.search(statements(match[1])[match[2]]):
                return f"which statement locks? {why}"
    return ""


def test_a_statement_in_no_order_is_found(empty_tables: str, keys: _Keys) -> None:
    for text in (_UNORDERED_UPDATE, _UNORDERED_LOCK, _UNORDERED_INSERT):
        with psycopg.connect(empty_tables) as connection:
            assert _faults(explained(connection, text), text, keys), text


_UNORDERED_UPDATE: Final = (
    "UPDATE lease SET until = now() FROM unnest(%(bucket)s::smallint[]) AS held (bucket) "
    "WHERE lease.bucket = held.bucket"
)
_UNORDERED_LOCK: Final = "SELECT bucket FROM lease WHERE bucket = ANY(%(bucket)s::smallint[]) ORDER BY until FOR UPDATE"
_UNORDERED_INSERT: Final = (
    "INSERT INTO special (bucket, host_key, kind, since, until) "
    "SELECT bucket, 1, 1, 1, 1 FROM unnest(%(bucket)s::smallint[]) AS given (bucket) ON CONFLICT DO NOTHING"
)


def _faults(plan: Plan, text: str, keys: _Keys) -> list[str]:
    """What in a plan locks several rows in an order that is not that of their keys."""
    return [fault for node in nodes_of(plan) for fault in _faults_of(node, text, keys)]


def _faults_of(node: Plan, text: str, keys: _Keys) -> Iterator[str]:
    never_waits = "SKIP LOCKED" in text
    if node["Node Type"] == "LockRows" and not never_waits:
        tables = sorted(_scanned(node))
        if not any(_is_one(table, text, keys) or _is_ordered(node, keys.get(table, {}), text) for table in tables):
            yield f"{' and '.join(tables)}: locked in no order"
    if node["Node Type"] != "ModifyTable":
        return
    table = node["Relation Name"]
    [source] = [each for each in node["Plans"] if each["Parent Relationship"] == "Outer"]
    if node["Operation"] == "Insert":
        if "Conflict Resolution" in node and not _is_ordered(source, keys.get(table, {}), text):
            yield f"{table}: rows that exist are met in no order"
        return
    is_locked = never_waits or any(
        each["Node Type"] == "LockRows" and table in _scanned(each) for each in nodes_of(node)
    )
    is_kept = source["Node Type"] in _JOINS and _is_ordered(source, keys.get(table, {}), text)
    if not (is_locked or is_kept or _is_one(table, text, keys)):
        yield f"{table}: {node['Operation']} in no order"


def _is_one(table: str, text: str, keys: _Keys) -> bool:
    """Whether all columns of a unique index are compared with one value each."""
    return any(
        all(re.search(rf"(?<!\w)(?:{table}\.)?{column} = %\(\w+\)s(?!::\w+\[)", text) for column in columns)
        for columns in keys.get(table, {}).values()
    )


def _is_ordered(node: Plan, unique: dict[str, list[str]], text: str) -> bool:
    """Whether rows come in the order of a unique index, or there is only one."""
    while outer := [each for each in node.get("Plans", []) if each["Parent Relationship"] in ("Outer", "Subquery")]:
        if node["Node Type"] not in (*_PASSING, *_JOINS):
            break
        node = outer[0]
    if node["Node Type"] == "Result":
        return not outer
    given = [key.rpartition(".")[2] for key in node.get("Sort Key", [])]
    if node.get("Scan Direction") == "Forward" and "ORDER BY" in text:
        given = unique.get(node["Index Name"], [])
    constant = _constants(text)
    for columns in unique.values():
        key = [column for column in _lock_order(columns) if column in given or column not in constant]
        if given[: len(key)] == key:
            return True
    return False


def _constants(text: str) -> set[str]:
    """Columns that are the same in all rows of a statement: compared with one value, or inserted as one."""
    found = set(re.findall(r"(\w+) = (?:%\(\w+\)s|\d+)(?!::\w+\[)", text))
    if inserted := re.search(r"INSERT INTO \w+(?: AS \w+)? \(([^)]*)\)\s*SELECT (.*?)\n?\s*FROM", text, re.DOTALL):
        columns = [column.strip() for column in inserted[1].split(",")]
        values = [value.strip() for value in re.split(r",(?![^()]*\))", inserted[2])]
        found |= {name for name, value in zip(columns, values, strict=False) if re.fullmatch(_VALUE, value)}
    return found


def _lock_order(columns: list[str]) -> list[str]:
    """The columns of a key in the order of locks: a URL's bucket comes before its host, whatever the index does."""
    if "bucket" not in columns or "host_key" not in columns:
        return columns
    rest = [column for column in columns if column != "bucket"]
    place = rest.index("host_key")
    return [*rest[:place], "bucket", *rest[place:]]


def _scanned(node: Plan) -> set[str]:
    return {each["Relation Name"] for each in nodes_of(node) if "Relation Name" in each}
