"""A request to a wiki's Action API: HTTP, pauses, errors; the queries belong to ``wiki/api``.

Whatever the server does, a query ends in bounded time and memory, with an answer or with a SourceError.
"""

import json
from asyncio import sleep
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

import aiohttp

from weboid.core.observe.retry_after import retry_after_s
from weboid.errors import NotContacted, SourceError
from weboid.mechanism.pauses import GrowingPause
from weboid.net.dns import NO_NAME, LookupFailed
from weboid.net.guard import refusal_in

_ENVELOPE: Final = {"action": "query", "format": "json", "formatversion": "2", "maxlag": "5"}
_BUSY_STATUSES: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_BUSY_ERRORS: Final = ("maxlag", "ratelimited", "readonly", "internal_api_error_", "cirrussearch-too-busy")
_LONGEST_GET: Final = 2000
"""Longer queries (fifty titles in a script of three bytes a letter) are sent by POST: servers cut long addresses."""


@dataclass(frozen=True, slots=True)
class ApiPatience:
    """Limits of one query. The pause doubles from ``first_pause_s``; if a server wants more than ``longest_pause_s``,
    the query fails at once."""

    tries: int = 5
    timeout_s: float = 60.0
    first_pause_s: float = 1.0
    longest_pause_s: float = 120.0
    answer_mib: int = 32


@dataclass(frozen=True, slots=True)
class _Busy:
    """A failure after which another try may help, after ``pause_s`` seconds if the server named them."""

    reason: str
    pause_s: float | None = None


class ApiRefusal(SourceError):
    """The wiki understands the query and refuses it; ``code`` is MediaWiki's, at most 80 characters."""

    def __init__(self, what: str, code: str) -> None:
        super().__init__(what)
        self.code = code


class ActionApi:
    """An ``api.php``. Which addresses may be contacted is decided by the given session."""

    def __init__(self, url: str, session: aiohttp.ClientSession, user_agent: str, patience: ApiPatience) -> None:
        self.url = url
        self._session = session
        self._headers = {"User-Agent": user_agent, "Accept": "application/json"}
        self._patience = patience
        self.answered = 0
        """Answers that came, whatever MediaWiki says in them."""

    async def fetch_answer(self, question: Mapping[str, str], *, is_change: bool = False) -> dict[str, Any]:
        """The answer to ``action=query`` with these parameters; Retry-After and maxlag are honoured.

        `question` may name another action; with `is_change` it is sent by POST, whatever its length.
        Raises SourceError after the last try, or at once where trying again cannot help: ApiRefusal for an error that
        MediaWiki names, NotContacted where the guard refuses the address.
        """
        pause = GrowingPause(self._patience.first_pause_s, self._patience.longest_pause_s)
        busy = _Busy("was not queried")
        for left in reversed(range(self._patience.tries)):
            answer = await self._try({**_ENVELOPE, **question}, is_change)
            if not isinstance(answer, _Busy):
                return answer
            busy = answer
            pause_s = pause.grown_s()
            wait_s = pause_s if busy.pause_s is None else busy.pause_s
            if wait_s > self._patience.longest_pause_s:
                raise self._error(f"{busy.reason}; it asks to wait {wait_s:.0f} s, so try again after that")
            if left:
                await sleep(wait_s)
        raise self._error(f"{busy.reason}, {self._patience.tries} times in a row; try again later")

    async def _try(self, question: dict[str, str], is_change: bool) -> dict[str, Any] | _Busy:
        fields = urlencode(question)
        timeout = aiohttp.ClientTimeout(total=self._patience.timeout_s)
        try:
            # A redirect would send the query to a server that is not configured.
            is_get = len(fields) <= _LONGEST_GET and not is_change
            async with self._session.request(
                "GET" if is_get else "POST",
                self.url,
                params=question if is_get else None,
                data=None if is_get else question,
                headers=self._headers,
                timeout=timeout,
                allow_redirects=False,
            ) as response:
                if response.status in _BUSY_STATUSES:
                    return _Busy(f"answered with HTTP {response.status}", retry_after_s(response.headers))
                self._check_status(response)
                return self._judged(await self._read(response), response.headers)
        except TimeoutError:
            return _Busy(f"gave no answer within {self._patience.timeout_s:g} s")
        except (aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError) as error:
            raise self._error("is no URL; correct the wiki's API address in the configuration") from error
        except aiohttp.ClientError as error:
            if refusal := refusal_in(error):
                raise NotContacted(f"{self.url} {refusal}") from error
            return _Busy(f"cannot be reached ({_why(error)})")

    def _check_status(self, response: aiohttp.ClientResponse) -> None:
        if 300 <= response.status < 400:
            target = response.headers.get("Location", "another address")[:200]
            raise self._error(f"redirects to {target!r}, which is not followed; put the right API address in place")
        if response.status == 403:
            raise self._error(f"answered with HTTP 403: it refuses {self._headers['User-Agent']!r}, or this machine")
        if response.status != 200:
            raise self._error(f"answered with HTTP {response.status}; is it the address of a MediaWiki's api.php?")

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        body = bytearray()
        async for piece in response.content.iter_chunked(1 << 16):
            body += piece
            if len(body) > self._patience.answer_mib << 20:
                self.answered += 1
                raise self._error(f"answered with more than {self._patience.answer_mib} MiB; request fewer pages")
        return bytes(body)

    def _judged(self, body: bytes, headers: Mapping[str, str]) -> dict[str, Any] | _Busy:
        try:
            answer = json.loads(body.strip(b"\xef\xbb\xbf \r\n"))
        except (ValueError, RecursionError):
            return _Busy(f"answered with something that is not JSON ({body[:40]!r} …)")
        match answer:
            case {"error": {"code": str(code), **more}}:
                reason = f"answered with error {code[:80]!r} ({str(more.get('info', ''))[:200]})"
                if code.startswith(_BUSY_ERRORS):
                    return _Busy(reason, retry_after_s(headers))
                self.answered += 1
                raise ApiRefusal(f"{self.url} {reason}; the wiki refuses this query", code[:80])
            case {"error": _}:
                raise self._error("answered with an error that cannot be read")
            case dict():
                self.answered += 1
                return answer
            case _:
                return _Busy("answered with JSON that is no object")

    def _error(self, what: str) -> SourceError:
        return SourceError(f"{self.url} {what}")


def _why(error: aiohttp.ClientError) -> str:
    """The reason why a wiki cannot be reached, in words that its operator can act on."""
    failed = getattr(error, "os_error", None)
    if isinstance(failed, LookupFailed) and failed.code in NO_NAME:
        return "no name server knows its name; /etc/hosts and search domains are not used: [net] dns names others"
    return str(error) or type(error).__name__
