"""Web archives of tests on loopback, in the dialect of the Wayback Machine: one has what a test gives it.

It answers as the demo's (`weboid.demo.littlearchive`), unless a test says what it does instead; one saves as Save Page
Now 2 does. The real one is in ``support/pywb``.
"""

import json
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from email.utils import format_datetime
from html import escape
from ipaddress import ip_network
from typing import Any, Final
from urllib.parse import parse_qs

from support.misbehaving import Act, Asked, Site, reply, serve

from weboid.archive.service.client import ArchiveClient, open_archive_client
from weboid.archive.service.limits import LocalLimiter
from weboid.config import NetConfig
from weboid.core.archive.addresses import taken_of
from weboid.core.archive.configured import configured
from weboid.core.archive.services import SERVICES, ArchiveService, Dialect
from weboid.demo.littlearchive import LittleArchive, LittleCapture, answer_of
from weboid.demo.world import Code

NET: Final = NetConfig(user_agent="test", permit=(ip_network("127.0.0.0/8"),), connect_s=30.0, answer_s=30.0)
TEXT: Final = b"<!doctype html><html lang=en><title>The mill and its wheel</title><p>" + b" ".join(
    b"In the year %d the wheel of oak turned for %d days." % (year, year % 97) for year in range(1700, 1760)
)
KEY: Final = "k3y"
SECRET: Final = "s3cr3t"
STAMP: Final = 20260103040506
"""When a copy is saved."""
_LAST_DAY: Final = 100_000
_REPLAY: Final = re.compile(r"/web/([0-9]{1,14})(?:id_)?/(.+)")

Deed = Callable[[int, str], Act]
"""What is done when a copy with this stamp of this URL is asked for."""
Says = Mapping[str, Any] | Act
"""What is said: a JSON object with code 200, or anything else."""


def rate_limited(retry_after: str | None = None) -> bytes:
    """Too many requests: 429 with a page for people, and if given, a Retry-After."""
    lines = [f"Retry-After: {retry_after}"] if retry_after else []
    return reply(429, *lines, body=b"<html><h1>429 Too Many Requests</h1></html>")


def failing(status: int = 503) -> bytes:
    return reply(status, body=b"<html><h1>Temporarily Offline</h1></html>")


PAGE_FOR_PEOPLE: Final = reply(200, body=b"<!DOCTYPE html><title>Internet Archive</title><p>We will be back.</p>")
"""With 200, where data were asked for."""
NOT_HERE: Final = reply(404, body=b"<html><h2>Hrm.</h2><p>The Wayback Machine has not archived that URL.")
EXCLUDED: Final = reply(200, body=b"<html><h2>Sorry.</h2><p>This URL has been excluded from the Wayback Machine.</p>")


def plays(stamp: int, url: str, body: bytes = TEXT) -> bytes:
    """The copy, as a real archive plays it: its URL escaped for HTML, as the Wayback Machine has done it."""
    moment = f"Memento-Datetime: {format_datetime(taken_of(stamp), usegmt=True)}"
    return reply(200, moment, f'Link: <{escape(url)}>; rel="original"', body=body)


def mixed_up(stamp: int, _: str) -> bytes:
    return plays(stamp, "http://other.demo/?page=1&lang=en")


def moved_to(stamp: int) -> Deed:
    """The archive leads to the copy with another stamp."""
    return lambda _, url: reply(302, f"Location: /web/{stamp}id_/{url}", f"X-Archive-Redirect-Reason: found {stamp}")


def _always(name: str, act: Act) -> Deed:
    def deed(stamp: int, url: str) -> Act:
        return act

    deed.__name__ = name  # for the ids of cases
    return deed


absent: Final = _always("absent", NOT_HERE)
no_moment: Final = _always("no_moment", reply(200, body=TEXT))
withdrawn: Final = _always("withdrawn", reply(451, body=b"<html>Access Blocked"))
excluded: Final = _always("excluded", EXCLUDED)
unavailable: Final = _always("unavailable", failing())
busy: Final = _always("busy", rate_limited())
walled: Final = _always(
    "walled", reply(403, "Server: cloudflare", "CF-RAY: 1", body=b"<html><title>Just a moment...</title>")
)


