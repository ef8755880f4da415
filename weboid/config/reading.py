"""From files and variables to a configuration, with the origin of each value and everything that is wrong.

The order is that of ``config/environment``; after it come the file or text, and the defaults of ``config/sections``.
One law: an unknown key or an unusable value is an error that names it; nothing is guessed.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

from weboid import __version__
from weboid.config.converters import convert, text
from weboid.config.environment import (
    CONFIG_VARIABLE,
    Setting,
    environment_settings,
    flatten,
    process_environment,
)
from weboid.config.names import ARCHIVE_KEYS, KEY_PATHS, TABLES, TOP, KeyPath, nearest, variable
from weboid.config.places import default_data, find_file
from weboid.config.sections import PROJECT_URL, SECTIONS, ArchiveConfig, Config
from weboid.config.tables import read_farms, read_wikis
from weboid.core.archive.configured import NAMES, configured
from weboid.core.url.farms import BUILT_IN
from weboid.errors import ConfigError


@dataclass(frozen=True, slots=True)
class ConfigReading:
    """What was read: the configuration (None = it cannot be used), where it was found, the origin of each key that is
    set (a variable, a file, WEBOID_CONFIG), and every fault in words.
    """

    config: Config | None
    source: str
    origins: Mapping[KeyPath, str]
    faults: tuple[str, ...]


def load_config(
    file: Path | None,
    environ: Mapping[str, str] | None = None,
    *,
    data: Path | None = None,
    contact: str = "",
    search: bool = False,
) -> Config:
    """The configuration by a file and the environment; `data` overrides both. Raises ConfigError.

    Without `file` WEBOID_CONFIG says what is read; without that, and if told to `search`, the first file that is there.
    `contact` holds where neither of them has one.
    """
    reading = read_config(file, environ, data=data, contact=contact, search=search)
    if reading.config is None:
        more = len(reading.faults) - 1
        raise ConfigError(reading.faults[0] + (f" (and {more} more: weboid config --check)" if more else ""))
    return reading.config


def read_config(
    file: Path | None,
    environ: Mapping[str, str] | None = None,
    *,
    data: Path | None = None,
    contact: str = "",
    search: bool = False,
) -> ConfigReading:
    """As `load_config`, with all faults instead of an error for the first."""
    environ = process_environment() if environ is None else environ
    faults: list[str] = []
    source, given = _given(file, environ, search, faults)
    written = flatten(given, source)
    _check_names(written, faults)
    settings = {**written, **environment_settings(environ, faults)}
    if data is not None:
        settings[("data",)] = Setting(str(data), "--data")
    config = _config(settings, environ, contact, faults)
    origins = {path: setting.source for path, setting in settings.items()}
    return ConfigReading(None if faults else config, source, origins, tuple(faults))


def _given(
    file: Path | None, environ: Mapping[str, str], search: bool, faults: list[str]
) -> tuple[str, Mapping[str, Any]]:
    """What is configured besides variables, and the name of the file, or of the variable that holds the text."""
    named, by = environ.get(CONFIG_VARIABLE, "").strip(), ""
    if file is None and named:
        if "\n" in named or "=" in named or named.startswith("["):
            return CONFIG_VARIABLE, _parsed(named, CONFIG_VARIABLE, faults)
        file, by = Path(named), f", which {CONFIG_VARIABLE} names"
    if file is None and search:
        file = find_file(environ)
    if file is None:
        return "", {}
    try:
        return str(file), _parsed(file.expanduser().read_text(encoding="utf-8"), str(file), faults)
    except (OSError, RuntimeError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        faults.append(f"cannot read the configuration {file}{by}: {reason}")
        return str(file), {}


def _parsed(toml: str, source: str, faults: list[str]) -> Mapping[str, Any]:
    try:
        return tomllib.loads(toml)
    except (ValueError, RecursionError) as error:
        faults.append(f"cannot read the configuration {source}: {error}")
        return {}


def _check_names(written: Mapping[KeyPath, Setting], faults: list[str]) -> None:
    """Unknown sections and keys of a file."""
    for path, setting in written.items():
        if path in _KNOWN:
            if path[0] == "archive" and path[-1].startswith("save_"):
                where = variable(path)
                faults.append(f"[archive] {path[-1]}: keys are not kept in files; set {where} in the environment")
        elif len(path) == 1 and path[0] in _SECTIONS:
            faults.append(f"{setting.source}: {path[0]}: this must be a table, [{path[0]}]")
        elif path[0] not in _SECTIONS:
            known = (*TOP, *TABLES, *_SECTIONS)
            close = nearest(path[0], known)
            faults.append(f"{setting.source}: unknown key {path[0]!r}{close or '; known are ' + ', '.join(known)}")


def _config(
    settings: Mapping[KeyPath, Setting], environ: Mapping[str, str], contact: str, faults: list[str]
) -> Config | None:
    top = {}
    for name in TOP:
        try:
            setting = settings.get((name,))
            top[name] = text(setting.value) if setting else ""
        except (TypeError, ValueError):
            faults.append(f"{name}: it must be a text on one line")
    contact = top.get("contact") or contact
    if not contact.isprintable():
        faults.append("contact: it goes into a header, so it must be printable and on one line")
    farms = (*BUILT_IN, *read_farms(_table(settings, "farm", faults), faults))
    wikis = read_wikis(_table(settings, "wiki", faults), farms, faults)
    sections = {name: _section(kind, name, settings, faults) for name, kind in SECTIONS.items()}
    archive = _archive(settings, faults)
    if faults:
        return None
    if not sections["net"].user_agent:
        sections["net"] = replace(sections["net"], user_agent=_user_agent(contact, sections["web"].url))
    return Config(
        data=convert(Path | None, top["data"]) or default_data(environ),
        database=top["database"],
        contact=contact,
        archive=archive,
        farms=farms,
        wikis=wikis,
        **sections,
    )


def _user_agent(contact: str, url: str) -> str:
    """The User-Agent: our name, the URL of an explanation, and the contact (C-2, C-17)."""
    return f"Weboid/{__version__} (+{(url or PROJECT_URL).rstrip('/')}/bot{'; ' if contact else ''}{contact})"


def _table(settings: Mapping[KeyPath, Setting], name: str, faults: list[str]) -> Mapping[str, Any]:
    table = settings[(name,)].value if (name,) in settings else {}
    if isinstance(table, dict):
        return table
    faults.append(f"{name}: this must be a table, [{name}]")
    return {}


def _section(kind: type[Any], section: str, settings: Mapping[KeyPath, Setting], faults: list[str]) -> Any:
    """One frozen section: each key as it is set, else its default in the class; None if something is wrong."""
    known = {field.name: field for field in fields(kind)}
    values = {}
    before = len(faults)
    for path, setting in settings.items():
        if path[0] != section or len(path) < 2:
            continue
        key = path[1]
        if key not in known:
            close = nearest(key, known) or f"; known are {', '.join(sorted(known))}"
            faults.append(f"[{section}]: unknown key {key!r} ({setting.source}){close}")
            continue
        try:
            values[key] = convert(known[key].type, setting.value)
        except (TypeError, ValueError) as error:
            # A field without repr is secret, and the error would show its value.
            reason = str(error) if known[key].repr else "this cannot be used"
            sources = ", or ".join(dict.fromkeys((setting.source, variable(path))))
            faults.append(f"[{section}] {key} ({sources}): {reason}")
    try:
        return kind(**values) if len(faults) == before else None
    except ValueError as error:
        faults.append(f"[{section}]: {error}")
        return None


def _archive(settings: Mapping[KeyPath, Setting], faults: list[str]) -> ArchiveConfig:
    """The section ``[archive]`` with the tables of services."""
    top: dict[str, Any] = {}
    tables: dict[str, dict[str, Any]] = {}
    for path, setting in settings.items():
        match path:
            case ("archive", key) if key in ARCHIVE_KEYS:
                top[key] = setting.value
            case ("archive", name) if setting.value == {}:
                tables.setdefault(name, {})
            case ("archive", key):
                close = nearest(key, (*ARCHIVE_KEYS, *NAMES)) or "; known are services and tables of services"
                faults.append(f"[archive]: unknown key {key!r} ({setting.source}){close}")
            case ("archive", name, key):
                tables.setdefault(name, {})[key] = setting.value
            case _:
                pass
    try:
        services = configured(convert(tuple[str, ...], top.pop("services", ())), tables)
        return ArchiveConfig(services, **{key: text(value) for key, value in top.items()})
    except (AttributeError, TypeError, ValueError) as error:
        faults.append(f"[archive] {'this cannot be used' if isinstance(error, TypeError) else error}")
        return ArchiveConfig()


_KNOWN: Final = frozenset(KEY_PATHS)
_SECTIONS: Final = (*SECTIONS, "archive")
