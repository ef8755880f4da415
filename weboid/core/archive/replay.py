"""Judges from the reply to a request for its raw form whether a capture can still be replayed (A-3).

Only Memento-Datetime together with the raw address proves a copy, never the status.
One law: limits, faults and block pages do not count against a copy (`test_a_fault_says_nothing`).
"""

import re
from datetime import datetime, timedelta
from enum import Enum
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import re2  # type: ignore[import-untyped]

from weboid.core.archive.addresses import is_in_other_archive, replay_address
from weboid.core.archive.captures import Capture, ServiceReply, in_utc
from weboid.core.archive.dialects import replies
from weboid.core.archive.dialects.link_format import links_of, memento_at, timemap_of
from weboid.core.archive.services import ArchiveService
from weboid.core.document.document import document_of
from weboid.core.signs.botwall import wall_by_content, wall_by_headers
from weboid.core.url.spellings import archived, as_meant, is_other_page, is_same_page
from weboid.core.url.urls import Url

NEAR: Final = timedelta(hours=24)
"""A capture within this time of the requested one counts as the same."""
_LINK_CHARS: Final = 16_384
_IS_CHALLENGE: Final = re.compile(r"<title>\s*(?:just a moment|attention required|ddos-guard)", re.IGNORECASE)
_TROUBLE_CHARACTERS: Final = 4_096
_TROUBLE: Final = re2.compile(
    r"(?i)>[^<]{0,200}?(?:machine that serves this file is down|temporarily (?:unavailable|offline)|too many requests"
    r"|(?:scheduled|under|down for) maintenance|internal (?:server )?error)"
)
"""Pages of archives in trouble that come with 200 or 404, at the beginning of a paragraph: long scripts say it too.

Looked for in the first `_TROUBLE_CHARACTERS`: such pages are short, and a copy may say it further down. By re2, in
linear time: with `re` 64 KiB of ``>`` took 1.4 s.
"""
_DATABASE: Final = re.compile(r"can'?t connect db", re.IGNORECASE)
"""Wikiwix in trouble, with code 200."""
_FRAME: Final = re.compile(rb"""<iframe[^>]{0,300}\bid=["']replay_iframe|/wb_frame\.js\b""")
_FRAME_BYTES: Final = 16_384
"""The page that pywb puts around a copy, with Memento-Datetime, whether there is one or not: raw replays have none."""
TURNED_AWAY: Final = frozenset({"challenge", "in-trouble"})
"""Reasons of NOTHING that hold for all copies of a service; 403 may be of one, such as for reading rooms only."""
_EARLIER: Final = timedelta(days=7)
"""A capture so long before the one that is listed shows the page of the same days, if not that very capture."""


class ReplayResult(Enum):
    """The result of a replay for a stored snapshot."""

    PLAYS = "plays"
    """It is there, with the stored status."""
    MOVED = "moved"
    """The archive leads to another capture of the same page within `NEAR`."""
    MOVED_FAR = "moved-far"
    """The archive leads to a farther capture, or to another page: a strike."""
    WITHDRAWN = "withdrawn"
    """The archive says that it does not show it any more."""
    ABSENT = "absent"
    """Not found, or something that is no capture: a strike."""
    NOTHING = "nothing"
    """Proves nothing: a limit, a fault, a block page."""


class Replayed(NamedTuple):
    """A replay. `why` is a stable word, empty for PLAYS.

    `status` is the captured page's, None if there was none; `taken` the moment of the capture that was replayed or is
    led to. `location` is absolute: the target of a captured redirect (PLAYS), or of the archive's own (MOVED).
    `rest_s` is the pause that the service requests; `preview` what a copy that plays shows (``gist.preview_of``).
    """

    result: ReplayResult
    why: str = ""
    status: int | None = None
    taken: datetime | None = None
    location: str | None = None
    rest_s: float | None = None
    preview: str = ""


def replay_of(reply: ServiceReply, *, stamp: int, url: Url, service: ArchiveService) -> Replayed:
    """Reads the reply to ``addresses.replay_address``; redirects must not have been followed. Never raises.

    Of a reply without Memento-Datetime the body is needed up to 64 KiB: Wayback's page of an excluded URL says so at
    its end. Callers compare `status` with the stored one.
    """
    if reply.fault or reply.code is None:
        return Replayed(ReplayResult.NOTHING, reply.fault or "network")
    if "memento-datetime" in reply.headers:
        return _played(reply, stamp, url, service)
    if 300 <= reply.code < 400:
        return _redirected(reply, stamp, url, service)
    if reply.code == 429 or reply.code >= 500:
        why = "rate-limited" if reply.code == 429 else "server-error"
        return Replayed(ReplayResult.NOTHING, why, rest_s=replies.rest_of(reply))
    if replies.is_excluded(reply):
        return Replayed(ReplayResult.WITHDRAWN, "legal" if reply.code == 451 else "excluded")
    if reply.code == 410:
        return Replayed(ReplayResult.WITHDRAWN, "gone")
    return _absent(reply, service, stamp)


