"""Recognizes URLs by which a site would never end (R-6): each kind has a name, and costs at most 200 requests.

Pages of a calendar, a counter or a shop's filters lead to ever more that are alike but for numbers. So of such URLs
those are bounded that nothing but their like leads to, if they are more than the others: a real list may have any
number of pages that it links to. One of which each page leads to the next one alone is cut, too, and named. Numbers in
a path are usual names of pages (``/123.html``) and bounded by their distance from the start alone, unless they are
dates, or hashes in a row or of 16 characters and more.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from weboid.mechanism.bounded import BoundedMap

if TYPE_CHECKING:
    from weboid.robot.plugins import RobotLink

MOST: Final = 150
"""URLs of one kind that only their like leads to; the pages by which a trap is entered come in addition."""
_DEEP: Final = 8
"""Folders below that of the start."""
_MOST_DEEP: Final = 50
"""Deeper URLs that only pages as deep lead to; up to there a trap of two links a page has 126."""
_REPEATED: Final = 3
"""Times that a segment may occur in a path."""
_FAR: Final = 1_000
"""Links from the start."""
_REMEMBERED: Final = 20_000
"""URLs of which a filter knows what led to them."""
_ANCESTORS: Final = 8
_SESSION: Final = re.compile(
    r"(?:[;?&](?:jsessionid|phpsessid|aspsessionid\w*|sessionid|session_id|sid)=)[0-9a-zA-Z._-]{12,}|"
    r"[;?&](?:cfid|cftoken)=[0-9a-zA-Z._-]{7,}|/\(S\([0-9a-z]{24}\)\)/",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"[0-9]+(?![0-9a-f])|[0-9a-f]{6,}|[0-9]+", re.IGNORECASE)
_NUMBERS_IN_A_ROW: Final = re.compile(r"(?:/[0*])+(?=[/?]|$)")
_TOKEN: Final = re.compile(r"/(?![0-9]++[/.?]|[0-9]++$)[0-9a-f]{16,}+(?=[/.?]|$)", re.IGNORECASE)
_NAMES_DATE: Final = re.compile(
    r"[?&]\w*(?:year|month|day|date|week|cal\w*|\b[ymd])=\d|/\d{4}[/-](?:0?[1-9]|1[0-2])(?!\d)", re.IGNORECASE
)

_SEPARATOR: Final = re.compile(r"[+,|]|%20|%2C|%7C", re.IGNORECASE)
"""Of words in a list."""

_OF_PARAMETERS: Final = {"calendar", "query-explosion"}
"""Are counted together: one page may lead to both."""

IsTrap: TypeAlias = Callable[["RobotLink"], bool]


class _Traits(NamedTuple):
    """All of a URL that concerns filters; hashes stand for long texts, so that little is remembered."""

    kind: str
    """The filter that it concerns; empty if there is no number in it, and no combination of parameters."""
    shape: int
    """Of the URL without numbers, and with one of several hashes in a row."""
    script: int
    """Of the URL up to its query; 0 if it has none."""
    group: int
    """Its shape; of a combination of parameters its script."""
    is_counted: bool
    depth: int
    """Folders."""
    repeated: int


@lru_cache(maxsize=2_000)
def _traits(url: str) -> _Traits:
    *origin, rest = url.split("/", 3)
    path, mark, query = rest.partition("?")
    names = _NUMBER.sub(lambda found: "0" if found[0].isdecimal() else "*", f"/{rest}")
    shape = _NUMBERS_IN_A_ROW.sub(lambda found: "/*" if "*" in found[0] else found[0], names)
    kind, has_parameters = "", "&" in query or ";" in query
    if has_parameters or shape != f"/{rest}":
        kind = "calendar" if _NAMES_DATE.search(f"/{rest}") else "query-explosion" if mark else "endless-path"
    is_counted = kind != "endless-path" or len(shape) < len(names) or _TOKEN.search(f"/{rest}") is not None
    group = hash((*origin, shape))
    script = hash((*origin, path, mark)) if mark else 0
    segments = [segment for segment in path.split("/") if segment]
    repeated = max(Counter(segments).values(), default=0)
    return _Traits(
        kind,
        group,
        script,
        script if has_parameters else group,
        is_counted,
        len(segments) - (path[-1:] not in ("", "/")),
        repeated,
    )


def endless(kind: str) -> IsTrap:
    """Recognizes URLs of a kind to which only their like leads, directly or by turns: after 150, or at a distance."""
    led_by: BoundedMap[int, tuple[int, ...]] = BoundedMap(_REMEMBERED)
    counts: BoundedMap[int, Counter[bool]] = BoundedMap(_REMEMBERED)

    def is_trap(link: "RobotLink") -> bool:
        url = str(link.url)
        traits = _traits(url)
        if traits.kind != kind and {traits.kind, kind} != _OF_PARAMETERS:
            return False
        page = _traits(link.page.url)
        chain = (*(led_by.get(hash(link.page.url)) or ())[-_ANCESTORS:], page.shape, page.script)
        before, is_own = led_by.get(hash(url)), traits.group in chain
        if (count := counts.use(traits.group)) is None:
            count = counts[traits.group] = Counter()
        is_far = link.page.distance >= _FAR
        if before is None and is_own and (count[True] >= max(MOST, count[False]) if traits.is_counted else is_far):
            return traits.kind == kind
        if before is None or (traits.group in before and not is_own):
            count[is_own] += 1
            count[True] -= before is not None
            led_by[hash(url)] = chain
        return False

    return is_trap


def deep_path() -> IsTrap:
    """Recognizes paths that grow ever deeper: after the first 50 to which only pages lead that are as deep."""
    known: BoundedMap[int, bool] = BoundedMap(_REMEMBERED)
    start = own = 0

    def is_trap(link: "RobotLink") -> bool:
        nonlocal start, own
        page = _traits(link.page.url).depth
        start = max(start, page) if link.page.distance == 0 else start
        url = str(link.url)
        if _traits(url).depth <= start + _DEEP or hash(url) in known:
            return False
        is_own = page >= start + _DEEP
        if is_own and own >= _MOST_DEEP:
            return True
        own += is_own
        known[hash(url)] = is_own
        return False

    return is_trap


def repeating_path() -> IsTrap:
    """Recognizes paths that have a segment again and again, as relative links on an error page make them."""
    return lambda link: _traits(str(link.url)).repeated > _REPEATED


def growing_query() -> IsTrap:
    """Recognizes a parameter that holds the URL of its own page, escaped once more on each, and lists of words to which
    each page adds one, in a query or a path: after 150, if they are more than the lists that others lead to.
    """
    known: BoundedMap[int, bool] = BoundedMap(_REMEMBERED)
    counts: BoundedMap[int, Counter[bool]] = BoundedMap(_REMEMBERED)

    def is_trap(link: "RobotLink") -> bool:
        if "%2525" in link.url.path:
            return True
        if not _SEPARATOR.search(link.url.path):
            return False
        url = str(link.url)
        name, *words = _SEPARATOR.split(url.replace("=", ","))
        page = set(_SEPARATOR.split(link.page.url.replace("=", ",")))
        before, is_own = known.get(hash(url)), page <= {name, *words} or page >= {name, *words}
        group = hash(name if "?" in name else name.rpartition("/")[0])
        if (count := counts.use(group)) is None:
            count = counts[group] = Counter()
        if before is None and is_own and count[True] >= max(MOST, count[False]):
            return True
        if before is None or (before and not is_own):
            count[is_own] += 1
            count[True] -= before is not None
            known[hash(url)] = is_own
        return False

    return is_trap


def session_id() -> IsTrap:
    """Recognizes the second and every later session of a path."""
    sessions: BoundedMap[int, int] = BoundedMap(_REMEMBERED)

    def is_trap(link: "RobotLink") -> bool:
        if (found := _SESSION.search(link.url.path)) is None:
            return False
        rest, session = hash((link.url.host, _SESSION.sub("", link.url.path))), hash(found[0])
        if (first := sessions.use(rest)) is None:
            sessions[rest] = first = session
        return first != session

    return is_trap


TRAPS: Final[Mapping[str, Callable[[], IsTrap]]] = {
    "session-id": session_id,
    "repeating-path": repeating_path,
    "deep-path": deep_path,
    "growing-query": growing_query,
    **{kind: partial(endless, kind) for kind in ("calendar", "query-explosion", "endless-path")},
}
