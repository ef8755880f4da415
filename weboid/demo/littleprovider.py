"""The demo's OAuth 2 provider on loopback: a page on which one chooses an editor, and the endpoints for the client.

It answers as MediaWiki does (authorize, access_token, resource/profile; of its Action API the queries about users) and
is strict: a code is valid once, for the client, the address and the PKCE verifier it was made for. Tests may make it
misbehave. Its codes and tokens are random and valid at this provider only.
"""

import asyncio
import secrets
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final
from urllib.parse import urlencode

from aiohttp import web
from jinja2 import Environment

from weboid.demo.serving import open_application

CLIENT: Final = "weboid-demo"

_ROOT: Final = "/w/rest.php/oauth2"
_API: Final = "/w/api.php"
_LOCAL: Final = 4_711
"""The number on this wiki of people whose OAuth number is that of a central account."""
_ASKED: Final = {"action": "query", "format": "json", "formatversion": "2", "list": "users", "meta": "globaluserinfo"}
_SAFE_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_PAGE: Final = Environment(autoescape=True).from_string(
    """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Who are you?</title></head>
<body><h1>Who are you?</h1>
<p>This made-up wiki runs on this machine. {{ client }} would like to know your user name, how many edits you have
made and whether you are blocked.</p>
<form method="post">
{% for name, value in given %}<input type="hidden" name="{{ name }}" value="{{ value }}">
{% endfor %}{% for name in editors %}<p><button name="editor" value="{{ name }}">I am {{ name }}, and agree</button></p>
{% endfor %}<p><button name="editor" value="">I do not agree</button></p>
</form></body></html>
"""
)


@dataclass(frozen=True, slots=True)
class Editor:
    """A person with an account at the little wiki. `blocked` from all of it, or `partially` from some pages only;
    `locked` on all wikis.
    """

    sub: int | str
    username: str
    editcount: int = 5_000
    blocked: bool = False
    partially: bool = False
    locked: bool = False

    def profile(self) -> dict[str, Any]:
        """The profile as MediaWiki gives it."""
        return {
            "sub": self.sub,
            "username": self.username,
            "editcount": self.editcount,
            "confirmed_email": True,
            "blocked": self.blocked or self.partially,
            "registered": "20050101000000",
            "groups": ["*", "user"],
            "rights": ["read", "edit"],
            "grants": ["basic"],
        }

    def user(self, *, is_central: bool) -> dict[str, Any]:
        """The user as MediaWiki's Action API gives it (list=users, formatversion 2)."""
        local = self.sub if isinstance(self.sub, int) and not is_central else _LOCAL
        user: dict[str, Any] = {"userid": local, "name": self.username, "editcount": self.editcount}
        if self.blocked or self.partially:
            user |= {
                "blockid": 5,
                "blockedby": "Demo administrator",
                "blockedbyid": 8,
                "blockreason": "Spam",
                "blockedtimestamp": "2026-01-05T12:00:00Z",
                "blockexpiry": "infinite",
                "blockpartial": not self.blocked,
                "blocknocreate": True,
                "blockanononly": False,
            }
        ids = {"CentralAuth": self.sub} if is_central else {}
        attached = dict.fromkeys(ids, True)
        return user | {"centralids": {**ids, "local": local}, "attachedlocal": {**attached, "local": True}}

    def global_user(self) -> dict[str, Any]:
        """The central account as CentralAuth gives it (meta=globaluserinfo)."""
        account = {"home": "demowiki", "id": self.sub, "registration": "2005-01-01T00:00:00Z", "name": self.username}
        return account | ({"locked": True} if self.locked else {})


ADMINISTRATOR: Final = Editor(8, "Demo administrator")
EDITORS: Final = (Editor(7, "Demo editor"), ADMINISTRATOR, Editor(9, "Demo beginner", editcount=3))


