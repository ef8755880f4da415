"""What the environment sets. This module alone reads it, but for ``cli``.

From the strongest on: ``WEBOID_SECTION_KEY``; ``TOOL_SECTION__KEY`` as peers on Toolforge have it; what platforms set
by themselves (PORT, TOOL_REPLICA_USER, TOOL_REPLICA_PASSWORD). One law: a variable that is named as ours is known, or
an error; only what Kubernetes and Toolforge set under such names is passed over.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

from weboid.config.converters import from_json
from weboid.config.names import KEY_PATHS, TABLES, TOP, KeyPath, nearest, nested_variable, variable
from weboid.config.sections import SECTIONS

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
    ours = {name: value for name, value in sorted(environ.items()) if not _is_passed_over(name, value)}
    return {**_by_platform(ours), **_nested(ours, faults), **_plain(ours, faults)}


def _by_platform(environ: Mapping[str, str]) -> dict[KeyPath, Setting]:
    return {path: Setting(environ[name], name) for name, path in _PLATFORM.items() if environ.get(name)}


def _plain(environ: Mapping[str, str], faults: list[str]) -> dict[KeyPath, Setting]:
    """The variables ``WEBOID_…``."""
    settings = {}
    for name, value in environ.items():
        if not name.startswith("WEBOID_") or name in _OTHERS or name.startswith(_OTHER_PREFIXES):
            continue
        if path := _PLAIN.get(name):
            settings[path] = Setting(_table(name, value, faults) if path[0] in TABLES else value, name)
        else:
            faults.append(f"{name}: there is no such variable{nearest(name, (*_PLAIN, *_OTHERS))}")
    return settings


def _nested(environ: Mapping[str, str], faults: list[str]) -> dict[KeyPath, Setting]:
    """The variables ``TOOL_…``: keys with two underscores, sections and tables as JSON.

    Others without two underscores are Toolforge's or another program's.
    """
    settings = {}
    for name, value in environ.items():
        if (path := _NESTED.get(name)) and path[0] not in TABLES:
            settings[path] = Setting(from_json(_kind(path), value), name)
        elif (section := name.removeprefix("TOOL_").lower()) in TABLES and name in _NESTED:
            settings[(section,)] = Setting(_table(name, value, faults), name)
        elif name in _WHOLE:
            settings.update(_flat((section,), _table(name, value, faults), name))
        elif name.startswith("TOOL_") and "__" in name:
            faults.append(f"{name}: there is no such variable{nearest(name, (*_NESTED, *_WHOLE))}")
    return settings


def flatten(tables: Mapping[str, Any], source: str, whole: tuple[str, ...] = TABLES) -> dict[KeyPath, Setting]:
    """The keys of a file's tables by their paths; those of `whole` remain tables."""
    settings: dict[KeyPath, Setting] = {}
    for name, value in tables.items():
        if isinstance(value, dict) and name not in whole:
            settings.update(_flat((name,), value, source))
        else:
            settings[(name,)] = Setting(value, source)
    return settings


def _flat(path: KeyPath, table: Mapping[str, Any], source: str) -> dict[KeyPath, Setting]:
    """The keys of a section; a table in it is a service of [archive], one level deeper."""
    settings: dict[KeyPath, Setting] = {}
    for key, value in table.items():
        if isinstance(value, dict) and path == ("archive",):
            settings.update(_flat((*path, key), value, source) or {(*path, key): Setting({}, source)})
        else:
            settings[(*path, key)] = Setting(value, source)
    return settings


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


def _kind(path: KeyPath) -> Any:
    """The type of a key; those of archive services take lists in JSON."""
    kind = SECTIONS.get(path[0])
    return next((each.type for each in fields(kind) if each.name == path[1]), None) if kind else _KINDS.get(path[-1])


def _is_passed_over(name: str, value: str) -> bool:
    """Whether a variable sets nothing: a service link, or an empty text for a key that has no empty value (D-344)."""
    return _is_service_link(name, value) or (not value and (_PLAIN.get(name) or _NESTED.get(name)) in _TOP_PATHS)


def _is_service_link(name: str, value: str) -> bool:
    """Whether Kubernetes or Docker set this for a service called weboid, as the tool of that name has one."""
    return bool(_LINK.fullmatch(name) and (_LINK_SURE.fullmatch(name) or value.startswith(("tcp://", "udp://"))))


_PLATFORM: Final[Mapping[str, KeyPath]] = {
    "PORT": ("web", "port"),
    "TOOL_REPLICA_USER": ("replica", "user"),
    "TOOL_REPLICA_PASSWORD": ("replica", "password"),
}
_PLAIN: Final = {variable(path): path for path in KEY_PATHS}
_NESTED: Final = {nested_variable(path): path for path in KEY_PATHS}
_TOP_PATHS: Final = frozenset((name,) for name in TOP)
_WHOLE: Final = {nested_variable((section,)) for section in (*SECTIONS, "archive")}
_KINDS: Final[Mapping[str, Any]] = {
    "services": tuple[str, ...],
    "countries": tuple[str, ...],
    "languages": tuple[str, ...],
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
"""What other commands, the scripts and ``deploy/compose.yaml`` read."""
_OTHER_PREFIXES: Final = ("WEBOID_TEST_", "WEBOID_BENCHMARK_")
_LINK: Final = re.compile(
    r"WEBOID_([A-Z0-9_]+_)?(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(ADDR|PORT|PROTO))?)?)"
)
_LINK_SURE: Final = re.compile(r"WEBOID_.*(SERVICE_(HOST|PORT)|PORT_\d+_(TCP|UDP|SCTP)).*")
