"""The archive services as an operator configures them: which are asked, in which order, where and how often (A-2)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlsplit

from weboid.core.archive.services import ON_REQUEST, SERVICES, ArchiveService, Dialect
from weboid.core.url.archives import ARCHIVES

KEYS: Final = ("base", "public", "dialect", "per_minute", "replay_per_minute", "countries", "languages")
NAMES: Final = tuple(archive.name for archive in ARCHIVES if archive.is_offered)
"""The services that may be configured: to the others nobody may be sent."""

_UNKNOWN: Final = {"dialect": Dialect.PYWB, "per_minute": 10, "replay_per_minute": 30}
"""The settings of a service of which only the address is known."""
_ARCHIVES: Final = {archive.name: archive for archive in ARCHIVES}


def configured(order: Sequence[str], tables: Mapping[str, Mapping[str, Any]]) -> tuple[ArchiveService, ...]:
    """The services to be asked: those of `order`, empty = the usual ones (without `ON_REQUEST`) and those of the
    tables; each with the values of its table, by `KEYS`, and for the rest as usual. Raises ValueError.

    A usual service's addresses for readers stay as usual wherever it is asked, unless its table has `public`. One whose
    table has a `base` is asked for every URL, unless it has `countries` or `languages`.
    """
    for name in (*order, *tables):
        if name not in NAMES:
            raise ValueError(f"unknown archive service {name!r}; known are {', '.join(NAMES)}")
    names = order or tuple(name for name in (*SERVICES, *tables) if name not in ON_REQUEST or name in tables)
    return tuple(_service(name, tables.get(name, {})) for name in dict.fromkeys(names))


def _service(name: str, given: Mapping[str, Any]) -> ArchiveService:
    if unknown := given.keys() - set(KEYS):
        raise ValueError(f"{name}: unknown key {min(unknown)!r}; known are {', '.join(KEYS)}")
    values: dict[str, Any] = {}
    for key, value in given.items():
        try:
            values[key] = _value(key, value)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name}: {key}: {error}") from None
    usual = SERVICES.get(name)
    if usual is None:
        if not values.get("base"):
            raise ValueError(f"{name}: base: it is not asked by default, so say where to ask it")
        return ArchiveService(_ARCHIVES[name], **{**_UNKNOWN, "public": values["base"], **values})
    everywhere = {"countries": (), "languages": ()} if "base" in values else {}
    return replace(usual, **{**everywhere, **values})


def _value(key: str, value: Any) -> Any:
    match key:
        case "base" | "public":
            return _address(value)
        case "dialect" if value in list(Dialect):
            return Dialect(value)
        case "dialect":
            raise ValueError(f"{value!r} must be one of {', '.join(Dialect)}")
        case "per_minute" | "replay_per_minute":
            digits = str(value).strip()
            number = int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 8 else -1
            if not 0 <= number <= 1_000_000:
                raise ValueError(f"{value!r} must be a whole number, zero (no limit) or more")
            return number
        case _:
            pass
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list | tuple) or not all(isinstance(part, str) for part in parts):
        raise ValueError(f"{value!r} must be a list of texts")
    return tuple(part.strip() for part in parts if part.strip())


def _address(value: Any) -> str:
    """An http(s) address without a final slash, a query or a user."""
    text = value if isinstance(value, str) and value.isascii() and value.isprintable() and " " not in value else ""
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment or parts.username:
        raise ValueError(f"{value!r} must be an address such as https://archive.example.org/web")
    parts.port  # noqa: B018 (raises ValueError for what is no port)
    return text.rstrip("/")
