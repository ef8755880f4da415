"""Hosts: the normal form of a name or address (L-4, L-6, L-8), its reversed name, its registrable domain.

The other components of a URL (userinfo, port, path) are handled in ``core/url/urls``.
"""

import re
from enum import StrEnum
from functools import cache, lru_cache
from ipaddress import IPv6Address
from pkgutil import get_data
from typing import Final
from urllib.parse import unquote

import ada_url

SUFFIX_VERSION: Final = "1.1.2.20261023"
"""The pinned release of the public suffix list. Another one puts URLs in other buckets, so it needs a rekey (O-10)."""
_MOST_LABELS: Final = 8
"""One more than a rule of the list has at most."""

MAX_HOST: Final = 253
_MAX_RAW_HOST: Final = 9 * MAX_HOST  # three percent-encoded bytes for each character of a name


class InvalidReason(StrEnum):
    """The reasons why a URL is invalid (L-4): the stable words of every interface."""

    PROTOCOL = "protocol"
    NO_HOST = "no-host"
    SPACE = "space"
    INVISIBLE = "invisible"
    IDNA = "idna"
    IPV4 = "ipv4"
    IPV6 = "ipv6"
    NO_DOT = "no-dot"
    LABEL = "label"
    TLD = "tld"
    PORT = "port"
    TOO_LONG = "too-long"


class InvalidUrl(ValueError):
    """A URL or host is invalid for `reason`. Callers turn it into a value; people never see it as a stack trace."""

    def __init__(self, reason: InvalidReason) -> None:
        super().__init__(reason.value)
        self.reason = reason


# Written out instead of using unicodedata: a newer Python must not change what is valid. The joiners U+200C and U+200D
# are missing on purpose: IDNA allows them where Persian and Indic names need them and nowhere else, and
# MediaWiki stores `xn--…` hosts decoded, so a valid name can arrive with one. Variation selectors are missing, too,
# because emoji need them.
_INVISIBLE: Final = re.compile(
    "[\x00-\x1f\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200b\u200e\u200f"
    "\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufeff\uffa0\ufff9-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff]"
)
_SPACE: Final = re.compile(r"[ \t\n\r\f\v]")
_JOINER: Final = re.compile("[\u200c\u200d]")
_LABEL: Final = r"[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?"
_NAME: Final = re.compile(rf"(?:{_LABEL}\.)+{_LABEL}")
_USUAL_NAME: Final = re.compile(rf"(?:{_LABEL}\.)+[a-z]{{2,63}}")
"""Nearly every host, which is in normal form: to find that out takes a third of the time of making it."""
_BARE_NAME: Final = re.compile(_LABEL)
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")
_ZEROS: Final = re.compile(r"\b0(?::0\b)+")
_OCTET: Final = re.compile(r"0|[1-9][0-9]{0,2}")


NO_NAMES: Final[frozenset[str]] = frozenset()


@lru_cache(maxsize=65_536)
def host_form(raw: str, bare: frozenset[str] = NO_NAMES) -> str:
    """The normal form of a host as written in a URL: punycode, decimal IPv4, or IPv6 (RFC 5952) without brackets.

    Raises InvalidUrl (L-4, L-8). `bare`: names without a dot that the user of a command has named, such as
    ``localhost``; no other is valid.
    """
    if len(raw) <= MAX_HOST and _USUAL_NAME.fullmatch(raw):
        return raw
    if len(raw) > _MAX_RAW_HOST:
        raise InvalidUrl(InvalidReason.TOO_LONG)
    if raw.startswith("["):
        return _ipv6_form(raw)
    text = unquote(raw) if "%" in raw else raw
    require_visible(text)
    host = (text.lower() if text.isascii() else _punycode(text)).removesuffix(".")
    if not host:
        raise InvalidUrl(InvalidReason.NO_HOST)
    if _NUMBER.fullmatch(last_label(host)):
        return _ipv4_form(host)
    if "." not in host:
        if host in bare and _BARE_NAME.fullmatch(host):
            return host
        raise InvalidUrl(InvalidReason.NO_DOT)
    if len(host) > MAX_HOST:
        raise InvalidUrl(InvalidReason.TOO_LONG)
    if not _NAME.fullmatch(host):
        raise InvalidUrl(InvalidReason.LABEL)
    if len(last_label(host)) < 2:
        raise InvalidUrl(InvalidReason.TLD)
    return host


def require_visible(text: str) -> None:
    """Raises InvalidUrl if a percent-decoded part of an authority contains white space or invisible Unicode (L-4)."""
    if _SPACE.search(text):
        raise InvalidUrl(InvalidReason.SPACE)
    if not (text.isascii() and text.isprintable()) and _INVISIBLE.search(text):
        raise InvalidUrl(InvalidReason.INVISIBLE)


