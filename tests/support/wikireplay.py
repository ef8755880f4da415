"""A loopback ``api.php`` that gives recorded answers only.

One law: a request that was not recorded is answered with HTTP 400 and noted in ``unknown``.
"""

import gzip
import json
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from aiohttp import web

from weboid.demo.serving import open_application

_HOW_NOT_WHAT: Final = frozenset({"action", "format", "formatversion", "maxlag", "iwprop", "siprop"})
"""Parameters that change the form or extent of an answer: recorded questions may differ in them."""


@dataclass(frozen=True)
class Exchange:
    """A question and its answer; the answers to equal questions are given in turn, the last one for ever."""

    request: Mapping[str, str]
    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class WikiReplay:
    """A running replay: its address, and every question it was asked with its headers."""

    url: str
    asked: list[dict[str, str]]
    agents: list[str]
    unknown: list[dict[str, str]]


def exchange(request: Mapping[str, str], response: object, **more: Any) -> Exchange:
    return Exchange(request, json.dumps(response).encode(), **more)


def page_content(title: str, text: str | None) -> Exchange:
    """The question for the text of a page and its answer; None = there is no such page."""
    shown: dict[str, Any] = {"title": title}
    shown |= {"missing": True} if text is None else {"revisions": [{"slots": {"main": {"content": text}}}]}
    asked = {"titles": title, "prop": "revisions", "rvprop": "content", "rvslots": "main"}
    return exchange(asked, {"batchcomplete": True, "query": {"pages": [shown]}})


def recorded(path: Path) -> list[Exchange]:
    """The exchanges of a file: a JSON list of {request, response}, packed or not."""
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [exchange(one["request"], one["response"]) for one in json.loads(text)]


def siteinfo(path: Path) -> Exchange:
    """The exchange of a file that holds nothing but the answer to ``meta=siteinfo``."""
    return Exchange({"meta": "siteinfo"}, path.read_bytes())


def live_reads(walk: Iterable[Exchange], ids: Iterable[int]) -> list[Exchange]:
    """The exchanges of live reads of many pages, fifty at a time in order of their ids."""
    recordings, left = list(walk), sorted(ids)
    return [live_read(recordings, *left[start : start + 50]) for start in range(0, len(left), 50)]


def live_read(walk: Iterable[Exchange], *ids: int) -> Exchange:
    """The exchange of a live read of some pages by id, put together from a recorded walk; others are missing."""
    known = _reported(walk)
    found = [known.get(page, {"pageid": page, "missing": True}) for page in ids]
    asked = {"pageids": "|".join(map(str, ids)), "prop": "extlinks|iwlinks|info", "ellimit": "500", "iwlimit": "500"}
    return exchange(asked, {"batchcomplete": True, "query": {"pages": found}})


def info_read(walk: Iterable[Exchange], *ids: int) -> Exchange:
    """The exchange of a question for the states of some pages, put together as `live_read` does."""
    known = _reported(walk)
    found = [_without_links(known.get(page, {"pageid": page, "missing": True})) for page in ids]
    asked = {"pageids": "|".join(map(str, ids)), "prop": "info"}
    return exchange(asked, {"batchcomplete": True, "query": {"pages": found}})


def info_walk(walk: Iterable[Exchange], namespace: int = 0, at_once: int = 500) -> list[Exchange]:
    """The exchanges of a walk over the states of all pages of a namespace, put together from a recorded walk."""
    pages = [_without_links(page) for page in _reported(walk).values() if page["ns"] == namespace]
    asked = {
        "generator": "allpages",
        "gapnamespace": str(namespace),
        "gapfilterredir": "nonredirects",
        "gaplimit": "500",
        "prop": "info",
    }
    return in_parts(asked, pages, at_once)


def in_parts(asked: dict[str, str], pages: Sequence[Mapping[str, Any]], at_once: int) -> list[Exchange]:
    """The exchanges of one question of which each answer tells so many pages; the continuation is a made-up one."""
    exchanges, going_on = [], dict[str, str]()
    for end in range(at_once, len(pages) + at_once, at_once):
        answer: dict[str, Any] = {"batchcomplete": True, "query": {"pages": pages[end - at_once : end]}}
        after = {"gapcontinue": str(end), "continue": "gapcontinue||"} if end < len(pages) else {}
        exchanges.append(exchange(asked | going_on, answer | ({"continue": after} if after else {})))
        going_on = after
    return exchanges or [exchange(asked, {"batchcomplete": True})]


def _reported(walk: Iterable[Exchange]) -> dict[int, dict[str, Any]]:
    """By id all that a recorded walk tells of pages, whose lists may come in several answers."""
    known: dict[int, dict[str, Any]] = {}
    for one in walk:
        if "generator" not in one.request:
            continue
        for shown in json.loads(one.body).get("query", {}).get("pages", ()):
            page = known.setdefault(shown["pageid"], {})
            for name, value in shown.items():
                page[name] = [*page.get(name, ()), *value] if isinstance(value, list) else value
    return known


def _without_links(page: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in page.items() if not isinstance(value, list)}


@asynccontextmanager
async def open_wiki_replay(exchanges: Iterable[Exchange]) -> AsyncIterator[WikiReplay]:
    """Serve the exchanges on a free port of 127.0.0.1; parameters match in any order, by GET or POST."""
    answers: dict[frozenset[tuple[str, str]], list[Exchange]] = {}
    for one in exchanges:
        answers.setdefault(_key(one.request), []).append(one)
    replay = WikiReplay("", [], [], [])

    async def answer(request: web.Request) -> web.Response:
        question = {name: str(value) for name, value in (await request.post() or request.query).items()}
        replay.asked.append(question)
        replay.agents.append(request.headers.get("User-Agent", ""))
        known = answers.get(_key(question))
        if not known:
            replay.unknown.append(question)
            return web.Response(status=400, text="not recorded")
        one = known.pop(0) if len(known) > 1 else known[0]
        return web.Response(
            status=one.status, body=one.body, headers={"Content-Type": "application/json", **one.headers}
        )

    application = web.Application()
    application.router.add_route("*", "/w/api.php", answer)
    async with open_application(application) as server:
        replay.url = f"{server}/w/api.php"
        yield replay


def _key(question: Mapping[str, str]) -> frozenset[tuple[str, str]]:
    # The main namespace is the walk's own default, so a recording need not name it.
    shown = {name: value for name, value in question.items() if name not in _HOW_NOT_WHAT}
    if shown.get("gapnamespace") == "0":
        del shown["gapnamespace"]
    return frozenset(shown.items())
