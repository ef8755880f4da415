"""The proxy of the tests does to connections what its methods say."""

import socket
import time
from contextlib import closing, suppress

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import TupleRow
from support.database_proxy import DatabaseProxy, open_database_proxy

Connected = psycopg.Connection[TupleRow]


def _connect(proxy: DatabaseProxy) -> Connected:
    return psycopg.connect(proxy.dsn, autocommit=True)


def _welcomes(proxy: DatabaseProxy, seconds: float) -> bool:
    """Whether a new connection is answered: the request for TLS with its one letter."""
    parts = conninfo_to_dict(proxy.dsn)
    with socket.create_connection((str(parts["host"]), int(str(parts["port"]))), seconds) as connection:
        connection.sendall(b"\0\0\0\x08\x04\xd2\x16\x2f")
        with suppress(TimeoutError):
            return len(connection.recv(1)) == 1
    return False


def _one(connection: Connected, sql: str = "SELECT 1") -> object:
    row = connection.execute(sql.encode()).fetchone()
    return row and row[0]


def _is_answered_within(connection: Connected, seconds: float) -> bool:
    """Whether something arrives for a statement that has been sent."""
    limit = time.monotonic() + seconds
    pgconn = connection.pgconn
    while time.monotonic() < limit:
        pgconn.consume_input()
        if not pgconn.is_busy():
            return True
        time.sleep(0.01)
    return False


def test_it_passes_on_what_is_said(empty_tables: str) -> None:
    with open_database_proxy(empty_tables) as proxy, _connect(proxy) as first, _connect(proxy) as second:
        assert _one(first, "SELECT length(repeat('x', 3000000))") == 3_000_000
        assert len(str(_one(second, "SELECT repeat('x', 3000000)"))) == 3_000_000
        assert proxy.connected == 2


def test_cut_ends_all_connections_and_refuses_new_ones_until_healed(empty_tables: str) -> None:
    with open_database_proxy(empty_tables) as proxy, _connect(proxy) as before:
        proxy.cut()
        with pytest.raises(psycopg.OperationalError):
            _one(before)
        with pytest.raises(psycopg.OperationalError, match="refused"):
            _connect(proxy)
        proxy.heal()
        with _connect(proxy) as after:
            assert _one(after) == 1


def test_dropped_connections_can_be_made_again(empty_tables: str) -> None:
    with open_database_proxy(empty_tables) as proxy, _connect(proxy) as before:
        proxy.drop()
        with pytest.raises(psycopg.OperationalError):
            _one(before)
        with _connect(proxy) as after:
            assert _one(after) == 1


def test_what_is_stalled_goes_on_where_it_was(empty_tables: str) -> None:
    with open_database_proxy(empty_tables) as proxy, closing(_connect(proxy)) as connection:
        proxy.stall()
        connection.pgconn.send_query(b"SELECT 1")
        assert not _is_answered_within(connection, 0.1)
        proxy.heal()
        assert _is_answered_within(connection, 10)


def test_what_is_swallowed_stays_lost_also_after_healing(empty_tables: str) -> None:
    with open_database_proxy(empty_tables) as proxy, closing(_connect(proxy)) as before:
        proxy.swallow()
        before.pgconn.send_query(b"SELECT 1")
        assert not _is_answered_within(before, 0.1)
        assert not _welcomes(proxy, 0.1)
        proxy.heal()
        assert not _is_answered_within(before, 0.1)
        assert _welcomes(proxy, 10)
        with _connect(proxy) as after:
            assert _one(after) == 1


@pytest.mark.parametrize(("is_passed", "kept"), [(True, 1), (False, 0)])
def test_a_cut_at_a_commit_happens_before_or_after_the_server_hears_it(
    database: str, is_passed: bool, kept: int
) -> None:
    with open_database_proxy(database) as proxy:
        proxy.cut_at(b"COMMIT", is_passed=is_passed)
        with pytest.raises(psycopg.OperationalError), psycopg.connect(proxy.dsn) as connection:
            connection.execute("INSERT INTO alarm (kind, subject, since, detail) VALUES ('offline', 'x', 1, '')")
        assert proxy.is_cut
        proxy.heal()
        with _connect(proxy) as after:
            assert _one(after, "SELECT count(*) FROM alarm") == kept
