"""The effects of event streams on the store (P-6).

One law: a batch takes effect in one transaction with the position after it, so each event counts exactly once; and an
event that comes again changes nothing more.
"""

from collections.abc import Sequence

from weboid.central.feed.feed_core import EventsDone, StreamMove, WikiEvents
from weboid.central.lending import Lender
from weboid.errors import StoreError
from weboid.store.db.anew import all_begun_anew
from weboid.store.db.pool import Connection
from weboid.store.pages.page import Intake, PageChanges, record_intake
from weboid.store.pages.page_pass import list_in_trees
from weboid.store.pages.pending import Pending, record_pending
from weboid.store.pages.spam import are_in_force
from weboid.store.pages.stream import (
    Position,
    find_position,
    has_category,
    list_watched,
    record_later,
    record_move,
)


@all_begun_anew
class StoreStreams:
    """The effects of event streams."""

    def __init__(self, lender: Lender) -> None:
        self._lender = lender

    async def has_category(self) -> bool:
        """Whether any wiki has a category tree that pages may be put into."""
        async with self._lender.connection() as conn:
            return await has_category(conn)

    async def find_position(self, names: str) -> Position | None:
        """The position of that list; else of another list, of which only the moment can be used; else None."""
        async with self._lender.connection() as conn:
            return await find_position(conn, names)

    async def apply(self, events: Sequence[WikiEvents], move: StreamMove | None, day: int) -> EventsDone | None:
        """Records the effects of events with the position after them; None: the spam lists have changed, judge again.

        Nothing, if the streams have come there already. Raises StoreError if they are at neither position.
        """
        async with self._lender.connection() as conn:
            if not await are_in_force(conn, {each.wiki: each.stamp for each in events if each.added}):
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
    trees = await list_in_trees(conn, events.wiki, {given.category for given in events.categorised})
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
