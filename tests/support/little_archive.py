"""A small archive of one's own on loopback, in the Wayback Machine's form, which does what a test wants of each copy.

One law: it answers raw replays only; whatever else is asked of it is noted, and answered with 404.
"""

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.utils import format_datetime
from html import escape
from ipaddress import ip_network
from typing import Final

from support.misbehaving import Act, Asked, Site, reply, serve

from weboid.archive.service.client import ArchiveClient, open_archive_client
from weboid.archive.service.limits import LocalLimiter
from weboid.config import NetConfig
from weboid.core.archive.addresses import taken_of
from weboid.core.archive.configured import configured
from weboid.core.archive.services import ArchiveService

NET: Final = NetConfig(user_agent="test", permit=(ip_network("127.0.0.0/8"),), connect_s=30.0, answer_s=30.0)
BODY: Final = b"<!doctype html><html lang=en><title>The mill</title><p>" + b"A wheel of oak turns in the brook. " * 30
_REPLAY: Final = re.compile(r"/web/([0-9]{14})id_/(.+)")

Deed = Callable[[int, str], Act]
"""What the archive does when a copy with this stamp of this URL is asked for."""


def plays(stamp: int, url: str) -> Act:
    """The copy, as a real archive plays it: its URL escaped for HTML, as the Wayback Machine has done it."""
    moment = f"Memento-Datetime: {format_datetime(taken_of(stamp), usegmt=True)}"
    return reply(200, moment, f'Link: <{escape(url)}>; rel="original"', body=BODY)


def mixed_up(stamp: int, _: str) -> Act:
    """The copy of another page."""
    return plays(stamp, "http://other.demo/?page=1&lang=en")


def absent(_: int, __: str) -> Act:
    """It was never there."""
    return reply(404, body=b"<html><h2>Hrm.</h2><p>The Wayback Machine has not archived that URL.")


def no_moment(_: int, __: str) -> Act:
    """Some page with 200 and no Memento-Datetime."""
    return reply(200, body=BODY)


def withdrawn(_: int, __: str) -> Act:
    """Blocked, for legal reasons."""
    return reply(451, body=b"<html>Access Blocked")


def excluded(_: int, __: str) -> Act:
    """Wayback's page for a site that was taken out: 200."""
    return reply(200, body=b"<html><h2>Sorry.</h2><p>This URL has been excluded from the Wayback Machine.</p>")


def unavailable(_: int, __: str) -> Act:
    """A failure of its own."""
    return reply(503, body=b"<html>Temporarily Offline")


def busy(_: int, __: str) -> Act:
    """Too many requests."""
    return reply(429, body=b"<html>429")


def walled(_: int, __: str) -> Act:
    """A wall before it."""
    return reply(403, "Server: cloudflare", "CF-RAY: 1", body=b"<html><title>Just a moment...</title>")


def moved_to(stamp: int) -> Deed:
    """The archive leads to the copy with another stamp."""
    return lambda _, url: reply(302, f"Location: /web/{stamp}id_/{url}", f"X-Archive-Redirect-Reason: found {stamp}")


@dataclass
class LittleArchive:
    """What it does by default, and for some URLs or some stamps."""

    site: Site
    usual: Deed = plays
    deeds: dict[str | int, Deed] = field(default_factory=dict)
    played: list[tuple[int, str]] = field(default_factory=list)
    others: list[str] = field(default_factory=list)

    @property
    def services(self) -> tuple[ArchiveService, ...]:
        """The Wayback Machine alone, configured to be here, without limits."""
        table = {"base": self.site.url(""), "public": "https://web.archive.org", "per_minute": 0}
        return configured(("wayback",), {"wayback": {**table, "replay_per_minute": 0}})

    def act(self, asked: Asked) -> Act:
        found = _REPLAY.fullmatch(asked.target)
        if found is None:
            self.others.append(asked.target)
            return reply(404, body=b"no")
        stamp, url = int(found[1]), found[2]
        self.played.append((stamp, url))
        return (self.deeds.get(stamp) or self.deeds.get(url) or self.usual)(stamp, url)


@asynccontextmanager
async def open_little_archive() -> AsyncIterator[LittleArchive]:
    """Runs an archive on a free port of 127.0.0.1."""
    archives: list[LittleArchive] = []
    async with serve(lambda asked: archives[0].act(asked)) as site:
        archives.append(LittleArchive(site))
        yield archives[0]


@asynccontextmanager
async def open_local_client(net: NetConfig = NET) -> AsyncIterator[ArchiveClient]:
    """A client with limits of its own, which forgets all pauses with the test."""
    async with open_archive_client(net, LocalLimiter()) as client:
        yield client
