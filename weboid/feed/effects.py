"""The effects of events on the store (P-6); ``feed/events`` parses them, ``feed/reread`` reads pages again.

A batch takes effect in one transaction with the position after it, so each event counts exactly once; and an event that
comes again changes nothing more.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from weboid.core.url.farms import Farm
from weboid.errors import StoreAway
from weboid.feed.events import HandedIn, LinksAdded, PageGone, PageHandedIn, Passed, Streams, Value, read
from weboid.feed.intake import WikiSpam, watched_urls
from weboid.feed.stream import RawEvent
from weboid.remote.feed.batches import CategorisedPage, NamedPage, StreamMove, WikiEvents
from weboid.remote.feed.calls import FeedStore
from weboid.store.pages.page import Added, Intake
from weboid.store.pages.stream import Position
from weboid.wiki.source import PageState

_TRIES: Final = 10
_SETTLED: Final = timedelta(minutes=10)
"""So long after its last edit a page is read again (D-494): most vandalism is reverted then, a series of edits over."""


@dataclass(frozen=True, slots=True)
class FollowedWiki:
    """A wiki whose events count: `wiki` is its number in the store.

    `covers` and `excludes` are the criteria as far as the page itself decides (P-4); `doubts`: an exclusion that only
    a walk decides may concern it. `tree_depth` is that of `Criteria`. `spam` judges the links (L-3).
    """

    wiki: int
    farm: Farm
    covers: Callable[[PageState], bool]
    excludes: Callable[[PageState], bool] = lambda page: False
    doubts: Callable[[PageState], bool] = lambda page: False
    tree_depth: int = 0
    spam: WikiSpam = field(default_factory=WikiSpam)

    def may_match(self, given: PageHandedIn) -> bool:
        """Returns whether a page that is handed in by id may match the criteria; also if too little is known of it.

        An edited one only if it certainly does: it was a redirect, else it would be watched, or is excluded.
        """
        if not given.is_article:
            return False
        is_edited = given.how is HandedIn.EDITED
        if given.namespace is None or not given.title:
            return not is_edited
        title = given.title.partition(":")[2] if given.namespace else given.title
        state = PageState(given.page, given.namespace, title, 0, None)
        return self.covers(state) and not self.excludes(state) and not (is_edited and self.doubts(state))


@dataclass(slots=True)
class Applied:
    """The totals of several batches. `kinds` counts events by kind; `moment` is that of the newest event."""

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
            case PageHandedIn(page=page, how=HandedIn.EDITED, moment=moment):
                # Whatever else has happened to the page says more of it.
                before = self.handed_in.get(page, value)
                self.handed_in[page] = replace(value, how=before.how, moment=max(moment, before.moment))
            case PageHandedIn(page=page):
                self.handed_in[page] = value


async def apply(
    core: FeedStore,
    batch: Sequence[RawEvent],
    streams: Streams,
    wikis: Mapping[str, FollowedWiki],
    *,
    before: tuple[str, str] | None,
    day: int,
    now: datetime,
) -> tuple[Applied, tuple[str, str] | None]:
    """Writes the effects of a batch, with the position after it; `wikis` by database name. Raises StoreError.

    `before` is the position as streams and event id; returned with what was done is the position now. A moment later
    than `now` counts as now: the lag is never negative.
    """
    readings = [read(event.data, streams, wikis) for event in batch]
    moments = [reading.moment for reading in readings if reading.moment]
    applied = Applied(len(batch), Counter(reading.kind for reading in readings))
    applied.moment = min(max(moments), now) if moments else None
    last_event_id = next((event.id for event in reversed(batch) if event.id), "")
    by_wiki: dict[str, WikiEffects] = {}
    for reading in readings:
        if not isinstance(reading.value, Passed):
            by_wiki.setdefault(reading.value.wiki, WikiEffects()).put(reading.value)
    plans = [(wikis[dbname], plan) for dbname, plan in sorted(by_wiki.items())]
    if not plans and not last_event_id:
        return applied, before
    after = Position(streams.names, last_event_id, applied.moment or now)
    move = StreamMove(before, after) if last_event_id else None
    events = [await _events(wiki, plan) for wiki, plan in plans]
    for _ in range(_TRIES):
        if (done := await core.streams.apply(events, move, day)) is not None:
            applied.intake, applied.handed_in = done
            return applied, after[:2] if move else before
        for wiki, plan in plans:
            if plan.added:
                await wiki.spam.renew()
        events = [await _events(wiki, plan) for wiki, plan in plans]
    raise StoreAway("the spam lists change again and again")


async def _events(wiki: FollowedWiki, plan: WikiEffects) -> WikiEvents:
    """The effects as the store takes them: links judged, pages compared with the criteria."""
    added: dict[int, Added] = {}
    stamp = None
    if plan.added:
        spam, stamp = await wiki.spam.judge()
        added = {page: watched_urls(given, wiki.farm, spam) for page, given in plan.added.items()}
    return WikiEvents(
        wiki.wiki,
        stamp,
        added,
        plan.gone,
        [
            NamedPage(page, given.moment + _SETTLED * (given.how is HandedIn.EDITED), wiki.may_match(given))
            for page, given in plan.handed_in.items()
        ],
        [page for page, given in plan.handed_in.items() if given.how in (HandedIn.MOVED, HandedIn.EDITED)],
        [CategorisedPage(given.title, given.category, given.moment) for given in plan.categorised],
        plan.later,
        plan.later_titles,
    )
