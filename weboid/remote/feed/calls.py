"""A feeder's calls apart from those about ``pages``, all that it needs of the store, and the server of both (O-1).

Each method is a call, next to the database or far from it: one transaction. All raise StoreAway while the store cannot
be used, and a caller that tries again what has failed so does it with the same wire.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

from msgspec import Meta, Struct

from weboid import __version__
from weboid.core.url.farms import Farm, WikiName, api_url
from weboid.errors import ConfigError, StoreAway, StoreError
from weboid.mechanism.disturbance import Disturbance
from weboid.remote.feed import wire
from weboid.remote.feed.batches import ListLines, StampLines, StreamMove
from weboid.remote.feed.pages import FollowedStreams, PagesWaiting, Passes, StoredWikis
from weboid.remote.feed.wire import Dbname, FarmCode, Link, OwnLists, WatchText, Wiki
from weboid.remote.http.messages import FEEDERS, BadMessage
from weboid.remote.http.rpc import Connections, OnStore, call, implementations, table_of
from weboid.remote.http.server import CallRefused, CallServer, Handlers, NotAllowed
from weboid.remote.http.wire import OUR_SCHEME, Day, Detail, Greeted, Life, ThisDay, record_life, up_to
from weboid.store.db.pool import Connection, Pool
from weboid.store.db.transactions import all_repeated
from weboid.store.pages import spam
from weboid.store.pages.pending import Page, Pending
from weboid.store.pages.spam import ListKind, Reclassified, SpamList
from weboid.store.pages.wiki import StoredWatchList, find_watch_list, record_watch_list
from weboid.store.schedule.days import find_moment
from weboid.store.schedule.process import EXPIRY_S, KEPT_DAYS, ProcessRole, SeenProcess
from weboid.store.upkeep.alarm import AlarmKind, lower_alarm, record_alarms

_MOST_STRETCH: Final = 100
_ABOUT: Final = 1  # day: two clocks at midnight


@all_repeated
class SpamLists(OnStore):
    """The spam lists of wikis, and of farms (`of` = FARM), and links that are judged by them again."""

    @call("find-list")
    async def find(self, farm: FarmCode, of: Dbname, known: StampLines | None) -> ListLines | None:
        """The lists of a name; None if they still have the stamp that is known."""
        async with self._connections.connection() as conn:
            stamp = (await spam.list_stamps(conn, farm, of))[of]
            if stamp == known:
                return None
            lists = await _lists_of(conn, farm, of) if stamp else []
            black = (line for each in lists if each.kind is ListKind.BLACK for line in each.lines)
            white = (line for each in lists if each.kind is ListKind.WHITE for line in each.lines)
            return ListLines(stamp, tuple(black), tuple(white))

    @call("is-fresh")
    async def is_fresh(self, farm: FarmCode, of: Dbname, day: Day) -> bool:
        """True if the lists were fetched on `day` or later, and have taken effect."""
        lists = await self._run(_lists_of, farm, of)
        return bool(lists) and all(each.day >= day for each in lists)

    @call("record-list", is_once=True)
    async def record(self, farm: FarmCode, of: OwnLists, fetched: wire.FetchedLists, day: ThisDay) -> bool:
        """Stores the lists; returns True if links have to be judged again.

        Lines that were added or removed in a refresh that was broken off count, too.
        """
        async with self._connections.connection() as conn:
            known = {each.kind: each for each in await _lists_of(conn, farm, of)}
            changed = any(
                set(lines.usable) != set(known[kind].lines) if kind in known else bool(lines.usable)
                for kind, lines in fetched.items()
            ) or any(each.day == spam.UNAPPLIED for each in known.values())
            for kind, lines in fetched.items():
                await spam.record_spam_list(
                    conn, spam.spam_list(farm, of, kind, spam.UNAPPLIED if changed else day, lines)
                )
        return changed

    @call("stretch")
    async def find_stretch(
        self, wiki: Wiki, after: Page, limit: Annotated[int, up_to(_MOST_STRETCH, 1)]
    ) -> wire.SpamStretch:
        """The next pages of a wiki, `limit` at most, after page `after`; None if there is none."""
        return await self._run(spam.find_stretch, wiki, after, limit)

    @call("reclassify", is_once=True)
    async def reclassify(self, wiki: Wiki, now_spam: wire.NowSpam, no_spam: wire.NoSpam, day: ThisDay) -> Reclassified:
        """Turns uses into spam links and spam links into uses, unless they have changed since they were judged."""
        return await self._run(spam.record_reclassified, wiki, now_spam, no_spam, day)

    @call("applied", is_once=True)
    async def record_applied(self, farm: FarmCode, of: OwnLists, day: ThisDay) -> None:
        """Records that all links are judged by the lists as they were fetched on that day."""
        await self._run(spam.record_applied, farm, of, day)


async def _lists_of(conn: Connection, farm: int, of: str) -> list[SpamList]:
    return [each for each in await spam.list_spam_lists(conn, farm, of) if each.dbname == of]


@all_repeated
class WatchPage(OnStore):
    """The page that names the watched wikis, as it was last read, and its alarm."""

    @call("find-watch-page")
    async def find(self, source: Link) -> StoredWatchList | None:
        """The stored page of this name; None before it was first read."""
        return await self._run(find_watch_list, source)

    @call("record-watch-page", is_once=True)
    async def record(self, source: Link, text: WatchText, fault: Detail, day: ThisDay) -> None:
        """Stores a page as it was read just now, and raises the alarm of its fault, or lowers it."""
        async with self._connections.connection() as conn, conn.transaction():
            await record_watch_list(conn, source, text, fault)
            await record_alarms(conn, AlarmKind.WATCHED, {"": fault} if fault else {}, day)

    @call("no-watch-page")
    async def lower(self) -> None:
        """Lowers that alarm, since there is no such page any more."""
        await self._run(lower_alarm, AlarmKind.WATCHED, "")


class _WatchPageOfAll(WatchPage):
    """The page for a token that names wikis: its alarm is of all."""

    async def lower(self) -> None:
        """Leaves it raised."""


@dataclass(frozen=True, slots=True)
class FeedStore:
    """The store as a feeder needs it. `away`: whether it can be used now."""

    wikis: StoredWikis
    passes: Passes
    waiting: PagesWaiting
    streams: FollowedStreams
    lists: SpamLists
    watched: WatchPage
    away: Disturbance


def local_feed_store(pool: Pool, connections: Connections | None = None) -> FeedStore:
    """The store for a feeder next to the database, with the pool's connections if there are no others."""
    own = connections or pool
    passes, streams = Passes(own), FollowedStreams(own)
    return FeedStore(StoredWikis(own), passes, PagesWaiting(own), streams, SpamLists(own), WatchPage(own), pool.away)