def last_label(host: str) -> str:
    """The label after the last dot."""
    return host.rpartition(".")[2]


def is_ip(host: str) -> bool:
    """True if a host in normal form is an IPv4 or IPv6 address."""
    return ":" in host or (host[-1:].isdigit() and last_label(host).isdigit())


def reversed_name(host: str) -> str:
    """The labels of a name in reverse order, with a final dot, so that a domain and its subdomains are one range.

    IP addresses are written as in MediaWiki's index: ``V4.192.0.2.7.``, ``V6.2001.DB8.0.0.0.0.0.1.``.
    """
    if ":" in host:
        groups = (f"{group:X}" for group in _groups(IPv6Address(host)))
        return f"V6.{'.'.join(groups)}."
    if is_ip(host):
        return f"V4.{host}."
    return ".".join(reversed(host.split("."))) + "."


def registrable_domain(host: str) -> str:
    """The registrable domain (public suffix + one label); an IP address or a bare suffix is returned unchanged.

    Both sections of the list count: ``github.io`` and ``blogspot.com`` have thousands of unrelated sites, and a bucket
    with all of them could not be divided among workers. Politeness is per host anyway (C-3, D-24).
    """
    return _suffix_and_domain(host)[1]


def public_suffix(host: str) -> str:
    """The suffix under which a name is registered (``co.uk``, ``us.kg``), by both sections of the list."""
    return _suffix_and_domain(host)[0]


def parent_names(host: str) -> list[str]:
    """The names above a host, up to its registrable domain: specials of these hold for the host, too (C-0)."""
    domain = registrable_domain(host)
    labels = host.removesuffix(domain).split(".")[:-1]
    return [f"{'.'.join([*labels[start:], domain])}" for start in range(1, len(labels) + 1)]


@lru_cache(maxsize=65_536)
def _suffix_and_domain(host: str) -> tuple[str, str]:
    labels = host.lower().removesuffix(".").split(".")
    if "" in labels or is_ip(host):
        return last_label(host), host
    if "xn--" in (name := ".".join(labels[-_MOST_LABELS:])):
        name = ".".join(ada_url.idna_to_unicode(each) if each.isascii() else each for each in name.split("."))
    depth = _suffix_depth(name)
    return ".".join(labels[-depth:]), ".".join(labels[-depth - 1 :]) if len(labels) > depth else host


def _suffix_depth(name: str) -> int:
    """The number of labels in the suffix of a name in Unicode."""
    rules, named = _suffixes()
    for place, depth in enumerate(range(name.count(".") + 1, 0, -1)):
        if name in named:
            if f"!{name}" in rules:
                return depth - 1
            return depth + (place > 0) if f"*.{name}" in rules else depth
        name = name.partition(".")[2]
    return 1


@cache
def _suffixes() -> tuple[frozenset[str], frozenset[str]]:
    # Read at the first use, and not by the package: that takes four times as long. No name is like a comment.
    listed = get_data("publicsuffixlist", "public_suffix_list.dat")
    assert listed
    return (rules := frozenset(listed.decode().split("\n"))), frozenset(rule.lstrip("!*.") for rule in rules)


def _punycode(text: str) -> str:
    """A host in punycode, by UTS 46, non-transitional, as in browsers. Raises InvalidUrl."""
    try:
        host = ada_url.idna_to_ascii(text).decode("ascii")
    except UnicodeError:  # lone surrogates
        host = ""
    if not host:
        raise InvalidUrl(InvalidReason.INVISIBLE if _JOINER.search(text) else InvalidReason.IDNA)
    return host


def _ipv4_form(host: str) -> str:
    octets = host.split(".")
    if len(octets) != 4 or not all(_OCTET.fullmatch(octet) and int(octet) < 256 for octet in octets):
        raise InvalidUrl(InvalidReason.IPV4)
    return host


def _ipv6_form(raw: str) -> str:
    text = raw[1:-1]
    if not raw.endswith("]") or "%" in text:  # a zone id has a meaning on one machine only
        raise InvalidUrl(InvalidReason.IPV6)
    try:
        address = IPv6Address(text)
    except ValueError:
        raise InvalidUrl(InvalidReason.IPV6) from None
    # Not str(address): from Python 3.13 on it writes ::ffff:102:304 as ::ffff:1.2.3.4, and browsers do not.
    plain = ":".join(f"{group:x}" for group in _groups(address))
    zeros = max((match.span() for match in _ZEROS.finditer(plain)), key=lambda span: span[1] - span[0], default=None)
    if zeros is None:
        return plain
    return f"{plain[: zeros[0]].removesuffix(':')}::{plain[zeros[1] :].removeprefix(':')}"


def _groups(address: IPv6Address) -> list[int]:
    return [int.from_bytes(address.packed[at : at + 2], "big") for at in range(0, 16, 2)]
