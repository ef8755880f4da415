"""The cookies of one check (C-2): enough for servers that set a cookie and redirect to the same URL.

Paths, dates and flags are not kept: the jar exists for seconds and contains no secret of ours.
One law: a jar never grows beyond its bounds, whatever a server sends.
"""

import re
from typing import Final

COOKIES: Final = 20
COOKIE_CHARS: Final = 4096
HEADER_CHARS: Final = 8192

_PAIR: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+=[\x20-\x3a\x3c-\x7e]*")
_ENDED: Final = re.compile(
    r";\s*(?:max-age\s*=\s*(?:-|0+\s*(?:;|$))|expires\s*=[^;]*\b(?:19[0-9]{2}|200[0-9])\b)", re.I
)
_DOMAIN: Final = re.compile(r";\s*domain\s*=\s*\.?([a-z0-9.-]+)", re.I)


class CookieJar:
    """Cookies by domain and name."""

    def __init__(self) -> None:
        self._cookies: dict[tuple[str, str], str] = {}

    def take(self, host: str, line: str) -> None:
        """Keeps, replaces or deletes a cookie by a Set-Cookie line from `host`; invalid lines are ignored."""
        pair = line.partition(";")[0].strip()
        if len(pair) > COOKIE_CHARS or not _PAIR.fullmatch(pair):
            return
        name = pair.partition("=")[0]
        domain = _DOMAIN.search(line)
        scope = f".{domain[1].lower()}" if domain and "." in domain[1] else host
        if scope != host and not f".{host}".endswith(scope):
            return
        if _ENDED.search(line):
            self._cookies.pop((scope, name), None)
        elif len(self._cookies) < COOKIES or (scope, name) in self._cookies:
            self._cookies[scope, name] = pair

    def header(self, host: str) -> str:
        """The value of the Cookie header for a host, empty if there is none."""
        pairs: list[str] = []
        chars = 0
        for (scope, _), pair in self._cookies.items():
            if scope == host or (scope.startswith(".") and f".{host}".endswith(scope)):
                chars += len(pair) + 2
                if chars <= HEADER_CHARS:
                    pairs.append(pair)
        return "; ".join(pairs)
