"""What feeders need of the store: one interface, by which a feeder works beside the database or far from it (O-1).

``feed_on_store`` is it on the store, ``feed_remote`` is it over HTTP. One law: each method is one transaction; all
raise StoreAway while the store cannot be used, and who tries again what has failed so does it with the same arguments.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, Protocol

from weboid.core.url.farms import Farm, WikiName
from weboid.core.url.keys import UrlKey
from weboid.core.url.spam_lines import SpamLines
from weboid.core.url.urls import Url
from weboid.core.wikitext.titles import Namespace
from weboid.mechanism.disturbance import Disturbance
from weboid.store.pages.page import Added, Intake, PageUrls
from weboid.store.pages.page_pass import KnownPage, PageRecord, PassPosition
from weboid.store.pages.pending import Pending
from weboid.store.pages.spam import ListKind, Reclassified, SpamBatch, SpamUses
from weboid.store.pages.stream import Position
from weboid.store.pages.watch_list import StoredWatchList
from weboid.store.pages.wiki import StoredWiki


class Stamp(NamedTuple):
    """Which spam lists judged some links: the stamps of the farm's lists, and of the wiki's own."""

    farm: tuple[str, ...] = ()
    own: tuple[str, ...] = ()


class ListLines(NamedTuple):
    """The lines of the lists of one name, with the stamp that they have."""

    stamp: tuple[str, ...]
    black: tuple[str, ...]
    white: tuple[str, ...]


class Move(NamedTuple):
    """A step of a pass: from one position to the next."""

    before: PassPosition
    after: PassPosition


@dataclass(frozen=True, slots=True)
class JudgedPages:
    """Pages that were read, and pages that are to be released; `stamp` = None: no list has judged the links."""

    read: Sequence[PageUrls] = ()
    gone: Sequence[int] = ()
    stamp: Stamp | None = None

    @property
    def links(self) -> int:
        """How many links they have."""
        return sum(len(page.urls) + len(page.spam) for page in self.read)


class NamedPage(NamedTuple):
    """A page that an event handed in; it is read if it `may_match` the criteria."""

    page: int
    moment: datetime
    may_match: bool


class CategorisedPage(NamedTuple):
    """A page, by title with its prefix, that was put into a category."""

    title: str
    category: str
    moment: datetime


@dataclass(frozen=True, slots=True)
class WikiEvents:
    """What a batch of events does to a wiki, by page id: links that came, pages that went, pages to look at.

    `moved` are the pages among `named` that had another title before: they are read if they are watched, too. `later`
    and `later_titles`: pages that wait wait until then at least.
    """

    wiki: int
    stamp: Stamp | None = None
    added: Mapping[int, Added] = field(default_factory=dict)
    gone: Mapping[int, datetime] = field(default_factory=dict)
    named: Sequence[NamedPage] = ()
    moved: Collection[int] = ()
    categorised: Sequence[CategorisedPage] = ()
    later: Mapping[int, datetime] = field(default_factory=dict)
    later_titles: Mapping[str, datetime] = field(default_factory=dict)


class StreamMove(NamedTuple):
    """From which position of a list of streams to which one: as `Position`, None = there was none."""

    before: tuple[str, str] | None
    after: Position


class EventsDone(NamedTuple):
    """What a batch of events has changed, and how many pages were handed in."""

    intake: Intake
    handed_in: int


class StoredWikis(Protocol):
    """Wikis as they are stored."""

    async def record(self, farm: Farm, name: WikiName, api: str | None) -> StoredWiki:
        """The wiki, recorded if it was not known."""
        ...

    async def list_all(self) -> Sequence[StoredWiki]:
        """All wikis by farm and name."""
        ...

    async def record_namespaces(self, wiki: int, names: Sequence[Namespace]) -> None:
        """Records how a wiki names its namespaces now."""
        ...


class Passes(Protocol):
    """Passes over wikis. What moves a pass raises StoreError if it is not at the position before any more."""

    async def start(self, wiki: int, plan: str, day: int) -> tuple[int, PassPosition]:
        """The day on which the pass under way began, and its position; begins a pass if there is none of this plan."""
        ...

    async def meet(self, wiki: int, pages: Sequence[KnownPage], day: int, move: Move) -> None:
        """Records pages that match the criteria."""
        ...

    async def exclude(self, wiki: int, pages: Sequence[int], move: Move) -> None:
        """Makes pages count as never met."""
        ...

    async def end_step(self, wiki: int, started: int, trees: Sequence[str], move: Move) -> None:
        """Ends the walk of a criterion, which found these categories in its trees."""
        ...

    async def count(self, wiki: int, started: int) -> tuple[int, int]:
        """How many page records a wiki has, and how many of them the pass begun on that day has met."""
        ...

    async def list_records(self, wiki: int, after: int, limit: int) -> Sequence[PageRecord]:
        """At most `limit` page records of a wiki after a page id, by id."""
        ...

    async def record(self, wiki: int, pages: JudgedPages, day: int, move: Move) -> Intake | None:
        """Records pages that were read again, and releases others; None: the spam lists have changed, judge again."""
        ...

    async def end(self, wiki: int, started: int, day: int) -> None:
        """Completes the pass."""
        ...


class PagesWaiting(Protocol):
    """Pages that wait to be read between two passes."""

    async def list_waiting(self, wiki: int, until: datetime, limit: int) -> Sequence[Pending]:
        """At most `limit` pages whose moment is not after `until`, oldest first."""
        ...

    async def list_watched(self, wiki: int, pages: Collection[int]) -> set[int]:
        """Which of these pages are watched."""
        ...

    async def record(self, wiki: int, pages: JudgedPages, done: Sequence[Pending], day: int) -> Intake | None:
        """Records pages that waited; None: the spam lists have changed, judge again.

        If one of those `done` waits no more, somebody else has read it, perhaps later: then nothing is recorded.
        """
        ...


class FollowedStreams(Protocol):
    """The effects of event streams."""

    async def has_category(self) -> bool:
        """Whether any wiki has a category tree that pages may be put into."""
        ...

    async def find_position(self, names: str) -> Position | None:
        """The position of that list; else of another list, of which only the moment can be used; else None."""
        ...

    async def apply(self, events: Sequence[WikiEvents], move: StreamMove | None, day: int) -> EventsDone | None:
        """Records the effects of events with the position after them; None: the spam lists have changed, judge again.

        Nothing, if the streams have come there already. Raises StoreError if they are at neither position.
        """
        ...


class SpamLists(Protocol):
    """The spam lists of wikis, and of farms (`of` = FARM), and links that are judged by them again."""

    async def find(self, farm: int, of: str, known: tuple[str, ...] | None) -> ListLines | None:
        """The lists of a name; None if they still have the stamp that is known."""
        ...

    async def is_fresh(self, farm: int, of: str, day: int) -> bool:
        """Whether the lists were fetched on `day` or later, and have taken effect."""
        ...

    async def record(self, farm: int, of: str, fetched: Mapping[ListKind, SpamLines], day: int) -> bool:
        """Stores the lists; returns whether links have to be judged again."""
        ...

    async def find_stretch(self, wiki: int, after: int, limit: int) -> SpamBatch | None:
        """The next pages of a wiki, `limit` at most, after page `after`; None if there is none."""
        ...

    async def reclassify(
        self, wiki: int, now_spam: SpamUses, no_spam: Mapping[int, Mapping[UrlKey, Url]], day: int
    ) -> Reclassified:
        """Turns uses into spam links and spam links into uses, unless they have changed since they were judged."""
        ...

    async def record_applied(self, farm: int, of: str, day: int) -> None:
        """Records that all links are judged by the lists as they were fetched on that day."""
        ...


class Watched(Protocol):
    """The page that says which wikis are watched, as it was last read."""

    async def find(self, source: str) -> StoredWatchList | None:
        """The page of this name as it is stored; None if it was never read."""
        ...

    async def record(self, source: str, text: str | None, fault: str, day: int) -> None:
        """Stores a page as it was read just now, and raises the alarm of its fault, or lowers it."""
        ...

    async def lower(self) -> None:
        """Lowers that alarm, since there is no such page any more."""
        ...


@dataclass(frozen=True, slots=True)
class FeedCore:
    """All that a feeder needs. `away` tells whether it can be used now."""

    wikis: StoredWikis
    passes: Passes
    waiting: PagesWaiting
    streams: FollowedStreams
    lists: SpamLists
    watched: Watched
    away: Disturbance
