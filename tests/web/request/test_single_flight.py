"""Work that many want at the same time is done once, and ends for nobody because somebody else has gone."""

import asyncio

import pytest

from weboid.web.request.single_flight import SingleFlight


async def test_a_question_is_asked_once_for_all_and_survives_those_who_lose_patience() -> None:
    asked = 0
    release = asyncio.Event()

    async def ask() -> int:
        nonlocal asked
        asked += 1
        await release.wait()
        return asked

    flight = SingleFlight()
    with pytest.raises(TimeoutError):
        await flight.result("a", ask, patience_s=0.01)
    others = [asyncio.create_task(flight.result("a", ask, patience_s=60)) for _ in range(3)]
    await asyncio.sleep(0)
    others[0].cancel()
    release.set()
    assert await asyncio.gather(*others[1:]) == [1, 1]
    assert await flight.result("a", ask) == 2


async def test_a_question_that_nobody_waits_for_can_be_given_up() -> None:
    async def ask() -> None:
        await asyncio.Event().wait()

    flight = SingleFlight()
    with pytest.raises(TimeoutError):
        await flight.result("a", ask, patience_s=0.01)
    await flight.close()
    await SingleFlight().close()


async def test_other_questions_are_asked_by_themselves_and_errors_are_for_all_who_wait() -> None:
    release = asyncio.Event()

    async def fail() -> None:
        await release.wait()
        raise LookupError

    async def seven() -> int:
        return 7

    flight = SingleFlight()
    waiting = [asyncio.create_task(flight.result("a", fail)) for _ in range(2)]
    assert await flight.result("b", seven) == 7
    release.set()
    assert [type(error) for error in await asyncio.gather(*waiting, return_exceptions=True)] == [LookupError] * 2
    assert await flight.result("a", seven) == 7
