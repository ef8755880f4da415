"""What batches of events do to a real store: links, pages that come and go, positions, replays. Reading pages again
that were handed in: never before the source has come past their moment (P-6), and only what matches (P-4). The
source here is behind as far as the test wants; one test asks a replayed Action API.
"""

import json
import random
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest
from support.eventmaker import categorised, change, links_added, moment
from support.sseserver import event_id
from support.stored import WikiInStore, key, open_wiki

from weboid.core.url.farms import WMFLABS
from weboid.core.url.spam_lines import SpamFilter
from weboid.core.wikitext.titles import Namespace
from weboid.errors import SourceError, StoreError
from weboid.feed.effects import Applied, FollowedWiki, apply
from weboid.feed.events import load_streams
from weboid.feed.intake import Judge, WikiSpam
from weboid.feed.reread import reread
from weboid.feed.stream import RawEvent
from weboid.remote.feed.calls import local_feed_store
from weboid.store.pages import stream
from weboid.store.pages.page import Intake, PageChanges, PageUrls, record_intake
from weboid.store.pages.page_pass import record_trees
from weboid.store.pages.pending import Pending, list_pending, record_pending
from weboid.store.pages.spam import list_spam_links
from weboid.store.pages.stream import Position, find_position, has_category
from weboid.store.pages.wiki import record_namespaces
from weboid.wiki.source import PageLinks, PageState, Selection, WalkBatch

STREAMS = load_streams()
A, B, C = "https://a.sample.de/", "https://b.sample.de/x?y=1+1", "http://c.sample.de/z"
END = moment(24 * 60)
STORED = (
    "SELECT 'page', page::text, encode(urls, 'hex') FROM page UNION SELECT 'link', page::text, url_key::text FROM link"
)


class Follower:
    def __init__(self, stored: WikiInStore, **more: Any) -> None:
        self.stored = stored
        self.wikis = {"testwiki": FollowedWiki(stored.wiki.wiki, WMFLABS, lambda page: page.namespace == 0, **more)}
        self.number = 0

    async def take(self, *events: Any, number: int | None = None) -> Applied:
        begin = self.number if number is None else number
        batch = [
            RawEvent(event_id(begin + at), each if isinstance(each, str) else json.dumps(each))
            for at, each in enumerate(events)
        ]
        self.number = begin + len(batch)
        core = local_feed_store(self.stored.pool)
        there = await core.streams.find_position(STREAMS.names)
        before = (there.streams, there.last_event_id) if there else None
        done, _ = await apply(core, batch, STREAMS, self.wikis, before=before, day=200, now=END)
        return done

    async def pending(self, until: datetime = END) -> list[Pending]:
        return await self.stored.do(list_pending, self.stored.wiki.wiki, until, 1000)

    async def links(self) -> set[tuple[object, ...]]:
        """(page, key of the URL) of all links."""
        return set(await self.stored.rows("SELECT page, url_key FROM link"))

    async def position(self, streams: str = STREAMS.names) -> Position | None:
        return await self.stored.do(find_position, streams)


@asynccontextmanager
async def following(database: str, pages: dict[int, Sequence[str]], **more: Any) -> AsyncIterator[Follower]:
    async with open_wiki(database, pages) as stored:
        yield Follower(stored, **more)


def use(page: int, url: str) -> tuple[int, int]:
    return page, key(url).url_key


async def test_added_links_are_known_at_once_on_watched_pages_only(database: str) -> None:
    async with following(database, {1: [A], 2: []}) as wiki:
        applied = await wiki.take(
            links_added(1, [A, B], 1), links_added(2, [C, "mailto:a@b.de"], 2), links_added(9, [C], 3)
        )
        assert await wiki.links() == {use(1, A), use(1, B), use(2, C)}
        assert (applied.intake.links_new, applied.intake.urls_new) == (2, 2)


async def test_an_added_link_survives_readings_of_a_copy_that_is_behind_even_if_it_was_there_before(
    database: str,
) -> None:
    """A link that was taken out and put back: in between the copy has none."""
    async with following(database, {1: [A], 2: []}) as wiki:
        await wiki.take(links_added(1, [A], 5), links_added(2, [B], 5))
        for minute, links in ((4, {use(1, A), use(2, B)}), (5, set())):
            read = [PageUrls(page, 0, f"Page {page}", 2, None, {}) for page in (1, 2)]
            changes = PageChanges(read=read, as_of=moment(minute))
            await wiki.stored.do(record_intake, {wiki.stored.wiki.wiki: changes}, 200)
            assert await wiki.links() == links