class FeedGreeting(Greeted, frozen=True):
    """The server's own farms, and the moment by the clock of its database."""

    farms: Sequence[Farm]
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


@dataclass
class FeederCalls:
    """Calls of a feeder's own process; a client is the name of its token."""

    pool: Pool
    client: str
    farms: Sequence[Farm]

    @call("greet")
    async def greet(self) -> FeedGreeting:
        """The server's farms and its moment. Raises StoreAway."""
        async with self.pool.connection() as conn:
            return FeedGreeting(__version__, OUR_SCHEME, self.farms, await find_moment(conn))

    @call("life")
    async def live(self, life: FeedLife) -> SeenProcess | None:
        """Writes a sign of life, or takes it away; returns the process that has the role, if this one may not."""
        if life.role not in (ProcessRole.FEED.value, ProcessRole.EVENTS.value):
            raise BadMessage("this role is not a feeder's")
        role = ProcessRole(life.role)
        expiry_s = KEPT_DAYS * 86_400.0 if life.was_away else EXPIRY_S
        gone = [name for name in life.gone if name.startswith(f"{self.client}:")]
        return await record_life(
            self.pool, role, self.client, life.life, takes=life.takes, gone=gone, expiry_s=expiry_s
        )


class FeedServer(CallServer):
    """Does the calls of remote feeders, in one web process. `today` is the day here, `apis` the addresses of wikis
    that are configured here, `wikis` those that a token may feed, by its name; one that is not there may feed all.
    """

    calls = table_of(FeederCalls, FeedStore)

    def __init__(
        self,
        pool: Pool,
        farms: Sequence[Farm],
        today: Callable[[], int],
        apis: Mapping[WikiName, str],
        wikis: Mapping[str, Collection[WikiName]],
    ) -> None:
        super().__init__(pool)
        self.farms = tuple(farms)
        self.today = today
        self.apis = apis
        self.wikis = wikis
        self.farms_of_wikis: dict[int, tuple[WikiName, Farm]] = {}

    def handlers(self, connections: Connections, client: str, worker: str) -> Handlers:
        """The store's own work: a token's rights depend on the arguments alone."""
        store = local_feed_store(self._pool, connections)
        rights = FeederRights(self, store.wikis, connections, self.wikis.get(client))
        if rights.own is not None:
            store = replace(store, watched=_WatchPageOfAll(connections))
        return Handlers(rights, {FeederCalls: FeederCalls(self._pool, client, self.farms), **implementations(store)})

    async def answer(self, client: str, name: str, sent: bytes) -> bytes:
        """As `CallServer`; a refusal of the store is sent with its text."""
        try:
            return await super().answer(client, name, sent)
        except StoreAway:
            raise
        except StoreError as error:
            raise CallRefused(str(error)) from error


