"""Sessions of people: who has signed in, which of our forms were really sent from our pages.

A session is in an encrypted cookie (``web/identity/session_cookie``), set only on an answer that needs one; the server
keeps nothing but which sessions were ended before their time. ``web/identity/oauth`` signs people in.
"""

import hmac
import json
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final
from urllib.parse import urlsplit

from aiohttp import hdrs, web
from aiohttp.typedefs import Handler, Middleware
from cryptography.fernet import Fernet, InvalidToken

from weboid.config import PeopleConfig
from weboid.errors import ConfigError, StoreError
from weboid.store.db.pool import Pool
from weboid.store.people.ended_session import is_ended, record_ended
from weboid.web.identity.confirmation import Confirmations
from weboid.web.identity.member import Confirmed, Member
from weboid.web.identity.session_cookie import LIFETIME_S, Session, SessionCookies
from weboid.web.request.fields import fields_of
from weboid.web.request.parameters import LANGUAGE, Parameters, parameters_of
from weboid.web.request.problem import Problem

_STORE_S: Final = 2.0
"""So long a page waits for the store to confirm that a session was not ended; then it is that of nobody."""
_SHORTEST_SECRET: Final = 32
_NONCE: Final = 22


@dataclass(frozen=True, slots=True)
class Person:
    """A person who has signed in: the OAuth subject, and the name at the time of signing in."""

    subject: str
    name: str
    is_administrator: bool


_SESSION: Final = web.RequestKey("session", Session)


