"""Detects what services say of a deleted or private work while they answer 200: videos, posts, files (C-11).

The table is ``services.toml``. A sign counts on that service's own pages alone, living and archived alike. A shell that
scripts fill in alike for living works and others says nothing: it is no working page, but a wall (U-7, D-488).
"""

from collections import defaultdict
from functools import cache, partial
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from weboid.core.document.document import Document
from weboid.core.document.folding import Phrases, first_of, folded
from weboid.core.record.reasons import Reason
from weboid.core.signs.suspicion import Suspicion
from weboid.core.signs.tables import Marks, table_of
from weboid.core.url.hosts import registrable_domain


class PublishingService(Struct, frozen=True, forbid_unknown_fields=True):
    """One service: its registrable domains, the beginnings of the paths of its works, and what it says of those gone.

    `titles` are the whole titles of pages without a work, `marks` bytes of their data in lower case, `sayings` whole
    headings, or what short texts say. `alive` are bytes that only pages of living works have. `seen` is where and when
    a page of each kind was seen, `living` the same of a work that is there.
    """

    name: str
    domains: tuple[str, ...]
    paths: tuple[str, ...]
    seen: str
    living: str
    titles: tuple[str, ...] = ()
    marks: Marks = Marks()
    sayings: Phrases = Phrases()
    alive: Marks = Marks()
    ends: tuple[str, ...] = ()
    """Beginnings of path and query of the page or picture to which the service sends readers instead."""
    shells: tuple[str, ...] = ()
    """Whole titles of pages of few words that are the same for living works."""


class PublishingServices(Struct, frozen=True, forbid_unknown_fields=True):
    """All services of the table."""

    service: tuple[PublishingService, ...]


_SHORT_CHARS: Final = 300
"""A longer text is about something."""

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
        if f"{parts.path}?{parts.query}".startswith(service.ends or ("\0",)):
            return Suspicion(Reason.SOFT_404, (f"service:{service.name}", "redirect"))
        if parts.path.startswith(service.paths) and (found := _said(service, document, body.lower())):
            return found
    return None


def _said(service: PublishingService, document: Document, page: bytes) -> Suspicion | None:
    """The suspicion by what a page of the service says; `page` is in lower case."""
    if any(mark in page for mark in service.alive):
        return None
    is_short = len(document.text) <= _SHORT_CHARS
    texts = [folded(text) for text in (*document.headings, document.text if is_short else "")]
    if document.title in service.titles:
        sign = "title"
    elif any(mark in page for mark in service.marks):
        sign = "mark"
    elif any(text in service.sayings for text in texts) or (is_short and first_of(service.sayings, texts[-1])):
        sign = "heading"
    elif document.is_page and is_short and document.title in service.shells and b"<script" in page:
        return Suspicion(Reason.BOT_WALL, (f"service:{service.name}", "shell"))
    else:
        return None
    return Suspicion(Reason.SOFT_404, (f"service:{service.name}", sign))
