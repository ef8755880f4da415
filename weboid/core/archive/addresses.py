"""The addresses at which archive services are asked, and those for readers (A-2). Only http(s) text, no requests.

One law: what is asked has the cited URL once escaped in a query and unchanged in a path, never with a fragment;
what readers get has all 14 digits and never the flag for the raw form.
"""

from datetime import datetime
from typing import Final

from weboid.core.archive.services import ArchiveService
from weboid.core.url.urls import Url

MOST_ROWS: Final = 40
"""Captures requested of a CDX service, nearest to the wanted moment first."""


def index_request(service: ArchiveService, url: Url, wanted: datetime | None) -> str:
    """The address that lists the captures of `url`, nearest to `wanted` first where the service can sort."""
    raise NotImplementedError


def second_request(service: ArchiveService, url: Url) -> str | None:
    """The address of the service's second, independent voice; None if it has none. To be asked by GET, without
    following redirects."""
    raise NotImplementedError


def replay_address(service: ArchiveService, stamp: int, url: Url | str, address: str | None = None) -> str:
    """The address of one capture as captured (``id_``). `url` is the original as the service spells it, or ours.

    `address` is the capture's own (Capture.address), used where the service's addresses do not follow from `stamp`.
    """
    raise NotImplementedError


def reader_address(service: ArchiveService, stamp: int, url: Url | str, address: str | None = None) -> str:
    """The address of one capture for readers: all 14 digits, never raw."""
    raise NotImplementedError


def save_request(service: ArchiveService) -> str:
    """Where a capture is asked for (Wayback only)."""
    raise NotImplementedError


def save_status_request(service: ArchiveService, job: str) -> str:
    """Where the state of a saving job is asked; `job` ``user`` = of the account."""
    raise NotImplementedError


def stamp_of(moment: datetime) -> int:
    """The 14 digits yyyyMMddHHmmss of a moment (converted to UTC; fractions of a second are dropped)."""
    raise NotImplementedError


def taken_of(stamp: int) -> datetime:
    """The moment of 14 digits, in UTC. Raises ValueError if there is no such moment."""
    raise NotImplementedError
