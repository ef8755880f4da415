"""A request to the provider's wiki over HTTP: bounded in time and size, without redirects.

The provider is not trusted: its answers are values to be checked, and never followed.
"""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import aiohttp
from aiohttp import hdrs

from weboid.net.guard import refusal_in

FAILURES: Final = (aiohttp.ClientError, OSError, TimeoutError)
"""The exceptions of `send_request` if there is no answer."""
_MOST_BYTES: Final = 64 * 1024
_MOST_WAIT: Final = 6


def failure_words(error: Exception) -> str:
    """The reason why there is no answer, for the log: the remedy, where only the operator can help."""
    refusal = refusal_in(error)
    return f"it {refusal}" if refusal else repr(error)


@dataclass(frozen=True, slots=True)
class ServerReply:
    """The reply of a server; `body` = None if it was too long."""

    status: int
    kind: str
    body: bytes | None
    retry_s: int

    @property
    def is_busy(self) -> bool:
        """True if the server cannot answer now."""
        return self.status >= 500 or self.status == 429

    def as_object(self) -> Mapping[str, Any]:
        """The JSON object in it; raises ValueError that names what there is instead."""
        if self.status != 200 or self.kind != "application/json":
            raise ValueError(f"{self.status} {self.kind!r}")
        if self.body is None:
            raise ValueError("the answer exceeds 64 KiB")
        try:
            answer = json.loads(self.body)
        except (ValueError, RecursionError):
            raise ValueError("no JSON") from None
        if not isinstance(answer, dict):
            raise ValueError("no object")
        return answer


async def send_request(
    client: aiohttp.ClientSession,
    method: str,
    address: str,
    *,
    user_agent: str,
    timeout_s: float,
    bearer: str = "",
    data: Mapping[str, str] | None = None,
    params: Mapping[str, str] | None = None,
) -> ServerReply:
    """The reply of a server; raises one of FAILURES."""
    headers = {
        hdrs.ACCEPT: "application/json",
        hdrs.ACCEPT_ENCODING: "identity",
        hdrs.USER_AGENT: user_agent,
    }
    if bearer:
        headers[hdrs.AUTHORIZATION] = f"Bearer {bearer}"
    async with (
        asyncio.timeout(timeout_s),
        client.request(method, address, data=data, params=params, headers=headers, allow_redirects=False) as response,
    ):
        wait = response.headers.get(hdrs.RETRY_AFTER, "")
        retry_s = int(wait) if wait.isascii() and wait.isdigit() and len(wait) <= _MOST_WAIT else 0
        return ServerReply(response.status, response.content_type, await _body(response), retry_s)


async def _body(response: aiohttp.ClientResponse) -> bytes | None:
    body = bytearray()
    async for chunk in response.content.iter_chunked(_MOST_BYTES):
        body += chunk
        if len(body) > _MOST_BYTES:
            return None
    return bytes(body)
