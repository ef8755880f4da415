"""A feeder's calls that are about pages: wikis, passes, pages that wait, events (O-1).

Links that are judged by spam lists are recorded only while these are in force: a refresh that changes a list waits for
the transaction, and then has what was recorded in it judged again. A batch of events takes effect in one transaction
with the position after it (P-6), so each event counts exactly once; one that comes again changes nothing more.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from msgspec import Meta

from weboid.core.wikitext.titles import CATEGORY, NamespaceNames
from weboid.errors import StoreError
from weboid.remote.feed import wire
from weboid.remote.feed.batches import EventsDone, Move, WikiEvents
from weboid.remote.feed.wire import Limit, Plan, Trees, Wiki
from weboid.remote.http.rpc import OnStore, call
from weboid.remote.http.wire import Day, ThisDay
from weboid.store.db.pool import Connection
from weboid.store.db.transactions import all_repeated
from weboid.store.pages import page_pass, spam, stream
from weboid.store.pages.page import Intake, PageChanges, record_intake
from weboid.store.pages.page_pass import PageRecord, PassPosition
from weboid.store.pages.pending import BRANCH, Page, Pending, is_waiting, list_pending, record_done, record_pending
from weboid.store.pages.use import begin_intake
from weboid.store.pages.wiki import StoredWiki, list_namespaces, list_wikis, record_namespaces, record_wiki


@all_repeated
class StoredWikis(OnStore):
    """Wikis as they are stored."""

    @call("wiki")
    async def record(self, farm: wire.FarmName, name: wire.DbName, api: wire.Api) -> StoredWiki:
        """The wiki, recorded if it was not known."""
        return await self._run(record_wiki, farm, name, api=api)

    @call("wikis")
    async def list_all(self) -> Sequence[StoredWiki]:
        """All stored wikis, by farm and name."""
        return await self._run(list_wikis)

    @call("namespaces", is_once=True)
    async def record_namespaces(self, wiki: Wiki, names: wire.Namespaces) -> None:
        """Records how a wiki names its namespaces now."""
        await self._run(record_namespaces, wiki, names)


@all_repeated
class Passes(OnStore):
    """Passes over wikis. What moves a pass raises StoreError if it is not at the position before any more."""

    @call("start", is_once=True)
    async def start(self, wiki: Wiki, plan: Plan, day: ThisDay) -> tuple[int, PassPosition]:
        """The first day and the position of the pass under way; begins one if there is none of this plan."""
        return await self._run(page_pass.record_start, wiki, plan, day)

    @call("meet", is_once=True)
    async def meet(self, wiki: Wiki, pages: wire.MetPages, day: ThisDay, move: Move) -> None:
        """Records pages that match the criteria."""
        async with self._connections.connection() as conn:
            await page_pass.record_touches(conn, wiki, pages, day)
            await page_pass.record_place(conn, wiki, *move)

    @call("exclude", is_once=True)
    async def exclude(
        self, wiki: Wiki, pages: Annotated[Sequence[Page], Meta(max_length=wire.MOST_PAGES)], move: Move
    ) -> None:
        """Makes pages count as not met by this pass."""
        async with self._connections.connection() as conn:
            await page_pass.record_exclusions(conn, wiki, pages)
            await page_pass.record_place(conn, wiki, *move)

    @call("end-step", is_once=True)
    async def end_step(self, wiki: Wiki, started: Day, trees: Trees, move: Move) -> None:
        """Ends the walk of a criterion, which found these categories in its trees."""
        async with self._connections.connection() as conn:
            if trees:
                await page_pass.record_trees(conn, wiki, started, trees)
            await page_pass.record_place(conn, wiki, *move)

    @call("count")
    async def count(self, wiki: Wiki, started: Day) -> tuple[int, int]:
        """Numbers of a wiki's page records: of all, and of those that the pass begun on that day has met."""
        return await self._run(page_pass.count_records, wiki, started)

    @call("records")
    async def list_records(self, wiki: Wiki, after: Page, limit: Limit) -> Sequence[PageRecord]:
        """Page records of a wiki after a page id, by id, `limit` at most."""
        return await self._run(page_pass.list_records, wiki, after, limit)

    @call("walk", is_once=True)
    async def record(self, wiki: Wiki, pages: wire.WalkedPages, day: ThisDay, move: Move) -> Intake | None:
        """Records pages that were read again, and releases others; None: the spam lists have changed, judge again."""
        async with self._connections.connection() as conn:
            if not await spam.are_in_force(conn, {wiki: pages.stamp}):
                return None
            changes = PageChanges(read=pages.read, gone=pages.gone, as_of=pages.as_of)
            intake = await record_intake(conn, {wiki: changes}, day)
            await page_pass.record_place(conn, wiki, *move)
            return intake

    @call("end", is_once=True)
    async def end(self, wiki: Wiki, started: Day, day: ThisDay) -> None:
        """Completes the pass."""
        await self._run(page_pass.record_end, wiki, started, day)


