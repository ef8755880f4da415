"""The calls of a feeder elsewhere.

``feed_remote`` makes them, ``feed_answering`` does them. One law: what comes from a feeder elsewhere has a bound in its
type.
"""

from datetime import datetime
from typing import Annotated, Final

from msgspec import Meta, Struct

from weboid.central.feed.feed_core import ListLines
from weboid.central.feed.sent_pages import (
    MOST_PAGES,
    MetPage,
    Page,
    SentAdded,
    SentPage,
    SentStamp,
    Text,
    Texts,
    Title,
    Wiki,
)
from weboid.central.http.kinds import CallKind, Day, Detail, Life, Nothing, Scheme
from weboid.core.wikitext.titles import Namespace
from weboid.store.pages.page import Intake
from weboid.store.pages.page_pass import PageRecord, PassPosition
from weboid.store.pages.pending import Pending
from weboid.store.pages.spam import Reclassified
from weboid.store.pages.stream import Position
from weboid.store.pages.watch_list import StoredWatchList
from weboid.store.pages.wiki import StoredWiki
from weboid.store.schedule.part import SeenPart

MOST_LISTED: Final = 1_000
MOST_STRETCH: Final = 100
_MOST_LINES: Final = 200_000
_MOST_EVENTS: Final = 2_000
"""Wikis, and pages of each, that one batch of events touches: it has 500 events."""

_Farm = Annotated[int, Meta(ge=0, le=2**15 - 1)]
_Name = Annotated[str, Meta(max_length=64)]
_Address = Annotated[str, Meta(max_length=2_000)]
_Place = Annotated[str, Meta(max_length=2_000)]
_Pages = Annotated[list[Page], Meta(max_length=MOST_LISTED)]
_Lines = Annotated[list[Annotated[str, Meta(max_length=100_000)]], Meta(max_length=_MOST_LINES)]
_Stamp = Annotated[tuple[Annotated[str, Meta(max_length=200)], ...], Meta(max_length=10)]
_Limit = Annotated[int, Meta(ge=1, le=MOST_LISTED)]
_Streams = Annotated[str, Meta(max_length=2_000)]
_EventId = Annotated[str, Meta(max_length=20_000)]


class SentFarm(Struct, frozen=True):
    """A farm as the core has it."""

    code: int
    name: str
    api: str
    domains: list[str]
    hosts: dict[str, str]
    spam_wiki: str


class FeedGreeting(Struct, frozen=True):
    """What a feeder elsewhere is told at its start; `moment` is what the clock of the core's database says."""

    version: str
    scheme: Scheme
    farms: list[SentFarm]
    moment: datetime


class FeedLife(Struct, frozen=True):
    """A sign of life of a feeder elsewhere, of the role feed or events; `gone` are others that it knows to have ended.

    `takes`: it wants the role, which another one may have; `was_away`: it could not be seen before.
    """

    role: Annotated[str, Meta(max_length=20)]
    life: Life
    takes: bool = False
    was_away: bool = False
    gone: Annotated[list[Annotated[str, Meta(max_length=200)]], Meta(max_length=10)] = []


class FarmWiki(Struct, frozen=True):
    farm: Annotated[str, Meta(max_length=32)]
    dbname: Annotated[str, Meta(pattern=r"^[a-z0-9_-]{1,64}\Z")]
    api: _Address | None


class NamesOfWiki(Struct, frozen=True):
    wiki: Wiki
    names: Annotated[list[Namespace], Meta(max_length=5_000)]


class PassStart(Struct, frozen=True):
    wiki: Wiki
    plan: Annotated[str, Meta(max_length=1_000_000)]
    day: Day


class SentPosition(Struct, frozen=True, array_like=True):
    step: Annotated[int, Meta(ge=0, le=2**15 - 1)]
    place: _Place

    @property
    def position(self) -> PassPosition:
        """As the store has it."""
        return PassPosition(self.step, self.place)


class SentMove(Struct, frozen=True, array_like=True):
    before: SentPosition
    after: SentPosition


