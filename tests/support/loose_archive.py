"""A stand-in that answers loosely: by the part of the path alone, whatever else it is asked, as replayed recordings do.

One law: what it says is what the test gave it, with its own length.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime
from re import search

from support.misbehaving import Act, Asked, Site, reply

from weboid.core.archive.dialects.replies import moment_of

Answer = Act | Callable[[Asked], Act]

NOT_HERE = reply(404, body=b"<!DOCTYPE html><title>404</title>")
TEXT = b"<!DOCTYPE html><html lang=en><title>The mill and its wheel</title><p>" + b" ".join(
    b"In the year %d the wheel turned for %d days." % (year, year % 97) for year in range(1700, 1760)
)


@dataclass
class LooseArchive:
    """Answers by kind of request; `site` knows what it was asked."""

    cdx: Answer = NOT_HERE
    available: Answer = NOT_HERE
    replay: Answer = NOT_HERE
    timemap: Answer = NOT_HERE
    site: Site = field(default_factory=lambda: Site("", 0, "http"))

    def __call__(self, asked: Asked) -> Act:
        """Its answer to a request."""
        kinds = {r"/\d{1,14}id_/": self.replay, "timemap": self.timemap, "available": self.available, "cdx": self.cdx}
        answer = next((answer for part, answer in kinds.items() if search(part, asked.target)), NOT_HERE)
        return answer(asked) if callable(answer) else answer


def rows(text: str) -> bytes:
    """A listing; whatever its form, as text."""
    return reply(200, body=text.encode(), kind="text/plain")


def played(asked: Asked, body: bytes = TEXT, *lines: str, status: int = 200) -> bytes:
    """The copy that is asked for."""
    found = search(r"/(\d{14})id_/", asked.target)
    moment = (found and moment_of(found[1])) or datetime(1999, 1, 1, tzinfo=UTC)
    return reply(status, f"Memento-Datetime: {format_datetime(moment, usegmt=True)}", *lines, body=body)


def led(stamp: str, url: str) -> bytes:
    """The archive leads to another copy, by the address it has on the real web."""
    target = f"https://web.archive.org/web/{stamp}id_/{url}"
    return reply(302, f"Location: {target}", f"X-Archive-Redirect-Reason: found capture at {stamp}")
