"""What tests with the proxy cannot see themselves: that what is stalled goes on, and what is swallowed never does.

That it cuts and drops connections is seen where the pool is tested.
"""

import time
from contextlib import closing

import psycopg
import pytest
from psycopg.rows import TupleRow
from support.database_proxy import open_database_proxy

Connected = psycopg.Connection[TupleRow]


def _is_answered_within(connection: Connected, seconds: float) -> bool:
    """Whether something arrives for a statement that has been sent."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        connection.pgconn.consume_input()
        if not connection.pgconn.is_busy():
            return True
        time.sleep(0.01)
    return False


def test_what_is_stalled_goes_on_where_it_was_and_what_is_swallowed_stays_lost(empty_tables: str) -> None:
    with open_database_proxy(empty_tables) as proxy, closing(psycopg.connect(proxy.dsn)) as connection:
        proxy.stall()
        connection.pgconn.send_query(b"SELECT 1")
        assert not _is_answered_within(connection, 0.1)
        proxy.heal()
        assert _is_answered_within(connection, 30)
        connection.pgconn.get_result()
    with open_database_proxy(empty_tables) as proxy, closing(psycopg.connect(proxy.dsn)) as before:
        proxy.swallow()
        before.pgconn.send_query(b"SELECT 1")
        assert not _is_answered_within(before, 0.1)
        proxy.heal()
        assert not _is_answered_within(before, 0.1)
        with psycopg.connect(proxy.dsn) as after:
            assert after.execute("SELECT 1").fetchone() == (1,)


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
        with psycopg.connect(proxy.dsn) as after:
            assert after.execute("SELECT count(*) FROM alarm").fetchone() == (kept,)
