"""The addresses at which archive services are asked, and those for readers (A-2). Text only, no requests."""

from datetime import datetime
from string import printable
from typing import Final
from urllib.parse import quote, urlencode, urlsplit

from weboid.core.archive.captures import in_utc
from weboid.core.archive.dialects.cdx import FIELDS
from weboid.core.archive.dialects.replies import moment_of
from weboid.core.archive.services import SERVICES, ArchiveService, Dialect
from weboid.core.url.archives import snapshot_of
from weboid.core.url.urls import Url

MOST_ROWS: Final = 200
"""Captures requested of a CDX service, nearest to the given moment first."""

_AVAILABILITY: Final = "https://archive.org"
"""The base of the Wayback Machine's availability API, unless the service's base is configured."""
_AS_IT_IS: Final = printable.strip()


def index_request(service: ArchiveService, url: Url, near: datetime | None) -> str:
    """The address that lists the captures of `url`, nearest to `near` first where the service can sort."""
    match service.dialect:
        case Dialect.WAYBACK:
            return f"{service.base}/cdx/search/cdx?{_cdx_query(url, near, fl=','.join(FIELDS))}"
        case Dialect.PYWB:
            return f"{service.base}/cdx?{_cdx_query(url, near)}"
        case Dialect.WIKIWIX:
            return f"{service.base}/cache/index2.php?{_query(apiresponse='1', url=str(url))}"
        case Dialect.TIMEMAP | Dialect.PERMA:
            return f"{service.base}/timemap/link/{url}"


def second_request(service: ArchiveService, url: Url) -> str | None:
    """The address of the service's second, independent voice; None if it has none. To be asked by GET, without
    following redirects."""
    match service.dialect:
        case Dialect.WAYBACK:
            is_default = service.base == SERVICES["wayback"].base
            base = _AVAILABILITY if is_default else service.base
            # It finds less with ``https://``.
            text = str(url).partition("://")[2] if url.scheme in ("http", "https") else str(url)
            return f"{base}/wayback/available?{_query(url=text)}"
        case Dialect.PYWB:
            return f"{service.base}/timemap/link/{url}"
        case Dialect.TIMEMAP:
            return f"{service.base}/{url}"
        case Dialect.PERMA:
            return f"{service.base}/timegate/{url}"
        case Dialect.WIKIWIX:
            return None


def replay_address(service: ArchiveService, stamp: int, url: Url | str, address: str | None = None) -> str:
    """The address of one capture as captured (``id_``). `url` is the original as the service spells it, or ours.

    `address` is the capture's own (Capture.address), used where the service's addresses do not follow from `stamp`.
    """
    return _capture_address(
        service, service.base, f"{stamp:014}id_" if service.is_raw else f"{stamp:014}", url, address
    )


def reader_address(service: ArchiveService, stamp: int, url: Url | str, address: str | None = None) -> str:
    """The address of one capture for readers: all 14 digits, never raw."""
    usual = SERVICES.get(service.name)
    if usual is not None and usual.public == service.public:
        # Readers go to the service itself, which need not speak the dialect of the place where it is asked.
        service = usual
    return _capture_address(service, service.public, f"{stamp:014}", url, address)


def save_request(service: ArchiveService) -> str:
    """The address at which a capture is requested (Wayback Machine only)."""
    return f"{service.base}/save"


def save_status_request(service: ArchiveService, job: str) -> str:
    """The address of the state of a saving job; `job` ``user`` = of the account."""
    return f"{service.base}/save/status/{quote(job, safe='')}"


def is_in_other_archive(service: ArchiveService, address: str) -> bool:
    """True if an address in an answer is known to be in another archive. Captures are replayed at the service's own
    base whatever their addresses say, so that unknown hosts (a stand-in, a moved archive) may pass."""
    snapshot = snapshot_of(address)
    return snapshot is not None and snapshot.archive is not service.archive


def stamp_of(moment: datetime) -> int:
    """The 14 digits yyyyMMddHHmmss of a moment (converted to UTC; fractions of a second are dropped)."""
    return int(f"{in_utc(moment):%Y%m%d%H%M%S}")


def taken_of(stamp: int) -> datetime:
    """The moment of 14 digits, in UTC. Raises ValueError if there is no such moment, or if it is before 1990."""
    moment = moment_of(str(stamp))
    if moment is None:
        raise ValueError(f"no moment: {stamp}")
    return moment


def _capture_address(service: ArchiveService, base: str, stamp: str, url: Url | str, address: str | None) -> str:
    original = quote(str(url).partition("#")[0], safe=_AS_IT_IS)
    match service.dialect:
        case Dialect.WAYBACK:
            return f"{base}/web/{stamp}/{original}"
        case Dialect.PYWB | Dialect.TIMEMAP:
            return f"{base}/{stamp}/{original}"
        case Dialect.WIKIWIX:
            return f"{base}/cache/{stamp}/{original}"
        case Dialect.PERMA:
            return f"{base}{urlsplit(address).path}" if address else f"{base}/timegate/{original}"


def _cdx_query(url: Url, near: datetime | None, **more: str) -> str:
    nearest = {"sort": "closest", "closest": f"{stamp_of(near):014}"} if near else {}
    more |= {"matchType": "exact"} if str(url).endswith("*") else {}  # a star asks for all that begins so
    return _query(url=str(url), output="json", **more, **nearest, limit=str(MOST_ROWS))


def _query(**parameters: str) -> str:
    return urlencode(parameters, quote_via=quote, safe="")
