"""Leases of buckets; in which order statements lock them is in ``store/db/test_locks``."""

from weboid.store.db.pool import open_pool
from weboid.store.schedule.lease import list_held, record_renewal


async def test_each_bucket_is_held_under_its_own_epoch(database: str) -> None:
    async with open_pool(database, size=1, part="test") as pool, pool.connection() as conn:
        await conn.execute("UPDATE lease SET worker = 'w', epoch = 5000 - bucket, until = now() + interval '1 minute'")
        held = {bucket: 5_000 - bucket for bucket in (7, 8, 9)}
        assert await list_held(conn, "w", held) == held.keys()
        assert await record_renewal(conn, "w", held, lease_s=60) == held.keys()
        assert await list_held(conn, "w", {7: 4_992, 8: 4_992}) == {8}
