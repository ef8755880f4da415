"""The source that asks a wiki's Action API: any MediaWiki, no credentials (L-2). HTTP itself lives in ``action``.

One law: a batch is given out only when MediaWiki calls it complete; half a page's links would look like removed ones.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import aiohttp

from weboid.errors import SourceError
from weboid.wiki.action import ActionApi, Patience
from weboid.wiki.interwiki import InterwikiMap
from weboid.wiki.source import WIKITEXT, PageLinks, clean_text

_BATCH_PAGES: Final = 50
"""What MediaWiki gives to clients without a bot's rights."""

_MOST_ANSWERS: Final = 5_000
"""To one batch, at up to 500 links each."""

_MOST_LINKS: Final = 1_000_000
"""Of one batch: fifty pages of MediaWiki's largest size (2 MiB) full of the shortest URLs that people write."""

_LINKS: Final = {"prop": "extlinks|iwlinks|info", "ellimit": "500", "iwlimit": "500"}
_NEVER_IN_TITLES: Final = "|\x1f"
_PAGE_IDS: Final = range(1, 1 << 32)
_REVISION_IDS: Final = range(1 << 63)
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class SiteInfo:
    """What a wiki says of itself; ``namespaces`` maps numbers to the prefixes of titles."""

    dbname: str
    server: str
    sitename: str
    lang: str
    namespaces: Mapping[int, str]
    interwiki: InterwikiMap


@dataclass(slots=True)
class _Gathered:
    """A page whose links still come in, answer by answer."""

    namespace: int
    title: str
    latest: int = 0
    model: str = ""
    urls: set[str] = field(default_factory=set)
    interwikis: set[tuple[str, str]] = field(default_factory=set)


class ApiSource:
    """Pages and links from an ``api.php``. The session is the caller's: it guards addresses, and outlives the source.

    The interwiki map is fetched when the first interwiki link turns up, unless it is given. ``links_updated`` of the
    pages is None: the API does not tell it.
    """

    def __init__(
        self,
        api_url: str,
        session: aiohttp.ClientSession,
        *,
        user_agent: str,
        interwiki: InterwikiMap | None = None,
        patience: Patience | None = None,
    ) -> None:
        self._api = ActionApi(api_url, session, user_agent, patience or Patience())
        self._interwiki = interwiki

    async def fetch_siteinfo(self) -> SiteInfo:
        """Who the wiki is; raises SourceError if it does not answer as a MediaWiki does."""
        answer = await self._api.fetch_answer({"meta": "siteinfo", "siprop": "general|namespaces|interwikimap"})
        match answer.get("query"):
            case {"general": {"wikiid": str(dbname), "server": str(server), **general}, **query}:
                return SiteInfo(
                    dbname=clean_text(dbname),
                    server=clean_text(f"https:{server}" if server.startswith("//") else server),
                    sitename=clean_text(str(general.get("sitename", ""))),
                    lang=clean_text(str(general.get("lang", ""))),
                    namespaces=_namespaces(query.get("namespaces")),
                    interwiki=InterwikiMap.from_siteinfo(query.get("interwikimap")),
                )
        raise self._unreadable("no siteinfo")

    async def pages(self, namespaces: frozenset[int]) -> AsyncGenerator[Sequence[PageLinks], None]:
        """As Sweep says, by namespace and title, in batches of at most fifty sorted by page id."""
        for namespace in sorted(namespaces):
            walk = {
                "generator": "allpages",
                "gapnamespace": str(namespace),
                "gapfilterredir": "nonredirects",
                "gaplimit": str(_BATCH_PAGES),
            }
            async with aclosing(self._batches(walk)) as batches:
                async for batch in batches:
                    if batch:
                        yield batch

    async def find_pages(self, *, ids: Sequence[int] = (), titles: Sequence[str] = ()) -> list[PageLinks]:
        """As WikiSource says. A title that MediaWiki cannot have is left out as a missing one is."""
        possible = [title for title in titles if title and not set(_NEVER_IN_TITLES) & set(title)]
        questions = [{"pageids": "|".join(map(str, some))} for some in _fifties(ids)]
        questions += [{"titles": "|".join(some), "redirects": "1"} for some in _fifties(possible)]
        found: dict[int, PageLinks] = {}
        for question in questions:
            async with aclosing(self._batches(question)) as batches:
                async for batch in batches:
                    found |= {page.page: page for page in batch}
        return [found[page] for page in sorted(found)]

    async def close(self) -> None:
        """Nothing of its own is open; the session is the caller's."""

    async def _batches(self, question: Mapping[str, str]) -> AsyncGenerator[list[PageLinks], None]:
        """The complete batches of one question, followed through its continuations."""
        going_on: dict[str, str] = {}
        gathered: dict[int, _Gathered] = {}
        answers = 0
        while True:
            answers += 1
            answer = await self._api.fetch_answer({**question, **_LINKS, **going_on})
            self._gather(answer, gathered)
            before, going_on = going_on, self._continuation(answer)
            if "batchcomplete" in answer:
                yield await self._finished(gathered)
                gathered, answers = {}, 0
            if not going_on:
                break
            if going_on == before or answers == _MOST_ANSWERS:
                raise self._unreadable("a continuation without end")
        if gathered:
            raise self._unreadable("an end in the middle of a batch")

    def _continuation(self, answer: Mapping[str, Any]) -> dict[str, str]:
        match answer.get("continue", {}):
            case dict(fields):
                return {str(name): str(value) for name, value in fields.items()}
        raise self._unreadable("a continuation of unknown shape")

    def _gather(self, answer: Mapping[str, Any], gathered: dict[int, _Gathered]) -> None:
        query = answer.get("query", {})
        listed = query.get("pages", []) if isinstance(query, dict) else None
        if not isinstance(listed, list):
            raise self._unreadable("pages of unknown shape (a MediaWiki before 1.25?)")
        for told in listed:
            match told:
                case {"pageid": int(page), "ns": int(namespace), "title": str(title)} if page in _PAGE_IDS:
                    known = gathered.setdefault(page, _Gathered(namespace, _bare_title(namespace, title)))
                    _add(told, known)
        if sum(len(known.urls) + len(known.interwikis) for known in gathered.values()) > _MOST_LINKS:
            raise self._unreadable(f"more than {_MOST_LINKS:,} links in one batch")

    async def _finished(self, gathered: Mapping[int, _Gathered]) -> list[PageLinks]:
        watched = {page: known for page, known in sorted(gathered.items()) if known.model == WIKITEXT}
        if self._interwiki is None and any(known.interwikis for known in watched.values()):
            self._interwiki = (await self.fetch_siteinfo()).interwiki
        return [
            PageLinks(page, known.namespace, known.title, known.latest, None, _urls(known, self._interwiki))
            for page, known in watched.items()
        ]

    def _unreadable(self, what: str) -> SourceError:
        return SourceError(f"{self._api.url} gave {what}; is it a MediaWiki's api.php?")