class Met(Struct, frozen=True):
    wiki: Wiki
    pages: Annotated[list[MetPage], Meta(max_length=MOST_PAGES)]
    day: Day
    move: SentMove


class Excluded(Struct, frozen=True):
    wiki: Wiki
    pages: Annotated[list[Page], Meta(max_length=MOST_PAGES)]
    move: SentMove


class StepEnd(Struct, frozen=True):
    wiki: Wiki
    started: Day
    trees: Annotated[list[Title], Meta(max_length=1_000_000)]
    move: SentMove


class OfPass(Struct, frozen=True):
    wiki: Wiki
    started: Day


class RecordsWanted(Struct, frozen=True):
    wiki: Wiki
    after: Page
    limit: _Limit


class PassEnd(Struct, frozen=True):
    wiki: Wiki
    started: Day
    day: Day


class WalkedPages(Struct, frozen=True):
    """Pages that a pass has read again, and those that it releases."""

    wiki: Wiki
    pages: Annotated[list[SentPage], Meta(max_length=MOST_PAGES)]
    gone: _Pages
    stamp: SentStamp | None
    day: Day
    move: SentMove


class WaitingWanted(Struct, frozen=True):
    wiki: Wiki
    until: datetime
    limit: _Limit


class SomePages(Struct, frozen=True):
    wiki: Wiki
    pages: _Pages


class SentPending(Struct, frozen=True, array_like=True):
    page: Page
    title: Title
    seen: datetime
    matched: bool


class WaitedPages(Struct, frozen=True):
    """Pages that waited and were read."""

    wiki: Wiki
    pages: Annotated[list[SentPage], Meta(max_length=MOST_LISTED)]
    gone: _Pages
    stamp: SentStamp | None
    done: Annotated[list[SentPending], Meta(max_length=MOST_LISTED)]
    day: Day


class OfStreams(Struct, frozen=True):
    names: _Streams


class SentEvents(Struct, frozen=True):
    """As `WikiEvents`."""

    wiki: Wiki
    stamp: SentStamp | None
    added: Annotated[list[SentAdded], Meta(max_length=_MOST_EVENTS)]
    gone: Annotated[dict[Page, datetime], Meta(max_length=_MOST_EVENTS)]
    named: Annotated[list[tuple[Page, datetime, bool]], Meta(max_length=_MOST_EVENTS)]
    moved: Annotated[list[Page], Meta(max_length=_MOST_EVENTS)]
    categorised: Annotated[list[tuple[Title, Title, datetime]], Meta(max_length=_MOST_EVENTS)]
    later: Annotated[dict[Page, datetime], Meta(max_length=_MOST_EVENTS)]
    later_titles: Annotated[dict[Title, datetime], Meta(max_length=_MOST_EVENTS)]


class SentStreamMove(Struct, frozen=True):
    before: tuple[_Streams, _EventId] | None
    after: tuple[_Streams, _EventId, datetime]


class EventBatch(Struct, frozen=True):
    events: Annotated[list[SentEvents], Meta(max_length=_MOST_EVENTS)]
    move: SentStreamMove | None
    day: Day


class ListWanted(Struct, frozen=True):
    farm: _Farm
    of: _Name
    known: _Stamp | None


class OfList(Struct, frozen=True):
    farm: _Farm
    of: _Name
    day: Day


class FetchedList(Struct, frozen=True):
    """The lines of a list: those that can be run, and those that cannot, each with the reason."""

    usable: _Lines
    unusable: Annotated[list[tuple[Annotated[str, Meta(max_length=100_000)], str]], Meta(max_length=_MOST_LINES)]


class FetchedLists(Struct, frozen=True):
    farm: _Farm
    of: _Name
    black: FetchedList
    white: FetchedList
    day: Day


class StretchWanted(Struct, frozen=True):
    wiki: Wiki
    after: Page
    limit: Annotated[int, Meta(ge=1, le=MOST_STRETCH)]


class SpamStretch(Struct, frozen=True):
    """As `SpamBatch`, without keys: by page what it uses, in normal form, and what is spam there."""

    last: int
    uses: dict[int, list[str]]
    spam: dict[int, list[str]]