@dataclass(frozen=True, slots=True)
class FeederRights:
    """Checks and conversions of the arguments of a feeder's calls; the methods raise CallRefused.

    `own` are the wikis that the token may feed; None = all whose farms are configured here.
    """

    server: FeedServer
    wikis: StoredWikis
    connections: Connections
    own: Collection[WikiName] | None

    async def require_day(self, day: int) -> None:
        """Refuses a day that is not within one of today."""
        if abs(day - self.server.today()) > _ABOUT:
            raise CallRefused("the day there is not that of this server: set the clock right, there or here")

    async def require_moments(self, moments: Iterable[datetime]) -> None:
        """Refuses moments to come, by the clock of the database: pages would wait until then."""
        if newest := max((each if each.tzinfo else each.replace(tzinfo=UTC) for each in moments), default=None):
            async with self.connections.connection() as conn:
                end = await find_moment(conn) + timedelta(days=_ABOUT)
            if newest > end:
                raise CallRefused("an event there is of a day to come: set the clock right, there or here")

    async def require_seen(self, pages: Sequence[Pending]) -> None:
        """Refuses pages that would wait until a day to come."""
        await self.require_moments(page.seen for page in pages)

    def require_wiki(self, name: WikiName) -> None:
        """Refuses a wiki that the token does not name."""
        if self.own is not None and name not in self.own:
            raise NotAllowed("wiki", f"this token does not name the wiki {name}: name it in {FEEDERS.tokens} there")

    async def require_move(self, move: StreamMove | None) -> None:
        """Refuses a position of streams of a day to come, and from a token that may not feed all that follow them."""
        if move is None:
            return
        await self.require_moments([move.after.moment])
        if self.own is not None:
            for each in await self.wikis.list_all():
                await self.farm_of(each.wiki)

    async def own_lists(self, farm: int, of: str) -> str:
        """The name, if the token may write its spam lists."""
        found = self._farm("code", farm)
        self.require_wiki(WikiName(of or found.spam_wiki, found.name))
        return of

    async def require_watch_list(self, text: str | None) -> None:
        """Refuses a page that cannot be used, as every other reader would fail, and a token that names wikis."""
        if self.own is not None:
            raise NotAllowed("wiki", "the page of watched wikis is of all wikis, and this token names some")
        if text:
            from weboid.wiki.watch_list import read_watch_list

            try:
                read_watch_list(text, self.server.farms)
            except ConfigError as error:
                raise CallRefused(f"the page of watched wikis cannot be used: {error}") from error

    async def farm_named(self, name: str) -> Farm:
        """A farm by its name."""
        return self._farm("name", name)

    def _farm(self, field: str, value: object) -> Farm:
        for farm in self.server.farms:
            if getattr(farm, field) == value:
                return farm
        raise CallRefused(f"the farm {value} is not configured on this server")

    async def farm_of(self, wiki: int) -> Farm:
        """The farm of a wiki by its number; refuses one that the token does not name."""
        known = self.server.farms_of_wikis
        if wiki not in known:
            farms = {farm.code: farm for farm in self.server.farms}
            for each in await self.wikis.list_all():
                if farm := farms.get(each.farm):
                    known[each.wiki] = WikiName(each.dbname, farm.name), farm
        if (found := known.get(wiki)) is None:
            raise CallRefused(f"there is no wiki with the number {wiki} on this server, or its farm is not configured")
        self.require_wiki(found[0])
        return found[1]

    async def api_of(self, farm: Farm, name: WikiName, api: str | None) -> str | None:
        """The address of a wiki if the feeder names one: that by the configuration here, or None for the stored one.
        Raises NotAllowed for any other: it is asked by this machine, and readers follow links to it.
        """
        if api is None or api == (self.server.apis.get(name) or api_url(farm, name.dbname)):
            return api
        known = (farm.code, name.dbname, api)
        if any((each.farm, each.dbname, each.api) == known for each in await self.wikis.list_all()):
            return None
        raise NotAllowed(
            "api",
            f'the address of the API of {name} comes from the server\'s configuration: set [wiki."{name}"] api there',
        )