@dataclass(frozen=True, slots=True)
class ProviderReply:
    """A reply that the provider gives instead of the right one, after a pause."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    pause_s: float = 0.0
    location: str = ""


@dataclass(frozen=True, slots=True)
class _Grant:
    editor: Editor
    client: str
    address: str
    challenge: str


@dataclass(slots=True)
class LittleProvider:
    """A running provider. `replies` has replies to give instead, by the last part of the address; `extra` is added to
    the parameters of the redirect back; with `expired` every code is too old. `refused` has the reasons of refusals,
    `asked` the names of users of whom its API was asked. `is_central`: its accounts are those of several wikis.
    """

    url: str
    editors: dict[str, Editor]
    addresses: set[str]
    secret: str = ""
    replies: dict[str, ProviderReply] = field(default_factory=dict)
    extra: dict[str, str] = field(default_factory=dict)
    expired: bool = False
    refused: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    is_central: bool = True
    _codes: dict[str, _Grant] = field(default_factory=dict)
    _tokens: dict[str, Editor] = field(default_factory=dict)

    async def ask(self, request: web.Request) -> web.Response:
        """The consent page."""
        given = dict(request.query)
        if why := self._wrong(given):
            return self._refuse(why)
        page = _PAGE.render(client=given["client_id"], given=given.items(), editors=self.editors)
        return web.Response(text=page, content_type="text/html", headers=_SAFE_HEADERS)

    async def agree(self, request: web.Request) -> web.Response:
        """Redirects back to the client, with a code for the chosen editor or with a refusal."""
        given = {name: str(value) for name, value in (await request.post()).items()}
        if why := self._wrong(given):
            return self._refuse(why)
        returned = {"state": given["state"]}
        if editor := self.editors.get(given.get("editor", "")):
            code = secrets.token_urlsafe(24)
            self._codes[code] = _Grant(editor, given["client_id"], given["redirect_uri"], given["code_challenge"])
            returned["code"] = code
        else:
            returned |= {"error": "access_denied", "error_description": "not agreed", "hint": "none"}
        address = f"{given['redirect_uri']}?{urlencode(returned | self.extra)}"
        return web.Response(status=303, headers={"Location": address, **_SAFE_HEADERS})

    async def give_token(self, request: web.Request) -> web.Response:
        """An access token in exchange for a code."""
        if reply := self.replies.get("access_token"):
            return await _instead(reply)
        given = await request.post()
        # Removed in any case: a code is valid once.
        grant = self._codes.pop(str(given.get("code")), None)
        if grant is None or self.expired:
            return self._refuse("invalid_grant: no such code")
        if given.get("grant_type") != "authorization_code" or given.get("client_id") != grant.client:
            return self._refuse("invalid_client")
        if self.secret and given.get("client_secret") != self.secret:
            return self._refuse("invalid_client: secret")
        if given.get("redirect_uri") != grant.address:
            return self._refuse("invalid_grant: redirect_uri")
        digest = sha256(str(given.get("code_verifier")).encode()).digest()
        if urlsafe_b64encode(digest).rstrip(b"=").decode() != grant.challenge:
            return self._refuse("invalid_grant: code_verifier")
        token = secrets.token_urlsafe(24)
        self._tokens[token] = grant.editor
        return web.json_response({"token_type": "Bearer", "expires_in": 14400, "access_token": token})

    async def give_profile(self, request: web.Request) -> web.Response:
        """The profile of the editor to whom a token belongs."""
        if reply := self.replies.get("profile"):
            return await _instead(reply)
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        if kind != "Bearer" or token not in self._tokens:
            return self._refuse("invalid_token", 401)
        return web.json_response(self._tokens[token].profile())

    async def give_user(self, request: web.Request) -> web.Response:
        """The Action API's answer about a user, without anybody signed in."""
        given = dict(request.query)
        self.asked.append(given.get("ususers", ""))
        if reply := self.replies.get("api.php"):
            return await _instead(reply)
        if any(given.get(name) != value for name, value in _ASKED.items()) or given.get("guiuser") != self.asked[-1]:
            return web.json_response({"error": {"code": "badvalue", "info": "Unrecognized value."}})
        editor = self.editors.get(self.asked[-1])
        user = editor.user(is_central=self.is_central) if editor else {"name": self.asked[-1], "missing": True}
        query: dict[str, Any] = {"users": [user]}
        answer: dict[str, Any] = {"batchcomplete": True}
        if self.is_central:
            query["globaluserinfo"] = editor.global_user() if editor else {"missing": True}
        else:
            warning = 'Unrecognized value for parameter "meta": globaluserinfo.'
            main = {"warnings": "Unrecognized parameter: guiuser."}
            answer["warnings"] = {"query": {"warnings": warning}, "main": main}
        return web.json_response({**answer, "query": query})

    def _wrong(self, given: dict[str, str]) -> str:
        if given.get("client_id") != CLIENT or given.get("redirect_uri") not in self.addresses:
            return "invalid_client: client_id or redirect_uri"
        if given.get("response_type") != "code" or not given.get("state"):
            return "invalid_request: response_type or state"
        if given.get("code_challenge_method") != "S256" or len(given.get("code_challenge", "")) != 43:
            return "invalid_request: code_challenge"
        return ""

    def _refuse(self, why: str, status: int = 400) -> web.Response:
        self.refused.append(why)
        return web.json_response({"error": why.partition(":")[0], "message": why}, status=status)


@asynccontextmanager
async def open_littleprovider(
    editors: Iterable[Editor] = EDITORS, *, addresses: Iterable[str] = ()
) -> AsyncIterator[LittleProvider]:
    """Runs the provider until the block ends. It redirects back to these `addresses` only; more may be added."""
    provider = LittleProvider("", {editor.username: editor for editor in editors}, set(addresses))
    app = web.Application()
    app.router.add_get(f"{_ROOT}/authorize", provider.ask)
    app.router.add_post(f"{_ROOT}/authorize", provider.agree)
    app.router.add_post(f"{_ROOT}/access_token", provider.give_token)
    app.router.add_get(f"{_ROOT}/resource/profile", provider.give_profile)
    app.router.add_get(_API, provider.give_user)
    async with open_application(app) as server:
        provider.url = server + _ROOT
        yield provider


async def _instead(reply: ProviderReply) -> web.Response:
    await asyncio.sleep(reply.pause_s)
    headers = {"Location": reply.location} if reply.location else {}
    return web.Response(status=reply.status, body=reply.body, content_type=reply.content_type, headers=headers)
