"""The SQL statements of the store by name, from ``sql/queries/<sub-room>/<noun>.sql``.

In a file, ``-- name: words`` begins a statement; comment lines may follow anywhere. Parameters are psycopg's
``%(name)s``. One law: SQL is text in these files, never put together in Python. A file that is missing fails when the
module that names it is imported.
"""

import re
from pathlib import Path

from weboid.assets import asset

_NAME = re.compile(r"^-- name:[ \t]*(.+?)[ \t]*$", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*--.*\n?", re.MULTILINE)


class Statements(dict[str, str]):
    """SQL texts by name; an unknown name raises LookupError that names the file."""

    def __init__(self, path: Path) -> None:
        super().__init__((name, _COMMENT.sub("", text).strip().rstrip(";")) for name, text in blocks(path).items())
        self.path = path

    def __missing__(self, name: str) -> str:
        raise LookupError(f"{self.path} has no statement named {name!r}")


def statements(noun: str) -> Statements:
    """The statements of one noun, named with its sub-room (``urls/check``), without their comments."""
    return Statements(asset("sql") / "queries" / f"{noun}.sql")


def blocks(path: Path) -> dict[str, str]:
    """The statements of a file as written, comments included; raises ValueError if two share a name or one has none."""
    head, *rest = _NAME.split(path.read_text(encoding="utf-8"))
    names, texts = rest[::2], rest[1::2]
    if _COMMENT.sub("", head).strip() or len(set(names)) < len(names):
        raise ValueError(f"{path}: every statement needs a name of its own")
    return dict(zip(names, texts, strict=True))
