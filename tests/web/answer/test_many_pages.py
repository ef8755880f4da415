"""W-8: a form may name 500 pages, which are served as stored: complete, once each, with few statements."""

import json
from pathlib import Path
from typing import Any

import psycopg
import pytest
from lxml import etree
from support.observations import LOST
from support.stored import key
from support.webservice import DEAD, FixedSource, Site, open_service, record_weeks

from weboid.store.lists.logs import SQL as FOLLOWING
from weboid.store.pages.spam import record_spam_links

WIKI = "testwiki@wmflabs"
LARGE = 3_000
FEW = 3
MOST_STATEMENTS = 8
"""Of one answer: one of 500 links each, dead or not; of pages and wiki four together."""
MISSING = range(900, 920)
LARGE_PAGES = (150, 380)
SPAM_PAGE = 200
PAGES = (*range(101, 581), *MISSING)
"""500 ids, 20 of which are no pages."""


def urls_of(page: int) -> set[str]:
    if page in LARGE_PAGES:
        return {f"http://p{page}.demo/{link}" for link in range(LARGE)}
    return {f"http://h{link}.demo/{page}" for link in range(page % (FEW + 1))}


def spam_of(page: int) -> set[str]:
    return {f"http://spam{link}.demo/" for link in range(4)} if page == SPAM_PAGE else set()


async def fill(site: Site) -> None:
    await site.wiki.take_in({page: urls_of(page) for page in PAGES if page not in MISSING}, 100)
    async with site.wiki.pool.connection() as conn:
        spam = {key(url): url for url in spam_of(SPAM_PAGE)}
        await record_spam_links(conn, site.wiki.wiki.wiki, {SPAM_PAGE: spam})
        # Of what is dead more is looked up: what people said of it, and its copies.
        dead = {url for page in PAGES if page % 2 for url in urls_of(page)}
        await record_weeks(conn, dead, lambda _: LOST)


async def sent(site: Site, **fields: str) -> tuple[int, str, str]:
    async with site.client.post(f"{site.url}/api/page", data={"dbname": WIKI, **fields}) as response:
        return response.status, response.content_type, await response.text()


