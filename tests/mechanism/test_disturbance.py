"""A disturbance is logged when it begins and when it is over, and not in between."""

import asyncio
import logging

import pytest

from weboid.mechanism.disturbance import Disturbance

_LOG = logging.getLogger("disturbance")


def _lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == _LOG.name]


async def test_many_failures_make_one_line_and_their_end_another(caplog: pytest.LogCaptureFixture) -> None:
    away = Disturbance(_LOG, "the database does not answer", calm_s=0)
    away.passed()
    assert _lines(caplog) == []
    for _ in range(1_000):
        away.met("connection refused")
    assert _lines(caplog) == ["the database does not answer: connection refused"]
    assert away.times == 1_000
    away.passed()
    away.passed()
    assert _lines(caplog)[1:] == ["it is over: the database does not answer (1000 times in 0 s)"]
    assert away.times == 0


async def test_what_comes_and_goes_is_one_trouble(caplog: pytest.LogCaptureFixture) -> None:
    shed = Disturbance(_LOG, "requests are refused", calm_s=0.2)
    for _ in range(20):
        shed.met()
        shed.passed()
        await asyncio.sleep(0.01)
    assert _lines(caplog) == ["requests are refused"]
    async with asyncio.timeout(20):
        while shed.times:
            await asyncio.sleep(0.02)
    assert [line.rpartition(" in ")[0] for line in _lines(caplog)[1:]] == ["it is over: requests are refused (20 times"]


async def test_a_trouble_that_comes_back_is_reported_again(caplog: pytest.LogCaptureFixture) -> None:
    away = Disturbance(_LOG, "away", calm_s=0)
    for reason in ("first", "second"):
        away.met(reason)
        away.met("never shown")
        away.passed()
    lines = _lines(caplog)
    assert lines[::2] == ["away: first", "away: second"]
    assert len(lines) == 4


async def test_at_the_end_of_a_program_it_is_reported_what_is_over(caplog: pytest.LogCaptureFixture) -> None:
    over, lasting = Disturbance(_LOG, "over"), Disturbance(_LOG, "lasting")
    for each in (over, lasting):
        each.met()
    over.passed()
    for each in (over, lasting):
        each.close()
        each.close()
    assert _lines(caplog)[2:] == ["it is over: over (1 times in 0 s)"]
