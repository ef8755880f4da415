"""What feeders need of the store, over HTTP, for feeders elsewhere (O-1).

``central/http/calling`` makes the calls. One law: what has failed and is tried again with the same arguments is the
same request, so that it is done once.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from weboid.central.feed import feed_calls as calls
from weboid.central.feed.feed_core import EventsDone, FeedCore, JudgedPages, ListLines, Move, StreamMove, WikiEvents
from weboid.central.feed.sent_pages import MetPage, sent_added, sent_pages, sent_stamp
from weboid.central.http.calling import Caller
from weboid.central.http.kinds import OUR_SCHEME, Nothing, fit_detail
from weboid.core.url.farms import Farm, WikiName
from weboid.core.url.keys import UrlKey, key_of
from weboid.core.url.spam_lines import SpamLines
from weboid.core.url.urls import Url, parse
from weboid.core.wikitext.titles import Namespace
from weboid.errors import StoreError
from weboid.store.pages.page import Intake
from weboid.store.pages.page_pass import KnownPage, PageRecord, PassPosition
from weboid.store.pages.pending import Pending
from weboid.store.pages.spam import ListKind, Reclassified, SpamBatch, SpamUses
from weboid.store.pages.stream import Position
from weboid.store.pages.watch_list import StoredWatchList
from weboid.store.pages.wiki import StoredWiki


def remote_feed(caller: Caller) -> FeedCore:
    """All that a feeder elsewhere needs."""
    return FeedCore(
        RemoteWikis(caller),
        RemotePasses(caller),
        RemoteWaiting(caller),
        RemoteStreams(caller),
        RemoteLists(caller),
        RemoteWatched(caller),
        caller.away,
    )


async def greet_feed(caller: Caller) -> calls.FeedGreeting:
    """What the core says at the start; raises StoreAway, and StoreError if its keys are not ours (O-10)."""
    greeting = await caller.call(calls.GREET, Nothing())
    if greeting.scheme != OUR_SCHEME:
        raise StoreError(
            f"the core (version {greeting.version}) has keys of another URL form or suffix list than this program: "
            "use the same version here"
        )
    return greeting


class _Remote:
    def __init__(self, caller: Caller) -> None:
        self._caller = caller


class RemoteWikis(_Remote):
    """Wikis as they are stored, as in `StoredWikis`."""

    async def record(self, farm: Farm, name: WikiName, api: str | None) -> StoredWiki:
        """The wiki, recorded if it was not known."""
        return await self._caller.call(calls.WIKI, calls.FarmWiki(farm.name, name.dbname, api))

    async def list_all(self) -> Sequence[StoredWiki]:
        """All wikis by farm and name."""
        return await self._caller.call(calls.WIKIS, Nothing())

    async def record_namespaces(self, wiki: int, names: Sequence[Namespace]) -> None:
        """Records how a wiki names its namespaces now."""
        await self._caller.call(calls.NAMESPACES, calls.NamesOfWiki(wiki, list(names)))


class RemotePasses(_Remote):
    """Passes over wikis, as in `Passes`."""

    async def start(self, wiki: int, plan: str, day: int) -> tuple[int, PassPosition]:
        """The day on which the pass under way began, and its position; begins a pass if there is none of this plan."""
        return await self._caller.call(calls.START, calls.PassStart(wiki, plan, day))

    async def meet(self, wiki: int, pages: Sequence[KnownPage], day: int, move: Move) -> None:
        """Records pages that match the criteria."""
        met = [MetPage(page.page, page.namespace, page.title, page.mark) for page in pages]
        await self._caller.call(calls.MEET, calls.Met(wiki, met, day, _sent_move(move)))

    async def exclude(self, wiki: int, pages: Sequence[int], move: Move) -> None:
        """Makes pages count as never met."""
        await self._caller.call(calls.EXCLUDE, calls.Excluded(wiki, list(pages), _sent_move(move)))

    async def end_step(self, wiki: int, started: int, trees: Sequence[str], move: Move) -> None:
        """Ends the walk of a criterion, which found these categories in its trees."""
        await self._caller.call(calls.END_STEP, calls.StepEnd(wiki, started, list(trees), _sent_move(move)))

    async def count(self, wiki: int, started: int) -> tuple[int, int]:
        """How many page records a wiki has, and how many of them the pass begun on that day has met."""
        return await self._caller.call(calls.COUNT, calls.OfPass(wiki, started))

    async def list_records(self, wiki: int, after: int, limit: int) -> Sequence[PageRecord]:
        """At most `limit` page records of a wiki after a page id, by id."""
        return await self._caller.call(calls.RECORDS, calls.RecordsWanted(wiki, after, limit))

    async def record(self, wiki: int, pages: JudgedPages, day: int, move: Move) -> Intake | None:
        """Records pages that were read again, and releases others; None: the spam lists have changed, judge again."""
        given = calls.WalkedPages(
            wiki, sent_pages(pages.read), list(pages.gone), sent_stamp(pages.stamp), day, _sent_move(move)
        )
        return await self._caller.call(calls.WALK, given)

    async def end(self, wiki: int, started: int, day: int) -> None:
        """Completes the pass."""
        await self._caller.call(calls.END, calls.PassEnd(wiki, started, day))


class RemoteWaiting(_Remote):
    """Pages that wait to be read between two passes, as in `PagesWaiting`."""

    async def list_waiting(self, wiki: int, until: datetime, limit: int) -> Sequence[Pending]:
        """At most `limit` pages whose moment is not after `until`, oldest first."""
        return await self._caller.call(calls.WAITING, calls.WaitingWanted(wiki, until, limit))

    async def list_watched(self, wiki: int, pages: Collection[int]) -> set[int]:
        """Which of these pages are watched."""
        return await self._caller.call(calls.WATCHED, calls.SomePages(wiki, sorted(pages)))

    async def record(self, wiki: int, pages: JudgedPages, done: Sequence[Pending], day: int) -> Intake | None:
        """Records pages that waited, unless one of them waits no more; None: the spam lists have changed."""
        sent = [calls.SentPending(*each) for each in done]
        given = calls.WaitedPages(wiki, sent_pages(pages.read), list(pages.gone), sent_stamp(pages.stamp), sent, day)
        return await self._caller.call(calls.WAITED, given)


class RemoteStreams(_Remote):
    """The effects of event streams, as in `FollowedStreams`."""

    async def has_category(self) -> bool:
        """Whether any wiki has a category tree that pages may be put into."""
        return await self._caller.call(calls.HAS_CATEGORY, Nothing())

    async def find_position(self, names: str) -> Position | None:
        """The position of that list; else of another list, of which only the moment can be used; else None."""
        return await self._caller.call(calls.POSITION, calls.OfStreams(names))

    async def apply(self, events: Sequence[WikiEvents], move: StreamMove | None, day: int) -> EventsDone | None:
        """Records the effects of events with the position after them; None: the spam lists have changed."""
        sent = [
            calls.SentEvents(
                each.wiki,
                sent_stamp(each.stamp),
                sent_added(each.added),
                dict(each.gone),
                [(page.page, page.moment, page.may_match) for page in each.named],
                list(each.moved),
                [(page.title, page.category, page.moment) for page in each.categorised],
                dict(each.later),
                dict(each.later_titles),
            )
            for each in events
        ]
        moved = None
        if move:
            after = move.after
            moved = calls.SentStreamMove(move.before, (after.streams, after.last_event_id, after.moment))
        done = await self._caller.call(calls.APPLY, calls.EventBatch(sent, moved, day))
        return EventsDone(*done) if done else None


class RemoteLists(_Remote):
    """The spam lists of wikis and farms, as in `SpamLists`."""

    async def find(self, farm: int, of: str, known: tuple[str, ...] | None) -> ListLines | None:
        """The lists of a name; None if they still have the stamp that is known."""
        return await self._caller.call(calls.FIND_LIST, calls.ListWanted(farm, of, known))

    async def is_fresh(self, farm: int, of: str, day: int) -> bool:
        """Whether the lists were fetched on `day` or later, and have taken effect."""
        return await self._caller.call(calls.IS_FRESH, calls.OfList(farm, of, day))

    async def record(self, farm: int, of: str, fetched: Mapping[ListKind, SpamLines], day: int) -> bool:
        """Stores the lists; returns whether links have to be judged again."""
        black, white = (
            calls.FetchedList(list(fetched[kind].usable), list(fetched[kind].unusable))
            for kind in (ListKind.BLACK, ListKind.WHITE)
        )
        return await self._caller.call(calls.RECORD_LIST, calls.FetchedLists(farm, of, black, white, day))

    async def find_stretch(self, wiki: int, after: int, limit: int) -> SpamBatch | None:
        """Some next pages of a wiki, `limit` at most, after page `after`; None if there is none."""
        given = calls.StretchWanted(wiki, after, min(limit, calls.MOST_STRETCH))
        found: calls.SpamStretch | None = await self._caller.call(calls.STRETCH, given)
        if found is None:
            return None
        urls: dict[UrlKey, Url] = {}
        uses: dict[int, list[UrlKey]] = {}
        for page, texts in found.uses.items():
            parsed = [parse(text) for text in texts]
            uses[page] = [key_of(url) for url in parsed]
            urls |= zip(uses[page], parsed, strict=True)
        spam = {page: {key_of(parse(text)): text for text in texts} for page, texts in found.spam.items()}
        return SpamBatch(found.last, uses, spam, urls)

    async def reclassify(
        self, wiki: int, now_spam: SpamUses, no_spam: Mapping[int, Mapping[UrlKey, Url]], day: int
    ) -> Reclassified:
        """Turns uses into spam links and spam links into uses, unless they have changed since they were judged."""
        spam = {page: list(links.values()) for page, links in now_spam.items()}
        uses = {page: [str(url) for url in links.values()] for page, links in no_spam.items()}
        return await self._caller.call(calls.RECLASSIFY, calls.JudgedLinks(wiki, spam, uses, day))

    async def record_applied(self, farm: int, of: str, day: int) -> None:
        """Records that all links are judged by the lists as they were fetched on that day."""
        await self._caller.call(calls.APPLIED, calls.OfList(farm, of, day))


class RemoteWatched(_Remote):
    """The page that says which wikis are watched, as in `Watched`."""

    async def find(self, source: str) -> StoredWatchList | None:
        """The page of this name as it is stored; None if it was never read."""
        return await self._caller.call(calls.FIND_WATCH_PAGE, calls.WatchPage(source))

    async def record(self, source: str, text: str | None, fault: str, day: int) -> None:
        """Stores a page as it was read just now, and raises the alarm of its fault, or lowers it."""
        given = calls.ReadWatchPage(source, text, fit_detail(fault), day)
        await self._caller.call(calls.RECORD_WATCH_PAGE, given)

    async def lower(self) -> None:
        """Lowers that alarm, since there is no such page any more."""
        await self._caller.call(calls.NO_WATCH_PAGE, Nothing())


def _sent_move(move: Move) -> calls.SentMove:
    return calls.SentMove(calls.SentPosition(*move.before), calls.SentPosition(*move.after))
