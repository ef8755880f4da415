"""Sessions of people in an encrypted cookie: who has signed in, and which forms were really sent from our pages.

Only we can read a cookie; the server keeps nothing. Signing in itself is in ``web/identity/oauth``.
One law: a cookie is set only on an answer that needs one, and a cookie with anything wrong in it is no session.
"""

import hmac
import json
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final
from urllib.parse import urlsplit

from aiohttp import hdrs, web
from aiohttp.typedefs import Handler, Middleware
from cryptography.fernet import Fernet, InvalidToken

from weboid.config import PeopleConfig
from weboid.errors import ConfigError
from weboid.web.request.fields import fields_of
from weboid.web.request.parameters import LANGUAGE, Parameters, parameters_of
from weboid.web.request.problem import Problem

LIFETIME_S: Final = 12 * 3600
"""Counted from the beginning of the session, however often its cookie is rewritten."""

_SHORTEST_SECRET: Final = 32
_NONCE: Final = 22


@dataclass(frozen=True, slots=True)
class Person:
    """A person who has signed in: the OAuth subject, and the name at the time of signing in."""

    subject: str
    name: str
    is_administrator: bool


@dataclass(frozen=True, slots=True)
class Member:
    """What the provider said of a person who signed in: `blocked` on the wiki or not, and the number of `edits`."""

    subject: str
    name: str
    edits: int
    blocked: bool


@dataclass(slots=True)
class _Session:
    """The values in a cookie, and when the session began in seconds of Unix time; None = now."""

    values: dict[str, Any] = field(default_factory=dict)
    began: int | None = None
    is_changed: bool = False

    def keep(self, name: str, value: object) -> None:
        self.values[name] = value
        self.is_changed = True

    def take(self, name: str) -> object:
        value = self.values.pop(name, None)
        self.is_changed |= value is not None
        return value

    def begin(self) -> None:
        """Makes a new, empty session of it."""
        self.values = {}
        self.began = None
        self.keep("id", secrets.token_urlsafe(16))


_SESSION: Final = web.RequestKey("session", _Session)


