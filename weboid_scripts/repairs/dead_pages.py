"""``-weboid:dead``: the pages of a wiki whose links have died since the last run, from the list of changes (W-14, B-1),
after those that wait since earlier runs.

The cursor in the journal moves only over changes whose pages have all been worked on, or left out by filters.
"""

from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import islice
from typing import Any, Final

import pywikibot
from pywikibot.exceptions import Error

from weboid_scripts.client import WeboidClient
from weboid_scripts.common.wiki_query import WikiSilent, ask, brief, pages_of
from weboid_scripts.journal.journal import Journal
from weboid_scripts.repairs.waiting_pages import WaitingPages

MOST_PAGES: Final = 5_000
"""Of a batch."""
_MOST_PAGES_OF_LINK: Final = 50_000
_AT_ONCE: Final = 50


class DeadPages:
    """The pages of one wiki, in batches. `keeps_place` is false where nothing is done, or only with some of them."""

    def __init__(
        self,
        site: Any,
        client: WeboidClient,
        journal: Journal,
        dbname: str,
        *,
        keeps_place: bool,
        now: Callable[[], datetime],
    ) -> None:
        self._site = site
        self._client = client
        self._journal = journal
        self._now = now
        self._dbname = dbname
        self._keeps_place = keeps_place

    def batches(self) -> Iterator[Iterator[Any]]:
        """Batches of up to 5,000 pages; one that was asked for counts as worked on when the next is asked for.

        Raises WeboidError, as the client and the wiki do.
        """
        batch: dict[int, Any] = {}
        reached: str | None = None
        for page in self._walk():
            if isinstance(page, str):
                reached = page
                continue
            batch.setdefault(page.pageid, page)
            if len(batch) == MOST_PAGES:
                yield iter(batch.values())
                self._note(reached)
                batch = {}
        if batch:
            yield iter(batch.values())
        self._note(reached)

    def _note(self, reached: str | None) -> None:
        if self._keeps_place and reached is not None:
            self._journal.set_cursor(self._dbname, reached)

    def _walk(self) -> Iterator[Any]:
        """Pages, and after those of each part of the list of changes where the next one begins."""
        yield from self._waiting()
        for part in self._client.changes(self._dbname, since=self._place(), to="dead"):
            for change in part["changes"]:
                if change.get("more") is True:
                    yield from self._users_of(change)
                pages = change.get("pages")
                for listed in pages if isinstance(pages, list) else ():
                    page = self._page(listed)
                    if page is not None:
                        yield page
            yield str(part["next"])

    def _place(self) -> str | None:
        """The place where the last run ended; None = the beginning, also of a list that has not come as far as that.

        Behind its end a list has nothing, and does not say that it is another one.
        """
        place = self._journal.cursor(self._dbname)
        if place is None:
            return None
        end = self._client.newest_change(self._dbname)
        if place.isdecimal() and int(place) <= end:
            return place
        pywikibot.warning(
            f"The list of changes of {self._client.service} ends at {end}, before {brief(place)}, where the last run "
            "ended: it was set up anew, or is another one. All of it is gone through from its beginning."
        )
        return None

    def _waiting(self) -> Iterator[Any]:
        """The pages that earlier runs could not repair yet, as far as the wiki still has them."""
        waiting = WaitingPages(self._journal.file, self._dbname).find(self._now())
        while some := list(islice(waiting, _AT_ONCE)):
            answer = ask(self._site, prop="info", pageids="|".join(map(str, some)))
            for listed in pages_of(answer):
                page = self._page({"id": listed.get("pageid"), "namespace": 0, "title": listed.get("title")})
                if page is not None:
                    yield page

    def _page(self, listed: Any) -> Any:
        if not isinstance(listed, dict):
            return None
        number, space, title = listed.get("id"), listed.get("namespace"), listed.get("title")
        if not (isinstance(number, int) and isinstance(space, int) and isinstance(title, str)) or number <= 0:
            return None
        try:
            page = pywikibot.Page(self._site, title, ns=space)
            page.title()
        except (Error, ValueError, KeyError):
            return None  # What the service says is no title on this wiki.
        page._pageid = number
        return page

    def _users_of(self, change: dict[str, Any]) -> Iterator[Any]:
        """The pages that link to a URL of which the list names the first hundred only, as the wiki knows them."""
        link = change.get("link")
        url = link.get("normal") if isinstance(link, dict) else None
        if not isinstance(url, str) or "*" in url:
            return
        try:
            yield from self._site.exturlusage(url, total=_MOST_PAGES_OF_LINK)
        except (Error, ValueError) as error:
            raise WikiSilent(f"{self._site} does not say who links to {brief(url)}: {brief(error)}") from None
