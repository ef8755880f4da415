"""The interface of feeders on the store itself.

One law: links that are judged by spam lists are recorded only while these are in force. A refresh that changes a list
waits for the transaction, and then has what was recorded in it judged again. A batch of events takes effect in one
transaction with the position after it (P-6), so each event counts exactly once; one that comes again changes nothing
more.
"""

from collections.abc import Mapping, Sequence

from weboid.core.url.farms import Farm, WikiName
from weboid.core.url.spam_lines import SpamLines
from weboid.errors import StoreError
from weboid.mechanism.disturbance import Disturbance
from weboid.remote.feed.batches import EventsDone, JudgedPages, ListLines, Move, StreamMove, WikiEvents
from weboid.remote.feed.core import FeedCore
from weboid.remote.lending import Lender, OnStore, alone
from weboid.store.db.pool import Connection, Pool
from weboid.store.db.transactions import all_repeated
from weboid.store.pages import page_pass, spam
from weboid.store.pages.page import Intake, PageChanges, record_intake
from weboid.store.pages.page_pass import KnownPage
from weboid.store.pages.pending import Pending, is_waiting, list_pending, record_done, record_pending
from weboid.store.pages.spam import ListKind
from weboid.store.pages.stream import (
    Position,
    find_position,
    has_category,
    list_watched,
    record_later,
    record_move,
)
from weboid.store.pages.use import begin_intake
from weboid.store.pages.wiki import (
    StoredWiki,
    find_watch_list,
    list_wikis,
    record_namespaces,
    record_pass,
    record_watch_list,
    record_wiki,
)
from weboid.store.upkeep.alarm import AlarmKind, lower_alarm, record_alarms


def store_feed(pool: Pool) -> FeedCore:
    """All that a feeder next to the database needs."""
    return feed_by(pool, pool.away)


def feed_by(lender: Lender, away: Disturbance) -> FeedCore:
    """All that a feeder needs, with the connections of a lender."""
    return FeedCore(
        StoreWikis(lender),
        StorePasses(lender),
        StoreWaiting(lender),
        StoreStreams(lender),
        StoreLists(lender),
        StoreWatched(lender),
        away,
    )


@all_repeated
class StoreWikis(OnStore):
    """The table of wikis."""

    async def record(self, farm: Farm, name: WikiName, api: str | None) -> StoredWiki:
        async with self._lender.connection() as conn:
            return await record_wiki(conn, farm, name, api=api)

    list_all = alone(list_wikis)
    record_namespaces = alone(record_namespaces)


@all_repeated
class StorePasses(OnStore):
    """Passes over wikis, and what a dump gives of one."""

    start = alone(page_pass.record_start)

    async def meet(self, wiki: int, pages: Sequence[KnownPage], day: int, move: Move) -> None:
        async with self._lender.connection() as conn:
            await page_pass.record_touches(conn, wiki, pages, day)
            await page_pass.record_place(conn, wiki, *move)

    async def exclude(self, wiki: int, pages: Sequence[int], move: Move) -> None:
        async with self._lender.connection() as conn:
            await page_pass.record_exclusions(conn, wiki, pages)
            await page_pass.record_place(conn, wiki, *move)

    async def end_step(self, wiki: int, started: int, trees: Sequence[str], move: Move) -> None:
        async with self._lender.connection() as conn:
            if trees:
                await page_pass.record_trees(conn, wiki, started, trees)
            await page_pass.record_place(conn, wiki, *move)

    count = alone(page_pass.count_records)
    list_records = alone(page_pass.list_records)

    async def record(self, wiki: int, pages: JudgedPages, day: int, move: Move) -> Intake | None:
        async with self._lender.connection() as conn:
            if not await spam.are_in_force(conn, {wiki: pages.stamp}):
                return None
            changes = PageChanges(read=pages.read, gone=pages.gone, touches=False)
            intake = await record_intake(conn, {wiki: changes}, day)
            await page_pass.record_place(conn, wiki, *move)
            return intake

    async def record_all(self, wiki: int, pages: JudgedPages, day: int) -> Intake | None:
        """Records pages of a dump; None: the spam lists have changed, judge again. Only next to the database."""
        async with self._lender.connection() as conn:
            if not await spam.are_in_force(conn, {wiki: pages.stamp}):
                return None
            return await record_intake(conn, {wiki: PageChanges(read=pages.read)}, day)

    end = alone(page_pass.record_end)
    end_dump = alone(record_pass)
    """Records that a dump was read to its end, which is as good as a pass. Only next to the database."""


@all_repeated
class StoreWaiting(OnStore):
    """The queue of pages that wait."""

    list_waiting = alone(list_pending)
    list_watched = alone(list_watched)

    async def record(self, wiki: int, pages: JudgedPages, done: Sequence[Pending], day: int) -> Intake | None:
        async with self._lender.connection() as conn:
            if not await spam.are_in_force(conn, {wiki: pages.stamp}):
                return None
            # A call that comes late finds that they wait no more (D-449).
            # Under this lock no other feeder reads them meanwhile; no row of theirs is locked, as pages come first.
            await begin_intake(conn)
            if not await is_waiting(conn, wiki, done):
                return Intake()
            intake = await record_intake(conn, {wiki: PageChanges(read=pages.read, gone=pages.gone)}, day)
            await record_done(conn, wiki, done)
            return intake


