"""The criterion of templates: all pages that use one of them, directly or through another."""

from collections.abc import AsyncGenerator
from typing import Final

from weboid.wiki.criteria import Criterion, Values, in_tables, texts, walk_each
from weboid.wiki.source import Selection, WalkBatch, WikiSource

KEYS: Final = frozenset({"templates"})


def criteria_of(values: Values) -> list[Criterion]:
    """At most one, of ``templates = ["Literatur"]``: titles without the namespace's prefix."""
    found = texts(values, "templates", "Template:")
    return [Templates(found)] if found else []


class Templates(Criterion):
    """Pages that use these templates."""

    def __init__(self, titles: tuple[str, ...]) -> None:
        self.key = "templates"
        self._selections = {title: pages_using(title) for title in titles}

    def walk(self, source: WikiSource, place: str = "") -> AsyncGenerator[WalkBatch, None]:
        """As in Criterion, one template after the other."""
        return walk_each(source, self._selections, place)


def pages_using(title: str) -> Selection:
    """All pages that use the template of this title (without prefix)."""
    question = {"generator": "embeddedin", "geititle": f"Template:{title}"}
    return Selection(question, "select_template", {"title": in_tables(title)})
