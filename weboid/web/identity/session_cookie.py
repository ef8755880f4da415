"""The cookie that holds a session: encrypted and signed (Fernet), dated from the beginning of the session.

``web/identity/session`` uses it. aiohttp-session sets plain strings on requests, which aiohttp warns of. A cookie with
anything wrong in it is an empty session.
"""

import json
import secrets
from dataclasses import dataclass, field
from typing import Any, Final

from aiohttp import hdrs, web
from cryptography.fernet import Fernet, InvalidToken

from weboid.errors import StoreError
from weboid.web.identity.member import Member

LIFETIME_S: Final = 12 * 3600
"""Counted from the beginning of the session, however often its cookie is rewritten."""


@dataclass(slots=True)
class Session:
    """The values in a cookie, and when the session began in seconds of Unix time; None = now.

    `is_living`: the store has no end of it. `error`: the reason why the store could not be asked.
    """

    values: dict[str, Any] = field(default_factory=dict)
    began: int | None = None
    is_changed: bool = False
    is_living: bool = False
    error: StoreError | None = None

    def keep(self, name: str, value: object) -> None:
        self.values[name] = value
        self.is_changed = True

    def keep_member(self, member: Member, moment: int) -> None:
        """Keeps the member who has signed in, as confirmed by the wiki at a moment, in Unix time."""
        self.keep("member", [member.subject, member.name, member.edits, member.blocked])
        self.keep("confirmed", moment)

    def take(self, name: str) -> object:
        value = self.values.pop(name, None)
        self.is_changed |= value is not None
        return value

    def drop(self) -> None:
        """Forgets it; its cookie stays as it is."""
        self.values = {}
        self.began = None

    def begin(self) -> None:
        """Makes a new, empty session of it."""
        self.drop()
        self.is_living = True
        self.keep("id", secrets.token_urlsafe(16))


class SessionCookies:
    """Sessions in a cookie that is encrypted and signed (Fernet), and dated from the beginning of the session."""

    def __init__(self, fernet: Fernet, name: str, *, secure: bool) -> None:
        self._fernet = fernet
        self._name = name
        self._secure = secure

    def now(self) -> int:
        """The moment by the clock by which cookies are dated, in Unix time."""
        return self._fernet.extract_timestamp(self._fernet.encrypt(b""))

    def read(self, request: web.Request) -> Session:
        """The session of a request; an empty one if it has no cookie that is ours and young enough."""
        try:
            cookie = request.cookies.get(self._name, "").encode("ascii")
            values = json.loads(self._fernet.decrypt(cookie, ttl=LIFETIME_S))
            began = self._fernet.extract_timestamp(cookie)
        except (InvalidToken, ValueError):
            return Session()
        return Session(values, began) if isinstance(values, dict) else Session()

    def write(self, session: Session, response: web.StreamResponse) -> None:
        """Sets the cookie on an answer, which then may not be cached, whatever its handler has set."""
        data = json.dumps(session.values, ensure_ascii=False).encode()
        began = session.began
        cookie = self._fernet.encrypt(data) if began is None else self._fernet.encrypt_at_time(data, began)
        response.set_cookie(
            self._name,
            cookie.decode(),
            max_age=LIFETIME_S,
            path="/",
            secure=self._secure,
            httponly=True,
            samesite="Lax",
        )
        response.headers[hdrs.CACHE_CONTROL] = "no-store"
        response.headers.popall(hdrs.ETAG, None)