class Sessions:
    """The sessions of one service. Processes with the same `secret` accept each other's cookies; empty = a new secret.

    Somebody who has signed in counts as such only as long as the store has no end of the session. What they do needs an
    answer of the store, and that the provider's wiki has confirmed their account within the hour; where something is
    only shown to them, they are nobody while the store has no answer. Raises ConfigError for too short a secret.
    """

    def __init__(
        self, secret: str, people: PeopleConfig, public_url: str, pool: Pool, confirmations: Confirmations
    ) -> None:
        require_secret(secret)
        given = secret or secrets.token_hex()
        self._people = people
        self._pool = pool
        self._confirmations = confirmations
        self._fernet = Fernet(urlsafe_b64encode(_key(given, b"weboid cookies")))
        self._form_key = _key(given, b"weboid forms")
        self._origin = _origin(public_url)
        secure = self._origin.startswith("https:")
        self.cookie_name: Final = "__Host-weboid" if secure else "weboid"
        self._cookies = SessionCookies(self._fernet, self.cookie_name, secure=secure)

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
        """The member who has signed in, whatever their rights, to be shown; None if nobody has or it is unknown."""
        try:
            return _member(await self._living(request))
        except StoreError:
            return None

    async def person(self, request: web.Request) -> Person | None:
        """As `member`. It does not say that they may report: see `require_person`."""
        member = await self.member(request)
        return None if member is None else self._person(member)

    async def require_person(self, request: web.Request) -> Person:
        """The person who has signed in and may report; raises a Problem that names the lack, or StoreError."""
        member = await self._confirmed(request)
        if member is None:
            raise Problem(403, "sign-in")
        if problem := self.unfit(member):
            raise problem
        return self._person(member)

    async def require_administrator(self, request: web.Request) -> Person:
        """An administrator who has signed in; raises Problem, StoreError."""
        member = await self._confirmed(request)
        if member is None or not (person := self._person(member)).is_administrator:
            raise Problem(403, "administrator")
        return person

    def is_administrator(self, subject: str) -> bool:
        """True if the configuration names them."""
        return subject in self._people.administrators

    def unfit(self, member: Member | None) -> Problem | None:
        """The reason why this reader may not report, as of the last confirmation; None if they may once signed in."""
        if member is None:
            return None if self._people.client else Problem(503, "no-sign-in")
        if member.blocked:
            return Problem(403, "blocked-there")
        if member.edits < self._people.edits and not self._person(member).is_administrator:
            return Problem(403, "few-edits", self._people.edits, member.edits)
        return None

    def subject(self, request: web.Request) -> str | None:
        """The subject of the session, for limits: the store is not asked for its end."""
        member = _member(self._session(request)) if self.cookie_name in request.cookies else None
        return None if member is None else member.subject

    async def sign_in(self, request: web.Request, member: Member) -> None:
        """Begins a new session, of this member, so that knowing the former one is of no use (fixation).

        Raises StoreError if somebody had signed in before and that session cannot be ended.
        """
        session = self._session(request)
        await self._end(session)
        now = self._cookies.now()
        member = await self._confirmations.at_sign_in(member, now)
        session.begin()
        session.keep_member(member, now)
        session.keep("interactive", True)

    async def sign_out(self, request: web.Request) -> None:
        """Ends the session for all processes and copies of its cookie, and begins a new one, of nobody.

        Raises StoreError if that is not possible now; then nothing has changed.
        """
        session = self._session(request)
        await self._end(session)
        session.begin()

    async def keep(self, request: web.Request, name: str, values: Mapping[str, str]) -> None:
        """Keeps values in the session, to be taken once."""
        kept = self._fernet.encrypt(json.dumps(dict(values), ensure_ascii=False).encode()).decode()
        (await self._begun(request)).keep(name, kept)

    async def take(self, request: web.Request, name: str, *, most_s: int) -> Mapping[str, str] | None:
        """Removes and returns what was kept under the name, None if nothing was or longer than `most_s` seconds ago."""
        if not isinstance(kept := (await self._known(request)).take(name), str):
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
        return nonce + self._mac((await self._begun(request)).values["id"], purpose, nonce)

    async def posted(self, request: web.Request, purpose: str, names: Collection[str]) -> Parameters:
        """The fields of a form of ours that was sent: those of these names and the language, each at most once.

        Raises Problem unless it was sent from a page of ours (Origin or Sec-Fetch-Site), in the session for which its
        token was made and which was not ended, and has the size and type of our forms. Raises StoreError if it is not
        known whether the session of somebody who has signed in was ended.
        """
        self._require_same_origin(request)
        given = parameters_of(await fields_of(request), 0, LANGUAGE.union(names, ("token",)))
        token = given.get("token", "")
        session_id = (await self._living(request)).values.get("id")
        if not isinstance(session_id, str):
            raise Problem(403, "form")
        right = self._mac(session_id, purpose, token[:_NONCE])
        if not hmac.compare_digest(right.encode(), token[_NONCE:].encode()):
            raise Problem(403, "form")
        return {name: value for name, value in given.items() if name != "token"}

    async def is_interactive(self, request: web.Request) -> bool:
        """True if a person reads: they follow a link of a page of ours, have sent a form of ours or signed in."""
        if request.headers.get("Sec-Fetch-Site") == "same-origin":
            return True
        return (await self._known(request)).values.get("interactive") is True

    async def note_interactive(self, request: web.Request) -> None:
        """Notes that a person has sent a form of ours; call it after `posted`."""
        if (session := await self._begun(request)).values.get("interactive") is not True:
            session.keep("interactive", True)

    def _session(self, request: web.Request) -> Session:
        """The session of a request; its cookie is read once."""
        if (session := request.get(_SESSION)) is None:
            session = request[_SESSION] = self._cookies.read(request)
        return session

    async def _living(self, request: web.Request) -> Session:
        """The session of a request, or an empty one if it was ended; the store is asked once. Raises StoreError."""
        session = self._session(request)
        if session.is_living or "member" not in session.values:
            return session
        if session.error is not None:
            raise session.error
        session_id = session.values.get("id")
        try:
            async with self._pool.reading(_STORE_S) as conn:
                session.is_living = isinstance(session_id, str) and not await is_ended(conn, session_id)
        except StoreError as error:
            session.error = error
            raise
        if not session.is_living:
            session.drop()
        return session

    async def _confirmed(self, request: web.Request) -> Member | None:
        """The member who has signed in, as confirmed within the hour, now if need be. Raises Problem, StoreError."""
        session = await self._living(request)
        if (member := _member(session)) is None:
            return None
        newest, moment = Confirmed(None, 0), session.values.get("confirmed", session.began)
        if isinstance(moment, int):
            newest = await self._confirmations.newest(member, moment, self._cookies.now())
        if newest.member is None:
            await self._end(session)
            session.begin()
            raise Problem(403, "sign-in-again")
        if newest.member != member or newest.moment != moment:
            session.keep_member(newest.member, newest.moment)
        return newest.member

    async def _known(self, request: web.Request) -> Session:
        """The same, where nothing depends on who has signed in: as it is while the store does not answer."""
        with suppress(StoreError):
            return await self._living(request)
        return self._session(request)

    async def _end(self, session: Session) -> None:
        """Ends a session of somebody who has signed in, however many copies of its cookie there are."""
        session_id = session.values.get("id")
        # Without a beginning it has not been sent to anybody yet.
        if "member" in session.values and isinstance(session_id, str) and session.began is not None:
            async with self._pool.connection() as conn:
                await record_ended(conn, session_id, session.began + LIFETIME_S)

    async def _begun(self, request: web.Request) -> Session:
        """The session of a request; begins one if there is none."""
        session = await self._known(request)
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


def _member(session: Session) -> Member | None:
    match session.values.get("member"):
        case [str(subject), str(name), int(edits), bool(blocked)]:
            return Member(subject, name, edits, blocked)
        case _:
            return None


def require_secret(secret: str) -> None:
    """Raises ConfigError if [web] secret is set and too short to keep anything secret."""
    if secret and len(secret) < _SHORTEST_SECRET:
        raise ConfigError(f"[web] secret: it must have at least {_SHORTEST_SECRET} characters, made at random")


def _key(secret: str, purpose: bytes) -> bytes:
    """A separate key for each purpose, derived from the secret."""
    return blake2b(secret.encode("utf-8", "surrogatepass"), digest_size=32, person=purpose).digest()


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()