async def test_spam_is_not_taken_in(database: str) -> None:
    class Unwanted(WikiSpam):
        async def judge(self) -> Judge:
            return Judge(SpamFilter([r"b\.sample"]), None)

    async with following(database, {1: []}, spam=Unwanted()) as wiki:
        await wiki.take(links_added(1, [A, B], 1), links_added(7, [B], 2))
        assert await wiki.links() == {use(1, A)}
        assert await wiki.stored.do(list_spam_links, wiki.stored.wiki.wiki, [1, 7]) == {1: {key(B): B}}


async def test_a_deleted_page_is_released_and_looked_at_once_more(database: str) -> None:
    async with following(database, {1: [A], 2: [A, B]}) as wiki:
        applied = await wiki.take(change("delete", 2, 1), change("delete", 7, 2))
        assert await wiki.links() == {use(1, A)}
        assert applied.intake.pages_gone == 1
        # An old event that comes again must not take a page away permanently.
        assert await wiki.pending() == [Pending(2, "", moment(1), True)]


async def test_new_restored_and_moved_pages_wait_to_be_read_where_a_criterion_covers_them_or_may(database: str) -> None:
    async with following(database, {1: []}, excludes=lambda page: page.title == "Page 18") as wiki:
        applied = await wiki.take(change("create", 5, 1), change("undelete", 6, 2), change("move", 7, 3))
        assert await wiki.pending() == [Pending(page, "", moment(page - 4), False) for page in (5, 6, 7)]
        assert applied.handed_in == 3
        await wiki.take(
            change("create", 15, 1, namespace=1),
            change("move", 16, 2, namespace=1),
            change("move", 1, 3, namespace=1),  # it is watched
            change("create", 18, 4),
            change("create", 19, 5, is_redirect=True),
            change("create", 20, 6, namespace_id=None),  # these say too little of themselves
            change("create", 21, 7, page_title=7),
        )
        assert sorted(page for page, *_ in await wiki.pending()) == [1, 5, 6, 7, 20, 21]


async def test_an_edited_page_waits_a_while_if_it_is_watched_or_was_a_redirect(database: str) -> None:
    """What an edit changes besides external links is known only to the wiki: interwiki links, what was removed."""
    async with following(database, {1: [A], 2: [A]}, doubts=lambda page: page.title == "Page 8") as wiki:
        await wiki.take(
            *(change("edit", page, 1) for page in (1, 5, 8)),
            change("edit", 2, 2, is_redirect=True),
            change("edit", 6, 3, is_redirect=True),
            change("edit", 7, 3, namespace=1),
            change("edit", 9, 3, page_title=None),
            change("create", 8, 4),
        )
        assert await wiki.pending() == [
            *(Pending(page, "", moment(at), False) for page, at in ((8, 4), (1, 11), (5, 11), (2, 12)))
        ]


async def test_an_edit_after_another_change_does_not_hide_it(database: str) -> None:
    async with following(database, {1: [A]}, doubts=lambda page: True) as wiki:
        await wiki.take(change("create", 5, 1), change("edit", 5, 3), change("delete", 1, 3), change("edit", 1, 2))
        assert await wiki.pending() == [Pending(5, "", moment(3), False), Pending(1, "", moment(12), True)]


async def test_a_categorised_page_waits_only_where_the_category_lies_in_a_tree(database: str) -> None:
    async with following(database, {}) as wiki:
        async with wiki.stored.pool.connection() as conn:
            assert not await has_category(conn)
            await record_trees(conn, wiki.stored.wiki.wiki, 100, {"Small bridges": 0})
            assert await has_category(conn)
            await record_namespaces(conn, wiki.stored.wiki.wiki, [Namespace(14, "Kategorie")])
        await wiki.take(categorised("Talk:Big", "Rivers", 1), categorised("Little", "Small_bridges", 2))
        # What categories are new there is for the wiki to say: one may have been taken out as well.
        await wiki.take(categorised("Kategorie:Planks", "Small_bridges", 3), categorised("Kategorie:A", "Rivers", 3))
        waiting = [Pending(0, "Little", moment(2), True), Pending(0, "Category:Small bridges", moment(3), True)]
        assert await wiki.pending() == waiting


