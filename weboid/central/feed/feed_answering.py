"""The calls of feeders elsewhere, done on the store (O-1).

One law: nothing is written of a wiki whose farm is not configured here, nor with a day that is not about today's.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from weboid import __version__
from weboid.central.feed import feed_calls as calls
from weboid.central.feed.feed_core import (
    CategorisedPage,
    FeedCore,
    JudgedPages,
    Move,
    NamedPage,
    StreamMove,
    WikiEvents,
)
from weboid.central.feed.feed_on_store import feed_by
from weboid.central.feed.sent_pages import (
    SentPage,
    SentStamp,
    added_of,
    pages_of,
    require_few,
    spam_of,
    stamp_of,
    watched,
)
from weboid.central.http.doing import Answering, CallRefused, NotAllowed, table_of
from weboid.central.http.kinds import OUR_SCHEME, Nothing
from weboid.central.http.messages import BadMessage
from weboid.central.lending import Lender
from weboid.core.url.farms import Farm, WikiName, api_url
from weboid.core.url.spam_lines import SpamLines, parse_lines
from weboid.errors import ConfigError, StoreAway, StoreError
from weboid.mechanism.slices import in_slices
from weboid.store.db.pool import Pool
from weboid.store.pages.page_pass import PassPosition
from weboid.store.pages.pending import Pending
from weboid.store.pages.spam import ListKind
from weboid.store.pages.stream import Position
from weboid.store.schedule.clock import find_moment
from weboid.store.schedule.part import (
    EXPIRY_S,
    KEPT_DAYS,
    PartProcess,
    PartRole,
    SeenPart,
    delete_part,
    record_seen,
    take_role,
)
from weboid.wiki.watch_list import read_watch_list

_AHEAD: Final = 1
"""Days: two clocks at midnight."""
_BEHIND: Final = 100
"""Days: a pass over the largest wiki, which has one day from its start to its end, takes less by far."""


class FeedAnswering(Answering[FeedCore]):
    """Does the calls of feeders elsewhere, in one web process. `today` is the day here, `apis` the addresses of
    wikis that are configured here.
    """

    def __init__(
        self, pool: Pool, farms: Sequence[Farm], today: Callable[[], int], apis: Mapping[WikiName, str]
    ) -> None:
        super().__init__(pool)
        self.farms = {farm.name: farm for farm in farms}
        self._codes = {farm.code: farm for farm in farms}
        self._today = today
        self._apis = apis
        self._wikis: dict[int, Farm] = {}

    def core_by(self, lender: Lender, worker: str) -> FeedCore:
        """What feeders need."""
        return feed_by(lender, self._pool.away)

    async def answer(self, client: str, name: str, sent: bytes) -> bytes:
        """As for all parts; what the store refuses is told in words, as beside the database."""
        try:
            return await super().answer(client, name, sent)
        except StoreAway:
            raise
        except StoreError as error:
            raise CallRefused(str(error)) from error

    def fit_day(self, day: int) -> int:
        """A day that was given; raises CallRefused if it cannot be."""
        if not self._today() - _BEHIND <= day <= self._today() + _AHEAD:
            raise CallRefused("the day there is not that of this core: set the clock right, there or here")
        return day

    def farm_named(self, name: str) -> Farm:
        """A farm by its name; raises CallRefused."""
        if (farm := self.farms.get(name)) is None:
            raise CallRefused(f"the farm {name} is not configured at this core")
        return farm

    def fit_farm(self, code: int) -> int:
        """The code of a farm; raises CallRefused if it is not configured here."""
        if code not in self._codes:
            raise CallRefused(f"the farm {code} is not configured at this core")
        return code

    async def wiki_and_api(self, core: FeedCore, farm: Farm, given: calls.FarmWiki) -> tuple[WikiName, str | None]:
        """The name of a wiki, and its address if the feeder names one: that by the configuration here, or the stored
        one. Raises NotAllowed for any other: it is asked by this machine, and readers follow links to it.
        """
        name = WikiName(given.dbname, farm.name)
        if given.api is None or given.api == (self._apis.get(name) or api_url(farm, given.dbname)):
            return name, given.api
        stored = await core.wikis.list_all()
        if any((each.farm, each.dbname, each.api) == (farm.code, given.dbname, given.api) for each in stored):
            return name, None
        raise NotAllowed(
            "api", f'where the API of {name} is, the core\'s configuration says: set [wiki."{name}"] api there'
        )

    async def farm_of(self, core: FeedCore, wiki: int) -> Farm:
        """The farm of a wiki by its number; raises CallRefused."""
        if wiki not in self._wikis:
            stored = await core.wikis.list_all()
            self._wikis = {each.wiki: self._codes[each.farm] for each in stored if each.farm in self._codes}
        if (farm := self._wikis.get(wiki)) is None:
            raise CallRefused(f"there is no wiki with the number {wiki} at this core, or its farm is not configured")
        return farm

    async def pages(
        self, core: FeedCore, wiki: int, pages: Sequence[SentPage], gone: Sequence[int], stamp: SentStamp | None
    ) -> JudgedPages:
        """Pages that were sent."""
        farm = await self.farm_of(core, wiki)
        require_few(pages)
        return JudgedPages(await in_slices(pages_of(pages, farm)), gone, stamp_of(stamp))

    async def greet(self, client: str, core: FeedCore, given: Nothing) -> calls.FeedGreeting:
        """What a feeder is told at its start."""
        farms = [
            calls.SentFarm(farm.code, farm.name, farm.api, sorted(farm.domains), dict(farm.hosts), farm.spam_wiki)
            for farm in self.farms.values()
        ]
        async with self._pool.connection() as conn:
            return calls.FeedGreeting(__version__, OUR_SCHEME, farms, await find_moment(conn))

    async def live(self, client: str, core: FeedCore, given: calls.FeedLife) -> SeenPart | None:
        """Writes the sign of life of a feeder, or takes it away; who else has its role, if it may not have it."""
        if given.role not in (PartRole.FEED.value, PartRole.EVENTS.value):
            raise BadMessage("this role is not a feeder's")
        life = given.life
        part = PartProcess(
            PartRole(given.role), f"{client}:{life.name}", life.host, life.machine, life.pid, life.version
        )
        async with self._pool.connection() as conn:
            if life.is_last:
                await delete_part(conn, part)
                return None
            if not given.takes and await record_seen(conn, part, life.doing, life.figures):
                return None
            expiry_s = KEPT_DAYS * 86_400.0 if given.was_away else EXPIRY_S
            other = await take_role(conn, part, lambda other: other.name in given.gone, expiry_s=expiry_s)
            if other is None:
                await record_seen(conn, part, life.doing, life.figures)
            return other


async def _wiki(here: FeedAnswering, client: str, core: FeedCore, given: calls.FarmWiki) -> Any:
    farm = here.farm_named(given.farm)
    return await core.wikis.record(farm, *await here.wiki_and_api(core, farm, given))


async def _wikis(_: FeedAnswering, client: str, core: FeedCore, given: Nothing) -> Any:
    return await core.wikis.list_all()


async def _namespaces(here: FeedAnswering, client: str, core: FeedCore, given: calls.NamesOfWiki) -> Nothing:
    await here.farm_of(core, given.wiki)
    await core.wikis.record_namespaces(given.wiki, given.names)
    return Nothing()


async def _start(here: FeedAnswering, client: str, core: FeedCore, given: calls.PassStart) -> Any:
    await here.farm_of(core, given.wiki)
    return await core.passes.start(given.wiki, given.plan, here.fit_day(given.day))


async def _meet(here: FeedAnswering, client: str, core: FeedCore, given: calls.Met) -> Nothing:
    await here.farm_of(core, given.wiki)
    await core.passes.meet(given.wiki, given.pages, here.fit_day(given.day), _move(given.move))
    return Nothing()


async def _exclude(here: FeedAnswering, client: str, core: FeedCore, given: calls.Excluded) -> Nothing:
    await here.farm_of(core, given.wiki)
    await core.passes.exclude(given.wiki, given.pages, _move(given.move))
    return Nothing()


async def _end_step(here: FeedAnswering, client: str, core: FeedCore, given: calls.StepEnd) -> Nothing:
    await here.farm_of(core, given.wiki)
    await core.passes.end_step(given.wiki, given.started, given.trees, _move(given.move))
    return Nothing()


async def _count(_: FeedAnswering, client: str, core: FeedCore, given: calls.OfPass) -> Any:
    return await core.passes.count(given.wiki, given.started)


async def _records(_: FeedAnswering, client: str, core: FeedCore, given: calls.RecordsWanted) -> Any:
    return await core.passes.list_records(given.wiki, given.after, given.limit)


async def _walk(here: FeedAnswering, client: str, core: FeedCore, given: calls.WalkedPages) -> Any:
    pages = await here.pages(core, given.wiki, given.pages, given.gone, given.stamp)
    return await core.passes.record(given.wiki, pages, here.fit_day(given.day), _move(given.move))


async def _end(here: FeedAnswering, client: str, core: FeedCore, given: calls.PassEnd) -> Nothing:
    await core.passes.end(given.wiki, given.started, here.fit_day(given.day))
    return Nothing()


async def _waiting(_: FeedAnswering, client: str, core: FeedCore, given: calls.WaitingWanted) -> Any:
    return await core.waiting.list_waiting(given.wiki, given.until, given.limit)


async def _watched(_: FeedAnswering, client: str, core: FeedCore, given: calls.SomePages) -> Any:
    return await core.waiting.list_watched(given.wiki, given.pages)


async def _waited(here: FeedAnswering, client: str, core: FeedCore, given: calls.WaitedPages) -> Any:
    pages = await here.pages(core, given.wiki, given.pages, given.gone, given.stamp)
    done = [Pending(each.page, each.title, each.seen, each.matched) for each in given.done]
    return await core.waiting.record(given.wiki, pages, done, here.fit_day(given.day))


async def _has_category(_: FeedAnswering, client: str, core: FeedCore, given: Nothing) -> bool:
    return await core.streams.has_category()


async def _position(_: FeedAnswering, client: str, core: FeedCore, given: calls.OfStreams) -> Any:
    return await core.streams.find_position(given.names)


async def _apply(here: FeedAnswering, client: str, core: FeedCore, given: calls.EventBatch) -> Any:
    events = []
    require_few([added for each in given.events for added in each.added])
    for each in given.events:
        farm = await here.farm_of(core, each.wiki)
        events.append(
            WikiEvents(
                each.wiki,
                stamp_of(each.stamp),
                await in_slices(added_of(each.added, farm)),
                each.gone,
                [NamedPage(*page) for page in each.named],
                each.moved,
                [CategorisedPage(*page) for page in each.categorised],
                each.later,
                each.later_titles,
            )
        )
    move = StreamMove(given.move.before, Position(*given.move.after)) if given.move else None
    return await core.streams.apply(events, move, here.fit_day(given.day))


async def _find_list(_: FeedAnswering, client: str, core: FeedCore, given: calls.ListWanted) -> Any:
    return await core.lists.find(given.farm, given.of, given.known)


async def _is_fresh(_: FeedAnswering, client: str, core: FeedCore, given: calls.OfList) -> bool:
    return await core.lists.is_fresh(given.farm, given.of, given.day)


async def _record_list(here: FeedAnswering, client: str, core: FeedCore, given: calls.FetchedLists) -> bool:
    fetched = {ListKind.BLACK: await _lines(given.black), ListKind.WHITE: await _lines(given.white)}
    return await core.lists.record(here.fit_farm(given.farm), given.of, fetched, here.fit_day(given.day))


async def _stretch(_: FeedAnswering, client: str, core: FeedCore, given: calls.StretchWanted) -> Any:
    batch = await core.lists.find_stretch(given.wiki, given.after, given.limit)
    if batch is None:
        return None
    uses = {page: [str(batch.urls[key]) for key in keys if key in batch.urls] for page, keys in batch.uses.items()}
    return calls.SpamStretch(batch.last, uses, {page: list(links.values()) for page, links in batch.spam.items()})


async def _reclassify(here: FeedAnswering, client: str, core: FeedCore, given: calls.JudgedLinks) -> Any:
    farm = await here.farm_of(core, given.wiki)
    now_spam = {page: await in_slices(spam_of(links, farm)) for page, links in given.now_spam.items()}
    no_spam = {page: await in_slices(watched(links, farm)) for page, links in given.no_spam.items()}
    return await core.lists.reclassify(given.wiki, now_spam, no_spam, here.fit_day(given.day))


async def _applied(here: FeedAnswering, client: str, core: FeedCore, given: calls.OfList) -> Nothing:
    await core.lists.record_applied(given.farm, given.of, here.fit_day(given.day))
    return Nothing()


async def _find_watch_page(_: FeedAnswering, client: str, core: FeedCore, given: calls.WatchPage) -> Any:
    return await core.watched.find(given.source)


async def _record_watch_page(here: FeedAnswering, client: str, core: FeedCore, given: calls.ReadWatchPage) -> Nothing:
    if given.text:
        try:
            read_watch_list(given.text, tuple(here.farms.values()))
        except ConfigError as error:
            # Every other reader of what is watched would fail by it.
            raise CallRefused(f"the page of what is watched cannot be used: {error}") from error
    await core.watched.record(given.source, given.text, given.fault, here.fit_day(given.day))
    return Nothing()


async def _no_watch_page(_: FeedAnswering, client: str, core: FeedCore, given: Nothing) -> Nothing:
    await core.watched.lower()
    return Nothing()


def _move(move: calls.SentMove) -> Move:
    before, after = move.before, move.after
    return Move(PassPosition(before.step, before.place), PassPosition(after.step, after.place))


async def _lines(given: calls.FetchedList) -> SpamLines:
    """Lines that were sent; those that this program cannot run either are none."""
    parsed = await asyncio.to_thread(parse_lines, "\n".join(given.usable))
    return SpamLines(parsed.usable, (*given.unusable, *parsed.unusable))


FeedAnswering.calls = table_of(
    (
        (calls.GREET, FeedAnswering.greet),
        (calls.LIFE, FeedAnswering.live),
        (calls.WIKI, _wiki),
        (calls.WIKIS, _wikis),
        (calls.NAMESPACES, _namespaces),
        (calls.START, _start),
        (calls.MEET, _meet),
        (calls.EXCLUDE, _exclude),
        (calls.END_STEP, _end_step),
        (calls.COUNT, _count),
        (calls.RECORDS, _records),
        (calls.WALK, _walk),
        (calls.END, _end),
        (calls.WAITING, _waiting),
        (calls.WATCHED, _watched),
        (calls.WAITED, _waited),
        (calls.HAS_CATEGORY, _has_category),
        (calls.POSITION, _position),
        (calls.APPLY, _apply),
        (calls.FIND_LIST, _find_list),
        (calls.IS_FRESH, _is_fresh),
        (calls.RECORD_LIST, _record_list),
        (calls.STRETCH, _stretch),
        (calls.RECLASSIFY, _reclassify),
        (calls.APPLIED, _applied),
        (calls.FIND_WATCH_PAGE, _find_watch_page),
        (calls.RECORD_WATCH_PAGE, _record_watch_page),
        (calls.NO_WATCH_PAGE, _no_watch_page),
    )
)