def is_just_before(replayed: Replayed, listed: datetime) -> bool:
    """True if what was played in place of a listed capture is one of the same page from the days before it.

    It can be offered, with its own moment; a later one may be of another owner.
    """
    if replayed.result is not ReplayResult.MOVED_FAR or replayed.why != "far" or replayed.taken is None:
        return False
    return timedelta(0) < in_utc(listed) - replayed.taken <= _EARLIER


def capture_named(reply: ServiceReply, address: str) -> Capture | None:
    """The capture of which the reply at a short `address` says by its Link header that it shows it.

    None where it does not say both page and moment: nothing is guessed.
    """
    named = timemap_of(reply.headers.get("link", "")[:_LINK_CHARS], base=address, url=address)
    if named is None or named.original is None:
        return None
    path = urlsplit(address).path
    own = (each.taken for each in named.captures if each.address and urlsplit(each.address).path == path)
    taken = next(own, None) or replies.http_moment_of(reply.headers.get("memento-datetime", ""))
    return None if taken is None else Capture(taken, named.original, address=address)


def _played(reply: ServiceReply, stamp: int, url: Url, service: ArchiveService) -> Replayed:
    """A capture was replayed: the requested one, or one of another moment without a redirect (pywb)."""
    asked = replies.moment_of(str(stamp))
    taken = replies.http_moment_of(reply.headers["memento-datetime"])
    if taken is None or asked is None:
        return Replayed(ReplayResult.NOTHING, "bad-moment")
    if _FRAME.search(reply.body[:_FRAME_BYTES]):
        return Replayed(ReplayResult.ABSENT, "frame", reply.code, taken)
    is_redirect = 300 <= (reply.code or 0) < 400
    location = replies.location_of(reply, replay_address(service, stamp, url)) if is_redirect else None
    links = links_of(reply.headers.get("link", ""))
    original = next((link.target for link in links if "original" in link.relations), str(url))
    result, why = ReplayResult.PLAYS, ""
    if taken != asked or is_other_page(original, url):
        result, why = _distance(asked, taken, original, url)
    return Replayed(result, why, reply.code, taken, location)


def _redirected(reply: ServiceReply, stamp: int, url: Url, service: ArchiveService) -> Replayed:
    """The archive itself redirects: to another capture, or to something else."""
    asked = replies.moment_of(str(stamp))
    location = replies.location_of(reply, replay_address(service, stamp, url)) or ""
    capture = None if is_in_other_archive(service, location) else memento_at(location, str(url))
    if capture is None or asked is None:
        return Replayed(ReplayResult.ABSENT, "elsewhere", location=location or None)
    if (capture.taken, capture.original) == (asked, str(url)):
        return Replayed(ReplayResult.NOTHING, "circular", location=location)
    result, why = _distance(asked, capture.taken, capture.original, url)
    return Replayed(result, why, None, capture.taken, location)


def _distance(asked: datetime, taken: datetime, original: str, url: Url) -> tuple[ReplayResult, str]:
    if is_other_page(original, url):
        return ReplayResult.MOVED_FAR, "other-page"
    form = archived(as_meant(original, str(url)))
    if form is None or not is_same_page(form, url):
        # Neither held against the copy nor taken for one: archives mix up what differs in letter case alone (D-465).
        return ReplayResult.NOTHING, "unsure-page"
    return (ReplayResult.MOVED, "near") if abs(taken - asked) <= NEAR else (ReplayResult.MOVED_FAR, "far")


def _absent(reply: ServiceReply, service: ArchiveService, stamp: int) -> Replayed:
    """No capture, no refusal and no limit: a strike, unless it is a block page or the archive has other headers."""
    text = replies.text_of(reply.body)
    if reply.code == 404:
        if replies.says_no_collection(text):
            return Replayed(ReplayResult.NOTHING, "no-collection")
        if _TROUBLE.search(text, 0, _TROUBLE_CHARACTERS):
            return Replayed(ReplayResult.NOTHING, "in-trouble")
        return Replayed(ReplayResult.ABSENT, "not-found")
    if reply.code != 200:
        why = "forbidden" if reply.code in (401, 403) else "unexpected-code"
        return Replayed(ReplayResult.NOTHING, "challenge" if _IS_CHALLENGE.search(text) else why)
    page = document_of(reply.body, reply.headers.get("content-type", ""))
    is_wall = wall_by_headers(200, reply.headers, "") or (service.is_raw and wall_by_content(200, reply.body, page))
    if is_wall or _IS_CHALLENGE.search(text):
        return Replayed(ReplayResult.NOTHING, "challenge")
    if service.is_raw and _TROUBLE.search(text, 0, _TROUBLE_CHARACTERS):
        return Replayed(ReplayResult.NOTHING, "in-trouble")
    if service.is_raw:
        return Replayed(ReplayResult.ABSENT, "no-moment")
    if not text or _DATABASE.match(text):
        return Replayed(ReplayResult.NOTHING, "unreadable")
    return Replayed(ReplayResult.PLAYS, "", reply.code, replies.moment_of(str(stamp)))
