"""What a store that is divided by bucket needs of every statement (O-4): with the keys of one group of buckets it
touches one partition of a table, or says why not (`-- fan-out: why`). Read from generic plans on a divided store.

A plan names one partition where a bucket is compared with a parameter, and passes over the others at each key where it
is that of a key that was given (`url.bucket = given.bucket`). `bucket = ANY(…)` with a parameter passes over none, and
on a whole table an index goes through the array again at each key: 500 of them take five times the processor time.
"""

import re
from collections.abc import Iterator
from typing import Final

import psycopg
import pytest
from support.database_copy import copy_of
from support.partitioned import SHARDED, divided_and_filled
from support.statements import ALL, Plan, explained, nodes_of

from weboid.store.db.statements import statements

_PARTITION: Final = re.compile(rf"({'|'.join(SHARDED)})_\d\d")
_FAN_OUT: Final = re.compile(r"^-- fan-out: \w", re.MULTILINE)
_BY_KEY: Final = re.compile(r"\bbucket = (?!ANY\b)")
_GIVES_BUCKETS: Final = re.compile(r"%\(\w*buckets?\)s|\bbucket >= %\(")
_AS_IF_LARGE: Final = ("enable_seqscan", "enable_hashjoin", "enable_mergejoin", "enable_bitmapscan")

Plans = dict[tuple[str, str], Plan]


@pytest.fixture(scope="module")
def divided(empty_tables: str) -> Iterator["psycopg.Connection"]:
    with copy_of(empty_tables) as dsn:
        divided_and_filled(dsn)
        with psycopg.connect(dsn) as connection:
            yield connection


@pytest.fixture(scope="module")
def planned(divided: "psycopg.Connection") -> Plans:
    """The generic plan of each statement for keys of one group of buckets."""
    return {(noun, name): _plan(divided, statements(noun)[name]) for noun, name, _ in ALL}


def _plan(connection: "psycopg.Connection", text: str) -> Plan:
    for setting in _AS_IF_LARGE:
        connection.execute(f"SET LOCAL {setting} = off".encode())
    plan = explained(connection, text, bucket=2000)
    connection.rollback()
    return plan


def test_a_statement_with_the_keys_of_one_group_touches_one_partition_or_says_why_not(planned: Plans) -> None:
    assert sum(bool(_tables(plan) & set(SHARDED)) for plan in planned.values()) > 150
    found = {}
    for noun, name, text in ALL:
        spread, says_why = _spread(planned[noun, name], text), bool(_FAN_OUT.search(text))
        is_sharded = bool(_tables(planned[noun, name]) & set(SHARDED))
        if is_sharded and bool(spread) != says_why:
            found[f"{noun} {name}"] = sorted(spread) or "one partition: no word of a fan-out"
    assert found == {}


@pytest.mark.parametrize(
    ("text", "spread"),
    [
        ("SELECT due FROM url WHERE host_key = %(host_key)s", {"url"}),
        ("SELECT due FROM url WHERE bucket = %(bucket)s AND host_key = %(host_key)s", set()),
        ("SELECT due FROM url WHERE bucket = ANY(%(bucket)s::smallint[])", {"url"}),
        ("SELECT due FROM url WHERE url.bucket >= %(bucket)s ORDER BY bucket, host_key, url_key LIMIT 9", {"url"}),
        ("SELECT due FROM unnest(%(bucket)s::smallint[]) AS given (bucket) JOIN url USING (bucket)", set()),
        ("SELECT due FROM unnest(%(host_key)s::bigint[]) AS given (host_key) JOIN url USING (host_key)", {"url"}),
        ("SELECT due FROM lease JOIN url USING (bucket)", {"url"}),
        ("SELECT due FROM host JOIN url USING (bucket, host_key) WHERE bucket = %(bucket)s", set()),
        ("UPDATE url SET due = 1 WHERE bucket = %(bucket)s", set()),
        ("DELETE FROM url WHERE url_key = %(url_key)s", {"url"}),
    ],
)
def test_a_statement_that_touches_several_partitions_is_found(
    divided: "psycopg.Connection", text: str, spread: set[str]
) -> None:
    assert _spread(_plan(divided, text), text) == spread


