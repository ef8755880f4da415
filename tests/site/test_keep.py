"""What runs of a task remember, on a real PostgreSQL."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import process_time

import pytest

from weboid.core.document.links import DocumentLink
from weboid.core.observe.observation import Observation
from weboid.core.record.moment import Moment
from weboid.core.record.reasons import Reason
from weboid.core.record.status import Status, status_of
from weboid.core.url.urls import parse
from weboid.errors import ConfigError
from weboid.robot.orders import Orders
from weboid.site.keep import Remembered, RunMemory
from weboid.site.place import Place
from weboid.site.reading import kept_page, page_again, page_of
from weboid.store.db.pool import Pool
from weboid.store.site.entry import KeptPage, list_leading
from weboid.store.site.task import KEPT_DAYS

_ORIGIN = "http://site.test"
_URL = f"{_ORIGIN}/a.html"
_FINE = Observation(Status.FINE, Reason.OK, http=200)
_MISSING = Observation(Status.NOT_FOUND, Reason.NOT_FOUND, http=404)
_PAGE = KeptPage(
    b"hash",
    '"1"',
    "Sat, 28 Nov 2026 10:00:00 GMT",
    b"\x00\x01",
    False,
    "The site",
    "A description.",
    (
        DocumentLink("a", "https://Other.demo/x/../b#part", 3, 1),
        DocumentLink("a", "http://site.test/own", 3, 2),
        DocumentLink("a", "http://[", 3, 3),
        DocumentLink("a", "b.html#part", 3, 14, "the text", "nofollow"),
        DocumentLink("img", "ü.png", 4, 1),
    ),
)


@asynccontextmanager
async def _run(
    pool: Pool,
    day: int,
    name: str = "docs",
    origin: str = _ORIGIN,
    start: str = "http://site.test/",
    *,
    with_anchors: bool = False,
) -> AsyncIterator[RunMemory]:
    memory = RunMemory(pool, name, Moment(day), origin, with_anchors=with_anchors)
    async with memory.run([start], Orders(3, uses_cache=False)):
        yield memory


async def test_a_document_comes_back_in_the_next_run_as_it_was(pool: Pool) -> None:
    async with _run(pool, 100) as kept:
        assert await kept.known(_URL) == Remembered()
        await kept.note(_URL, _FINE, Remembered(), _PAGE)
        assert kept.is_done(_URL)
        await kept.end({"queued": 1}, is_whole=True)
    async with _run(pool, 101) as kept:
        assert not kept.is_done(_URL)
        known = await kept.known(_URL)
        assert known.page == _PAGE
        await kept.note(_URL, _FINE, known, _PAGE._replace(etag='"2"'))
        changed = _PAGE._replace(content_hash=b"other", links=())
        assert (await kept.known(_URL)).page == _PAGE._replace(etag='"2"')
        await kept.note(_URL, _FINE, known, changed)
        assert (await kept.known(_URL)).page == changed
        await kept.note(_URL, _MISSING, await kept.known(_URL))
        assert (await kept.known(_URL)).page is None


async def test_dead_since_grows_from_run_to_run_and_only_the_first_is_new(pool: Pool) -> None:
    found = []
    for day in (100, 107, 121):
        async with _run(pool, day) as kept:
            await kept.note(_URL, _MISSING, await kept.known(_URL))
            found.append((*kept.failure(_URL, ""), *kept.failure(f"{_URL}#part", "")))
            await kept.end({}, is_whole=True)
    assert found == [(17267, True) * 2, (17267, False) * 2, (17267, False) * 2]
    async with _run(pool, 122, with_anchors=True) as kept:
        await kept.note(_URL, _FINE, await kept.known(_URL))
        kept.dated(_URL, Place(_URL, "part", "", "a", "ok"))
        await kept.end({}, is_whole=True)
    async with _run(pool, 123) as kept:
        await kept.note(_URL, _MISSING, await kept.known(_URL))
        assert kept.failure(_URL, "") == kept.failure(f"{_URL}#part", "") == (17267 + 23, True)


async def test_a_fault_is_not_new_after_a_run_that_could_not_ask_for_it_or_got_no_verdict(pool: Pool) -> None:
    refused = Observation(status_of(403), Reason.FORBIDDEN, http=403)
    for day, seen in ((100, _MISSING), (101, None), (102, refused)):
        async with _run(pool, day) as kept:
            if seen:
                await kept.note(_URL, seen, await kept.known(_URL))
            await kept.end({}, is_whole=True)
    async with _run(pool, 103) as kept:
        await kept.note(_URL, _MISSING, await kept.known(_URL))
        assert not kept.failure(_URL, "")[1]
        await kept.note(_URL, _FINE, await kept.known(_URL))
        await kept.end({}, is_whole=True)
    async with _run(pool, 104) as kept:
        assert kept.failure(_URL, "")[1]


async def test_a_run_that_was_killed_goes_on_with_what_it_had_found(pool: Pool) -> None:
    moved = Observation(Status.MOVED_PERMANENTLY, Reason.MOVED, parse("http://site.test/new"), http=301)
    async with _run(pool, 100) as kept:
        await kept.note("http://site.test/gone", _MISSING, Remembered())
        await kept.end({}, is_whole=True)
    async with _run(pool, 101) as kept:
        run = kept.task.run
        await kept.note(_URL, _FINE, Remembered(), _PAGE)
        await kept.note("http://site.test/old", moved, Remembered())
        await kept.note("http://site.test/gone", _MISSING, await kept.known("http://site.test/gone"))
        await kept.note("http://site.test/new-gone", _MISSING, Remembered())
    async with _run(pool, 102) as kept:
        assert kept.task.run == run
        assert all(map(kept.is_done, (_URL, "http://site.test/old")))
        assert not kept.is_done("http://site.test/gone"), "it may have been repaired meanwhile"
        assert kept.resumed == 2
        assert (await kept.known(_URL)).page == _PAGE
        assert (await kept.known("http://site.test/old")).record.target == "http://site.test/new"
        assert not kept.failure("http://site.test/gone", "")[1]
        assert kept.failure("http://site.test/new-gone", "")[1]
    async with _run(pool, 104) as kept:
        assert kept.task.run == run + 1, "what it had found is too old"
        assert not kept.is_done(_URL)
        assert not kept.failure("http://site.test/gone", "")[1]
        assert kept.failure("http://site.test/new-gone", "")[1]


async def test_a_run_that_goes_on_with_fragments_asks_again_for_pages_without_their_anchors(pool: Pool) -> None:
    async with _run(pool, 100) as kept:
        await kept.note(_URL, _FINE, Remembered(), _PAGE._replace(ids=b""))
        await kept.note("http://site.test/b", _FINE, Remembered(), _PAGE)
    async with _run(pool, 100, with_anchors=True) as kept:
        assert (kept.is_done(_URL), kept.is_done("http://site.test/b")) == (False, True)


@pytest.mark.parametrize(("times", "is_whole"), [(10_001, True), (1, False)])
async def test_a_document_that_is_not_kept_is_asked_again_when_a_run_goes_on(
    pool: Pool, times: int, *, is_whole: bool
) -> None:
    page = _PAGE._replace(links=_PAGE.links * times)
    async with _run(pool, 100) as kept:
        await kept.note(_URL, _FINE, Remembered(), page, is_whole=is_whole)
    async with _run(pool, 100) as kept:
        assert not kept.is_done(_URL)
        assert (await kept.known(_URL)).page is None


async def test_tasks_and_urls_that_are_long_gone_are_deleted(pool: Pool) -> None:
    async with _run(pool, 100, name="past") as kept:
        await kept.note(_URL, _FINE, Remembered(), _PAGE)
        await kept.end({}, is_whole=True)
    async with _run(pool, 100, name="other") as kept:
        await kept.note(_URL, _FINE, Remembered(), _PAGE)
        await kept.note("http://site.test/#part", _MISSING, Remembered())
        await kept.end({}, is_whole=True)
    async with _run(pool, 100 + KEPT_DAYS, name="other") as kept:
        await kept.note(_URL, _FINE, await kept.known(_URL), _PAGE)
        await kept.end({}, is_whole=True)
    async with _run(pool, 101 + KEPT_DAYS, name="other") as kept:
        assert (await kept.known(_URL)).page == _PAGE
        assert await kept.known("http://site.test/#part") == Remembered()
        async with pool.connection() as conn:
            counts = await conn.execute(
                "SELECT (SELECT count(*) FROM robot_task), (SELECT count(*) FROM robot_entry), "
                "(SELECT count(*) FROM robot_page), (SELECT count(*) FROM robot_link)"
            )
            assert await counts.fetchone() == (1, 1, 1, 1)


async def test_a_task_is_not_taken_for_that_of_another_site(pool: Pool) -> None:
    async with _run(pool, 100) as kept:
        await kept.end({}, is_whole=True)
    async with _run(pool, 101, start="http://site.test/other"):
        pass
    with pytest.raises(ConfigError, match="'docs' remembers http"):
        async with _run(pool, 101, start="http://staging.test/"):
            pass


async def test_pages_of_mapped_sites_are_found_by_the_urls_of_others_to_which_they_lead(pool: Pool) -> None:
    async with _run(pool, 100) as run:
        await run.note(_URL, _FINE, Remembered(), _PAGE)
        await run.end({}, is_whole=True)
    async with pool.connection() as conn:
        found = await list_leading(conn, "https://other.demo/b", limit=2)
        assert found == [(_URL, "The site", "A description.")]
        assert len(await list_leading(conn, "http://site.test/own", limit=2)) == 1
        assert await list_leading(conn, "https://other.demo/", limit=2) == []


def test_a_page_is_read_with_its_own_words_in_linear_time() -> None:
    markup = "<title>\u202eThe &amp; site</title><meta name=description content='A \n description.'>"
    page = page_of(_URL, markup.encode(), {}, Orders(3), with_anchors=False)
    assert (page.title, page.description) == ("The & site", "A description.")
    kept = kept_page(page, {})
    assert page_again(_URL, kept).title == kept.title == "The & site"
    begun = process_time()
    page_of(_URL, b"<meta name=description content=' name=description " * 20_000, {}, Orders(3), with_anchors=False)
    assert process_time() - begun < 3
