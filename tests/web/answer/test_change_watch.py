"""Kept answers are dropped when their content changes, in all processes, and by nothing else (W-10, O-8)."""

import asyncio
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pytest
from support.observations import FINE, LOST
from support.stored import WikiInStore, key, open_wiki
from support.waiting import until
from support.webservice import DEAD, open_service

from weboid.core.url.hosts import registrable_domain
from weboid.core.verdict.verdict import Change, Verdict
from weboid.store.db.pool import open_pool
from weboid.store.people.audit import Action, record_audit
from weboid.store.urls.check import record_changes
from weboid.web.answer import change_watch
from weboid.web.answer.change_watch import ChangeWatch
from weboid.web.http.cache import AnswerCache

ONE, OTHER, THIRD = "http://one.demo/a", "http://one.demo/b", "http://sub.other.demo/"


@dataclass
class Follower:
    """A process: what it keeps, and what follows the store."""

    kept: AnswerCache
    watch: ChangeWatch

    def keep(self, *urls: str) -> None:
        for url in urls or (ONE, OTHER, THIRD):
            self.kept.keep(url, b"x", "tag", [key(url)], self.kept.position)

    @property
    def found(self) -> list[str]:
        return [url for url in (ONE, OTHER, THIRD) if self.kept.find(url)]


@pytest.fixture
async def wiki(database: str) -> AsyncIterator[WikiInStore]:
    async with open_wiki(database, {1: [ONE, OTHER, THIRD]}) as wiki:
        yield wiki


async def follower(wiki: WikiInStore) -> Follower:
    kept = AnswerCache()
    watch = ChangeWatch(wiki.pool, kept)
    await watch.follow()
    return Follower(kept, watch)


def change(url: str) -> Change:
    return Change(key(url), 101, Verdict.WORKING, Verdict.DEAD, None, 101)


class Deed(NamedTuple):
    """The lines of the audit log."""

    action: Action
    about: str
    detail: str = ""


async def round_on_a_dead_page(wiki: WikiInStore) -> None:
    for day in range(101, 112):
        await wiki.round(day, lambda url, _: LOST if url == ONE else FINE)


DEEDS: list[tuple[Deed, list[str]]] = [
    (Deed(Action.REPORT, ONE), [OTHER, THIRD]),
    (Deed(Action.REPORT, ONE, "one.demo"), [THIRD]),
    (Deed(Action.REMOVE_REPORT, ONE), [OTHER, THIRD]),
    (Deed(Action.REPORT_DOMAIN, registrable_domain("one.demo")), [THIRD]),
    (Deed(Action.REMOVE_DOMAIN_REPORT, registrable_domain("sub.other.demo")), [ONE, OTHER]),
    (Deed(Action.REPLACE, OTHER, ONE), [ONE, THIRD]),
    (Deed(Action.REMOVE_REPLACEMENT, OTHER), [ONE, THIRD]),
    (Deed(Action.DROP_REPLACEMENT, OTHER), [ONE, THIRD]),
    (Deed(Action.CHECK_REPLACEMENT, OTHER), [ONE, THIRD]),
    (Deed(Action.CHECK, THIRD), [ONE, OTHER]),
    (Deed(Action.LIFT, THIRD), [ONE, OTHER]),
    (Deed(Action.UNLIFT, THIRD), [ONE, OTHER]),
    (Deed(Action.REVERT, ONE, "testwiki@wmflabs 1 77 style: Ann"), [OTHER, THIRD]),
    (Deed(Action.RELEASE, OTHER), [ONE, THIRD]),
    (Deed(Action.KEEP_FROZEN, THIRD), [ONE, OTHER]),
    (Deed(Action.BLOCK, "8"), [ONE, OTHER, THIRD]),
    (Deed(Action.UNBLOCK, "8"), [ONE, OTHER, THIRD]),
    (Deed(Action.UNDO, "8"), []),
    (Deed(Action.DROP_REPLACEMENT, ""), []),
]
"""An action of somebody, and the answers that stay."""


async def test_what_people_do_drops_what_it_changes_in_every_process(wiki: WikiInStore) -> None:
    followers = [await follower(wiki), await follower(wiki)]
    for deed, stays in DEEDS:
        for each in followers:
            each.keep()
        await wiki.do(record_audit, deed.action, "7", "Anna", deed.about, deed.detail)
        for each in followers:
            await each.watch.follow()
            assert each.found == stays, deed


async def test_every_action_of_people_is_followed_or_drops_everything() -> None:
    known = change_watch._OF_URLS | change_watch._OF_DOMAINS | change_watch._OF_NO_LINK
    assert set(Action) - known == {Action.UNDO, Action.FORGET}