@all_repeated
class StoreLists(OnStore):
    """The spam lists of wikis and farms, and links that are judged by them again."""

    async def find(self, farm: int, of: str, known: tuple[str, ...] | None) -> ListLines | None:
        async with self._lender.connection() as conn:
            stamp = (await spam.list_stamps(conn, farm, of))[of]
            if stamp == known:
                return None
            lists = [each for each in await spam.list_spam_lists(conn, farm, of) if each.dbname == of] if stamp else []
            black = (line for each in lists if each.kind is ListKind.BLACK for line in each.lines)
            white = (line for each in lists if each.kind is ListKind.WHITE for line in each.lines)
            return ListLines(stamp, tuple(black), tuple(white))

    async def is_fresh(self, farm: int, of: str, day: int) -> bool:
        async with self._lender.connection() as conn:
            own = [each for each in await spam.list_spam_lists(conn, farm, of) if each.dbname == of]
            return bool(own) and all(each.day >= day for each in own)

    async def record(self, farm: int, of: str, fetched: Mapping[ListKind, SpamLines], day: int) -> bool:
        """Lines that were added or removed in a refresh that was broken off count, too."""
        async with self._lender.connection() as conn:
            known = {each.kind: each for each in await spam.list_spam_lists(conn, farm, of) if each.dbname == of}
            changed = any(
                set(lines.usable) != set(known[kind].lines) if kind in known else bool(lines.usable)
                for kind, lines in fetched.items()
            ) or any(each.day == spam.UNAPPLIED for each in known.values())
            for kind, lines in fetched.items():
                await spam.record_spam_list(
                    conn, spam.spam_list(farm, of, kind, spam.UNAPPLIED if changed else day, lines)
                )
        return changed

    find_stretch = alone(spam.find_stretch)
    reclassify = alone(spam.record_reclassified)

    async def record_applied(self, farm: int, of: str, day: int) -> None:
        async with self._lender.connection() as conn:
            await spam.record_applied(conn, farm, of, day)


@all_repeated
class StoreWatched(OnStore):
    """The stored page, and its alarm."""

    find = alone(find_watch_list)

    async def record(self, source: str, text: str | None, fault: str, day: int) -> None:
        async with self._lender.connection() as conn, conn.transaction():
            await record_watch_list(conn, source, text, fault)
            await record_alarms(conn, AlarmKind.WATCHED, {"": fault} if fault else {}, day)

    async def lower(self) -> None:
        async with self._lender.connection() as conn:
            await lower_alarm(conn, AlarmKind.WATCHED, "")


@all_repeated
class StoreStreams(OnStore):
    """Events, and the position after them."""

    has_category = alone(has_category)

    async def find_position(self, names: str) -> Position | None:
        async with self._lender.connection() as conn:
            return await find_position(conn, names)

    async def apply(self, events: Sequence[WikiEvents], move: StreamMove | None, day: int) -> EventsDone | None:
        async with self._lender.connection() as conn:
            if not await spam.are_in_force(conn, {each.wiki: each.stamp for each in events if each.added}):
                return None
            # The position first: of two who begin at the same one, the second waits here, and finds that it is gone.
            if move and not await record_move(conn, move.before, move.after):
                there = await find_position(conn, move.after.streams)
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
        watched = await list_watched(conn, each.wiki, touched) if touched else set()
        pending.append(_pending(each, watched) + await _categorised(conn, each))
        before = changes.get(each.wiki, PageChanges())
        # Deleted pages count as deleted, whatever was added to them before or later.
        gone = sorted({*before.gone, *(each.gone.keys() & watched)})
        changes[each.wiki] = PageChanges(added={**before.added, **each.added}, gone=gone)
    intake = await record_intake(conn, changes, day)
    handed_in = 0
    for each, waiting in zip(events, pending, strict=True):
        await record_pending(conn, each.wiki, waiting)
        await record_later(conn, each.wiki, each.later, each.later_titles)
        handed_in += len(waiting)
    return EventsDone(intake, handed_in)


async def _categorised(conn: Connection, events: WikiEvents) -> list[Pending]:
    """The pages that were put into a category of a criterion's tree."""
    if not events.categorised:
        return []
    trees = await page_pass.list_in_trees(conn, events.wiki, {given.category for given in events.categorised})
    return [Pending(0, each.title, each.moment, True) for each in events.categorised if each.category in trees]


def _pending(events: WikiEvents, watched: set[int]) -> list[Pending]:
    """The pages to read once the source has come past the events.

    Watched pages that were deleted are among them: if the event was an old one that came again, this undoes it.
    """
    pending = [Pending(page, "", moment, True) for page, moment in events.gone.items() if page in watched]
    pending += [
        Pending(given.page, "", given.moment) for given in events.named if given.page in watched or given.may_match
    ]
    return pending
