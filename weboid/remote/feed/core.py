"""The interface of feeders to the store, by which they work next to the database or far from it (O-1).

``on_store`` implements it on the store. Over HTTP it follows from the declarations here, with pages and links as
in ``sent``. One law: each method is one transaction; all raise StoreAway while the store cannot be used, and a caller
that tries again what has failed so does it with the same arguments.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final, Protocol

from msgspec import Meta, Struct

from weboid.mechanism.disturbance import Disturbance
from weboid.remote.feed import sent
from weboid.remote.feed.batches import EventsDone, ListLines, Page, StampLines
from weboid.remote.feed.links import Link
from weboid.remote.http.kinds import Day, Detail, Greeted, Life, ThisDay, up_to
from weboid.remote.http.rpc import Calling, Sent, call, connected, remote
from weboid.store.pages.page import Intake
from weboid.store.pages.page_pass import PageRecord, PassPosition
from weboid.store.pages.pending import Pending
from weboid.store.pages.spam import Reclassified
from weboid.store.pages.stream import Position
from weboid.store.pages.wiki import StoredWatchList, StoredWiki
from weboid.store.schedule.process import SeenProcess

_MOST_STRETCH: Final = 100

Wiki = Annotated[int, Meta(ge=0, le=2**31 - 1)]
OwnWiki = Annotated[Wiki, Sent(check="require_wiki")]
"""A wiki whose farm the server must have."""
FarmCode = Annotated[int, Meta(ge=0, le=2**15 - 1)]
OwnFarm = Annotated[FarmCode, Sent(check="require_farm")]
Dbname = Annotated[str, Meta(max_length=64)]
Limit = Annotated[int, Meta(ge=1, le=sent.MOST_LISTED)]
Plan = Annotated[str, Meta(max_length=1_000_000)]
Trees = Annotated[Sequence[Annotated[str, Meta(max_length=1_000)]], Meta(max_length=1_000_000)]
WatchText = Annotated[Annotated[str, Meta(max_length=4 << 20)] | None, Sent(check="require_watch_list")]


class StoredWikis(Protocol):
    """Wikis as they are stored."""

    @call("wiki")
    async def record(self, farm: sent.FarmName, name: sent.DbName, api: sent.Api) -> StoredWiki:
        """The wiki, recorded if it was not known."""

    @call("wikis")
    async def list_all(self) -> Sequence[StoredWiki]:
        """All stored wikis, by farm and name."""

    @call("namespaces", is_once=True)
    async def record_namespaces(self, wiki: OwnWiki, names: sent.Namespaces) -> None:
        """Records how a wiki names its namespaces now."""


class Passes(Protocol):
    """Passes over wikis. What moves a pass raises StoreError if it is not at the position before any more."""

    @call("start", is_once=True)
    async def start(self, wiki: OwnWiki, plan: Plan, day: ThisDay) -> tuple[int, PassPosition]:
        """The first day and the position of the pass under way; begins one if there is none of this plan."""

    @call("meet", is_once=True)
    async def meet(self, wiki: OwnWiki, pages: sent.MetPages, day: ThisDay, move: sent.PassMove) -> None:
        """Records pages that match the criteria."""

    @call("exclude", is_once=True)
    async def exclude(
        self, wiki: OwnWiki, pages: Annotated[Sequence[Page], Meta(max_length=sent.MOST_PAGES)], move: sent.PassMove
    ) -> None:
        """Makes pages count as never met."""

    @call("end-step", is_once=True)
    async def end_step(self, wiki: OwnWiki, started: Day, trees: Trees, move: sent.PassMove) -> None:
        """Ends the walk of a criterion, which found these categories in its trees."""

    @call("count")
    async def count(self, wiki: Wiki, started: Day) -> tuple[int, int]:
        """Numbers of a wiki's page records: of all, and of those that the pass begun on that day has met."""

    @call("records")
    async def list_records(self, wiki: Wiki, after: Page, limit: Limit) -> Sequence[PageRecord]:
        """Page records of a wiki after a page id, by id, `limit` at most."""

    @call("walk", is_once=True)
    async def record(self, wiki: Wiki, pages: sent.WalkedPages, day: ThisDay, move: sent.PassMove) -> Intake | None:
        """Records pages that were read again, and releases others; None: the spam lists have changed, judge again."""

    @call("end", is_once=True)
    async def end(self, wiki: Wiki, started: Day, day: ThisDay) -> None:
        """Completes the pass."""


class PagesWaiting(Protocol):
    """Pages that wait to be read between two passes."""

    @call("waiting")
    async def list_waiting(self, wiki: Wiki, until: datetime, limit: Limit) -> Sequence[Pending]:
        """Pages whose moment is not after `until`, oldest first, `limit` at most."""

    @call("watched")
    async def list_watched(self, wiki: Wiki, pages: sent.SortedPages) -> set[int]:
        """The watched ones of these pages."""

    @call("waited", is_once=True)
    async def record(self, wiki: Wiki, pages: sent.WaitedPages, done: sent.DonePages, day: ThisDay) -> Intake | None:
        """Records pages that waited; None: the spam lists have changed, judge again.

        If one of those `done` waits no more, another process has read it, perhaps later: then nothing is recorded.
        """


