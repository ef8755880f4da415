"""Look-ups and visits at a real archive, framed and unframed: what it has is found, and what it has not is never."""

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest
from support.little_archive import open_local_client
from support.pywb import RealArchive
from support.warcs import HTML

from weboid.archive.lookups.look_up import look_up
from weboid.archive.lookups.look_up_result import LookUpResult
from weboid.archive.service.replays import Replays
from weboid.core.archive.choice import Wish
from weboid.core.archive.outcomes import LookupOutcome
from weboid.core.archive.replay import ReplayResult
from weboid.core.archive.services import SERVICES, ArchiveService, Dialect
from weboid.core.url.keys import key_of
from weboid.core.url.urls import Url, parse
from weboid.store.archives.snapshot import Origin, StoredSnapshot

PAGE, MOVED, LATE, NEVER, BLOCKED, EXCLUDED = (
    parse(f"http://gone.example/{path}") for path in ("page?a=1", "moved", "late", "never", "blocked", "excluded")
)
TEXT = "".join(f"<p>On day {day} the ferry sailed {day % 5} times, as the tide allowed.\n" for day in range(60))
GOOD = f"<!doctype html><html lang=en><title>The article</title>{TEXT}</html>".encode()
TODAY = date(2026, 11, 1)
CITED = datetime(2017, 3, 1, tzinfo=UTC)
KINDS = pytest.mark.parametrize("kind", ["url", "framed"])


def at(year: int, month: int = 1) -> datetime:
    return datetime(year, month, 1, 10, 0, 0, tzinfo=UTC)


@pytest.fixture
def archive(real_archive: RealArchive) -> RealArchive:
    """A real archive with what a dead site leaves behind."""
    for year in (2012, 2016, 2019):
        real_archive.add(str(PAGE), at(year), body=GOOD)
    real_archive.add(str(PAGE), at(2017, 2), 301, {**HTML, "Location": "http://gone.example/"})
    real_archive.add(str(MOVED), at(2016), 301, {**HTML, "Location": "http://gone.example/"})
    real_archive.add("http://gone.example/", at(2016), body=GOOD)
    real_archive.add(str(LATE), at(2021), 404, HTML, b"<title>404</title>not here")
    for url in (BLOCKED, EXCLUDED):
        real_archive.add(str(url), at(2016), body=GOOD)
    real_archive.block(str(BLOCKED))
    real_archive.exclude(str(EXCLUDED))
    return real_archive


def service_of(archive: RealArchive, kind: str) -> ArchiveService:
    base: str = getattr(archive, kind)
    return replace(SERVICES["wayback"], dialect=Dialect.PYWB, base=base, public=base, per_minute=0, replay_per_minute=0)


async def found(archive: RealArchive, kind: str, url: Url) -> LookUpResult:
    wish = Wish(url, CITED, TODAY, date(2020, 1, 1))
    async with open_local_client() as client:
        return await look_up(client, [service_of(archive, kind)], wish)


@KINDS
async def test_the_copy_nearest_before_the_citation_is_found_with_two_requests(archive: RealArchive, kind: str) -> None:
    result = await found(archive, kind, PAGE)
    assert result.found
    assert (result.outcome, result.found.stamp) == (LookupOutcome.FOUND, 20160101100000)
    assert len(archive.log()) == result.requests == 2


@KINDS
async def test_what_it_has_not_or_does_not_show_is_told_apart(archive: RealArchive, kind: str) -> None:
    outcomes = {url.path: (await found(archive, kind, url)).outcome for url in (NEVER, LATE, MOVED, BLOCKED, EXCLUDED)}
    assert outcomes == {
        "/never": LookupOutcome.NONE,
        "/late": LookupOutcome.UNSUITABLE,
        "/moved": LookupOutcome.UNSUITABLE,
        "/blocked": LookupOutcome.EXCLUDED,
        # Its software hides what is excluded as if it had never been there: nobody can tell.
        "/excluded": LookupOutcome.NONE,
    }


@KINDS
async def test_a_visit_sees_at_once_that_a_copy_was_withdrawn(archive: RealArchive, kind: str) -> None:
    snapshot = StoredSnapshot(key_of(PAGE), SERVICES["wayback"].archive.number, 20160101100000, Origin.CHOSEN, 0)
    async with open_local_client() as client:
        replays = Replays(client, [service_of(archive, kind)])

        async def seen() -> ReplayResult:
            replayed = await replays.play(snapshot, PAGE)
            assert replayed
            return replayed.result

        assert await seen() is ReplayResult.PLAYS
        archive.block(str(PAGE))
        assert await seen() is ReplayResult.WITHDRAWN
        archive.release(str(PAGE))
        archive.exclude(str(PAGE))
        assert await seen() is ReplayResult.ABSENT
        archive.release(str(PAGE))
        assert await seen() is ReplayResult.PLAYS
