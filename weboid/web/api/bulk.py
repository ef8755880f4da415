"""``/api/pages``: whole namespaces and categories of a wiki, part by part, for trusted clients (W-9).

A part is bounded, and a client that follows `next` gets each page that exists during the whole time.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Final, NamedTuple

from aiohttp import web

from weboid.core.url.farms import WikiName
from weboid.core.verdict.link_report import Extent, LinkPart
from weboid.mechanism.slices import in_slices
from weboid.store.pages.stored_page import ListedPage, list_pages, list_pages_of_namespace
from weboid.store.pages.wiki import StoredWiki
from weboid.web.answer.page import payload_steps
from weboid.web.answer.query import MOST_LINKS, LinkPager, SelectedLinks, find_stored_parts, stored_page
from weboid.web.formats.machine_format import payload_format
from weboid.web.http.respond import sent
from weboid.web.http.tokens import client_of
from weboid.web.request.accept import Format
from weboid.web.request.cursor import PAGES, Cursor
from weboid.web.request.parameters import BEGIN, Bookmark, LinkFilter, Parameters, category_of, extent_of, verdicts_of
from weboid.web.request.problem import Problem
from weboid.web.request.route import format_of
from weboid.web.request.work import LINKS
from weboid.web.service import Service, ServiceHandlers, given_in, machine_words
from weboid.wiki.source import Members

ROWS: Final = 50
_ALL: Final = 1_000_000
_NAMESPACE: Final = re.compile(r"[0-9]{1,5}")
_OFFSETS: Final = range(10**7)
_REVISIONS: Final = range(2**63)
_AFTER_TITLE: Final = Cursor(PAGES, text=r"[^\x00]{1,300}")
_IN_TITLE: Final = Cursor(PAGES, _OFFSETS, _REVISIONS, text=r"[0-9a-f]{1,8}\|[^\x00]{1,300}")
"""Within a page with many links; no title has a ``|``."""
_AFTER_MEMBER: Final = Cursor(text="[!-~]{1,1000}")
"""The wiki's own cursor, which is sent back to it."""
_IN_MEMBER: Final = Cursor(PAGES, _OFFSETS, _REVISIONS, text=r"[0-9a-f]{1,8}\|[!-~]{0,1000}")
"""Within a page with many links, which is the first one after the wiki's own cursor."""
_TRIES: Final = 4
"""Categories change between the queries for their pages."""


@dataclass(frozen=True, slots=True)
class Part:
    """Some pages; `next` is the cursor of the part after them, `missing` are the ids of pages that are not watched.

    The first page begins at `begin`; `anchor` is the end of the cursor that lies in it.
    """

    pages: list[ListedPage]
    missing: list[int]
    next: str | None
    begin: Bookmark
    anchor: str


class _Within(NamedTuple):
    """The beginning of a part in the middle of a page."""

    page: int
    begin: Bookmark
    anchor: str


class BulkPages(ServiceHandlers):
    async def pages(self, request: web.Request) -> web.Response:
        """The stored answers of some pages of a namespace or category."""
        require_trusted(request)
        given = given_in(request)
        say = machine_words(given)
        wanted = format_of(request)
        extent = extent_of(given, Extent.DEAD if wanted is Format.JSON else Extent.FINDINGS)
        shown = LinkFilter(extent, verdicts_of(given))
        writer, answers, source = payload_format(wanted), self._service.answers, self._service.source
        name, wiki = await self._service.find_wiki(given)
        part = await find_part(self._service, wiki, given, limit=ROWS, most_links=MOST_LINKS)
        selected, cut = await self._selected(name, part)
        request[LINKS] = selected.links
        answer = await answers.report(await answers.look_up(selected, extent), extent)
        payload = await in_slices(payload_steps(answer, shown, say, source))
        payload |= {"wiki": str(name), "next": cut or part.next}
        body = await in_slices(writer.steps(payload))
        return sent(request, body, writer.content_type, vary="Accept")

    async def _selected(self, name: WikiName, part: Part) -> tuple[SelectedLinks, str | None]:
        """The links of the pages, and the cursor within the first one if it was cut."""
        wiki, farm = await self._service.answers.wikis.find(name)
        pager, pages, cut = LinkPager(part.begin), [], None
        async with self._service.pool.viewing() as conn:
            for index, listed in enumerate(part.pages):
                # Only the first page may have more links than fit; another one that has grown meanwhile is sent whole.
                limit = _ALL if index else pager.left
                parts = await find_stored_parts(conn, wiki, pager, index, [listed.page], limit)
                if (stored := parts.get(listed.page)) is None:
                    continue
                if index:
                    span = LinkPart(0, stored.total, stored.total)
                else:
                    span = pager.select(index, stored.total, stored.page.latest, partial(getattr, stored, "check"))
                pages.append(stored_page(stored, span, wiki))
        if pager.cut is not None:
            cut = _IN_TITLE.text_of(
                part.pages[0].page, pager.cut.offset, pager.cut.revision, f"{pager.cut.check}|{part.anchor}"
            )
        missing = tuple(map(str, part.missing))
        return SelectedLinks(name, wiki, farm, self._service.today(), tuple(pages), missing), cut