class FollowedStreams(Protocol):
    """The effects of event streams."""

    @call("has-category")
    async def has_category(self) -> bool:
        """True if any wiki has a category tree that pages may be put into."""

    @call("position")
    async def find_position(self, names: sent.Streams) -> Position | None:
        """The position of that list; else of another list, of which only the moment counts; else None."""

    @call("apply", is_once=True)
    async def apply(self, events: sent.EventBatch, move: sent.StreamsMove, day: ThisDay) -> EventsDone | None:
        """Records the effects of events with the position after them; None: the spam lists have changed, judge again.

        Nothing, if the streams have come there already. Raises StoreError if they are at neither position.
        """


class SpamLists(Protocol):
    """The spam lists of wikis, and of farms (`of` = FARM), and links that are judged by them again."""

    @call("find-list")
    async def find(self, farm: FarmCode, of: Dbname, known: StampLines | None) -> ListLines | None:
        """The lists of a name; None if they still have the stamp that is known."""

    @call("is-fresh")
    async def is_fresh(self, farm: FarmCode, of: Dbname, day: Day) -> bool:
        """True if the lists were fetched on `day` or later, and have taken effect."""

    @call("record-list", is_once=True)
    async def record(self, farm: OwnFarm, of: Dbname, fetched: sent.FetchedLists, day: ThisDay) -> bool:
        """Stores the lists; returns whether links have to be judged again."""

    @call("stretch")
    async def find_stretch(
        self, wiki: Wiki, after: Page, limit: Annotated[int, up_to(_MOST_STRETCH, 1)]
    ) -> sent.SpamStretch:
        """The next pages of a wiki, `limit` at most, after page `after`; None if there is none."""

    @call("reclassify", is_once=True)
    async def reclassify(
        self, wiki: OwnWiki, now_spam: sent.NowSpam, no_spam: sent.NoSpam, day: ThisDay
    ) -> Reclassified:
        """Turns uses into spam links and spam links into uses, unless they have changed since they were judged."""

    @call("applied", is_once=True)
    async def record_applied(self, farm: FarmCode, of: Dbname, day: ThisDay) -> None:
        """Records that all links are judged by the lists as they were fetched on that day."""


class Watched(Protocol):
    """The page that says which wikis are watched, as it was last read."""

    @call("find-watch-page")
    async def find(self, source: Link) -> StoredWatchList | None:
        """The stored page of this name; None before it was first read."""

    @call("record-watch-page", is_once=True)
    async def record(self, source: Link, text: WatchText, fault: Detail, day: ThisDay) -> None:
        """Stores a page as it was read just now, and raises the alarm of its fault, or lowers it."""

    @call("no-watch-page")
    async def lower(self) -> None:
        """Lowers that alarm, since there is no such page any more."""


@dataclass(frozen=True, slots=True)
class FeedCore:
    """All that a feeder needs. `away`: whether it can be used now."""

    wikis: StoredWikis
    passes: Passes
    waiting: PagesWaiting
    streams: FollowedStreams
    lists: SpamLists
    watched: Watched
    away: Disturbance


class ServedFarm(Struct, frozen=True):
    """A farm as the server has it."""

    code: int
    name: str
    api: str
    domains: list[str]
    hosts: dict[str, str]
    spam_wiki: str


class FeedGreeting(Greeted, frozen=True):
    """The server's own farms, and the moment by the clock of its database."""

    farms: list[ServedFarm]
    moment: datetime


class FeedLife(Struct, frozen=True):
    """A sign of life of a remote feeder, of the role feed or events; `gone` are others that it knows to have ended.

    `takes`: it wants the role, which another one may have; `was_away`: it could not be seen before.
    """

    role: Annotated[str, Meta(max_length=20)]
    life: Life
    takes: bool = False
    was_away: bool = False
    gone: Annotated[list[Annotated[str, Meta(max_length=200)]], Meta(max_length=10)] = []


class FeederCalls(Protocol):
    """Calls of a feeder's own process."""

    @call("greet")
    async def greet(self) -> FeedGreeting:
        """The server's farms and its moment. Raises StoreAway."""

    @call("life")
    async def live(self, life: FeedLife) -> SeenProcess | None:
        """Writes a sign of life, or takes it away; returns the process that has the role, if this one may not."""


def remote_feed(caller: Calling) -> FeedCore:
    """All that a remote feeder needs."""
    return remote(FeedCore, caller)


def feeder_calls(caller: Calling) -> FeederCalls:
    """The calls of this feeder to the server."""
    calls: FeederCalls = connected(FeederCalls, caller)
    return calls
