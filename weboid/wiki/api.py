"""The source that reads a wiki's Action API: any MediaWiki, no credentials (L-2). HTTP belongs to ``wiki/action``.

A batch is yielded only when MediaWiki calls it complete; links not yet listed would look like removed ones.
"""

import json
import logging
import re
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import aiohttp

from weboid.core.wikitext.titles import Namespace
from weboid.errors import SourceError, TooManyLinks
from weboid.wiki import api_pages
from weboid.wiki.action import ActionApi, ApiPatience, ApiRefusal
from weboid.wiki.interwiki import InterwikiMap
from weboid.wiki.source import (
    WIKITEXT,
    ListedEdit,
    Members,
    PageLinks,
    PageState,
    RevisionText,
    Selection,
    WalkBatch,
    clean_text,
)

log = logging.getLogger(__name__)

_BATCH_PAGES: Final = 50
"""The most pages that a client without a bot's rights may name in a query."""
_WALK_PAGES: Final = "500"
"""The most pages that MediaWiki lists for such clients in an answer."""
_LIMITS: Final = {
    "allcategories": "gaclimit",
    "allpages": "gaplimit",
    "backlinks": "gbllimit",
    "categorymembers": "gcmlimit",
    "embeddedin": "geilimit",
    "exturlusage": "geulimit",
    "imageusage": "giulimit",
    "pageswithprop": "gpwplimit",
    "querypage": "gqplimit",
    "search": "gsrlimit",
}
"""The limit's parameter of each generator of pages; for others MediaWiki lists ten pages at a time."""
_EDITS: Final = "20"
_OVER: Final = "over"
"""The place at the end of a walk."""
_MOST_ANSWERS: Final = 5_000
"""Answers that one batch may take, at up to 500 links each; also the most batches in a row that have no page."""
_MOST_LINKS: Final = 1_000_000
"""Links and pages in one batch: fifty pages of MediaWiki's largest size (2 MiB) full of the shortest usual URLs."""
_LINKS: Final = {"prop": "extlinks|iwlinks|info", "ellimit": "500", "iwlimit": "500"}
_INFO: Final = {"prop": "info"}
_WITHOUT_LINKS: Final = re.compile(r"links\W+module has been disabled|Unrecognized values? for parameter \W*prop\b")
"""In the warnings (always in English) of a wiki that has a module switched off: its pages come without links."""
_NEVER_IN_TITLES: Final = "|\x1f"
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class SiteInfo:
    """A wiki's own name, namespaces and interwiki map."""

    wikiid: str
    namespaces: tuple[Namespace, ...]
    interwiki: InterwikiMap


