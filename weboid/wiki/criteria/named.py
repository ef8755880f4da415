"""Criteria that name what matches: namespaces, single pages, Wikidata properties, templates."""

import re
from collections.abc import AsyncGenerator, Mapping
from typing import Final

from weboid.errors import ConfigError
from weboid.wiki.criteria import Criterion, Values, numbers, texts, walk_each
from weboid.wiki.source import PageState, Selection, WalkBatch, WikiSource

KEYS: Final = frozenset({"namespaces", "pages", "properties", "templates"})

_BATCH_PAGES: Final = 50
_PROPERTY: Final = re.compile(r"P[1-9][0-9]{0,9}")


def criteria_of(values: Values) -> list[Criterion]:
    """At most one for each key, in the order of the keys.

    ``namespaces = [0, 100]``; ``pages = ["Berlin", "Benutzer:Ann/Liste"]``, titles with their namespace's prefix;
    ``properties = ["P31"]``; ``templates = ["Literatur"]``, titles without the namespace's prefix.
    """
    namespaces, pages, properties = numbers(values, "namespaces"), texts(values, "pages"), texts(values, "properties")
    if wrong := [name for name in properties if not _PROPERTY.fullmatch(name)]:
        raise ConfigError(f"properties: {wrong[0]!r} is no property of Wikidata, such as 'P31'")
    # Wikibase records the properties that a page uses in replicas only; a source without one raises SourceError.
    used = {name: Selection(None, "select_property", {"aspect": f"C.{name}"}) for name in properties}
    templates = {title: pages_using(title) for title in texts(values, "templates", "Template:")}
    criteria: list[tuple[object, Criterion]] = [
        (namespaces, Namespaces(namespaces)),
        (pages, Pages(pages)),
        (used, Selected("properties", used)),
        (templates, Selected("templates", templates)),
    ]
    return [criterion for named, criterion in criteria if named]


class Selected(Criterion):
    """Pages of some selections, each by the name of what it selects; they are walked one after the other."""

    def __init__(self, key: str, selections: Mapping[str, Selection]) -> None:
        self.key = key
        self._selections = selections

    def walk(self, source: WikiSource, place: str = "") -> AsyncGenerator[WalkBatch, None]:
        return walk_each(source, self._selections, place)


class Namespaces(Selected):
    """All pages of these namespaces, by number, but redirects."""

    def __init__(self, namespaces: tuple[int, ...]) -> None:
        super().__init__("namespaces", {str(namespace): pages_in(namespace) for namespace in namespaces})
        self._namespaces = frozenset(namespaces)

    def covers(self, page: PageState) -> bool:
        """Never None: a page states its namespace."""
        return page.namespace in self._namespaces


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
            # Sources find wikitext pages only, and follow redirects.
            found = await source.find_pages(titles=some)
            states = [PageState(page.page, page.namespace, page.title, page.latest, page.mark) for page in found]
            yield WalkBatch(states, some[-1])

    def covers(self, page: PageState) -> bool | None:
        """True for a configured title of the main namespace; what redirects lead to, only a walk can decide."""
        return True if page.namespace == 0 and page.title in self._titles and not page.redirect else None


def pages_in(namespace: int) -> Selection:
    """All pages of a namespace but redirects."""
    question = {"generator": "allpages", "gapnamespace": str(namespace), "gapfilterredir": "nonredirects"}
    return Selection(question, "select_namespace", {"namespace": namespace})


def pages_using(title: str) -> Selection:
    """All pages that use the template of this title (without prefix), directly or through another."""
    question = {"generator": "embeddedin", "geititle": f"Template:{title}"}
    return Selection(question, "select_template", {"title": title.replace(" ", "_")})
