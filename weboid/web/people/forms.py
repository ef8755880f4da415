"""Forms of people: addresses, limits (H-2) and blocks as problems, the audit log, and pages about one link."""

import re
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import ClassVar, Final, assert_never

from aiohttp import web
from markupsafe import Markup

from weboid.core.verdict.verdict import Verdict, finding_of
from weboid.store.db.pool import Connection
from weboid.store.db.rows import KnownUrl
from weboid.store.people.audit import NOBODY, Action, Refusal, find_refusal, record_audit
from weboid.web.http.respond import see_other
from weboid.web.identity.member import Member
from weboid.web.identity.session import Person
from weboid.web.pages.url_form import UrlForm
from weboid.web.request.parameters import Parameters, only
from weboid.web.request.problem import Problem
from weboid.web.request.route import address_of
from weboid.web.service import Service, given_in
from weboid.web.words.messages import Messages

_MINUTE_S = 60
_DAY_S = 3600
_SIGN_IN: Final = "weboid-error-sign-in"
# No "//", no "/\", no dot segments, no other characters than an address of ours may have.
_LOCAL: Final = re.compile(r"(?:/(?=[\w@~%+-])[\w@~%+.-]*)*/?(?:\?[\w@~%+./:;,=&?!$'()*-]*)?", re.ASCII)
_MOST_LOCAL: Final = 1_500
"""Characters: the session with it must fit into a cookie, of which browsers keep 4,096."""

Lead = Callable[[web.Request, Parameters, str], Awaitable[web.Response]]
"""Leads somebody to sign in, and then to an address of ours: `AccountPage.lead`."""


class LinkForms(ABC):
    """A page about one link with forms for people; `daily` is how many reports and suggestions all people together may
    make a day (H-2).

    It is shown as `Service.is_for_reader` says, to all others after the form `look` (W-5). Who sends a form without
    having signed in is led to sign in by `lead`, and back into the form.
    """

    route: ClassVar[str]
    typed: ClassVar[str]
    """The field of the form in which people choose or type something."""

    def __init__(self, service: Service, daily: int, lead: Lead) -> None:
        self._service = service
        self._daily = daily
        self._lead = lead
        route = self.route
        self.look = UrlForm(service, route, f"{route}-look", f"weboid-{route}-title", "weboid-url-ask")

    @abstractmethod
    async def _page(self, request: web.Request, given: Parameters, refused: Problem | None = None) -> web.Response:
        """The page itself; `refused` is the reason why a form that was sent had no effect."""

    @abstractmethod
    def _place(self, given: Parameters) -> dict[str, str]:
        """The parameters of the page after a form. Raises Problem."""

    async def page(self, request: web.Request) -> web.Response:
        """The link with the forms for what this reader may do."""
        given = given_in(request)
        if await self._service.is_for_reader(request, given):
            return await self._page(request, given)
        return await self.look.page(request, given)

    async def _after(self, request: web.Request, given: Parameters, doing: Awaitable[str]) -> web.Response:
        """The answer to a form: a redirect to the page, with what was `done`, or the page with a refusal.

        Somebody who has to sign in first comes back into the form as it was sent; if that is longer than a cookie may
        be, the form stays where it is.
        """
        try:
            done = await doing
        except Problem as problem:
            try:
                if problem.key == _SIGN_IN and (back := self._form_as_sent(given)):
                    return await self._lead(request, given, back)
            except Problem as other:
                problem = other
            return await self._page(request, given, problem)
        return see_other(address_of(self.route, **self._place(given), done=done))

    def _form_as_sent(self, given: Parameters) -> str:
        return local_path(address_of(self.route, **self._place(given), **only(given, self.typed)))

    def _is_dead(self, known: KnownUrl) -> bool:
        """True if the checks alone call it dead: claims of people make no report or replacement useless (H-3)."""
        return finding_of(known.record, known.host, self._service.policy).verdict is Verdict.DEAD


def local_path(text: str) -> str:
    """The path and query of a page of this service, or nothing if the text is anything else."""
    return text if text.startswith("/") and len(text) <= _MOST_LOCAL and _LOCAL.fullmatch(text) else ""


def back_address(given: Parameters) -> str | None:
    """The address of the links of the page from which somebody came to a link; None if they named none."""
    place = only(given, "dbname", "pageid", "lang")
    return address_of("link-info", **place) if {"dbname", "pageid"} <= place.keys() else None


def address_in_language(route: str, given: Parameters, **values: str | None) -> str:
    """The address of a route with these values, in the language that the request gives; None = left out."""
    return address_of(route, **values, **only(given, "lang"))


def account_address(given: Parameters, back: str) -> str:
    """The address for signing in and then coming back to `back`, an address of this service."""
    return address_in_language("account", given, back=back)


def unfit_words(service: Service, member: Member | None, say: Messages) -> Markup | None:
    """The reason why this reader may not report, None if they may, or once they sign in."""
    problem = service.sessions.unfit(member)
    return None if problem is None else say.html(problem.key, *problem.parameters)


async def require_allowed(conn: Connection, action: Action, person: Person | None, *, daily: int) -> None:
    """Raises Problem if this person (None = nobody has signed in) may not do this now: one a minute, `daily` over all.

    To be called first in the transaction that does something. It locks: nobody else does anything until the transaction
    ends, so that the limits are exact.
    """
    match await find_refusal(conn, action, NOBODY if person is None else person.subject, daily=daily):
        case None:
            return
        case Refusal.BLOCKED:
            raise Problem(403, "blocked")
        case Refusal.MINUTE:
            raise Problem(429, "one-a-minute", retry_s=_MINUTE_S)
        case Refusal.DAY:
            raise Problem(429, "day-full", retry_s=_DAY_S)
        case never:
            assert_never(never)


async def record_action(conn: Connection, action: Action, person: Person | None, about: str, detail: str = "") -> int:
    """Records an action on a URL, a domain or a person in the audit log, in the same transaction; returns the number of
    the entry."""
    subject, name = (NOBODY, "") if person is None else (person.subject, person.name)
    return await record_audit(conn, action, subject, name, about, detail)
