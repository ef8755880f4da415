"""``/repair/WIKI/PAGE/REVISION``: the edit that saved a repair of this revision, why it was made, and what was wrong.

Summaries of such edits link here. What an edit changed is read from its wiki; an error that somebody reports freezes
the link for bots there until an administrator has looked at it, as do reverts (B-6).
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from aiohttp import web

from weboid.core.record.days import day_of
from weboid.core.url.keys import UrlKey, key_of
from weboid.core.url.urls import parse
from weboid.core.verdict.report_json import RevertReason
from weboid.core.verdict.verdict import Finding
from weboid.store.archives.wiki_settings import find_settings
from weboid.store.people.audit import Action
from weboid.store.people.revert import StatedRevert, record_revert
from weboid.store.urls.check import list_verdicts_on
from weboid.store.urls.url import find_urls
from weboid.web.formats import html
from weboid.web.formats.link_view import link_view
from weboid.web.http.respond import see_other
from weboid.web.pages.page_view import index_address
from weboid.web.people.forms import account_address, record_action, require_allowed, unfit_words
from weboid.web.repair.saved_edit import RepairedRevision, SavedEdit, find_edit
from weboid.web.request.cursor import PAGES
from weboid.web.request.parameters import MOST_SHOWN, Parameters, only, page_query_of, url_of
from weboid.web.request.problem import Problem
from weboid.web.service import Service, given_in, html_words
from weboid.web.words.messages import Messages
from weboid.web.words.phrases import visible, visible_lines

_PURPOSE: Final = "repaired-error"
_REASONS: Final[Mapping[str, str]] = {
    RevertReason.LINK_WORKS.value: "weboid-repaired-why-link-works",
    RevertReason.WRONG_COPY.value: "weboid-repaired-why-wrong-copy",
    RevertReason.UNKNOWN.value: "weboid-repaired-why-unknown",
}


class RepairedPages:
    """The page and its form; `daily` is how many reports all people together may make a day (H-2)."""

    def __init__(self, service: Service, daily: int) -> None:
        self._service = service
        self._daily = daily

    async def page(self, request: web.Request) -> web.Response:
        """The edit with what its texts show, or that there is none."""
        given = given_in(request)
        names = request.match_info
        place = {"dbname": names["wiki"], "pageid": names["page"], "revid": names["revision"]}
        return await self._page(request, {**given, **place})

    async def report(self, request: web.Request) -> web.Response:
        """Takes the report that the repair of a link was wrong (H-1); the link is frozen on that wiki."""
        given = await self._service.posted(request, _PURPOSE)
        try:
            place = await self._report(request, given)
        except Problem as problem:
            if problem.http in (400, 401, 403):
                raise
            return await self._page(request, given, problem)
        return see_other(f"{place.address}{html.query(only(given, 'lang')) if 'lang' in given else ''}")

    async def _report(self, request: web.Request, given: Parameters) -> RepairedRevision:
        service = self._service
        person = await service.sessions.require_person(request)
        url, place = url_of(given), await self._place(given)
        if given.get("why") not in _REASONS:
            raise Problem(400, "revert-why", ", ".join(_REASONS))
        saved = await find_edit(service.answers, service.repairs, place)
        if saved is None or str(url) not in saved.seen.links:
            raise Problem(409, "not-repaired", str(url)[:MOST_SHOWN])
        key, day = key_of(url), service.today()
        stated = StatedRevert(
            *(key, place.wiki.wiki, place.page, saved.edit.revision, given["why"], person.name, ""), person.subject
        )
        async with service.pool.connection() as conn:
            await require_allowed(conn, Action.REPORT_REPAIR, person, daily=self._daily)
            if (found := await record_revert(conn, stated, day)) is None:
                raise Problem(404, "not-watched", str(url)[:MOST_SHOWN], str(place.name))
            if found[1]:
                detail = f"{place.name} {place.page} {saved.edit.revision} {given['why']}"
                await record_action(conn, Action.REPORT_REPAIR, person, str(url), detail)
        await service.kept.drop([key])
        return place

    async def _place(self, given: Parameters) -> RepairedRevision:
        given = await self._service.named(given)
        query = page_query_of(given, 1)
        if query.revision is None or not query.ids or query.ids[0] not in PAGES:
            raise Problem(400, "revid")
        _, wiki = await self._service.find_wiki(given)
        return RepairedRevision(query.wiki, wiki, query.ids[0], query.revision)

    async def _page(self, request: web.Request, given: Parameters, refused: Problem | None = None) -> web.Response:
        service, say, day = self._service, html_words(request, given), self._service.today()
        place = await self._place(given)
        saved = await find_edit(service.answers, service.repairs, place)
        index = index_address(place.wiki)
        values: dict[str, Any] = {
            "place": {"dbname": str(place.name), "pageid": place.page, "revid": place.revision},
            "old": f"{index}?oldid={place.revision}" if index else None,
            "edit": None,
            "links": [],
            "pieces": [],
        }
        if saved is not None:
            values |= await self._edit_values(request, given, place, saved, index, day, say)
        return await service.form_html(request, "repaired.html", only(given, "lang"), say, refused=refused, **values)

    async def _edit_values(
        self,
        request: web.Request,
        given: Parameters,
        place: RepairedRevision,
        saved: SavedEdit,
        index: str | None,
        day: int,
        say: Messages,
    ) -> dict[str, Any]:
        service, edit = self._service, saved.edit
        saved_on = _day_of_moment(edit.moment)
        keys = {key_of(parse(url)): url for url in saved.seen.links}
        async with service.pool.reading() as conn:
            settings = await find_settings(conn, place.wiki.wiki)
            known = await find_urls(conn, sorted(keys), place.wiki.wiki)
            then = {} if saved_on is None else await list_verdicts_on(conn, sorted(keys), saved_on)
        member = await service.sessions.member(request)
        unfit = unfit_words(service, member, say)
        links = []
        for key, url in keys.items():
            report = service.report(known[key], settings) if key in known else None
            links.append(
                {
                    "normal": url,
                    "view": None if report is None else link_view(report, day, say),
                    "then": _then_words(then, key, saved_on, say),
                    "is_frozen": report is not None and report.is_frozen,
                    "query": html.url_query(str(place.name), url, given.get("lang")),
                }
            )
        return {
            "edit": {
                "user": visible(edit.user),
                "when": None if saved_on is None else html.time_html(saved_on, day, say),
                "comment": visible(edit.comment),
                "diff": f"{index}?diff={edit.revision}" if index else None,
            },
            "links": links,
            "pieces": [tuple(map(visible_lines, piece)) for piece in saved.seen.pieces],
            "reasons": [(why, say.html(key)) for why, key in _REASONS.items()],
            "is_fit": member is not None and unfit is None,
            "unfit": unfit,
            "account": account_address(given, place.address),
            "token": await service.sessions.form_token(request, _PURPOSE),
        }


def _day_of_moment(moment: str) -> int | None:
    """The day of a moment as MediaWiki writes it; None of anything else."""
    try:
        return day_of(datetime.fromisoformat(moment))
    except ValueError:
        return None


def _then_words(then: dict[UrlKey, Finding], key: UrlKey, saved_on: int | None, say: Messages) -> str | None:
    """The verdict on a link when the edit was saved, as the log has it."""
    if saved_on is None or (finding := then.get(key)) is None or finding.since is None:
        return None
    words = say.text(f"weboid-verdict-{finding.verdict.word}")
    if finding.reason is not None:
        words = say.text("weboid-words", words, say.text(f"weboid-reason-{finding.reason.word}"))
    return say.text("weboid-repaired-then", words, say.date(finding.since))
