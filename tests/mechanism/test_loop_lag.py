import asyncio
from time import monotonic, sleep

import pytest

from weboid.mechanism import loop_lag
from weboid.mechanism.loop_lag import LATE_S, SLOTS, TICK_S, LoopLag


def block(seconds: float) -> None:
    sleep(seconds)


class Clock:
    """A clock that goes on when it is shown to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(loop_lag, "monotonic", clock)
    return clock


async def test_a_lag_is_known_while_it_lasts_and_afterwards() -> None:
    lag = LoopLag()
    with lag.open():
        await asyncio.sleep(0)
        begun = monotonic()
        block(3 * TICK_S)
        assert lag.worst_since(begun) >= 1.5 * TICK_S
        await asyncio.sleep(2 * TICK_S)
        assert lag.worst_since(begun) >= 1.5 * TICK_S
    assert lag.worst_since(begun) >= 1.5 * TICK_S


async def test_nothing_is_measured_before_it_is_opened_or_after_it_is_closed() -> None:
    lag = LoopLag()
    block(2 * TICK_S)
    assert lag.worst_since(0.0) == lag.late_share(60.0) == 0.0
    with lag.open():
        pass
    block(2 * TICK_S)
    await asyncio.sleep(2 * TICK_S)
    assert lag.worst_since(0.0) == 0.0


def test_what_was_late_before_a_moment_is_not_counted_after_it(clock: Clock) -> None:
    lag = LoopLag()
    lag.count(5.0)
    clock.now += 10
    lag.count(0.2)
    assert lag.worst_since(clock.now - 3) == 0.2
    assert lag.worst_since(clock.now - 30) == 5.0


def test_most_of_a_minute_is_late_by_one_long_lag_or_by_many_but_not_by_short_ones(clock: Clock) -> None:
    long, many, short = LoopLag(), LoopLag(), LoopLag()
    for _ in range(40):
        clock.now += 1.5
        many.count(1.4)
        short.count(LATE_S / 2)
    long.count(40.0)
    assert long.late_share(60.0) == pytest.approx(40 / 60)
    assert many.late_share(60.0) > 0.9
    assert short.late_share(60.0) == 0.0
    clock.now += 100
    assert long.late_share(60.0) == many.late_share(60.0) == 0.0


def test_what_is_remembered_is_bounded(clock: Clock) -> None:
    lag = LoopLag()
    for _ in range(20 * SLOTS):
        clock.now += 0.3
        lag.count(2.0)
    assert len(lag._slots) == SLOTS