def require_trusted(request: web.Request) -> str:
    """The name of the trusted client that sent the request; raises Problem for all others."""
    if (client := client_of(request)) is None:
        raise Problem(403, "trusted")
    return client


async def find_part(
    service: Service, wiki: StoredWiki, given: Parameters, *, limit: int, most_links: int = _ALL
) -> Part:
    """The watched pages of the given namespace or category that come after the cursor ``after``; raises Problem.

    `limit` is at most 500. They have at most `most_links` links, unless it is a single page.
    """
    if ("namespace" in given) == ("category" in given):
        raise Problem(409, "whole")
    if "category" in given:
        return await _part_of_category(service, wiki, given, limit, most_links)
    if not _NAMESPACE.fullmatch(given["namespace"]):
        raise Problem(400, "namespace")
    within = _within(_IN_TITLE, given)
    if within is not None:
        spot = within.anchor, within.page - 1
    else:
        parts = _AFTER_TITLE.parts_in(given)
        spot = ("", 0) if parts is None else (parts.text, parts.numbers[0])
    async with service.pool.viewing() as conn:
        pages = await list_pages_of_namespace(conn, wiki.wiki, int(given["namespace"]), after=spot, limit=limit + 1)
    part = pages[: _fitting(pages[:limit], most_links)]
    after = _AFTER_TITLE.text_of(part[-1].page, part[-1].title) if len(part) < len(pages) else None
    return Part(part, [], after, _begin(within, part), part[0].title if part else "")


async def _part_of_category(service: Service, wiki: StoredWiki, given: Parameters, limit: int, most_links: int) -> Part:
    category, within = category_of(given), _within(_IN_MEMBER, given)
    if within is not None:
        place = within.anchor
    else:
        after = _AFTER_MEMBER.parts_in(given)
        place = after.text if after else ""
    members, by_id = await _members(service, wiki, category, place, limit)
    for _ in range(_TRIES):
        listed = [by_id.get(page) or ListedPage(page, "", 0) for page in members.pages]
        if (fitting := _fitting(listed, most_links)) == len(listed):
            break
        # The wiki says where it goes on after those that fit.
        members, by_id = await _members(service, wiki, category, place, fitting)
    pages = [by_id[page] for page in members.pages if page in by_id]
    missing = [page for page in members.pages if page not in by_id]
    return Part(pages, missing, members.place or None, _begin(within, pages), place)


async def _members(
    service: Service, wiki: StoredWiki, category: str, place: str, limit: int
) -> tuple[Members, dict[int, ListedPage]]:
    """Members of a category, and the watched pages among them."""
    members = await service.answers.live.list_members(wiki, category, place=place, limit=limit)
    if members is None:
        raise Problem(503, "wiki-silent")
    async with service.pool.viewing() as conn:
        found = await list_pages(conn, wiki.wiki, [page for page in members.pages if page in PAGES])
    return members, {page.page: page for page in found}


def _fitting(pages: Sequence[ListedPage], most_links: int) -> int:
    """The number of pages that have at most so many links together; at least one."""
    links = list(accumulate(page.links for page in pages))
    return max(bisect_right(links, most_links), min(len(pages), 1))


def _within(cursor: Cursor, given: Parameters) -> _Within | None:
    parts = cursor.parts_of(given.get("after", ""))
    if parts is None:
        return None
    page, offset, revision = parts.numbers
    check, _, anchor = parts.text.partition("|")
    return _Within(page, Bookmark(0, offset, revision, check), anchor)


def _begin(within: _Within | None, pages: Sequence[ListedPage]) -> Bookmark:
    """The beginning of the first page: in its middle only if it is the page that was cut."""
    return within.begin if within is not None and pages and pages[0].page == within.page else BEGIN
