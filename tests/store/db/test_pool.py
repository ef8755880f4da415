"""The pool: its connections are set up as asked, survive a restart of the server, and fail as a StoreError."""

import asyncio
import os
import signal
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from weboid.errors import StoreError
from weboid.store.db.pool import open_pool
from weboid.store.embedded.server import Server, open_server, stop_server


async def test_a_connection_commits_at_the_end_and_rolls_back_on_an_exception(database: str) -> None:
    async with open_pool(database, size=2) as pool:
        async with pool.connection() as connection:
            await connection.execute("CREATE TABLE kept ()")
        with suppress(ZeroDivisionError):
            async with pool.connection() as connection:
                await connection.execute("CREATE TABLE lost ()")
                raise ZeroDivisionError
        async with pool.connection() as connection:
            rows = await connection.execute("SELECT to_regclass('kept') IS NOT NULL, to_regclass('lost') IS NULL")
            assert await rows.fetchone() == (True, True)


async def test_a_statement_that_only_reads_stands_by_itself_and_the_next_borrower_has_a_transaction(
    database: str,
) -> None:
    async with open_pool(database, size=1) as pool:
        for _ in range(2):
            async with pool.reading() as connection:
                first = await (await connection.execute("SELECT transaction_timestamp()")).fetchone()
                second = await (await connection.execute("SELECT transaction_timestamp()")).fetchone()
                assert first != second
            with suppress(ZeroDivisionError):
                async with pool.connection() as connection:
                    await connection.execute("CREATE TABLE lost ()")
                    raise ZeroDivisionError
            async with pool.connection() as connection:
                rows = await connection.execute("SELECT to_regclass('lost') IS NULL")
                assert await rows.fetchone() == (True,)


async def test_a_reader_that_failed_leaves_a_connection_of_use(database: str) -> None:
    async with open_pool(database, size=1, statement_timeout_s=0.05) as pool:
        with pytest.raises(StoreError, match="statement timeout"):
            async with pool.reading() as connection:
                await connection.execute("SELECT pg_sleep(5)")
        with pytest.raises(psycopg.errors.DivisionByZero):
            async with pool.reading() as connection:
                await connection.execute("SELECT 1 / 0")
        async with pool.connection() as connection:
            assert not connection.autocommit
            await connection.execute("SELECT 1")


async def test_the_server_is_told_which_part_of_the_program_asks(database: str) -> None:
    async with open_pool(database, size=1, part="crawl") as pool, pool.connection() as connection:
        rows = await connection.execute("SELECT current_setting('application_name') LIKE 'weboid %% crawl'", ())
        assert await rows.fetchone() == (True,)


async def test_a_statement_slower_than_the_timeout_is_a_store_error(database: str) -> None:
    async with open_pool(database, size=1, statement_timeout_s=0.05) as pool:
        with pytest.raises(StoreError, match="statement timeout"):
            async with pool.connection() as connection:
                await connection.execute("SELECT pg_sleep(5)")
        async with pool.connection() as connection:
            await connection.execute("SELECT 1")


async def test_a_statement_of_a_server_that_hangs_is_given_up(server_folder: Path) -> None:
    with open_server(server_folder) as server:
        async with open_pool(server.dsn, size=1, statement_timeout_s=0.05) as pool:
            async with pool.connection() as connection:
                backend = connection.info.backend_pid
            os.kill(backend, signal.SIGSTOP)
            try:
                with pytest.raises(StoreError, match="the database failed: "):
                    async with asyncio.timeout(20), pool.connection() as connection:
                        await connection.execute("SELECT 1")
            finally:
                os.kill(backend, signal.SIGCONT)
            async with pool.connection() as connection:
                await connection.execute("SELECT 1")


async def test_a_transaction_that_hangs_gives_its_locks_up(database: str) -> None:
    async with open_pool(database, size=1, idle_s=0.3) as hanging, open_pool(database, size=1) as other:

        async def hang() -> None:
            async with hanging.connection() as connection:
                await connection.execute("UPDATE held SET number = 2")
                async with asyncio.timeout(10), other.connection() as waiting:
                    await waiting.execute("UPDATE held SET number = 3")
                await connection.execute("SELECT 1")

        async with other.connection() as connection:
            await connection.execute("CREATE TABLE held AS SELECT 1 AS number")
        with pytest.raises(StoreError, match="idle-in-transaction"):
            await hang()
        async with hanging.connection() as connection:
            assert await (await connection.execute("SELECT number FROM held")).fetchone() == (3,)


async def test_waiting_too_long_for_a_connection_is_a_store_error(database: str) -> None:
    async with open_pool(database, size=1, timeout_s=0.1) as pool, pool.connection():
        with pytest.raises(StoreError, match="the database failed"):
            async with pool.connection():
                raise AssertionError


async def test_connections_cut_off_are_replaced_before_they_are_lent(database: str) -> None:
    async with open_pool(database, size=3) as pool:
        async with pool.connection(), pool.connection():
            pass
        with psycopg.connect(database) as other:
            other.execute(
                "SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        for _ in range(4):
            async with pool.connection() as connection:
                await connection.execute("SELECT 1")


async def test_each_use_that_succeeds_is_told_and_no_other(database: str) -> None:
    used = []
    async with open_pool(database, size=1) as pool:
        pool.when_used = lambda: used.append(True)
        async with pool.connection() as connection:
            await connection.execute("SELECT 1")
        assert len(used) == 1
        with pytest.raises(StoreError):
            async with pool.connection() as connection:
                await connection.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        assert len(used) == 1
        async with pool.reading() as connection:
            await connection.execute("SELECT 1")
        assert len(used) == 2


async def test_the_pool_survives_a_restart_of_the_server(server_folder: Path) -> None:
    data = server_folder / "restarted"
    server = open_server(data)
    try:
        async with open_pool(server.dsn, size=2) as pool:
            async with pool.connection() as connection:
                await connection.execute("CREATE TABLE kept ()")
            server = _restarted(server, data)
            async with pool.connection() as connection:
                await connection.execute("SELECT FROM kept")
    finally:
        server.close()


def _restarted(server: Server, data: Path) -> Server:
    server.close()
    assert stop_server(data)
    return open_server(data)


async def test_an_unreachable_database_is_told_at_once_and_without_the_password(tmp_path: Path) -> None:
    dsn = make_conninfo(host=str(tmp_path), dbname="nowhere", user="me", password="secret")
    with pytest.raises(StoreError, match=r"cannot reach the database 'nowhere' at .*WEBOID_DATABASE") as caught:
        async with open_pool(dsn, size=1):
            raise AssertionError
    assert "secret" not in str(caught.value)


async def test_an_address_that_is_none_is_told() -> None:
    with pytest.raises(StoreError, match="not a PostgreSQL address"):
        async with open_pool("postgres://user:secret@[", size=1):
            raise AssertionError
