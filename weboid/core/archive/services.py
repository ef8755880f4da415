"""The archive services that are asked: where, in which dialect, how often, and for which URLs (A-2).

Limits are requests per minute for all workers of a farm together, a fifth or more below what the services allow
(archive.org: 30 index requests and 600 replays per IP; Arquivo.pt: 250 and 400). Which services exist and how their
addresses look is in ``core/url/archives``; Library of Congress, aggregators and barred services are never asked.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from weboid.core.url.archives import Archive
from weboid.core.url.urls import Url


class Dialect(StrEnum):
    """How a service is asked and answers."""

    WAYBACK = "wayback"
    """CDX with a row of names, availability as second voice, ``/web/{stamp}id_/``."""
    PYWB = "pywb"
    """CDX of one JSON object a line, TimeMap as second voice, ``/{stamp}id_/``; the base includes the collection."""
    TIMEMAP = "timemap"
    """No CDX: a TimeMap, and the TimeGate as second voice; the base includes the collection."""
    PERMA = "perma"
    """TimeMap and TimeGate; snapshots have addresses of their own, which contain neither moment nor URL."""
    WIKIWIX = "wikiwix"
    """One JSON object for one copy; no second voice, no Memento headers, no raw replay."""


@dataclass(frozen=True, slots=True)
class ArchiveService:
    """A service as it is asked. `base` and `public` have no final slash.

    `base` is where it is asked, `public` the prefix of the addresses for readers. `per_minute` limits index requests,
    `replay_per_minute` replays; 0 = no limit. With `countries` (registry suffixes as ``pt`` or ``gov.uk``) or
    `languages` of wikis it is asked only for URLs that fit one of them; without both, for every URL.
    """

    archive: Archive
    dialect: Dialect
    base: str
    public: str
    per_minute: int = 10
    replay_per_minute: int = 30
    countries: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The stable word of every interface."""
        return self.archive.name

    @property
    def second(self) -> bool:
        """Whether it has a second, independent voice; without one it never says NONE."""
        return self.dialect is not Dialect.WIKIWIX

    @property
    def is_raw(self) -> bool:
        """Whether it replays what was captured unchanged and with Memento-Datetime, at an address made of moment and
        URL."""
        return self.dialect in (Dialect.WAYBACK, Dialect.PYWB, Dialect.TIMEMAP)


MOST_OF_A_COUNTRY: Final = 2
"""Services asked because of a URL's country."""

SERVICES: Final[dict[str, ArchiveService]] = {}
"""By name, in the order in which they are asked."""


def services_for(
    url: Url, available: Iterable[ArchiveService], *, languages: Collection[str] = ()
) -> list[ArchiveService]:
    """The services to ask for copies of `url`, in order: those for every URL, and at most `MOST_OF_A_COUNTRY` by its
    country. `languages` are those of the wikis that cite it."""
    raise NotImplementedError
