"""Types of values with their bounds, for msgspec. A variable is a text; a file has numbers and lists as well.

The description of a type is what an error names as allowed.
"""

import json
from collections.abc import Mapping
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_origin

import msgspec
from msgspec import Meta

from weboid.core.url.urls import parse

Network = IPv4Network | IPv6Network
MOST_WORKERS: Final = 64
"""Processes of one webservice: more is a typing error, or should be several machines."""

Port = Annotated[int, Meta(ge=0, le=65_535, description="a whole number, 0 … 65535")]
Ports = Annotated[tuple[Port, Port], Meta(description="two ports, of http and of https, each 0 … 65535")]
Workers = Annotated[int, Meta(ge=1, le=MOST_WORKERS, description=f"a whole number, 1 … {MOST_WORKERS}")]
_HTTP: Final = r"^\s*((?i:https?)://[^\0- \x7f]+)?\s*\Z"
Address = Annotated[str, Meta(pattern=_HTTP, description="an address, as https://x.org", extra={"then": str.strip})]
Source = Annotated[str, Meta(pattern=r"^(api|replica)\Z", description="api or replica")]
"""The ways of reading a wiki's pages (L-2)."""
Queue = Annotated[Literal["fair", "depth"], Meta(description="fair or depth")]
Title = Annotated[str, Meta(pattern=r"^[^|#<>\[\]{}\n]*\Z", description="the title of a page, or empty")]
Table = Annotated[dict[str, Any], Meta(description='a table, such as {"namespaces": [0]}')]


def convert(kind: Any, value: Any, *, is_secret: bool = False) -> Any:
    """`value` as a field of this type takes it; raises ValueError with what is allowed, and the value unless secret."""
    kind = _type_of(kind)
    meta = kind.__metadata__[-1]
    try:
        converted = msgspec.convert(_simplified(kind.__origin__, value), kind, strict=not isinstance(value, str | list))
    except msgspec.ValidationError:
        raise ValueError(f"{'it' if is_secret else repr(value)[:200]} must be {meta.description}") from None
    return meta.extra["then"](converted) if meta.extra else converted


def convert_each(kinds: Mapping[str, Any], given: Mapping[str, Any], *, is_secret: bool = False) -> dict[str, Any]:
    """The values of these keys, as far as they are given; raises ValueError, which names the key."""
    values = {}
    for key, kind in kinds.items():
        if key not in given:
            continue
        try:
            values[key] = convert(kind, given[key], is_secret=is_secret)
        except ValueError as error:
            raise ValueError(f"{key}: {error}") from None
    return values


def from_json(kind: Any, value: str) -> Any:
    """The value of a text of JSON where the type of the field takes that, else the text itself.

    Peers of ours read their variables so (Flask's ``from_prefixed_env``, with JSON or YAML). The type decides, so that
    a password of digits stays a text (D-345).
    """
    if not value.startswith(('"', "[") if get_origin(_type_of(kind).__origin__) is tuple else '"'):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _type_of(kind: Any) -> Any:
    return kind if get_origin(kind) is Annotated else _TYPES[kind]


def _simplified(kind: Any, value: Any) -> Any:
    """A text in the form that msgspec converts: lists are separated by commas, and empty parts are left out."""
    if get_origin(kind) is tuple:
        parts = value.split(",") if isinstance(value, str) else value
        if not isinstance(parts, list | tuple):
            return value
        stripped = [part.strip() if isinstance(part, str) else part for part in parts]
        return [part for part in stripped if part != ""]
    if kind is str or not isinstance(value, str):
        return value
    return _WORDS.get(value.lower(), value) if kind is bool else value.strip()


def _path(text: str) -> Path | None:
    try:
        return Path(text).expanduser() if text else None
    except RuntimeError as error:
        raise ValueError(f"{text!r}: {error}") from None


def _urls(texts: tuple[str, ...]) -> tuple[str, ...]:
    for text in texts:
        try:
            parse(text)
        except ValueError as error:
            raise ValueError(f"{text!r} is no URL: {error}") from None
    return texts


def _networks(texts: tuple[str, ...]) -> tuple[Network, ...]:
    return tuple(map(ip_network, texts))


_WORDS: Final = {"yes": True, "on": True, "": False, "no": False, "off": False}
"""Words of a variable for true and false besides those that msgspec knows."""
# It may go into a header, a log line or a command.
_Line = Annotated[
    str, Meta(pattern=r"^[^\x00-\x1f\x7f]*\Z", description="a text on one line, without control characters")
]
_LINES: Final = Meta(description="a list of texts, or texts separated by commas")
Urls = Annotated[tuple[_Line, ...], Meta(description="URLs, separated by commas", extra={"then": _urls})]
_TYPES: Final[dict[Any, Any]] = {
    str: _Line,
    int: Annotated[int, Meta(ge=0, lt=2**31, description="a whole number, zero or more")],
    float: Annotated[float, Meta(ge=0, lt=1e9, description="a number, zero or more")],
    bool: Annotated[bool, Meta(description="true or false")],
    Path | None: Annotated[_Line, Meta(description="the path of a file or folder", extra={"then": _path})],
    tuple[str, ...]: Annotated[tuple[_Line, ...], _LINES],
    tuple[Network, ...]: Annotated[
        tuple[_Line, ...], Meta(description="networks, separated by commas", extra={"then": _networks})
    ],
}
