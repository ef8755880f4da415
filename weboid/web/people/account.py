"""``/account``: the account of a reader, signing in and signing out (H, A-4).

One law: after signing in people are led to a page of this service, whatever ``back`` was given
(`test_a_page_of_ours_is_a_way_back_and_another_address_is_none`).
"""

from typing import Any, Final

from aiohttp import web

from weboid.mechanism.fair_slots import aside
from weboid.web.http.respond import see_other
from weboid.web.identity.oauth import FLOW_S, Provider
from weboid.web.people.forms import address_in_language, local_path, unfit_words
from weboid.web.request.parameters import Parameters
from weboid.web.request.problem import Problem
from weboid.web.request.route import address_of
from weboid.web.service import Service, given_in, html_words
from weboid.web.words.phrases import visible

_IN: Final = "sign-in"
_OUT: Final = "sign-out"
_FLOW: Final = "flow"


class AccountPage:
    def __init__(self, service: Service, provider: Provider) -> None:
        self._service = service
        self._provider = provider

    async def page(self, request: web.Request) -> web.Response:
        """The account of the reader: who they are, and whether they may report."""
        service, sessions = self._service, self._service.sessions
        given = given_in(request)
        member = await sessions.member(request)
        person = await sessions.person(request)
        say = html_words(request, given)
        values: dict[str, Any] = {
            "username": None if member is None else visible(member.name),
            "subject": None if member is None else member.subject,
            "is_administrator": person is not None and person.is_administrator,
            "unfit": unfit_words(service, member, say),
            "provider": self._provider.host if self._provider.is_set_up else None,
            "back": local_path(given.get("back", "")),
            "going": None,
            "token": await sessions.form_token(request, _OUT if member else _IN) if self._provider.is_set_up else "",
        }
        return await service.form_html(request, "account.html", given, say, **values)

    async def begin(self, request: web.Request) -> web.Response:
        """Begins a sign-in and leads to the provider.

        The answer is a page with a link that browsers follow at once, not a redirect: after a form, ``form-action`` of
        our policy forbids every redirect to another origin, and the provider itself redirects to further ones (D-50).
        """
        given = await self._service.posted(request, _IN)
        return await self.lead(request, given, local_path(given.get("back", "")))

    async def lead(self, request: web.Request, given: Parameters, back: str) -> web.Response:
        """The page that leads to the provider, and then to `back`, an address of this service; empty = the account.

        To be called after `posted`. Raises Problem.
        """
        service = self._service
        if not self._provider.is_set_up:
            raise Problem(503, "no-sign-in")
        flow, back = self._provider.begin(), back or address_in_language("account", given)
        await service.sessions.keep(request, _FLOW, {"state": flow.state, "verifier": flow.verifier, "back": back})
        values: dict[str, Any] = {"going": flow.address, "provider": self._provider.host}
        response = await service.form_html(request, "account.html", given, html_words(request, given), **values)
        response.headers["Refresh"] = f"0; url={flow.address}"
        return response

    async def back(self, request: web.Request) -> web.Response:
        """Takes people back from the provider, signs them in, and leads them to where the sign-in began."""
        sessions = self._service.sessions
        flow = await sessions.take(request, _FLOW, most_s=FLOW_S)
        if flow is None:
            raise Problem(400, "sign-in-stale")
        answered = given_in(request)
        async with aside():
            member = await self._provider.find_member(answered, flow["state"], flow["verifier"])
        await sessions.sign_in(request, member)
        return see_other(local_path(flow["back"]) or address_of("account"))

    async def end(self, request: web.Request) -> web.Response:
        """Signs out."""
        given = await self._service.posted(request, _OUT)
        await self._service.sessions.sign_out(request)
        return see_other(address_in_language("account", given))
