"""A made-up archive in the dialect of the Wayback Machine, on loopback: what it has is given, how it answers, too.

One law: it answers only what an archive would: a CDX listing, an availability answer, a raw copy or a 404.
"""

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import format_datetime
from html import escape
from urllib.parse import parse_qs, unquote, urlsplit

from support.misbehaving import Act, Asked, Site, reply, serve

from weboid.core.archive.services import SERVICES, ArchiveService, Dialect

TEXT = b"<html lang=en><title>The tide tables of the old harbour</title><p>" + b" ".join(
    b"On day %d the water stood at %d feet above the sill of the lock." % (day, day * 7 % 13) for day in range(60)
)
NAMES = ["timestamp", "original", "statuscode", "mimetype", "digest", "length"]


@dataclass(frozen=True)
class Copy:
    """One copy: its 14 digits, the code and the body of what was captured."""

    stamp: int
    status: int = 200
    body: bytes = TEXT
    location: str = ""


@dataclass
class MadeArchive:
    """A running archive; `site` knows what it was asked. `act`, if set, answers in its place (None = it does not)."""

    copies: dict[str, Sequence[Copy]]
    site: Site = field(default_factory=lambda: Site("", 0, "http"))
    act: Callable[[Asked], Act | None] = lambda asked: None

    @property
    def base(self) -> str:
        return self.site.url("")

    def service(self, name: str = "wayback", **values: object) -> ArchiveService:
        """The service of this name, asked here and without limits unless `values` say otherwise."""
        usual = replace(SERVICES[name], dialect=Dialect.WAYBACK, countries=(), languages=())
        limits = {"per_minute": 0, "replay_per_minute": 0}
        return replace(usual, **{"base": self.base, "public": self.base, **limits, **values})  # type: ignore[arg-type]  # of several types

    def count(self, part: str) -> int:
        """How many requests had this in their target."""
        return sum(part in asked.target for asked in self.site.asked)

    def answer(self, asked: Asked) -> Act:
        """Its answer to a request."""
        if (act := self.act(asked)) is not None:
            return act
        parts = urlsplit(asked.target)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if parts.path == "/cdx/search/cdx":
            return reply(200, body=self._listed(query["url"]), kind="application/json")
        if parts.path == "/wayback/available":
            return reply(200, body=b'{"url": "x", "archived_snapshots": {}}', kind="application/json")
        _, _, stamp, url = asked.target.split("/", 3)
        return self._played(stamp.removesuffix("id_"), unquote(url))

    def _listed(self, url: str) -> bytes:
        rows = [
            [str(copy.stamp), url, str(copy.status), "text/html", f"D{copy.stamp}", "2400"]
            for copy in self.copies.get(url, ())
        ]
        return json.dumps([NAMES, *rows] if rows else []).encode()

    def _played(self, stamp: str, url: str) -> bytes:
        copy = next((copy for copy in self.copies.get(url, ()) if str(copy.stamp) == stamp), None)
        if copy is None:
            return reply(404, body=b"The Wayback Machine has not archived that URL.")
        taken = datetime.strptime(stamp, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
        # Escaped as the Wayback Machine has done it.
        original = f'Link: <{escape(url)}>; rel="original"'
        lines = [f"Memento-Datetime: {format_datetime(taken, usegmt=True)}", original]
        return reply(copy.status, *lines, *([f"Location: {copy.location}"] if copy.location else []), body=copy.body)


@asynccontextmanager
async def open_made_archive(copies: Mapping[str, Sequence[Copy]] | None = None) -> AsyncIterator[MadeArchive]:
    """Runs it until the block ends."""
    archive = MadeArchive(dict(copies or {}))
    async with serve(archive.answer) as archive.site:
        yield archive
