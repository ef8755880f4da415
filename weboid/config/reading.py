"""From files and variables to a configuration, with the origin of each value and everything that is wrong.

The order is that of ``config/environment``; after it come the file or text, and the defaults of ``config/sections``. An
unknown key or an unusable value is an error that names it (`test_what_cannot_be_used_is_named`).
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

from weboid import __version__
from weboid.config.environment import CONFIG_VARIABLE, Setting, environment_settings, flatten, process_environment
from weboid.config.names import ARCHIVE_KEYS, TABLES, TOP, TYPES, KeyPath, nearest, variable
from weboid.config.places import default_data, find_file
from weboid.config.sections import PROJECT_URL, SECTIONS, ArchiveConfig, Config
from weboid.config.tables import read_farms, read_wikis
from weboid.config.values import convert, convert_each
from weboid.core.archive.configured import NAMES, configured
from weboid.core.url.farms import BUILT_IN
from weboid.errors import ConfigError


@dataclass(frozen=True, slots=True)
class ConfigReading:
    """The configuration (None = it cannot be used), the place where it was found, the origin of each key that is set (a
    variable, a file, WEBOID_CONFIG), and every fault in words.
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

    Without `file` WEBOID_CONFIG says what is read; without that, and with `search`, the first file that is there.
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
    environ = {name: value.rstrip("\r\n") for name, value in environ.items()}  # secrets of Kubernetes often end so
    faults: list[str] = []
    source, given = _given(file, environ, search, faults)
    settings = dict(flatten(given, source))
    faults += (
        f"[archive] {path[1]}: keys are not kept in files; set {variable(path)} in the environment"
        for path in (("archive", "save_key"), ("archive", "save_secret"))
        if path in settings
    )
    settings |= environment_settings(environ, faults)
    faults += _unknown(settings)
    if data is not None:
        settings[("data",)] = Setting(str(data), "--data")
    config = _config(settings, environ, contact, faults)
    origins = {path: setting.source for path, setting in settings.items()}
    return ConfigReading(None if faults else config, source, origins, tuple(faults))


def _given(
    file: Path | None, environ: Mapping[str, str], search: bool, faults: list[str]
) -> tuple[str, Mapping[str, Any]]:
    """The tables of the file or text, and the name of the file, or of the variable that holds the text."""
    named, by = environ.get(CONFIG_VARIABLE, "").strip(), ""
    source, toml = "", ""
    try:
        if file is None and ("\n" in named or "=" in named or named.startswith("[")):
            source, toml = CONFIG_VARIABLE, named
        else:
            if file is None and named:
                file, by = Path(named), f", which {CONFIG_VARIABLE} names"
            if file := file or (find_file(environ) if search else None):
                source = str(file)
                toml = file.expanduser().read_text(encoding="utf-8")
        return source, tomllib.loads(toml.removeprefix("\ufeff"))  # Windows' editors write one
    except (OSError, RuntimeError, ValueError) as error:  # RecursionError is a RuntimeError
        reason = error.strerror if isinstance(error, OSError) else error
        faults.append(f"cannot read the configuration {source}{by}: {reason}")
        return source, {}


def _unknown(settings: Mapping[KeyPath, Setting]) -> Iterator[str]:
    """The faults of sections and keys that are not known; those of archive services are ``configured``'s."""
    for path, setting in settings.items():
        section, key = path[0], path[-1]
        of_archive = section == "archive" and (len(path) > 2 or setting.value == {})
        if path in TYPES or (of_archive and len(path) > 1):
            continue
        if len(path) == 1 and key in _SECTIONS:
            yield f"{setting.source}: {key}: this must be a table, [{key}]"
        elif section not in _SECTIONS:
            known = (*TOP, *TABLES, *_SECTIONS)
            close = nearest(section, known) or f"; known are {', '.join(known)}"
            yield f"{setting.source}: unknown key {section!r}{close}"
        else:
            known = tuple(sorted(each[1] for each in TYPES if each[0] == section and len(each) == 2))
            close = nearest(key, (*known, *(NAMES if section == "archive" else ())))
            close = close or f"; known are {', '.join(known)}{', and services' if section == 'archive' else ''}"
            yield f"[{section}]: unknown key {key!r} ({setting.source}){close}"


def _config(
    settings: Mapping[KeyPath, Setting], environ: Mapping[str, str], contact: str, faults: list[str]
) -> Config | None:
    top = {}
    for name in TOP:
        try:
            # An address of a database may have a password.
            top[name] = convert(str, settings[(name,)].value, is_secret=True) if (name,) in settings else ""
        except ValueError as error:
            faults.append(f"{name}: {error}")
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
    data = convert(Path | None, top["data"]) or default_data(environ)
    return Config(
        data, top["database"], top["database_read"], contact, archive=archive, farms=farms, wikis=wikis, **sections
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
    values = {}
    before = len(faults)
    for field in fields(kind):
        path = (section, field.name)
        if not (setting := settings.get(path)):
            continue
        try:
            values[field.name] = convert(field.type, setting.value, is_secret=not field.repr)
        except ValueError as error:
            sources = ", or ".join(dict.fromkeys((setting.source, variable(path))))
            faults.append(f"[{section}] {field.name} ({sources}): {error}")
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
            case ("archive", name, key):
                tables.setdefault(name, {})[key] = setting.value
            case _:
                pass
    try:
        services = configured(convert(tuple[str, ...], top.pop("services", ())), tables)
        return ArchiveConfig(services, **convert_each(dict.fromkeys(top, str), top, is_secret=True))
    except ValueError as error:
        faults.append(f"[archive] {error}")
        return ArchiveConfig()


_SECTIONS: Final = (*SECTIONS, "archive")
