"""Checks of suggestions, against real servers: shown only if they work, deleted if they do not (A-3, A-4)."""

import asyncio
from collections.abc import Callable
from functools import partial

import pytest
from support.archives import NET
from support.misbehaving import Act, Asked, Script, head_only, reply, serve
from support.observations import FINE, SILENT
from support.stored import CUT_OFF, NAMES_ALONE, WikiInStore, key

from weboid.archive.visits import suggestions
from weboid.archive.visits.suggestions import (
    DOUBTFUL_DAYS,
    FAILING_DAYS,
    UNASKED_DAYS,
    WORKING_DAYS,
    SuggestionFate,
    Suggestions,
    is_given_up,
    judged,
)
from weboid.checking.checker import Checker
from weboid.checking.online import Online
from weboid.checking.slots import StoreSlots
from weboid.checking.turns import NotAsked, SharedTurns
from weboid.config import CrawlConfig
from weboid.core.observe.check_request import CheckRequest
from weboid.core.observe.observation import Observation
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.status import Status
from weboid.mechanism.patience import ending
from weboid.net.outbound import open_session
from weboid.store.people.audit import list_audit
from weboid.store.people.replacement import Replacement, find_replacements, record_replacement

URLS = [f"http://dead.demo/{number}" for number in range(12)]
BODY = b"<!doctype html><html lang=en><title>The mill</title><p>" + b"A wheel of oak turns in the brook. " * 30
IN_STORE = {1: URLS}


def pages(**found: Act) -> Script:
    def script(asked: Asked) -> Act:
        act = found.get(asked.target.removeprefix("/"), reply(404, body=b"no"))
        return head_only(asked, act) if isinstance(act, bytes) else act

    return script


async def suggest(wiki: WikiInStore, *targets: str, archive: int = 0, day: int = 100) -> None:
    """The first target for the first URL, and so on."""
    for url, target in zip(URLS, targets, strict=False):
        assert await wiki.do(
            record_replacement, key(url), archive=archive, target=target, day=day, subject="7", name="Ann"
        )


async def stands(wiki: WikiInStore, number: int = 0) -> Replacement | None:
    return next(iter(await wiki.do(find_replacements, key(URLS[number]))), None)


async def state(wiki: WikiInStore, number: int = 0) -> tuple[bool, int | None, int, int] | None:
    """Whether it works, the day of its check, its strikes, the day of its next check."""
    stored = await stands(wiki, number)
    return None if stored is None else (stored.works, stored.asked, stored.strikes, stored.due)


async def sweep(wiki: WikiInStore, day: int, stop: tuple[str, ...] = ()) -> int:
    """What a crawler does: it has one way out, with shared slots."""
    async with open_session(NET) as session:
        ask = Checker(session, SharedTurns(StoreSlots(wiki.pool), 0.0), CrawlConfig(delay=0.0, stop=stop)).ask
        return await Suggestions(wiki.pool, ask, NAMES_ALONE, today=lambda: day, stopped=asyncio.Event()).sweep()


def scripted(
    wiki: WikiInStore, day: int, answer: Callable[[str], Observation], online: Online = NAMES_ALONE
) -> Suggestions:
    async def ask(question: CheckRequest) -> Observation:
        wiki.questions.append(question)
        return answer(question.url)

    return Suggestions(wiki.pool, ask, online, today=lambda: day, stopped=asyncio.Event())


async def test_what_works_is_shown_and_asked_again_after_four_weeks(wiki: WikiInStore) -> None:
    async with serve(pages(new=reply(200, body=BODY))) as site:
        await suggest(wiki, site.url("/new"))
        assert await sweep(wiki, 100) == 1
        assert await state(wiki) == (True, 100, 0, 100 + WORKING_DAYS)
        assert await sweep(wiki, 100 + WORKING_DAYS - 1) == 0
        assert await sweep(wiki, 100 + WORKING_DAYS) == 1
    # The page itself is looked at, not only its headers.
    assert site.lines()[0] == "GET /new"


