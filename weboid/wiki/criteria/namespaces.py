"""The criterion of namespaces: all their pages but redirects."""

from collections.abc import AsyncGenerator
from typing import Final

from weboid.wiki.criteria import Criterion, Values, numbers, walk_each
from weboid.wiki.source import PageState, Selection, WalkBatch, WikiSource

KEYS: Final = frozenset({"namespaces"})


def criteria_of(values: Values) -> list[Criterion]:
    """At most one, of ``namespaces = [0, 100]``."""
    found = numbers(values, "namespaces")
    return [Namespaces(found)] if found else []


class Namespaces(Criterion):
    """Pages of these namespaces, by number."""

    def __init__(self, namespaces: tuple[int, ...]) -> None:
        self.key = "namespaces"
        self._namespaces = frozenset(namespaces)
        self._selections = {str(namespace): pages_in(namespace) for namespace in namespaces}

    def walk(self, source: WikiSource, place: str = "") -> AsyncGenerator[WalkBatch, None]:
        """As in Criterion, one namespace after the other."""
        return walk_each(source, self._selections, place)

    def covers(self, page: PageState) -> bool:
        """Never None: a page states its namespace."""
        return page.namespace in self._namespaces


def pages_in(namespace: int) -> Selection:
    """All pages of a namespace but redirects."""
    question = {"generator": "allpages", "gapnamespace": str(namespace), "gapfilterredir": "nonredirects"}
    return Selection(question, "select_namespace", {"namespace": namespace})
