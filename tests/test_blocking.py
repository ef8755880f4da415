"""No test can block its own event loop (`support.blocking`)."""

import psycopg
import pytest


async def test_a_synchronous_connection_is_refused_where_an_event_loop_runs(server_dsn: str) -> None:
    with pytest.raises(AssertionError, match="AsyncConnection"):
        psycopg.connect(server_dsn)


def test_a_synchronous_connection_works_where_none_runs(server_dsn: str) -> None:
    with psycopg.connect(server_dsn) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