class ApiSource:
    """Pages and links from an ``api.php``. The session is the caller's: it guards addresses, and outlives the source.

    The map ``interwiki`` is fetched when the first interwiki link turns up, unless it is given. ``mark`` of the pages
    is when they were touched: the API does not state when their links were updated. ``dbname`` is the name under which
    the wiki is configured, if its own is to be compared with that.
    """

    def __init__(
        self,
        api_url: str,
        session: aiohttp.ClientSession,
        *,
        user_agent: str,
        interwiki: InterwikiMap | None = None,
        patience: ApiPatience | None = None,
        dbname: str = "",
    ) -> None:
        self.dbname = dbname
        self._api = ActionApi(api_url, session, user_agent, patience or ApiPatience())
        self.interwiki = interwiki

    @property
    def answered(self) -> int:
        return self._api.answered

    async def fetch_siteinfo(self) -> SiteInfo:
        """The wiki's statement about itself; raises SourceError if it does not answer as a MediaWiki does."""
        answer = await self._api.fetch_answer(
            {"meta": "siteinfo", "siprop": "general|namespaces|namespacealiases|interwikimap"}
        )
        match answer.get("query"):
            case {"general": {"wikiid": str(wikiid), "server": str()}, **query}:
                return SiteInfo(
                    wikiid=clean_text(wikiid),
                    namespaces=api_pages.namespaces_of(query.get("namespaces"), query.get("namespacealiases")),
                    interwiki=InterwikiMap.from_siteinfo(query.get("interwikimap")),
                )
            case _:
                raise self._unreadable("no siteinfo")

    async def find_namespaces(self) -> tuple[Namespace, ...]:
        site = await self.fetch_siteinfo()
        if self.dbname not in {"", site.wikiid.lower()}:
            named = f"{self._api.url} calls itself {site.wikiid[:64]!r}, but is configured as {self.dbname!r}"
            log.warning("%s: its gadget and its bots name it as it does itself, and get no answer", named)
        self.interwiki = self.interwiki or site.interwiki
        return site.namespaces

    async def find_interwiki(self) -> InterwikiMap:
        if self.interwiki is None:
            self.interwiki = (await self.fetch_siteinfo()).interwiki
        return self.interwiki

    async def find_missing(self, titles: Sequence[str]) -> set[str]:
        """Those of at most 50 titles, with their prefixes, for which the wiki says that it has no page."""
        targets, possible = api_pages.TitleTargets(), _possible(titles)[:_BATCH_PAGES]
        if possible:
            answer = await self._api.fetch_answer({"titles": "|".join(possible), "converttitles": "1"})
            query = answer.get("query", {})
            targets.add(query if isinstance(query, dict) else {})
        return {title for title in possible if targets.is_missing(title)}

    async def walk(self, selection: Selection, place: str = "") -> AsyncGenerator[WalkBatch, None]:
        """As in WikiSource, in the order of the API's generator; a place of another source is ignored.

        Raises SourceError for a selection that the API cannot answer.
        """
        if selection.question is None:
            raise SourceError(
                f"{self._api.url}: no Action API can answer {selection.statement}; read this wiki from a replica, or "
                "take the criterion out of its configuration"
            )
        if place == _OVER:
            return
        limit = _LIMITS.get(selection.question.get("generator", ""))
        question = {**({limit: _WALK_PAGES} if limit else {}), **selection.question, **_INFO}
        async with aclosing(self._batches(question, _continuation_at(place))) as batches:
            async for gathered, continuation in batches:
                yield WalkBatch(api_pages.states_of(gathered), json.dumps(continuation) if continuation else _OVER)

    async def find_states(self, ids: Sequence[int]) -> list[PageState]:
        """As in WikiSource. Raises SourceError also if the answer does not even state that a page is missing."""
        found: list[PageState] = []
        for some in _chunks(sorted(set(ids))):
            answered: dict[int, api_pages.ApiPage] = {}
            async with aclosing(self._batches({"pageids": "|".join(map(str, some)), **_INFO})) as batches:
                async for gathered, _ in batches:
                    answered |= gathered
            if left_out := [
                page for page in some if page not in answered or not (answered[page].missing or answered[page].model)
            ]:
                raise self._unreadable(f"nothing about page {left_out[0]}, which was requested")
            found += api_pages.states_of(answered)
        return found

    async def find_lag_s(self) -> float:
        """Always 0, as this is the wiki itself."""
        return 0.0

    async def find_pages(
        self, *, ids: Sequence[int] = (), titles: Sequence[str] = (), most_links: int | None = None
    ) -> list[PageLinks]:
        """As in WikiSource and WikiItself. A title that MediaWiki cannot have is left out, like a missing one."""
        questions = [{"pageids": "|".join(map(str, some))} for some in _chunks(ids)]
        questions += [{"titles": "|".join(some), "redirects": "1"} for some in _chunks(_possible(titles))]
        found: dict[int, PageLinks] = {}
        for question in questions:
            left = None if most_links is None else most_links - sum(len(page.urls) for page in found.values())
            found |= await self._linked(question, left)
        return [found[page] for page in sorted(found)]

    async def find_titled(self, titles: Sequence[str], *, most_links: int | None = None) -> dict[str, PageLinks]:
        found: dict[str, PageLinks] = {}
        for some in _chunks(_possible(titles)):
            targets = api_pages.TitleTargets()
            left = None if most_links is None else most_links - sum(len(page.urls) for page in found.values())
            pages = await self._linked({"titles": "|".join(some), "redirects": "1"}, left, targets)
            ids = {title: targets.page_of(title) for title in some}
            found |= {title: pages[page] for title, page in ids.items() if page in pages}
        return found

    async def find_texts(self, revisions: Sequence[int]) -> dict[int, RevisionText]:
        question = {
            "prop": "revisions",
            "revids": "|".join(map(str, revisions[:_BATCH_PAGES])),
            "rvprop": "ids|content|contentmodel",
            "rvslots": "main",
        }
        answer = await self._api.fetch_answer(question)
        match answer.get("query"):
            case {"pages": list(listed)}:
                return api_pages.texts_of(listed)
            case {"badrevids": _} | None:
                return {}
            case _:
                raise self._unreadable("no revisions")

    async def list_edits(self, page: int, first: int) -> list[ListedEdit]:
        question = {
            "prop": "revisions",
            "pageids": str(page),
            "rvstartid": str(first),
            "rvdir": "newer",
            "rvlimit": _EDITS,
            "rvprop": "ids|comment|user|timestamp",
        }
        try:
            answer = await self._api.fetch_answer(question)
        except ApiRefusal:
            return []  # it has no revision of that number
        match answer.get("query"):
            case {"pages": list(listed)}:
                return api_pages.edits_of(page, listed)
            case _:
                raise self._unreadable("no edits")

    async def list_titles(self, beginning: str) -> list[str]:
        """As in WikiItself; ``prefixsearch`` is what ``action=opensearch`` gives, with errors as in other queries."""
        question = {"list": "prefixsearch", "pssearch": beginning, "pslimit": str(api_pages.MOST_TITLES)}
        try:
            answer = await self._api.fetch_answer(question)
        except ApiRefusal:
            return []  # it completes nothing, or not this; that is no failure of the wiki
        match answer.get("query"):
            case {"prefixsearch": list(listed)}:
                return api_pages.titles_of(listed)
            case _:
                return []

    async def list_members(self, category: str, *, place: str = "", limit: int = 500) -> Members:
        """As in WikiItself. Every wiki understands the prefix ``Category:``, whatever its language."""
        query = {
            "list": "categorymembers",
            "cmtitle": f"Category:{category}",
            "cmtype": "page",
            "cmprop": "ids",
            "cmlimit": str(limit),
        }
        answer = await self._api.fetch_answer({**query, **({"cmcontinue": place} if place else {})})
        match answer.get("query"):
            case {"categorymembers": list(listed)}:
                ids = [member.get("pageid") for member in listed if isinstance(member, dict)]
                pages = tuple(page for page in ids if isinstance(page, int) and page in api_pages.PAGE_IDS)
                return Members(pages, self._continuation(answer).get("cmcontinue", ""))
            case _:
                raise self._unreadable("no members of a category")

    async def close(self) -> None:
        """Does nothing: the session is the caller's."""

    async def _batches(
        self,
        question: Mapping[str, str],
        begin: Mapping[str, str] | None = None,
        *,
        targets: api_pages.TitleTargets | None = None,
        most_links: int | None = None,
    ) -> AsyncGenerator[tuple[dict[int, api_pages.ApiPage], dict[str, str]], None]:
        """The complete batches of one query, each with the parameters for the next; {} = it is the last.

        Raises TooManyLinks as soon as one has more than `most_links`.
        """
        continuation = dict(begin or {})
        gathered: dict[int, api_pages.ApiPage] = {}
        seen: set[int] = set()
        answers = 0
        while True:
            answers += 1
            try:
                answer = await self._api.fetch_answer({**question, **continuation})
            except ApiRefusal as refusal:
                # The place may come from another version of MediaWiki: reading all again is better than never the rest.
                if not begin or continuation != begin or refusal.code != "badcontinue":
                    raise
                continuation = {}
                continue
            self._gather(answer, gathered, most_links)
            if targets is not None:
                targets.add(answer.get("query", {}))
            continuation = self._continuation(answer)
            if "batchcomplete" in answer:
                answers = 0 if gathered else answers
                yield gathered, continuation
                gathered = {}
            if not continuation:
                break
            if (mark := hash(str(continuation))) in seen or answers == _MOST_ANSWERS:
                raise self._unreadable("a continuation without end")
            seen.add(mark)
        if gathered:
            raise self._unreadable("an end in the middle of a batch")

    def _continuation(self, answer: Mapping[str, Any]) -> dict[str, str]:
        match answer.get("continue", {}):
            case dict(fields):
                return {str(name): str(value) for name, value in fields.items()}
            case _:
                raise self._unreadable("a continuation of unknown shape")

    def _gather(
        self, answer: Mapping[str, Any], gathered: dict[int, api_pages.ApiPage], most_links: int | None
    ) -> None:
        if _WITHOUT_LINKS.search(warnings := str(answer.get("warnings", ""))):
            raise SourceError(f"{self._api.url} gives no links of pages, by its settings: {warnings[:200]}")
        query = answer.get("query", {})
        listed = query.get("pages", []) if isinstance(query, dict) else None
        if not isinstance(listed, list):
            raise self._unreadable("pages of unknown shape (a MediaWiki before 1.25?)")
        api_pages.add_listed(gathered, listed)
        weight = sum(known.weight for known in gathered.values())
        if most_links is not None and weight - len(gathered) > most_links:
            raise TooManyLinks(f"{self._api.url}: the pages have more than {most_links:,} links")
        if weight > _MOST_LINKS:
            raise self._unreadable(f"more than {_MOST_LINKS:,} pages and links in one batch")

    async def _linked(
        self, question: Mapping[str, str], most_links: int | None, targets: api_pages.TitleTargets | None = None
    ) -> dict[int, PageLinks]:
        """The wikitext pages that a query gives, by id, with all their links."""
        found: dict[int, PageLinks] = {}
        async with aclosing(self._batches({**question, **_LINKS}, targets=targets, most_links=most_links)) as batches:
            async for gathered, _ in batches:
                watched = {page: known for page, known in gathered.items() if known.model == WIKITEXT}
                if any(known.interwikis for known in watched.values()):
                    await self.find_interwiki()
                found |= {page: known.page_links(page, self.interwiki) for page, known in watched.items()}
        return found

    def _unreadable(self, what: str) -> SourceError:
        return SourceError(f"{self._api.url} gave {what}; is it a MediaWiki's api.php?")


def _continuation_at(place: str) -> dict[str, str]:
    try:
        fields = json.loads(place or "{}")
    except ValueError:
        return {}
    return {str(name): str(value) for name, value in fields.items()} if isinstance(fields, dict) else {}


def _possible(titles: Iterable[str]) -> list[str]:
    """The titles without those that MediaWiki cannot have."""
    return [title for title in titles if title and not set(_NEVER_IN_TITLES) & set(title)]


def _chunks(values: Sequence[_T]) -> list[Sequence[_T]]:
    return [values[start : start + _BATCH_PAGES] for start in range(0, len(values), _BATCH_PAGES)]
