"""The URLs that an archive may be asked to save, and the state of its saving service (A-2). Pure.

What is saved is public for ever, so nothing is that was meant for one reader or needs a login. robots.txt is not read
here: the archive has its own rules, and refuses what it may not keep. Only a URL that a check of the last four weeks
found working, by its own address and without doubt, is saved.
"""

import re
from collections.abc import Iterable
from typing import Final

from weboid.core.archive.captures import ServiceReply
from weboid.core.record.reasons import Reason
from weboid.core.record.record import HostRecord, UrlRecord
from weboid.core.signs.login_walls import is_consent_url, is_login_url
from weboid.core.url.archives import ARCHIVES, snapshot_of
from weboid.core.url.classify import is_example
from weboid.core.url.farms import Farm, owns
from weboid.core.url.spellings import similar_url
from weboid.core.url.urls import Url

CHECKED_DAYS: Final = 28
"""A check that is older says nothing of what would be saved today."""

_PLAIN: Final = frozenset({Reason.OK, Reason.MOVED, Reason.NEEDS_GET})
"""Of what works otherwise (other scheme, other code, with a referrer) the archive would see something else."""
_IP: Final = re.compile(r"[0-9.]+|.*:.*")
_LOCAL: Final = (".local", ".internal", ".lan", ".home", ".corp", ".intranet", ".arpa", ".onion")
_SECRET: Final = re.compile(
    r"[?&;](?:[a-z_-]*(?:token|secret|passw(?:or)?d|api-?key|api_key|signature|session|sess_?id)[a-z_-]*|sid|sig|"
    r"auth|pwd|otp|ticket|x-amz-[a-z-]+|jsessionid|phpsessid)=",
    re.IGNORECASE,
)
_SESSION_PATH: Final = re.compile(r";(?:jsessionid|sid|phpsessid)=|/\(S\([a-z0-9]+\)\)/", re.IGNORECASE)
_LEAVING: Final = re.compile(r"/(?:logout|log-?off|sign-?out|unsubscribe|abmelden)(?:[/.?]|$)", re.IGNORECASE)
_ARCHIVE_HOSTS: Final = frozenset(host for archive in ARCHIVES for host in archive.hosts)


def unsavable_url(url: Url, farms: Iterable[Farm]) -> str:
    """The reason why this URL is never to be saved, as a stable word; "" if nothing speaks against it."""
    if url.scheme not in ("http", "https"):
        return "scheme"
    if url.port:
        return "port"
    if _IP.fullmatch(url.host) or "." not in url.host or url.host.endswith(_LOCAL) or is_example(url.host):
        return "host"
    if any(owns(farm, url.host) for farm in farms):
        return "own-farm"
    if snapshot_of(str(url)) is not None or url.host.removeprefix("www.") in _ARCHIVE_HOSTS:
        return "archive"
    if is_login_url(str(url)) or is_consent_url(str(url)) or _LEAVING.search(url.path):
        return "login"
    if _SECRET.search(url.path) or _SESSION_PATH.search(url.path) or similar_url(url) is not None:
        return "session"
    return ""


def unsavable_now(record: UrlRecord, host: HostRecord, day: int) -> str:
    """The reason why this URL is not to be saved on this day, as a stable word; "" if it plainly works."""
    if record.checked is None or record.checked < day - CHECKED_DAYS:
        return "not-checked"
    if record.reason not in _PLAIN or record.streak.strikes or host.streak.strikes:
        return "not-working"
    return ""


def is_well(reply: ServiceReply) -> bool:
    """Returns whether the saving service calls itself well (``/save/status/system``); else it says in words why not."""
    return reply.code == 200 and bool(re.search(rb'"status"\s*:\s*"ok"', reply.body[:1_000]))
