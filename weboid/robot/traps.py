"""Recognizes URLs by which a site would never end (R-6): each kind has a name, and costs at most 200 requests."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from typing import Final

from weboid.core.url.urls import Url

MOST: Final = 200
"""Requests that a trap may cost."""
_DEEPEST: Final = 20
"""Segments of a path."""
_REPEATED: Final = 3
"""Times that a segment may occur in a path."""
_SESSION: Final = re.compile(
    r"(?:[;?&](?:jsessionid|phpsessid|aspsessionid\w*|sessionid|session_id|sid|cfid|cftoken)=)[0-9a-zA-Z._-]{12,}|"
    r"/\(S\([0-9a-z]{24}\)\)/",
    re.IGNORECASE,
)
_DATE: Final = re.compile(r"(?<!\d)(?:19|20|21)\d\d(?:[-/_.]?(?:0[1-9]|1[0-2]|[1-9])(?!\d)(?:[-/_.]\d{1,2})?)?(?!\d)")
_NAMES_DATE: Final = re.compile(r"[?&](?:year|month|day|date|week|cal\w*|y|m|d)=|/(?:calendar|events?|cal)/", re.I)


def repeating_path() -> Callable[[Url], bool]:
    """Recognizes paths that have a segment again and again, as relative links on an error page make them."""
    return lambda url: max(Counter(_segments(url)).values(), default=0) > _REPEATED


def deep_path() -> Callable[[Url], bool]:
    """Recognizes paths that grow ever deeper."""
    return lambda url: len(_segments(url)) > _DEEPEST


def session_id() -> Callable[[Url], bool]:
    """Recognizes the second and every later session of a path."""
    sessions: dict[str, str] = {}

    def is_trap(url: Url) -> bool:
        if (found := _SESSION.search(url.path)) is None:
            return False
        rest = f"{url.host}{_SESSION.sub('', url.path)}"
        return sessions.setdefault(rest, found[0]) != found[0]

    return is_trap


def calendar() -> Callable[[Url], bool]:
    """Recognizes dates of a calendar after the first 200."""
    return _bounded(
        lambda url: f"{url.host}{url.path.partition('?')[0]}" if "?" in url.path else url.host,
        lambda url: _NAMES_DATE.search(url.path) is not None and _DATE.search(url.path) is not None,
    )


def query_explosion() -> Callable[[Url], bool]:
    """Recognizes combinations of two or more parameters of a path after the first 200."""
    return _bounded(
        lambda url: f"{url.host}{url.path.partition('?')[0]}", lambda url: "&" in url.path.partition("?")[2]
    )


def _bounded(place: Callable[[Url], str], concerns: Callable[[Url], bool]) -> Callable[[Url], bool]:
    """Recognizes all but the first 200 URLs of a place among those that it concerns."""
    known: defaultdict[str, set[str]] = defaultdict(set)

    def is_trap(url: Url) -> bool:
        if not concerns(url) or url.path in (urls := known[place(url)]):
            return False
        if len(urls) >= MOST:
            return True
        urls.add(url.path)
        return False

    return is_trap


def _segments(url: Url) -> list[str]:
    return [segment for segment in url.path.partition("?")[0].split("/") if segment]


TRAPS: Final[Mapping[str, Callable[[], Callable[[Url], bool]]]] = {
    "session-id": session_id,
    "calendar": calendar,
    "repeating-path": repeating_path,
    "deep-path": deep_path,
    "query-explosion": query_explosion,
}
