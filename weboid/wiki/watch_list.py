"""Fetches and reads the JSON page that lists the watched wikis.

``{"dewiki@WMF": {"namespaces": [0], "categories": ["Physik"]}}``, with the keys of ``[wiki."…"]``. Its editors choose
among the wikis of known farms; addresses, farms and secrets are the operator's.
"""

import json
from typing import Final

import aiohttp

from weboid.config import WikiConfig, read_wikis
from weboid.core.url.farms import Farm
from weboid.errors import ConfigError, NotContacted, SourceError
from weboid.net.guard import refusal_in
from weboid.wiki.criteria import read_criteria

MOST_BYTES: Final = 262_144
"""Bytes of the page, at most."""
MOST_WIKIS: Final = 1_000
"""Wikis on the page, at most."""
_TIMEOUT: Final = aiohttp.ClientTimeout(total=30)


def read_watch_list(text: str, farms: tuple[Farm, ...]) -> tuple[WikiConfig, ...]:
    """The wikis of a page. Raises ConfigError, which says what on it cannot be used."""
    if len(text.encode(errors="replace")) > MOST_BYTES:
        raise ConfigError(f"it has more than {MOST_BYTES} bytes")
    try:
        tables = json.loads(text)
        written = json.dumps(tables, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"it is no JSON ({error})") from None
    if b"\\u0000" in written:
        raise ConfigError("it has a character that no title has, U+0000")
    if not isinstance(tables, dict) or not tables:
        raise ConfigError('it names no wiki: write {"dewiki@WMF": {"namespaces": [0]}}')
    if len(tables) > MOST_WIKIS:
        raise ConfigError(f"it names more than {MOST_WIKIS} wikis")
    for name, given in tables.items():
        if isinstance(given, dict) and "api" in given:
            raise ConfigError(f"{name[:100]!r}: api: addresses are not taken from a page; configure the farm")
    faults: list[str] = []
    wikis = read_wikis(tables, farms, faults)
    if faults:
        raise ConfigError(faults[0])
    for wiki in wikis:
        try:
            read_criteria(wiki.matching, wiki.without)
        except ConfigError as error:
            raise ConfigError(f"{wiki.name}: {error}") from None
        except (RecursionError, TypeError, ValueError) as error:
            raise ConfigError(f"{wiki.name}: its criteria cannot be used ({error})") from None
    return wikis


async def fetch_address(client: aiohttp.ClientSession, url: str, user_agent: str) -> str:
    """The text at an https address; redirects are not followed. Raises SourceError."""
    if not url.startswith("https://"):
        raise SourceError(f"{url}: on the way somebody else could change it; name an https address")
    headers = {"User-Agent": user_agent, "Accept": "application/json"}
    try:
        async with client.get(url, headers=headers, timeout=_TIMEOUT, allow_redirects=False) as response:
            if response.status != 200:
                raise SourceError(f"{url} answered with HTTP {response.status}")
            body = bytearray()
            async for piece in response.content.iter_chunked(1 << 16):
                body += piece
                if len(body) > MOST_BYTES:
                    raise SourceError(f"{url} has more than {MOST_BYTES} bytes")
    except TimeoutError:
        raise SourceError(f"{url} gave no answer within {_TIMEOUT.total:g} s") from None
    except (aiohttp.ClientError, ValueError) as error:
        if refusal := refusal_in(error):
            raise NotContacted(f"{url} {refusal}") from None
        raise SourceError(f"{url} cannot be read ({error or type(error).__name__})") from None
    return body.decode(errors="replace")


def names(text: str | None) -> frozenset[str]:
    """The names on a page that was in force, as they are written."""
    return frozenset(json.loads(text)) if text else frozenset()
