"""Judged pages, events and moves: what feeders hand to the store."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, NamedTuple

from msgspec import Meta

from weboid.store.pages.page import Added, Intake, PageUrls
from weboid.store.pages.page_pass import PassPosition
from weboid.store.pages.pending import Page, Title
from weboid.store.pages.stream import EventId, Position, Streams

StampLines = Annotated[tuple[Annotated[str, Meta(max_length=200)], ...], Meta(max_length=10)]


class Stamp(NamedTuple):
    """The spam lists that judged some links: the stamps of the farm's lists, and of the wiki's own."""

    farm: StampLines = ()
    own: StampLines = ()


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
    """Pages that were read, and pages that are to be released; `stamp` = None: no list has judged the links.

    The wiki was as it was read at the moment `as_of` or later.
    """

    read: Sequence[PageUrls] = ()
    gone: Sequence[int] = ()
    stamp: Stamp | None = None
    as_of: datetime | None = None


class NamedPage(NamedTuple):
    """A page that an event handed in; it is read if it `may_match` the criteria."""

    page: Page
    moment: datetime
    may_match: bool


class CategorisedPage(NamedTuple):
    """A page, by title with its prefix, that was put into a category."""

    title: Title
    category: Title
    moment: datetime


@dataclass(frozen=True, slots=True)
class WikiEvents:
    """The effects of a batch of events on a wiki, by page id: links that came, pages that went, pages to look at.

    `moved` are the pages among `named` that were there before: they are read if they are watched, too. `later`
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


@dataclass(frozen=True, slots=True)
class StreamMove:
    """From which position of a list of streams to which one: as `Position`, None = there was none."""

    before: tuple[Streams, EventId] | None
    after: Position


class EventsDone(NamedTuple):
    """The changes by a batch of events, and the number of pages that were handed in."""

    intake: Intake
    handed_in: int
