"""The archive services that are asked: where, in which dialect, how often, and for which URLs (A-2).

Limits are requests per minute for all workers of a farm together, a fifth or more below what the services allow
(archive.org: 30 index requests and 600 replays per IP; Arquivo.pt: 250 and 400). Which services exist and how their
addresses look is in ``core/url/archives``; Library of Congress, aggregators and barred services are never asked.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from weboid.assets import toml_next_to
from weboid.core.url.archives import BY_NAME, Archive
from weboid.core.url.urls import Url


class Dialect(StrEnum):
    """The ways in which services are asked and answer."""

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
    per_minute: int
    replay_per_minute: int
    countries: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The stable word of every interface."""
        return self.archive.name

    @property
    def is_raw(self) -> bool:
        """True if it replays what was captured unchanged and with Memento-Datetime, at an address made of moment and
        URL."""
        return self.dialect in (Dialect.WAYBACK, Dialect.PYWB, Dialect.TIMEMAP)


_ROWS: Final = toml_next_to(__file__)["service"]
ON_REQUEST: Final = frozenset(row["name"] for row in _ROWS if row.get("on_request"))
"""Services that are asked only where an operator names them: each holds a little of the web, and for a URL of any site
costs two requests, and an error whenever it does not answer."""
MOST_OF_A_COUNTRY: Final = 2
"""Services asked because of a URL's country."""
SERVICES: Final = {
    row["name"]: ArchiveService(
        BY_NAME[row["name"]],
        Dialect(row["dialect"]),
        base=row["base"],
        public=row["base"],
        per_minute=row.get("per_minute", 10),
        replay_per_minute=row.get("replay_per_minute", 30),
        countries=tuple(row.get("countries", ())),
        languages=tuple(row.get("languages", ())),
    )
    for row in _ROWS
}
"""By name, in the order in which they are asked."""


def services_for(
    url: Url, available: Iterable[ArchiveService], *, languages: Collection[str] = ()
) -> list[ArchiveService]:
    """The services to ask for copies of `url`, in order: those for every URL, those for a language of the wikis that
    cite it (`languages`), and at most `MOST_OF_A_COUNTRY` by its country."""
    chosen = []
    of_country = 0
    for service in available:
        is_for_all = not service.countries and not service.languages
        if is_for_all or not set(service.languages).isdisjoint(languages):
            chosen.append(service)
        elif of_country < MOST_OF_A_COUNTRY and url.host.endswith(tuple(f".{suffix}" for suffix in service.countries)):
            of_country += 1
            chosen.append(service)
    return chosen


def playing(configured: Iterable[ArchiveService]) -> dict[int, ArchiveService]:
    """The services by the number of their archive: those at which a copy that somebody has chosen already is replayed.

    Among them are those that are otherwise asked only `ON_REQUEST`.
    """
    usual = [service for service in SERVICES.values() if service.name in ON_REQUEST]
    return {service.archive.number: service for service in (*usual, *configured)}