async def test_a_round_that_finds_a_link_dead_drops_the_answers_about_it(wiki: WikiInStore) -> None:
    process = await follower(wiki)
    process.keep()
    await round_on_a_dead_page(wiki)
    await process.watch.follow()
    # That the others worked when they were checked first is not logged: of those nothing is kept for long.
    assert process.found == [OTHER, THIRD]
    process.keep()
    await wiki.round(112, lambda url, _: FINE)
    await process.watch.follow()
    assert process.found == [OTHER, THIRD]


async def test_changes_that_are_committed_out_of_order_are_all_seen(wiki: WikiInStore) -> None:
    process = await follower(wiki)
    async with wiki.pool.connection() as late:
        await record_changes(late, [change(ONE)])
        await wiki.do(record_changes, [change(OTHER)])
        for _ in range(3):
            process.keep()
            await process.watch.follow()
            assert process.found == [ONE, THIRD]
    await process.watch.follow()
    assert process.found == [THIRD]
    for _ in range(2):
        process.keep()
        await process.watch.follow()
    assert process.found == [ONE, OTHER, THIRD]


async def test_a_process_that_starts_while_others_write_keeps_nothing_wrong(wiki: WikiInStore) -> None:
    async with wiki.pool.connection() as late:
        await record_changes(late, [change(ONE)])
        process = await follower(wiki)
        process.keep()
    await process.watch.follow()
    assert ONE not in process.found
    process.keep()
    await process.watch.follow()
    assert process.found == [ONE, OTHER, THIRD]


async def test_an_answer_that_was_made_of_what_has_changed_since_is_not_kept(wiki: WikiInStore) -> None:
    process = await follower(wiki)
    before = process.kept.position
    await wiki.do(record_changes, [change(ONE)])
    await process.watch.follow()
    for url in (ONE, OTHER):
        process.kept.keep(url, b"old", "tag", [key(url)], before)
    assert process.found == [OTHER]
    process.keep(ONE)
    assert process.found == [ONE, OTHER]


async def test_more_changes_than_can_be_read_drop_everything(
    wiki: WikiInStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(change_watch, "_MOST", 3)
    process = await follower(wiki)
    process.keep()
    await wiki.do(record_changes, [change(f"http://many.demo/{number}") for number in range(4)])
    await process.watch.follow()
    assert process.found == []
    process.keep()
    await process.watch.follow()
    assert process.found == [ONE, OTHER, THIRD]


async def test_another_store_in_its_place_drops_everything(wiki: WikiInStore) -> None:
    await wiki.do(record_changes, [change(ONE)])
    process = await follower(wiki)
    process.keep()
    await wiki.execute("TRUNCATE change RESTART IDENTITY")
    await process.watch.follow()
    assert process.found == []
    process.keep()
    await wiki.do(record_changes, [change(OTHER)])
    await process.watch.follow()
    assert process.found == [ONE, THIRD]


async def test_while_the_store_is_away_nothing_is_dropped_and_two_lines_are_logged(
    database: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(change_watch, "_PAUSE_S", 0.02)
    monkeypatch.setattr(change_watch, "_IDLE_S", 0.02)
    kept = AnswerCache()
    async with open_pool(database, size=1, part="test", timeout_s=0.05) as pool, ChangeWatch(pool, kept).open():
        kept.keep(ONE, b"x", "tag", [key(ONE)], kept.position)
        with caplog.at_level(logging.WARNING, logger="weboid"):
            async with pool.connection():
                await asyncio.sleep(0.4)
            assert kept.find(ONE) is not None
            await until(lambda: len(_lines(caplog)) == 2)
    assert "changes cannot be followed" in _lines(caplog)[0]
    assert "it is over" in _lines(caplog)[1]


def _lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == change_watch.__name__]


async def test_a_service_shows_by_itself_within_seconds_what_changed(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(change_watch, "_PAUSE_S", 0.05)
    monkeypatch.setattr(change_watch, "_IDLE_S", 0.05)
    path = "/api/page?dbname=testwiki@wmflabs&pageid=1&revid=7"
    async with open_service(database, tmp_path) as site:
        await site.text(path)
        asked = site.source.asked
        await site.text(path)
        assert site.source.asked == asked, "what is kept costs the wiki no question"
        await site.wiki.do(record_changes, [change(DEAD)])
        async with asyncio.timeout(30):
            while site.source.asked == asked:
                await site.text(path)
                await asyncio.sleep(0.02)
