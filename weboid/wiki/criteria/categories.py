"""The criterion of category trees: the pages of some categories and of all below them, down to a depth."""

import json
import logging
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import aclosing, suppress
from typing import Final

from weboid.core.wikitext.titles import CATEGORY
from weboid.errors import ConfigError, SourceError
from weboid.wiki.criteria import Criterion, Values, texts, whole
from weboid.wiki.source import PageState, Selection, WalkBatch, WikiSource

KEYS: Final = frozenset({"categories", "category_depth"})
_DEPTH: Final = 10
_MOST_DEPTH: Final = 1_000
_MOST_CATEGORIES: Final = 200_000
"""Categories in one wiki's trees: larger trees probably cover the whole wiki, and their titles are held in memory."""

log = logging.getLogger(__name__)


def criteria_of(values: Values) -> list[Criterion]:
    """At most one, of ``categories = ["Physik"]``, titles without prefix, and ``category_depth = 10``.

    Depth 0 means the pages of the named categories only.
    """
    depth = whole(values.get("category_depth", _DEPTH), "category_depth", _MOST_DEPTH)
    found = texts(values, "categories", "Category:")
    if "category_depth" in values and not found:
        raise ConfigError("category_depth: without categories it means nothing")
    return [Categories(found, depth)] if found else []


_Place = tuple[int, str, str]
"""The position of a walk: its level, the category in it, and the place of the source within that."""


class Categories(Criterion):
    """Pages, no categories themselves, in these trees.

    The trees are walked level by level, within a level by title, each category once, so that cycles end. A resumed walk
    reads the categories before its place again, but only for the categories below them.
    """

    def __init__(self, titles: Iterable[str], depth: int = _DEPTH) -> None:
        self.key = "categories"
        self._roots = sorted(set(titles))
        self.tree_depth = depth
        self._seen = dict.fromkeys(self._roots, 0)

    @property
    def trees(self) -> Mapping[str, int]:
        """The categories that the last walk has found, by title without prefix; complete once it has ended."""
        return dict(sorted(self._seen.items()))

    async def walk(self, source: WikiSource, place: str = "") -> AsyncGenerator[WalkBatch, None]:
        """As in Criterion. Raises SourceError also if the trees have more than 200,000 categories."""
        at_depth, at_title, at_inner = _read(place)
        begin = (at_depth, at_title)
        self._seen = dict.fromkeys(self._roots, 0)
        level = self._roots
        for depth in range(self.tree_depth + 1):
            below: set[str] = set()
            for title in level:
                inner = at_inner if (depth, title) == begin else ""
                if inner or (depth, title) < begin:
                    await self._read_below(source, depth, title, below)
                if (depth, title) < begin:
                    continue
                types = "page|subcat" if depth < self.tree_depth else "page"
                async with aclosing(source.walk(members_of(title, types), inner)) as stretches:
                    found = bool(inner)
                    async for stretch in stretches:
                        found = found or bool(stretch.pages)
                        self._note(stretch, below, depth + 1)
                        pages = [page for page in stretch.pages if page.namespace != CATEGORY]
                        yield WalkBatch(pages, json.dumps([depth, title, stretch.place]))
                if not (found or depth):
                    log.warning("categories: %r is empty here; write it without its namespace's prefix", title)
            level = sorted(below)

    def covers(self, page: PageState) -> bool | None:
        """False for categories, which are never yielded; else None, as a page does not state its categories."""
        return False if page.namespace == CATEGORY else None

    async def _read_below(self, source: WikiSource, depth: int, title: str, below: set[str]) -> None:
        if depth < self.tree_depth:
            async with aclosing(source.walk(members_of(title, "subcat"))) as stretches:
                async for stretch in stretches:
                    self._note(stretch, below, depth + 1)

    def _note(self, stretch: WalkBatch, below: set[str], depth: int) -> None:
        """Adds the categories that were not seen before to those of the next level."""
        fresh = {page.title for page in stretch.pages if page.namespace == CATEGORY} - self._seen.keys()
        self._seen |= dict.fromkeys(fresh, depth)
        below |= fresh
        if len(self._seen) > _MOST_CATEGORIES:
            raise SourceError(
                f"categories: more than {_MOST_CATEGORIES:,} categories below {', '.join(self._roots)}; "
                "lower category_depth"
            )


def members_of(title: str, types: str) -> Selection:
    """The members of a category (title without prefix): ``page``, ``subcat`` or ``page|subcat``; never files."""
    question = {"generator": "categorymembers", "gcmtitle": f"Category:{title}", "gcmtype": types}
    return Selection(question, "select_category", {"title": title.replace(" ", "_"), "types": types.replace("|", ",")})


def _read(place: str) -> _Place:
    with suppress(ValueError):
        match json.loads(place or "null"):
            case [int(depth), str(title), str(inner)]:
                return depth, title, inner
            case _:
                pass
    return 0, "", ""
