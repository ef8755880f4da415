"""The archive services that are asked: where, in which dialect, how often, and for which URLs (A-2).

Limits are requests per minute for all workers of a farm together, a fifth or more below what the services allow
(archive.org: 30 index requests and 600 replays per IP; Arquivo.pt: 250 and 400). Which services exist and how their
addresses look is in ``core/url/archives``; Library of Congress, aggregators and barred services are never asked.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from weboid.core.url.archives import BY_NAME, Archive
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
    per_minute: int
    replay_per_minute: int
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


ON_REQUEST: Final = frozenset({"archive-it", "perma"})
"""Services that are asked only where an operator names them: each holds a little of the web, and for a URL of any site
costs two requests, and an error whenever it does not answer."""

MOST_OF_A_COUNTRY: Final = 2
"""Services asked because of a URL's country."""


def _service(
    name: str,
    dialect: Dialect,
    base: str,
    per_minute: int = 10,
    replay_per_minute: int = 30,
    *,
    countries: tuple[str, ...] = (),
    languages: tuple[str, ...] = (),
) -> ArchiveService:
    return ArchiveService(BY_NAME[name], dialect, base, base, per_minute, replay_per_minute, countries, languages)


_FRENCH: Final = ("fr", "bzh", "paris", "re", "gp", "mq", "gf", "nc", "pf", "pm", "wf", "yt")

SERVICES: Final = {
    service.name: service
    for service in (
        _service("wayback", Dialect.WAYBACK, "https://web.archive.org", 24, 480),
        _service("arquivo", Dialect.PYWB, "https://arquivo.pt/wayback", 125, 200, countries=("pt",)),
        _service(
            "nationalarchives",
            Dialect.TIMEMAP,
            "https://webarchive.nationalarchives.gov.uk/ukgwa",
            countries=("gov.uk", "nhs.uk"),
        ),
        _service("nrscotland", Dialect.TIMEMAP, "https://webarchive.nrscotland.gov.uk", countries=("scot",)),
        _service(
            "ukwa",
            Dialect.PYWB,
            "https://www.webarchive.org.uk/wayback/archive",
            countries=("uk", "scot", "wales", "cymru", "london"),
        ),
        _service("nla", Dialect.PYWB, "https://web.archive.org.au/awa", countries=("au",)),
        _service("nlnz", Dialect.TIMEMAP, "https://ndhadeliver.natlib.govt.nz/webarchive", countries=("nz",)),
        _service("vefsafn", Dialect.TIMEMAP, "https://vefsafn.is", countries=("is",)),
        _service("banq", Dialect.TIMEMAP, "https://waext.banq.qc.ca/wayback", countries=("qc.ca", "quebec")),
        _service(
            "bac-lac",
            Dialect.TIMEMAP,
            "https://webarchiveweb.wayback.bac-lac.canada.ca/web",
            countries=("gc.ca", "canada.ca"),
        ),
        _service("wikiwix", Dialect.WIKIWIX, "https://archive.wikiwix.com", countries=_FRENCH, languages=("fr",)),
        _service("archive-it", Dialect.TIMEMAP, "https://wayback.archive-it.org/all"),
        _service("perma", Dialect.PERMA, "https://perma.cc"),
    )
}
"""By name, in the order in which they are asked. Bases are from recorded answers, ../shared/data/archive_services.json
and MemGator's list (2026-04); limits without a published one are ours."""


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
        elif of_country < MOST_OF_A_COUNTRY and _is_of(url.host, service.countries):
            of_country += 1
            chosen.append(service)
    return chosen


def playing(configured: Iterable[ArchiveService]) -> dict[int, ArchiveService]:
    """The services, by the number of their archive, at which a copy is played that somebody has chosen already: also
    those that are asked for others only `ON_REQUEST`."""
    usual = [service for service in SERVICES.values() if service.name in ON_REQUEST]
    return {service.archive.number: service for service in (*usual, *configured)}


def _is_of(host: str, suffixes: tuple[str, ...]) -> bool:
    return any(host.endswith(f".{suffix}") for suffix in suffixes)