async def test_what_is_deleted_and_restored_in_a_batch_is_read_again_and_vice_versa_gone(database: str) -> None:
    async with following(database, {1: [A], 2: [A]}) as wiki:
        await wiki.take(
            links_added(1, [B], 1), change("delete", 1, 2), change("undelete", 1, 3), links_added(1, [C], 4)
        )
        await wiki.take(change("undelete", 5, 5), change("delete", 5, 6), change("move", 2, 5), change("delete", 2, 6))
        assert await wiki.links() == set()
        assert await wiki.pending() == [Pending(1, "", moment(4), True), Pending(2, "", moment(6), True)]


async def test_a_page_that_waits_is_not_read_before_its_newest_edit(database: str) -> None:
    """Else a source that is behind would take away the link that the edit has added."""
    async with following(database, {1: []}) as wiki:
        await wiki.take(change("create", 5, 1), change("move", 1, 1))
        await wiki.stored.do(record_pending, wiki.stored.wiki.wiki, [Pending(0, "Talk:Page 5", moment(1), True)])
        await wiki.take(links_added(5, [A], 7, title="Talk:Page_5"), links_added(1, [B], 8), links_added(1, [C], 6))
        assert await wiki.pending(moment(6)) == []
        waiting = {(page, title): seen for page, title, seen, _ in await wiki.pending()}
        assert waiting == {(5, ""): moment(7), (0, "Talk:Page 5"): moment(7), (1, ""): moment(8)}


async def test_a_position_is_written_with_its_effects_or_not(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails(*_: object) -> None:
        raise StoreError("in the middle")

    async with following(database, {1: [A]}) as wiki:
        await wiki.take(links_added(1, [B], 1))
        assert await wiki.position() == Position(STREAMS.names, event_id(0), moment(1))
        monkeypatch.setattr(stream, "record_later", fails)
        with pytest.raises(StoreError, match="in the middle"):
            await wiki.take(change("delete", 1, 2), links_added(2, [C], 3))
        assert await wiki.position() == Position(STREAMS.names, event_id(0), moment(1))
        assert await wiki.links() == {use(1, A), use(1, B)}


async def test_events_without_effect_move_the_position_and_tell_the_lag(database: str) -> None:
    async with following(database, {1: []}) as wiki:
        canary = change("create", 5, 3)
        canary["meta"]["domain"] = "canary"
        applied = await wiki.take(change("create", 4, 2, wiki="frwiki"), canary, "junk", change("seen", 1, 1))
        assert applied.kinds == {"foreign": 1, "canary": 1, "malformed": 1, "nothing": 1}
        assert await wiki.position() == Position(STREAMS.names, event_id(3), moment(3))
        assert await wiki.pending() == []


async def test_a_moment_in_the_future_counts_as_now_and_another_list_of_streams_begins_there(database: str) -> None:
    async with following(database, {1: []}) as wiki:
        assert await wiki.position("other") is None
        await wiki.take(change("edit", 1, 60 * 24 * 365 * 900))
        assert await wiki.position("other") == Position(STREAMS.names, event_id(0), END)


def some_event(chance: random.Random) -> dict[str, Any]:
    page, minute = chance.randint(1, 3), chance.randint(0, 9)
    if chance.random() < 0.5:
        return links_added(page, chance.sample([A, B, C], chance.randint(1, 2)), minute)
    return change(chance.choice(["create", "delete", "delete", "undelete", "move", "edit"]), page, minute)


async def test_batches_of_any_size_come_to_the_same(database: str) -> None:
    """One event at a time is what happened; any batch must come to the same pages and links."""
    chance = random.Random(1)
    async with following(database, {}) as wiki:
        for case in range(12):
            events = [some_event(chance) for _ in range(chance.randint(2, 10))]
            ends = []
            for size in (1, 3, 10):
                await wiki.stored.take_in({1: [A], 2: [A, B], 3: []}, 100, latest=10 * case + size)
                for at in range(0, len(events), size):
                    await wiki.take(*events[at : at + size])
                ends.append(await wiki.stored.rows(STORED))
            assert ends == [ends[0]] * 3, events


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