@dataclass(frozen=True)
class Copy:
    """One copy: its 14 digits, the code and the body of what was captured, and where that led."""

    stamp: int
    status: int = 200
    body: bytes = TEXT
    location: str = ""


@dataclass(frozen=True)
class _Capture(LittleCapture):
    document: bytes = b""

    @property
    def body(self) -> bytes:
        return self.document


@dataclass
class MadeArchive:
    """A running archive; `site` knows what it was asked.

    What it does instead of answering: `act` of any request (None = it answers), `deeds` of a copy, by its stamp or its
    URL, `usual` of all others. `played` are the copies that were asked for, `others` the targets of other requests.
    """

    copies: dict[str, Sequence[Copy]] = field(default_factory=dict)
    site: Site = field(default_factory=lambda: Site("", 0, "http"))
    act: Callable[[Asked], Act | None] = lambda asked: None
    usual: Deed | None = None
    deeds: dict[str | int, Deed] = field(default_factory=dict)
    played: list[tuple[int, str]] = field(default_factory=list)
    others: list[str] = field(default_factory=list)

    @property
    def base(self) -> str:
        return self.site.url("")

    @property
    def services(self) -> tuple[ArchiveService, ...]:
        """The Wayback Machine alone, configured to be here, without limits; readers get its real address."""
        table = {"base": self.base, "public": "https://web.archive.org", "per_minute": 0, "replay_per_minute": 0}
        return configured(("wayback",), {"wayback": table})

    def service(self, name: str = "wayback", **values: object) -> ArchiveService:
        """The service of this name, asked here and without limits unless `values` say otherwise."""
        usual = replace(SERVICES[name], dialect=Dialect.WAYBACK, countries=(), languages=())
        limits = {"per_minute": 0, "replay_per_minute": 0}
        return replace(usual, **{"base": self.base, "public": self.base, **limits, **values})  # type: ignore[arg-type]  # of several types

    def environ(self, per_minute: int = 0) -> dict[str, str]:
        """The configuration under which it stands for the Wayback Machine, and no other archive is asked."""
        return {
            "WEBOID_ARCHIVE_SERVICES": "wayback",
            "WEBOID_ARCHIVE_WAYBACK_BASE": self.base,
            "WEBOID_ARCHIVE_WAYBACK_PER_MINUTE": str(per_minute),
            "WEBOID_ARCHIVE_WAYBACK_REPLAY_PER_MINUTE": "0",
        }

    def count(self, part: str) -> int:
        return sum(part in asked.target for asked in self.site.asked)

    def answer(self, asked: Asked) -> Act:
        if (act := self.act(asked)) is not None:
            return act
        if found := _REPLAY.fullmatch(asked.target):
            stamp, url = int(found[1]), found[2]
            self.played.append((stamp, url))
            if deed := self.deeds.get(stamp) or self.deeds.get(url) or self.usual:
                return deed(stamp, url)
        else:
            self.others.append(asked.target)
        captures = [
            _Capture(url, taken_of(copy.stamp), Code(copy.status), copy.body)
            for url, copies in self.copies.items()
            for copy in copies
        ]
        answer = answer_of(LittleArchive(captures, {}, lambda: _LAST_DAY, self.base), asked.target)
        lines = [f"{name}: {value}" for name, value in answer.headers.items() if name != "Content-Type"]
        if found:
            of_url = self.copies.get(found[2], ())
            lines += [f"Location: {each.location}" for each in of_url if each.location and each.stamp == int(found[1])]
        assert isinstance(answer.body, bytes)
        return reply(answer.status, *lines, body=answer.body, kind=answer.headers["Content-Type"])


