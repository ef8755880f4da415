"""Weboid's API as the scripts use it: bounded, patient, and careful with the token (W-4, docs/api.md).

``weboid/bot/answers`` interprets the answers.
An answer is complete, or an exception says what to do next; the token goes to the service alone.
"""

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final
from urllib.parse import urlencode, urljoin, urlsplit

import requests
from requests.exceptions import RequestException

from weboid.core.observe.retry_after import retry_after_s
from weboid.errors import WeboidError

VERSION: Final = 2
"""The version of the API that is understood."""
MOST_PAGES: Final = 500
"""Pages in one request."""
MOST_URLS: Final = 1_000
"""URLs in one request for normal forms."""
_MOST_FORM: Final = 200_000
"""Bytes of URLs in one form, of the 256 KiB that the service takes."""
_MOST_BYTES: Final = 64 * 2**20
_MOST_ANSWER_S: Final = 300.0
"""For one answer, however slowly it comes."""
_TIMEOUTS_S: Final = (10.0, 90.0)
"""To connect, and between two pieces of an answer."""
_MOST_PARTS: Final = 10_000
_MOST_LINKS: Final = 500_000
"""Of one page."""
_MOST_REDIRECTS: Final = 3
_WAITS_S: Final = (5.0, 15.0, 45.0, 120.0)
"""Before it is tried again, if the service does not say how long."""
_MOST_WAIT_S: Final = 300.0
"""A limit whatever the service says."""
_PATIENCE: Final = frozenset({429, 502, 503, 504})
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_MOST_TEXT: Final = 300
_MOST_CHANGE: Final = 10**18
"""Numbers of changes are smaller."""
_LAST_DAY: Final = "9999-12-31"
_TOKEN: Final = re.compile(r"[!-~]{1,1000}")


class ServiceUnreachable(WeboidError):
    """The service, or the network, does not answer, or not for now."""


class ServiceRefused(WeboidError):
    """The service does not do what was requested; `status` is HTTP's, `key` its stable word."""

    def __init__(self, status: int, key: str, text: str) -> None:
        super().__init__(text)
        self.status: Final = status
        self.key: Final = key


class ServiceGarbled(WeboidError):
    """The answer is not of Weboid, or not of a version that is understood."""


