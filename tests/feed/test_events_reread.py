"""Reading pages again that were handed in: never before the source has come past their moment (P-6), and only what
matches (P-4). The source here is behind as far as the test wants; one test asks a replayed Action API.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from support.eventmaker import moment
from support.stored import WikiInStore, key, open_wiki

from weboid.core.url.farms import WMFLABS
from weboid.core.wikitext.titles import Namespace
from weboid.errors import SourceError
from weboid.feed.effects import FollowedWiki
from weboid.feed.reread import reread
from weboid.remote.feed.calls import local_feed_store
from weboid.store.pages.page import Intake
from weboid.store.pages.page_pass import record_trees
from weboid.store.pages.pending import Pending, list_pending, record_pending
from weboid.wiki.source import PageLinks, PageState, Selection, WalkBatch

A, B, C = "https://a.sample.de/", "https://b.sample.de/x?y=1+1", "http://c.sample.de/z"


@dataclass(frozen=True)
class Page:
    """A page at a moment; `urls` None = it is gone."""

    minute: float
    page: int
    urls: Sequence[str] | None
    namespace: int = 0
    title: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


class LaggingSource:
    """A wiki with a past: it answers as it was `lag_s` ago. Titles in `redirects` lead to pages."""

    def __init__(
        self,
        *past: Page,
        lag_s: float = 0.0,
        redirects: Mapping[str, int] | None = None,
        members: Mapping[str, Sequence[int]] | None = None,
        below: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.past = list(past)
        self.lag_s = lag_s
        self.members, self.below = members or {}, below or {}
        self.now = moment(0)
        self.redirects = redirects or {}
        self.asked: list[Sequence[int]] = []
        self.failing = False

    async def find_namespaces(self) -> Sequence[Namespace]:
        return ()

    async def find_lag_s(self) -> float:
        return self.lag_s

    async def find_states(self, ids: Sequence[int]) -> list[PageState]:
        if self.failing:
            raise SourceError("broken")
        assert len(ids) <= 1000
        return [
            PageState(each.page, each.namespace, self._title(each), int(each.minute) + 1, None, **each.facts)
            for page, each in sorted(self._there().items())
            if page in ids
        ]

    async def find_pages(self, *, ids: Sequence[int] = (), titles: Sequence[str] = ()) -> list[PageLinks]:
        self.asked.append(ids)
        there = self._there()
        wanted = {*ids, *(self.redirects[title] for title in titles if title in self.redirects)}
        wanted |= {page for page, each in there.items() if self._full(each) in titles}
        return [
            PageLinks(
                page, each.namespace, self._title(each), int(each.minute) + 1, None, tuple(sorted(each.urls or ()))
            )
            for page, each in sorted(there.items())
            if page in wanted
        ]

    async def walk(self, selection: Selection, place: str = "") -> AsyncGenerator[WalkBatch, None]:
        title = str(selection.values["title"])
        if selection.values["types"] == "page":
            yield WalkBatch(await self.find_states(self.members.get(title, ())), "")
        else:
            yield WalkBatch([PageState(99, 14, name, 1, None) for name in self.below.get(title, ())], "")

    async def close(self) -> None:
        pass

    def _there(self) -> dict[int, Page]:
        seen = self.now - timedelta(seconds=self.lag_s)
        newest = {
            each.page: each for each in sorted(self.past, key=lambda each: each.minute) if moment(each.minute) <= seen
        }
        return {page: each for page, each in newest.items() if each.urls is not None}

    def _title(self, each: Page) -> str:
        return each.title or f"Page {each.page}"

    def _full(self, each: Page) -> str:
        return f"Talk:{self._title(each)}" if each.namespace else self._title(each)


class Rereader:
    """A store, a source, and pages that wait."""

    def __init__(self, stored: WikiInStore, source: LaggingSource, **more: Any) -> None:
        self.stored = stored
        self.source = source
        self.wiki = FollowedWiki(stored.wiki.wiki, WMFLABS, lambda page: page.namespace == 0, **more)

    async def hand_in(self, *pages: Pending) -> None:
        await self.stored.do(record_pending, self.wiki.wiki, pages)

    async def run(self, minute: float, **more: Any) -> Intake:
        self.source.now = moment(minute)
        return await reread(
            local_feed_store(self.stored.pool),
            self.source,
            self.wiki,
            day=300,
            now=moment(minute),
            **{"margin_s": 0.0, **more},
        )

    async def waiting(self) -> list[Pending]:
        return await self.stored.do(list_pending, self.wiki.wiki, moment(10_000), 1000)

    async def uses(self) -> set[tuple[object, ...]]:
        return set(await self.stored.rows("SELECT page, url_key FROM link"))


@asynccontextmanager
async def rereading(
    database: str, pages: dict[int, Sequence[str]], source: LaggingSource, **more: Any
) -> AsyncIterator[Rereader]:
    async with open_wiki(database, pages) as stored:
        yield Rereader(stored, source, **more)


def use(page: int, url: str) -> tuple[int, int]:
    return page, key(url).url_key


def waits(page: int, minute: float, matched: bool = False, title: str = "") -> Pending:
    return Pending(page, title, moment(minute), matched)


async def test_a_page_is_read_only_once_the_source_has_come_past_its_moment(database: str) -> None:
    source = LaggingSource(Page(0, 1, [A]), Page(5, 1, [A, B]), Page(5, 2, [C]), lag_s=600)
    async with rereading(database, {1: [A]}, source) as wiki:
        await wiki.hand_in(waits(1, 5), waits(2, 5))
        assert await wiki.run(14.9) == Intake()
        assert source.asked == []
        done = await wiki.run(15)
        assert (done.pages_new, done.links_new) == (1, 2)
        assert await wiki.uses() == {use(1, A), use(1, B), use(2, C)}
        assert await wiki.waiting() == []
        # The servers of a source get a margin.
        await wiki.hand_in(waits(2, 20))
        source.past.append(Page(20, 2, [A]))
        assert await wiki.run(30 + 9 / 60, margin_s=10.0) == Intake()
        assert (await wiki.run(30 + 11 / 60, margin_s=10.0)).links_new == 1


async def test_only_what_matches_a_criterion_is_watched_from_now_on(database: str) -> None:
    past = [
        *(Page(0, page, [A], namespace=int(page > 1)) for page in (1, 2, 3, 4)),
        Page(0, 5, [A], facts={"redirect": True}),
        Page(0, 6, [A], facts={"model": "json"}),
        Page(0, 7, [A], title="No"),
    ]
    async with rereading(database, {4: []}, LaggingSource(*past), excludes=lambda page: page.title == "No") as wiki:
        await wiki.hand_in(*(waits(page, 1, matched=page in (3, 7)) for page in range(1, 8)))
        await wiki.run(2)
        # Covered by its namespace; known to match; watched before. Not at all, and what is never watched.
        assert await wiki.uses() == {use(1, A), use(3, A), use(4, A)}
        assert await wiki.waiting() == []


async def test_a_watched_page_that_matches_no_more_is_read_but_not_touched_and_released_without_wikitext(
    database: str,
) -> None:
    past = [
        Page(0, 1, [B], facts={"redirect": True}),
        Page(0, 2, [B], namespace=1),
        Page(0, 3, [], facts={"model": "json"}),
    ]
    async with rereading(database, {1: [A], 2: [A], 3: [A]}, LaggingSource(*past)) as wiki:
        before = await wiki.stored.rows("SELECT page, touched FROM page WHERE page < 3")
        await wiki.hand_in(*(waits(page, 1) for page in (1, 2, 3)))
        await wiki.run(2)
        assert await wiki.uses() == {use(1, B), use(2, B)}
        assert await wiki.stored.rows("SELECT page, touched FROM page") == before


async def test_what_is_gone_is_released(database: str) -> None:
    async with rereading(database, {1: [A]}, LaggingSource(Page(0, 1, [A]), Page(3, 1, None))) as wiki:
        await wiki.hand_in(waits(1, 2))
        assert (await wiki.run(2)).pages_gone == 0
        await wiki.hand_in(waits(1, 3, matched=True))
        assert (await wiki.run(4)).pages_gone == 1
        assert await wiki.uses() == set()
        # One that an old event, which came again, has released comes back.
        wiki.source.past.append(Page(5, 1, [B], namespace=1))
        await wiki.hand_in(waits(1, 0, matched=True))
        await wiki.run(6)
        assert await wiki.uses() == {use(1, B)}


async def test_a_title_that_redirects_is_not_what_was_categorised(database: str) -> None:
    past = [Page(0, 1, [A], namespace=1), Page(0, 2, [B], namespace=1), Page(0, 3, [C])]
    async with rereading(database, {}, LaggingSource(*past, redirects={"Old": 2, "Older": 3})) as wiki:
        titles = ["Talk:Page 1", "Old", "Older", "Nowhere"]
        await wiki.hand_in(*(waits(0, 1, matched=True, title=title) for title in titles))
        await wiki.run(2)
        assert await wiki.uses() == {use(1, A), use(3, C)}
        assert await wiki.waiting() == []


async def test_a_category_that_is_new_in_a_tree_extends_it_as_deep_as_the_tree_may_be(database: str) -> None:
    """ "Old" is in the tree already; "Deepest" would be too deep; and the tree's root lies below again, a cycle."""
    below = {"Root": ["Old", "New"], "New": ["Deep", "Root"], "Deep": ["Deepest"], "Old": ["Unseen"]}
    members = {"New": [1, 2], "Deep": [3], "Deepest": [4], "Old": [5]}
    redirect = Page(0, 2, [A], facts={"redirect": True})
    past = [redirect, *(Page(0, page, [A], namespace=1) for page in (1, 3, 4, 5))]
    source = LaggingSource(*past, members=members, below=below)
    async with rereading(database, {}, source, tree_depth=2) as wiki:
        await wiki.stored.do(record_trees, wiki.wiki.wiki, 100, {"Root": 0, "Old": 1})
        await wiki.hand_in(*(waits(0, 1, title=f"Category:{name}", matched=True) for name in ("Root", "Nowhere")))
        assert (await wiki.run(2)).pages_new == 2
        assert await wiki.uses() == {use(1, A), use(3, A)}
        trees = {("Root", 0, 100), ("Old", 1, 100), ("New", 1, 300), ("Deep", 2, 300)}
        assert set(await wiki.stored.rows("SELECT title, depth, started FROM category")) == trees
        assert await wiki.waiting() == []


async def test_pages_go_on_waiting_where_the_source_fails_and_many_are_read_in_batches(database: str) -> None:
    source = LaggingSource(*(Page(0, page, [A]) for page in range(1, 26)))
    async with rereading(database, {}, source) as wiki:
        await wiki.hand_in(*(waits(page, 1) for page in range(1, 26)))
        source.failing = True
        with pytest.raises(SourceError):
            await wiki.run(2)
        source.failing = False
        assert (await wiki.run(2, batch=10)).pages_new == 25
    assert [len(ids) for ids in source.asked] == [10, 10, 5]


async def test_a_page_that_is_handed_in_again_while_it_is_read_stays(database: str) -> None:
    class Slow(LaggingSource):
        async def find_states(self, ids: Sequence[int]) -> list[PageState]:
            await wiki.hand_in(waits(1, 7))
            return await super().find_states(ids)

    async with rereading(database, {1: []}, Slow(Page(0, 1, [A]))) as wiki:
        await wiki.hand_in(waits(1, 1))
        await wiki.run(2)
        assert await wiki.waiting() == [waits(1, 7)]
