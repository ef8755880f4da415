"""Trusted clients: programs of our own people, known by a token, never by their address (W-9).

What they may do beyond others is each handler's business, which asks `client_of`.
One law: a token is neither stored nor logged nor told, not even a part of it; the configuration has its hash alone.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest
from typing import Final

from aiohttp import hdrs, web

from weboid.errors import ConfigError
from weboid.web.request.problem import Problem

_CLIENT: Final = web.RequestKey("client", str)
_ENTRY: Final = re.compile(r"([A-Za-z0-9._-]{1,64}):([0-9a-fA-F]{64})")
_BEARER: Final = re.compile(r"bearer(?: +(.*))?", re.I | re.S)


@dataclass(frozen=True, slots=True)
class TrustedClients:
    """Names of trusted clients, each with the SHA-256 of a token; a name may have two while one replaces the other."""

    known: tuple[tuple[str, bytes], ...]

    def name_of(self, token: str) -> str | None:
        """Whose token it is. All are compared, each in constant time, so that the time tells nothing."""
        given = sha256(token.encode("utf-8", "surrogateescape")).digest()
        found = [name for name, known in self.known if compare_digest(given, known)]
        return found[0] if found else None

    def note(self, request: web.Request) -> str | None:
        """Looks who asks, and notes it for `client_of`; raises Problem 401 for a token that nobody has.

        Other ways to authenticate than ``Bearer`` (RFC 6750) are not ours and passed over.
        """
        headers = request.headers.getall(hdrs.AUTHORIZATION, [])
        tokens = [match[1] or "" for header in headers if (match := _BEARER.fullmatch(header.strip()))]
        if not tokens:
            return None
        name = self.name_of(tokens[0].strip()) if len(tokens) == 1 else None
        if name is None:
            raise Problem(401, "token")
        request[_CLIENT] = name
        return name


def client_of(request: web.Request) -> str | None:
    """The name of the trusted client that asks, None for everybody else."""
    return request.get(_CLIENT)


def clients_of(tokens: Iterable[str]) -> TrustedClients:
    """The clients of `WebConfig.tokens`; raises ConfigError, which names the entry but nothing that stands in it."""
    known = []
    for number, entry in enumerate(tokens, start=1):
        if not (match := _ENTRY.fullmatch(entry)):
            raise ConfigError(
                f"[web] tokens (or WEBOID_WEB_TOKENS): entry {number} must be name:hash, a name of letters, digits, "
                "dots, - and _, and the SHA-256 of the token in hex (printf %s TOKEN | sha256sum)"
            )
        known.append((match[1], bytes.fromhex(match[2])))
    return TrustedClients(tuple(known))
