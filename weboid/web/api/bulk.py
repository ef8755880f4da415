"""``/api/pages``: whole namespaces and categories of a wiki, part by part, for trusted clients (W-9).

One law: a part is bounded, and a client that follows `next` gets each page that exists during the whole time.
"""

import re
from dataclasses import dataclass
from typing import Final

from aiohttp import web

from weboid.core.verdict.link_report import Extent
from weboid.store.db.pool import Connection
from weboid.store.pages.page import StoredPage, list_pages, list_pages_of_namespace
from weboid.store.pages.wiki import StoredWiki
from weboid.web.answer.answers import PageAnswer
from weboid.web.answer.payload import payload_of
from weboid.web.http.tokens import client_of
from weboid.web.request.accept import Format
from weboid.web.request.cursor import PAGES, Cursor
from weboid.web.request.parameters import Parameters, extent_of, title_of, verdicts_of
from weboid.web.request.problem import Problem
from weboid.web.request.route import format_of
from weboid.web.service import Service, given_in, machine_words

ROWS: Final = 50
_NAMESPACE: Final = re.compile(r"[0-9]{1,5}")
_AFTER_TITLE: Final = Cursor(PAGES, text=r"[^\x00]{1,300}")
_AFTER_MEMBER: Final = Cursor(text="[!-~]{1,1000}")
"""The wiki's own cursor, which is sent back to it."""
_PREFIX: Final = "category:"


@dataclass(frozen=True, slots=True)
class Part:
    """Some pages; `next` is the cursor of the part after them, `missing` are the ids of pages that are not watched."""

    pages: list[StoredPage]
    missing: list[int]
    next: str | None


class BulkPages:
    def __init__(self, service: Service) -> None:
        self._service = service

    async def pages(self, request: web.Request) -> web.Response:
        """The stored answers of fifty pages of a namespace or category."""
        require_trusted(request)
        given = given_in(request)
        say = machine_words(given)
        is_xml = format_of(request) is Format.XML
        extent, verdicts = extent_of(given, Extent.FINDINGS if is_xml else Extent.DEAD), verdicts_of(given)
        name, wiki = await self._service.find_wiki(given)
        part = await find_part(self._service, wiki, given, limit=ROWS)
        async with self._service.pool.connection() as conn:
            reports = await self._service.answers.list_reports(conn, name, wiki, part.pages)
        answer = PageAnswer(wiki, tuple(reports), tuple(map(str, part.missing)), self._service.today())
        payload = payload_of(answer, extent, say, self._service.source, verdicts)
        return self._service.send_payload(request, {**payload, "wiki": str(name), "next": part.next})


def require_trusted(request: web.Request) -> str:
    """The name of the trusted client that sent the request; raises Problem for all others."""
    if (client := client_of(request)) is None:
        raise Problem(403, "trusted")
    return client


async def find_part(service: Service, wiki: StoredWiki, given: Parameters, *, limit: int) -> Part:
    """The watched pages of the given namespace or category that come after the cursor ``after``; raises Problem.

    `limit` is at most 500.
    """
    if ("namespace" in given) == ("category" in given):
        raise Problem(400, "whole")
    if "category" in given:
        return await _part_of_category(service, wiki, given, limit)
    if not _NAMESPACE.fullmatch(given["namespace"]):
        raise Problem(400, "namespace")
    spot = _spot_of(given)
    async with service.pool.connection() as conn:
        pages = await list_pages_of_namespace(conn, wiki.wiki, int(given["namespace"]), after=spot, limit=limit + 1)
    part = pages[:limit]
    return Part(part, [], _AFTER_TITLE.text_of(part[-1].page, part[-1].title) if len(pages) > limit else None)


def category_of(given: Parameters) -> str:
    """The category that is given, without the prefix ``Category:`` if it has one; raises Problem."""
    try:
        category = title_of(given["category"])
        return title_of(category[len(_PREFIX) :]) if category.lower().startswith(_PREFIX) else category
    except Problem:
        raise Problem(400, "category") from None


async def _part_of_category(service: Service, wiki: StoredWiki, given: Parameters, limit: int) -> Part:
    category, after = category_of(given), _AFTER_MEMBER.parts_in(given)
    place = after.text if after else ""
    members = await service.answers.live.list_members(wiki, category, place=place, limit=limit)
    if members is None:
        raise Problem(503, "wiki-silent")
    async with service.pool.connection() as conn:
        pages = await _in_order(conn, wiki, members.pages)
    known = {page.page for page in pages}
    return Part(pages, [page for page in members.pages if page not in known], members.place or None)


async def _in_order(conn: Connection, wiki: StoredWiki, ids: tuple[int, ...]) -> list[StoredPage]:
    """Those of the pages that are watched, in the order of the ids."""
    found = await list_pages(conn, wiki.wiki, [page for page in ids if page in PAGES])
    by_id = {page.page: page for page in found}
    return [by_id[page] for page in ids if page in by_id]


def _spot_of(given: Parameters) -> tuple[str, int]:
    parts = _AFTER_TITLE.parts_in(given)
    return ("", 0) if parts is None else (parts.text, parts.numbers[0])
