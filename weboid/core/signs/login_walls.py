"""Login walls and consent walls: pages that ask for a login or for consent instead of showing the content (C-8, U-7).

A consent page is no reason for doubt: people get to the content behind it by one click. If the URL itself is that of a
login page, a login page is the right answer.
"""

import re
from functools import partial
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from msgspec import Struct

from weboid.core.document.document import Document
from weboid.core.document.folding import Phrases, folded, segments
from weboid.core.record.reasons import Reason
from weboid.core.signs.suspicion import Suspicion
from weboid.core.signs.tables import table_of

_LOGIN_HOST: Final = re.compile(r"(?:login|signin|sso|auth|idp|accounts|shibboleth|adfs|cas|wayf)\.")
_WALL_WORDS: Final = 120


class LoginWords(Struct, frozen=True, forbid_unknown_fields=True):
    """Segments of paths, fields of queries, beginnings of hosts, and titles; the table explains each."""

    login_segments: frozenset[str]
    entrance_segments: frozenset[str]
    return_fields: frozenset[str]
    consent_segments: frozenset[str]
    consent_places: tuple[str, ...]
    titles: Phrases


_words: Final = partial(table_of, __file__, LoginWords)


def is_login_url(url: str) -> bool:
    """True if a URL is of a login page: by host, by a segment of the path, or by a field with the URL to return to."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    path, words = set(re.split(r"[/.;]", parts.path.lower())), _words()
    if _LOGIN_HOST.match(host) or not words.login_segments.isdisjoint(path):
        return True
    return not words.entrance_segments.isdisjoint(path) and _leads_back(parts.query)


def is_foreign_login(asked: str, login: str, code: int) -> bool:
    """True if a login is on another host; with 404 or 410 if its host or a field says so: ``cas.`` may be a college."""
    start, end = (f"{urlsplit(url).hostname}".removeprefix("www.") for url in (asked, login))
    is_sure = _LOGIN_HOST.match(end.removeprefix("cas.")) is not None or _leads_back(urlsplit(login).query)
    return start != end and (is_sure or code not in (404, 410))


def is_consent_url(url: str) -> bool:
    """True if a URL is of a page that asks for consent to cookies and the like before it shows the content."""
    parts = urlsplit(url)
    path, words = parts.path.lower(), _words()
    is_place = f"{parts.hostname}{path}".startswith(words.consent_places)
    return is_place or not words.consent_segments.isdisjoint(re.split(r"[/.;]", path))


def login_suspicion(asked: str, document: Document) -> Suspicion | None:
    """The suspicion of a login in place of the document at URL `asked`: a password field, little text, and a title."""
    if not document.asks_password or len(document.words) > _WALL_WORDS or is_login_url(asked):
        return None
    if urlsplit(asked).path in ("", "/"):
        return None  # a service for members may have a login form as its start page
    if any(folded(part) in _words().titles for text in (document.title, *document.headings) for part in segments(text)):
        return Suspicion(Reason.LOGIN, ("password-field", "title"))
    return None


def _leads_back(query: str) -> bool:
    return any(name.lower() in _words().return_fields for name, _ in parse_qsl(query, keep_blank_values=True))