def _add(told: Mapping[str, Any], known: _Gathered) -> None:
    """Add what one answer tells of a page: each link once, the rest in whichever answer it comes."""
    match told:
        case {"contentmodel": str(model), "lastrevid": int(latest)} if latest in _REVISION_IDS:
            known.model, known.latest = model, latest
    for link in _listed(told.get("extlinks")):
        match link:
            case {"url": str(url)}:
                known.urls.add(clean_text(f"https:{url}" if url.startswith("//") else url))
    for link in _listed(told.get("iwlinks")):
        match link:
            case {"prefix": str(prefix), "title": str(title)}:
                known.interwikis.add((prefix, title))


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _urls(known: _Gathered, interwiki: InterwikiMap | None) -> tuple[str, ...]:
    # MediaWiki would tell the targets too, but for a prefix that has left the map it names a page of the wiki itself.
    targets = (interwiki.target(prefix, title) for prefix, title in known.interwikis) if interwiki else ()
    return tuple(sorted(known.urls.union(clean_text(url) for url in targets if url)))


def _bare_title(namespace: int, title: str) -> str:
    """The title without the prefix, which has no colon of its own, of any namespace but the main one."""
    return clean_text(title if namespace == 0 else title.partition(":")[2] or title)


def _namespaces(listed: object) -> dict[int, str]:
    found: dict[int, str] = {}
    for space in listed.values() if isinstance(listed, dict) else ():
        match space:
            case {"id": int(number), "name": str(name)}:
                found[number] = clean_text(name)
    return found


def _fifties(values: Sequence[_T]) -> list[Sequence[_T]]:
    return [values[start : start + _BATCH_PAGES] for start in range(0, len(values), _BATCH_PAGES)]