class WeboidClient:
    """The service at an address; `user_agent` says who asks, `token` is that of a trusted client.

    `wait` sleeps so many seconds. Raises WeboidError for an address that is none, and for a token that would be sent
    in the clear.
    """

    def __init__(
        self, service: str, *, user_agent: str, token: str | None = None, wait: Callable[[float], None] = time.sleep
    ) -> None:
        self.service: Final = service.rstrip("/")
        self._origin: Final = _origin_of(self.service)
        if token and self._origin[0] != "https" and self._origin[1] not in _LOOPBACK:
            raise WeboidError(f"The token is not sent to {self.service} in the clear: use its https: address.")
        if token and not _TOKEN.fullmatch(token):
            raise WeboidError("WEBOID_TOKEN holds no token: it must be one word of plain letters, digits and signs.")
        self._token: Final = token
        self._wait: Final = wait
        self._has_answered = False
        self._session: Final = requests.Session()
        self._session.auth = self._sign  # Also keeps requests from sending what it finds in a .netrc.
        self._session.headers.update({"User-Agent": user_agent, "Accept": "application/json"})

    @property
    def has_token(self) -> bool:
        """True if it is a trusted client."""
        return bool(self._token)

    def pages(self, dbname: str, ids: Iterable[int], *, extent: str = "all") -> Iterator[dict[str, Any]]:
        """The pages of these ids with their links, each complete, 500 a request; those that are not known are missing.

        `dbname` such as ``dewiki@WMF``. A page's `links` are joined of all parts of the answer.
        """
        left = iter(dict.fromkeys(ids))
        while some := list(islice(left, MOST_PAGES)):
            yield from self._pages(dbname, some, extent)

    def _pages(self, dbname: str, ids: list[int], extent: str) -> Iterator[dict[str, Any]]:
        form = {"dbname": dbname, "pageid": "|".join(map(str, ids)), "extent": extent, "format": "json"}
        awaited, begun = set(ids), dict[int, dict[str, Any]]()
        for _ in range(_MOST_PARTS):
            try:
                answer = self._request("POST", "/api/page", form)
            except ServiceRefused as refused:
                if refused.key == "weboid-error-unknown-page":
                    return
                raise
            for part in _dicts(answer, "pages"):
                page = _joined(part, begun)
                if page is not None and page["id"] in awaited:
                    awaited.discard(page["id"])
                    yield page
            bookmark = answer.get("continue")
            if bookmark is None:
                return
            if not isinstance(bookmark, str) or bookmark == form.get("continue"):
                break
            form["continue"] = bookmark
        raise ServiceGarbled(f"{self.service} gives an answer about pages that has no end. Please report that to it.")

    def changes(
        self, dbname: str, *, since: int | str | None = None, to: str | None = None
    ) -> Iterator[dict[str, Any]]:
        """The parts of the list of changes: `changes`, `next` (the `since` after this part), and `more`.

        `since` is a number or a day such as ``2026-11-21``, `to` a verdict's word: changes to that one only.
        """
        query = {"dbname": dbname, "since": str(since if since is not None else 0), "format": "json"}
        if to is not None:
            query["to"] = to
        while True:
            part = self._request("GET", "/changes", query)
            after = part.get("next")
            if not isinstance(after, int) or isinstance(after, bool) or not 0 <= after < _MOST_CHANGE:
                raise ServiceGarbled(
                    f"{self.service} gives a list of changes without an end. Please report that to it."
                )
            part["changes"] = list(_dicts(part, "changes"))
            yield part
            if part.get("more") is not True:
                return
            if query["since"].isdecimal() and after <= int(query["since"]):
                raise ServiceGarbled(f"{self.service} goes back in its list of changes. Please report that to it.")
            query["since"] = str(after)

    def newest_change(self, dbname: str) -> int:
        """The number at which the list of changes ends now: what a day that has yet to come stands for in it."""
        return int(next(self.changes(dbname, since=_LAST_DAY))["next"])

    def normal(self, urls: Iterable[str], *, dbname: str | None = None) -> Iterator[dict[str, Any]]:
        """Normal form and class of each URL, in their order; URLs with line breaks or blank ones are left out."""
        some: list[str] = []
        room = _MOST_FORM
        for url in urls:
            if not url.strip() or len(url.splitlines()) != 1:
                continue
            size = len(urlencode({"u": url}, errors="replace"))
            if some and (len(some) == MOST_URLS or size > room):
                yield from self._normal(some, dbname)
                some, room = [], _MOST_FORM
            some.append(url)
            room -= size
        if some:
            yield from self._normal(some, dbname)

    def _normal(self, urls: list[str], dbname: str | None) -> Iterator[dict[str, Any]]:
        form = {"urls": "\n".join(urls), "format": "json"} | ({} if dbname is None else {"dbname": dbname})
        yield from _dicts(self._request("POST", "/api/normal", form), "urls")

    def report_revert(
        self, dbname: str, *, page: int, revision: int, url: str, reverter: str, why: str
    ) -> dict[str, Any]:
        """Reports that somebody has reverted a repair (B-6); the statement as the service keeps it.

        `revision` is the bot's that was reverted, `why` a stable word. Needs a token. Raises ServiceRefused.
        """
        form = {"dbname": dbname, "pageid": str(page), "revid": str(revision), "url": url, "reverter": reverter}
        revert = self._request("POST", "/api/reverts", {**form, "why": why, "format": "json"}).get("revert")
        if not isinstance(revert, dict):
            raise ServiceGarbled(f"{self.service} does not say what became of a report. Please try it again later.")
        return revert

    def _request(self, method: str, path: str, fields: Mapping[str, str]) -> dict[str, Any]:
        """One answer. Raises ServiceUnreachable, ServiceRefused, ServiceGarbled."""
        trouble, asked_s = "", None
        for wait_s in (*_WAITS_S, None):
            try:
                with self._sent(method, f"{self.service}{path}", fields) as response:
                    if response.status_code not in _PATIENCE:
                        self._has_answered = True
                        return self._read(response)
                    trouble, asked_s = f"HTTP {response.status_code}", retry_after_s(response.headers)
            except RequestException as error:
                trouble, asked_s = _brief(_cause(error)), None
                # One that has never answered is a wrong address rather than a bad moment.
                if not self._has_answered:
                    break
            if wait_s is not None:
                self._wait(min(_MOST_WAIT_S, wait_s if asked_s is None else max(asked_s, 1.0)))
        raise ServiceUnreachable(
            f"{self.service} does not answer: {trouble}. Check the network and -service:, then start again; nothing "
            "is done twice."
        )

    def _sent(self, method: str, url: str, fields: Mapping[str, str]) -> requests.Response:
        try:
            return self._send(method, url, fields)
        except RequestException:
            raise
        except ValueError:  # What is no address, in a redirect.
            raise ServiceGarbled(f"{self.service} redirects to what is no address. Check -service:.") from None

    def _send(self, method: str, url: str, fields: Mapping[str, str]) -> requests.Response:
        """Sends a request, and follows redirects on the service's own host only."""
        data = urlencode(fields, errors="replace")
        for _ in range(_MOST_REDIRECTS + 1):
            response = self._session.request(
                method,
                f"{url}?{data}" if method == "GET" and data not in url else url,
                data=data if method == "POST" else None,
                headers={"Content-Type": "application/x-www-form-urlencoded"} if method == "POST" else None,
                timeout=_TIMEOUTS_S,
                allow_redirects=False,
                stream=True,
            )
            if not response.is_redirect:
                return response
            target = urljoin(response.url, response.headers.get("Location", ""))
            response.close()
            repeats = method == "GET" or response.status_code in (307, 308)
            if not repeats or not self._is_own(target):
                raise ServiceGarbled(
                    f"{self.service} redirects to {_brief(target)}, which is not followed. If that is its new "
                    "address, and you trust it, name it by -service:."
                )
            url = target
        raise ServiceGarbled(f"{self.service} redirects again and again. Check -service:.")

    def _is_own(self, url: str) -> bool:
        try:
            scheme, host, port = _origin_of(url)
        except WeboidError:
            return False
        return (scheme, host, port) == self._origin or (
            host == self._origin[1] and self._origin[0] == "http" and scheme == "https"
        )

    def _sign(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._token and self._is_own(request.url or ""):
            request.headers["Authorization"] = f"Bearer {self._token}"
        return request

    def _read(self, response: requests.Response) -> dict[str, Any]:
        body = self._body_of(response)
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict) or answer.get("version") != VERSION:
            if not response.ok:
                raise ServiceRefused(
                    response.status_code,
                    "",
                    f"{self.service} answers HTTP {response.status_code}, and not as Weboid does. Check -service:.",
                )
            raise ServiceGarbled(
                f"{self.service} does not answer as version {VERSION} of Weboid's API does. Check -service:; if it is "
                "right, another version of these scripts is needed."
            )
        if response.ok or "pages" in answer:
            return answer
        error = answer.get("error")
        key, text = (error.get("key"), error.get("text")) if isinstance(error, dict) else (None, None)
        hint = " Check WEBOID_TOKEN." if response.status_code in (401, 403) else ""
        raise ServiceRefused(
            response.status_code,
            str(key)[:_MOST_TEXT],
            f"{self.service} refuses (HTTP {response.status_code}): {_brief(str(text))}{hint}",
        )

    def _body_of(self, response: requests.Response) -> bytes:
        until = time.monotonic() + _MOST_ANSWER_S
        body = bytearray()
        for piece in response.iter_content(2**16):
            body += piece
            if len(body) > _MOST_BYTES or time.monotonic() > until:
                raise ServiceGarbled(f"{self.service} sends an answer without an end. Check -service:.")
        return bytes(body)


