"""What ranges may spend: exact however many spend at a time, by the database's clock, and nothing kept of anybody."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
from support.stored import do

from weboid.store.db.pool import Pool, open_pool
from weboid.store.people.throttle import Rate, delete_past, find_day_key, key_of, spend

DAY = 120
KEY = b"somebody"
SLOW = Rate(units=1, burst=100)
"""Nothing is earned while a test runs."""


@pytest.fixture
async def pools(database: str) -> AsyncIterator[list[Pool]]:
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(open_pool(database, size=5, part="test")) for _ in range(2)]


async def spent(pool: Pool, cost: int = 1, rate: Rate = SLOW, key: bytes = KEY) -> float | None:
    return (await do(pool, spend, {key: cost}, rate)).get(key)


async def let_pass(pool: Pool, seconds: float) -> None:
    """What the database's clock would have done."""
    async with pool.connection() as conn:
        await conn.execute("UPDATE throttle SET free = free - make_interval(secs => %s)", (seconds,))


async def counted(pool: Pool) -> tuple[int, ...]:
    async with pool.connection() as conn:
        found = await conn.execute("SELECT (SELECT count(*) FROM throttle), (SELECT count(*) FROM throttle_key)")
        return (await found.fetchall())[0]


async def test_fifty_spenders_of_two_processes_get_the_burst_and_not_one_more(pools: list[Pool]) -> None:
    async def spender(number: int, cost: int) -> int:
        return sum([await spent(pools[number % 2], cost, key=bytes([cost])) is None for _ in range(6)])

    for cost, fits in ((1, 100), (7, 14)):
        assert sum(await asyncio.gather(*(spender(number, cost) for number in range(50)))) == fits


async def test_a_burst_is_whole_whatever_part_of_a_second_a_unit_is_worth(pools: list[Pool]) -> None:
    for number, units in enumerate((1, 7, 1_200, 999_983)):
        rate = Rate(units, burst=20)
        assert [await spent(pools[0], 1, rate, bytes([number])) for _ in range(20)] == [None] * 20


async def test_everybody_has_an_account_of_their_own_and_what_costs_more_than_the_burst_costs_it(
    pools: list[Pool], database: str
) -> None:
    assert await spent(pools[0], 1_000) is None
    assert await spent(pools[0], 1) is not None
    await let_pass(pools[0], 6_000)
    assert await spent(pools[0], 100) is None
    assert await spent(pools[0], 100, key=b"somebody else") is None
    async with open_pool(database, size=1, part="test") as another:
        assert await spent(another, 1) is not None, "an account outlives the program"


async def test_who_is_refused_is_reported_when_it_will_do_and_spends_nothing(pools: list[Pool]) -> None:
    assert await spent(pools[0], 100) is None
    for _ in range(3):
        wait_s = await spent(pools[1], 2)
        assert wait_s is not None
        assert 110 < wait_s <= 120
    await let_pass(pools[0], 120)
    assert await spent(pools[1], 2) is None
    assert await spent(pools[1], 1) is not None
    await let_pass(pools[0], 100_000)
    assert await spent(pools[0], 100) is None, "no more is earned than the burst"
    assert await spent(pools[0]) is not None


async def test_a_fast_rate_is_earned_by_the_databases_own_clock(pools: list[Pool]) -> None:
    rate = Rate(units=600, burst=1)
    assert await spent(pools[0], 1, rate) is None
    wait_s = await spent(pools[0], 1, rate)
    if wait_s is not None:
        assert 0 <= wait_s <= 0.1
        await asyncio.sleep(wait_s + 0.01)
        assert await spent(pools[0], 1, rate) is None


async def test_all_processes_have_one_random_key_a_day(pools: list[Pool]) -> None:
    async def find(number: int, day: int) -> bytes:
        return await do(pools[number % 2], find_day_key, day)

    today = set(await asyncio.gather(*(find(number, DAY) for number in range(20))))
    assert len(today) == 1
    assert today.isdisjoint({await find(0, DAY + 1)})
    assert len(today.pop()) == 32


def test_a_key_tells_nothing_without_that_of_the_day() -> None:
    one, other = (key_of(bytes([number]) * 32, b"192.0.2.0/24") for number in (1, 2))
    assert one != other
    assert len(one) == 16
    assert key_of(bytes([1]) * 32, b"192.0.2.0/24") == one != key_of(bytes([1]) * 32, b"192.0.3.0/24")


async def test_what_is_past_goes_bit_by_bit_and_what_still_counts_stays(pools: list[Pool]) -> None:
    pool = pools[0]
    for number in range(5):
        assert await spent(pool, 1, key=bytes([number])) is None
    await let_pass(pool, 61)
    assert await spent(pool, 50) is None
    for day in (DAY - 2, DAY - 1, DAY):
        await do(pool, find_day_key, day)
    assert await counted(pool) == (6, 3)
    for limit, left in ((2, 4), (100, 1)):
        await do(pool, delete_past, DAY, limit=limit)
        assert await counted(pool) == (left, 1)
    assert await spent(pool, 50) is None
    assert await spent(pool, 1) is not None