@asynccontextmanager
async def open_made_archive(
    copies: Mapping[str, Sequence[Copy]] | None = None, usual: Deed | None = None
) -> AsyncIterator[MadeArchive]:
    """Runs one on a free port of 127.0.0.1 until the block ends."""
    archive = MadeArchive(dict(copies or {}), usual=usual)
    async with serve(archive.answer) as archive.site:
        yield archive


@asynccontextmanager
async def open_local_client(net: NetConfig = NET) -> AsyncIterator[ArchiveClient]:
    """A client with limits of its own, which forgets all pauses with the test."""
    async with open_archive_client(net, LocalLimiter()) as client:
        yield client


@dataclass
class SavingArchive(MadeArchive):
    """It takes nothing without the keys, and notes whatever it was sent.

    `saved` = the URLs of which it made copies; `jobs` = what it says of a job, by its id, in turn, the last always.
    `refusals` are its answers to submissions in place of a job, by URL. `answers` come before everything, by the end of
    the path.
    """

    submitted: list[dict[str, str]] = field(default_factory=list)
    jobs: dict[str, list[Says]] = field(default_factory=dict)
    urls: dict[str, str] = field(default_factory=dict)
    saved: list[str] = field(default_factory=list)
    refusals: dict[str, Says] = field(default_factory=dict)
    answers: dict[str, Says] = field(default_factory=dict)
    pendings: int = 1
    """So often a new job is pending."""
    daily: int = 0
    shows: bool = True
    """Whether its index has what it saved."""
    on_submit: Callable[[str], None] = lambda url: None

    def answer(self, asked: Asked) -> Act:
        path = asked.target.partition("?")[0]
        if not path.startswith("/save"):
            return super().answer(asked)
        headers = {name.lower(): value for name, value in asked.headers.items()}
        name = path.rpartition("/")[2]
        if name != "system" and headers.get("authorization") != f"LOW {KEY}:{SECRET}":
            return reply(401, body=b'{"message": "You need to be logged in to use Save Page Now."}')
        if name in self.answers:
            return _said(self.answers[name])
        if name == "system":
            return _said({"status": "ok"})
        if name == "user":
            return _said(
                {"available": 5, "processing": 0, "daily_captures": self.daily, "daily_captures_limit": 30_000}
            )
        return _said(self._submit(asked.body) if asked.method == "POST" else self._job(name))

    def _submit(self, body: bytes) -> Says:
        form = {name: values[0] for name, values in parse_qs(body.decode()).items()}
        self.submitted.append(form)
        self.daily += 1
        url = form["url"]
        self.on_submit(url)
        if url in self.refusals:
            return self.refusals[url]
        job = f"spn2-{len(self.submitted):040x}"
        self.urls[job] = url
        pending = {"status": "pending", "job_id": job, "resources": []}
        done = {"status": "success", "job_id": job, "original_url": url, "timestamp": str(STAMP), "http_status": 200}
        self.jobs.setdefault(job, [*[pending] * self.pendings, done])
        return {"url": url, "job_id": job}

    def _job(self, job: str) -> Says:
        says = self.jobs.get(job, [{"status": "pending", "job_id": job}])
        said = says.pop(0) if len(says) > 1 else says[0]
        if isinstance(said, Mapping) and said.get("status") == "success":
            self.saved.append(self.urls[job])
            if self.shows:
                self.copies[self.urls[job]] = [Copy(int(said["timestamp"]))]
        return said


def failed(reason: str) -> dict[str, Any]:
    """A job or a submission that failed, as the service says it."""
    return {"status": "error", "status_ext": f"error:{reason}", "message": f"It failed: {reason}.", "resources": []}


@asynccontextmanager
async def open_saving_archive(copies: Mapping[str, Sequence[Copy]] | None = None) -> AsyncIterator[SavingArchive]:
    archive = SavingArchive(dict(copies or {}))
    async with serve(archive.answer) as archive.site:
        yield archive


def _said(says: Says) -> Act:
    return (
        reply(200, body=json.dumps(dict(says)).encode(), kind="application/json") if isinstance(says, Mapping) else says
    )
