"""The server's side of the calls of remote feeders (O-1).

One law: nothing is written of a wiki whose farm is not configured here, nor with a day that is not about today's.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from weboid import __version__
from weboid.core.url.farms import Farm, WikiName, api_url
from weboid.errors import ConfigError, StoreAway, StoreError
from weboid.remote.feed.core import FeedCore, FeederCalls, FeedGreeting, FeedLife, ServedFarm, StoredWikis
from weboid.remote.feed.on_store import feed_by
from weboid.remote.http.doing import Answering, CallRefused, NotAllowed, Parts
from weboid.remote.http.kinds import OUR_SCHEME, process_of
from weboid.remote.http.messages import BadMessage
from weboid.remote.http.rpc import parts_of, table_of
from weboid.remote.lending import Lender
from weboid.store.db.pool import Pool
from weboid.store.schedule.days import find_moment
from weboid.store.schedule.process import (
    EXPIRY_S,
    KEPT_DAYS,
    ProcessRole,
    SeenProcess,
    delete_process,
    record_seen,
    take_role,
)
from weboid.wiki.watch_list import read_watch_list

_AHEAD: Final = 1
"""Days: two clocks at midnight."""
_BEHIND: Final = 100
"""Days: a pass over the largest wiki, which has one day from its start to its end, takes less by far."""


class FeedAnswering(Answering):
    """Does the calls of remote feeders, in one web process. `today` is the day here, `apis` the addresses of wikis
    that are configured here.
    """

    calls = table_of(FeederCalls, FeedCore)

    def __init__(
        self, pool: Pool, farms: Sequence[Farm], today: Callable[[], int], apis: Mapping[WikiName, str]
    ) -> None:
        super().__init__(pool)
        self.farms = tuple(farms)
        self.today = today
        self.apis = apis
        self.farms_of_wikis: dict[int, Farm] = {}

    def parts(self, lender: Lender, client: str, worker: str) -> Parts:
        """A feeder's work, which is the store's own: what a token may do, its arguments say."""
        core = feed_by(lender, self._pool.away)
        process = _Feeder(self._pool, client, self.farms)
        return Parts(FeederRights(self, core.wikis), {FeederCalls: process, **parts_of(core)})

    async def answer(self, client: str, name: str, sent: bytes) -> bytes:
        """As for all processes; what the store refuses is said in words, as next to the database."""
        try:
            return await super().answer(client, name, sent)
        except StoreAway:
            raise
        except StoreError as error:
            raise CallRefused(str(error)) from error


class FeederRights:
    """Checks and conversions of the arguments of a feeder's calls; the methods raise CallRefused."""

    def __init__(self, server: FeedAnswering, wikis: StoredWikis) -> None:
        self._server = server
        self._wikis = wikis

    async def require_day(self, day: int) -> None:
        """Refuses a day that cannot be about today."""
        if not self._server.today() - _BEHIND <= day <= self._server.today() + _AHEAD:
            raise CallRefused("the day there is not that of this core: set the clock right, there or here")

    async def require_farm(self, code: int) -> None:
        """Refuses the code of a farm that is not configured here."""
        if all(farm.code != code for farm in self._server.farms):
            raise CallRefused(f"the farm {code} is not configured at this core")

    async def require_wiki(self, wiki: int) -> None:
        """Refuses a wiki that is not stored, or whose farm is not configured here."""
        await self.farm_of(wiki)

    async def require_watch_list(self, text: str | None) -> None:
        """Refuses a page that cannot be used: every other reader of what is watched would fail by it."""
        if text:
            try:
                read_watch_list(text, self._server.farms)
            except ConfigError as error:
                raise CallRefused(f"the page of what is watched cannot be used: {error}") from error

    def farm_named(self, name: str) -> Farm:
        """A farm by its name."""
        for farm in self._server.farms:
            if farm.name == name:
                return farm
        raise CallRefused(f"the farm {name} is not configured at this core")

    async def farm_of(self, wiki: int) -> Farm:
        """The farm of a wiki by its number."""
        known = self._server.farms_of_wikis
        if wiki not in known:
            farms = {farm.code: farm for farm in self._server.farms}
            known.update({each.wiki: farms[each.farm] for each in await self._wikis.list_all() if each.farm in farms})
        if (found := known.get(wiki)) is None:
            raise CallRefused(f"there is no wiki with the number {wiki} at this core, or its farm is not configured")
        return found

    async def api_of(self, farm: Farm, name: WikiName, api: str | None) -> str | None:
        """The address of a wiki if the feeder names one: that by the configuration here, or None for the stored one.
        Raises NotAllowed for any other: it is asked by this machine, and readers follow links to it.
        """
        if api is None or api == (self._server.apis.get(name) or api_url(farm, name.dbname)):
            return api
        stored = await self._wikis.list_all()
        if any((each.farm, each.dbname, each.api) == (farm.code, name.dbname, api) for each in stored):
            return None
        raise NotAllowed(
            "api", f'where the API of {name} is, the core\'s configuration says: set [wiki."{name}"] api there'
        )


class _Feeder:
    """The process of a feeder."""

    def __init__(self, pool: Pool, client: str, farms: Sequence[Farm]) -> None:
        self._pool = pool
        self._client = client
        self._farms = farms

    async def greet(self) -> FeedGreeting:
        farms = [
            ServedFarm(farm.code, farm.name, farm.api, sorted(farm.domains), dict(farm.hosts), farm.spam_wiki)
            for farm in self._farms
        ]
        async with self._pool.connection() as conn:
            return FeedGreeting(__version__, OUR_SCHEME, farms, await find_moment(conn))

    async def live(self, life: FeedLife) -> SeenProcess | None:
        if life.role not in (ProcessRole.FEED.value, ProcessRole.EVENTS.value):
            raise BadMessage("this role is not a feeder's")
        sign = life.life
        part = process_of(ProcessRole(life.role), self._client, sign)
        async with self._pool.connection() as conn:
            if sign.is_last:
                await delete_process(conn, part)
                return None
            if not life.takes and await record_seen(conn, part, sign.doing, sign.figures):
                return None
            expiry_s = KEPT_DAYS * 86_400.0 if life.was_away else EXPIRY_S
            other = await take_role(conn, part, lambda other: other.name in life.gone, expiry_s=expiry_s)
            if other is None:
                await record_seen(conn, part, sign.doing, sign.figures)
            return other
