"""URLs: the normal form that identifies a resource (L-6), validity (L-4, L-8), suspicious paths (L-5).

``docs/normal-form.md`` has every rule with examples. Hosts are in ``core/url/hosts``, the classes of L-3 in
``core/url/classify``. A link as MediaWiki stores it has the normal form of the original link.
One law: ``normal(normal(x)) == normal(x)`` (`test_a_normal_form_is_its_own_normal_form`).
"""

import re
from functools import lru_cache
from typing import Final, NamedTuple
from urllib.parse import quote, unquote, unquote_to_bytes

from weboid.core.url.hosts import NO_NAMES, InvalidReason, InvalidUrl, host_form, require_visible

FORM_VERSION: Final = 1
"""Changes with every rule that gives some URL another normal form, and so another key (O-10)."""

MAX_URL: Final = 8_000
"""Characters of a URL, as given and in normal form."""

DEFAULT_PORTS: Final = {"http": 80, "https": 443, "ftp": 21, "ftps": 990, "sftp": 22}
"""The resource protocols of L-3."""

_LATELY: Final = 256
"""URLs that `parse_again` remembers."""
_MAX_AUTHORITY: Final = 300  # enough for a host of 253, brackets, port and scheme
_EDGES: Final = "".join(map(chr, range(0x21)))
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_PARTS: Final = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.-]*):)?(//)?([^/?#]*)([^?#]*)(\?[^#]*)?")
_PORT: Final = re.compile(r"0*([0-9]{1,5})")
_PLAIN: Final = re.compile(
    r"(https?|ftps?|sftp)://([0-9A-Za-z.-]{1,253})(/[!$&'()*+,\-./0-9:;=@A-Z_a-z~]*(?:\?[!$&'()*+,\-./0-9:;=?@A-Z_a-z~]*)?)"
)
"""Nearly all URLs on pages: of these only the host may change, and dots in the path."""
_LONGEST_PLAIN: Final = 1_000


class Url(NamedTuple):
    """A valid URL in normal form; ``str()`` returns it as text.

    `host` is a name in punycode or an IP address, IPv6 without brackets. `port` 0 = none, or the scheme's default
    (L-8). `path` begins with ``/`` and includes the query.
    """

    scheme: str
    host: str
    port: int
    path: str

    def __str__(self) -> str:
        scheme, host, port, path = self
        host = f"[{host}]" if ":" in host else host
        return f"{scheme}://{host}:{port}{path}" if port else f"{scheme}://{host}{path}"


def normal(url: str) -> str:
    """The normal form of a URL (L-6); raises InvalidUrl."""
    return str(parse(url))


def scheme_of(url: str) -> str | None:
    """The lower-case scheme, ``https`` for ``//host/…`` as MediaWiki reads it, or None if there is none."""
    url = url.strip(_EDGES)
    if match := _SCHEME.match(url):
        return match[1].lower()
    return "https" if url.startswith("//") else None


def parse(url: str, bare: frozenset[str] = NO_NAMES) -> Url:
    """The URL in normal form; raises InvalidUrl, with reason ``protocol`` for links that L-3 ignores.

    `bare`: as of `host_form`.
    """
    if plain := plain_parts(url):
        scheme, host, path = plain
        form = host_form(host, bare) if bare else host_form(host)
        return tuple.__new__(Url, (scheme, form, 0, path))  # four times as fast as Url(…)
    return _parsed(url, bare)


def plain_parts(url: str) -> tuple[str, ...] | None:
    """Scheme, host and path of a URL of which no more than the host may change; None of others, which are few."""
    plain = _PLAIN.fullmatch(url)
    return plain.groups() if plain and "/." not in url and len(url) < _LONGEST_PLAIN else None


def _parsed(url: str, bare: frozenset[str] = NO_NAMES) -> Url:
    url = url.strip(_EDGES)
    parts = _PARTS.match(url)
    assert parts, "every part of the pattern may be empty"
    scheme, slashes, authority, path, query = parts.groups()
    scheme = scheme.lower() if scheme else "https" if slashes else ""
    if scheme not in DEFAULT_PORTS:
        raise InvalidUrl(InvalidReason.PROTOCOL)
    if len(url) > MAX_URL:
        raise InvalidUrl(InvalidReason.TOO_LONG)
    if not slashes:
        raise InvalidUrl(InvalidReason.NO_HOST)
    host, port = _host_and_port(authority, bare)
    path = _path_form(path or "/")
    if query:
        path += _escaped(query, _QUERY_PLAIN, _QUERY_ESCAPES)
    form = Url(scheme, host, 0 if port == DEFAULT_PORTS[scheme] else port, path)
    if len(path) > MAX_URL - _MAX_AUTHORITY and len(str(form)) > MAX_URL:
        raise InvalidUrl(InvalidReason.TOO_LONG)
    return form


@lru_cache(_LATELY)
def parse_again(url: str, bare: frozenset[str] = NO_NAMES) -> Url:
    """The same as `parse`, for a URL that several parts of a check parse within moments."""
    return parse(url, bare)


def _host_and_port(authority: str, bare: frozenset[str]) -> tuple[str, int]:
    if "@" in authority:
        userinfo, _, authority = authority.rpartition("@")
        require_visible(unquote(userinfo))
    if authority.startswith("["):
        raw, bracket, rest = authority.partition("]")
        raw += bracket
        if rest and not rest.startswith(":"):
            raise InvalidUrl(InvalidReason.IPV6)
        port = rest[1:]
    else:
        raw, _, port = authority.partition(":")
    host = host_form(raw, bare) if bare else host_form(raw)
    if not port:
        return host, 0
    digits = _PORT.fullmatch(port)
    if not digits or not 1 <= int(digits[1]) <= 65_535:
        raise InvalidUrl(InvalidReason.PORT)
    return host, int(digits[1])


def _escape_table(kept: str) -> dict[str, str]:
    """The form of each escape: the character, if it is visible ASCII outside `kept`, else the escape in upper case."""
    forms = {}
    for byte in range(256):
        plain = 0x20 < byte < 0x7F and chr(byte) not in kept
        forms[f"{byte:02X}"] = chr(byte) if plain else f"%{byte:02X}"
    return forms


# MediaWiki's lists, so that a link has the same form before and after it is stored in `externallinks`.
_ALWAYS_ESCAPED: Final = '"#%<>[\\]^`{|}'
_PATH_ESCAPES: Final = _escape_table(_ALWAYS_ESCAPED + "/?")
_QUERY_ESCAPES: Final = _escape_table(_ALWAYS_ESCAPED + "&=+;")
_PATH_PLAIN: Final = re.compile(r"[!$&'()*+,\-./0-9:;=@A-Z_a-z~]*")
_QUERY_PLAIN: Final = re.compile(r"[!$&'()*+,\-./0-9:;=?@A-Z_a-z~]*")
# The first branch is a bare % that would become a new escape once the next two characters are decoded ("%%34%31" →
# "%41"): it is kept unchanged, else a second pass would decode further than the first.
_ODD: Final = re.compile(
    r"%(?![0-9A-Fa-f]{2})(?:[0-9A-Fa-f]|%(?:3[0-9]|[46][1-6])){2}"
    r"|%(?P<escape>[0-9A-Fa-f]{2})"
    r'|[\x00-\x20"<>\[\\\]^`{|}\x7f-\U0010ffff]+'
)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_USER: Final = re.compile(r"(?<=://)[^/?#]*@")


def _escaped(text: str, plain: re.Pattern[str], forms: dict[str, str]) -> str:
    """A path or a query with canonical percent-encoding, by MediaWiki's rules."""
    if plain.fullmatch(text):
        return text

    def form(match: re.Match[str]) -> str:
        if escape := match["escape"]:
            return forms[escape.upper()]
        odd = match[0]
        return odd if odd.startswith("%") else quote(_SURROGATE.sub("\ufffd", odd), safe="")

    return _ODD.sub(form, text)


def _path_form(path: str) -> str:
    path = _escaped(path, _PATH_PLAIN, _PATH_ESCAPES)
    return _without_dots(path) if "/." in path else path


def _without_dots(path: str) -> str:
    """The path without ``.`` and ``..`` segments (RFC 3986, 5.2.4)."""
    kept: list[str] = []
    segment = ""
    for segment in path.split("/")[1:]:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segment in (".", ".."):
        kept.append("")
    return "/" + "/".join(kept)


_CONTROL: Final = re.compile(rb"[\x00-\x1f\x7f]")
# Without joiners: Persian, Indic and emoji titles need them.
_MISLEADING: Final = re.compile(
    "[\x80-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def text_form(target: str) -> str:
    """A target out of the web (``mailto:…``) as it is stored: the characters of URLs alone, without a user's name."""
    return quote(_SURROGATE.sub("\ufffd", _USER.sub("", target)), safe="!#$%&'()*+,/:;=?@~")[:MAX_URL]


def front_page(url: Url) -> Url:
    """The front page of a URL's site."""
    return url._replace(path="/")


def suspicious(path: str) -> bool:
    """True if a path in normal form hides characters that mislead readers or a protocol (L-5).

    Encoded control characters always count; bidi controls, soft hyphens and zero-width spaces only if the path is valid
    UTF-8.
    """
    if "%" not in path:
        return False
    raw = unquote_to_bytes(path)
    if _CONTROL.search(raw):
        return True
    try:
        return bool(_MISLEADING.search(raw.decode()))
    except UnicodeDecodeError:
        return False  # an older encoding, in which the same bytes are ordinary letters
