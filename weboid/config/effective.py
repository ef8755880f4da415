"""The configuration in force, key by key, with its origin, for ``weboid config --effective``.

Of a secret only its existence is shown (`test_what_holds_is_shown_with_its_source_and_without_secrets`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, Final

from weboid.config.names import KeyPath
from weboid.config.reading import ConfigReading
from weboid.config.sample import toml_value
from weboid.config.sections import SECTIONS, ArchiveConfig, Config

_MASKED: Final = '"***"'
_DEFAULT: Final = "default"


def effective_lines(reading: ConfigReading) -> Iterator[str]:
    """Lines of TOML with the origin of each key as a comment. The reading must have a configuration."""
    config, origins = reading.config, reading.origins
    assert config is not None, "the caller has shown the faults"
    for key in ("data", "database", "database_read", "contact"):
        is_secret = key.startswith("database") and _has_password(getattr(config, key))
        yield _line((key,), getattr(config, key), origins, is_secret)
    for name, kind in SECTIONS.items():
        yield from ("", f"[{name}]")
        section = getattr(config, name)
        for field in fields(kind):
            yield _line((name, field.name), getattr(section, field.name), origins, not field.repr)
    yield from _archive(config.archive, origins)
    yield from _tables(config, origins)


def _archive(archive: ArchiveConfig, origins: Mapping[KeyPath, str]) -> Iterator[str]:
    yield from ("", "[archive]")
    yield _line(("archive", "services"), [service.name for service in archive.services], origins, False)
    for key in ("save_key", "save_secret"):
        yield _line(("archive", key), getattr(archive, key), origins, True)
    for service in archive.services:
        own = [path for path in origins if path[:2] == ("archive", service.name) and len(path) == 3]
        if own:
            yield from ("", f"[archive.{service.name}]")
            yield from (_line(path, getattr(service, path[2]), origins, False) for path in own)


def _tables(config: Config, origins: Mapping[KeyPath, str]) -> Iterator[str]:
    for farm in config.farms:
        origin = origins.get(("farm",), _DEFAULT) if farm.code > 1 else _DEFAULT
        yield from ("", f"[farm.{farm.name}]  # {origin}", f"code = {farm.code}", f"api = {toml_value(farm.api)}")
        yield f"domains = {toml_value(sorted(farm.domains))}"
    for wiki in config.wikis:
        yield from ("", f'[wiki."{wiki.name}"]  # {origins.get(("wiki",), _DEFAULT)}')
        own = {"api": wiki.api, "source": wiki.source, "settings": wiki.settings, **wiki.matching}
        yield from (f"{key} = {toml_value(value)}" for key, value in own.items())
        tables = {"without": wiki.without, **wiki.rules}
        yield from (f"{key} = {toml_value(value)}" for key, value in tables.items() if value)


def _line(path: KeyPath, value: Any, origins: Mapping[KeyPath, str], is_secret: bool) -> str:
    shown = _MASKED if is_secret and value else toml_value(value)
    return f"{path[-1]} = {shown}  # {origins.get(path, _DEFAULT)}"


def _has_password(database: str) -> bool:
    """True if it may hold one: addresses have it before an @, keywords by that word."""
    return "@" in database or "pass" in database.lower()
