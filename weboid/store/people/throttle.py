"""The budgets of callers, shared by all web processes and kept over their restarts (W-9).

The ranges of requests and their costs belong to ``web/http/limits``; here a range is just a key. No address is stored:
a key is a hash under the day's random key, which is deleted after that day.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from secrets import token_bytes
from typing import Final

from weboid.store.db.statements import Connection, fetch_value, statements

SQL: Final = statements("people/throttle")
_KEY_BYTES: Final = 32
_HASH_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class Rate:
    """`units` are earned a minute (at least one), and at most `burst` are kept (at least one)."""

    units: int
    burst: int

    def __post_init__(self) -> None:
        if self.units < 1 or self.burst < 1:
            raise ValueError("a rate needs at least one unit a minute and a burst of one")

    @property
    def unit_s(self) -> float:
        """The seconds in which a unit is earned."""
        return 60 / self.units


async def spend(conn: Connection, costs: Mapping[bytes, int], rate: Rate) -> dict[bytes, float]:
    """Spends units of each key, at most a burst; returns the keys of which it spent nothing, as they have too few, and
    the seconds until they have so many, or less.

    Exact however many tasks or processes spend at a time. `conn` is best in autocommit mode: rows are locked no longer
    than the statement takes then (and as the table is unlogged, there is no wait for the disk).
    """
    units = [min(cost, rate.burst) for cost in costs.values()]
    given = {"keys": [*costs], "costs": units, "burst": rate.burst, "unit_s": rate.unit_s}
    rows = await (await conn.execute(SQL["spend"], given)).fetchall()
    return {bytes(key): max(0.0, wait_s) for key, wait_s in rows}


async def settle(conn: Connection, units: Mapping[bytes, int], rate: Rate) -> None:
    """Takes from each key units that were spent already, also if it has not earned them yet; if they are below 0, gives
    it back so many that were spent by `spend` and came to nothing. `conn` is as there.
    """
    await conn.execute(SQL["settle"], {"keys": [*units], "units": [*units.values()], "unit_s": rate.unit_s})


async def find_day_key(conn: Connection, day: int) -> bytes:
    """The day's random key, the same for all processes: made by the first call of the day."""
    return bytes(await fetch_value(conn, SQL["find_day_key"], {"day": day, "key": token_bytes(_KEY_BYTES)}) or b"")


def key_of(day_key: bytes, address_range: bytes) -> bytes:
    """The key of a range on that day; it reveals nothing without the day's key."""
    return blake2b(address_range, key=day_key, digest_size=_HASH_BYTES).digest()


async def delete_past(conn: Connection, day: int, *, limit: int) -> int:
    """Deletes the keys of past days, and at most `limit` rows without effect; returns how many of those rows."""
    await conn.execute(SQL["delete_day_keys"], {"day": day})
    return (await conn.execute(SQL["delete_past"], {"limit": limit})).rowcount
