"""Pages with what is known of their links: 50 pages a request to the wiki, 500 a request to the service (B-1).

The texts of 500 pages at most are in memory.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, Final

from weboid.bot.answers import KnownLinks, read_pages
from weboid.core.wikitext.settings import WikiSettings
from weboid_scripts.client import MOST_PAGES, WeboidClient
from weboid_scripts.common.read_page import ReadPage
from weboid_scripts.common.wiki_query import WikiSilent, ask, brief, newest_revision, pages_of, tables_of

_AT_ONCE: Final = 50
"""Pages in one request to the wiki."""
_MOST_TEXT: Final = 2**25
"""Characters of text in memory, over all pages that are asked about together."""
_MOST_PARTS: Final = 60
"""Of one answer of the wiki, which gives long texts in several."""
_NO_PAGE: Final = "no-page"
_FACTS: Final = {"prop": "revisions|info", "rvprop": "ids|content", "rvslots": "main"}


@dataclass(frozen=True, slots=True)
class AnsweredPage:
    """A page with what is known of its links, and the settings of its batch."""

    read: ReadPage
    known: KnownLinks
    settings: WikiSettings


class PageBatches:
    """Reads pages of one wiki; `skipped` is called with the title of each page that is none to repair, and why.

    `read_settings` is asked before each batch. Everything raises WeboidError.
    """

    def __init__(
        self,
        site: Any,
        client: WeboidClient,
        dbname: str,
        *,
        read_settings: Callable[[], WikiSettings],
        skipped: Callable[[str, str], None],
        now: Callable[[], datetime],
    ) -> None:
        self._site = site
        self._client = client
        self._dbname = dbname
        self._read_settings = read_settings
        self._skipped = skipped
        self._now = now

    def pages(self, batches: Iterable[Iterator[Any]]) -> Iterator[AnsweredPage]:
        """All pages of all batches of pywikibot's pages, one by one."""
        for batch in batches:
            settings = self._read_settings()
            texts = self._texts(batch)
            while some := _some(texts):
                known = self._known({read.page for read in some})
                while some:
                    read = some.pop(0)
                    yield AnsweredPage(read, known.pop(read.page, KnownLinks()), settings)

    def again(self, read: ReadPage) -> ReadPage | str:
        """The page as it is now; the stable word why not, if it is none to repair any more."""
        left = [_NO_PAGE]
        found = self._read({"pageids": str(read.page)}, {}, lambda _, why: left.append(why))
        return found[0] if found else "deleted" if left[-1] == _NO_PAGE else left[-1]

    def _texts(self, batch: Iterator[Any]) -> Iterator[ReadPage]:
        while pages := list(islice(batch, _AT_ONCE)):
            own = [page for page in pages if page.site == self._site]
            for page in pages:
                if page.site != self._site:
                    self._skipped(page.title(), "other-wiki")
            if not own:
                continue
            numbers = [getattr(page, "_pageid", 0) for page in own]  # `pageid` would ask the wiki for each.
            if all(number > 0 for number in numbers):
                places = {str(number): place for place, number in enumerate(numbers)}
                yield from self._read({"pageids": "|".join(places)}, places, self._skipped)
            else:
                places = {page.title(with_section=False): place for place, page in enumerate(own)}
                yield from self._read({"titles": "|".join(places)}, places, self._skipped)

    def _read(
        self, which: dict[str, str], places: dict[str, int], skipped: Callable[[str, str], None]
    ) -> list[ReadPage]:
        """These pages, in the order of `places`, which are by id or title; `skipped` as for the class."""
        found: dict[int, ReadPage] = {}
        going_on: dict[str, str] = {}
        for _ in range(_MOST_PARTS):
            answer = ask(self._site, **_FACTS, **which, **going_on)
            for each in tables_of(answer, "normalized"):
                if each.get("from") in places:
                    places[str(each.get("to"))] = places[each["from"]]
            # A page whose text comes in a later part is in the earlier ones without it.
            is_last = not isinstance(answer.get("continue"), dict)
            for page in pages_of(answer):
                read = _taken(page)
                if isinstance(read, ReadPage):
                    found[read.page] = read
                elif is_last and page.get("pageid") not in found:
                    skipped(brief(page.get("title", page.get("pageid", ""))), read)
            if is_last:
                return sorted(
                    found.values(),
                    key=lambda read: places.get(read.title, places.get(str(read.page), len(places))),
                )
            going_on = answer["continue"]
        raise WikiSilent(f"{self._site} gives an answer about {_AT_ONCE} pages that has no end.")

    def _known(self, pages: set[int]) -> dict[int, KnownLinks]:
        now = self._now()
        return {page["id"]: read_pages([page], now) for page in self._client.pages(self._dbname, sorted(pages))}


def _taken(page: dict[str, Any]) -> ReadPage | str:
    """A page of an answer, or the stable word why it is none to repair."""
    title, number, revision = page.get("title"), page.get("pageid"), newest_revision(page)
    if page.get("missing") or page.get("invalid") or page.get("special") or not isinstance(number, int):
        return _NO_PAGE
    if page.get("contentmodel") != "wikitext":
        return "no-wikitext"
    if page.get("redirect"):
        return "redirect"
    return "hidden" if revision is None else ReadPage(number, str(title), *revision)


def _some(texts: Iterator[ReadPage]) -> list[ReadPage]:
    """Pages that are asked about together."""
    some: list[ReadPage] = []
    room = _MOST_TEXT
    for read in islice(texts, MOST_PAGES):
        some.append(read)
        room -= len(read.text)
        if room <= 0:
            break
    return some
