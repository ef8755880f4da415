"""URL patterns for searching (W-5): labels of a host, the beginning of a path, ``*`` for any characters.

``store/lists/search`` finds what matches. A pattern contains a complete registrable domain, so that an index finds its
hosts.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from weboid.core.url.hosts import InvalidReason, InvalidUrl, host_form, is_ip, registrable_domain, reversed_name
from weboid.core.url.urls import DEFAULT_PORTS, Url, parse

MOST: Final = 2_000
"""Characters of the longest pattern."""
MOST_WILDCARDS: Final = 5
"""Wildcards in the host, and as many in the path: each takes time that grows with the length of the compared text."""

_EDGES: Final = "".join(map(chr, range(0x21)))
_SCHEME: Final = re.compile(r"(?:\*|[A-Za-z][A-Za-z0-9+.-]*)://|//")
_LABEL: Final = re.compile(r"[a-z0-9_*-]{1,63}")
_PORT: Final = re.compile(r"0*([0-9]{1,5})")
_NUMERIC: Final = re.compile(r"[0-9.*]+")
_SPECIAL: Final = re.compile(r"[\\%_]")
_ITSELF: Final = "!"
"""Sorts after a reversed name itself and before any longer name that begins with it."""
_ALL_BELOW: Final = "/"
"""Sorts just after the dot with which a reversed name ends."""


class Unfit(StrEnum):
    """The reasons why a pattern cannot be searched for."""

    UNREADABLE = "unreadable"
    OPEN = "open"
    WIDE = "wide"
    ADDRESS = "address"
    WILDCARDS = "wildcards"
    LONG = "long"


class UnfitPattern(ValueError):
    """A pattern cannot be searched for; `part` is the part that is wrong, if it is a single one."""

    def __init__(self, unfit: Unfit, part: str = "") -> None:
        super().__init__(unfit.value)
        self.unfit = unfit
        self.part = part


@dataclass(frozen=True, slots=True)
class UrlPattern:
    """The conditions that a URL must match. The reversed names of its hosts are from `first` to before `end`.

    `hosts` (any of them) and `path` are LIKE patterns. `ports` are parallel to `schemes`, 0 = the scheme's default,
    None = any. `exact` is the one URL that is meant, if the text was a URL and no pattern.
    """

    first: str
    end: str
    hosts: tuple[str, ...]
    path: str
    schemes: tuple[str, ...]
    ports: tuple[int, ...] | None
    exact: Url | None = None


def is_domain(host: str) -> bool:
    """True if a host in normal form and all its subdomains have one owner; those of a public suffix do not."""
    return is_ip(host) or registrable_domain(host) == registrable_domain(f"x.{host}")


def parse_pattern(text: str) -> UrlPattern:
    """The pattern in a user's text; raises UnfitPattern.

    With a scheme and without ``*`` it is one URL. Else ``*`` matches any characters, ``*.`` in front of a domain
    matches the domain and all its subdomains, and a path matches every path that begins with it.
    """
    text = text.strip(_EDGES)
    if len(text) > MOST:
        raise UnfitPattern(Unfit.LONG)
    scheme, authority, rest = _parts(text)
    try:
        if scheme and "*" not in text:
            url = parse(text)
            first = reversed_name(url.host)
            return UrlPattern(first, first + _ITSELF, (like(url.host),), "", (url.scheme,), (url.port,), url)
        raw, port = _host_and_port(authority)
        first, end, hosts = _hosts(raw)
        path = parse(f"http://a.aa{rest}").path if rest else "/"
    except InvalidUrl:
        raise UnfitPattern(Unfit.UNREADABLE) from None
    if scheme not in ("", "*") and scheme not in DEFAULT_PORTS:
        raise UnfitPattern(Unfit.UNREADABLE)
    schemes = (scheme,) if scheme in DEFAULT_PORTS else tuple(DEFAULT_PORTS)
    ports = None if port is None else tuple(0 if port == DEFAULT_PORTS[each] else port for each in schemes)
    return UrlPattern(first, end, hosts, like(path.rstrip("*")) + "%", schemes, ports)


def pattern_below(domain: str, path: str = "") -> UrlPattern:
    """The pattern of a domain in normal form with all subdomains, and the beginning of a path, taken literally."""
    first = reversed_name(domain)
    hosts = (like(domain), like(f"*.{domain}"))
    return UrlPattern(first, first[:-1] + _ALL_BELOW, hosts, _plain(path) + "%", tuple(DEFAULT_PORTS), None)


def like(text: str) -> str:
    """The LIKE pattern of a text in which only ``*`` is special. Raises UnfitPattern for too many of them."""
    parts = re.split(r"\*+", text)
    if len(parts) > MOST_WILDCARDS + 1:
        raise UnfitPattern(Unfit.WILDCARDS)
    return "%".join(map(_plain, parts))


def _plain(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)


def _parts(text: str) -> tuple[str, str, str]:
    """The scheme in lower case (empty if there is none), the authority, and the rest."""
    head = match[0] if (match := _SCHEME.match(text)) else ""
    parts = re.fullmatch(r"([^/?#]*)(.*)", text[len(head) :], re.DOTALL)
    assert parts, "both parts may be empty"
    return head.removesuffix("//").removesuffix(":").lower(), parts[1], parts[2]


def _host_and_port(authority: str) -> tuple[str, int | None]:
    if authority.startswith("["):
        address, bracket, rest = authority.partition("]")
        raw, colon, port = address + bracket, rest[:1], rest[1:]
        if colon not in ("", ":"):
            raise UnfitPattern(Unfit.UNREADABLE)
    else:
        raw, colon, port = authority.partition(":")
    if not colon or port == "*":
        return raw, None
    digits = _PORT.fullmatch(port)
    if not digits or not 1 <= int(digits[1]) <= 65_535:
        raise UnfitPattern(Unfit.UNREADABLE)
    return raw, int(digits[1])


def _hosts(raw: str) -> tuple[str, str, tuple[str, ...]]:
    """The first and end of the range of reversed names, and the LIKE patterns. Raises UnfitPattern, InvalidUrl."""
    if "*" not in raw:
        host = host_form(raw)
        first = reversed_name(host)
        return first, first + _ITSELF, (like(host),)
    if raw.startswith("[") or (_NUMERIC.fullmatch(raw) and re.search("[0-9]", raw)):
        raise UnfitPattern(Unfit.ADDRESS)
    raw = raw.lower().removesuffix(".")
    below, name = raw.startswith("*."), raw.removeprefix("*.")
    # The label with the last wildcard is not fixed either.
    suffix = name.rpartition("*")[2].partition(".")[2] if "*" in name else name
    head = name.removesuffix(suffix).removesuffix(".")
    domain = _fixed(suffix)
    if head:
        head = ".".join(_label(label, domain) for label in head.split("."))
    whole = f"{head}.{domain}" if head else domain
    first = reversed_name(domain)
    hosts = (like(whole), like(f"*.{whole}")) if below else (like(whole),)
    return first, first[:-1] + _ALL_BELOW, hosts


def _fixed(suffix: str) -> str:
    """The domain at the end of a pattern, in normal form. Raises UnfitPattern, InvalidUrl."""
    try:
        domain = host_form(suffix)
    except InvalidUrl as error:
        if error.reason in (InvalidReason.NO_DOT, InvalidReason.NO_HOST):
            raise UnfitPattern(Unfit.OPEN) from None
        if error.reason is InvalidReason.IPV4:
            raise UnfitPattern(Unfit.ADDRESS) from None
        raise
    if is_ip(domain):
        raise UnfitPattern(Unfit.ADDRESS)
    if not is_domain(domain):
        raise UnfitPattern(Unfit.WIDE, domain)
    return domain


def _label(label: str, domain: str) -> str:
    """A label in front of the fixed domain, in normal form if it has no wildcard itself."""
    if "*" not in label:
        return host_form(f"{label}.{domain}").removesuffix(f".{domain}")
    if not _LABEL.fullmatch(label):
        raise UnfitPattern(Unfit.UNREADABLE)
    return label
