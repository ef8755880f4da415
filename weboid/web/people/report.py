"""``/report``: people report that a URL or its domain works by hand, undo that, or request a check (H, W-14).

Reports are stored by ``store/people/report``. Nothing is done but by a form of ours.
"""

from typing import Any, Final

from aiohttp import web
from markupsafe import Markup

from weboid.core.url.hosts import registrable_domain
from weboid.core.url.keys import key_of
from weboid.core.url.urls import Url
from weboid.store.db.pool import Connection
from weboid.store.db.rows import KnownUrl
from weboid.store.people import report as claims
from weboid.store.people.audit import Action
from weboid.store.urls.url import find_urls
from weboid.web.formats import html
from weboid.web.formats.link_view import link_view
from weboid.web.people.forms import LinkForms, back_address, record_action, require_allowed, unfit_words
from weboid.web.request.parameters import MOST_SHOWN, Parameters, only, url_of
from weboid.web.request.problem import Problem
from weboid.web.service import html_words
from weboid.web.words.messages import Messages

_URL, _DOMAIN = "url", "domain"
_DONE: Final = {
    "url": "weboid-report-done-url",
    "domain": "weboid-report-done-domain",
    "removed": "weboid-report-done-removed",
    "check": "weboid-report-done-check",
}
"""The message after a form, by the value of ``done`` in the address."""


class ReportPage(LinkForms):
    """Forms of reports."""

    route, typed = "report", "extent"

    async def _page(self, request: web.Request, given: Parameters, refused: Problem | None = None) -> web.Response:
        service, sessions = self._service, self._service.sessions
        say = html_words(request, given)
        url = url_of(given)
        values: dict[str, Any] = {
            "normal": str(url),
            "domain": registrable_domain(url.host),
            "query": html.query(_place(given, url)),
            "tokens": {name: await sessions.form_token(request, name) for name in ("report", "remove", "check")},
        }
        day = service.today()
        async with service.pool.connection() as conn:
            known = _watched((await find_urls(conn, [key_of(url)])).get(key_of(url)), url)
            reports = {
                _URL: await claims.find_report(conn, known.key, day),
                _DOMAIN: await claims.find_domain_report(conn, registrable_domain(url.host), day),
            }
        member = await sessions.member(request)
        unfit = unfit_words(service, member, say)
        values |= {
            "link": link_view(service.report(known), day, say),
            "claims": {what: _claim(what, report, url, day, say) for what, report in reports.items() if report},
            "done": _done(given, known, reports, day),
            "is_dead": self._is_dead(known),
            "is_signed_in": member is not None,
            "unfit": unfit,
            "back": back_address(given),
            "check": _check_state(known, day),
        }
        return await service.form_html(request, "report.html", given, say, refused=refused, **values)

    async def report(self, request: web.Request) -> web.Response:
        """Takes the report that a URL or its domain works by hand (H-1)."""
        given = await self._service.posted(request, "report")
        return await self._after(request, given, self._report(request, given))

    async def _report(self, request: web.Request, given: Parameters) -> str:
        service = self._service
        person = await service.sessions.require_person(request)
        url, day = url_of(given), service.today()
        domain = registrable_domain(url.host)
        action = {_URL: Action.REPORT, _DOMAIN: Action.REPORT_DOMAIN}.get(given.get("extent", _URL))
        if action is None:
            raise Problem(400, "extent")
        async with service.pool.connection() as conn:
            await require_allowed(conn, action, person, daily=self._daily)
            known = await _find_locked(conn, url)
            if not self._is_dead(known):
                raise Problem(409, "not-dead")
            if action is Action.REPORT_DOMAIN:
                await claims.record_domain_report(conn, domain, day, person.subject, person.name)
                await record_action(conn, action, person, domain, str(url))
            else:
                is_half = await claims.record_report(conn, known, day, person.subject, person.name)
                await record_action(conn, action, person, str(url), domain if is_half else "")
        return given.get("extent", _URL)

    async def remove(self, request: web.Request) -> web.Response:
        """Removes such reports, for anybody, signed in or not (H-1, H-4)."""
        given = await self._service.posted(request, "remove")
        return await self._after(request, given, self._remove(request, given))

    async def _remove(self, request: web.Request, given: Parameters) -> str:
        service = self._service
        person = await service.sessions.person(request)
        url = url_of(given)
        domain = registrable_domain(url.host)
        async with service.pool.connection() as conn:
            match given.get("extent", _URL):
                case "url":
                    await require_allowed(conn, Action.REMOVE_REPORT, person, daily=self._daily)
                    if await claims.delete_reports(conn, [key_of(url)]):
                        await record_action(conn, Action.REMOVE_REPORT, person, str(url))
                case "domain":
                    await require_allowed(conn, Action.REMOVE_DOMAIN_REPORT, person, daily=self._daily)
                    if await claims.delete_domain_report(conn, domain):
                        await record_action(conn, Action.REMOVE_DOMAIN_REPORT, person, domain)
                case _:
                    raise Problem(400, "extent")
        return "removed"

    async def check(self, request: web.Request) -> web.Response:
        """Makes a URL due at once, for somebody who has signed in (W-14)."""
        given = await self._service.posted(request, "check")
        return await self._after(request, given, self._check(request, given))

    async def _check(self, request: web.Request, given: Parameters) -> str:
        service = self._service
        person = await service.sessions.require_person(request)
        url, day = url_of(given), service.today()
        async with service.pool.connection() as conn:
            await require_allowed(conn, Action.CHECK, person, daily=self._daily)
            known = await _find_locked(conn, url)
            if known.next_check is None:
                raise Problem(409, "never-checked")
            if not await claims.record_check_now(conn, known, day):
                raise Problem(409, "asked-today")
            await record_action(conn, Action.CHECK, person, str(url))
        return "check"

    def _place(self, given: Parameters) -> dict[str, str]:
        return _place(given, url_of(given))