async def test_what_is_missing_is_never_shown_and_gone_after_three_checks(wiki: WikiInStore) -> None:
    async with serve(pages()) as site:
        target = site.url("/gone")
        await suggest(wiki, target)
        for strikes, day in enumerate((100, 100 + FAILING_DAYS), 1):
            assert await sweep(wiki, day) == 1
            assert await state(wiki) == (False, day, strikes, day + FAILING_DAYS)
        assert await sweep(wiki, 100 + 2 * FAILING_DAYS) == 1
    assert await stands(wiki) is None
    [entry] = await wiki.do(list_audit)
    assert (entry.action, entry.subject, entry.name) == ("drop-replacement", "", "Weboid")
    assert (entry.object, entry.detail) == (URLS[0], f"{target} (not-found)")


async def test_what_worked_is_hidden_at_its_first_failure_and_shown_again_when_it_works(wiki: WikiInStore) -> None:
    works = True

    def script(asked: Asked) -> Act:
        return head_only(asked, reply(200, body=BODY) if works and asked.target == "/new" else reply(404, body=b"no"))

    async with serve(script) as site:
        await suggest(wiki, site.url("/new"))
        states = []
        for is_up, day in ((True, 100), (False, 128), (True, 131), (False, 159)):
            works = is_up
            await sweep(wiki, day)
            states.append(await state(wiki))
    assert states == [(True, 100, 0, 128), (False, 128, 1, 131), (True, 131, 0, 159), (False, 159, 1, 162)]


@pytest.mark.parametrize("busy", [reply(429, body=b"no"), reply(503, "Retry-After: 3600", body=b"no")])
async def test_a_host_that_wants_a_rest_has_said_nothing_of_the_page(wiki: WikiInStore, busy: bytes) -> None:
    answers = [reply(200, body=BODY), busy, busy]

    def script(asked: Asked) -> Act:
        return head_only(asked, answers[0] if asked.target == "/new" else reply(404, body=b"no"))

    async with serve(script) as site:
        await suggest(wiki, site.url("/new"))
        await sweep(wiki, 100)
        assert await state(wiki) == (True, 100, 0, 128)
        del answers[0]
        await sweep(wiki, 128)
        assert await state(wiki) == (True, 100, 0, 129)


async def test_a_page_that_answers_whatever_is_asked_for_is_not_shown(wiki: WikiInStore) -> None:
    async with serve(lambda asked: head_only(asked, reply(200, body=BODY))) as site:
        await suggest(wiki, site.url("/articles/new"))
        await sweep(wiki, 100)
    assert await state(wiki) == (False, 100, 1, 100 + DOUBTFUL_DAYS)


async def test_a_host_on_the_stop_list_is_not_asked_and_its_suggestion_given_up_in_time(wiki: WikiInStore) -> None:
    async with serve(pages(new=reply(200, body=BODY))) as site:
        await suggest(wiki, site.url("/new"))
        assert await sweep(wiki, 100, stop=("127.0.0.1",)) == 1
        assert await state(wiki) == (False, None, 0, 101)
        await sweep(wiki, 101 + UNASKED_DAYS, stop=("127.0.0.1",))
        assert site.asked == []
    assert await stands(wiki) is None
    assert [entry.detail.split()[-1] for entry in await wiki.do(list_audit)] == ["(not-asked)"]


async def test_while_we_are_cut_off_nothing_is_held_against_anybody(wiki: WikiInStore) -> None:
    await suggest(wiki, *(f"http://h{number}.demo/" for number in range(len(URLS))))
    await scripted(wiki, 100, lambda url: SILENT, CUT_OFF).sweep()
    rows = await wiki.rows("SELECT works, asked, strikes FROM replacement")
    assert rows == [(False, None, 0)] * len(URLS)
    await scripted(wiki, 101, lambda url: SILENT if "h1." in url else FINE).sweep()
    assert {row[0] for row in await wiki.rows("SELECT works FROM replacement WHERE asked = 101")} == {True, False}


