"""Following event streams continuously (P-6): from the stored position on, batch by batch.

The position only passes events that have taken effect; all others are requested again. ``feed/stream`` reads a stream,
``feed/effects`` has the effects of a batch.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import KW_ONLY, dataclass
from datetime import datetime
from functools import partial
from typing import Final

from weboid.feed.effects import Applied, FollowedWiki, apply
from weboid.feed.events import Streams
from weboid.feed.stream import EventStream, RawEvent, StreamStart, UnknownStreams, since_of
from weboid.mechanism.patience import Again, at_once
from weboid.remote.feed.calls import FeedStore

log = logging.getLogger(__name__)

CATEGORIES: Final = "categories"
"""The value of `only_with` of the stream of categorised pages: it is of use only if there are category trees."""

_LOOK_S: Final = 900.0
"""The interval at which it is decided again which streams are worth following."""
_GONE_S: Final = 3_600.0
"""How long a stream that the server does not have is not asked for."""


@dataclass(eq=False)
class Following:
    """A follower of these streams for these wikis (by database name). `open_stream` opens a comma-separated list.

    `show` is called with what was done so far after each batch, and at least about once a second.
    """

    core: FeedStore
    open_stream: Callable[[str], EventStream]
    streams: Streams
    wikis: Mapping[str, FollowedWiki]
    _: KW_ONLY
    today: Callable[[], int]
    now: Callable[[], datetime]
    show: Callable[[Applied], None] = lambda applied: None
    again: Again = at_once

    def __post_init__(self) -> None:
        self._position: tuple[str, str] | None = None
        self.done = Applied()
        self._there = self.streams

    async def run(self, *, once: bool = False) -> Applied:
        """Follows without end; with `once` until an event is newer than the call, or the server ends the stream.

        Raises SourceError if the server has no such streams, and StoreError; for how long the store is tried again, is
        up to `again`.
        """
        called = self.now()
        while True:
            try:
                if await self._follow(called if once else None):
                    return self.done
                log.info("other streams are worth following now")
            except UnknownStreams as unknown:
                left = Streams(tuple(each for each in self._there.all if each.name not in unknown.names))
                if left == self._there or not left.worthwhile(()).all:
                    raise
                self._there = left
                log.warning("%s; the other streams are followed without", unknown)

    async def _follow(self, called: datetime | None) -> bool:
        """Follows one list of streams; returns False if another list is worth following now."""
        streams = await self.again(self._worthwhile)
        stream = self.open_stream(streams.names)
        begin = await self.again(partial(self._begin, streams.names))
        loop = asyncio.get_running_loop()
        begun = looked = loop.time()
        async with aclosing(stream.batches(begin, once=called is not None)) as batches:
            async for batch in batches:
                if batch:
                    self.done += await self.again(partial(self._apply, batch, streams))
                self.show(self.done)
                if called and self.done.moment and self.done.moment >= called:
                    return True
                if loop.time() - looked >= _LOOK_S:
                    looked = loop.time()
                    self._there = self.streams if looked - begun >= _GONE_S else self._there
                    if (await self.again(self._worthwhile)).names != streams.names:
                        return False
        return True

    async def _worthwhile(self) -> Streams:
        return self._there.worthwhile({CATEGORIES} if await self.core.streams.has_category() else ())

    async def _begin(self, names: str) -> StreamStart:
        position = await self.core.streams.find_position(names)
        self._position = (position.streams, position.last_event_id) if position else None
        if position is None:
            return StreamStart()
        if position.streams == names:
            return StreamStart(position.last_event_id, position.moment)
        return StreamStart("", since_of(position.last_event_id, position.moment))

    async def _apply(self, batch: list[RawEvent], streams: Streams) -> Applied:
        applied, self._position = await apply(
            self.core, batch, streams, self.wikis, before=self._position, day=self.today(), now=self.now()
        )
        return applied
