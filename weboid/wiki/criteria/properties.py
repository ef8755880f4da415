"""The criterion of Wikidata properties: all pages that show statements of one of them. Replicas only."""

import re
from collections.abc import AsyncGenerator
from typing import Final

from weboid.errors import ConfigError
from weboid.wiki.criteria import Criterion, Values, texts, walk_each
from weboid.wiki.source import Selection, WalkBatch, WikiSource

KEYS: Final = frozenset({"properties"})

_PROPERTY: Final = re.compile(r"P[1-9][0-9]{0,9}")


def criteria_of(values: Values) -> list[Criterion]:
    """At most one, of ``properties = ["P31"]``."""
    found = texts(values, "properties")
    if wrong := [name for name in found if not _PROPERTY.fullmatch(name)]:
        raise ConfigError(f"properties: {wrong[0]!r} is no property of Wikidata, such as 'P31'")
    return [Properties(found)] if found else []


class Properties(Criterion):
    """Pages that use these properties, as Wikibase records it; a source without replica raises SourceError."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.key = "properties"
        self._selections = {name: Selection(None, "select_property", {"aspect": f"C.{name}"}) for name in names}

    def walk(self, source: WikiSource, place: str = "") -> AsyncGenerator[WalkBatch, None]:
        """As in Criterion, one property after the other."""
        return walk_each(source, self._selections, place)
