"""A small Weboid of one's own for the scripts: a real server on loopback with the API for bots, which can misbehave.

It answers ``/api/page``, ``/changes``, ``/api/normal`` and ``/api/reverts`` in the form of docs/api.md, out of what a
test says of URLs, and notes each request. It runs in a thread, as scripts wait for their answers.
"""

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Final

from aiohttp import hdrs, web

from weboid.bot.answers import key_of
from weboid.core.record.policy import Policy
from weboid.core.verdict.verdict import Verdict

TOKEN: Final = "a-token-of-32-letters-for-tests-x"
HEAD: Final = {"version": 2, "generator": "little", "source": "", "lang": "en", "day": "2026-11-22"}
_MOST_PAGES: Final = 500
_MOST_URLS: Final = 1_000
_MOST_CHANGES: Final = 100

Misdeed = Callable[[web.BaseRequest], "web.StreamResponse | None"]
"""What is done instead of answering; None = answer as usual."""


@dataclass(frozen=True, slots=True)
class Asked:
    method: str
    path: str
    fields: Mapping[str, str]
    headers: Mapping[str, str]


def link(url: str, verdict: str = "dead", copies: Any = (), **others: Any) -> dict[str, Any]:
    """A link as an answer tells it; `copies` are ``(address, stamp)`` of verified snapshots, None = certainly none."""
    offered = [
        {
            "service": "wayback", "title": "Wayback Machine", "snapshot": address, "original": url, "stamp": stamp,
            "taken": datetime.strptime(stamp, "%Y%m%d%H%M%S").isoformat() + "Z", "distance_days": None,
            "distance_to": None, "origin": "chosen", "checked": "2026-11-20", "note": None, "verified": True,
            "preview": None,
        }
        for address, stamp in copies or ()
    ]  # fmt: skip
    state = "none" if copies is None else "found" if offered else "unknown"
    is_reported = verdict in ("dead", "doubtful")
    return {
        "normal": key_of(url), "host_unicode": "", "given": [url], "kind": "external", "interwiki": None,
        "class": "watched", "verdict": verdict, "reason": "not-found" if verdict == "dead" else None, "since": None,
        "status": 0, "state": "untried", "http": None, "checked": "2026-11-20", "next_check": None, "strikes": 0,
        "evidence": None, "target": None, "mime": None, "size_kib": None, "suspicious": False, "hints": [],
        "reported": None, "assumed": None, "replacement": None, "archives": [each["snapshot"] for each in offered],
        "probably_meant": None, "archived": state if is_reported else None, "snapshots": offered if is_reported else [],
        "copy_of": None, "history": [], "wikitext": None, "summary": "", "explanation": None, "copy_summary": None,
        "flags": [], "repaired": False, **others,
    }  # fmt: skip


