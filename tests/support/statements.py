"""All named statements of the store, for tests that read each of them, and its plan on a real database."""

import re
from typing import Final

from weboid.assets import asset
from weboid.store.db.statements import blocks

QUERIES: Final = asset("sql") / "queries"
ALL: Final = [
    (path.relative_to(QUERIES).with_suffix("").as_posix(), name, text)
    for path in sorted(QUERIES.rglob("*.sql"))
    for name, text in blocks(path).items()
]
"""Noun with its room, name, and text with the comments."""


def numbered(text: str) -> tuple[str, int]:
    """The statement with ``$1`` for ``%(name)s``, as PREPARE wants it, and how many parameters it has."""
    names = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", text)))
    query = re.sub(r"%\((\w+)\)s", lambda found: f"${names.index(found[1]) + 1}", text)
    return query.replace("%%", "%"), len(names)
