"""A round whose store is away at moments between two statements, which a net alone does not hit by itself."""

import asyncio
from collections.abc import Mapping, Sequence

import pytest
from support.observations import FINE
from support.stored import NAMES_ALONE, WikiInStore, open_wiki

from weboid.config import CrawlConfig
from weboid.core.observe.check_request import CheckRequest
from weboid.core.observe.observation import Observation
from weboid.core.record.moment import Moment
from weboid.core.record.policy import DEFAULT
from weboid.crawl.round import Round
from weboid.errors import StoreAway
from weboid.remote.crawl.work import Work
from weboid.store.db.rows import HostKey, StoredUrl
from weboid.store.results.record import Checked, Tally
from weboid.store.schedule.lease import Held

_SETTINGS = CrawlConfig(delay=0.0)


class _Moments(Work):
    """The store as it is, but away so often when URLs are read, and from then on when results are to be written."""

    def __init__(self, wiki: WikiInStore, *, unread: int = 0, is_unwritable: bool = False) -> None:
        super().__init__(wiki.pool, "test", _SETTINGS, DEFAULT)
        self.unread = unread
        self.is_unwritable = is_unwritable
        self.refused = asyncio.Event()

    async def list_urls(self, hosts: Sequence[HostKey], day: int) -> Mapping[HostKey, list[StoredUrl]]:
        if self.unread and hosts:
            self.unread -= 1
            raise StoreAway("gone")
        return await super().list_urls(hosts, day)

    async def record(self, checks: Sequence[Checked], held: Held) -> Tally:
        if self.is_unwritable:
            self.refused.set()
            raise StoreAway("gone")
        return await super().record(checks, held)


def _round(work: _Moments, asked: list[str]) -> Round:
    async def ask(question: CheckRequest) -> Observation:
        asked.append(question.url)
        return FINE

    return Round(
        work,
        ask,
        NAMES_ALONE,
        now=lambda: Moment(100, None),
        config=_SETTINGS,
        connections=10,
        policy=DEFAULT,
        is_away=lambda: work.is_unwritable,
    )


async def test_hosts_that_were_taken_when_the_store_went_away_are_visited_later(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weboid.crawl.round._RETRY_S", 0.001)
    monkeypatch.setattr("weboid.crawl.round._RETRY_LIMIT_S", 0.01)
    urls = [f"http://h{host}.one.demo/" for host in range(30)]  # one domain, which has eight places
    async with open_wiki(database, {1: urls}) as wiki:
        asked: list[str] = []
        async with asyncio.timeout(60):
            tally = await _round(_Moments(wiki, unread=20), asked).run()
        assert tally.written == len(urls)
        assert sorted(asked) == sorted(urls)


async def test_a_round_that_cannot_write_ends_soon_after_a_stop_and_its_checks_are_made_again(
    database: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weboid.crawl.round._AWAY_GRACE_S", 0.2)
    monkeypatch.setattr("weboid.crawl.recorder._LAST_S", 0.2)
    urls = [f"http://h{host}.demo/" for host in range(12)]
    async with open_wiki(database, {1: urls}) as wiki:
        work = _Moments(wiki, is_unwritable=True)
        first = _round(work, [])
        running = asyncio.create_task(first.run())
        async with asyncio.timeout(60):
            await work.refused.wait()
            first.stop()
            tally = await running
        assert tally.written == 0
        assert "could not be written and will be made again" in caplog.text
        asked: list[str] = []
        assert (await _round(_Moments(wiki), asked).run()).written == len(urls)
        assert sorted(asked) == sorted(urls)
