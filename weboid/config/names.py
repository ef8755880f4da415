"""Keys that can be set, each by its path, such as ``("net", "dns")``, and the variables that are named after it."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from difflib import get_close_matches
from typing import Any, Final

from weboid.config.sections import SECTIONS
from weboid.core.archive.configured import KEYS, NAMES

KeyPath = tuple[str, ...]

TOP: Final = ("database", "database_read", "contact", "data")
"""Keys outside all sections."""
TABLES: Final = ("wiki", "farm")
"""Keys whose value is a table of tables, with names that no variable can have: they are set as a whole."""
ARCHIVE_KEYS: Final = ("services", "save_key", "save_secret")
_LISTS: Final = ("services", "countries", "languages")
_ARCHIVE_PATHS: Final = (
    *(("archive", key) for key in ARCHIVE_KEYS),
    *(("archive", service, key) for service in NAMES for key in KEYS),
)
TYPES: Final[Mapping[KeyPath, Any]] = {
    **{(name,): str for name in (*TOP, *TABLES)},
    **{(section, field.name): field.type for section, kind in SECTIONS.items() for field in fields(kind)},
    **{path: tuple[str, ...] if path[-1] in _LISTS else str for path in _ARCHIVE_PATHS},
}
"""The type of each key in a variable."""


def variable(path: KeyPath) -> str:
    """The variable of a key, such as ``WEBOID_NET_DNS``."""
    return f"WEBOID_{'_'.join(path)}".upper().replace("-", "_").replace(".", "_")


def nested_variable(path: KeyPath) -> str:
    """The variable of a key as peers on Toolforge name theirs, such as ``TOOL_NET__DNS``."""
    return variable(("__".join(path),)).replace("WEBOID", "TOOL", 1)


def nearest(name: str, known: Iterable[str]) -> str:
    """“; did you mean …?” with the known name that is nearest, or nothing."""
    near = get_close_matches(name, list(known), 1, 0.7)
    return f"; did you mean {near[0]}?" if near else ""
