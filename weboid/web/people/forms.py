"""What the forms of people share: the answer after a form, addresses, and the reason why somebody may not report."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from aiohttp import web
from markupsafe import Markup

from weboid.web.http.respond import see_other
from weboid.web.identity.member import Member
from weboid.web.request.parameters import Parameters, only
from weboid.web.request.problem import Problem
from weboid.web.request.route import address_of
from weboid.web.service import Service
from weboid.web.words.messages import Messages

Done = TypeVar("Done")


async def answer_to_form(
    doing: Awaitable[Done],
    refused: Callable[[Problem], Awaitable[web.Response]],
    address: Callable[[Done], str],
) -> web.Response:
    """The answer to a form: a redirect to the page that shows what was done, or a page that says why nothing was."""
    try:
        done = await doing
    except Problem as problem:
        return await refused(problem)
    return see_other(address(done))


def address_in_language(route: str, given: Parameters, **values: str | None) -> str:
    """The address of a route with these values, in the language that the request gives; None = left out."""
    return address_of(route, **values, **only(given, "lang"))


def account_address(given: Parameters, back: str) -> str:
    """The address for signing in and then coming back to `back`, an address of this service."""
    return address_in_language("account", given, back=back)


def unfit_words(service: Service, member: Member | None, say: Messages) -> Markup | None:
    """Why somebody who has signed in may not report, None if they may or nobody has signed in."""
    problem = None if member is None else service.sessions.unfit(member)
    return None if problem is None else say.html(problem.key, *problem.parameters)