@dataclass
class LittleService:
    """What it knows: links by page id, changes in their order; and what it was asked.

    `misdeeds` are done one after the other, one a request, before it answers as usual. `most_links` of one answer.
    """

    base: str = ""
    dbname: str = "testwiki@WMF"
    pages: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    titles: dict[int, str] = field(default_factory=dict)
    changes: list[dict[str, Any]] = field(default_factory=list)
    reverts: list[dict[str, Any]] = field(default_factory=list)
    misdeeds: list[Misdeed] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    most_links: int = 2_000

    def count(self, path: str) -> int:
        return sum(each.path == path for each in self.asked)

    def add_change(self, url: str, pages: Mapping[int, str], *, after: str = "dead", before: str = "working") -> int:
        """The number of a new entry in the list of changes; `pages` are titles by id."""
        number = len(self.changes) + 1
        shown = [{"id": page, "namespace": 0, "title": title, "repaired": False} for page, title in pages.items()]
        change = {"change": number, "day": "2026-11-20", "before": before, "after": after, "reason": "not-found"}
        self.changes.append({**change, "pages": shown, "more": False, "link": link(url, after)})
        return number

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        form = {} if request.method == hdrs.METH_GET else dict(await request.post())
        fields = {key: str(value) for key, value in {**request.query, **form}.items()}
        self.asked.append(Asked(request.method, request.path, fields, dict(request.headers)))
        if self.misdeeds and (done := self.misdeeds.pop(0)(request)) is not None:
            return done
        if fields.get("dbname", self.dbname) != self.dbname:
            return _problem(404, "unknown-wiki", f"The wiki {fields['dbname']} is not known here.")
        match request.method, request.path:
            case "POST", "/api/page":
                return self._page(fields)
            case "GET", "/changes":
                return self._changes(fields)
            case "POST", "/api/normal":
                return self._normal(fields)
            case "POST", "/api/reverts":
                return self._revert(request, fields)
        return _problem(404, "no-such-address", "There is nothing at this address.")

    def _page(self, fields: Mapping[str, str]) -> web.Response:
        ids = [int(each) for each in fields["pageid"].split("|")]
        if len(ids) > _MOST_PAGES:
            return _problem(400, "too-many", f"At most {_MOST_PAGES} pages can be requested at a time.")
        start = int(fields.get("continue", "0"))
        place, shown = 0, []
        for page in ids:
            links = self.pages.get(page)
            if links is None:
                continue
            first, last = max(start - place, 0), min(len(links), start + self.most_links - place)
            place += max(len(links), 1)
            if last > first or (not links and start < place <= start + self.most_links):
                shown.append(self._page_part(page, links, first, last, len(ids)))
        missing = [str(page) for page in ids if page not in self.pages]
        if len(missing) == len(ids):
            return _problem(404, "unknown-page", f"There is no page {missing[0]} in the wiki {self.dbname}.")
        after = str(start + self.most_links) if start + self.most_links < place else None
        extent_of = {"extent": fields.get("extent", "dead"), "verdicts": [], "policy": asdict(Policy()), "titles": []}
        return web.json_response({**HEAD, **extent_of, "pages": shown, "missing": missing, "continue": after})

    def _page_part(self, page: int, links: list[dict[str, Any]], first: int, last: int, asked: int) -> dict[str, Any]:
        title = self.titles.get(page, f"Page {page}")
        counted = Counter(each["verdict"] for each in links[first:last])
        counts = {verdict.word: counted[verdict.word] for verdict in Verdict}
        part = None if last - first == len(links) else {"from": first, "to": last, "of": len(links)}
        return {
            "wiki": self.dbname, "id": page, "namespace": 0, "title": title, "prefixed_title": title, "revision": page,
            "part": part, "live": asked <= 50, "read": "2026-11-22", "counts": counts,
            "repaired": {"dead": 0, "doubtful": 0}, "links": links[first:last],
        }  # fmt: skip

    def _changes(self, fields: Mapping[str, str]) -> web.Response:
        since = self._since(fields["since"])
        wanted = fields["to"].split("|") if fields.get("to") else []
        later = [change for change in self.changes if change["change"] > since]
        looked = later[:_MOST_CHANGES]
        shown = [change for change in looked if not wanted or change["after"] in wanted]
        after = looked[-1]["change"] if looked else since
        more = len(later) > len(looked)
        scope = {"wiki": self.dbname, "page": None, "category": None, "members": None, "partial": False}
        extent_of = {**scope, "since": since, "to": wanted, "next": after, "more": more}
        return web.json_response({**HEAD, **extent_of, "changes": shown})

    def _since(self, given: str) -> int:
        """A number, or the one before the first change of a day."""
        if given.isdecimal():
            return int(given)
        of_day = (change["change"] for change in self.changes if change["day"] >= given)
        return next(of_day, self.changes[-1]["change"] + 1 if self.changes else 1) - 1

    def _normal(self, fields: Mapping[str, str]) -> web.Response:
        urls = [url for url in fields["urls"].splitlines() if url]
        if len(urls) > _MOST_URLS:
            return _problem(400, "too-many-urls", f"At most {_MOST_URLS} URLs can be sent at a time.")
        shown = [{"url": url, "normal": key_of(url), "class": "watched" if key_of(url) else "invalid"} for url in urls]
        return web.json_response({**HEAD, "urls": shown})

    def _revert(self, request: web.BaseRequest, fields: Mapping[str, str]) -> web.Response:
        given = request.headers.get(hdrs.AUTHORIZATION)
        if given != f"Bearer {TOKEN}":
            return _problem(403 if given is None else 401, "trusted", "This is for trusted clients.")
        wanted = ("pageid", "revid", "url", "reverter", "why")
        if not all(fields.get(key) for key in wanted):
            return _problem(400, "request", "The request could not be understood.")
        same = ("revision", "normal")
        normal = key_of(fields["url"])
        revert = {
            "id": len(self.reverts) + 1, "wiki": self.dbname, "page": int(fields["pageid"]),
            "revision": int(fields["revid"]), "normal": normal, "reverter": fields["reverter"], "why": fields["why"],
            "state": "open",
        }  # fmt: skip
        for known in self.reverts:
            if all(known[key] == revert[key] for key in same):
                return web.json_response({"version": 2, "revert": known})
        self.reverts.append(revert)
        for links in self.pages.values():
            for each in links:
                if each["normal"] == normal and "frozen" not in each["flags"]:
                    each["flags"] = sorted([*each["flags"], "frozen"])
        return web.json_response({"version": 2, "revert": revert}, status=201)


def busy(seconds: int = 1, status: int = 503) -> Misdeed:
    """Comes again later."""
    return lambda _: web.json_response(
        {"version": 2, "error": {"key": "weboid-error-busy", "text": "busy"}},
        status=status,
        headers={"Retry-After": str(seconds)},
    )


def garbage(body: bytes = b"<!doctype html><title>Wi-Fi log-in</title>", status: int = 200) -> Misdeed:
    return lambda _: web.Response(body=body, status=status, content_type="text/html")


def redirect(target: str, status: int = 307) -> Misdeed:
    return lambda _: web.Response(status=status, headers={hdrs.LOCATION: target})


def endless() -> Misdeed:
    async def body() -> AsyncIterator[bytes]:
        while True:
            yield b" " * 2**20

    return lambda _: web.Response(body=body(), content_type="application/json")


def hang_up(request: web.BaseRequest) -> web.StreamResponse | None:
    """The connection breaks before the answer."""
    assert request.transport is not None, "it was asked just now"
    request.transport.abort()
    return None


def _problem(status: int, key: str, text: str) -> web.Response:
    return web.json_response({"version": 2, "error": {"key": f"weboid-error-{key}", "text": text}}, status=status)


@contextmanager
def open_little_service(dbname: str = "testwiki@WMF") -> Iterator[LittleService]:
    service = LittleService(dbname=dbname)
    with served(service.answer) as service.base:
        yield service


@contextmanager
def served(answer: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]) -> Iterator[str]:
    """Answers all requests at a free port of 127.0.0.1 from a thread of its own; the address of the server."""
    loop = asyncio.new_event_loop()

    async def begin() -> tuple[web.ServerRunner, str]:
        runner = web.ServerRunner(web.Server(answer), shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return runner, f"http://127.0.0.1:{runner.addresses[0][1]}"

    runner, base = loop.run_until_complete(begin())
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield base
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()
