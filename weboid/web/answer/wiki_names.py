"""The known wikis by name: to find the one that a request names, in whatever way, and for the lists in forms.

The list is kept for 30 seconds, so that many requests do not cause as many queries; only a wiki that is not in it is
looked up by itself.
"""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from weboid.core.url.farms import Farm, WikiName, farm_named
from weboid.core.url.pasted import PastedAddress, pasted_address, same_wiki
from weboid.errors import ConfigError, NotFound, StoreError
from weboid.store.db.pool import Pool
from weboid.store.pages.wiki import StoredWiki, find_wiki, list_wikis

_MOST: Final = 2_000
_KEPT_S: Final = 30.0
_IMPATIENT_S: Final = 1.0
"""The wait for a connection, while there is an older list."""


class NamedPlace(NamedTuple):
    """A known wiki, and the title or the id of one of its pages; "" = none is named."""

    wiki: WikiName
    title: str = ""
    page: str = ""


class Wikis:
    """The known wikis; reads all of them from the store at most every 30 seconds."""

    def __init__(self, pool: Pool, farms: Sequence[Farm]) -> None:
        self._pool = pool
        self.farms: Final = tuple(farms)
        self._names = {farm.code: farm.name for farm in farms}
        self._until_s = 0.0
        self._known: dict[str, StoredWiki] = {}
        self._by_word: dict[str, list[str]] = {}
        """The names of known wikis by what else names them: in lower case, with and without farm, and by host."""

    async def list_known(self) -> dict[str, StoredWiki]:
        """Wikis by name, without those of farms that are no longer configured; while the store is away the last list
        (O-8). Raises StoreError if there is none yet.
        """
        now_s = asyncio.get_running_loop().time()
        if not self._known or now_s > self._until_s:
            try:
                async with self._pool.viewing(_IMPATIENT_S if self._known else None) as conn:
                    wikis = (await list_wikis(conn))[:_MOST]
            except StoreError:
                if not self._known:
                    raise
            else:
                self._known = {
                    str(WikiName(wiki.dbname, self._names[wiki.farm])): wiki
                    for wiki in wikis
                    if wiki.farm in self._names
                }
                self._by_word = defaultdict(list)
                for name, wiki in self._known.items():
                    for word in _words_of(name, wiki):
                        self._by_word[word].append(name)
            self._until_s = now_s + _KEPT_S
        return self._known

    async def find(self, name: WikiName) -> tuple[StoredWiki, Farm]:
        """The wiki of that name and its farm; raises NotFound, StoreError."""
        try:
            farm = farm_named(name.farm, self.farms)
        except ConfigError:
            raise NotFound(str(name)) from None
        if (wiki := (await self.list_known()).get(str(name))) is None:
            async with self._pool.viewing() as conn:
                wiki = await find_wiki(conn, farm, name)
        if wiki is None:
            raise NotFound(str(name))
        return wiki, farm

    async def named(self, wiki: str, title: str = "") -> NamedPlace | None:
        """The known wiki, and perhaps the page, that two texts name, of which each may be empty: a name in any case and
        without its farm where that is clear, a host, the address of a page. None if they name none.
        """
        try:
            known = await self.list_known()
        except StoreError:
            return None
        meant = wiki if wiki in known else self._only(wiki.casefold())
        for text in (title, wiki) if "/" in title else (wiki,):
            if text in known or (address := pasted_address(text)) is None:
                continue
            if name := self._at(address, meant):
                asked = address.title_at(known[name].article, known[name].api)
                if asked or address.page or text is wiki:
                    return NamedPlace(_name_of(name), asked, address.page)
        return NamedPlace(_name_of(meant)) if meant else None

    def _only(self, word: str) -> str | None:
        found = self._by_word.get(word, ())
        return found[0] if len(found) == 1 else None

    def _at(self, address: PastedAddress, meant: str | None) -> str | None:
        """The one wiki at the host of an address; of several the one that is meant, if the path is one of its own."""
        host = same_wiki(address.host)
        if (name := self._only(host)) is None and meant is not None and meant in self._by_word.get(host, ()):
            wiki = self._known[meant]
            return meant if address.is_at(wiki.article, wiki.api) else None
        return name

    async def list_names(self) -> Sequence[str]:
        """The names of the known wikis; raises StoreError."""
        return list(await self.list_known())


def _name_of(known: str) -> WikiName:
    dbname, _, farm = known.partition("@")
    return WikiName(dbname, farm)


def _words_of(name: str, wiki: StoredWiki) -> set[str]:
    hosts = {same_wiki(urlsplit(address).hostname or "") for address in (wiki.api, wiki.article) if address}
    return {*map(str.casefold, (name, wiki.dbname, f"{wiki.dbname}_p")), *hosts} - {""}  # _p: the wiki's replica
