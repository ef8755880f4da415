"""The little archive: a made-up web archive on loopback that answers as the Wayback Machine does, to people as well.

Its captures are given to it; a URL that has been excluded answers 200 to readers and programs, but without
Memento-Datetime. On a day it has what was captured until then, and shows nothing that is excluded by then.
"""

import base64
import hashlib
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, time
from email.utils import format_datetime
from html import escape
from typing import Final
from urllib.parse import parse_qsl

from aiohttp import web

from weboid.core.record.days import date_of
from weboid.demo.replies import ReceivedRequest, reply_of
from weboid.demo.serving import SAFE_HEADERS, open_application
from weboid.demo.world import Code, Page

NAME: Final = "Archive of the outer isles"

_COLUMNS: Final = ("urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length")
_PLAYBACK: Final = re.compile(r"/web/(?:([0-9]{1,14})([a-z]{2}_)?/)?(https?:/.+)")
_RAW: Final = "id_"
_EXCLUDED: Final = "This URL has been excluded from the Wayback Machine."
_WHY_EXCLUDED: Final = "org.archive.wayback.exception.AdministrativeAccessControlException: Blocked Site Error"
_STYLE: Final = """
body { margin: 0 auto; max-width: 46rem; padding: 1.5rem; font: 1.05rem/1.6 Georgia, serif; color: #202122; }
.archive { padding: .5rem 1rem; background: #eaf3ff; font: .875rem/1.5 system-ui, sans-serif; color: #202122; }
a { color: #36c; overflow-wrap: anywhere; }
@media (prefers-color-scheme: dark) { body { background: #101418; color: #eaecf0; } a { color: #88a3e8; }
  .archive { background: #233; color: #eaecf0; } }
"""


@dataclass(frozen=True, slots=True)
class LittleCapture:
    """The answer of a URL at a moment (UTC), whole seconds. The URL is as the wiki has it."""

    url: str
    taken: datetime
    shown: Page | Code

    @property
    def stamp(self) -> str:
        """The 14 digits of its moment."""
        return f"{self.taken:%Y%m%d%H%M%S}"

    @property
    def status(self) -> int:
        """The code that was captured."""
        return self.shown.code if isinstance(self.shown, Code) else 200

    @property
    def body(self) -> bytes:
        """The document that was captured."""
        host, _, path = self.url.partition("://")[2].partition("/")
        reply = reply_of(self.shown, ReceivedRequest("GET", host.partition(":")[0], f"/{path}", {}, keeps=False))
        return (reply or b"").partition(b"\r\n\r\n")[2]


@dataclass(slots=True)
class LittleArchive:
    """A running little archive: all it has, and from which day on URLs are excluded."""

    captures: Sequence[LittleCapture]
    excluded: Mapping[str, int]
    day: Callable[[], int]
    url: str = ""

    def is_excluded(self, url: str) -> bool:
        """Returns whether it shows nothing of a URL today."""
        return any(_key(one) == _key(url) and first <= self.day() for one, first in self.excluded.items())

    def captures_of(self, url: str) -> list[LittleCapture]:
        """The captures of a URL today, oldest first."""
        today = date_of(self.day())
        known = (one for one in self.captures if _key(one.url) == _key(url) and one.taken.date() <= today)
        return sorted(known, key=lambda one: one.taken)


def moment_on(day: int, hour: int = 9) -> datetime:
    """A moment of a day."""
    return datetime.combine(date_of(day), time(hour), UTC)


@asynccontextmanager
async def open_littlearchive(
    captures: Sequence[LittleCapture], *, day: Callable[[], int], excluded: Mapping[str, int] | None = None
) -> AsyncIterator[LittleArchive]:
    """Serves captures on a free port of 127.0.0.1 until the block ends; `day` is called at every request.

    `excluded` has URLs with the day from which on they are.
    """
    little = LittleArchive(captures, excluded or {}, day)

    async def answer(request: web.Request) -> web.Response:
        return answer_of(little, request.raw_path)

    application = web.Application()
    application.router.add_route("*", "/{path:.*}", answer)
    async with open_application(application) as little.url:
        yield little


def answer_of(little: LittleArchive, target: str) -> web.Response:
    """Its answer to a request for a path with its query, as they are on the wire."""
    path, _, asked = target.partition("?")
    query = dict(parse_qsl(asked, keep_blank_values=True))
    if path == "/":
        return _page(NAME, _everything(little))
    if path == "/cdx/search/cdx":
        return _cdx(little, query)
    if path == "/wayback/available":
        return _available(little, query.get("url", ""))
    if played := _PLAYBACK.fullmatch(target):
        return _playback(little, played[1] or "", played[2] or "", played[3])
    return _page("Not found", "<p>The archive has no such page.</p>", 404)


