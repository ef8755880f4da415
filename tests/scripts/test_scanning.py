"""Scans over real servers: polite by domain, domains in parallel, not again too soon, nothing noted in doubt (B-3)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from time import monotonic

import pytest
from support.misbehaving import Act, Asked, HangUp, Site, head_only, name_server, reply, serve

from weboid.core.record.reasons import Outcome
from weboid.core.url.classify import classify
from weboid.core.wikitext.link_lists import PERMALIVE, SUBSCRIPTION
from weboid.errors import NoNetwork
from weboid_scripts.journal.journal_file import JournalFile
from weboid_scripts.weblinks.links_found import FoundLink
from weboid_scripts.weblinks.scan_memory import ScanMemory
from weboid_scripts.weblinks.scanning import Scanner, open_scanner

START = datetime(2026, 11, 22, 12, tzinfo=UTC)
PAUSE_S = 0.2
CODES = {"/gone": 404, "/fine": 200, "/walled": 403, "/busy": 503}


def found(url: str, *flags: str) -> FoundLink:
    link = classify(url, None)
    return FoundLink(url, str(link.url), link, frozenset(flags))


def answer(asked: Asked) -> Act:
    return head_only(asked, reply(CODES.get(asked.target, 404), body=b"<p>Words"))


def pages(site: Site) -> list[str]:
    return sorted({line.split()[1] for line in site.lines()} - {"/robots.txt"})


class Place:
    """A scanner of its own time over a little web."""

    def __init__(self, folder: Path) -> None:
        self.now = START
        self.file = JournalFile(folder / "journal.sqlite3")
        self.memory = ScanMemory(self.file)
        self.stack = AsyncExitStack()

    async def open(self, *, connections: int = 10) -> Scanner:
        return await self.stack.enter_async_context(
            open_scanner(self.memory, connections=connections, contact="User:Bot", apis=[], now=lambda: self.now)
        )


@pytest.fixture
async def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Place]:
    monkeypatch.setenv("WEBOID_NET_PERMIT", "127.0.0.0/8")
    monkeypatch.setenv("WEBOID_CRAWL_DELAY", "0")
    monkeypatch.setenv("WEBOID_NET_ANSWER_S", "5")
    place = Place(tmp_path)
    async with name_server({"": None, "a.site.org": ["127.0.0.1"], "b.site.org": ["127.0.0.1"]}) as names:
        monkeypatch.setenv("WEBOID_NET_DNS", names.address)
        async with place.stack:
            yield place
    place.file.close()


async def test_what_scans_find_is_remembered_and_not_requested_again_too_soon(place: Place) -> None:
    async with serve(answer) as site:
        links = [found(site.url(path)) for path in CODES]
        scanner = await place.open()
        scans = await scanner.scan(links)
        found_scans = {path: scans[str(found(site.url(path)).normal)] for path in CODES}
        assert {path: scan.outcome for path, scan in found_scans.items()} == {
            "/gone": Outcome.FAILING, "/fine": Outcome.WORKING, "/walled": Outcome.REFUSED, "/busy": Outcome.FAILING,
        }  # fmt: skip
        gone, busy = found_scans["/gone"], found_scans["/busy"]
        assert (gone.http, gone.reason, gone.failures, gone.since) == (404, "not-found", 1, START)
        assert busy.failures == 0
        assert place.memory.scans([link.normal for link in links]) == scans
        again = {2.9: [], 3: ["/busy", "/gone"], 6.9: ["/busy", "/gone"], 7: ["/fine", "/walled"], 9.9: ["/busy"]}
        for days, paths in (again | {13.9: ["/busy", "/gone"]}).items():
            site.asked.clear()
            place.now = START + timedelta(days=days)
            await scanner.scan(links)
            assert pages(site) == paths, days
    assert next(iter(place.memory.scans([found(site.url("/gone")).normal]).values())).is_dead


async def test_requests_to_one_domain_keep_the_pause_whatever_its_hosts(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEBOID_CRAWL_DELAY", str(PAUSE_S))
    moments = []

    def noted(asked: Asked) -> Act:
        moments.append(monotonic())
        return answer(asked)

    async with serve(noted) as site:
        hosts = ("a.site.org", "b.site.org")
        scans = await (await place.open()).scan([found(site.url("/fine", host)) for host in hosts])
    assert {scan.outcome for scan in scans.values()} == {Outcome.WORKING}
    assert len(moments) >= 2
    # What is measured is when requests came, so some hundredths of a second more or less.
    assert min(later - earlier for earlier, later in pairwise(moments)) > PAUSE_S * 0.8


async def test_other_domains_are_requested_meanwhile(place: Place) -> None:
    met = asyncio.Event()

    async def after_the_other(asked: Asked) -> AsyncIterator[bytes]:
        await met.wait()
        yield head_only(asked, reply(200, body=b"<p>Words"))

    def meeting(asked: Asked) -> Act:
        met.set()
        return answer(asked)

    async with serve(after_the_other) as slow, serve(meeting, "127.0.0.2") as other:
        scans = await (await place.open()).scan([found(slow.url("/fine")), found(other.url("/fine"))])
    assert {scan.outcome for scan in scans.values()} == {Outcome.WORKING}


async def test_what_the_wiki_decides_is_not_requested(place: Place) -> None:
    async with serve(answer) as site:
        links = [found(site.url("/fine"), PERMALIVE), found(site.url("/gone"), SUBSCRIPTION)]
        assert await (await place.open()).scan(links) == {}
        assert site.asked == []


async def test_private_addresses_are_not_requested(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WEBOID_NET_PERMIT")
    async with serve(answer) as site, AsyncExitStack() as place.stack:
        scans = await (await place.open()).scan([found(site.url("/gone"))])
        assert site.asked == []
    assert {scan.reason for scan in scans.values()} == {"not-public"}
    assert {scan.failures for scan in scans.values()} == {0}


async def test_without_a_network_nothing_is_noted(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    async with serve(lambda _: HangUp()) as site, name_server({}) as nobody:
        monkeypatch.setenv("WEBOID_NET_DNS", nobody.address)
        link = found(site.url("/gone", "a.site.org"))
        with pytest.raises(NoNetwork, match="no name server answers"):
            await (await place.open()).scan([link])
    assert place.memory.scans([link.normal]) == {}
