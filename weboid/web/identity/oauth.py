"""Signing in with a wiki's account: MediaWiki's OAuth 2, authorization code with PKCE (RFC 6749, 7636, 9207; H, A-4).

``web/identity/session`` keeps the state of a flow. The provider is not trusted: any unexpected answer ends it.
"""

import logging
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

import aiohttp
from aiohttp import hdrs

from weboid.config import PeopleConfig
from weboid.errors import ConfigError
from weboid.web.identity.member import Member, member_of_profile
from weboid.web.identity.provider_request import FAILURES, failure_words, send_request
from weboid.web.request.parameters import Parameters
from weboid.web.request.problem import Problem

log = logging.getLogger(__name__)

FLOW_S: Final = 600
"""The longest stay of a person at the provider."""

_TIMEOUT_S: Final = 10.0
_MOST_CODE: Final = 3_000


@dataclass(frozen=True, slots=True)
class Flow:
    """A sign-in that has begun: the `address` to go to, and what must be remembered until the person comes back."""

    address: str
    state: str
    verifier: str


@dataclass(frozen=True, slots=True)
class Provider:
    """The wiki that confirms who somebody is. `client` connects to it; it sends people back to the URL `back`."""

    settings: PeopleConfig
    client: aiohttp.ClientSession | None
    back: str
    user_agent: str
    timeout_s: float = _TIMEOUT_S

    def __post_init__(self) -> None:
        parts = urlsplit(self.settings.provider)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ConfigError("[people] provider: it must be an address such as https://…/w/rest.php/oauth2")

    @property
    def is_set_up(self) -> bool:
        """True if signing in is configured."""
        return bool(self.settings.client) and self.client is not None

    @property
    def host(self) -> str:
        """The host of the provider, to be shown to people."""
        return urlsplit(self.settings.provider).netloc.rpartition("@")[2]

    def begin(self) -> Flow:
        """A new sign-in."""
        state, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(48)
        challenge = urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        parameters = {
            "response_type": "code",
            "client_id": self.settings.client,
            "redirect_uri": self.back,
            "state": state,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        return Flow(f"{self._base}/authorize?{urlencode(parameters)}", state, verifier)

    async def find_member(self, answered: Parameters, state: str, verifier: str) -> Member:
        """The member who came back with these parameters, for the flow with this state and verifier; raises Problem."""
        if not compare_digest(answered.get("state", "").encode("utf-8", "replace"), state.encode()):
            raise Problem(400, "sign-in-stale")
        if answered.get("iss", self._base) not in (self._base, self._origin, self._origin + "/"):
            raise Problem(400, "sign-in-stale")
        match answered.get("error"):
            case None:
                pass
            case "access_denied":
                raise Problem(403, "sign-in-denied")
            case "temporarily_unavailable" | "server_error":
                raise Problem(503, "provider")
            case error:
                log.warning("the OAuth provider refuses to sign people in: %r", error[:100])
                raise Problem(502, "provider-odd")
        code = answered.get("code", "")
        if not 0 < len(code) <= _MOST_CODE:
            raise Problem(502, "provider-odd")
        try:
            token = await self._token(code, verifier)
            return member_of_profile(await self._request(hdrs.METH_GET, "/resource/profile", bearer=token))
        except ValueError as error:
            raise _odd(str(error)) from None

    @property
    def _base(self) -> str:
        return self.settings.provider.rstrip("/")

    @property
    def _origin(self) -> str:
        parts = urlsplit(self.settings.provider)
        return f"{parts.scheme}://{parts.netloc}"

    async def _token(self, code: str, verifier: str) -> str:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.back,
            "client_id": self.settings.client,
            "code_verifier": verifier,
        }
        if self.settings.client_secret:
            form["client_secret"] = self.settings.client_secret
        answer = await self._request(hdrs.METH_POST, "/access_token", data=form)
        match answer:
            case {"access_token": str(token), "token_type": str(kind)} if kind.lower() == "bearer":
                if token and token.isascii() and token.isprintable():
                    return token
        raise _odd("its answer has no token")

    async def _request(
        self, method: str, path: str, *, data: Mapping[str, str] | None = None, bearer: str = ""
    ) -> Mapping[str, Any]:
        """The JSON object that the provider answers with; raises Problem."""
        if self.client is None:
            raise Problem(503, "provider")
        try:
            reply = await send_request(
                self.client,
                method,
                self._base + path,
                data=data,
                bearer=bearer,
                user_agent=self.user_agent,
                timeout_s=self.timeout_s,
            )
        except FAILURES as error:
            log.warning("the OAuth provider does not answer at %s: %s", path, failure_words(error))
            raise Problem(503, "provider") from None
        if reply.is_busy:
            log.warning("the OAuth provider answers %s at %s", reply.status, path)
            raise Problem(503, "provider")
        if reply.status in (400, 401, 403):
            # A code that is too old or was used before, or a client that is not registered: the log shows which.
            log.warning("the OAuth provider refuses at %s with %s: %r", path, reply.status, (reply.body or b"")[:200])
            raise Problem(403, "sign-in-refused")
        try:
            return reply.as_object()
        except ValueError as error:
            raise _odd(f"{error} at {path}") from None


def _odd(why: str) -> Problem:
    log.warning("the OAuth provider answers oddly: %s", why)
    return Problem(502, "provider-odd")
