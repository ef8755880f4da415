"""Trusted clients: programs of our own people, known by a token, never by their address (W-9).

Handlers grant them rights by `client_of`. A token is neither stored nor logged nor shown, in no part; the configuration
has its hash only.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from hmac import compare_digest
from typing import Final

from aiohttp import hdrs, web

from weboid.core.url.farms import WikiName, parse_wiki_name
from weboid.errors import ConfigError
from weboid.web.request.problem import Problem

_CLIENT: Final = web.RequestKey("client", str)
_ENTRY: Final = re.compile(r"([A-Za-z0-9._-]{1,64}):([0-9a-fA-F]{64})((?::[^:]+)*)")
_GUESSES: Final = (
    *("", "TOKEN", "token", "secret", "password", "changeme", "test", "weboid", "crawler", "feeder", "bot", "admin"),
    *("1234", "12345678", "123456789", "0" * 64),
)
"""Tokens that somebody might have left as they were in an example."""
_BEARER: Final = re.compile(r"bearer(?: +(.*))?", re.I | re.S)


@dataclass(frozen=True, slots=True)
class TrustedClients:
    """Names of trusted clients, each with the SHA-256 of a token; a name may have two while one replaces the other.

    `wikis` has those that a client may feed, by its name; one that is not there may feed all.
    """

    known: tuple[tuple[str, bytes], ...]
    wikis: Mapping[str, frozenset[WikiName]] = field(default_factory=dict)

    def name_of(self, token: str) -> str | None:
        """The name of the client with this token, None if there is none.

        All tokens are compared, each in constant time, so that the time reveals nothing.
        """
        given = sha256(token.encode("utf-8", "surrogateescape")).digest()
        found = [name for name, known in self.known if compare_digest(given, known)]
        return found[0] if found else None

    def note(self, request: web.Request) -> str | None:
        """Identifies the client and notes it for `client_of`; raises Problem 401 for a token that is not known.

        Authentication schemes other than ``Bearer`` (RFC 6750) are ignored.
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
    """The name of the trusted client that sent the request, None for all others."""
    return request.get(_CLIENT)


def clients_of(tokens: Iterable[str], key: str = "tokens", *, with_wikis: bool = False) -> TrustedClients:
    """The clients of this key of `WebConfig`, perhaps each with the wikis that it may feed.

    Raises ConfigError, which numbers the entry but repeats nothing of it.
    """
    known = []
    wikis: dict[str, frozenset[WikiName]] = {}
    for number, entry in enumerate(tokens, start=1):
        match = _ENTRY.fullmatch(entry)
        if not match or (match[3] and not with_wikis):
            raise ConfigError(
                f"[web] {key} (or WEBOID_WEB_{key.upper()}): entry {number} must be name:hash, a name of letters, "
                "digits, dots, - and _, and the SHA-256 of the token in hex (printf %s TOKEN | sha256sum)"
            )
        known.append((match[1], bytes.fromhex(match[2])))
        if match[3]:
            named = {parse_wiki_name(each) for each in match[3][1:].split(":")}
            wikis[match[1]] = wikis.get(match[1], frozenset()) | named
    return TrustedClients(tuple(known), wikis)


def weak_tokens(lists: Mapping[str, TrustedClients]) -> Iterator[str]:
    """The weaknesses of the tokens of these keys of `WebConfig`, for an operator; no hash is repeated."""
    places: dict[bytes, set[str]] = {}
    for key, clients in lists.items():
        counts = Counter(name for name, _ in clients.known)
        for name, known in clients.known:
            places.setdefault(known, set()).add(f"{name} in {key}")
            if known in {sha256(guess.encode()).digest() for guess in (*_GUESSES, name, key)}:
                yield f"[web] {key}: the token of {name} can be guessed: make one by openssl rand -hex 32"
            if key == "feeders" and name not in clients.wikis:
                yield f"[web] {key}: {name} may feed all wikis: name those that it may (name:hash:dewiki:frwiki)"
        yield from (
            f"[web] {key}: {name} has {count} tokens: two at most, while one replaces the other"
            for name, count in counts.items()
            if count > 2
        )
    for named in places.values():
        if len(named) > 1:
            yield f"[web] one token is that of {' and of '.join(sorted(named))}: it opens one entrance alone (D-390)"
