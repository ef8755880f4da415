"""Detects what services say of a deleted or private work while they answer 200: videos, posts, files (C-11).

The table is ``services.toml``. A sign counts on that service's own pages alone, living and archived alike.
"""

from collections import defaultdict
from functools import cache, partial
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from weboid.core.document.document import Document
from weboid.core.document.folding import folded
from weboid.core.record.reasons import Reason
from weboid.core.signs.suspicion import Suspicion
from weboid.core.signs.tables import Marks, Phrases, table_of
from weboid.core.url.hosts import registrable_domain


class PublishingService(Struct, frozen=True, forbid_unknown_fields=True):
    """One service: its registrable domains, the beginnings of the paths of its works, and what it says of those gone.

    `titles` are the whole titles of pages without a work, `marks` bytes of their data in lower case, `sayings` whole
    headings. `seen` is where and when a page of each kind was seen, `living` the same of a work that is there.
    """

    name: str
    domains: tuple[str, ...]
    paths: tuple[str, ...]
    seen: str
    living: str
    titles: tuple[str, ...] = ()
    marks: Marks = Marks()
    sayings: Phrases = Phrases()
    ends: tuple[str, ...] = ()
    """Paths of the page or picture to which the service sends readers instead."""


class PublishingServices(Struct, frozen=True, forbid_unknown_fields=True):
    """All services of the table."""

    service: tuple[PublishingService, ...]


services: Final = partial(table_of, __file__, PublishingServices)


@cache
def _by_domain() -> dict[str, list[PublishingService]]:
    found: dict[str, list[PublishingService]] = defaultdict(list)
    for service in services().service:
        for domain in service.domains:
            found[domain].append(service)
    return dict(found)


def service_suspicion(final: str, document: Document, body: bytes) -> Suspicion | None:
    """The suspicion that a service shows at URL `final` that the work is gone; `body` is the beginning of the page."""
    parts = urlsplit(final)
    for service in _by_domain().get(registrable_domain(parts.hostname or ""), ()):
        if parts.path in service.ends:
            return _gone(service, "redirect")
        if not parts.path.startswith(service.paths):
            continue
        page = body.lower()
        if document.title in service.titles:
            return _gone(service, "title")
        if any(mark in page for mark in service.marks):
            return _gone(service, "mark")
        if any(folded(heading) in service.sayings for heading in document.headings):
            return _gone(service, "heading")
    return None


def _gone(service: PublishingService, sign: str) -> Suspicion:
    return Suspicion(Reason.SOFT_404, (f"service:{service.name}", sign))