def _origin_of(url: str) -> tuple[str, str, int]:
    """Scheme, host and port. Raises WeboidError."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        parts, host, port = urlsplit(""), None, None
    if not host or parts.scheme not in ("http", "https") or parts.username is not None:
        raise WeboidError(f"{_brief(url)!r} is no address of a service. Use one such as https://weboid.toolforge.org.")
    return parts.scheme, host, port or (443 if parts.scheme == "https" else 80)


def _dicts(answer: Mapping[str, Any], key: str) -> Iterator[dict[str, Any]]:
    """The objects in a list of an answer; all else there is ignored."""
    values = answer.get(key)
    return (each for each in (values if isinstance(values, list) else ()) if isinstance(each, dict))


def _joined(part: dict[str, Any], begun: dict[int, dict[str, Any]]) -> dict[str, Any] | None:
    """The page, once this part completes it. Parts that fit nowhere are dropped, and the page with them."""
    number, links, bounds = part.get("id"), part.get("links"), part.get("part")
    if not isinstance(number, int) or not isinstance(links, list):
        return None
    if bounds is None:
        begun.pop(number, None)
        return part
    if not isinstance(bounds, dict) or not all(isinstance(bounds.get(key), int) for key in ("from", "to", "of")):
        return None
    page = part if bounds["from"] == 0 else begun.pop(number, None)
    if page is None or len(page["links"]) + len(links) > _MOST_LINKS:
        return None
    if page is not part:
        if page["part"]["to"] != bounds["from"]:
            return None
        page["links"] += links
        page["part"] = bounds
    if bounds["to"] < bounds["of"]:
        begun[number] = page
        return None
    return {**page, "part": None}


def _cause(error: BaseException) -> str:
    """The root cause of an error of requests, without its addresses in memory and without the request."""
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    return str(error) or type(error).__name__


def _brief(text: str) -> str:
    """A stranger's text as one short line."""
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())[:_MOST_TEXT]
