"""Error pages that are nothing but a script: walls that set a cookie and reload, logins, and routers of applications.

People see what the script leads to, so the code is no statement about the page (D-2).
"""

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urljoin

from weboid.core.document.document import Document
from weboid.core.record.reasons import Reason, needs_contrast
from weboid.core.signs.login_walls import is_login_url
from weboid.core.signs.suspicion import Suspicion

_FEW_WORDS: Final = 8
_GOES: Final = re.compile(rb"location(?:\.href)?\s*=(?!=)|location\.(?:replace|assign)\s*\(|history\.replacestate\s*\(")
_RELOADS: Final = re.compile(rb"location\.reload\s*\(|http-equiv\s*=\s*[\"']?refresh")
_LITERAL: Final = re.compile(rb"[\"']((?:https?:/)?/[^\"'\s<>]{1,300})[\"']")
_ROUTES: Final = re.compile(
    rb"pathname|pathsegmentstokeep|switch\s*\(\s*(?:window\.|document\.)?location|location(?:\.href)?\s*={2,3}"
)
"""A script that reads the path that was asked for, to lead on from there."""


def script_suspicion(
    code: int, headers: Mapping[str, str], body: bytes, document: Document, *, reads: bool = True
) -> Suspicion | None:
    """The suspicion by an error page in which only scripts act; without `reads` walls only. The known 5xx stay."""
    if not (400 <= code <= 499 or code == 503 or needs_contrast(code)):
        return None
    page = body.lower()
    if b"<script" not in page:
        return None
    goes, is_bare = _GOES.search(page), len(document.words) <= _FEW_WORDS
    if is_bare:
        sets_cookie = b"document.cookie" in page or "set-cookie" in headers
        if sets_cookie and (needs_contrast(code) or (_RELOADS.search(page) and b"document.cookie" in page)):
            return Suspicion(Reason.BOT_WALL, ("script:cookie",))
        if goes and any(is_login_url(urljoin(document.url, to.decode("latin-1"))) for to in _LITERAL.findall(page)):
            return Suspicion(Reason.LOGIN, ("script:login",))
    if reads and goes and _ROUTES.search(page) and (is_bare or b"switch" in page or b"pathsegmentstokeep" in page):
        return Suspicion(Reason.SOFT_404, ("script:router",))
    return None