@pytest.mark.parametrize("error", [OSError("too many open files"), NotAsked("another day")])
async def test_a_fault_of_ours_is_no_strike(wiki: WikiInStore, error: Exception) -> None:
    def fail(url: str) -> Observation:
        raise error

    await suggest(wiki, "http://new.demo/")
    await scripted(wiki, 100, fail).sweep()
    assert await state(wiki) == (False, None, 0, 101)


async def test_a_stop_leaves_the_rest_for_another_day(wiki: WikiInStore) -> None:
    await suggest(wiki, *(f"http://h{number}.demo/" for number in range(len(URLS))))
    stopped = asyncio.Event()

    async def ask(question: CheckRequest) -> Observation:
        stopped.set()
        return FINE

    await Suggestions(wiki.pool, ask, NAMES_ALONE, today=lambda: 100, stopped=stopped).sweep()
    rows = await wiki.rows("SELECT asked, due FROM replacement WHERE asked IS NULL")
    assert len(rows) >= len(URLS) - 4
    assert set(rows) == {(None, 101)}


async def test_a_stop_does_not_wait_for_a_silent_server(wiki: WikiInStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suggestions, "ending", partial(ending, grace_s=0.05))
    await suggest(wiki, "http://silent.demo/")
    stopped = asyncio.Event()

    async def ask(question: CheckRequest) -> Observation:
        stopped.set()
        await asyncio.Event().wait()
        raise AssertionError

    async with asyncio.timeout(10):
        await Suggestions(wiki.pool, ask, NAMES_ALONE, today=lambda: 100, stopped=stopped).sweep()
    assert await state(wiki) == (False, None, 0, 101)


def suggestion(archive: int = 0, **more: object) -> Replacement:
    values = {"day": 100, "asked": None, "due": 100, "strikes": 0, "works": False, "subject": "7", "name": "Ann"} | more
    return Replacement(key(URLS[0]), archive, "http://new.demo/", **values)  # type: ignore[arg-type]


@pytest.mark.parametrize("reason", Reason)
def test_each_reason_has_its_fate(reason: Reason) -> None:
    result = judged(suggestion(), Observation(Status.FINE, reason), 100)
    fine = {Reason.OK, Reason.MOVED, Reason.CODE_CORRECTED, Reason.NEEDS_GET, Reason.PERMALIVE}
    assert result.fate is (SuggestionFate.WORKS if reason in fine else SuggestionFate.STRIKE)
    days = WORKING_DAYS if reason in fine else FAILING_DAYS if reason.outcome is Outcome.FAILING else DOUBTFUL_DAYS
    assert result.due == 100 + days


def test_nobody_is_sent_on_to_an_archive_that_is_not_offered() -> None:
    for target, fate in (
        ("https://archive.today/2011/http://dead.demo/", SuggestionFate.STRIKE),
        ("https://web.archive.org/web/2011/http://dead.demo/", SuggestionFate.WORKS),
    ):
        seen = Observation(Status.MOVED_PERMANENTLY, Reason.MOVED, target=target)
        assert judged(suggestion(), seen, 100).fate is fate


def test_what_cannot_be_asked_waits_for_its_time() -> None:
    assert not is_given_up(suggestion(), 100 + UNASKED_DAYS)
    assert is_given_up(suggestion(), 101 + UNASKED_DAYS)
    worked = suggestion(works=True, asked=200)
    assert not is_given_up(worked, 200 + WORKING_DAYS + UNASKED_DAYS)
    assert is_given_up(worked, 201 + WORKING_DAYS + UNASKED_DAYS)
    assert not is_given_up(suggestion(1, works=True, asked=200), 201 + WORKING_DAYS + UNASKED_DAYS)
