"""Limits of thousands of things by one timer."""

import asyncio

import pytest

from weboid.mechanism.deadlines import PER_S, Deadlines


class Thing:
    def __init__(self, deadlines: Deadlines, again_s: float | None = None) -> None:
        self.expired: list[float] = []
        self._deadlines = deadlines
        self._again_s = again_s

    def expire(self) -> None:
        now = asyncio.get_running_loop().time()
        self.expired.append(now)
        if self._again_s is not None:
            self._deadlines.add(self, now + self._again_s)
            self._again_s = None


async def test_each_limit_is_noticed_once_and_never_too_early() -> None:
    loop, deadlines = asyncio.get_running_loop(), Deadlines()
    limits = [loop.time() + seconds for seconds in (0.3, 0.1, 0.2, 0.1)]
    things = [Thing(deadlines) for _ in limits]
    for thing, at in zip(things, limits, strict=True):
        assert deadlines.add(thing, at)
    await asyncio.sleep(0.3 + 2 / PER_S)
    assert all(len(thing.expired) == 1 for thing in things)
    assert all(thing.expired[0] >= at for thing, at in zip(things, limits, strict=True))


@pytest.mark.parametrize("first_s", [-1.0, 0.0, 0.1])
async def test_a_limit_may_be_set_anew_when_it_has_passed(first_s: float) -> None:
    loop, deadlines = asyncio.get_running_loop(), Deadlines()
    thing = Thing(deadlines, again_s=0.05)
    deadlines.add(thing, loop.time() + first_s)
    await asyncio.sleep(0.15 + 3 / PER_S)
    assert len(thing.expired) == 2


async def test_what_was_removed_or_forgotten_does_not_expire() -> None:
    loop, deadlines = asyncio.get_running_loop(), Deadlines()
    removed, kept, forgotten = (Thing(deadlines) for _ in range(3))
    slot = deadlines.add(removed, loop.time() + 0.05)
    deadlines.add(kept, loop.time() + 0.05)
    deadlines.remove(removed, slot)
    await asyncio.sleep(0.05 + 2 / PER_S)
    deadlines.remove(kept, slot)
    deadlines.add(forgotten, loop.time() + 0.05)
    deadlines.close()
    await asyncio.sleep(0.05 + 2 / PER_S)
    assert [len(thing.expired) for thing in (removed, kept, forgotten)] == [0, 1, 0]


async def test_a_limit_that_raises_keeps_back_no_other() -> None:
    loop, deadlines, faults = asyncio.get_running_loop(), Deadlines(), []
    loop.set_exception_handler(lambda _, context: faults.append(context["exception"]))

    class Broken(Thing):
        def expire(self) -> None:
            raise RuntimeError("broken")

    things = [Broken(deadlines), Thing(deadlines), Broken(deadlines)]
    for thing in things:
        deadlines.add(thing, loop.time())
    await asyncio.sleep(2 / PER_S)
    deadlines.add(things[1], loop.time())
    await asyncio.sleep(2 / PER_S)
    assert (len(things[1].expired), len(faults)) == (2, 2)
