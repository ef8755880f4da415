"""``/replacement``: lists, takes and removes what people suggest instead of a dead link (A-4, H-4).

Whether a suggestion works is checked by ``archive/visits``; what is shown alongside the link everywhere else comes
from ``store/urls/details``. As on the page of a URL, a link is shown only to people who have sent a form
of ours (W-5).
A target is refused if people could not be sent to it.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, Final

from aiohttp import web
from markupsafe import Markup

from weboid.core.url.archives import BY_NUMBER, Snapshot, snapshot_of
from weboid.core.url.classify import UrlClass, classify
from weboid.core.url.farms import Farm
from weboid.core.url.hosts import InvalidUrl, is_ip
from weboid.core.url.keys import key_of
from weboid.core.url.spellings import is_other_page
from weboid.core.url.urls import MAX_URL, Url, parse
from weboid.net.guard import BAD_PORTS, is_public
from weboid.store.people.audit import Action
from weboid.store.people.replacement import (
    PLAIN,
    Replacement,
    delete_replacement,
    find_replacements,
    record_replacement,
)
from weboid.store.people.report import find_locked_url
from weboid.store.urls.url import find_urls
from weboid.web.formats import html
from weboid.web.formats.link_view import link_view
from weboid.web.identity.session import Person
from weboid.web.people.forms import LinkForms, back_address, record_action, require_allowed, unfit_words
from weboid.web.request.parameters import MOST_SHOWN, Parameters, only, url_of, wiki_of
from weboid.web.request.problem import Problem
from weboid.web.service import html_words
from weboid.web.words.messages import Messages
from weboid.web.words.phrases import visible

_SUGGEST: Final = "replacement"
_REMOVE: Final = "replacement-remove"
_PLACE: Final = ("url", "dbname", "pageid", "lang")
_HTTP: Final = re.compile(r"https?://[^/?#@]+(?:[/?#]|$)", re.IGNORECASE)
"""With its scheme, and without user information, which could be mistaken for the host."""


@dataclass(frozen=True, slots=True)
class Fit:
    """A target that may be requested: in normal form, with the number of its archive or `PLAIN`."""

    target: Url
    archive: int


def fit_target(text: str, url: Url, farms: Iterable[Farm]) -> Fit:
    """The target that is suggested for `url`; raises a Problem that names the fault."""
    try:
        target = parse(text)
    except InvalidUrl:
        target = None
    if target is None or not _HTTP.match(text):
        raise Problem(400, "replacement-target", text[:MOST_SHOWN])
    kinds = [classify(text, farm) for farm in (None, *farms)]
    if kinds[0].note:
        raise Problem(400, "replacement-target", text[:MOST_SHOWN])
    if any(each.kind is UrlClass.OWN_FARM for each in kinds):
        raise Problem(400, "replacement-own", str(target)[:MOST_SHOWN])
    if kinds[0].kind is not UrlClass.WATCHED or not _is_public(target):
        raise Problem(400, "replacement-private", str(target)[:MOST_SHOWN])
    if target == url:
        raise Problem(400, "replacement-same")
    snapshot = snapshot_of(str(target))
    if snapshot is None:
        return Fit(target, PLAIN)
    _require_copy(snapshot, url)
    return Fit(target, snapshot.archive.number)


def _is_public(target: Url) -> bool:
    return target.port not in BAD_PORTS - {0} and (not is_ip(target.host) or is_public(ip_address(target.host)))


def _require_copy(snapshot: Snapshot, url: Url) -> None:
    """Raises Problem unless it is one copy of this URL, in an archive to which people may be sent (A-2)."""
    if not snapshot.archive.is_offered:
        raise Problem(400, "replacement-archive", snapshot.archive.title)
    if snapshot.original is None or snapshot.taken is None:
        raise Problem(400, "replacement-short", snapshot.archive.title)
    if is_other_page(str(snapshot.original), url):
        raise Problem(400, "replacement-other", str(snapshot.original)[:MOST_SHOWN], str(url)[:MOST_SHOWN])


class ReplacementPage(LinkForms):
    """Forms of replacements."""

    route, typed = "replacement", "target"

    async def suggest(self, request: web.Request) -> web.Response:
        """Records a suggestion of somebody who has signed in."""
        sessions = self._service.sessions
        given = await self._service.posted(request, _SUGGEST)
        await sessions.note_interactive(request)
        return await self._after(request, given, self._record(request, given))

    async def remove(self, request: web.Request) -> web.Response:
        """Deletes a suggestion, for anybody, signed in or not."""
        sessions = self._service.sessions
        given = await self._service.posted(request, _REMOVE)
        person = await sessions.person(request)
        await sessions.note_interactive(request)
        return await self._after(request, given, self._delete(given, person))

    async def _record(self, request: web.Request, given: Parameters) -> str:
        person, url = await self._service.sessions.require_person(request), url_of(given)
        if "target" not in given:
            raise Problem(400, "replacement-none")
        fit = fit_target(given["target"], url, self._service.answers.wikis.farms)
        target, key, day = str(fit.target), key_of(url), self._service.today()
        async with self._service.pool.connection() as conn:
            await require_allowed(conn, Action.REPLACE, person, daily=self._daily)
            known = await find_locked_url(conn, key)
            if known is None:
                raise Problem(404, "unknown-url", str(url)[:MOST_SHOWN])
            if not self._is_dead(known):
                raise Problem(409, "replacement-not-dead", str(url)[:MOST_SHOWN])
            other = (await find_urls(conn, [key_of(fit.target)])).get(key_of(fit.target))
            if other is not None and self._is_dead(other):
                raise Problem(400, "replacement-dead", target[:MOST_SHOWN])
            if await record_replacement(
                conn, key, archive=fit.archive, target=target, day=day, subject=person.subject, name=person.name
            ):
                await record_action(conn, Action.REPLACE, person, str(url), target)
        return "kept"

    async def _delete(self, given: Parameters, person: Person | None) -> str:
        url, target = url_of(given), given.get("target", "")
        archive = {str(number): number for number in (PLAIN, *BY_NUMBER)}.get(given.get("archive", ""))
        if archive is None:
            raise Problem(400, "request")
        async with self._service.pool.connection() as conn:
            await require_allowed(conn, Action.REMOVE_REPLACEMENT, person, daily=self._daily)
            if await delete_replacement(conn, key_of(url), archive=archive, target=target):
                await record_action(conn, Action.REMOVE_REPLACEMENT, person, str(url), target)
        return "removed"

    async def _page(self, request: web.Request, given: Parameters, refused: Problem | None = None) -> web.Response:
        service, sessions = self._service, self._service.sessions
        say, url, day = html_words(request, given), url_of(given), self._service.today()
        if "dbname" in given:
            wiki_of(await service.named(given))
        async with service.pool.connection() as conn:
            known = (await find_urls(conn, [key_of(url)])).get(key_of(url))
            if known is None:
                raise refused or Problem(404, "unknown-url", str(url)[:MOST_SHOWN])
            suggestions = await find_replacements(conn, known.key)
        member = await sessions.member(request)
        here = html.query(self._place(given))
        values = {
            "link": link_view(service.report(known), day, say),
            "is_dead": self._is_dead(known),
            "suggestions": [_view(each, day, say) for each in suggestions],
            "about": here,
            "back": back_address(given),
            "is_signed_in": member is not None,
            "unfit": unfit_words(service, member, say),
            "token": await sessions.form_token(request, _SUGGEST),
            "remove_token": await sessions.form_token(request, _REMOVE),
            "done": _done(given, suggestions, day),
            "most": MAX_URL,
        }
        return await service.form_html(request, "replacement.html", given, say, refused=refused, **values)

    def _place(self, given: Parameters) -> dict[str, str]:
        return only(given, *_PLACE)


def _view(suggestion: Replacement, day: int, say: Messages) -> dict[str, Any]:
    checked = "" if suggestion.asked is None else html.time_html(suggestion.asked, day, say)
    if suggestion.works:
        state = say.html("weboid-replacement-works", checked)
    elif suggestion.asked is None:
        state = say.html("weboid-replacement-waiting")
    else:
        state = say.html("weboid-replacement-failing", checked, suggestion.strikes)
    archive = BY_NUMBER.get(suggestion.archive)
    return {
        "archive": suggestion.archive,
        "kind": say.html("weboid-replacement-plain")
        if archive is None
        else say.html("weboid-replacement-copy", archive.title),
        # People are sent only to what was checked and works.
        "address": html.address_html(suggestion.target) if suggestion.works else None,
        "target": suggestion.target,
        "state": state,
        "day": _day_words(suggestion, day, say),
    }


def _day_words(suggestion: Replacement, day: int, say: Messages) -> Markup:
    """The day of the suggestion; of a copy also the name of the person, as on all pages."""
    when = html.time_html(suggestion.day, day, say)
    if suggestion.archive == PLAIN:
        return say.html("weboid-replacement-day", when)
    return say.html("weboid-copy-chosen-by", Markup("<bdi>{}</bdi>").format(visible(suggestion.name)), when)


def _done(given: Parameters, suggestions: Iterable[Replacement], day: int) -> str | None:
    """The result of a form, only if it can be true: a made-up address must not make a page show it."""
    match given.get("done"):
        case "kept" if any(each.day == day for each in suggestions):
            return "kept"
        case "removed":
            return "removed"
        case _:
            return None