@all_repeated
class PagesWaiting(OnStore):
    """Pages that wait to be read between two passes."""

    @call("waiting")
    async def list_waiting(self, wiki: Wiki, until: datetime, limit: Limit) -> Sequence[Pending]:
        """Pages whose moment is not after `until`, oldest first, `limit` at most."""
        return await self._run(list_pending, wiki, until, limit)

    @call("watched")
    async def list_watched(self, wiki: Wiki, pages: wire.SortedPages) -> set[int]:
        """The watched ones of these pages."""
        return await self._run(stream.list_watched, wiki, pages)

    @call("waited", is_once=True)
    async def record(self, wiki: Wiki, pages: wire.WaitedPages, done: wire.DonePages, day: ThisDay) -> Intake | None:
        """Records pages that waited; None: the spam lists have changed, judge again.

        If one of those `done` waits no more, another process has read it, perhaps later: then nothing is recorded.
        """
        async with self._connections.connection() as conn:
            if not await spam.are_in_force(conn, {wiki: pages.stamp}):
                return None
            # A call that comes late finds that they wait no more (D-449).
            # Under this lock no other feeder reads them meanwhile; no row of theirs is locked, as pages come first.
            await begin_intake(conn)
            if not await is_waiting(conn, wiki, done):
                return Intake()
            changes = PageChanges(read=pages.read, gone=pages.gone, as_of=pages.as_of)
            intake = await record_intake(conn, {wiki: changes}, day)
            await record_done(conn, wiki, done)
            return intake

    @call("trees")
    async def list_trees(self, wiki: Wiki, titles: wire.Titles) -> dict[str, int | None]:
        """The depth of those of these categories that are in a criterion's tree."""
        return await self._run(page_pass.list_in_trees, wiki, titles)

    @call("branch", is_once=True)
    async def extend(self, wiki: Wiki, trees: Trees, pages: wire.HandedPages, day: ThisDay) -> None:
        """Records categories that have come into a tree, and hands in pages of theirs."""
        async with self._connections.connection() as conn:
            await page_pass.record_trees(conn, wiki, day, trees)
            await record_pending(conn, wiki, pages)


@all_repeated
class FollowedStreams(OnStore):
    """The effects of event streams."""

    @call("has-category")
    async def has_category(self) -> bool:
        """True if any wiki has a category tree that pages may be put into."""
        return await self._run(stream.has_category)

    @call("position")
    async def find_position(self, names: stream.Streams) -> stream.Position | None:
        """The position of that list; else of another list, of which only the moment counts; else None."""
        return await self._run(stream.find_position, names)

    @call("apply", is_once=True)
    async def apply(self, events: wire.EventBatch, move: wire.OwnMove, day: ThisDay) -> EventsDone | None:
        """Records the effects of events with the position after them; None: the spam lists have changed, judge again.

        Nothing, if the streams have come there already. Raises StoreError if they are at neither position.
        """
        async with self._connections.connection() as conn:
            if not await spam.are_in_force(conn, {each.wiki: each.stamp for each in events if each.added}):
                return None
            # The position first: of two who begin at the same one, the second waits here, and finds that it is gone.
            if move and not await stream.record_move(conn, move.before, move.after):
                there = await stream.find_position(conn, move.after.streams)
                if there and (there.streams, there.last_event_id) == move.after[:2]:
                    return EventsDone(Intake(), 0)
                raise StoreError("another feeder follows the event streams: stop one of the two")
            return await _record(conn, events, day)


async def _record(conn: Connection, events: Sequence[WikiEvents], day: int) -> EventsDone:
    """Writes the effects of all wikis: on pages first, as all is locked in one order, then what is to be read."""
    pending: list[list[Pending]] = []
    changes: dict[int, PageChanges] = {}
    for each in events:
        touched = each.gone.keys() | set(each.moved)
        watched = await stream.list_watched(conn, each.wiki, touched) if touched else set()
        pending.append(_pending(each, watched) + await _categorised(conn, each))
        before = changes.get(each.wiki, PageChanges())
        # Deleted pages count as deleted, whatever was added to them before or later.
        gone = sorted({*before.gone, *(each.gone.keys() & watched)})
        added_at = {**before.added_at, **each.later}
        changes[each.wiki] = PageChanges(added={**before.added, **each.added}, added_at=added_at, gone=gone)
    intake = await record_intake(conn, changes, day)
    handed_in = 0
    for each, waiting in zip(events, pending, strict=True):
        await record_pending(conn, each.wiki, waiting)
        await stream.record_later(conn, each.wiki, each.later, each.later_titles)
        handed_in += len(waiting)
    return EventsDone(intake, handed_in)


async def _categorised(conn: Connection, events: WikiEvents) -> list[Pending]:
    """The pages that were put into a category of a criterion's tree, and those categories into which others were."""
    if not events.categorised:
        return []
    trees = await page_pass.list_in_trees(conn, events.wiki, {given.category for given in events.categorised})
    names = NamespaceNames(await list_namespaces(conn, events.wiki) if trees else ())
    pending = []
    for each in events.categorised:
        if each.category in trees:
            is_page = all(spot.namespace != CATEGORY for spot in names.spots(each.title))
            pending.append(Pending(0, each.title if is_page else BRANCH + each.category, each.moment, True))
    return pending


def _pending(events: WikiEvents, watched: set[int]) -> list[Pending]:
    """The pages to read once the source has come past the events.

    Watched pages that were deleted are among them: if the event was an old one that came again, this undoes it.
    """
    pending = [Pending(page, "", moment, True) for page, moment in events.gone.items() if page in watched]
    pending += [
        Pending(given.page, "", given.moment) for given in events.named if given.page in watched or given.may_match
    ]
    return pending
