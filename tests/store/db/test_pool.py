"""The pool: its connections are set up as asked, survive a restart of the server, and fail as a StoreError."""

import asyncio
import os
import signal
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg_pool import AsyncConnectionPool
from support.clusters import new_data
from support.database_proxy import open_database_proxy
from support.databases import set_read_only
from support.waiting import until

from weboid.errors import StoreAway, StoreError
from weboid.mechanism.tasks import in_background
from weboid.store.db import connection as connection_module
from weboid.store.db import pool as pool_module
from weboid.store.db.pool import Connection, Pool, open_pool
from weboid.store.embedded import open_server

_NO_ADDRESSES = ["hushhush", "postgres://user:hush@[", "mysql://user:hush@h/db", "host=h connect_timeout=hush"]
_NO_ADDRESSES += ["postgresql://user:hu%sh@h/db", "postgresql://user:x@hush@h/db", "postgresql://user:hush/x@h/db"]
_NO_ADDRESSES += ["host=h password=x hush", 'host=h password=x "hush" y']


async def ask(pool: Pool, statement: str = "SELECT 1") -> None:
    async with pool.connection() as connection:
        await connection.execute(statement.encode())


async def test_who_is_cancelled_while_a_connection_is_handed_over_hears_of_it_and_gives_it_back(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    lent = AsyncConnectionPool.getconn

    async def forgetful(self: Pool, *args: Any) -> Connection:
        connection = await lent(self, *args)
        own = asyncio.current_task()
        assert own
        own.cancel()
        with suppress(asyncio.CancelledError):  # as wait_for of Python 3.11 does
            await asyncio.sleep(0)
        return connection

    async def borrow() -> None:
        async with pool.connection():
            pass

    monkeypatch.setattr(AsyncConnectionPool, "getconn", forgetful)
    task = asyncio.create_task(borrow())
    await asyncio.wait([task])
    assert task.cancelled()
    # The pool may be opening a second one, which counts before it is there.
    await until(lambda: (stats := pool.get_stats())["pool_available"] == stats["pool_size"])


async def test_a_statement_that_only_reads_stands_by_itself_and_the_next_borrower_has_a_transaction(pool: Pool) -> None:
    for _ in range(2):
        async with pool.reading() as connection:
            first = await (await connection.execute("SELECT transaction_timestamp()")).fetchone()
            assert first != await (await connection.execute("SELECT transaction_timestamp()")).fetchone()
        with suppress(ZeroDivisionError):
            async with pool.connection() as connection:
                await connection.execute("CREATE TABLE lost ()")
                raise ZeroDivisionError
        async with pool.connection() as connection:
            rows = await connection.execute("SELECT to_regclass('lost') IS NULL")
            assert await rows.fetchone() == (True,)


async def test_a_statement_slower_than_the_timeout_is_an_error_and_leaves_a_connection_of_use(database: str) -> None:
    async with open_pool(database, size=1, statement_timeout_s=0.05) as pool:
        with pytest.raises(StoreError, match="statement timeout"):
            async with pool.reading() as connection:
                await connection.execute("SELECT pg_sleep(5)")
        with pytest.raises(StoreError, match="statement timeout"):
            await ask(pool, "SELECT pg_sleep(5)")
        with pytest.raises(psycopg.errors.DivisionByZero):
            async with pool.reading() as connection:
                await connection.execute("SELECT 1 / 0")
        async with pool.connection() as connection:
            assert not connection.autocommit
            await connection.execute("SELECT 1")


async def test_a_statement_of_a_server_that_hangs_is_given_up(
    server_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_module, "_GRACE_S", 0.2)
    with new_data(server_folder, "hanging") as data, open_server(data) as server:
        async with open_pool(server.dsn, size=1, statement_timeout_s=0.05) as pool:
            async with pool.connection() as connection:
                backend = connection.info.backend_pid
            os.kill(backend, signal.SIGSTOP)
            try:
                with pytest.raises(StoreError, match="the database failed: "):
                    async with asyncio.timeout(20):
                        await ask(pool)
            finally:
                os.kill(backend, signal.SIGCONT)
            await ask(pool)


async def test_a_transaction_that_hangs_gives_its_locks_up(database: str) -> None:
    async with open_pool(database, size=1, idle_s=0.1) as hanging, open_pool(database, size=1) as other:

        async def hang() -> None:
            async with hanging.connection() as connection:
                await connection.execute("UPDATE held SET number = 2")
                async with asyncio.timeout(10), other.connection() as waiting:
                    await waiting.execute("UPDATE held SET number = 3")
                await connection.execute("SELECT 1")

        async with other.connection() as connection:
            await connection.execute("CREATE TABLE held AS SELECT 1 AS number")
        # What the server wrote last may be lost when it closes the connection under what is being sent.
        with pytest.raises(StoreError, match=r"idle-in-transaction|closed the connection"):
            await hang()
        async with hanging.connection() as connection:
            assert await (await connection.execute("SELECT number FROM held")).fetchone() == (3,)


async def test_that_it_is_away_is_said_once_and_over_once(database: str, caplog: pytest.LogCaptureFixture) -> None:
    with open_database_proxy(database) as proxy:
        async with open_pool(proxy.dsn, size=2, timeout_s=0.05) as pool:
            proxy.cut()
            for _ in range(5):
                with pytest.raises(StoreAway):
                    await ask(pool)
            proxy.heal()
            for _ in range(2):
                await _await_answer(pool)
        begun, ended = [record.getMessage() for record in caplog.records if record.name == "weboid.store.db.pool"]
    assert begun.startswith("the database is away: ")
    assert ended.startswith("it is over: the database is away (")


async def test_a_silent_server_is_found_where_statements_have_no_limit(database: str) -> None:
    with open_database_proxy(database) as proxy:
        async with open_pool(proxy.dsn, size=1, silence_s=0.1) as pool:

            async def ask_twice() -> None:
                async with asyncio.timeout(20), pool.connection() as connection:
                    await connection.execute("SELECT 1")
                    proxy.swallow()
                    asyncio.get_running_loop().call_later(0.02, proxy.heal)
                    await connection.execute("SELECT 1")

            with pytest.raises(StoreAway):
                await ask_twice()
            await _await_answer(pool)


async def test_a_statement_on_which_the_server_works_may_take_long(database: str) -> None:
    with open_database_proxy(database) as proxy:
        async with (
            await psycopg.AsyncConnection.connect(database) as other,
            open_pool(proxy.dsn, size=1, silence_s=0.05) as pool,
            pool.connection() as connection,
        ):
            await other.execute("SELECT pg_advisory_xact_lock(1)")
            before = proxy.connected
            working = asyncio.create_task(connection.execute("SELECT pg_advisory_xact_lock(1)"))
            await until(lambda: proxy.connected > before + 2)  # It asks again and again whether the server works on it.
            assert not working.done()
            await other.rollback()
            await working


async def test_no_statement_is_given_up_because_the_program_itself_is_late(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_module, "ASK_S", 0.02)
    monkeypatch.setattr(connection_module, "_ON_ITS_WAY_S", 0.1)

    async def be_late() -> None:
        while True:
            sleep(0.1)  # noqa: ASYNC251 (the late program)
            await asyncio.sleep(0)

    async with open_pool(database, size=1, silence_s=0.1) as pool, pool.connection() as late, in_background(be_late()):
        await late.execute("SELECT pg_sleep(1.5)")


@pytest.mark.long
async def test_after_silence_idle_connections_are_tested_first(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "_GRACE_S", 0.2)
    with open_database_proxy(database) as proxy:
        async with open_pool(proxy.dsn, size=3, statement_timeout_s=0.1) as pool:
            async with pool.connection(), pool.connection(), pool.connection():
                pass
            proxy.swallow()
            with pytest.raises(StoreAway):
                await ask(pool)
            proxy.heal()
            for _ in range(3):
                async with asyncio.timeout(20):
                    await ask(pool)


async def test_only_the_first_waits_long_if_a_database_is_away(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "_AWAY_WAIT_S", 0.05)
    with open_database_proxy(database) as proxy:
        async with open_pool(proxy.dsn, size=2, timeout_s=1.0) as pool:
            proxy.cut()
            took: list[float] = []
            for _ in range(2):
                begun = monotonic()
                with pytest.raises(StoreAway):
                    await ask(pool)
                took.append(monotonic() - begun)
            assert took[1] < 0.9 < took[0]
            proxy.heal()
            await _await_answer(pool)


async def test_a_server_that_becomes_read_only_is_away_for_who_writes_and_answers_who_reads(
    database: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_pool(database, size=2) as pool:
        await set_read_only(database, is_on=True)
        for _ in range(3):
            async with pool.reading() as connection:
                await connection.execute("SELECT 1")
            with pytest.raises(StoreAway, match="read-only"):
                await ask(pool, "CREATE TABLE kept ()")
        assert pool.away.times == 3
        await set_read_only(database, is_on=False)
        await _await_answer(pool, "CREATE TABLE kept ()")
    shown = [record.getMessage() for record in caplog.records if record.name == "weboid.store.db.pool"]
    assert len(shown) == 2
    assert "read-only" in shown[0]


async def test_our_own_mistakes_are_raised_as_they_are(pool: Pool) -> None:
    for statement, error in [
        ("SELECT nonsense", psycopg.errors.UndefinedColumn),
        ("SELECT 1 / 0", psycopg.errors.DivisionByZero),
        ("INSERT INTO migration VALUES (1, '', '')", psycopg.errors.UniqueViolation),
    ]:
        with pytest.raises(error):
            await ask(pool, statement)

    async def go_on() -> None:
        async with pool.connection() as connection:
            with suppress(psycopg.Error):
                await connection.execute("SELECT nonsense")
            await connection.execute("SELECT 1")

    with pytest.raises(psycopg.errors.InFailedSqlTransaction):
        await go_on()
    with pytest.raises(TimeoutError, match="ours"):
        async with pool.connection():
            raise TimeoutError("ours")


async def test_whatever_else_the_server_says_means_that_it_is_away(pool: Pool) -> None:
    for code in (25006, 40001, 53100, 53300, 58030, "57P01", "57P03", "57P05", "XX000", "XX001", "08006", "55P03"):
        with pytest.raises(StoreAway):
            await ask(pool, f"DO $$ BEGIN RAISE 'no' USING ERRCODE = '{code}'; END $$")


async def test_a_prepared_statement_that_the_server_has_lost_costs_one_connection(pool: Pool) -> None:
    async with pool.connection() as connection:
        pid = connection.info.backend_pid
    with pytest.raises(StoreAway):
        await ask(pool, "EXECUTE lost")
    async with pool.connection() as connection:
        assert connection.info.backend_pid != pid


async def test_a_cut_in_the_middle_of_a_copy_or_a_pipeline_is_a_database_that_is_away(database: str) -> None:
    with open_database_proxy(database) as proxy:
        async with open_pool(proxy.dsn, size=1) as pool:

            async def copy() -> None:
                async with pool.connection() as connection, connection.cursor() as cursor:
                    await cursor.execute("CREATE TEMPORARY TABLE copied (text text)")
                    async with cursor.copy("COPY copied FROM STDIN") as rows:
                        for _ in range(10_000):
                            await rows.write_row(("x" * 1_000,))
                            proxy.drop()

            async def pipeline() -> None:
                async with pool.connection() as connection, connection.pipeline():
                    await connection.execute("SELECT 1")
                    proxy.drop()
                    await connection.execute("SELECT 2")

            for work in (copy, pipeline):
                with pytest.raises(StoreAway):
                    await work()
                await _await_answer(pool)


async def test_who_waits_in_vain_for_a_connection_is_reported_why_none_could_be_opened(database: str) -> None:
    with open_database_proxy(database) as proxy:
        async with open_pool(proxy.dsn, size=2) as pool:
            proxy.cut()
            said = ""
            async with asyncio.timeout(20):
                while "couldn't get a connection" not in said:
                    with pytest.raises(StoreAway) as caught:
                        async with pool.connection(0.05):
                            pass
                    said = str(caught.value)
            assert "refused" in said
            proxy.heal()
            await _await_answer(pool)


async def test_a_pool_that_is_given_up_lets_nobody_wait(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for pause in ("_CLOSE_S", "_AWAY_WAIT_S"):
        monkeypatch.setattr(pool_module, pause, 1_000)
    with open_database_proxy(database) as proxy:
        async with open_pool(proxy.dsn, size=2, timeout_s=1_000) as pool:
            await ask(pool)
            proxy.swallow()
            asking = [asyncio.create_task(ask(pool)) for _ in range(4)]
            await asyncio.sleep(0)
            asyncio.get_running_loop().call_later(0.1, pool.give_up)
            async with asyncio.timeout(30):
                ends = await asyncio.gather(*asking, return_exceptions=True)
            assert {type(end) for end in ends} == {StoreAway}
            async with asyncio.timeout(4):
                with pytest.raises(StoreAway):
                    await ask(pool)
            begun = monotonic()
        assert monotonic() - begun < 4  # although a connection is being opened, which may take ten


async def _await_answer(pool: Pool, statement: str = "SELECT 1") -> None:
    async with asyncio.timeout(20):
        while True:
            with suppress(StoreAway):
                return await ask(pool, statement)


async def test_an_unreachable_database_and_a_wrong_name_are_reported_at_once(database: str, tmp_path: Path) -> None:
    dsn = make_conninfo(host=str(tmp_path), dbname="nowhere", user="me", password="secret")
    with pytest.raises(StoreError, match=r"cannot reach the database 'nowhere' at .*WEBOID_DATABASE") as caught:
        async with open_pool(dsn, size=1):
            raise AssertionError
    assert "secret" not in str(caught.value)
    with pytest.raises(StoreError, match="refuses us") as caught:
        async with open_pool(make_conninfo(database, dbname="nowhere"), size=1):
            raise AssertionError
    assert not isinstance(caught.value, StoreAway), "it is not away"


async def test_titles_go_in_utf8_whatever_the_environment_says_and_a_missing_schema_is_reported(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    async with open_pool(make_conninfo(database, options="-c search_path=nowhere"), size=1) as pool:
        async with pool.connection() as connection:
            await connection.execute("SELECT %s::text", ("日本",))
        with pytest.raises(StoreError, match="refuses us: no schema has been selected"):
            await ask(pool, "CREATE TABLE a ()")


@pytest.mark.parametrize("dsn", _NO_ADDRESSES)
async def test_an_address_that_is_none_is_reported_and_nothing_of_it(dsn: str) -> None:
    # Anything in it may be a part of the password: one with a % or a space that is not escaped was shown in the log.
    with pytest.raises(StoreError, match="WEBOID_DATABASE is not a PostgreSQL address") as caught:
        async with open_pool(dsn, size=1):
            raise AssertionError
    assert not isinstance(caught.value, StoreAway)
    assert "hu" not in str(caught.value)


async def test_one_that_was_cut_off_tells_of_all_so_that_nobody_pauses_for_each(database: str) -> None:
    """As by a restart, a fail-over, or a proxy that closes what is idle.

    After the second one that it finds, psycopg_pool pauses for a second, then for two, four, eight …
    """
    async with open_pool(database, size=6, timeout_s=2.5) as pool:
        for borrowers in (1, 4):
            async with AsyncExitStack() as stack:
                lent = [await stack.enter_async_context(pool.connection()) for _ in range(6)]
                pids = [connection.info.backend_pid for connection in lent]
            async with await psycopg.AsyncConnection.connect(database, autocommit=True) as other:
                await other.execute("SELECT pg_terminate_backend(pid, 5000) FROM unnest(%s) pid", (pids,))
            async with asyncio.timeout(20):
                await asyncio.gather(*(ask(pool) for _ in range(borrowers)))