def _cdx(little: LittleArchive, query: Mapping[str, str]) -> web.Response:
    url = query.get("url", "")
    if not url:
        return web.Response(status=400, text="Bad Request: url is missing\n")
    if little.is_excluded(url):
        why = {"X-Archive-Wayback-Runtime-Error": _WHY_EXCLUDED}
        return web.Response(status=403, text=f"{_WHY_EXCLUDED}\n", headers=why)
    rows = [_row(one) for one in little.captures_of(url)]
    columns = [name for name in query.get("fl", ",".join(_COLUMNS)).split(",") if name in _COLUMNS]
    return web.json_response([columns, *([row[name] for name in columns] for row in rows)] if rows else [])


def _row(one: LittleCapture) -> dict[str, str]:
    kind = one.shown.kind
    digest = base64.b32encode(hashlib.sha1(one.body, usedforsecurity=False).digest()).decode()
    values = (_key(one.url), one.stamp, one.url, kind, str(one.status), digest, str(len(one.body)))
    return dict(zip(_COLUMNS, values, strict=True))


def _available(little: LittleArchive, url: str) -> web.Response:
    """As the archive's own interface, which says of what is excluded the same as of what it never had."""
    found = [] if little.is_excluded(url) else [one for one in little.captures_of(url) if one.status == 200]
    if not found:
        return web.json_response({"url": url, "archived_snapshots": {}})
    one = found[-1]
    address = f"{little.url}/web/{one.stamp}/{one.url}"
    closest = {"status": str(one.status), "available": True, "url": address, "timestamp": one.stamp}
    return web.json_response({"url": url, "archived_snapshots": {"closest": closest}})


def _playback(little: LittleArchive, stamp: str, flag: str, url: str) -> web.Response:
    """Plays a capture, or leads to the nearest one; for what is excluded a page for people, with 200."""
    if little.is_excluded(url):
        return _page("Sorry.", f"<p>{_EXCLUDED}</p>")
    found = little.captures_of(url)
    if not found:
        return _page("Hrm.", "<p>The Wayback Machine has not archived that URL.</p>", 404)
    moment = _moment(stamp)
    one = min(found, key=lambda one: abs(one.taken - moment)) if moment else found[-1]
    if one.stamp != stamp:
        to = f"{little.url}/web/{one.stamp}{flag}/{one.url}"
        reason = {"Location": to, "X-Archive-Redirect-Reason": f"found capture at {one.stamp}"}
        return web.Response(status=302, headers=reason)
    headers = {
        "Memento-Datetime": format_datetime(one.taken, usegmt=True),
        "Link": f'<{escape(one.url)}>; rel="original"',  # escaped as the Wayback Machine has done it
    }
    if flag == _RAW or one.shown.kind != "text/html":
        return web.Response(
            status=one.status, body=one.body, content_type=one.shown.kind, headers=SAFE_HEADERS | headers
        )
    banner = (
        f"<p class=archive>{escape(NAME)}: <bdi>{escape(one.url)}</bdi> as it was on {one.taken:%Y-%m-%d, %H:%M} UTC. "
        '<a href="/">All captures</a></p>'
    )
    title = one.shown.title if isinstance(one.shown, Page) else str(one.status)
    # The captured document is below the archive's own line; its last line may be cut.
    inner = one.body.decode("utf-8", "replace").partition("</title>")[2].rpartition("\n")[0]
    return _page(title, banner + inner, one.status, headers)


def _everything(little: LittleArchive) -> str:
    """All captures, for people."""
    items = ""
    for url in dict.fromkeys(one.url for one in little.captures):
        links = (
            f'<a href="{escape(f"/web/{one.stamp}/{one.url}")}">{one.taken:%Y-%m-%d}</a>'
            + (f" ({one.status})" if one.status != 200 else "")
            for one in little.captures_of(url)
        )
        shown = "excluded" if little.is_excluded(url) else ", ".join(links) or "nothing yet"
        items += f"<li><bdi>{escape(url)}</bdi>: {shown}</li>\n"
    return f"<p>A made-up archive of a made-up web.</p>\n<ul>\n{items}</ul>\n"


def _page(title: str, body: str, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    text = (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n{body}\n</html>\n"
    )
    return web.Response(status=status, text=text, content_type="text/html", headers={**SAFE_HEADERS, **(headers or {})})


def _key(url: str) -> str:
    """The URL as the archive compares it: without scheme, www., case, final slash and fragment."""
    return re.sub(r"^(?:https?:/+)?(?:www\.)?", "", url.partition("#")[0].lower()).rstrip("/")


def _moment(stamp: str) -> datetime | None:
    """The moment of the digits, the missing ones as early as possible; None if there is none."""
    try:
        return datetime.strptime(stamp + "00010101000000"[len(stamp) :], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None
