"""Values of a file or a variable as what a section takes. A variable is a text; a file has numbers and lists as well.

One law: what cannot be converted is a ValueError or TypeError that says in words what it must be.
"""

import json
from collections.abc import Callable
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Final

from weboid.config.sections import Network


def text(value: Any) -> str:
    """A text on one line: it may go into a header, a log line or a command."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r} must be a text")
    if any(ord(character) < 0x20 or character == "\x7f" for character in value):
        raise ValueError("it must be a text on one line, without control characters")
    return value


def path(value: Any) -> Path | None:
    """A file or folder, with ``~`` for the home; empty = None."""
    try:
        return Path(text(value)).expanduser() if text(value) else None
    except RuntimeError as error:
        raise ValueError(f"{value!r}: {error}") from None


def texts(value: Any) -> tuple[str, ...]:
    """The texts of a list, or of a text separated by commas."""
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list | tuple):
        raise TypeError(f"{value!r} must be a list, or texts separated by commas")
    return tuple(text(part).strip() for part in parts if text(part).strip())


def whole(value: Any) -> int:
    """A whole number, zero or more."""
    try:
        number = int(value) if isinstance(value, str | int) else -1
    except ValueError:
        number = -1
    if not 0 <= number < 2**31:
        raise ValueError(f"{shown(value)} must be a whole number, zero or more")
    return number


def convert(kind: Any, value: Any) -> Any:
    """`value` as a field of this type takes it. Raises ValueError and TypeError."""
    return _CONVERTERS[kind](value)


def from_json(kind: Any, value: str) -> Any:
    """What a text of JSON stands for where the type of the field takes that, else the text itself.

    Peers of ours read their variables so (Flask's ``from_prefixed_env``, with JSON or YAML). The type decides, so that
    a password of digits stays a text (D-345).
    """
    if not value.startswith('"' if kind in (str, Path | None) else ('"', "[")):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def shown(value: Any) -> str:
    """A value in a message, shortened."""
    return repr(value) if len(repr(value)) <= _SHOWN else f"{repr(value)[:_SHOWN]}…"


def _number(value: Any) -> float:
    try:
        number = float(value)
    except (OverflowError, ValueError):
        number = -1.0
    if not 0 <= number < 1e9:
        raise ValueError(f"{shown(value)} must be a number, zero or more")
    return number


def _yes(value: Any) -> bool:
    match value:
        case bool():
            return value
        case str() if value.lower() in ("1", "true", "yes", "on"):
            return True
        case str() if value.lower() in ("", "0", "false", "no", "off"):
            return False
    raise ValueError(f"{shown(value)} must be true or false")


def _ports(value: Any) -> tuple[int, int]:
    parts = texts([str(part) for part in value] if isinstance(value, list) else value)
    if len(parts) != 2:
        raise ValueError(f"{shown(value)} must be two ports, of http and of https")
    return whole(parts[0]), whole(parts[1])


def _networks(value: Any) -> tuple[Network, ...]:
    return tuple(ip_network(part) for part in texts(value))


_SHOWN: Final = 200
"""Characters of a value in a message, at most."""
_CONVERTERS: Final[dict[Any, Callable[[Any], Any]]] = {
    str: text,
    int: whole,
    float: _number,
    Path | None: path,
    bool: _yes,
    tuple[int, int]: _ports,
    tuple[str, ...]: texts,
    tuple[Network, ...]: _networks,
}
