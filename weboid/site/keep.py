"""The memory of a task in a run: of earlier runs, and of itself if it was killed (R-5, U-3, U-7).

A run that goes on begins at its starts again: what it has asked for is a hit of its cache, whose links are those of
before. So queue, traps and report come out as if it had never been killed (D-466), and other orders hold at once. What
was open is asked again, and so is what did not work: it may have been repaired. What earlier runs have loaded is in the
cache as long as the orders of the task want it.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import date
from math import inf
from typing import Final, Generic, NamedTuple, TypeVar

import msgspec

from weboid.core.observe.observation import Observation
from weboid.core.record.days import EPOCH
from weboid.core.record.moment import Moment
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.record import UNTRIED, UrlRecord
from weboid.core.record.status import Status
from weboid.core.verdict.judge import judge
from weboid.errors import ConfigError, StoreError
from weboid.robot.orders import Orders
from weboid.site.place import Place
from weboid.store.db.pool import Pool
from weboid.store.db.rows import storable
from weboid.store.site import task
from weboid.store.site.entry import NO_PAGE, KeptEntry, KeptPage, entry_key, find_entries, list_states, record_entries

_BATCH: Final = 500
_EXPIRED: Final = 10_000
_MOST_ENTRIES: Final = 1_000_000
"""URLs of a task; of more it forgets what it had found."""
_MOST_LINKS: Final = 20_000
"""Of a document; one with more is not kept."""
_MOST_TEXT: Final = 500
"""Characters of a header; a longer one is not sent back."""
_UNIX_DAYS: Final = (EPOCH - date(1970, 1, 1)).days
_NOT_THERE: Final = Observation(Status.NOT_FOUND, Reason.NOT_FOUND)
_THERE: Final = Observation(Status.FINE, Reason.OK)

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class Remembered(NamedTuple):
    """All that is remembered of a URL; `page` if a document was read when it was last asked for."""

    record: UrlRecord = UNTRIED
    page: KeptPage | None = None


class RunMemory:
    """The memory of a task in a run.

    URLs of the start's `origin` are kept without it: the port of a folder that is served changes from run to run.
    """

    def __init__(self, pool: Pool, name: str, moment: Moment, origin: str, *, with_anchors: bool = False) -> None:
        self.task: task.KeptTask
        self._orders: Orders
        self._name = name
        self.resumed = 0
        """URLs that it need not ask for again, as it did before it was interrupted."""
        self._with_anchors = with_anchors
        self._origin = origin
        self._pool = pool
        self._moment = moment
        self._loaded: dict[int, float | None] = {}
        """Of each entry the moment; infinite for this run, None if it cannot be used."""
        self._was_broken: set[int] = set()
        self._failing: dict[int, int] = {}
        """Days since when entries are broken, as far as they are."""
        self._untried: dict[str, Observation] = {}
        """What is to be noted of URLs that are not asked for: they are broken in themselves, or fragments."""
        self._reads = _Gathering(self._find, _BATCH)
        self._writes = _Gathering(self._record, _BATCH)

    @asynccontextmanager
    async def run(
        self, starts: Sequence[str], orders: Orders, *, goes_on_days: int = task.GOES_ON_DAYS
    ) -> AsyncIterator[None]:
        """Begins a run of the task, or goes on with one that was interrupted and began at most so many days ago.

        It takes one connection of the pool until the end. Raises StoreError if another run of the task is under way,
        and ConfigError if the task is of another site: what is known of its URLs would be taken for that of these.
        """
        name, day, self._orders = self._name, self._moment.day, orders
        async with self._pool.reading() as held:
            if not await task.lock_task(held, name):
                raise StoreError(f"another run of {name!r} is under way: wait for its end, or give another name")
            try:
                async with self._pool.connection() as conn:
                    site = _site(await task.find_starts(conn, name) or starts)
                    if site != _site(starts):
                        raise ConfigError(f"{name!r} remembers {site}: give the run of another site another name")
                    text = msgspec.json.encode(orders).decode()
                    self.task = await task.begin_run(conn, name, starts, text, day, goes_on_days=goes_on_days)
                expired = 1
                while expired:
                    async with self._pool.connection() as conn:
                        expired = await task.expire_entries(conn, day, limit=_EXPIRED)
                await self._resume()
                yield
            finally:
                await task.unlock_task(held, name)

    async def _resume(self) -> None:
        async with self._pool.connection() as conn:
            states = list_states(conn, self.task, with_anchors=self._with_anchors)
            async for key, loaded, was_broken, failing_since in states:
                self._loaded[key] = loaded
                self.resumed += loaded == inf
                if was_broken:
                    self._was_broken.add(key)
                if failing_since is not None:
                    self._failing[key] = failing_since

    def is_done(self, url: str, orders: Orders | None = None) -> bool:
        """True if a URL need not be asked for: this run knows what became of it, also before it was killed, or an
        earlier one, if the orders are content with that; without orders those of its begin hold."""
        loaded = self._loaded.get(self._key(url))
        return loaded is not None and loaded >= (orders or self._orders).cached_since

    async def known(self, url: str) -> Remembered:
        """All that is remembered of a URL."""
        if (key := self._key(url)) not in self._loaded:
            return Remembered()
        return await self._reads.result(key)

    async def note(
        self, url: str, seen: Observation, before: Remembered, page: KeptPage | None = None, *, is_whole: bool = True
    ) -> None:
        """Notes what became of a URL, and of its document if that was read; returns when it is written.

        After a 304 `page` is that of `before`. A document that is not whole, or has very many links, is not kept: it is
        asked for again if the run goes on.
        """
        key = self._key(url)
        if key not in self._loaded and len(self._loaded) >= _MOST_ENTRIES:
            return
        record = judge(before.record, seen, self._moment.day).record
        is_failing = seen.outcome is Outcome.FAILING
        is_broken = is_failing or (seen.outcome is not Outcome.WORKING and key in self._was_broken)
        is_whole = is_whole and (page is None or len(page.links) <= _MOST_LINKS)
        self._loaded[key] = None
        if is_failing:
            self._failing[key] = record.history[0].first if record.streak.since is None else record.streak.since
        elif not is_broken:
            self._failing.pop(key, None)
        entry = KeptEntry(
            key,
            self._short(url),
            self.task.run if is_whole else 0,
            record._replace(target=record.target and self._short(record.target)),
            is_broken,
            key in self._was_broken,
            *_changes(before.page or NO_PAGE, _bounded(page) if page and is_whole else NO_PAGE),
        )
        await self._writes.result(entry)
        if is_whole:
            self._loaded[key] = inf

    def failure(self, url: str, final: str) -> tuple[int, bool]:
        """For a URL that is broken now the day of 1970 since when, and whether that is new.

        It is not new if it was broken by its last verdict in a whole run: a run that could not ask for it is none.
        `final` is the end of its redirects, if that is broken in its stead. What was not asked for and is broken in
        itself, such as the fragment of a URL, is noted at the end of the run.
        """
        key = self._key(url)
        if final and key not in self._failing and self._key(final) in self._failing:
            key = self._key(final)
        elif key not in self._failing or self._loaded.get(key) != inf:
            self._untried[url] = _NOT_THERE
        return self._failing.get(key, self._moment.day) + _UNIX_DAYS, key not in self._was_broken

    def dated(self, url: str, place: Place) -> Place:
        """The place with what `failure` says of its target `url`, in normal form, if that is broken."""
        is_found = place.state in ("ok", "redirect") and self._with_anchors and bool(place.fragment)
        if not is_found and place.state not in ("broken", "fragment"):
            return place
        fragment = f"{place.final or url}#{place.fragment}"
        if is_found:
            if self._key(fragment) in self._failing:
                self._untried[fragment] = _THERE
            return place
        since, is_new = self.failure(url, place.final) if place.state == "broken" else self.failure(fragment, "")
        return place._replace(dead_since=since, is_new=is_new)

    async def end(self, statistics: object, *, is_whole: bool) -> None:
        """Ends the run, with statistics that JSON can express; one that is not whole goes on the next time."""
        for url, seen in sorted(self._untried.items()):
            await self.note(url, seen, await self.known(url))
        async with self._pool.connection() as conn:
            await task.end_run(conn, self.task.task, msgspec.json.encode(statistics).decode(), is_whole=is_whole)

    async def _find(self, keys: Sequence[int]) -> list[Remembered]:
        async with self._pool.connection() as conn:
            found = await find_entries(conn, self.task.task, list(dict.fromkeys(keys)))
        return [self._remembered(*found.get(key, (UNTRIED, None))) for key in keys]

    def _remembered(self, record: UrlRecord, page: KeptPage | None) -> Remembered:
        if record.target and record.target.startswith("/"):
            record = record._replace(target=f"{self._origin}{record.target}")
        return Remembered(record, page)

    async def _record(self, entries: Sequence[KeptEntry]) -> list[None]:
        async with self._pool.connection() as conn:
            await record_entries(conn, self.task.task, list({each.key: each for each in entries}.values()))
        return [None] * len(entries)

    def _key(self, url: str) -> int:
        return entry_key(self._short(url))

    def _short(self, url: str) -> str:
        return url.removeprefix(self._origin) if url.startswith(f"{self._origin}/") else storable(url)


def _site(starts: Sequence[str]) -> str:
    """The origin of the first start."""
    return "/".join(starts[0].split("/")[:3]).replace("folder:", "a folder")


def _changes(before: KeptPage, after: KeptPage) -> tuple[KeptPage | None, bool]:
    """The document to be written, None if it is as before; and whether its links have changed."""
    has_new_links = before.content_hash != after.content_hash
    return (after if has_new_links or before[:-1] != after[:-1] else None), has_new_links


def _bounded(page: KeptPage) -> KeptPage:
    """The document without headers that are too long to be sent back."""
    etag, modified = (storable(text) if len(text) <= _MOST_TEXT else "" for text in (page.etag, page.modified))
    return page._replace(etag=etag, modified=modified)


class _Gathering(Generic[_Item, _Result]):
    """Does the work of calls that come while others are under way together, as soon as those are done.

    At most `most` items at once; `work` returns a result for each, in their order.

    The first of them waits for nothing, and a caller that waits for each of its items loses no more than one.
    """

    def __init__(self, work: Callable[[Sequence[_Item]], Awaitable[Sequence[_Result]]], most: int) -> None:
        self._work = work
        self._most = most
        self._waiting: list[tuple[_Item, asyncio.Future[_Result]]] = []
        self._running: asyncio.Task[None] | None = None

    async def result(self, item: _Item) -> _Result:
        """The result for an item; raises what `work` raises. A caller that is cancelled does not stop the work."""
        future: asyncio.Future[_Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        return await future

    async def _run(self) -> None:
        try:
            while self._waiting:
                await asyncio.sleep(0)  # for callers that go on in the same turn of the loop
                batch, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
                await self._do(batch)
        finally:
            self._running = None

    async def _do(self, batch: Sequence[tuple[_Item, asyncio.Future[_Result]]]) -> None:
        try:
            results = await self._work([item for item, _ in batch])
        except Exception as error:
            for _, future in batch:
                if not future.done():
                    future.set_exception(error)
        else:
            for (_, future), result in zip(batch, results, strict=True):
                if not future.done():
                    future.set_result(result)
