"""The effects of events on the store (P-6). Parsing events belongs to ``feed/events``, re-reads to ``feed/reread``.

One law: a batch takes effect in one transaction with the position after it, so each event counts exactly once; and an
event that comes again changes nothing more.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from weboid.core.url.farms import Farm
from weboid.core.url.spam_lines import SpamFilter
from weboid.feed.events import HandedIn, LinksAdded, PageGone, PageHandedIn, Passed, Reading, Streams, Value, read
from weboid.feed.intake import NO_SPAM, watched_urls
from weboid.feed.stream import RawEvent
from weboid.store.db.pool import Connection, Pool
from weboid.store.pages.page import Intake, PageChanges, record_intake
from weboid.store.pages.page_pass import list_in_trees
from weboid.store.pages.pending import Pending, record_pending
from weboid.store.pages.stream import Position, list_watched, record_later, record_position
from weboid.wiki.source import PageState


def _no(fact: object) -> bool:
    return False


async def _no_spam(conn: Connection) -> SpamFilter:
    return NO_SPAM


@dataclass(frozen=True, slots=True)
class FollowedWiki:
    """A wiki whose events count: `wiki` is its number in the store.

    `covers` and `excludes` are what the criteria decide by the page itself (P-4). `spam` finds the filter, which stays
    valid until the end of the transaction (L-3).
    """

    wiki: int
    farm: Farm
    covers: Callable[[PageState], bool]
    excludes: Callable[[PageState], bool] = _no
    spam: Callable[[Connection], Awaitable[SpamFilter]] = _no_spam

    def may_match(self, given: PageHandedIn) -> bool:
        """Whether a page that is handed in by id may match the criteria; true also if too little is known of it."""
        if given.namespace is None or not given.title:
            return True
        title = given.title.partition(":")[2] if given.namespace else given.title
        state = PageState(given.page, given.namespace, title, 0, None)
        return self.covers(state) and not self.excludes(state)


@dataclass(slots=True)
class Applied:
    """The totals of what batches have done. `kinds` counts events by kind; `moment` is that of the newest event."""

    events: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    intake: Intake = field(default_factory=Intake)
    handed_in: int = 0
    moment: datetime | None = None

    def __iadd__(self, other: "Applied") -> "Applied":
        self.events += other.events
        self.kinds += other.kinds
        self.intake += other.intake
        self.handed_in += other.handed_in
        self.moment = other.moment or self.moment
        return self


@dataclass(slots=True)
class WikiEffects:
    """The combined effects of a batch's events of one wiki; later events of a page override earlier ones."""

    added: dict[int, list[str]] = field(default_factory=dict)
    gone: dict[int, datetime] = field(default_factory=dict)
    handed_in: dict[int, PageHandedIn] = field(default_factory=dict)
    categorised: list[PageHandedIn] = field(default_factory=list)
    later: dict[int, datetime] = field(default_factory=dict)
    later_titles: dict[str, datetime] = field(default_factory=dict)

    def put(self, value: Value) -> None:
        """Adds the next event."""
        match value:
            case LinksAdded(_, page, title, urls, moment):
                self.added.setdefault(page, []).extend(urls)
                self.later[page] = max(moment, self.later.get(page, moment))
                if title:
                    self.later_titles[title] = max(moment, self.later_titles.get(title, moment))
            case PageGone(_, page, moment):
                self.added.pop(page, None)
                self.handed_in.pop(page, None)
                self.gone[page] = moment
            case PageHandedIn(how=HandedIn.CATEGORISED):
                self.categorised.append(value)
            case PageHandedIn(page=page):
                self.handed_in[page] = value


async def apply(
    pool: Pool,
    batch: Sequence[RawEvent],
    streams: Streams,
    wikis: Mapping[str, FollowedWiki],
    *,
    day: int,
    now: datetime,
) -> Applied:
    """Writes the effects of a batch, together with the position after it; `wikis` by database name. Raises StoreError.

    A moment later than `now` counts as now: the lag is never negative.
    """
    readings = [read(event.data, streams, wikis) for event in batch]
    moments = [reading.moment for reading in readings if reading.moment]
    applied = Applied(len(batch), Counter(reading.kind for reading in readings))
    applied.moment = min(max(moments), now) if moments else None
    last_event_id = next((event.id for event in reversed(batch) if event.id), "")
    plans = _plans(readings)
    if not plans and not last_event_id:
        return applied
    async with pool.connection() as conn:
        await _record_plans(conn, [(wikis[dbname], plan) for dbname, plan in sorted(plans.items())], day, applied)
        if last_event_id:
            await record_position(conn, Position(streams.names, last_event_id, applied.moment or now))
    return applied


def _plans(readings: Iterable[Reading]) -> dict[str, WikiEffects]:
    plans: dict[str, WikiEffects] = {}
    for reading in readings:
        if not isinstance(reading.what, Passed):
            plans.setdefault(reading.what.wiki, WikiEffects()).put(reading.what)
    return plans


async def _record_plans(
    conn: Connection, plans: Sequence[tuple[FollowedWiki, WikiEffects]], day: int, applied: Applied
) -> None:
    """Writes the effects of all wikis: on pages first, as all is locked in one order, then what is to be read."""
    pending: list[list[Pending]] = []
    changes: dict[int, PageChanges] = {}
    for wiki, plan in plans:
        touched = plan.gone.keys() | {page for page, given in plan.handed_in.items() if given.how is HandedIn.MOVED}
        watched = await list_watched(conn, wiki.wiki, touched) if touched else set()
        pending.append(_pending(wiki, plan, watched) + await _categorised(conn, wiki, plan))
        changes[wiki.wiki] = await _changes(conn, wiki, plan, watched, changes.get(wiki.wiki, PageChanges()))
    applied.intake += await record_intake(conn, changes, day)
    for (wiki, plan), waiting in zip(plans, pending, strict=True):
        await record_pending(conn, wiki.wiki, waiting)
        await record_later(conn, wiki.wiki, plan.later, plan.later_titles)
        applied.handed_in += len(waiting)


async def _changes(
    conn: Connection, wiki: FollowedWiki, plan: WikiEffects, watched: set[int], others: PageChanges
) -> PageChanges:
    """What happens to pages at once, besides what does by `others`.

    Deleted pages count as deleted, whatever was added to them before or later.
    """
    added = dict(others.added)
    if plan.added:
        spam = await wiki.spam(conn)
        added |= {page: watched_urls(given, wiki.farm, spam) for page, given in plan.added.items()}
    return PageChanges(added=added, gone=sorted({*others.gone, *(plan.gone.keys() & watched)}))


async def _categorised(conn: Connection, wiki: FollowedWiki, plan: WikiEffects) -> list[Pending]:
    """The pages that were put into a category of a criterion's tree."""
    if not plan.categorised:
        return []
    trees = await list_in_trees(conn, wiki.wiki, {given.category for given in plan.categorised})
    return [Pending(0, each.title, each.moment, True) for each in plan.categorised if each.category in trees]


def _pending(wiki: FollowedWiki, plan: WikiEffects, watched: set[int]) -> list[Pending]:
    """The pages to read once the source has come past the events.

    Watched pages that were deleted are among them: if the event was an old one that came again, this undoes it.
    """
    pending = [Pending(page, "", moment, True) for page, moment in plan.gone.items() if page in watched]
    for page, given in plan.handed_in.items():
        if page in watched or wiki.may_match(given):
            pending.append(Pending(page, "", given.moment))
    return pending