async def parts(site: Site, **fields: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    after: dict[str, str] = {}
    while True:
        status, _, body = await sent(site, **fields, **after)
        assert status == 200, body
        found.append(json.loads(body))
        if found[-1]["continue"] is None:
            return found
        after = {"continue": found[-1]["continue"]}
        assert len(found) < 20


def collected(answers: list[dict[str, Any]]) -> dict[int, list[str]]:
    """The links by page, by the documented rule; in the order of the answers."""
    pages: dict[int, list[str]] = {}
    for page in (page for answer in answers for page in answer["pages"]):
        links = [link["normal"] for link in page["links"]]
        if page["part"] is None or page["part"]["from"] == 0:
            assert page["id"] not in pages
            pages[page["id"]] = []
        assert page["part"] is None or page["part"]["from"] == len(pages[page["id"]])
        pages[page["id"]] += links
    return pages


class Statements:
    """Counts the statements of our connections while an answer is made, but those of who follows the logs meanwhile."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        execute = psycopg.AsyncCursor.execute

        async def counted(cursor: Any, *given: Any, **more: Any) -> Any:
            self.count += given[0] not in FOLLOWING.values()
            return await execute(cursor, *given, **more)

        monkeypatch.setattr(psycopg.AsyncCursor, "execute", counted)


async def test_500_pages_come_complete_and_once_each_as_stored_with_few_statements(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_service(database, tmp_path) as site:
        await fill(site)
        ids = "|".join(map(str, PAGES))
        asked, statements = site.source.asked, Statements(monkeypatch)
        answers = await parts(site, pageid=ids, all="1")
        assert site.source.asked == asked
        assert statements.count <= MOST_STATEMENTS * len(answers)
        pages = collected(answers)
        assert list(pages) == [page for page in PAGES if page not in MISSING]
        for page, links in pages.items():
            assert sorted(links) == sorted(urls_of(page) | spam_of(page)), page
        assert [name for answer in answers for name in answer["missing"]] == [str(page) for page in MISSING]
        for answer in answers:
            assert sum(len(page["links"]) for page in answer["pages"]) <= 2_000
            assert not any(page["live"] for page in answer["pages"])
        # Whatever is shown of them, the pages are looked up together.
        before = statements.count
        (small,) = await parts(site, pageid="|".join(str(page) for page in PAGES if page not in LARGE_PAGES))
        assert len(small["pages"]) == len(PAGES) - len(MISSING) - len(LARGE_PAGES)
        assert statements.count - before <= MOST_STATEMENTS


async def test_fifty_pages_are_read_live_and_one_more_is_served_as_stored(site: Site) -> None:
    await site.wiki.take_in({page: urls_of(page) for page in range(301, 352)}, 100)
    fifty = "|".join(map(str, [1, *range(301, 350)]))
    (live,) = await parts(site, pageid=fifty)
    assert [page["live"] for page in live["pages"]] == [True]
    asked = site.source.asked
    (stored,) = await parts(site, pageid=f"{fifty}|350")
    assert (len(stored["pages"]), {page["live"] for page in stored["pages"]}) == (51, {False})
    # An id that is given twice is one.
    (live,) = await parts(site, pageid=f"{fifty}|1")
    assert ([page["live"] for page in live["pages"]], site.source.asked) == ([True], asked + 1)


async def test_a_stored_answer_that_somebody_has_is_not_made_again_until_it_changes(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def tag(site: Site, expected: int, has: str = "") -> str:
        path = f"/api/page?dbname={WIKI}&pageid=1|2|101&all=1"
        status, _, response = await site.fetch(path, If_None_Match=has)
        assert status == expected
        return response.headers["ETag"]

    silent = FixedSource(silent=True)
    async with (
        open_service(database, tmp_path, source=silent) as site,
        open_service(database, tmp_path, source=silent) as other,
    ):
        await site.wiki.take_in({101: {"http://fine.demo/1"}}, 100)
        first = await tag(site, 200)
        with monkeypatch.context() as patch:
            patch.setattr("weboid.web.answer.answers.Answers.report", None)
            assert await tag(other, 304, first) == first
        seen = [first]
        # A link more on the page, which is that of another one as well, another one, none, and one that is spam.
        for link in (DEAD, "http://fine.demo/", ""):
            await site.wiki.take_in({101: {"http://fine.demo/1", link} - {""}}, 100)
            seen.append(await tag(other, 200, seen[-1]))
        await site.wiki.do(
            record_spam_links, site.wiki.wiki.wiki, {101: {key("http://spam.demo/"): "http://spam.demo/"}}
        )
        await tag(other, 200, seen[-1])
        assert len(set(seen)) == 3
        assert seen[-1] == first


async def test_what_cannot_be_answered_gets_a_key_in_the_format_requested(site: Site) -> None:
    for fields, status, name in [
        ({"pageid": "|".join(map(str, range(1, 502)))}, 400, "too-many"),
        ({"title": "|".join(f"Page {page}" for page in range(501))}, 400, "too-many"),
        ({"pageid": "|".join(map(str, range(1, 101))), "continue": "100.0.0.0"}, 404, "continue"),
        ({"pageid": "|".join(map(str, range(1, 101))) + "|x"}, 400, "page-id"),
        ({"pageid": "|".join(map(str, range(10**10 - 500, 10**10)))}, 404, "unknown-page"),
        ({"title": "|".join("ж" * 150 for _ in range(600))}, 413, "form-too-long"),
    ]:
        got, kind, body = await sent(site, **fields)
        assert (got, kind, json.loads(body)["error"]["key"]) == (status, "application/json", f"weboid-error-{name}")
        assert len(body) < 2_000, fields
        if status != 413:
            got, kind, body = await sent(site, **fields, format="xml")
            error = etree.fromstring(body.encode()).find("error")
            assert error is not None
            assert (got, kind, error.get("key")) == (status, "application/xml", f"weboid-error-{name}")
