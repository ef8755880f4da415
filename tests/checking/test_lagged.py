"""No verdict from checks that ended while our own loop lagged: failures by time are not concluded from (C-16)."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from ipaddress import ip_network
from time import sleep

import pytest
from support.misbehaving import Script, Silence, reply, serve

from weboid.checking import checker as checker_module
from weboid.checking.checker import Checker
from weboid.checking.turns import LocalTurns, NotAsked
from weboid.config import CrawlConfig, NetConfig
from weboid.core.observe.check_request import CheckRequest
from weboid.core.observe.observation import Observation
from weboid.core.record.reasons import Reason
from weboid.mechanism.loop_lag import LoopLag
from weboid.net.outbound import open_session

NET = NetConfig(user_agent="test", permit=(ip_network("127.0.0.0/8"),), connect_s=30.0, answer_s=0.3)
LATE_S, BUSY_S = 0.2, 0.5


@pytest.fixture(autouse=True)
def is_late_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker_module, "LATE_S", LATE_S)


async def seen(script: Script, *, busy: bool, answer_s: float = 30.0) -> Observation:
    """The observation of a check during which the loop is busy with something else, or just its own."""
    lag = LoopLag()
    async with serve(script) as site, open_session(replace(NET, answer_s=answer_s)) as session:
        checker = Checker(session, LocalTurns(0.0), CrawlConfig(), lag=lag)
        if not busy:  # nor measured: this machine may be busy by itself
            return await checker.ask(CheckRequest(site.url("/a")))
        with lag.open():
            asyncio.get_running_loop().call_later(0.05, sleep, BUSY_S)
            return await checker.ask(CheckRequest(site.url("/a")))


def late(answer: bytes) -> Script:
    """A server that answers after a while, or hangs up then; its front page is fine."""

    async def sent() -> AsyncIterator[bytes]:
        await asyncio.sleep(0.1)
        yield answer

    return lambda asked: sent() if asked.target == "/a" else reply(200, body=b"fine")


@pytest.mark.parametrize(
    ("script", "answer_s", "reason"),
    [
        (lambda _: Silence(), 0.3, Reason.TIMEOUT),
        (late(b""), 30.0, Reason.RESET),
        (late(reply(408)), 30.0, Reason.TIMEOUT),
    ],
)
async def test_a_failure_by_time_counts_only_where_the_loop_was_in_time(
    script: Script, answer_s: float, reason: Reason
) -> None:
    assert (await seen(script, busy=False, answer_s=answer_s)).reason is reason
    with pytest.raises(NotAsked, match="late"):
        await seen(script, busy=True, answer_s=answer_s)


async def test_an_answer_is_one_however_late_and_a_lag_of_before_the_check_not_its_concern() -> None:
    assert (await seen(late(reply(404)), busy=True)).reason is Reason.NOT_FOUND
    lag = LoopLag()
    lag.count(100.0)
    async with serve(lambda _: Silence()) as site, open_session(NET) as session:
        checker = Checker(session, LocalTurns(0.0), CrawlConfig(), lag=lag)
        assert (await checker.ask(CheckRequest(site.url()))).reason is Reason.TIMEOUT


async def test_where_time_is_simulated_a_lag_says_nothing() -> None:
    lag = LoopLag()
    async with serve(lambda _: Silence()) as site, open_session(NET) as session:
        checker = Checker(replace(session, now=lambda: 0.0), LocalTurns(0.0), CrawlConfig(), lag=lag)
        asyncio.get_running_loop().call_later(0.1, lag.count, 100.0)
        assert (await checker.ask(CheckRequest(site.url()))).reason is Reason.TIMEOUT