class JudgedLinks(Struct, frozen=True):
    """Links that became spam by page, and links that are spam no longer, in normal form."""

    wiki: Wiki
    now_spam: Annotated[dict[Page, Texts], Meta(max_length=MOST_LISTED)]
    no_spam: Annotated[dict[Page, Texts], Meta(max_length=MOST_LISTED)]
    day: Day


class WatchPage(Struct, frozen=True):
    source: Text


class ReadWatchPage(Struct, frozen=True):
    source: Text
    text: Annotated[str, Meta(max_length=4 << 20)] | None
    fault: Detail
    day: Day


GREET: Final = CallKind[Nothing, FeedGreeting]("greet", Nothing, FeedGreeting)
LIFE: Final = CallKind[FeedLife, SeenPart | None]("life", FeedLife, SeenPart | None)
WIKI: Final = CallKind[FarmWiki, StoredWiki]("wiki", FarmWiki, StoredWiki)
WIKIS: Final = CallKind[Nothing, list[StoredWiki]]("wikis", Nothing, list[StoredWiki])
NAMESPACES: Final = CallKind[NamesOfWiki, Nothing]("namespaces", NamesOfWiki, Nothing, is_once=True)
START: Final = CallKind[PassStart, tuple[int, PassPosition]]("start", PassStart, tuple[int, PassPosition], is_once=True)
MEET: Final = CallKind[Met, Nothing]("meet", Met, Nothing, is_once=True)
EXCLUDE: Final = CallKind[Excluded, Nothing]("exclude", Excluded, Nothing, is_once=True)
END_STEP: Final = CallKind[StepEnd, Nothing]("end-step", StepEnd, Nothing, is_once=True)
COUNT: Final = CallKind[OfPass, tuple[int, int]]("count", OfPass, tuple[int, int])
RECORDS: Final = CallKind[RecordsWanted, list[PageRecord]]("records", RecordsWanted, list[PageRecord])
WALK: Final = CallKind[WalkedPages, Intake | None]("walk", WalkedPages, Intake | None, is_once=True)
END: Final = CallKind[PassEnd, Nothing]("end", PassEnd, Nothing, is_once=True)
WAITING: Final = CallKind[WaitingWanted, list[Pending]]("waiting", WaitingWanted, list[Pending])
WATCHED: Final = CallKind[SomePages, set[int]]("watched", SomePages, set[int])
WAITED: Final = CallKind[WaitedPages, Intake | None]("waited", WaitedPages, Intake | None, is_once=True)
HAS_CATEGORY: Final = CallKind[Nothing, bool]("has-category", Nothing, bool)
POSITION: Final = CallKind[OfStreams, Position | None]("position", OfStreams, Position | None)
APPLY: Final = CallKind[EventBatch, tuple[Intake, int] | None](
    "apply", EventBatch, tuple[Intake, int] | None, is_once=True
)
FIND_LIST: Final = CallKind[ListWanted, ListLines | None]("find-list", ListWanted, ListLines | None)
IS_FRESH: Final = CallKind[OfList, bool]("is-fresh", OfList, bool)
RECORD_LIST: Final = CallKind[FetchedLists, bool]("record-list", FetchedLists, bool, is_once=True)
STRETCH: Final = CallKind[StretchWanted, SpamStretch | None]("stretch", StretchWanted, SpamStretch | None)
RECLASSIFY: Final = CallKind[JudgedLinks, Reclassified]("reclassify", JudgedLinks, Reclassified, is_once=True)
APPLIED: Final = CallKind[OfList, Nothing]("applied", OfList, Nothing, is_once=True)
FIND_WATCH_PAGE: Final = CallKind[WatchPage, StoredWatchList | None](
    "find-watch-page", WatchPage, StoredWatchList | None
)
RECORD_WATCH_PAGE: Final = CallKind[ReadWatchPage, Nothing]("record-watch-page", ReadWatchPage, Nothing, is_once=True)
NO_WATCH_PAGE: Final = CallKind[Nothing, Nothing]("no-watch-page", Nothing, Nothing)
