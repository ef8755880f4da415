"""Two sessions that lock the same leases at once, whose rows lie in no order: neither waits for the other for ever."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from itertools import combinations_with_replacement
from typing import Final

import psycopg
from support.stored import do

from weboid.store.db.pool import Connection, Pool, open_pool
from weboid.store.schedule.lease import list_held, record_release, record_renewal

Held = Mapping[int, int]
_WORKER: Final = "w"
_ROWS: Final = 200
_SHARED: Final = 150

KINDS: Final[dict[str, Callable[[Connection, Held], Awaitable[object]]]] = {
    "renewal": lambda conn, held: record_renewal(conn, _WORKER, held, lease_s=60),
    "release": lambda conn, held: record_release(conn, _WORKER, held),
    "writing": lambda conn, held: list_held(conn, _WORKER, held),
}
PAIRS: Final = [pair for pair in combinations_with_replacement(KINDS, 2) if pair != ("writing", "writing")]


async def _shuffled(conn: Connection) -> None:
    await conn.execute(
        "WITH gone AS (DELETE FROM lease RETURNING bucket, epoch, until) "
        "INSERT INTO lease (bucket, epoch, worker, until) SELECT bucket, epoch, 'w', until FROM gone ORDER BY random()"
    )


async def _meet(pool: Pool, kinds: tuple[str, str], chance: random.Random) -> None:
    async with pool.connection() as conn:
        epochs = dict(await (await conn.execute("SELECT bucket, epoch FROM lease")).fetchall())
    shared = chance.sample(sorted(epochs), _SHARED)

    async def one(kind: str) -> None:
        buckets = [*shared, *chance.sample(sorted(epochs.keys() - set(shared)), _ROWS - _SHARED)]
        chance.shuffle(buckets)
        await do(pool, KINDS[kind], {bucket: epochs[bucket] for bucket in buckets})

    await asyncio.gather(*(one(kind) for kind in kinds))


async def test_two_sessions_with_the_same_leases_do_not_deadlock(database: str) -> None:
    print(f"seed {(seed := random.randrange(10**6))}")
    chance = random.Random(seed)
    async with open_pool(database, size=2, part="test") as pool:
        for number in range(60):
            if number % 20 == 0:
                await do(pool, _shuffled)
            await _meet(pool, PAIRS[number % len(PAIRS)], chance)
    query = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
    async with await psycopg.AsyncConnection.connect(database) as connection:
        assert await (await connection.execute(query)).fetchone() == (0,)


async def test_each_bucket_is_held_under_its_own_epoch(database: str) -> None:
    async with open_pool(database, size=1, part="test") as pool, pool.connection() as conn:
        await conn.execute("UPDATE lease SET worker = 'w', epoch = 5000 - bucket, until = now() + interval '1 minute'")
        held = {bucket: 5_000 - bucket for bucket in (7, 8, 9)}
        assert await list_held(conn, _WORKER, held) == held.keys()
        assert await record_renewal(conn, _WORKER, held, lease_s=60) == held.keys()
        assert await list_held(conn, _WORKER, {7: 4_992, 8: 4_992}) == {8}
