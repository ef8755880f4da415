"""What feeders need of the store, on the store itself; the effects of events are in ``store_streams``.

One law: links that are judged by spam lists are recorded only while these are in force. A refresh that changes a list
waits for the transaction, and then has what was recorded in it judged again.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from weboid.central.feed.feed_core import FeedCore, JudgedPages, ListLines, Move
from weboid.central.feed.store_streams import StoreStreams
from weboid.central.lending import Lender
from weboid.core.url.farms import Farm, WikiName
from weboid.core.url.keys import UrlKey
from weboid.core.url.spam_lines import SpamLines
from weboid.core.url.urls import Url
from weboid.core.wikitext.titles import Namespace
from weboid.mechanism.disturbance import Disturbance
from weboid.store.db.anew import all_begun_anew
from weboid.store.db.pool import Pool
from weboid.store.pages.page import Intake, PageChanges, record_intake
from weboid.store.pages.page_pass import (
    KnownPage,
    PageRecord,
    PassPosition,
    count_records,
    list_records,
    record_end,
    record_exclusions,
    record_place,
    record_start,
    record_touches,
    record_trees,
)
from weboid.store.pages.pending import Pending, is_waiting, list_pending, record_done
from weboid.store.pages.spam import (
    UNAPPLIED,
    ListKind,
    Reclassified,
    SpamBatch,
    SpamUses,
    are_in_force,
    find_stretch,
    list_spam_lists,
    list_stamps,
    record_applied,
    record_reclassified,
    record_spam_list,
    spam_list,
)
from weboid.store.pages.stream import list_watched
from weboid.store.pages.use import begin_intake
from weboid.store.pages.watch_list import StoredWatchList, find_watch_list, record_watch_list
from weboid.store.pages.wiki import StoredWiki, list_wikis, record_namespaces, record_pass, record_wiki
from weboid.store.upkeep.alarm import AlarmKind, lower_alarm, record_alarms


def store_feed(pool: Pool) -> FeedCore:
    """All that a feeder beside the database needs."""
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


class _OnStore:
    def __init__(self, lender: Lender) -> None:
        self._lender = lender


@all_begun_anew
class StoreWikis(_OnStore):
    """Wikis as they are stored."""

    async def record(self, farm: Farm, name: WikiName, api: str | None) -> StoredWiki:
        """The wiki, recorded if it was not known."""
        async with self._lender.connection() as conn:
            return await record_wiki(conn, farm, name, api=api)

    async def list_all(self) -> Sequence[StoredWiki]:
        """All wikis by farm and name."""
        async with self._lender.connection() as conn:
            return await list_wikis(conn)

    async def record_namespaces(self, wiki: int, names: Sequence[Namespace]) -> None:
        """Records how a wiki names its namespaces now."""
        async with self._lender.connection() as conn:
            await record_namespaces(conn, wiki, names)


@all_begun_anew
class StorePasses(_OnStore):
    """Passes over wikis, and what a dump gives of one."""

    async def start(self, wiki: int, plan: str, day: int) -> tuple[int, PassPosition]:
        """The day on which the pass under way began, and its position; begins a pass if there is none of this plan."""
        async with self._lender.connection() as conn:
            return await record_start(conn, wiki, plan, day)

    async def meet(self, wiki: int, pages: Sequence[KnownPage], day: int, move: Move) -> None:
        """Records pages that match the criteria."""
        async with self._lender.connection() as conn:
            await record_touches(conn, wiki, pages, day)
            await record_place(conn, wiki, *move)

    async def exclude(self, wiki: int, pages: Sequence[int], move: Move) -> None:
        """Makes pages count as never met."""
        async with self._lender.connection() as conn:
            await record_exclusions(conn, wiki, pages)
            await record_place(conn, wiki, *move)

    async def end_step(self, wiki: int, started: int, trees: Sequence[str], move: Move) -> None:
        """Ends the walk of a criterion, which found these categories in its trees."""
        async with self._lender.connection() as conn:
            if trees:
                await record_trees(conn, wiki, started, trees)
            await record_place(conn, wiki, *move)

    async def count(self, wiki: int, started: int) -> tuple[int, int]:
        """How many page records a wiki has, and how many of them the pass begun on that day has met."""
        async with self._lender.connection() as conn:
            return await count_records(conn, wiki, started)

    async def list_records(self, wiki: int, after: int, limit: int) -> Sequence[PageRecord]:
        """At most `limit` page records of a wiki after a page id, by id."""
        async with self._lender.connection() as conn:
            return await list_records(conn, wiki, after=after, limit=limit)

    async def record(self, wiki: int, pages: JudgedPages, day: int, move: Move) -> Intake | None:
        """Records pages that were read again, and releases others; None: the spam lists have changed, judge again."""
        async with self._lender.connection() as conn:
            if not await are_in_force(conn, {wiki: pages.stamp}):
                return None
            changes = PageChanges(read=pages.read, gone=pages.gone, touches=False)
            intake = await record_intake(conn, {wiki: changes}, day)
            await record_place(conn, wiki, *move)
            return intake

    async def record_all(self, wiki: int, pages: JudgedPages, day: int) -> Intake | None:
        """Records pages of a dump; None: the spam lists have changed, judge again. Only beside the database."""
        async with self._lender.connection() as conn:
            if not await are_in_force(conn, {wiki: pages.stamp}):
                return None
            return await record_intake(conn, {wiki: PageChanges(read=pages.read)}, day)

    async def end(self, wiki: int, started: int, day: int) -> None:
        """Completes the pass."""
        async with self._lender.connection() as conn:
            await record_end(conn, wiki, started, day)

    async def end_dump(self, wiki: int, day: int) -> None:
        """Records that a dump was read to its end, which is as good as a pass. Only beside the database."""
        async with self._lender.connection() as conn:
            await record_pass(conn, wiki, day)


@all_begun_anew
class StoreWaiting(_OnStore):
    """Pages that wait to be read between two passes."""

    async def list_waiting(self, wiki: int, until: datetime, limit: int) -> Sequence[Pending]:
        """At most `limit` pages whose moment is not after `until`, oldest first."""
        async with self._lender.connection() as conn:
            return await list_pending(conn, wiki, until, limit)

    async def list_watched(self, wiki: int, pages: Collection[int]) -> set[int]:
        """Which of these pages are watched."""
        async with self._lender.connection() as conn:
            return await list_watched(conn, wiki, pages)

    async def record(self, wiki: int, pages: JudgedPages, done: Sequence[Pending], day: int) -> Intake | None:
        """Records pages that waited, unless one of them waits no more; None: the spam lists have changed."""
        async with self._lender.connection() as conn:
            if not await are_in_force(conn, {wiki: pages.stamp}):
                return None
            # A call that comes late finds that they wait no more (D-449).
            # Under this lock no other feeder reads them meanwhile; no row of theirs is locked, as pages come first.
            await begin_intake(conn)
            if not await is_waiting(conn, wiki, done):
                return Intake()
            intake = await record_intake(conn, {wiki: PageChanges(read=pages.read, gone=pages.gone)}, day)
            await record_done(conn, wiki, done)
            return intake


@all_begun_anew
class StoreLists(_OnStore):
    """The spam lists of wikis and farms, and links that are judged by them again."""

    async def find(self, farm: int, of: str, known: tuple[str, ...] | None) -> ListLines | None:
        """The lists of a name; None if they still have the stamp that is known."""
        async with self._lender.connection() as conn:
            stamp = (await list_stamps(conn, farm, of))[of]
            if stamp == known:
                return None
            lists = [each for each in await list_spam_lists(conn, farm, of) if each.dbname == of] if stamp else []
            black = (line for each in lists if each.kind is ListKind.BLACK for line in each.lines)
            white = (line for each in lists if each.kind is ListKind.WHITE for line in each.lines)
            return ListLines(stamp, tuple(black), tuple(white))

    async def is_fresh(self, farm: int, of: str, day: int) -> bool:
        """Whether the lists were fetched on `day` or later, and have taken effect."""
        async with self._lender.connection() as conn:
            own = [each for each in await list_spam_lists(conn, farm, of) if each.dbname == of]
            return bool(own) and all(each.day >= day for each in own)

    async def record(self, farm: int, of: str, fetched: Mapping[ListKind, SpamLines], day: int) -> bool:
        """Stores the lists; returns whether links have to be judged again: because lines were added or removed, now or
        in a refresh that was broken off."""
        async with self._lender.connection() as conn:
            known = {each.kind: each for each in await list_spam_lists(conn, farm, of) if each.dbname == of}
            changed = any(
                set(lines.usable) != set(known[kind].lines) if kind in known else bool(lines.usable)
                for kind, lines in fetched.items()
            ) or any(each.day == UNAPPLIED for each in known.values())
            for kind, lines in fetched.items():
                await record_spam_list(conn, spam_list(farm, of, kind, UNAPPLIED if changed else day, lines))
        return changed

    async def find_stretch(self, wiki: int, after: int, limit: int) -> SpamBatch | None:
        """The next pages of a wiki, `limit` at most, after page `after`; None if there is none."""
        async with self._lender.connection() as conn:
            return await find_stretch(conn, wiki, after=after, limit=limit)

    async def reclassify(
        self, wiki: int, now_spam: SpamUses, no_spam: Mapping[int, Mapping[UrlKey, Url]], day: int
    ) -> Reclassified:
        """Turns uses into spam links and spam links into uses, unless they have changed since they were judged."""
        async with self._lender.connection() as conn:
            return await record_reclassified(conn, wiki, now_spam, no_spam, day)

    async def record_applied(self, farm: int, of: str, day: int) -> None:
        """Records that all links are judged by the lists as they were fetched on that day."""
        async with self._lender.connection() as conn:
            await record_applied(conn, farm, of, day)


@all_begun_anew
class StoreWatched(_OnStore):
    """The page that says which wikis are watched, as it was last read."""

    async def find(self, source: str) -> StoredWatchList | None:
        """The page of this name as it is stored; None if it was never read."""
        async with self._lender.connection() as conn:
            return await find_watch_list(conn, source)

    async def record(self, source: str, text: str | None, fault: str, day: int) -> None:
        """Stores a page as it was read just now, and raises the alarm of its fault, or lowers it."""
        async with self._lender.connection() as conn, conn.transaction():
            await record_watch_list(conn, source, text, fault)
            await record_alarms(conn, AlarmKind.WATCHED, {"": fault} if fault else {}, day)

    async def lower(self) -> None:
        """Lowers that alarm, since there is no such page any more."""
        async with self._lender.connection() as conn:
            await lower_alarm(conn, AlarmKind.WATCHED, "")
