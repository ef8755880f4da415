"""The server's side of the calls of remote feeders (O-1).

Nothing is written of a wiki whose farm is not configured here, nor with a day that is not about today's.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from weboid.core.url.farms import Farm, WikiName, api_url
from weboid.errors import ConfigError, StoreAway, StoreError
from weboid.remote.feed.calls import FeederCalls, FeedStore, local_feed_store
from weboid.remote.feed.pages import StoredWikis
from weboid.remote.http.rpc import Connections, implementations, table_of
from weboid.remote.http.server import CallRefused, CallServer, Handlers, NotAllowed
from weboid.store.db.pool import Pool
from weboid.wiki.watch_list import read_watch_list

_AHEAD: Final = 1
"""Days: two clocks at midnight."""
_BEHIND: Final = 100
"""Days: a pass over the largest wiki, which has one day from its start to its end, takes less by far."""


class FeedServer(CallServer):
    """Does the calls of remote feeders, in one web process. `today` is the day here, `apis` the addresses of wikis
    that are configured here.
    """

    calls = table_of(FeederCalls, FeedStore)

    def __init__(
        self, pool: Pool, farms: Sequence[Farm], today: Callable[[], int], apis: Mapping[WikiName, str]
    ) -> None:
        super().__init__(pool)
        self.farms = tuple(farms)
        self.today = today
        self.apis = apis
        self.farms_of_wikis: dict[int, Farm] = {}

    def handlers(self, connections: Connections, client: str, worker: str) -> Handlers:
        """The store's own work: a token's rights depend on the arguments alone."""
        store = local_feed_store(self._pool, connections)
        process = FeederCalls(self._pool, client, self.farms)
        return Handlers(FeederRights(self, store.wikis), {FeederCalls: process, **implementations(store)})

    async def answer(self, client: str, name: str, sent: bytes) -> bytes:
        """As `CallServer`; a refusal of the store is sent with its text."""
        try:
            return await super().answer(client, name, sent)
        except StoreAway:
            raise
        except StoreError as error:
            raise CallRefused(str(error)) from error


class FeederRights:
    """Checks and conversions of the arguments of a feeder's calls; the methods raise CallRefused."""

    def __init__(self, server: FeedServer, wikis: StoredWikis) -> None:
        self._server = server
        self._wikis = wikis

    async def require_day(self, day: int) -> None:
        """Refuses a day that cannot be about today."""
        if not self._server.today() - _BEHIND <= day <= self._server.today() + _AHEAD:
            raise CallRefused("the day there is not that of this server: set the clock right, there or here")

    async def require_farm(self, code: int) -> None:
        """Refuses the code of a farm that is not configured here."""
        if all(farm.code != code for farm in self._server.farms):
            raise CallRefused(f"the farm {code} is not configured on this server")

    async def require_watch_list(self, text: str | None) -> None:
        """Refuses a page that cannot be used: every other reader of it would fail."""
        if text:
            try:
                read_watch_list(text, self._server.farms)
            except ConfigError as error:
                raise CallRefused(f"the page of watched wikis cannot be used: {error}") from error

    async def farm_named(self, name: str) -> Farm:
        """A farm by its name."""
        for farm in self._server.farms:
            if farm.name == name:
                return farm
        raise CallRefused(f"the farm {name} is not configured on this server")

    async def farm_of(self, wiki: int) -> Farm:
        """The farm of a wiki by its number."""
        known = self._server.farms_of_wikis
        if wiki not in known:
            farms = {farm.code: farm for farm in self._server.farms}
            known.update({each.wiki: farms[each.farm] for each in await self._wikis.list_all() if each.farm in farms})
        if (found := known.get(wiki)) is None:
            raise CallRefused(f"there is no wiki with the number {wiki} on this server, or its farm is not configured")
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
            "api",
            f'the address of the API of {name} comes from the server\'s configuration: set [wiki."{name}"] api there',
        )
