"""What can be set: each key by its path, such as ``("net", "dns")``, and the variables that are named after it.

One law: a name that is nearly a known one is told with that one; typing errors are the commonest fault of a deployment.
"""

from collections.abc import Iterable
from dataclasses import fields
from difflib import get_close_matches
from typing import Final

from weboid.config.sections import SECTIONS
from weboid.core.archive.configured import KEYS, NAMES

KeyPath = tuple[str, ...]

TOP: Final = ("database", "contact", "data")
"""Keys outside all sections."""
TABLES: Final = ("wiki", "farm")
"""Keys whose value is a table of tables, with names that no variable can have: they are set as a whole."""
ARCHIVE_KEYS: Final = ("services", "save_key", "save_secret")
KEY_PATHS: Final[tuple[KeyPath, ...]] = (
    *((name,) for name in (*TOP, *TABLES)),
    *((section, field.name) for section, kind in SECTIONS.items() for field in fields(kind)),
    *(("archive", key) for key in ARCHIVE_KEYS),
    *(("archive", service, key) for service in NAMES for key in KEYS),
)


def variable(path: KeyPath) -> str:
    """The variable of a key, such as ``WEBOID_NET_DNS``."""
    return f"WEBOID_{'_'.join(path)}".upper().replace("-", "_").replace(".", "_")


def nested_variable(path: KeyPath) -> str:
    """The variable of a key as peers on Toolforge name theirs, such as ``TOOL_NET__DNS``."""
    return f"TOOL_{'__'.join(path)}".upper().replace("-", "_").replace(".", "_")


def nearest(name: str, known: Iterable[str]) -> str:
    """“; did you mean …?” with the known name that is nearest, or nothing."""
    near = get_close_matches(name, list(known), 1, 0.7)
    return f"; did you mean {near[0]}?" if near else ""
