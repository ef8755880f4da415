"""How a check judges a document by its host's answers for made-up URLs, against real servers of every kind (C-11)."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from msgspec import structs
from support.misbehaving import Act, Asked, HangUp, Script, Silence, head_only, reply, serve
from support.pages import page as made_page
from support.pages import prose

from weboid.checking.checker import Checker, CheckResult
from weboid.checking.turns import LocalTurns
from weboid.config import CrawlConfig, NetConfig
from weboid.core.document.face import KEPT_DAYS, NO_FACE, Face
from weboid.core.observe.check_request import CheckRequest
from weboid.core.record.reasons import Reason
from weboid.net.outbound import open_session

from .test_checker import NET

PATH = "/harbour/the-old-bees"
_BESIDES = ("GET /robots.txt", "GET /news", "GET /de")
"""What is asked for other reasons, too: as the target of redirects."""


def page(title: str, start: int = 0, *, words: int = 80, more: str = "") -> Act:
    return reply(200, body=made_page(title, body=f"<p>{prose(words, start)}</p>{more}"))


FRONT, LIVING, TEMPLATE = page("Welcome", 9_000), page("The page itself"), page("Our site", 5_000)
MISSING = reply(404, body=b"no")


def host(answer: Callable[[str], Act]) -> Script:
    """A server that answers by path alone, and has no robots.txt."""

    def script(asked: Asked) -> Act:
        act = MISSING if asked.target == "/robots.txt" else answer(asked.target)
        return head_only(asked, act) if isinstance(act, bytes) else act

    return script


def with_pages(other: Act, **pages: Act) -> Script:
    """A server with a front page, the page at PATH if it is given, and the same for everything else."""
    known = {"/": pages.get("front", FRONT), PATH: pages.get("own", other)}
    return host(lambda path: known.get(path, other))


def moved(to: str) -> Act:
    return reply(302, f"Location: {to}")


@asynccontextmanager
async def checking(net: NetConfig = NET, *, keeps_faces: bool = False) -> AsyncIterator[Checker]:
    async with open_session(net) as session:
        yield Checker(session, LocalTurns(0), CrawlConfig(), keeps_faces=keeps_faces)


async def looked(script: Script, face: Face | None = NO_FACE) -> tuple[CheckResult, list[str]]:
    """The result of a look, and what was asked besides the page and robots.txt."""
    net = replace(NET, answer_s=1.0) if script is LIVES["hangs"] else NET
    async with serve(script) as site, checking(net) as checker:
        found = await checker.check(CheckRequest(site.url(PATH), looks=True, face=face, day=100))
        return found, [line for line in site.lines() if line not in _BESIDES and line != f"GET {PATH}"]


SHELL = page("An application", words=60, more='<script src="/app.js"></script><div id=root></div>')
LIVES: dict[str, Script] = {
    "honest": with_pages(MISSING, own=LIVING),
    "application": host(lambda path: SHELL),
    "limits": with_pages(reply(429, "Retry-After: 60"), own=LIVING),
    "hangs": with_pages(Silence(), own=LIVING),
    "hangs up": with_pages(HangUp(), own=LIVING),
}


@pytest.mark.parametrize("name", LIVES)
async def test_a_living_page_is_not_doubted_whatever_its_host_answers_otherwise(name: str) -> None:
    found, besides = await looked(LIVES[name])
    assert (found.seen.reason, found.signals) == (Reason.OK, ())
    assert len(besides) <= 3


DEAD: dict[str, tuple[Script, Reason]] = {
    "template": (with_pages(TEMPLATE), Reason.SOFT_404),
    "sends to a place": (host(lambda path: {"/news": TEMPLATE, "/": FRONT}.get(path, moved("/news"))), Reason.SOFT_404),
    "fixed text": (host(lambda path: page("Back soon")), Reason.SAME_EVERYWHERE),
}


@pytest.mark.parametrize("name", DEAD)
async def test_what_is_no_page_is_doubted_by_the_right_word_with_three_requests_at_most(name: str) -> None:
    script, reason = DEAD[name]
    found, besides = await looked(script)
    assert found.seen.reason is reason
    assert found.signals
    assert found.seen.portrait is None
    assert len(besides) <= 3


async def test_what_was_learned_is_not_asked_again_and_at_an_honest_host_not_even_robots_txt() -> None:
    async with serve(with_pages(TEMPLATE)) as site, checking() as checker:
        request = CheckRequest(site.url(PATH), looks=True, day=100)
        request = structs.replace(request, face=(await checker.ask(request)).face)
        for day, requests in ((99 + KEPT_DAYS, 1), (100 + KEPT_DAYS, 4)):
            before = len(site.lines())
            seen = await checker.ask(structs.replace(request, day=day))
            assert (seen.reason, len(site.lines()) - before) == (Reason.SOFT_404, requests)
            assert (seen.face is None) is (requests == 1)
    async with serve(with_pages(MISSING, own=LIVING)) as site:
        async with checking() as checker:
            face = (await checker.ask(CheckRequest(site.url(PATH), looks=True, day=100))).face
            assert len(site.lines()) == 3
        async with checking() as checker:
            await checker.ask(CheckRequest(site.url(PATH), looks=True, face=face, day=101))
            assert site.lines()[3:] == [f"GET {PATH}"]


async def test_what_scripts_fill_in_or_where_no_face_is_wanted_costs_no_further_request() -> None:
    async with serve(LIVES["application"]) as site, checking() as checker:
        await checker.ask(CheckRequest(site.url(PATH), looks=True))
        assert site.lines() == [f"GET {PATH}"]
    found, besides = await looked(with_pages(TEMPLATE), face=None)
    assert (found.seen.reason, besides) == (Reason.OK, [])


async def test_a_pause_that_a_made_up_url_brings_is_kept() -> None:
    """Once the host has said "too many", the next check has to wait longer than it may."""
    async with serve(LIVES["limits"]) as site, open_session(NET) as session:
        turns = LocalTurns(0)
        await Checker(session, turns, CrawlConfig()).ask(CheckRequest(site.url(PATH), looks=True))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(turns.turn("127.0.0.1"), 0.2)


async def test_where_robots_are_not_wanted_nothing_is_made_up() -> None:
    def script(asked: Asked) -> Act:
        if asked.target == "/robots.txt":
            return reply(200, body=f"User-agent: *\nAllow: {PATH}\nDisallow: /".encode(), kind="text/plain")
        return head_only(asked, TEMPLATE) if isinstance(TEMPLATE, bytes) else TEMPLATE

    found, besides = await looked(script)
    assert (found.seen.reason, besides) == (Reason.OK, [])


async def test_a_face_that_is_kept_is_learned_once_also_from_checks_at_the_same_time() -> None:
    async with serve(with_pages(TEMPLATE)) as site, checking(keeps_faces=True) as checker:
        urls = [site.url(f"/harbour/page-{number}") for number in range(12)]
        seen = await asyncio.gather(*(checker.ask(CheckRequest(url, looks=True)) for url in urls))
        assert {each.reason for each in seen} == {Reason.SOFT_404}
        assert len(site.lines()) == 12 + 1 + 3


async def test_of_a_host_with_many_directories_only_some_are_asked() -> None:
    async with serve(host(lambda path: page("Page", len(path) * 100) if "page" in path else MISSING)) as site:
        async with checking(keeps_faces=True) as checker:
            for letter in "abcdefghij":
                await checker.ask(CheckRequest(site.url(f"/{letter}/page{letter * ord(letter)}"), looks=True))
        assert len(site.lines()) == 10 + 1 + 2
