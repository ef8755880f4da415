"""The criterion of single pages, by title."""

from collections.abc import AsyncGenerator
from typing import Final

from weboid.wiki.criteria import Criterion, Values, texts
from weboid.wiki.source import PageLinks, PageState, WalkBatch, WikiSource

KEYS: Final = frozenset({"pages"})

_BATCH_PAGES: Final = 50


def criteria_of(values: Values) -> list[Criterion]:
    """At most one, of ``pages = ["Berlin", "Benutzer:Ann/Liste"]``: titles with their namespace's prefix."""
    found = texts(values, "pages")
    return [Pages(found)] if found else []


class Pages(Criterion):
    """These pages; for a redirect the page that it leads to, so that a page that is moved stays watched."""

    def __init__(self, titles: tuple[str, ...]) -> None:
        self.key = "pages"
        self._titles = frozenset(titles)

    async def walk(self, source: WikiSource, place: str = "") -> AsyncGenerator[WalkBatch, None]:
        """As in Criterion, fifty at a time by title. The place is the last title."""
        left = [title for title in sorted(self._titles) if title > place]
        for start in range(0, len(left), _BATCH_PAGES):
            some = left[start : start + _BATCH_PAGES]
            yield WalkBatch([_state(page) for page in await source.find_pages(titles=some)], some[-1])

    def covers(self, page: PageState) -> bool | None:
        """True for a configured title of the main namespace; what redirects lead to, only a walk can decide."""
        return True if page.namespace == 0 and page.title in self._titles and not page.redirect else None


def _state(page: PageLinks) -> PageState:
    # Sources find wikitext pages only, and follow redirects.
    return PageState(page.page, page.namespace, page.title, page.latest, page.mark)