class Sessions:
    """The sessions of one service. Processes with the same `secret` accept each other's cookies; empty = a new secret.

    Raises ConfigError for a secret that is too short.
    """

    def __init__(self, secret: str, people: PeopleConfig, public_url: str) -> None:
        if secret and len(secret) < _SHORTEST_SECRET:
            raise ConfigError(f"[web] secret: it must have at least {_SHORTEST_SECRET} characters, made at random")
        given = secret or secrets.token_hex()
        self._people = people
        self._fernet = Fernet(urlsafe_b64encode(_key(given, b"weboid cookies")))
        self._form_key = _key(given, b"weboid forms")
        self._origin = _origin(public_url)
        secure = self._origin.startswith("https:")
        self.cookie_name: Final = "__Host-weboid" if secure else "weboid"
        self._cookies = _Cookies(self._fernet, self.cookie_name, secure=secure)

    @property
    def middleware(self) -> Middleware:
        """Writes changed sessions; to be installed around the middleware of errors, which may end a session, too."""

        @web.middleware
        async def sessions(request: web.Request, handler: Handler) -> web.StreamResponse:
            response = await handler(request)
            session = request.get(_SESSION)
            if session is not None and session.is_changed:
                self._cookies.write(session, response)
            return response

        return sessions

    async def member(self, request: web.Request) -> Member | None:
        """Who has signed in, whatever rights they have; None if nobody has."""
        match self._session(request).values.get("member"):
            case [str(subject), str(name), int(edits), bool(blocked)]:
                return Member(subject, name, edits, blocked)
        return None

    async def person(self, request: web.Request) -> Person | None:
        """Who has signed in, None if nobody has. It does not say that they may report: see `require_person`."""
        member = await self.member(request)
        return None if member is None else self._person(member)

    async def require_person(self, request: web.Request) -> Person:
        """Who has signed in and may report; raises a Problem that says what is missing."""
        member = await self.member(request)
        if member is None:
            raise Problem(403, "sign-in")
        if problem := self.unfit(member):
            raise problem
        return self._person(member)

    async def require_administrator(self, request: web.Request) -> Person:
        """An administrator who has signed in; raises Problem."""
        person = await self.person(request)
        if person is None or not person.is_administrator:
            raise Problem(403, "administrator")
        return person

    def is_administrator(self, subject: str) -> bool:
        """Whether the configuration names them."""
        return subject in self._people.administrators

    def unfit(self, member: Member) -> Problem | None:
        """Why this member may not report, None if they may; by the block and the edits at the time of signing in."""
        if member.blocked:
            return Problem(403, "blocked-there")
        if member.edits < self._people.edits and not self._person(member).is_administrator:
            return Problem(403, "few-edits", self._people.edits, member.edits)
        return None

    async def sign_in(self, request: web.Request, member: Member) -> None:
        """Begins a new session, of this member, so that knowing the former one is of no use (fixation)."""
        session = self._session(request)
        session.begin()
        session.keep("member", [member.subject, member.name, member.edits, member.blocked])
        session.keep("interactive", True)

    async def sign_out(self, request: web.Request) -> None:
        """Begins a new session, of nobody."""
        self._session(request).begin()

    async def keep(self, request: web.Request, name: str, values: Mapping[str, str]) -> None:
        """Keeps values in the session, to be taken once."""
        kept = self._fernet.encrypt(json.dumps(dict(values), ensure_ascii=False).encode()).decode()
        self._begun(request).keep(name, kept)

    async def take(self, request: web.Request, name: str, *, most_s: int) -> Mapping[str, str] | None:
        """Removes and returns what was kept under the name, None if nothing was or longer than `most_s` seconds ago."""
        if not isinstance(kept := self._session(request).take(name), str):
            return None
        try:
            values: dict[str, str] = json.loads(self._fernet.decrypt(kept.encode(), ttl=most_s))
        except (InvalidToken, ValueError):
            return None
        return values

    async def form_token(self, request: web.Request, purpose: str) -> str:
        """The token that a form of this purpose must send back; begins a session if there is none.

        It is a different one each time, so that compression of a page reveals nothing of it (BREACH).
        """
        nonce = secrets.token_urlsafe(16)
        return nonce + self._mac(self._begun(request).values["id"], purpose, nonce)

    async def posted(self, request: web.Request, purpose: str, names: Collection[str]) -> Parameters:
        """The fields of a form of ours that was sent: those of these names and the language, each at most once.

        Raises Problem unless it was sent from a page of ours (Origin or Sec-Fetch-Site), in the session for which its
        token was made, and has the size and type of our forms.
        """
        self._require_same_origin(request)
        given = parameters_of(await fields_of(request), 0, LANGUAGE.union(names, ("token",)))
        token = given.get("token", "")
        session_id = self._session(request).values.get("id")
        if not isinstance(session_id, str):
            raise Problem(403, "form")
        right = self._mac(session_id, purpose, token[:_NONCE])
        if not hmac.compare_digest(right.encode(), token[_NONCE:].encode()):
            raise Problem(403, "form")
        return {name: value for name, value in given.items() if name != "token"}

    async def is_interactive(self, request: web.Request) -> bool:
        """Whether a person has sent a form of ours in this session."""
        return self._session(request).values.get("interactive") is True

    async def note_interactive(self, request: web.Request) -> None:
        """Notes that a person has sent a form of ours; call it after `posted`."""
        if not await self.is_interactive(request):
            self._begun(request).keep("interactive", True)

    def _session(self, request: web.Request) -> _Session:
        """The session of a request; its cookie is read once."""
        if (session := request.get(_SESSION)) is None:
            session = request[_SESSION] = self._cookies.read(request)
        return session

    def _begun(self, request: web.Request) -> _Session:
        """The session of a request; begins one if there is none."""
        session = self._session(request)
        if not isinstance(session.values.get("id"), str):
            session.begin()
        return session

    def _person(self, member: Member) -> Person:
        # A blocked account may have been taken over, so it does not administer.
        is_administrator = self.is_administrator(member.subject) and not member.blocked
        return Person(member.subject, member.name, is_administrator)

    def _mac(self, session_id: str, purpose: str, nonce: str) -> str:
        message = json.dumps([session_id, purpose, nonce]).encode()
        return blake2b(message, digest_size=32, key=self._form_key).hexdigest()

    def _require_same_origin(self, request: web.Request) -> None:
        """Raises Problem unless the browser's headers show our own site; current browsers send at least one of them."""
        site, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get(hdrs.ORIGIN)
        if site is None and origin is None:
            raise Problem(403, "form")
        if site not in (None, "same-origin"):
            raise Problem(403, "form")
        # Some browsers are configured to hide the origin; they still send Sec-Fetch-Site.
        if origin == "null" and site == "same-origin":
            return
        if origin not in (None, self._origin, f"{request.scheme}://{request.host}"):
            raise Problem(403, "form")


class _Cookies:
    """Sessions in a cookie that is encrypted and signed (Fernet), and dated from the beginning of the session."""

    def __init__(self, fernet: Fernet, name: str, *, secure: bool) -> None:
        self._fernet = fernet
        self._name = name
        self._secure = secure

    def read(self, request: web.Request) -> _Session:
        """The session of a request; an empty one if it has no cookie that is ours and young enough."""
        try:
            cookie = request.cookies.get(self._name, "").encode("ascii")
            values = json.loads(self._fernet.decrypt(cookie, ttl=LIFETIME_S))
            began = self._fernet.extract_timestamp(cookie)
        except (InvalidToken, ValueError):
            return _Session()
        return _Session(values, began) if isinstance(values, dict) else _Session()

    def write(self, session: _Session, response: web.StreamResponse) -> None:
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


def _key(secret: str, purpose: bytes) -> bytes:
    """A separate key for each purpose, derived from the secret."""
    return blake2b(secret.encode("utf-8", "surrogatepass"), digest_size=32, person=purpose).digest()


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()
