"""Crawlers of two places as each other's second vantage point, in one store (C-14)."""

import asyncio
import logging
from dataclasses import replace
from uuid import UUID

import pytest
from support.observations import FINE, LOST
from support.stored import NAMES_ALONE, WikiInStore
from support.waiting import until

from weboid.checking import second_opinion
from weboid.checking.connectivity import Connectivity
from weboid.config import CrawlConfig
from weboid.core.observe.check_request import CheckRequest
from weboid.core.observe.observation import Observation
from weboid.core.record.moment import Moment
from weboid.core.record.policy import Policy
from weboid.core.record.reasons import Outcome
from weboid.core.url.keys import UrlKey
from weboid.core.verdict.verdict import Verdict, finding_of
from weboid.crawl.round import Round
from weboid.crawl.second_looks import CrawlersOpinion, LookTaker
from weboid.errors import StoreAway
from weboid.mechanism.tasks import in_background
from weboid.remote.crawl.calls import CrawlStore, SecondLooks, local_crawl_store
from weboid.store.schedule.second_look import LookState, TakenLook

BLOCKED, GONE = "http://blocked.demo/", "http://gone.demo/"
CONFIG = CrawlConfig(delay=0.0, vantage="crawlers")
POLICY = Policy(missing_span=9)
DAYS = (100, 103, 104, 105, 106, 107, 108, 109, 110)
URL = "http://a.demo/"
IN_STORE = {1: [BLOCKED, GONE, URL]}


def core_of(wiki: WikiInStore, place: str) -> CrawlStore:
    return local_crawl_store(wiki.pool, place, replace(CONFIG, place=place), POLICY)


async def died(wiki: WikiInStore, opinion: CrawlersOpinion | None, core: CrawlStore) -> dict[str, int]:
    """Plays the rounds of one place, where two links fail; on which day each was dead."""

    async def ask(request: CheckRequest) -> Observation:
        await asyncio.sleep(0)
        return LOST if request.url in (BLOCKED, GONE) else FINE

    dead: dict[str, int] = {}
    for day in DAYS:
        await Round(
            core.work,
            ask,
            NAMES_ALONE,
            now=lambda day=day: Moment(day),  # type: ignore[misc]
            config=CONFIG,
            connections=10,
            policy=POLICY,
            second_opinion=opinion.outcome if opinion else None,
        ).run()
        for url in (BLOCKED, GONE):
            known = await wiki.known(url)
            if finding_of(known.record, known.host, POLICY).verdict is Verdict.DEAD:
                dead.setdefault(url, day)
    return dead


async def test_where_nobody_else_is_there_verdicts_go_by_the_first_place_and_it_is_reported_once(
    wiki: WikiInStore, caplog: pytest.LogCaptureFixture
) -> None:
    here = core_of(wiki, "here")
    assert await died(wiki, CrawlersOpinion(here.second_looks), here) == {BLOCKED: 109, GONE: 109}
    assert [each.levelno for each in caplog.records if "no crawler of another place" in each.message] == [
        logging.WARNING
    ]


class Silent(SecondLooks):
    """Another place is there, and never answers; the core is away at first."""

    def __init__(self) -> None:
        self.asked: set[UUID] = set()
        self.away = 2

    async def ask(self, look: UUID, key: UrlKey) -> LookState:
        self.asked.add(look)
        self.away -= 1
        if self.away >= 0:
            raise StoreAway("away")
        return LookState(is_open=True, is_alone=False)

    async def take(self, limit: int) -> list[TakenLook]:
        return []

    async def answer(self, look: UUID, outcome: Outcome | None) -> None:
        raise NotImplementedError


async def test_a_place_that_never_answers_is_left_alone_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_opinion, "_SILENT", 3)
    silent = Silent()
    opinion = CrawlersOpinion(silent, answer_s=0.05, ask_s=0.01)
    assert [await opinion.outcome(URL) for _ in range(6)] == [None] * 6
    assert len(silent.asked) == 3


class Answering(Silent):
    """Another place is there, and has found it working."""

    async def ask(self, look: UUID, key: UrlKey) -> LookState:
        return LookState(is_open=False, is_alone=False, outcome=Outcome.WORKING)


async def test_what_another_place_has_found_is_taken() -> None:
    assert await CrawlersOpinion(Answering(), ask_s=0.01).outcome(URL) is Outcome.WORKING


class Asking(Silent):
    """Three looks are wanted, one after the other; what is answered is noted."""

    def __init__(self) -> None:
        super().__init__()
        self.wanted = [TakenLook(UUID(int=number), f"http://h{number}.demo/") for number in range(3)]
        self.answers: dict[UUID, Outcome | None] = {}

    async def take(self, limit: int) -> list[TakenLook]:
        return [self.wanted.pop()] if self.wanted else []

    async def answer(self, look: UUID, outcome: Outcome | None) -> None:
        self.answers[look] = outcome


async def test_an_error_at_one_look_keeps_nobody_from_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    real, looks, stopped, failures = Connectivity.check, Asking(), asyncio.Event(), [RecursionError()]

    async def check(self: Connectivity, request: CheckRequest) -> Observation | None:
        if "//h1." in request.url:
            raise RecursionError
        return await real(self, request)

    async def list_canaries(_: int) -> list[str]:
        if failures:
            raise failures.pop()
        return []

    async def ask(_: CheckRequest) -> Observation:
        return FINE

    monkeypatch.setattr(Connectivity, "check", check)
    async with in_background(LookTaker(looks, ask, NAMES_ALONE, list_canaries, take_s=0.01).run(stopped)):
        await until(lambda: len(looks.answers) >= 2)
        stopped.set()
    assert looks.answers == {UUID(int=1): None, UUID(int=0): Outcome.WORKING}
