"""Keys that the environment sets. This module alone reads it, but for ``cli``.

From the strongest on: ``WEBOID_SECTION_KEY``; ``TOOL_SECTION__KEY`` as peers on Toolforge have it; variables that
platforms set (PORT, TOOL_REPLICA_USER, TOOL_REPLICA_PASSWORD). An unknown variable that is named as ours is an error;
only those of Kubernetes and Toolforge under such names are ignored.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from weboid.config.names import TABLES, TOP, TYPES, KeyPath, nearest, nested_variable, variable
from weboid.config.sections import SECTIONS
from weboid.config.values import from_json

CONFIG_VARIABLE: Final = "WEBOID_CONFIG"
"""The name of a configuration file, or its text."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A raw value of one key, and the variable or file that it comes from."""

    value: Any
    source: str


def process_environment() -> Mapping[str, str]:
    """The environment of this process."""
    return os.environ


def environment_settings(environ: Mapping[str, str], faults: list[str]) -> dict[KeyPath, Setting]:
    """The keys that variables set, the strongest of each; what is wrong with variables is added to `faults`."""
    settings = {path: Setting(environ[name], name) for name, path in _PLATFORM.items() if environ.get(name)}
    for name, value in sorted(environ.items()):  # the strongest last: TOOL_NET, TOOL_NET__DNS, WEBOID_NET_DNS
        is_nested = name.startswith("TOOL_")
        if _is_ignored(name, value):
            continue
        if not (path := _PATHS.get(name)):
            if _is_ours(name):
                known = (each for each in (*_PATHS, *_OTHERS) if each.startswith("TOOL_") == is_nested)
                faults.append(f"{name}: there is no such variable{nearest(name, known)}")
        elif len(path) == 1 and path[0] not in TOP:
            settings.update(flatten({path[0]: _table(name, value, faults)}, name))
        else:
            # Peers on Toolforge have lists and texts in JSON as well.
            settings[path] = Setting(from_json(TYPES[path], value) if is_nested else value, name)
    return settings


def flatten(table: Mapping[str, Any], source: str, above: KeyPath = ()) -> Iterator[tuple[KeyPath, Setting]]:
    """The keys of a file's table by their paths; a table in [archive] is a service, wikis and farms remain tables."""
    for key, value in table.items():
        is_section = above == ("archive",) or not (above or key in TABLES)
        if is_section and isinstance(value, dict) and (value or (not above and key in (*SECTIONS, "archive"))):
            yield from flatten(value, source, (*above, key))
        else:
            yield (*above, key), Setting(value, source)


def _table(name: str, value: str, faults: list[str]) -> dict[str, Any]:
    """A table that a variable has as JSON."""
    try:
        given = json.loads(value) if value.strip() else {}
    except (ValueError, RecursionError):
        given = None
    if isinstance(given, dict):
        return given
    faults.append(f'{name}: it must be a table in JSON, such as {{"dewiki@WMF": {{"namespaces": [0]}}}}')
    return {}


def _is_ours(name: str) -> bool:
    """A name that only we use: TOOL_ with one underscore is Toolforge's or another program's."""
    if name.startswith("TOOL_"):
        return "__" in name
    return name.startswith("WEBOID_") and name not in _OTHERS and not name.startswith(_OTHER_PREFIXES)


def _is_ignored(name: str, value: str) -> bool:
    """An empty text for a key that has no empty value (D-344), or a service link, which Kubernetes or Docker set for a
    service called weboid, as the tool of that name has one."""
    if not value and _PATHS.get(name, ("",))[0] in TOP:
        return True
    return bool(_LINK.fullmatch(name) and (_LINK_SURE.fullmatch(name) or value.startswith(("tcp://", "udp://"))))


_PLATFORM: Final[Mapping[str, KeyPath]] = {
    "PORT": ("web", "port"),
    "TOOL_REPLICA_USER": ("replica", "user"),
    "TOOL_REPLICA_PASSWORD": ("replica", "password"),
}
_PATHS: Final[Mapping[str, KeyPath]] = {
    **{variable(path): path for path in TYPES},
    **{nested_variable(path): path for path in (*TYPES, *((section,) for section in (*SECTIONS, "archive")))},
}
_OTHERS: Final = (
    CONFIG_VARIABLE,
    "WEBOID_DATABASE_SILENCE_S",
    "WEBOID_CRAWL_TOKEN",
    "WEBOID_FEED_TOKEN",
    "WEBOID_LOG",
    "WEBOID_TOKEN",
    "WEBOID_SERVICE",
    "WEBOID_WIKI_USER",
    "WEBOID_WIKI_PASSWORD",
    "WEBOID_IMAGE",
    "WEBOID_PUBLISHED_PORT",
)
"""Variables that other commands, the scripts and ``deploy/compose.yaml`` read."""
_OTHER_PREFIXES: Final = ("WEBOID_TEST_", "WEBOID_BENCHMARK_")
_LINK: Final = re.compile(
    r"WEBOID_([A-Z0-9_]+_)?(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(ADDR|PORT|PROTO))?)?)"
)
_LINK_SURE: Final = re.compile(r"WEBOID_.*(SERVICE_(HOST|PORT)|PORT_\d+_(TCP|UDP|SCTP)).*")
