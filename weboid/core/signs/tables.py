"""Reads the TOML tables next to the detectors into frozen structs: folded phrases, and marks as bytes."""

from collections.abc import Iterable
from itertools import chain
from typing import Any, Final, TypeVar

import msgspec

from weboid.assets import toml_next_to
from weboid.core.document.folding import Phrases, phrases

_Table = TypeVar("_Table")

_TABLES: Final[dict[str, Any]] = {}


class Marks(tuple[bytes, ...]):
    """Bytes of a document's markup, in lower case."""


def table_of(module: str, kind: type[_Table]) -> _Table:
    """The table next to a module (its ``__file__``), read once; raises ValueError for a wrong key or type."""
    if module not in _TABLES:
        _TABLES[module] = msgspec.convert(toml_next_to(module), kind, dec_hook=_converted)
    table: _Table = _TABLES[module]
    return table


def _converted(kind: type, given: Any) -> tuple[Any, ...]:
    """Phrases of all languages are in the table a list, or a table of lists by language."""
    listed: Iterable[str] = chain.from_iterable(given.values()) if isinstance(given, dict) else given
    return phrases(listed) if kind is Phrases else Marks(mark.encode() for mark in listed)
