"""Reads the TOML tables next to the detectors into frozen structs: folded phrases, and marks as bytes."""

from collections.abc import Iterable
from itertools import chain
from typing import Any, TypeVar

import msgspec

from weboid.assets import toml_next_to
from weboid.core.document.folding import phrases

_Table = TypeVar("_Table")


class Phrases(tuple[str, ...]):
    """Folded phrases of all languages, the longest first; in the table a list, or a table of lists by language."""


class Marks(tuple[bytes, ...]):
    """Bytes of a document's markup, in lower case."""


def read_table(module: str, kind: type[_Table]) -> _Table:
    """The table next to a module (its ``__file__``); raises ValueError for a key or a value of another kind."""
    return msgspec.convert(toml_next_to(module), kind, dec_hook=_converted)


def _converted(kind: type, given: Any) -> tuple[Any, ...]:
    listed: Iterable[str] = chain.from_iterable(given.values()) if isinstance(given, dict) else given
    return Phrases(phrases(listed)) if kind is Phrases else Marks(mark.encode() for mark in listed)