async def _find_locked(conn: Connection, url: Url) -> KnownUrl:
    return _watched(await claims.find_locked_url(conn, key_of(url)), url)


def _watched(known: KnownUrl | None, url: Url) -> KnownUrl:
    """The URL if a page uses it; raises Problem otherwise, as people cannot add URLs (U-9)."""
    if known is None or known.orphaned is not None:
        raise Problem(404, "unknown-url", str(url)[:MOST_SHOWN])
    return known


def _claim(what: str, report: claims.Report, url: Url, day: int, say: Messages) -> Markup:
    """The words for a report and its day; who made it is shown to administrators only."""
    when = html.time_html(report.day, day, say)
    if what == _URL:
        return say.html("weboid-report-claim-url", when)
    domain = Markup('<bdi dir="ltr">{}</bdi>').format(registrable_domain(url.host))
    if report.subject is None:
        return say.html("weboid-report-claim-half", when, domain)
    return say.html("weboid-report-claim-domain", when, domain)


def _check_state(known: KnownUrl, day: int) -> str:
    if known.record.checked is not None and known.record.checked >= day:
        return "checked"
    if known.next_check is None:
        return "never"
    return "due" if known.next_check <= day else "open"


def _done(given: Parameters, known: KnownUrl, reports: dict[str, claims.Report | None], day: int) -> str | None:
    """The message key of the result of a form, only if it is true: a made-up address must not make a page show it."""
    match given.get("done"):
        case "url" | "domain" as what:
            report = reports[what]
            is_so = report is not None and (report.day == day or report.subject is None)
        case "removed":
            is_so = None in reports.values()
        case "check":
            is_so = known.next_check is not None and known.next_check <= day
        case _:
            is_so = False
    return _DONE[given["done"]] if is_so else None


def _place(given: Parameters, url: Url) -> dict[str, str]:
    return {"url": str(url), **only(given, "dbname", "pageid", "lang")}
