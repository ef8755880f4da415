"""Error pages that are nothing but a script: walls that set a cookie and reload, logins, and routers of applications.

People see what the script leads to, so the code is no statement about the page (D-2).
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Final
from urllib.parse import urljoin

from weboid.core.document.document import Document
from weboid.core.record.reasons import Reason, needs_contrast
from weboid.core.signs.login_walls import is_login_url
from weboid.core.signs.suspicion import Suspicion

_FEW_WORDS: Final = 8
_UNFINISHED: Final = (202, 203, 247)
"""Codes of success with which walls send a script alone."""
_GOES: Final = re.compile(rb"location(?:\.href)?\s*=(?!=)|location\.(?:replace|assign)\s*\(|history\.replacestate\s*\(")
_HERE: Final = rb"\s*(?:\w+\.){0,2}(?:location(?!\.(?:origin|host|protocol))|url)\b"
_RELOADS: Final = re.compile(
    rb"location\.reload\s*\(|history\.go\s*\(|http-equiv\s*=\s*[\"']?refresh|"
    rb"location(?:(?:\.href)?\s*=|\.(?:replace|assign)\s*\()" + _HERE
)
_SETS_COOKIE: Final = re.compile(rb"document(?:\.cookie|\[[\"']cookie[\"']\])")
_LITERAL: Final = re.compile(rb"[\"']((?:https?:/)?/[^\"'\s<>]{1,300})[\"']")
_ALONE: Final = re.compile(
    rb"(?:\s|<!doctype[^>]*+>|</?(?:html|head|body|meta)\b[^>]*+>)*+<script\b(?![^>]*\ssrc)[^>]*+>"
    rb"(?:(?!</script).){1024,}+</script>(?:\s|</(?:head|body|html)>|<body>)*+",
    re.DOTALL,
)
"""A page that is nothing but one long script: it computes what a wall wants to know."""
_ALERTS: Final = re.compile(
    rb"<script\b[^>]*+>(?:\s|<!--|//)*+(?:window\.)?alert\s*\(\s*([\"']).{1,400}?\1\s*\)[\s;]*+(?:</script>\s*+<script\b[^>]*+>\s*+)?"
    rb"(?:(?:window|document|self|top|parent)\.)*+(?:history\.|location\b|close\b)|"
    rb"<script\b[^>]*+>\s*+var\s+(\w+)\s*=\s*([\"'])(?:(?!\3).){1,400}\3[\s;]*+(?:if\s*\([^()]*\)\s*)?alert\s*\(\s*\2\s*\)"
    rb"[\s;]*+(?:location\b|history\.|</script>(?:\s|</(?:body|html)>)*+$)",
    re.IGNORECASE | re.DOTALL,
)
"""A script that begins by saying something, and leads away or ends: boards in Korea and China say so of lost posts."""
_ROUTES: Final = re.compile(
    rb"pathname|pathsegmentstokeep|sessionstorage[^;]{1,40}=\s*(?:\w+\.)?location|"
    rb"switch\s*\(\s*(?:window\.|document\.)?location|location(?:\.href)?\s*={2,3}"
)
"""A script that reads the path that was asked for, to lead on from there."""


def script_suspicion(
    code: int, headers: Mapping[str, str], body: bytes, document: Document, *, reads: bool = True
) -> Suspicion | None:
    """The suspicion by an error page in which only scripts act; without `reads` walls only. The known 5xx stay.

    With success it is a wall if nothing else than a script was sent, and the code says that this is not the document,
    or the script sets a cookie and reloads; a doubt if there is nothing but what it says before it leads away.
    """
    if code in _UNFINISHED:
        is_alone = not document.words and b"<script" in body.lower()
        return Suspicion(Reason.BOT_WALL, ("script:alone",)) if is_alone else None
    if code == 200:
        page = b"" if document.words else body.lower()
        if reads and _ALERTS.search(page):
            reason = Reason.LOGIN if any(map(is_login_url, _targets(document.url, page))) else Reason.SOFT_404
            return Suspicion(reason, ("script:alert",))
        is_test = not document.sources and _SETS_COOKIE.search(page) and _RELOADS.search(page)
        return Suspicion(Reason.BOT_WALL, ("script:cookie",)) if is_test else None
    if not (400 <= code <= 499 or code == 503 or needs_contrast(code)) or b"<script" not in (page := body.lower()):
        return None
    reloads, is_bare = _RELOADS.search(page), len(document.words) <= _FEW_WORDS
    goes = reloads or _GOES.search(page)
    if is_bare:
        targets = _targets(document.url, page) if goes else []
        sets_cookie = _SETS_COOKIE.search(page)
        is_refused = needs_contrast(code) and (sets_cookie or "set-cookie" in headers)
        if is_refused or (sets_cookie and (reloads or _path_of(document.url) in map(_path_of, targets))):
            return Suspicion(Reason.BOT_WALL, ("script:cookie",))
        if any(map(is_login_url, targets)):
            return Suspicion(Reason.LOGIN, ("script:login",))
        if not document.words and _ALONE.fullmatch(page):
            return Suspicion(Reason.BOT_WALL, ("script:alone",))
    if reads and goes and _ROUTES.search(page) and (is_bare or b"switch" in page or b"pathsegmentstokeep" in page):
        return Suspicion(Reason.SOFT_404, ("script:router",))
    return None


def _targets(base: str, page: bytes) -> list[str]:
    """The URLs in quotation marks, as far as they are valid."""
    targets = []
    for literal in _LITERAL.findall(page):
        with suppress(ValueError):
            targets.append(urljoin(base, literal.decode("latin-1")))
    return targets


def _path_of(url: str) -> str:
    return url.lower().partition("?")[0]
