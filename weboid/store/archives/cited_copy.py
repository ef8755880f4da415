"""Cited copies: watched URLs that are themselves copies in an archive, and what they are copies of (A-2).

They are kept apart from the link checker: their URLs have the due day `NEVER_DUE` and are visited by
``archive/snapshot_rounds`` alone. Copies in archives that are dead, and what is no archive, stay ordinary links.
One law: a URL has the due day `NEVER_DUE` if and only if it has a row here.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from weboid.core.url.keys import UrlKey
from weboid.core.url.urls import Url
from weboid.store.db.pool import Connection
from weboid.store.db.rows import HostKey, KnownUrl


@dataclass(frozen=True, slots=True)
class CitedCopy:
    """The watched URL `key` is a copy in the archive with this number.

    `page` is the key under which all spellings of its original meet (`page_key`), `stamp` its 14 digits as a number;
    None = its URL does not say them. `due` is the day of its next visit.
    """

    key: UrlKey
    archive: int
    page: UrlKey | None
    stamp: int | None
    due: int


class KnownCopiesPlace(NamedTuple):
    """How far `record_known_copies` has come."""

    host: int = 0
    due: int = -1
    url_key: int = -(2**63)


def is_archive_host(host: str) -> bool:
    """Whether URLs of this host may be cited copies: one look into a set."""
    raise NotImplementedError


def cited_copy_of(key: UrlKey, url: Url, day: int) -> CitedCopy | None:
    """The URL as a cited copy that is due on `day`, None for all other URLs. Copies in archives that may not be contacted
    are never due."""
    raise NotImplementedError


def page_key(url: Url) -> UrlKey:
    """The key under which all spellings of a page meet that archives do not tell apart (`is_same_page`)."""
    raise NotImplementedError


def spellings(url: Url) -> list[Url]:
    """The URLs, eight at most, that `is_same_page` takes for the same page, itself first."""
    raise NotImplementedError


async def record_cited(conn: Connection, urls: Mapping[UrlKey, Url], day: int) -> set[HostKey]:
    """To be called by an intake for its new URLs: takes cited copies out of the link checker's rounds, and records them as
    snapshots of their originals, and known copies as snapshots of new originals.

    Returns the hosts of which nothing but cited copies is new.
    """
    raise NotImplementedError


async def find_cited(conn: Connection, urls: Iterable[Url]) -> dict[UrlKey, list[tuple[CitedCopy, Url]]]:
    """The cited copies of these URLs under any spelling, each with its own URL, by the key of the URL; newest stamp
    first. URLs without any are missing. At most 20 a URL."""
    raise NotImplementedError


async def list_cited(conn: Connection, keys: Sequence[UrlKey]) -> dict[UrlKey, CitedCopy]:
    """Those of these URLs that are cited copies."""
    raise NotImplementedError


async def lease_cited(
    conn: Connection, day: int, *, limit: int, beside: Sequence[int] = ()
) -> list[tuple[CitedCopy, KnownUrl]]:
    """Takes at most `limit` cited copies due by `day` for this worker alone, with what is known of their URLs; without
    those of the archives `beside`. On the next day they are due again. Copies that no page uses wait for four weeks."""
    raise NotImplementedError


async def record_cited_due(conn: Connection, days: Mapping[UrlKey, int]) -> None:
    """Makes cited copies due on these days, where a visit has found nothing that could be judged."""
    raise NotImplementedError


async def record_known_copies(
    conn: Connection, place: KnownCopiesPlace, day: int, *, limit: int = 500
) -> KnownCopiesPlace | None:
    """Takes cited copies that were stored before they were recognised out of the link checker's rounds: reads about
    `limit` URLs from a place on, in the caller's transaction. Returns where to go on; None = that was all."""
    raise NotImplementedError
