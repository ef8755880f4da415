"""Orders of a task, which can be changed while it runs (R-1)."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from math import inf
from typing import Final

from weboid.core.url.urls import Url


class Restriction(StrEnum):
    """Names which links of a document are followed, as seen from the start."""

    NONE = "none"
    INTERNAL = "internal"
    EXTERNAL = "external"
    BELOW = "below"


_WEB: Final = ("http", "https")


class Scope:
    """The servers and folders of the starts of a task; asking it takes no longer with many starts."""

    def __init__(self, starts: Iterable[Url]) -> None:
        self._servers: set[tuple[str, int]] = set()
        self._folders: set[tuple[str, int, str]] = set()
        for start in starts:
            self.add(start)

    def add(self, start: Url) -> None:
        """Takes another start."""
        self._servers.add((start.host, start.port))
        self._folders.add((start.host, start.port, _path(start).rpartition("/")[0]))

    def has_server(self, target: Url) -> bool:
        """True if a URL is on the server of a start. Internal are both schemes of the web at their usual ports."""
        return target.scheme in _WEB and (target.host, target.port) in self._servers

    def allows(self, restriction: Restriction, target: Url) -> bool:
        """True if a link may be followed; one that leads out of the web may not."""
        is_internal = self.has_server(target)
        match restriction:
            case _ if target.scheme not in _WEB:
                return False
            case Restriction.NONE:
                return True
            case Restriction.INTERNAL:
                return is_internal
            case Restriction.EXTERNAL:
                return not is_internal
            case Restriction.BELOW:
                return is_internal and self._is_below(target)

    def _is_below(self, target: Url) -> bool:
        folder = _path(target)
        while folder:
            folder = folder.rpartition("/")[0]
            if (target.host, target.port, folder) in self._folders:
                return True
        return False


def _path(url: Url) -> str:
    return url.path.partition("?")[0]


@dataclass(frozen=True, slots=True)
class Orders:
    """All that a task may and shall do; a limit that is not given is without bound."""

    depth: float
    """Links from the start; the links of the last documents are read, but not followed."""
    restriction: Restriction = Restriction.INTERNAL
    head_only: bool = False
    """Only the start, by HEAD, whatever the depth."""
    obeys_robots: bool = True
    expires: float = inf
    """Moment in seconds, of the same clock as that of the robot; later no document is begun."""
    most_downloads: float = inf
    uses_cache: bool = True
    """Else what earlier runs have loaded is loaded again."""
    reloads_before: float = -inf
    """Moment in seconds since 1970: cached documents that are older are loaded again."""
    most_bytes: float = inf
    """Of each document; the rest is cut off."""
    most_seconds: float = inf
    """For each document; what takes longer has failed."""
    tests_content: bool = True
    """Links of the same content under another URL are not followed."""
    needs_source: bool = False
    """Filters and classifiers of pages want the source, which no cache has: each document is loaded, also again where
    a run goes on that was killed."""
    priority: int = 0
    """Greater is sooner, in the queue by priority."""
    page_classifiers: tuple[str, ...] = ()
    page_filters: tuple[str, ...] = ()
    link_classifiers: tuple[str, ...] = ()
    link_filters: tuple[str, ...] = ()
    """Names of functions, with their argument after a colon (``robot/plugins``)."""

    @property
    def cached_since(self) -> float:
        """Moment in seconds since 1970: what was loaded then or later is taken from the cache."""
        return self.reloads_before if self.uses_cache else inf

    @property
    def reach(self) -> float:
        """Links from the start within which documents are loaded."""
        return 0 if self.head_only else self.depth