def _spread(plan: Plan, text: str) -> set[str]:
    """The tables of which a statement may touch more than one partition."""
    return {
        table
        for node in nodes_of(plan)
        if node["Node Type"] in ("Append", "Merge Append")
        for table, scans in _partitions(node).items()
        if len(scans) > 1
        and not (_GIVES_BUCKETS.search(text) and all(_BY_KEY.search(scan.get("Index Cond", "")) for scan in scans))
    }


def _partitions(node: Plan) -> dict[str, list[Plan]]:
    """The scans right below an Append by table."""
    scans: dict[str, list[Plan]] = {}
    for child in node["Plans"]:
        while "Relation Name" not in child and len(child.get("Plans", [])) == 1:
            [child] = child["Plans"]
        if match := _PARTITION.fullmatch(child.get("Relation Name", "")):
            scans.setdefault(match[1], []).append(child)
    return scans


def test_no_statement_joins_a_sharded_table_with_another_one_but_those_that_are_known(planned: Plans) -> None:
    mixed = set()
    for (noun, name), plan in planned.items():
        tables = {table for table in _tables(plan) if not table.startswith("pg_")}
        if tables & set(SHARDED) and tables - set(SHARDED):
            mixed.add(f"{noun} {name}")
    assert mixed == set(_MIXED.split("\n")) - {""}


def _tables(plan: Plan) -> set[str]:
    """The tables of a plan; partitions count as their table."""
    names = {node["Relation Name"] for node in nodes_of(plan) if "Relation Name" in node}
    return {match[1] if (match := _PARTITION.fullmatch(name)) else name for name in names}


_SETS: Final = re.compile(
    rf"\b(?:UPDATE ({'|'.join(SHARDED)}) SET|DO UPDATE SET)\b(.*?)(?=\bFROM\b|\bWHERE\b|$)", re.DOTALL
)


def test_no_statement_moves_a_row_to_another_bucket() -> None:
    moving = {f"{noun} {name}" for noun, name, _ in ALL if _moves(statements(noun)[name])}
    assert moving == set()
    assert _moves("UPDATE link SET page = 1, bucket = 2 WHERE bucket = 1")
    assert _moves("UPDATE link SET (bucket, page) = (2, 1)")
    assert not _moves("UPDATE link SET page = 1 WHERE bucket = 1")
    assert not _moves("UPDATE cited_copy SET original_bucket = 1")


def _moves(text: str) -> bool:
    """Whether a statement changes the bucket of a row of a sharded table."""
    return any(re.search(r"(?<![\w.])bucket\b(?=[\w\s,]*\)?\s*=)", match[2]) for match in _SETS.finditer(text))


# Queues, leases, people and pages are not sharded. On several servers each of these would be two statements.
_MIXED: Final = """
archives/saving list_stretch
archives/saving record_savable
lists/changes list_news
lists/changes list_newest
lists/changes list_doubtful
lists/dataset list_statuses
lists/dataset list_urls
lists/domain count_uses
lists/domain count_changed
lists/health count_due
lists/health find_oldest_due
lists/links list_uses
lists/links list_dead_of_pages
lists/links list_fitting
lists/links list_first_pages
lists/search list_stretch
lists/search list_uses_of
lists/search list_links_of
lists/wiki_totals list_dead
lists/wiki_totals count_changed
pages/linked find_linked
people/replacement record_replacement
people/report list_reported_hosts
people/revert record_revert
schedule/lease lease_buckets
schedule/lease find_free_day
schedule/lease find_due
schedule/lease count_due_buckets
schedule/lease find_share
schedule/pace count_late
schedule/pace list_candidates
schedule/pace list_big_hosts
schedule/second_look record_look
upkeep/alarm find_oldest_due
upkeep/expiry list_over
upkeep/invariant find_last_copies
upkeep/invariant list_url
upkeep/invariant list_copies
upkeep/invariant list_link
upkeep/invariant list_page
upkeep/invariant list_dead
upkeep/invariant record_page_urls
upkeep/rekey lock_pages
upkeep/rekey list_pages
urls/url find_urls
urls/wiki_dead delete_rules
urls/wiki_dead list_uses
urls/wiki_dead list_suspects
"""
